// Two figures that belong together: 1m80, 1920x1080, n° 2004-575, 3x/jour, 3M abonnés, +33 (0)6.
import { numeralOf } from '../numerals.js';
import type { Found, Reading } from '../reading.js';
import { isCounted, of } from './grammar.js';
import { cardinal, decimal } from './numbers.js';
import { SPEECH } from './speech.js';
import { MAGNITUDES, PER } from './units.js';

const HEIGHT = /(\d{1,2}) ?m ?(\d{2})(?![\p{L}\p{N}])/uy;
const AREA = /(\d{1,5})( ?x ?|×)(\d{1,5})(?![\p{N}]|[.,]\d)/uy;
const TIMES = /(\d{1,3}) ?(?:x|fois) ?\/ ?(\p{L}+)/uy;
const LAW = /(\d{1,4})-(\d{1,5})(?![\p{L}\p{N}]|[-./]\d)/uy;
const BEFORE_LAW = /(?:n°|nº|numéro|articles?|art\.|décret|loi|[LRD]\.) ?$/u;
const LONGEST_BEFORE = 12; // units before the number of a law
const MILLIONS = /(\d{1,4})(?:,(\d{1,2}))?(M|Md|Mds) (?:d['’]|de )?(\p{Ll}{3,})/uy;
const ROUND = /([1-9]\d{0,2}(?:[ .]\d{3}){0,3}[ .]?000[ .]?000) (\p{Ll}{3,})(?!['’])/uy;
const TRUNK = /\+(\d{2,3}) ?\(0\) ?(\d(?:[ .-]?\d{2}){4})(?!\d)/y;

function found(reading: Reading, written: string, spoken: string, rule: Found['rule']): Found {
  return { end: reading.at + written.length, spoken, rule };
}

/** 1m80 is "un mètre quatre-vingts". */
export function height(reading: Reading): Found | undefined {
  const match = reading.match(HEIGHT);
  if (match === undefined) return undefined;
  const [written, metres = '', rest = ''] = match;
  const unit = Number(metres) < 2 ? 'mètre' : 'mètres';
  return found(reading, written, `${cardinal(metres)} ${unit} ${cardinal(rest)}`, 'measure');
}

/** 1920x1080, 3 x 4 m; 3 x 4 = 12 is a product. A second figure that stands apart may have a unit. */
export function area(reading: Reading): Found | undefined {
  const match = reading.match(AREA);
  if (match === undefined) return undefined;
  const [written, first = '', mark = '', second = ''] = match;
  const end = reading.at + written.length;
  const product = /^ ?=/.test(reading.text.slice(end, end + 2));
  const words = `${cardinal(first)} ${product ? 'fois' : 'par'}`;
  if (mark === 'x') return found(reading, written, `${words} ${cardinal(second)}`, 'math');
  return found(reading, written.slice(0, -second.length), `${words} `, 'math');
}

/** 3x/jour */
export function timesPer(reading: Reading): Found | undefined {
  const match = reading.match(TIMES);
  const [written = '', number = '', period = ''] = match ?? [];
  const per = PER[period];
  if (match === undefined || per === undefined) return undefined;
  return found(reading, written, `${cardinal(number)} fois ${per}`, 'measure');
}

/** Loi n° 2004-575, article L. 121-1 */
export function lawNumber(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const match = reading.match(LAW);
  if (match === undefined || !BEFORE_LAW.test(text.slice(Math.max(0, at - LONGEST_BEFORE), at))) return undefined;
  const [written, first = '', second = ''] = match;
  return found(reading, written, `${cardinal(first)} tiret ${cardinal(second)}`, 'identifier');
}

/** 3M abonnés, 1,5 Md d'euros */
export function millions(reading: Reading): Found | undefined {
  const match = reading.match(MILLIONS);
  const [written = '', whole = '', decimals = '', size = '', noun = ''] = match ?? [];
  const magnitude = MAGNITUDES[size];
  if (match === undefined || magnitude === undefined || !isCounted(noun)) return undefined;
  const number = decimal({ ...numeralOf(whole), decimals });
  const name = magnitude.forms[Number(whole) < 2 ? 0 : 1] ?? '';
  return found(reading, written, `${number} ${name} ${of(noun)}`, 'cardinal');
}

/** 2 000 000 habitants: with "de", because the number ends with a noun. */
export function roundMillions(reading: Reading): Found | undefined {
  const match = reading.match(ROUND);
  const [written = '', number = '', noun = ''] = match ?? [];
  if (match === undefined || !isCounted(noun)) return undefined;
  return found(reading, written, `${cardinal(number.replace(/\D/g, ''))} ${of(noun)}`, 'cardinal');
}

/** The zero of +33 (0)6 is not dialled. */
export function trunkZero(reading: Reading): Found | undefined {
  const match = reading.match(TRUNK);
  if (match === undefined) return undefined;
  const [written, country = '', rest = ''] = match;
  const digits = rest.replace(/\D/g, '');
  const groups = [country, digits.slice(0, 1), ...(digits.slice(1).match(/\d\d/g) ?? [])];
  return found(reading, written, SPEECH.telephone(groups, true), 'telephone');
}
