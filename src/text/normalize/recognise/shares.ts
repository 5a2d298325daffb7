// Two numbers with a stroke between them that is more than a fraction: 2/3rds, a score of 742/850.
import { behind } from '../dispatch.js';
import type { Language } from '../language.js';
import { numeralOf } from '../numerals.js';
import { composed, either, type Found, NOWHERE, type Reading, type TypedFound } from '../reading.js';
import { alternatives } from './dates.js';

const SHARE = /(\d{1,4})[/⁄](\d{1,4})(?![\d/⁄]|[.,]\d)/y;
const NEAR = 32; // units on either side in which a word tells of a score
const SMALLEST = 32; // greatest number of points that is certainly no day or month
const SET = /([0-7])\/([0-7])(?!\d|\/)/y;
const SET_BEHIND = /^(?: \(\d{1,2}(?:[-–/]\d{1,2})?\))?(?:,| \p{L}{1,3}|) ([0-7])\/([0-7])(?![\d/])/u;
const SET_BEFORE = /(?<![\d/])([0-7])\/([0-7])(?: \(\d{1,2}(?:[-–/]\d{1,2})?\))?(?:,| \p{L}{1,3}|) $/u;
const LEAD = 20; // units
const SENTENCE = /[.!?。！？\n]/;

export class Shares {
  readonly #language: Language;
  readonly #lettered: RegExp | undefined;
  readonly #graded: RegExp;

  constructor(language: Language) {
    const { fractionMark, gradeWords } = language.writing;
    this.#language = language;
    const begins = language.unspaced === true ? '' : '(?<!\\p{L})';
    this.#graded = new RegExp(`${begins}(?:${alternatives(gradeWords)})`, 'iu');
    if (fractionMark !== '')
      this.#lettered = new RegExp(`(\\d{1,4})[/⁄](\\d{1,4}) ?(?:${fractionMark})(?![\\p{L}\\p{N}])`, 'uy');
  }

  readonly atDigit = behind(/^[/⁄]/, (reading) => {
    if (/[-–/.,:]/.test(reading.text[reading.at - 1] ?? '')) return undefined;
    return this.#withLetters(reading) ?? this.#set(reading) ?? this.#score(reading);
  });

  /** 2/3rds, 5/12 avos: the letters are in the words for it already. */
  #withLetters(reading: Reading): TypedFound | undefined {
    const match = this.#lettered && reading.match(this.#lettered);
    if (match === undefined) return undefined;
    const [written, numerator = '', denominator = ''] = match;
    if (Number(denominator) < 2) return undefined;
    const end = reading.at + written.length;
    const fraction = { numerator, denominator };
    const token = { type: 'fraction', fraction, unit: undefined, around: reading.around(end) } as const;
    return either({ end, token, rule: 'fraction' }, () => this.#score(reading));
  }

  /** 6/4, 3/6 e 7/6: sets of tennis, each beside another. */
  #set(reading: Reading): Found | undefined {
    const match = reading.match(SET);
    if (match === undefined || !isSet(match)) return undefined;
    const { text, at } = reading;
    const end = at + match[0].length;
    const [before, behind] = [
      SET_BEFORE.exec(text.slice(Math.max(0, at - LEAD), at)),
      SET_BEHIND.exec(text.slice(end, end + LEAD)),
    ];
    if (![before, behind].some((one) => one !== null && isSet(one))) return undefined;
    const { speech } = this.#language;
    const [home = '', guest = ''] = match.slice(1).map((games) => speech.number(numeralOf(games), NOWHERE));
    return { end, spoken: speech.score(home, guest), rule: 'score', isCertain: true };
  }

  /** A score of 742/850, 71/85 on the test. */
  #score(reading: Reading): TypedFound | undefined {
    const match = reading.match(SHARE);
    if (match === undefined) return undefined;
    const [written, got = '', most = ''] = match;
    if (Number(most) < SMALLEST || Number(got) > Number(most) || got.startsWith('0')) return undefined;
    const { text, at } = reading;
    const end = at + written.length;
    const before =
      text
        .slice(Math.max(0, at - NEAR), at)
        .split(SENTENCE)
        .at(-1) ?? '';
    const behind = text.slice(end, end + NEAR).split(SENTENCE)[0] ?? '';
    if (!this.#graded.test(before) && !this.#graded.test(behind)) return undefined;
    const words = (): string => this.#language.speech.outOf(got, most, behind);
    return { ...composed(end, 'score', words), isCertain: true };
  }
}

/** 6/0 to 6/4, 7/5 and 7/6. */
function isSet([, home, guest]: readonly string[]): boolean {
  const [least = 0, most = 0] = [Number(home), Number(guest)].toSorted((a, b) => a - b);
  return most === 6 ? least < 5 : most === 7 && (least === 5 || least === 6);
}
