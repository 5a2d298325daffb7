// Words for a text whose kind is stated. What is not of that kind has none: it is
// then read as if nothing had been stated.
import type { Language } from '../normalize/language.js';
import { normalize } from '../normalize/normalize.js';
import { numeralOf, readNumeral, withoutZeros, type Numeral } from '../normalize/numerals.js';
import { romanNumeral } from '../normalize/recognise/words.js';
import type { Around } from '../normalize/reading.js';
import { sayDate } from './say-date.js';
import { sayDuration, sayMinutes, sayTime } from './say-time.js';
import type { SayAsKind } from './say-as-kinds.js';

export interface StatedKind {
  readonly as: SayAsKind;
  readonly format: string;
  readonly detail: string;
}

const LONGEST = 200; // characters that are said one by one

/** Undefined where the text is nothing of the kind, or the language has no words for it. */
export function sayAs(
  written: string,
  { as, format, detail }: StatedKind,
  language: Language | undefined,
  around: Around,
): string | undefined {
  const text = written.trim();
  if (as === 'name') return text;
  if (as === 'characters') return text.length <= LONGEST ? sayCharacters(text, language) : undefined;
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
  const said = normalize(text, language).text;
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
  if (!/^[\d\s.,:;/()+_-]*\d[\d\s.,:;/()+_-]*$/.test(text) || text.length > LONGEST) return undefined;
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

/** What a writer might have put behind the digits; plurals are not meant. */
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
  if (!groups.some((group) => /\d/.test(group)) || text.length > LONGEST) return undefined;
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
