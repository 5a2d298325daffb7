// Times of day and durations on a clock: 3:30 p.m., 15.30 Uhr, 9-5, 1:05:20.
import { CharacterSet } from '../../character-set.js';
import { WORD_UNIT } from '../characters.js';
import { behind } from '../dispatch.js';
import type { Language } from '../language.js';
import type { WrittenTime } from '../quantity.js';
import { Beginnings } from '../literals.js';
import { withoutZeros } from '../numerals.js';
import { either, type Reading, type Token, type TypedFound } from '../reading.js';
import { cardinal } from '../say.js';
import { alternatives } from './dates.js';

// Behind the comma of 9:30,10:45 another time begins.
const END = '(?![\\p{L}\\p{N}]|[.:]\\d|,\\d(?!\\d?[:.h]\\d\\d))';
const BEHIND_TIME = /\d[:.h]\d\d(?: ?[ap]\.?m\.?)?,$/i;
const LONGEST_TIME = 12; // units of a time and the comma behind it
const DASH = /( ?)[-–]\1/y;
const HYPHEN = new CharacterSet('-–');
const CUTS_TIME = new CharacterSet('.,:/');
const LONGEST = 3; // digits of an hour, or of the hours of a duration
const OFFSET = new RegExp(String.raw`(UTC|GMT)([-+−])(\d{1,2})(?!${WORD_UNIT}|[.,:]\d)`, 'uy');
const DURATION = new RegExp(
  String.raw`(\d{1,3}) ?h(?: ?(\d{1,2}) ?(?:min|m)\b(?:\.(?= \p{Ll}))?)?(?: ?(\d{1,2}) ?s\b)?(?!${WORD_UNIT})`,
  'uy',
);
const MINUTES = /(\d{1,3}) ?(?:min|m) ?(\d{1,2}) ?s(?:ec)?\b/y;

interface TimeAt {
  readonly time: WrittenTime;
  readonly end: number;
}

export class Times {
  readonly #language: Language;
  readonly #clock: RegExp;
  readonly #hour: RegExp | undefined;
  readonly #marks: CharacterSet;
  /** First characters of the words that may follow an hour. */
  readonly #behindHour: Beginnings;
  readonly #halves: Readonly<Record<string, string>>;

  constructor(language: Language) {
    const { marks, halves, words, zones } = language.writing.times;
    this.#language = language;
    this.#halves = lowered(halves);
    const half = optional(halves);
    const word = optional(words);
    const zone =
      Object.keys(zones).length === 0
        ? '()'
        : `(?: ?\\(?(${alternatives(Object.keys(zones))})(?![\\p{L}\\p{N}])(?:([-+−])(\\d{1,2}))?\\)?)?`;
    const mark = `[${marks.filter((known) => known !== '.').join('')}]`;
    // 19:30h, where the language has no word of its own for the letter.
    const letter = words['h'] === undefined && marks.includes(':') ? '(?:h(?![\\p{L}\\p{N}]))?' : '';
    const tail = `${half}${word}${zone}`;
    const dotted = marks.includes('.')
      ? `|(?<=\\d)\\.(?=\\d\\d(?: ?[-–] ?\\d{1,2}[.:]\\d\\d)? ?(?:${alternatives([...Object.keys(halves), ...Object.keys(words)])}))`
      : '';
    this.#clock = new RegExp(
      `(\\d{1,2})(?:${mark}${dotted})(\\d{2})(?:[:.](\\d{2})(?:[.,]\\d{1,6})?)?${letter}${tail}${END}`,
      'iuy',
    );
    this.#marks = new CharacterSet([...marks, ...marks.map((known) => known.toUpperCase())].join(''));
    const forms = [...Object.keys(halves), ...Object.keys(words)];
    this.#behindHour = Beginnings.ofAnyCase(forms);
    if (forms.length > 0)
      this.#hour = new RegExp(`(\\d{1,2})()()(?= ?(?:${alternatives(forms)})${END})${tail}`, 'iuy');
  }

  readonly atDigit = behind(
    /^(?:[:.]\d|[-–]| ?\p{L}| [-–])/u,
    (reading) => {
      if (isCut(reading.text, reading.at)) return undefined;
      const first = this.#mayBeHour(reading) ? this.#at(reading, reading.at) : undefined;
      const range = this.#range(reading, first);
      const alone = (): TypedFound | undefined => this.#duration(reading) ?? this.#single(reading, first);
      return range === undefined ? alone() : either(range, alone);
    },
    LONGEST,
  );

  /** UTC+2, GMT-5 */
  readonly atLetter = behind(/[-+−]/, (reading) => {
    const match = reading.match(OFFSET);
    if (match === undefined) return undefined;
    const [written, zone = '', sign, offset] = match;
    return { end: reading.at + written.length, spoken: this.#zone(zone, sign, offset), rule: 'zone' };
  });

  #zone(written: string, sign: string | undefined, offset: string | undefined): string {
    const { speech, symbols, writing } = this.#language;
    const { zones } = writing.times;
    const name = zones[written] ?? zones[written.toUpperCase()] ?? speech.letters(written);
    if (offset === undefined) return name;
    const hours = cardinal(offset, speech);
    return `${name} ${sign === '+' ? symbols.plus : symbols.minus} ${hours}`;
  }

  #single(reading: Reading, found: TimeAt | undefined): TypedFound | undefined {
    if (found === undefined) return undefined;
    const marked = found.time.half !== undefined || found.time.word !== undefined;
    const { scoreWords } = this.#language.writing;
    if (!marked && scoreWords.has(reading.around(found.end).previousWord)) return undefined; // won 21:15
    return { end: found.end, token: timeToken(reading, found), rule: 'time' };
  }

  /** 9:00–17:00 · 9am-5pm · 9–17 Uhr */
  #range(reading: Reading, first: TimeAt | undefined): TypedFound | undefined {
    const { text, runEnd } = reading;
    if (!HYPHEN.at(text, skipSpace(text, first?.end ?? runEnd))) return undefined;
    const from = first ?? bareHour(reading);
    if (from === undefined) return undefined;
    DASH.lastIndex = from.end;
    const dash = DASH.exec(text);
    if (dash === null) return undefined;
    const to = this.#at(reading, from.end + dash[0].length);
    if (to === undefined || isOutside(from.time) || isOutside(to.time)) return undefined;
    const begin = timeToken(reading, { time: inherit(from.time, to.time), end: from.end });
    const last = timeToken(reading, to);
    return {
      end: to.end,
      token: { type: 'range', from: begin, to: last, around: last.around },
      rule: 'time',
    };
  }

  /** True if minutes, or the word for an hour, may stand behind the figures. */
  #mayBeHour({ text, at, runEnd }: Reading): boolean {
    if (runEnd - at > 2) return false;
    return this.#marks.at(text, runEnd) || this.#behindHour.at(text, skipSpace(text, runEnd));
  }

  #at(reading: Reading, at: number): TimeAt | undefined {
    const match = reading.match(this.#clock, at) ?? (this.#hour && reading.match(this.#hour, at));
    if (match === undefined) return undefined;
    const [written, hours = '', minutes = '', seconds, half, word, place, sign, offset] = match;
    const zone = this.#language.tag !== 'en' && place === 'est' ? undefined : place; // à 8h14 est
    const { words } = this.#language.writing.times;
    const time: WrittenTime = {
      hours: withoutZeros(hours),
      minutes,
      seconds: seconds || undefined, // a group that the language has no words for is ''
      half: half ? (this.#halves[half.toLowerCase()] ?? half) : undefined,
      word: word ? (words[word] ?? word) : undefined,
      zone: zone ? this.#zone(zone, sign, offset) : undefined,
    };
    // In "(6 pm EST)" the bracket is not the zone's.
    const whole = zone === place ? written : written.slice(0, -' est'.length);
    const length = whole.endsWith(')') && !whole.includes('(') ? whole.length - 1 : whole.length;
    return isOutside(time) ? undefined : { time, end: at + length };
  }

  /** 2h 30m · 45m 10s */
  #duration(reading: Reading): TypedFound | undefined {
    const { text, runEnd } = reading;
    const letter = text[text[runEnd] === ' ' ? runEnd + 1 : runEnd];
    const long = letter === 'h' ? reading.match(DURATION) : undefined;
    const short = letter === 'm' ? reading.match(MINUTES) : undefined;
    const match = long ?? short;
    if (match === undefined) return undefined;
    const units = long === undefined ? (['min', 's'] as const) : (['h', 'min', 's'] as const);
    const parts = units.flatMap((unit, index): [string, typeof unit][] => {
      const digits = match[index + 1];
      return digits === undefined ? [] : [[withoutZeros(digits), unit]];
    });
    if (parts.length < 2) return undefined; // 5 h is a measure like any other
    const end = reading.at + match[0].length;
    return { end, token: { type: 'duration', parts, around: reading.around(end) }, rule: 'duration' };
  }
}

function timeToken(reading: Reading, { time, end }: TimeAt): Token {
  return { type: 'time', time, around: reading.around(end) };
}

function isOutside({ hours, minutes, seconds }: WrittenTime): boolean {
  return Number(hours) > 24 || Number(minutes || '0') > 59 || Number(seconds ?? '0') > 59;
}

/** The figures go on from others: 1.9:30, but 9:30,10:45 are two times. */
function isCut(text: string, at: number): boolean {
  if (!CUTS_TIME.at(text, at - 1) || isBehindName(text, at)) return false;
  return !BEHIND_TIME.test(text.slice(Math.max(0, at - LONGEST_TIME), at));
}

/** 平日:7:00, Mon:9:30: the colon belongs to the word before it. */
export function isBehindName(text: string, at: number): boolean {
  return text[at - 1] === ':' && /[^\s\d:]/.test(text[at - 2] ?? '');
}

/** The 9 of "9-5pm". */
function bareHour({ text, at, runEnd }: Reading): TimeAt | undefined {
  if (runEnd - at > 2) return undefined;
  return { time: { hours: withoutZeros(text.slice(at, runEnd)), minutes: '' }, end: runEnd };
}

function skipSpace(text: string, at: number): number {
  return text[at] === ' ' ? at + 1 : at;
}

/** In "9–17 Uhr" the word belongs to both; in "9-11 am" it is said once. */
function inherit(from: WrittenTime, to: WrittenTime): WrittenTime {
  return from.minutes === '' && from.half === undefined && from.word === undefined && to.word !== undefined
    ? { ...from, word: '' }
    : from;
}

function optional(forms: Readonly<Record<string, string>>): string {
  const keys = Object.keys(forms);
  return keys.length === 0 ? '()' : `(?: ?(${alternatives(keys)})(?![\\p{L}\\p{N}]))?`;
}

function lowered(forms: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(forms).map(([written, said]) => [written.toLowerCase(), said]));
}
