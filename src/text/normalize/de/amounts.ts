// German, Austrian and Swiss sums without cents: 5,– €, € 5,–, Fr. 24.–, CHF 1'850.–
import type { Currency } from '../quantity.js';
import { numeralOf } from '../numerals.js';
import type { Found, Reading } from '../reading.js';
import type { Rules } from '../shared-forms.js';
import { SPEECH } from './speech.js';
import { WRITING } from './writing.js';

const NUMBER = String.raw`\d{1,3}(?:[.'’ ]\d{3}){1,3}|\d{1,9}`;
const NAME = String.raw`€|EUR|Euro|CHF|Franken|S?Fr\.|SFr|sFr\.?`;
const DASH = String.raw`(?:[-–—]{1,2})(?! ?\d|\p{L})`;
const BEHIND = new RegExp(`(${NUMBER})([.,])${DASH}(?: ?(${NAME})(?!\\p{L}))?`, 'uy');
const BEFORE = new RegExp(`(${NAME}) ?(${NUMBER})[.,]${DASH}`, 'uy');
const FRANKEN = new RegExp(
  String.raw`(?:S?Fr\.|SFr|sFr\.?) ?(${NUMBER})(?:\.(\d\d))?(?![\d.]\d|\p{L}| ?(?:Uhr|h)(?!\p{L})| ?[-–] ?\d)`,
  'uy',
);
const PRICED =
  /(?:kost\p{L}*|[pP]reis\p{L}*|[bB]etr[aä]g\p{L}*|zahl\p{L}*|für|nur|ab|à|je|von)(?: (?:nur|ca\.|rund))? $/u;
const LONGEST_LEAD = 24; // units before a sum that may say that it is one

function currencyOf(name: string): Currency | undefined {
  return WRITING.currencies[/^(?:€|E)/.test(name) ? 'EUR' : 'CHF'];
}

/** 5,– or 5,-- €, 24.– Fr.: no cents. */
export function wholeAmount(reading: Reading): Found | undefined {
  const match = reading.match(BEHIND);
  if (match === undefined) return undefined;
  const [written, number = '', mark, name] = match;
  if (name === undefined && mark === '.' && !isPriced(reading)) return undefined;
  return sum(reading, written, number, currencyOf(name ?? (mark === '.' ? 'CHF' : 'EUR')));
}

/** € 5,–, CHF 24.– */
function wholeAmountBehind(reading: Reading): Found | undefined {
  const match = reading.match(BEFORE);
  if (match === undefined) return undefined;
  const [written, name = '', number = ''] = match;
  return sum(reading, written, number, currencyOf(name));
}

/** Fr. 24.50, but Fr. 12.04. is a day. */
function francs(reading: Reading): Found | undefined {
  const match = reading.match(FRANKEN);
  if (match === undefined) return undefined;
  const [written, number = '', decimals = ''] = match;
  const isDay = Number(number) <= 31 && (decimals === '' || Number(decimals) <= 12);
  if (written.startsWith('Fr') && isDay && !isPriced(reading)) return undefined;
  return sum(reading, written, number, WRITING.currencies['CHF'], decimals);
}

function isPriced({ text, at }: Reading): boolean {
  return PRICED.test(text.slice(Math.max(0, at - LONGEST_LEAD), at));
}

function sum(
  reading: Reading,
  written: string,
  digits: string,
  currency: Currency | undefined,
  decimals = '',
): Found | undefined {
  if (currency === undefined) return undefined;
  const end = reading.at + written.length;
  const number = { ...numeralOf(digits.replace(/[.'’ ]/g, '')), decimals };
  return { end, spoken: SPEECH.money({ number }, currency, reading.around(end)), rule: 'currency' };
}

/** In the order in which the language asks them. */
export const amountRules = {
  atLetter: [
    [/[ECFSs]/, wholeAmountBehind, /[.\d]/],
    [/[FSs]/, francs, /[.\d]/],
  ],
} satisfies Rules;
