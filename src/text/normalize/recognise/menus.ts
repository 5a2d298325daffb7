// Paths through menus: Settings > Privacy > Camera. The sign between two names is a pause. Between two values
// it is a relation, which `symbols.ts` reads where spaces stand around it.
import { beginning } from '../dispatch.js';
import type { Language } from '../language.js';
import type { Found } from '../reading.js';
import { alternatives } from './dates.js';

const LEAD = 60; // units before or behind the sign that may tell what it is
const NAME_BEFORE = /(?:[\p{L}\p{M}\p{N}][\p{L}\p{M}\p{N}+]|\p{Lo})(?: »|["”'’»」』)\]*_]{0,3})( ?)$/u;
const NAME_BEHIND =
  /^( ?)(?:« |["“'‘«「『([*_]{0,3})(?:\p{Lu}\p{M}?(?:[\p{L}\p{N}'’/&.+-]| \p{Ll}{2})|\p{Lo})/u;
/** Behind a word of a menu names may be in small letters: settings > billing. */
const SMALL_BEHIND =
  /^( ?)(?:« |["'“‘«「『([*_]{0,3})(?:[\p{Lu}\p{Ll}]\p{M}?(?:[\p{L}\p{N}'’/&.+-]| \p{Ll}{2})|\p{Lo})/u;
const OPEN_TAG = /[<‹][^>›\n]*$/u;
const ARROWS = /→[^→.;!?\n]{1,40}→/u;
const ROW_BEFORE = /→[^→.;:!?\n]{1,40}$/u;
/** The last item of a row of arrows: WLAN → Kanal → 5 GHz. */
const ITEM_BEHIND = /^( ?)[\p{L}\p{N}"“„«「『[]/u;
/** A state and what happens next: 11:00 → arrives at 14:00. */
const AMOUNT_BEFORE = /[\d.)%] $/;
const VERB_BEHIND = /^( )\p{Ll}{3}/u;
const VARIABLE_BEFORE = /(?<![A-Za-z\d])[A-Za-z]$/;
const VARIABLE_BEHIND = /^[A-Za-z](?![A-Za-z\d>])/;
const LETTER_BEFORE = /\p{L}(?: »|["”'’»」』)\]*_]{0,3}) ?$/u;

export class Menus {
  readonly #pause: string;
  readonly #greater: string;
  readonly #spaced: boolean;
  readonly #condition: RegExp;
  readonly #menu: RegExp;

  constructor({ symbols, writing, unspaced }: Language) {
    this.#pause = symbols.pause;
    this.#greater = symbols.inMath['>'] ?? '';
    this.#spaced = unspaced !== true;
    this.#condition = inClause(writing.conditions, unspaced);
    this.#menu = inClause(writing.menus, unspaced);
  }

  readonly atMark = beginning(/[>›→]/, ({ text, at }): Found | undefined => {
    const sign = text[at] ?? '';
    const before = text.slice(Math.max(0, at - LEAD), at);
    const behind = text.slice(at + 1, at + LEAD);
    if (
      sign === '>' &&
      VARIABLE_BEFORE.test(before) &&
      VARIABLE_BEHIND.test(behind) &&
      !OPEN_TAG.test(before)
    )
      return { end: at + 1, spoken: this.#greater, rule: 'math', isCertain: true };
    const isArrow = sign === '→';
    if (isArrow && AMOUNT_BEFORE.test(before) && VERB_BEHIND.test(behind)) return this.#said(at, 1);
    const isRow = isArrow && ROW_BEFORE.test(before.slice(-41));
    const left = NAME_BEFORE.exec(before)?.[1];
    const isMenu = this.#menu.test(before);
    const right = (isRow ? ITEM_BEHIND : isMenu ? SMALL_BEHIND : NAME_BEHIND).exec(behind)?.[1];
    if (left === undefined || right === undefined || left !== right || !LETTER_BEFORE.test(before))
      return undefined;
    if (isArrow) {
      if (!ARROWS.test(`${before.slice(-41)}→${behind.slice(0, 41)}`) && !isMenu) return undefined;
    } else if (OPEN_TAG.test(before)) return undefined;
    if (this.#condition.test(before)) return undefined;
    return this.#said(at, right.length);
  });

  #said(at: number, spaces: number): Found {
    const tail = this.#spaced && spaces === 0 ? ' ' : '';
    return {
      end: at + 1 + (this.#spaced ? 0 : spaces),
      spoken: this.#pause + tail,
      rule: 'symbol',
      clings: true,
      isCertain: true,
    };
  }
}

/** One of the words in the clause that the text ends with. */
function inClause(words: ReadonlySet<string>, unspaced = false): RegExp {
  if (words.size === 0) return /(?!)/;
  return unspaced
    ? new RegExp(`(?:${alternatives(words)})[^。！？.!?\n]*$`, 'u')
    : new RegExp(String.raw`(?<!\p{L})(?:${alternatives(words)})(?!\p{L})[^.!?\n]*$`, 'iu');
}
