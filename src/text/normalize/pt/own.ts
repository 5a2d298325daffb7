// Tokens that Portuguese reads in its own way.
import { readNumeral, withoutZeros } from '../numerals.js';
import type { Found, Reading } from '../reading.js';
import { romanValue } from '../recognise/words.js';
import { genderOf } from './grammar.js';
import { cardinal, decimal, ordinal } from './numbers.js';
import { MONTH_NAMES, sayDay, SPEECH } from './speech.js';
import { WRITING } from './writing.js';

const DAY_AND_MONTH = /(\d{1,2})\/(\d{1,2})(?![\p{L}\p{N}/-]|[.,:]\d)/uy;
const BEFORE_DATE = new Set(
  'dia dias segunda terça quarta quinta sexta feira sábado domingo desde até em'.split(' '),
);

/** Dia 15/01, até 3/4: a day and its month where a word says so. */
export function dayAndMonth(reading: Reading): Found | undefined {
  if (!reading.isFresh || reading.text[reading.runEnd] !== '/') return undefined;
  const match = reading.match(DAY_AND_MONTH);
  const [written = '', day = '', month = ''] = match ?? [];
  const [d, m] = [Number(day), Number(month)];
  if (match === undefined || d < 1 || d > 31 || m < 1 || m > 12 || written === '24/7') return undefined;
  const end = reading.at + written.length;
  const known = BEFORE_DATE.has(reading.around(end).previousWord) || (day.length === 2 && /^0/.test(month));
  return known
    ? { end, spoken: `${sayDay(withoutZeros(day))} de ${MONTH_NAMES[m - 1] ?? ''}`, rule: 'date' }
    : undefined;
}

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
  const near = [around.previousWord, around.secondPreviousWord, around.nextWord, around.secondNextWord];
  const game = near.some((word) => WRITING.scoreWords.has(word.toLowerCase()));
  const sum = /^ ?=/.test(reading.text.slice(around.end, around.end + 2));
  const spoken = `${cardinal(first)} ${game ? 'a' : sum ? 'vezes' : 'por'} ${cardinal(second)}`;
  return { end: around.end, spoken, rule: game ? 'score' : 'math' };
}

const TAX_NUMBER = /\d{3}\.\d{3}\.\d{3}-\d{2}(?!\d)|\d{2}\.\d{3}\.\d{3}\/\d{4}-\d{2}(?!\d)/y;
const POSTCODE = /\d{5}-\d{3}(?!\d)|\d{4}-\d{3}(?= \p{Lu})/uy;

/** CPF, CNPJ and postcodes: digit by digit, in the groups that are written. */
export function grouped(reading: Reading): Found | undefined {
  if (!reading.isFresh || !/[.-]/.test(reading.text[reading.runEnd] ?? '')) return undefined;
  const match = reading.match(TAX_NUMBER) ?? reading.match(POSTCODE);
  if (match === undefined) return undefined;
  const spoken = (match[0].match(/\d+/g) ?? []).map((group) => SPEECH.digits(group)).join(', ');
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

const CENTURY =
  /(séculos?|sécs?\.) ?([IVXLC]{1,7})(?:( e |, | ao | a | ?[-–] ?)([IVXLC]{1,7}))?(?![\p{L}\p{N}])/iuy;

/** Séculos XV e XVI, séc. XIX. */
export function centuries(reading: Reading): Found | undefined {
  if (!reading.isFresh || !/[sS]/.test(reading.text[reading.at] ?? '')) return undefined;
  const match = reading.match(CENTURY);
  const [written = '', name = '', first = '', link, last] = match ?? [];
  if (match === undefined || !/^[IVXLC]+$/.test(first + (last ?? ''))) return undefined;
  const plural = /s\.?$/i.test(name);
  if (last !== undefined && !plural) return undefined;
  const tail =
    last === undefined ? '' : `${/[-–]/.test(link ?? '') ? ' a ' : (link ?? ' ')}${sayCentury(last)}`;
  const spoken = `${name.slice(0, 1)}éculo${plural ? 's' : ''} ${sayCentury(first)}${tail}`;
  return { end: reading.at + written.length, spoken, rule: 'roman' };
}

function sayCentury(roman: string): string {
  const value = romanValue(roman);
  return (value <= 10 ? ordinal(String(value)) : undefined) ?? cardinal(String(value));
}

const LAW = /(\d{1,3}(?:\.?\d{3})?)\/(\d{4}|\d{2})(?![\d/]|[.,]\d)/y;
const LAW_WORDS =
  /(?:lei|leis|complementar|decreto|decreto-lei|portaria|resolução|provisória|processo|n\.?º) $/iu;

/** Lei 8.112/90, Decreto 9.057/2017. */
export function lawNumber(reading: Reading): Found | undefined {
  const match = reading.isFresh ? reading.match(LAW) : undefined;
  if (match === undefined || !LAW_WORDS.test(reading.text.slice(Math.max(0, reading.at - 16), reading.at)))
    return undefined;
  const [written, number = '', year = ''] = match;
  const spoken = `${cardinal(number.replace('.', ''))} barra ${cardinal(withoutZeros(year))}`;
  return { end: reading.at + written.length, spoken, rule: 'identifier' };
}

const ZONE = /(UTC|GMT) ?([+−–-])(\d{1,2})(?::(\d{2}))?(?![\p{L}\p{N}])/uy;

/** UTC-3, GMT+5:30. */
export function zone(reading: Reading): Found | undefined {
  if (!reading.isFresh || !/[UG]/.test(reading.text[reading.at] ?? '')) return undefined;
  const match = reading.match(ZONE);
  if (match === undefined) return undefined;
  const [written, name = '', sign, hours = '', minutes] = match;
  const half = minutes === undefined || minutes === '00' ? '' : ` e ${cardinal(withoutZeros(minutes))}`;
  const spoken = `${SPEECH.letters(name)} ${sign === '+' ? 'mais' : 'menos'} ${cardinal(withoutZeros(hours))}${half}`;
  return { end: reading.at + written.length, spoken, rule: 'zone' };
}

const POSITION = /(\d{1,3})[°º] ?(\d{1,2})['′’](?: ?(\d{1,2})(?:''|["″”]))?(?: ?([NSELOW])(?!\p{L}))?/uy;
const DIRECTIONS: Readonly<Record<string, string>> = {
  N: 'norte',
  S: 'sul',
  E: 'leste',
  L: 'leste',
  O: 'oeste',
  W: 'oeste',
};

/** 40º 25' N. */
export function position(reading: Reading): Found | undefined {
  if (!reading.isFresh || !/[°º]/.test(reading.text[reading.runEnd] ?? '')) return undefined;
  const match = reading.match(POSITION);
  if (match === undefined) return undefined;
  const [written, degrees = '', minutes = '', seconds, direction] = match;
  const said = [counted(degrees, 'grau'), counted(minutes, 'minuto')];
  if (seconds !== undefined) said.push(counted(seconds, 'segundo'));
  if (direction !== undefined) said.push(DIRECTIONS[direction] ?? direction);
  return { end: reading.at + written.length, spoken: said.join(' '), rule: 'measure' };
}

function counted(digits: string, noun: string): string {
  return `${cardinal(withoutZeros(digits), 'm')} ${noun}${withoutZeros(digits) === '1' ? '' : 's'}`;
}

const MORE_THAN = /\d[\d.,]{0,14}\+(?= \p{Ll})/uy;

/** 100+ usuários. */
export function moreThan(reading: Reading): Found | undefined {
  const match = reading.isFresh ? reading.match(MORE_THAN) : undefined;
  const number = match && readNumeral(reading.text, reading.at, WRITING.numbers);
  const end = reading.at + (match?.[0].length ?? 0);
  if (number?.end !== end - 1) return undefined;
  const spoken = `mais de ${SPEECH.count({ number: number.numeral }, reading.around(end))}`;
  return { end, spoken, rule: 'cardinal' };
}
