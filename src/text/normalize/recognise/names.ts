// Names with figures that all languages write alike: Boeing 737-800, ISO 9001:2015, EUR/USD, an A/B test, a
// commit 3f2a9bc, the floor 3F.
import { WORD_UNIT } from '../characters.js';
import { behind, type Row } from '../dispatch.js';
import type { Language } from '../language.js';
import { withoutZeros } from '../numerals.js';
import { type Found, NOWHERE, type Reading, type Recogniser } from '../reading.js';
import { cardinal } from '../say.js';

const TYPE = /(\d{3})-(\d{1,3})(?![\p{L}\p{N}]|-\d)/uy;
const PLANE = /^(?:boeing|airbus|boeings|боинг\p{L}{0,2}|эйрбас\p{L}{0,2}|аэробус\p{L}{0,2})$/u;
const EDITION = /(\d{3,6})(?:-(\d{1,3}))?:((?:19|20)\d\d)(?![\p{L}\p{N}]|[:.,/-]\d)/uy;
const STANDARD = /(?:^|[\s(/])(?:ISO|IEC|EN|DIN|UNI|NF|BS|CEI|ÖNORM|SN|ASTM|IEEE|ANSI|OHSAS)[\s/-]$/u;
const LONGEST_NAME = 8; // units of the name of a standard before its number
const HASH = /(?=[a-f]{0,39}\d)(?=\d{0,39}[a-f])[\da-f]{6,40}(?![\p{L}\p{N}])/uy;
const FEWEST_RUNS = 4; // minimum of runs of letters and of digits; a word with a number has fewer
const TWO_LETTERS = /[A-Z]\/[A-Z](?![\p{L}\p{N}/])/uy;
const SIZES = /(?:X{0,3}[SL]|M)(?:\/(?:[2-5]?X{1,3}[SL]|[SML])){1,5}(?![\p{L}\p{N}/])/uy;
const PAIR = new RegExp(String.raw`([A-Z]{3})/([A-Z]{3})(?!${WORD_UNIT}|/)`, 'uy');

export class Names {
  readonly #language: Language;

  constructor(language: Language) {
    this.#language = language;
  }

  readonly atDigit: readonly Row[] = [
    behind(/^[a-f]/, (reading) => this.#commit(reading)),
    behind(/^[-:]/, (reading) => this.#edition(reading) ?? this.#plane(reading), 6),
  ];

  readonly atLetter = behind(/\//, (reading) =>
    reading.runEnd - reading.at === 3
      ? this.#currencies(reading)
      : (this.#sizes(reading) ?? this.#twoLetters(reading)),
  );

  #number(digits: string): string {
    return cardinal(digits, this.#language.speech);
  }

  /** Boeing 737-800: no range. */
  #plane(reading: Reading): Found | undefined {
    const match = reading.match(TYPE);
    if (match === undefined || !PLANE.test(reading.around(reading.at).previousWord)) return undefined;
    const spoken = `${this.#number(match[1] ?? '')} ${this.#number(match[2] ?? '')}`;
    return { end: reading.at + match[0].length, spoken, rule: 'identifier' };
  }

  /** ISO 9001:2015, EN 1090-2:2018: a number, its part, and the year of the edition. */
  #edition(reading: Reading): Found | undefined {
    const { text, at } = reading;
    const match = reading.match(EDITION);
    if (match === undefined || !STANDARD.test(text.slice(Math.max(0, at - LONGEST_NAME), at)))
      return undefined;
    const [written, digits = '', part, edition = ''] = match;
    const { speech } = this.#language;
    const named = part === undefined ? '' : ` ${this.#number(part)}`;
    const year = speech.year(edition, NOWHERE, true) ?? this.#number(edition);
    return {
      end: at + written.length,
      spoken: `${this.#number(digits)}${named}, ${year}`,
      rule: 'identifier',
    };
  }

  /** Commit 3f2a9bc: character by character. */
  #commit(reading: Reading): Found | undefined {
    const written = reading.match(HASH)?.[0];
    const runs = written?.match(/[a-f]+|\d+/g) ?? [];
    if (written === undefined || runs.length < FEWEST_RUNS) return undefined;
    const { speech } = this.#language;
    const said = runs.map((run) => (/\d/.test(run) ? speech.digits(run) : speech.letters(run)));
    return { end: reading.at + written.length, spoken: said.join(' '), rule: 'identifier' };
  }

  /** An A/B test, the P/E ratio: letters of one name. */
  /** In S/M/L, M/L/XL: each by its letters. */
  #sizes(reading: Reading): Found | undefined {
    const written = reading.match(SIZES)?.[0];
    if (written === undefined) return undefined;
    const { speech, symbols, unspaced } = this.#language;
    const say = (size: string): string => {
      const [, count = '', letters = ''] = /^(\d?)(.+)$/.exec(size) ?? [];
      const name = speech.letters(letters);
      return count === '' ? name : `${cardinal(count, speech)}${unspaced === true ? '' : ' '}${name}`;
    };
    const spoken = written
      .split('/')
      .map(say)
      .join(symbols.pause + (unspaced === true ? '' : ' '));
    return { end: reading.at + written.length, spoken, rule: 'acronym', isCertain: true };
  }

  #twoLetters(reading: Reading): Found | undefined {
    const written = reading.match(TWO_LETTERS)?.[0];
    if (written === undefined) return undefined;
    const spoken = this.#language.speech.letters(written.replace('/', ''));
    return { end: reading.at + written.length, spoken, rule: 'acronym' };
  }

  /** EUR/USD: each by its first form. */
  #currencies(reading: Reading): Found | undefined {
    const { writing, symbols } = this.#language;
    const match = reading.match(PAIR);
    const names = [match?.[1], match?.[2]].map((code = '') => writing.currencies[code]?.forms[0]);
    if (match === undefined || names.includes(undefined)) return undefined;
    const spoken = names.join(symbols.betweenCurrencies ?? ' ');
    return { end: reading.at + match[0].length, spoken, rule: 'currency' };
  }
}

const FLOOR = /(\d{1,2})F(?:-?(\1\d{2})(?!\d))?(?![A-Za-z\d-])/y;
const BASEMENT = /B(\d{1,2})(?:F(?![A-Za-z\d-])|階)/y;
const SEAT = /(?:座|席|\d ?[号號]?[车車]|호차|좌석)[^。,，.\s]{0,4} ?$/;
const LONGEST_SEAT = 8; // units of the words before a seat

/** 3F, B1F, 3F306: the floor of a house, and its room; 05车12F is a seat. */
export function floor(
  named: (number: string) => string,
  basement: string,
  room: (digits: string) => string,
): Recogniser {
  return (reading) => {
    const { text, at } = reading;
    if (!reading.isFresh) return undefined; // it is asked at letters, too
    const below = text[at] === 'B' ? reading.match(BASEMENT) : undefined;
    const match = below ?? (text[reading.runEnd] === 'F' ? reading.match(FLOOR) : undefined);
    const end = at + (match?.[0].length ?? 0);
    const isSeat =
      /[席座]/.test(text[end] ?? '') || SEAT.test(text.slice(Math.max(0, at - LONGEST_SEAT), at));
    if (match === undefined || (below === undefined && isSeat)) return undefined;
    const [, number = '', inside] = match;
    const spoken = (below === undefined ? '' : basement) + named(withoutZeros(number));
    return { end, spoken: spoken + (inside === undefined ? '' : room(inside)), rule: 'address' };
  };
}
