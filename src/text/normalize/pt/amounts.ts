// Sums, parts, results and codes in the forms that only Portuguese has.
import { readNumeral, withoutZeros } from '../numerals.js';
import type { Around, Found, Reading } from '../reading.js';
import { genderOf } from './grammar.js';
import { cardinal, decimal } from './numbers.js';
import { atLeast, coordinates } from '../shared-forms.js';
import { SPEECH } from './speech.js';
import { WRITING } from './writing.js';

const MIXED = /(\d{1,3})(?: ?½|[ ]1[/⁄]2) (\p{Ll}{3,})(?!\p{L})/uy;

/** 2 1/2 xícaras: duas xícaras e meia. */
export function halfMore(reading: Reading): Found | undefined {
  if (!reading.isFresh || !/[ ½]/.test(reading.text[reading.runEnd] ?? '')) return undefined;
  const match = reading.match(MIXED);
  const [written = '', whole = '', noun = ''] = match ?? [];
  if (match === undefined || /^(?:por|com|das|dos|mais|que|para)$/.test(noun)) return undefined;
  const gender = genderOf(noun);
  const name = whole === '1' ? noun.replace(/(?<=[aeo])s$/, '') : noun;
  const spoken = `${cardinal(whole, gender)} ${name} e ${gender === 'f' ? 'meia' : 'meio'}`;
  return { end: reading.at + written.length, spoken, rule: 'fraction' };
}

const PRODUCT = /(\d{1,6})( ?)[x×X]\2(\d{1,6})(?![\d\p{L}]|[.,]\d)/uy;

/** 3x4, 1920 × 1080; of a game, 2 x 1 is its result. */
export function product(reading: Reading): Found | undefined {
  if (!reading.isFresh || !/[xX× ]/.test(reading.text[reading.runEnd] ?? '')) return undefined;
  const match = reading.match(PRODUCT);
  const [written = '', first = '', , second = ''] = match ?? [];
  if (match === undefined || (first.startsWith('0') && first !== '0')) return undefined;
  const around = reading.around(reading.at + written.length);
  const game = Number(first) < 20 && Number(second) < 20 && isOfGame(around);
  const sum = /^ ?=/.test(reading.text.slice(around.end, around.end + 2));
  const spoken = `${cardinal(first)} ${game ? 'a' : sum ? 'vezes' : 'por'} ${cardinal(second)}`;
  return { end: around.end, spoken, rule: game ? 'score' : 'math' };
}

const NEARBY = 48; // units in which a word tells of a game

function isOfGame({ text, start, end }: Around): boolean {
  const teams =
    /\p{Lu}\p{Ll}+ $/u.test(text.slice(Math.max(0, start - 24), start)) &&
    /^ \p{Lu}\p{Ll}/u.test(text.slice(end, end + 3)); // Brasil 2 x 0 Chile
  if (teams) return true;
  const near = `${text.slice(Math.max(0, start - NEARBY), start)} ${text.slice(end, end + NEARBY)}`;
  return (near.toLowerCase().match(/\p{L}+/gu) ?? []).some((word) => WRITING.scoreWords.has(word));
}

const TAX_NUMBER = /\d{3}\.\d{3}\.\d{3}-\d{2}(?!\d)|\d{2}\.\d{3}\.\d{3}\/\d{4}-\d{2}(?!\d)/y;
const IDENTITY_CARD = /\d{1,2}\.\d{3}\.\d{3}-[\dX](?![\p{L}\p{N}])/uy;
const LAWSUIT = /\d{7}-\d{2}\.\d{4}\.\d\.\d{2}\.\d{4}(?!\d)/y;
const POSTCODE = /\d{5}-\d{3}(?!\d)|\d{4}-\d{3}(?= \p{Lu})/uy;

/** CPF, CNPJ, RG, lawsuits and postcodes: digit by digit, in the groups that are written. */
export function grouped(reading: Reading): Found | undefined {
  if (!reading.isFresh || !/[.-]/.test(reading.text[reading.runEnd] ?? '')) return undefined;
  const match = [TAX_NUMBER, IDENTITY_CARD, LAWSUIT, POSTCODE]
    .map((pattern) => reading.match(pattern))
    .find((found) => found !== undefined);
  if (match === undefined) return undefined;
  const spoken = (match[0].match(/\d+|X/g) ?? []).map((group) => SPEECH.digits(group)).join(', ');
  return { end: reading.at + match[0].length, spoken, rule: 'digits' };
}

const RATING = /(\d{1,2}[.,]\d{1,2})\/(5|10|20|100)(?![\d/]|[.,]\d)/y;

/** 9,5/10. */
export function rating(reading: Reading): Found | undefined {
  const match = reading.isFresh ? reading.match(RATING) : undefined;
  const [written = '', points = '', most = ''] = match ?? [];
  const number = match && readNumeral(points, 0, WRITING.numbers)?.numeral;
  return (
    number && {
      end: reading.at + written.length,
      spoken: `${decimal(number)} de ${cardinal(most)}`,
      rule: 'score',
    }
  );
}

const LAW = /(\d{1,3}(?:\.?\d{3})?)\/(\d{4}|\d{2})(?![\d/]|[.,]\d)/y;
const LAW_WORDS =
  /(?:lei|leis|complementar|PLP?|PEC|MP|decreto|decreto-lei|portaria|resolução|provisória|processo|n\.?º) $/iu;

/** Lei 8.112/90, Decreto 9.057/2017. */
export function lawNumber(reading: Reading): Found | undefined {
  const match = reading.isFresh ? reading.match(LAW) : undefined;
  if (match === undefined || !LAW_WORDS.test(reading.text.slice(Math.max(0, reading.at - 16), reading.at)))
    return undefined;
  const [written, number = '', year = ''] = match;
  const spoken = `${cardinal(number.replace('.', ''))} barra ${cardinal(withoutZeros(year))}`;
  return { end: reading.at + written.length, spoken, rule: 'identifier' };
}

const DIRECTIONS: Readonly<Record<string, string>> = {
  N: 'norte',
  S: 'sul',
  E: 'leste',
  L: 'leste',
  O: 'oeste',
  W: 'oeste',
};

const PARTS = { degree: 'grau', minute: 'minuto', second: 'segundo' } as const;

/** 40º 25' N. */
export const position = coordinates((digits, part) => counted(digits, PARTS[part]), DIRECTIONS);

function counted(digits: string, noun: string): string {
  return `${cardinal(digits, 'm')} ${noun}${digits === '1' ? '' : 's'}`;
}

/** 100+ usuários. */
export const moreThan = atLeast('mais de', WRITING.numbers, SPEECH);
