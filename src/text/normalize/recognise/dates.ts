// Dates: in figures (15.01.2024, 1/15/2024, 2024-01-15) and with the name of a month.
import { CharacterSet } from '../../character-set.js';
import { classAt, isDigitAt, isWordAt, LETTER, SPACE } from '../characters.js';
import { behind } from '../dispatch.js';
import type { Language } from '../language.js';
import type { WrittenDate } from '../quantity.js';
import { Beginnings } from '../literals.js';
import { withoutZeros } from '../numerals.js';
import { wordsOf } from '../say.js';
import { type Candidate, composed, either, type Found, type Reading, type TypedFound } from '../reading.js';

const ISO = /(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?!\d|[-/.]\d)/y;
const FIGURES = /(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})?(?!\d|-\d(?!\d?[/.]\d{1,2}[/.]\d)|\/\d|\.\d)/y;
const YEAR_FIRST = /(\d\d)(\/)(\d{1,2})\/(\d)(?![\d/]|\.\d)/y;
const SPACED = /(\d{1,2})\. (\d{1,2})\. ?(\d{4})(?!\d)/y;
const MONTH_OF_YEAR = /(0[1-9]|1[0-2])\/((?:19|20)\d\d)(?![\d/]|[.,]\d)/y;
// A log's date goes on with its time.
const STAMP =
  /(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}(?::\d{2})?)(?:[.,]\d{1,9})?(Z|[+-]\d{2}:?\d{2})?(?![\p{L}\p{N}])/uy;
const DASH = /( ?)[-–]\1/y;
const YEAR = '(?:1\\d{3}|20\\d{2})';
const BETWEEN_FIGURES = new CharacterSet('-/.');
const CUTS_FIGURES = new CharacterSet('-/.:');
const HYPHEN = new CharacterSet('-–');
const CLOSING = new CharacterSet('.,');

export class Dates {
  readonly #language: Language;
  readonly #dayMonth: RegExp | undefined;
  readonly #monthDay: RegExp | undefined;
  readonly #monthYear: RegExp;
  readonly #monthRange: RegExp;
  readonly #weekdayRange: RegExp;
  readonly #weekdayAlone: RegExp;
  /** Behind the dash of a range: Sat, Nov 8 – Tue, Nov 11. */
  readonly #weekdayBefore: RegExp;
  /** First characters of all month and weekday names. */
  readonly #beginnings: Beginnings;
  readonly #longest: number;
  readonly #months = new Map<string, number>();
  readonly #weekdays = new Map<string, number>();
  /** First characters of the words that may follow a day: its mark, month names and joining words. */
  readonly #behindDay: Beginnings;

  constructor(language: Language) {
    const { months, weekdays, named, dayMark, between } = language.writing.dates;
    this.#language = language;
    for (const [index, names] of months.entries()) {
      for (const name of names) this.#months.set(name.toLowerCase(), index + 1);
    }
    for (const [index, names] of weekdays.entries()) {
      for (const name of names) this.#weekdays.set(name.toLowerCase(), index);
    }
    const all = [...this.#months.keys(), ...this.#weekdays.keys()];
    this.#longest = Math.max(...all.map((known) => known.length));
    this.#beginnings = Beginnings.ofAnyCase(all);
    const joined = `${between} ${dayMark}`.match(/\p{L}{2,}/gu) ?? [];
    this.#behindDay = Beginnings.ofAnyCase([...this.#months.keys(), ...joined]);
    const name = `(${alternatives(this.#months.keys())})(?![\\p{L}\\p{N}])`;
    const day = `(\\d{1,2})(?:${dayMark})?`;
    const days = `${day}(?:\\s?[-–]\\s?${day})?`;
    const year = `(?:${between}(${YEAR})(?!\\d|[.,:]\\d))?`;
    if (named.includes('day-month')) {
      this.#dayMonth = new RegExp(`${days}${between}${name}${year}`, 'iuy');
    }
    if (named.includes('month-day')) {
      this.#monthDay = new RegExp(`${name} ${days}(?!\\d|[:.,]\\d)${year}`, 'iuy');
    }
    const weekday = `(${alternatives(weekdays.flat())})(?![\\p{L}\\p{N}])`;
    this.#weekdayRange = new RegExp(`${weekday} ?[-–] ?${weekday}`, 'uy');
    // With its stop it is followed by a word in small letters, too: "So." alone may be anything.
    this.#weekdayAlone = new RegExp(
      `${weekday}(?:(?=,? ?\\d{1,2}[.:/\\s])|(?= ?: ?\\d{1,2}(?:[:/\\s–-]|\\.\\d\\d|h|[ap]m))|(?<=\\.)(?=,|/| ?\\p{Ll}| ?: ?\\p{L}))`,
      'uy',
    );
    this.#weekdayBefore = new RegExp(`(${alternatives(weekdays.flat())})(,? )`, 'uy');
    this.#monthRange = new RegExp(`${name} ?[-–] ?${name}${year}`, 'iuy');
    this.#monthYear = new RegExp(`${name}${between}(${YEAR})(?!\\d|[.,:]\\d)`, 'iuy');
  }

  readonly atDigit = behind(/^(?:[-–/.,ºª°\p{L}]| [-–\p{L}])/u, (reading) => this.#atDigit(reading), 4);

  #atDigit(reading: Reading): Candidate | undefined {
    const { text, at, runEnd } = reading;
    if (CUTS_FIGURES.at(text, at - 1)) return undefined;
    // Behind "3," these may be decimals; a year of four figures begins anew: 2024/3/5,2024/4/1.
    if (text[at - 1] === ',' && isDigitAt(text, at - 2) && runEnd - at < 4) return undefined;
    return this.#stamp(reading) ?? this.#dateOrTwo(reading, this.#dateAtDigit(reading));
  }

  #dateAtDigit(reading: Reading): TypedFound | undefined {
    const inFigures = BETWEEN_FIGURES.at(reading.text, reading.runEnd)
      ? (this.#iso(reading) ?? this.#figures(reading) ?? this.#monthOfYear(reading))
      : undefined;
    return inFigures ?? this.#named(reading);
  }

  readonly atLetter = behind(/^/, (reading) => {
    const { text, at, runEnd } = reading;
    if (!this.#beginnings.at(text, at) || runEnd - at > this.#longest) return undefined;
    const word = text.slice(at, runEnd).toLowerCase();
    if (this.#weekdays.has(word) || this.#weekdays.has(`${word}.`)) return this.#weekday(reading);
    if (!this.#isMonth(reading)) return undefined;
    return this.#monthsOnly(reading) ?? this.#dateOrTwo(reading, this.#monthFirst(reading));
  });

  /** Dec. 24–Jan. 2 · 01.01.–31.03. */
  #dateOrTwo(reading: Reading, first: TypedFound | undefined): TypedFound | undefined {
    if (first === undefined) return undefined;
    const dash = reading.match(DASH, first.end);
    if (dash === undefined) return first;
    const { at } = reading;
    const from = first.end + dash[0].length;
    const weekday = reading.match(this.#weekdayBefore, from);
    reading.at = from + (weekday?.[0].length ?? 0);
    const second = isDigitAt(reading.text, reading.at)
      ? this.#dateAtDigit(reading)
      : this.#isMonth(reading)
        ? this.#monthFirst(reading)
        : undefined;
    reading.at = at;
    if (second === undefined) return first;
    const around = reading.around(second.end);
    if (weekday !== undefined) {
      const name = (this.#weekdayName(weekday[1] ?? '') ?? '') + (weekday[2] ?? '');
      const { speech } = this.#language;
      const [from = '', to = ''] = [wordsOf(first, speech), wordsOf(second, speech)];
      const spoken = speech.range(from, name + to, around);
      // "Du mardi trois mars": a range with a word before its first day begins at the weekday.
      return spoken.startsWith(from) ? composed(second.end, second.rule, () => spoken) : first;
    }
    const { end, rule } = second;
    return either(
      { end, rule, token: { type: 'range', from: first.token, to: second.token, around } },
      () => first,
    );
  }

  /** 2024-01-15T14:30:00Z: the time is spoken as one behind the date. */
  #stamp(reading: Reading): TypedFound | undefined {
    const { text, at, runEnd } = reading;
    const match = runEnd - at === 4 && text[runEnd] === '-' ? reading.match(STAMP) : undefined;
    if (match === undefined) return undefined;
    const [year = '', month = '', day = ''] = (match[1] ?? '').split('-');
    const [hours = '', minutes = ''] = (match[2] ?? '').split(':');
    const { speech } = this.#language;
    const end = reading.at + match[0].length;
    const found = this.#date(reading, end, { day, month: Number(month), year, style: 'numeric' });
    if (found?.token.type !== 'date') return undefined;
    const zone = match[3] === 'Z' ? { zone: speech.letters('UTC') } : {};
    const time = { hours: withoutZeros(hours), minutes, ...zone };
    const { date, around } = found.token;
    return { end, token: { type: 'moment', date, time, around }, rule: 'date' };
  }

  /** 08/2027 */
  #monthOfYear(reading: Reading): TypedFound | undefined {
    const match = reading.match(MONTH_OF_YEAR);
    if (match === undefined) return undefined;
    const [written, month = '', year = ''] = match;
    return this.#date(reading, reading.at + written.length, { month: Number(month), year, style: 'numeric' });
  }

  /** Jan-Mar 2024 */
  #monthsOnly(reading: Reading): Found | undefined {
    const match = reading.match(this.#monthRange);
    if (match === undefined) return undefined;
    const [written, from = '', to = '', year] = match;
    const end = reading.at + written.length;
    const [first, last] = [this.#monthName(from), this.#monthName(to)];
    if (first === undefined || last === undefined || isWordAt(reading.text, end)) return undefined;
    const { speech } = this.#language;
    const around = reading.around(end);
    const full = year === undefined ? last : speech.date({ ...this.#month(to), year, style: 'name' }, around);
    return full === undefined ? undefined : { end, spoken: speech.range(first, full, around), rule: 'date' };
  }

  #monthName(written: string): string | undefined {
    const { month } = this.#month(written);
    return month === undefined ? undefined : this.#language.writing.dates.months[month - 1]?.[0];
  }

  #isMonth(reading: Reading): boolean {
    const word = reading.text.slice(reading.at, reading.runEnd).toLowerCase();
    return this.#months.has(word) || this.#months.has(`${word}.`);
  }

  /** Mon-Fri · Mo.–Fr. · Tues., Jan. 5 */
  #weekday(reading: Reading): Found | undefined {
    const match = reading.match(this.#weekdayRange) ?? reading.match(this.#weekdayAlone);
    if (match === undefined) return undefined;
    const [written, first = '', last] = match;
    const [from, to] = [this.#weekdayName(first), last === undefined ? undefined : this.#weekdayName(last)];
    const end = reading.at + written.length;
    if (from === first || from === undefined) return undefined;
    if (last === undefined) return { end, spoken: from, rule: 'date' };
    return { end, spoken: this.#language.speech.range(from, to ?? last, reading.around(end)), rule: 'date' };
  }

  #weekdayName(written: string): string | undefined {
    const index = this.#weekdays.get(written.toLowerCase());
    return index === undefined ? undefined : this.#language.writing.dates.weekdays[index]?.[0];
  }

  #iso(reading: Reading): TypedFound | undefined {
    const match = reading.match(ISO);
    if (match === undefined) return undefined;
    const [written, year = '', , month = '', day = ''] = match;
    return this.#date(reading, reading.at + written.length, {
      day,
      month: Number(month),
      year,
      style: 'numeric',
    });
  }

  #figures(reading: Reading): TypedFound | undefined {
    const match = reading.match(FIGURES) ?? reading.match(SPACED) ?? this.#yearFirst(reading);
    if (match === undefined) return undefined;
    const spaced = match.length === 4;
    const [written, one = ''] = match;
    const [mark, two = '', year] = spaced ? ['.', match[2], match[3]] : [match[2], match[3], match[4]];
    const order = this.#language.writing.dates.orders[mark as '.' | '/' | '-'];
    // Without its year only 15.01. is a date: 1/2 is a fraction, 1-2 a range.
    if (order === undefined || (year === undefined && mark !== '.')) return undefined;
    if (order === 'ymd' && year !== undefined && year.length < 3 && one.length === 2)
      return this.#date(reading, reading.at + written.length, {
        day: year,
        month: Number(two),
        year: one.padStart(2, '0'),
        style: 'numeric',
      });
    const [day, month] = order === 'dmy' ? [one, two] : [two, one];
    const swapped = Number(month) > 12 && Number(day) <= 12 && (mark !== '.' || year?.length === 4);
    const end = reading.at + written.length;
    return this.#date(reading, end, {
      day: swapped ? month : day,
      month: Number(swapped ? day : month),
      year,
      style: 'numeric',
    });
  }

  /** 24/6/3 */
  #yearFirst(reading: Reading): RegExpExecArray | undefined {
    return this.#language.writing.dates.orders['/'] === 'ymd' ? reading.match(YEAR_FIRST) : undefined;
  }

  #named(reading: Reading): TypedFound | undefined {
    const { text, at, runEnd } = reading;
    if (this.#dayMonth === undefined || runEnd - at > 2 || !this.#mayBeDay(text, runEnd)) return undefined;
    const match = reading.match(this.#dayMonth);
    if (match === undefined) return undefined;
    const [written, day = '', dayTo, name = '', year] = match;
    return this.#date(reading, reading.at + written.length, {
      day,
      dayTo,
      ...this.#month(name),
      year,
      style: 'name',
    });
  }

  /** True if a month, a second day or the mark of a day may stand behind the figures. */
  #mayBeDay(text: string, end: number): boolean {
    const parted = CLOSING.at(text, end) ? end + 1 : end;
    if (parted >= text.length) return false;
    const isSpaced = classAt(text, parted) === SPACE;
    if (!isSpaced && classAt(text, parted) !== LETTER) return true;
    const next = isSpaced ? parted + 1 : parted;
    return HYPHEN.at(text, next) || this.#behindDay.at(text, next);
  }

  #monthFirst(reading: Reading): TypedFound | undefined {
    const [written, name = '', day = '', dayTo, year] =
      (this.#monthDay && reading.match(this.#monthDay)) ?? [];
    if (written === undefined) return this.#monthOfName(reading);
    const date = { ...this.#month(name), day, dayTo, year, style: 'name' } as const;
    const found = this.#date(reading, reading.at + written.length, date);
    return found === undefined ? this.#monthOfName(reading) : either(found, () => this.#monthOfName(reading));
  }

  /** May 2024 */
  #monthOfName(reading: Reading): TypedFound | undefined {
    const pair = reading.match(this.#monthYear);
    if (pair === undefined) return undefined;
    const [written, name = '', year = ''] = pair;
    return this.#date(reading, reading.at + written.length, { ...this.#month(name), year, style: 'name' });
  }

  #month(name: string): { month?: number } {
    const month = this.#months.get(name.toLowerCase());
    return month === undefined ? {} : { month };
  }

  #date(reading: Reading, end: number, date: WrittenDate): TypedFound | undefined {
    const { day, dayTo, month = 1 } = date;
    if (month < 1 || month > 12 || !isDay(day) || !isDay(dayTo) || isWordAt(reading.text, end))
      return undefined;
    const order = date.style === 'numeric' ? this.#language.writing.dates.orders['/'] : undefined;
    const plain = {
      ...date,
      order,
      day: day && withoutZeros(day),
      dayTo: dayTo && withoutZeros(dayTo),
    };
    return { end, token: { type: 'date', date: plain, around: reading.around(end) }, rule: 'date' };
  }
}

function isDay(day: string | undefined): boolean {
  return day === undefined || (Number(day) >= 1 && Number(day) <= 31);
}

/** Longest first, so that "Sept." is not read as "Sep". */
export function alternatives(words: Iterable<string>): string {
  return [...words]
    .sort((a, b) => b.length - a.length)
    .map((word) => word.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&'))
    .join('|');
}
