// Paths through menus: Settings > Privacy > Camera. The sign between two names is a pause. Between two values
// it is a relation, which `symbols.ts` reads where spaces stand around it.
import { beginning } from '../dispatch.js';
import type { Language } from '../language.js';
import { alternatives } from './dates.js';

const LEAD = 60; // units before or behind the sign that may tell what it is
const NAME_BEFORE = /(?:[\p{L}\p{M}\p{N}][\p{L}\p{M}\p{N}+]|\p{Lo})(?: »|["”'’»」』)\]*_]{0,3})( ?)$/u;
const NAME_BEHIND = /^( ?)(?:« |["“'‘«「『([*_]{0,3})(?:\p{Lu}\p{M}?[\p{L}\p{N}'’/&.+-]|\p{Lo})/u;
const OPEN_TAG = /[<‹][^>›\n]*$/u;
const ARROWS = /→[^→\n]{1,40}→/u;
const VARIABLE_BEFORE = /(?<![A-Za-z\d])[A-Za-z]$/;
const VARIABLE_BEHIND = /^[A-Za-z](?![A-Za-z\d>])/;
const LETTER_BEFORE = /\p{L}(?: »|["”'’»」』)\]*_]{0,3}) ?$/u;

export class Menus {
  readonly #pause: string;
  readonly #greater: string;
  readonly #spaced: boolean;
  readonly #condition: RegExp;
  readonly #menus: ReadonlySet<string>;

  constructor({ symbols, writing, unspaced }: Language) {
    const words = writing.conditions.size === 0 ? '(?!)' : alternatives(writing.conditions);
    this.#pause = symbols.pause;
    this.#menus = writing.menus;
    this.#greater = symbols.inMath['>'] ?? '';
    this.#spaced = unspaced !== true;
    this.#condition =
      unspaced === true
        ? new RegExp(`(?:${words})[^。！？.!?\n]*$`, 'u')
        : new RegExp(String.raw`(?<!\p{L})(?:${words})(?!\p{L})[^.!?\n]*$`, 'iu');
  }

  readonly atMark = beginning(/[>›→]/, (reading) => {
    const { text, at } = reading;
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
    const [left, right] = [NAME_BEFORE.exec(before)?.[1], NAME_BEHIND.exec(behind)?.[1]];
    if (left === undefined || right === undefined || left !== right || !LETTER_BEFORE.test(before))
      return undefined;
    const isPath =
      sign === '→'
        ? ARROWS.test(`${before.slice(-41)}→${behind.slice(0, 41)}`) ||
          this.#menus.has(reading.around(at).previousWord)
        : !OPEN_TAG.test(before);
    if (!isPath) return undefined;
    if (this.#condition.test(before)) return undefined;
    const tail = this.#spaced && right === '' ? ' ' : '';
    return {
      end: at + 1 + (this.#spaced ? 0 : right.length),
      spoken: this.#pause + tail,
      rule: 'symbol',
      clings: true,
      isCertain: true,
    };
  });
}
