// Dates that all languages write alike: 14-Sep-2025, Sep-14-2025, 2025-03, two days of one month (5/6 May).
// Every language is asked for these before its own recognisers, which would cut them at their marks.
import { CharacterSet } from '../../character-set.js';
import { isDigitAt, isWordAt, WORD_UNIT } from '../characters.js';
import { behind, type Row } from '../dispatch.js';
import type { Language } from '../language.js';
import type { WrittenDate } from '../quantity.js';
import { Beginnings } from '../literals.js';
import { withoutZeros } from '../numerals.js';
import type { Reading, TypedFound } from '../reading.js';
import { alternatives } from './dates.js';
import { isNear } from './identifiers.js';

const YEAR = String.raw`\d{4}|\d{2}`;
const NO_MORE = String.raw`(?!${WORD_UNIT}|[-–/.,:]\d|-\p{L})`;
const ISO_MONTH = new RegExp(String.raw`((?:19|20)\d\d)-(0[1-9]|1[0-2])${NO_MORE}`, 'uy');
const ENGLISH = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ').map((name) => [name]);
/** The end of a text before the number of a document, which may have the year in it: № 2024-07. */
const BEFORE_NUMBER = /(?:[#№§*_/-]|(?<!\p{L})(?:n[º°.]{1,2}|az\.|ref\.)) ?$/iu;
const PRESSURE = /\d\/\d{1,3} ?(?:\p{L}{1,4}|[,;]) ?$/u; // 14/9 or 14/10
const LEAD = 16; // units
const DAY_AND_MONTH = /(1[3-9]|2\d|3[01])\/(0[1-9]|1[0-2])(?![\d/]|[.,]\d| ?[%°])/y;
const DAY_IN_ROW = /(\d{1,2})\/(\d{1,2})(?![\d/]|[.,]\d| ?[%°])/y;
const ROW_BEFORE = /(?<![\d/.,])(\d{1,2})\/(\d{1,2})(?:, ?| \p{L}{1,3} )$/u;
const ROW_BEHIND = /^(?:, ?| \p{L}{1,3} )(\d{1,2})\/(\d{1,2})(?![\d/]|[.,]\d)/u;
const LAST_OF_ROW = 21; // from this day on the row can hold no pressures or sets
const NEAR = 6; // units
const CUTS = new CharacterSet('-–/.:');

export class Calendar {
  readonly #language: Language;
  readonly #months = new Map<string, number>();
  /** Short forms before the number of something: Nr., Az., p. */
  readonly #beforeNumber: ReadonlySet<string>;
  readonly #beginnings: Beginnings;
  readonly #longest: number;
  readonly #dayFirst: RegExp;
  readonly #monthFirst: RegExp;
  readonly #twoDays: RegExp | undefined;
  readonly #twoDaysBehind: RegExp | undefined;
  readonly #dayAndMonth: RegExp;

  constructor(language: Language) {
    const { dates, beforeNumber } = language.writing;
    const { months, named, dayMark, between } = dates;
    this.#language = language;
    this.#beforeNumber = new Set(
      Object.keys(beforeNumber).map((short) => short.toLowerCase().replace(/\.$/, '')),
    );
    for (const known of [ENGLISH, months]) {
      for (const [index, names] of known.entries()) {
        for (const name of names) this.#months.set(name.toLowerCase().replace(/\.$/, ''), index + 1);
      }
    }
    for (const [name, month] of firstLetters(months)) {
      if (!this.#months.has(name)) this.#months.set(name, month);
    }
    this.#longest = Math.max(...[...this.#months.keys()].map((known) => known.length));
    this.#beginnings = Beginnings.ofAnyCase(this.#months.keys());
    const name = `(${alternatives(this.#months.keys())})\\.?`;
    this.#dayFirst = new RegExp(`(\\d{1,2})([-–/])${name}\\2(${YEAR})${NO_MORE}`, 'iuy');
    this.#monthFirst = new RegExp(`${name}([-–/])(\\d{1,2})\\2(${YEAR})${NO_MORE}`, 'iuy');
    const own = `(${alternatives(months.flat().map((known) => known.toLowerCase().replace(/\.$/, '')))})`;
    this.#dayAndMonth = new RegExp(`(\\d{1,2})-${own}${NO_MORE}`, 'iuy');
    if (named.includes('month-day'))
      this.#twoDaysBehind = new RegExp(`${name} (\\d{1,2})/(\\d{1,2})(?![\\d/]|[.,:]\\d)`, 'iuy');
    if (named.includes('day-month')) {
      const day = `(\\d{1,2})(?:${dayMark})?`;
      const year = `(?:${between}((?:19|20)\\d\\d)(?!\\d|[.,:]\\d))?`;
      this.#twoDays = new RegExp(`${day}/${day}${between}${name}(?![\\p{L}\\p{N}])${year}`, 'iuy');
    }
  }

  readonly atDigit: readonly Row[] = [
    behind(/^-/, (reading) => {
      if (CUTS.at(reading.text, reading.at - 1) || reading.runEnd - reading.at !== 4) return undefined;
      return this.#isoMonth(reading);
    }),
    behind(
      /^[-–/ºª°a-z]/,
      (reading) => {
        if (CUTS.at(reading.text, reading.at - 1)) return undefined;
        return (
          this.#hyphenated(reading) ??
          this.#pairOfDays(reading) ??
          this.#withoutYear(reading) ??
          this.#inFigures(reading)
        );
      },
      2,
    ),
  ];

  readonly atLetter: Row = {
    knows: ({ isFresh, behind: mark }) =>
      isFresh && (this.#twoDaysBehind === undefined ? /[-–/.]/ : /[-–/. ]/).test(mark),
    recognise: (reading) => this.#atLetter(reading),
  };

  /** Sep-14-2025 */
  #atLetter(reading: Reading): TypedFound | undefined {
    const { text, at, runEnd } = reading;
    if (!this.#beginnings.at(text, at) || runEnd - at > this.#longest) return undefined;
    if (!this.#months.has(text.slice(at, runEnd).toLowerCase())) return undefined;
    const match = reading.match(this.#monthFirst);
    if (match === undefined) return this.#pairBehind(reading);
    const [written, name = '', , day = '', year] = match;
    return this.#date(reading, written, { day, month: this.#month(name), year, style: 'numeric' });
  }

  /** 14-Sep-2025, 03/mars/24 */
  #hyphenated(reading: Reading): TypedFound | undefined {
    if (isDigitAt(reading.text, reading.runEnd + 1)) return undefined;
    const match = reading.match(this.#dayFirst);
    if (match === undefined) return undefined;
    const [written, day = '', , name = '', year] = match;
    return this.#date(reading, written, { day, month: this.#month(name), year, style: 'numeric' });
  }

  /** 5/6 May: two days, and no part of anything. */
  #pairOfDays(reading: Reading): TypedFound | undefined {
    const match = this.#twoDays && reading.match(this.#twoDays);
    if (match === undefined) return undefined;
    const [written, day = '', dayTo = '', name = '', year] = match;
    if (Number(day) >= Number(dayTo)) return undefined;
    return this.#date(reading, written, {
      day,
      dayTo: withoutZeros(dayTo),
      isPair: true,
      month: this.#month(name),
      year,
      style: 'name',
    });
  }

  /** May 5/6 */
  #pairBehind(reading: Reading): TypedFound | undefined {
    const match = this.#twoDaysBehind && reading.match(this.#twoDaysBehind);
    if (match === undefined) return undefined;
    const [written, name = '', day = '', last = ''] = match;
    if (Number(day) >= Number(last)) return undefined;
    const days = { day, dayTo: withoutZeros(last), isPair: true, style: 'name' } as const;
    return this.#date(reading, written, { ...days, month: this.#month(name) });
  }

  /** 23/10 where the day stands first: its month has two figures, and no fraction is that improper. */
  #inFigures(reading: Reading): TypedFound | undefined {
    if (this.#language.writing.dates.orders['/'] !== 'dmy') return undefined;
    const isPressure = PRESSURE.test(reading.text.slice(Math.max(0, reading.at - LEAD), reading.at));
    const match = (isPressure ? undefined : reading.match(DAY_AND_MONTH)) ?? inRow(reading);
    if (match === undefined) return undefined;
    const [written, day = '', month = ''] = match;
    const found = this.#date(reading, written, { day, month: Number(month), style: 'name' });
    return found && { end: found.end, token: found.token, rule: 'date' };
  }

  /** 03-Nov; where the language writes months with a capital, with one. */
  #withoutYear(reading: Reading): TypedFound | undefined {
    const match = reading.match(this.#dayAndMonth);
    if (match === undefined) return undefined;
    const [written, day = '', name = ''] = match;
    const [first = ''] = this.#language.writing.dates.months[0] ?? [];
    if (/^\p{Lu}/u.test(first) && !/^\p{Lu}/u.test(name)) return undefined;
    return this.#date(reading, written, { day, month: this.#month(name), style: 'name' });
  }

  /** 2025-03; the season 2010-11 and the years 2008-12 are ranges. */
  #isoMonth(reading: Reading): TypedFound | undefined {
    const match = reading.match(ISO_MONTH);
    if (match === undefined) return undefined;
    const [written, year = '', month = ''] = match;
    if (Number(month) > Number(year.slice(-2))) return undefined;
    const { digitsAfter, linking } = this.#language.writing;
    const before = reading.text.slice(Math.max(0, reading.at - NEAR), reading.at);
    const { previousShort } = reading.around(reading.at);
    if (BEFORE_NUMBER.test(before) || this.#beforeNumber.has(previousShort)) return undefined;
    if (isNear(reading, digitsAfter, linking)) return undefined;
    return this.#date(reading, written, { month: Number(month), year, style: 'numeric' });
  }

  #month(name: string): number {
    return this.#months.get(name.toLowerCase()) ?? 0;
  }

  #date(reading: Reading, written: string, date: WrittenDate): TypedFound | undefined {
    const { day, dayTo, month = 0 } = date;
    const end = reading.at + written.length;
    const days = [day, dayTo].every((one) => one === undefined || (Number(one) >= 1 && Number(one) <= 31));
    if (month === 0 || !days || isWordAt(reading.text, end)) return undefined;
    const around = reading.around(end);
    // The name of a month is proof; figures are none.
    const isCertain = date.day === undefined ? {} : ({ isCertain: true } as const);
    const token = { type: 'date', date: { ...date, day: day && withoutZeros(day) }, around } as const;
    return { end, token, rule: 'date', ...isCertain };
  }
}

/** Set, giu, sep: three letters, as tables of a machine cut a month, where no other month has the same. */
function firstLetters(months: readonly (readonly string[])[]): readonly (readonly [string, number])[] {
  const all = months.map(([name = ''], index) => [name.slice(0, 3).toLowerCase(), index + 1] as const);
  return all.filter(([short]) => short.length === 3 && all.filter(([other]) => other === short).length === 1);
}

/** 31/3, 30/6, 30/9: days of which one is too late for any other pair of small numbers. */
function inRow(reading: Reading): RegExpExecArray | undefined {
  const match = reading.match(DAY_IN_ROW);
  if (match === undefined) return undefined;
  const { text, at } = reading;
  const end = at + match[0].length;
  const beside = [
    ROW_BEFORE.exec(text.slice(Math.max(0, at - LEAD), at)),
    ROW_BEHIND.exec(text.slice(end, end + LEAD)),
  ].filter((one) => one !== null);
  const row = [match, ...beside];
  const areDays = row.every(([, day, month]) =>
    [
      [day, 31],
      [month, 12],
    ].every(([n, most]) => Number(n) > 0 && Number(n) <= Number(most)),
  );
  return areDays && beside.length > 0 && row.some(([, day]) => Number(day) >= LAST_OF_ROW)
    ? match
    : undefined;
}
