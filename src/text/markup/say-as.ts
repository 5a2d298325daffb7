// Speaks a text whose kind `interpret-as` states: a number, a date, a time of day, a duration, characters.
// A text that does not match the stated kind has no result. The normaliser then reads it as plain text.
import type { Language } from '../normalize/language.js';
import type { WrittenDate, WrittenTime } from '../normalize/quantity.js';
import { normalize } from '../normalize/normalize.js';
import { type Numeral, numeralOf, readNumeral, withoutZeros } from '../normalize/numerals.js';
import type { Around } from '../normalize/reading.js';
import { romanNumeral } from '../normalize/recognise/words.js';
import type { SayAsKind } from './elements.js';

type Part = 'd' | 'm' | 'y';

const ORDERS = new Set(['mdy', 'dmy', 'ymd', 'ydm', 'md', 'dm', 'ym', 'my', 'y', 'm', 'd']);
const USUAL_DIGITS: Readonly<Record<Part, number>> = { d: 2, m: 2, y: 4 };

/** Undefined where no order is stated, or the text has another one. */
function sayDate(text: string, format: string, language: Language, around: Around): string | undefined {
  const letters = format.toLowerCase().replace(/[^dmy]/g, '');
  const order = letters.replace(/(.)\1+/g, '$1');
  if (!ORDERS.has(order)) return undefined;
  const parts = partsOf(text, letters, Array.from(order) as Part[]);
  return parts === undefined ? undefined : say(parts, language, around);
}

type Parts = Readonly<Partial<Record<Part, string>>>;

function partsOf(text: string, letters: string, order: readonly Part[]): Parts | undefined {
  const tokens = text.match(/\d+|\p{L}[\p{L}\p{M}.]*/gu) ?? [];
  const [only = ''] = tokens;
  const isRun = tokens.length === 1 && order.length > 1 && /^\d+$/.test(only);
  const values = isRun ? cutRun(only, letters, order) : tokens;
  if (values?.length !== order.length) return undefined;
  return Object.fromEntries(order.map((part, index) => [part, values[index]]));
}

/** 20240115 by its widths: those of yyyymmdd, or the usual ones. */
function cutRun(digits: string, letters: string, order: readonly Part[]): string[] | undefined {
  const stated = letters.length === digits.length;
  const values: string[] = [];
  let at = 0;
  for (const part of order) {
    const width = stated ? letters.split(part).length - 1 : USUAL_DIGITS[part];
    values.push(digits.slice(at, at + width));
    at += width;
  }
  return at === digits.length ? values : undefined;
}

function say({ d, m, y }: Parts, language: Language, around: Around): string | undefined {
  const { speech } = language;
  const month = m === undefined ? undefined : monthOf(m, language);
  if (m !== undefined && month === undefined) return undefined;
  if (d !== undefined && !(/^\d{1,2}$/.test(d) && Number(d) >= 1 && Number(d) <= 31)) return undefined;
  if (y !== undefined && !/^\d{2}(?:\d{2})?$/.test(y)) return undefined;
  if (month === undefined && y !== undefined) {
    return speech.year(y, around, true) ?? speech.count({ number: numeral(y) }, around);
  }
  if (month === undefined) {
    const [usual = ''] = language.writing.dates.dayMark.replaceAll('\\', '').split('|');
    return speech.ordinal(withoutZeros(d ?? ''), around, usual);
  }
  const date: WrittenDate = {
    day: d === undefined ? undefined : withoutZeros(d),
    month,
    year: y,
    style: d !== undefined && y !== undefined ? 'numeric' : 'name',
  };
  return speech.date(date, around)?.trim();
}

function numeral(digits: string) {
  return { negative: false, whole: withoutZeros(digits), decimals: '', grouped: false };
}

/** 1 to 12, of figures or a name. */
function monthOf(written: string, { writing }: Language): number | undefined {
  if (/^\d{1,2}$/.test(written)) {
    const month = Number(written);
    return month >= 1 && month <= 12 ? month : undefined;
  }
  const name = written.toLowerCase();
  const bare = name.replace(/\.$/, '');
  const index = writing.dates.months.findIndex((names) =>
    names.some((known) => known.toLowerCase() === name || known.toLowerCase() === bare),
  );
  return index < 0 ? undefined : index + 1;
}

const TIME = /^(\d{1,2})(?:[:.h](\d{2}))?(?:[:.](\d{2}))?\s*(\p{L}[\p{L}.]{0,8}(?: \p{L}\.)?)?$/u;

const MINUTES = /^(\d{1,3})['’′](?:(\d{1,2})(?:["”″]|''|’’)?)?$/u;

/** 1'21": minutes and seconds, though it is called a time. */
function sayMinutes(text: string, { speech }: Language, around: Around): string | undefined {
  const [, minutes, seconds = '0'] = MINUTES.exec(text) ?? [];
  if (minutes === undefined) return undefined;
  const parts = (
    [
      [withoutZeros(minutes), 'min'],
      [withoutZeros(seconds), 's'],
    ] as const
  ).filter(([digits]) => digits !== '0');
  return parts.length === 0 ? undefined : speech.duration(parts, around);
}

/** 2:30pm, 14.30, 9 a.m.: hours are written before minutes in every format that there is. */
function sayTime(text: string, language: Language, around: Around): string | undefined {
  const [, hours, minutes = '', seconds, suffix] = TIME.exec(text) ?? [];
  if (hours === undefined || Number(hours) > 24 || Number(minutes) > 59 || Number(seconds ?? 0) > 59) {
    return undefined;
  }
  const half = suffix === undefined ? undefined : halfOf(suffix, language);
  if (suffix !== undefined && half === undefined) return undefined;
  const time: WrittenTime = {
    hours: withoutZeros(hours),
    minutes,
    seconds,
    half,
  };
  return language.speech.time(time, around);
}

function halfOf(written: string, { writing }: Language): string | undefined {
  const wanted = written.toLowerCase();
  const entries = Object.entries(writing.times.halves);
  return entries.find(([half]) => half.toLowerCase() === wanted)?.[1];
}

const UNITS = { h: 'h', m: 'min', s: 's' } as const;

/** 1:05:20, in the order that is stated (hms, hm, ms), else from hours or minutes down to seconds. */
function sayDuration(text: string, format: string, { speech }: Language, around: Around): string | undefined {
  if (!/^\d{1,6}(?:[:.]\d{1,2}){0,2}$/.test(text)) return undefined;
  const values = text.split(/[:.]/);
  const stated = format.toLowerCase().replace(/[^hms]/g, '');
  const order = stated.length === values.length ? stated : 'hms'.slice(3 - values.length);
  const parts = Array.from(order).flatMap((letter, index): [string, 'h' | 'min' | 's'][] => {
    const digits = withoutZeros(values[index] ?? '0');
    return digits === '0' ? [] : [[digits, UNITS[letter as keyof typeof UNITS]]];
  });
  return parts.length === 0 ? undefined : speech.duration(parts, around);
}

interface StatedKind {
  readonly as: SayAsKind;
  readonly format: string;
  readonly detail: string;
}

/** Undefined where the text is nothing of the kind, or the language has no words for it. */
export function sayAs(
  written: string,
  { as, format, detail }: StatedKind,
  language: Language | undefined,
  around: Around,
): string | undefined {
  const text = written.trim();
  if (as === 'name') return text;
  if (as === 'characters') return sayCharacters(text, language);
  if (as === 'digits') return sayDigits(text, language);
  if (language === undefined) return undefined;
  switch (as) {
    case 'cardinal':
      return sayCardinal(text, language, around);
    case 'ordinal':
      return sayOrdinal(text, language, around);
    case 'fraction':
      return sayFraction(text, language, around);
    case 'telephone':
      return sayTelephone(text, language);
    case 'currency':
      return sayCurrency(text, format || detail, language);
    case 'date':
      return sayDate(text, format, language, around) ?? inOwnWords(text, language);
    case 'time':
      return (
        sayTime(text, language, around) ?? sayMinutes(text, language, around) ?? inOwnWords(text, language)
      );
    case 'duration':
      return (
        sayDuration(text, format, language, around) ??
        sayMinutes(text, language, around) ??
        inOwnWords(text, language)
      );
    case 'address':
    case 'net':
    case 'unit':
    case 'expletive':
      return inOwnWords(text, language);
  }
}

/** As it would be read where nothing stands around it; undefined where that changes nothing. */
function inOwnWords(text: string, language: Language): string | undefined {
  const said = normalize(text, language, { isDecoded: true }).text;
  return said === text ? undefined : said;
}

function sayCharacters(text: string, language: Language | undefined): string {
  return Array.from(text.matchAll(/\S/gu), ([character]) => sayCharacter(character, language)).join(' ');
}

function sayCharacter(character: string, language: Language | undefined): string {
  if (language === undefined) return character.toUpperCase();
  if (/[0-9]/.test(character)) return language.speech.digits(character);
  if (/\p{L}/u.test(character)) return language.speech.letters(character);
  const { inAddress, inMath, inText } = language.symbols;
  return inAddress[character] ?? inMath[character] ?? inText[character] ?? character;
}

/** A sign between the digits is a short rest. */
function sayDigits(text: string, language: Language | undefined): string | undefined {
  if (!/^[\d\s.,:;/()+_-]+$/.test(text) || !/\d/.test(text)) return undefined;
  const groups = text.match(/\d+/g) ?? [];
  return groups.map((group) => language?.speech.digits(group) ?? Array.from(group).join(' ')).join(', ');
}

/** A number that is all there is; 1,234.5 also where the language writes 1.234,5. */
function numeralIn(text: string, language: Language): Numeral | undefined {
  const sign = /^[-−+]/.exec(text)?.[0] ?? '';
  const digits = text.slice(sign.length);
  for (const format of [language.writing.numbers, { decimal: '.', grouping: [',', ' '] }] as const) {
    const read = readNumeral(digits, 0, format);
    if (read !== undefined && read.end === digits.length) {
      return { ...read.numeral, negative: sign === '-' || sign === '−' };
    }
  }
  return undefined;
}

function sayCardinal(text: string, language: Language, around: Around): string | undefined {
  const number = numeralIn(romanDigits(text) ?? text, language);
  return number === undefined ? undefined : language.speech.count({ number }, around);
}

/** XIV as 14. */
function romanDigits(text: string): string | undefined {
  const value = romanNumeral(text.toUpperCase());
  return value === undefined ? undefined : String(value);
}

function sayOrdinal(text: string, language: Language, around: Around): string | undefined {
  const [, digits = '', mark = ''] = /^(\d{1,12})(\P{N}{0,5})$/u.exec(romanDigits(text) ?? text) ?? [];
  if (digits === '') return undefined;
  const marks = mark.trim() === '' ? usualMarks(language) : [mark.trim()];
  for (const one of marks) {
    const said = language.speech.ordinal(withoutZeros(digits), around, one);
    if (said !== undefined) return said;
  }
  return undefined;
}

/** Endings that a writer may put behind the digits. Plurals are not included. */
function usualMarks({ writing }: Language): string[] {
  const marks = writing.ordinalMark.replaceAll('\\', '').split('|');
  return marks.filter((mark) => !/.s$/.test(mark));
}

function sayFraction(text: string, language: Language, around: Around): string | undefined {
  const parts = /^(?:(\d{1,9})(?:\s*\+\s*|\s+))?(\d{1,9})\s*[/⁄]\s*(\d{1,9})$/u.exec(text);
  if (parts === null) return inOwnWords(text, language);
  const [, whole, numerator = '', denominator = ''] = parts;
  const fraction = { numerator: withoutZeros(numerator), denominator: withoutZeros(denominator) };
  if (fraction.denominator === '0') return undefined;
  if (whole === undefined) return language.speech.fraction(fraction, around);
  return language.speech.count({ number: numeralOf(withoutZeros(whole)), fraction }, around);
}

/** Letters, as of an extension, by their names. */
function sayTelephone(text: string, { speech }: Language): string | undefined {
  const groups = text.match(/\d+|\p{L}+/gu) ?? [];
  if (!groups.some((group) => /\d/.test(group))) return undefined;
  if (groups.every((group) => /\d/.test(group))) return speech.telephone(groups, text.startsWith('+'));
  return groups
    .map((group) => (/\d/.test(group) ? speech.telephone([group], false) : speech.letters(group)))
    .join(', ');
}

/** The format may name the currency of a bare number, by its ISO code. */
function sayCurrency(text: string, format: string, language: Language): string | undefined {
  const isBare = /^[-−+]?[\d.,\s]+$/.test(text);
  if (!isBare) return inOwnWords(text, language);
  const code = /^[A-Za-z]{3}$/.exec(format.trim())?.[0].toUpperCase();
  if (code === undefined || !Object.hasOwn(language.writing.currencies, code)) return undefined;
  return inOwnWords(`${code} ${text}`, language);
}
