// Months in figures: jusqu'au 12/2025, carte valable jusqu'au 03/28, exp. 12/26.
import type { Found, Reading } from '../reading.js';
import { expiry } from '../shared-forms.js';
import { of } from './grammar.js';
import { SPEECH } from './speech.js';

const MONTH = /(au|le|du) (0?[1-9]|1[0-2])\/((?:19|20)\d\d|\d\d)(?![\p{L}\d/-]|[.,]\d)/uy;
/** Behind these words two figures and two are a month and a year. */
const EXPIRING =
  /(?:expir\p{L}*|(?<!\p{L})exp\.?|validité|valable|valide|échéance|carte)[\p{L} :('’.°-]{0,24}$/iu;
const LONGEST_LEAD = 40; // units

function nameOf(reading: Reading, month: string, year: string): string | undefined {
  return SPEECH.date({ month: Number(month), year, style: 'name' }, reading.around(reading.at));
}

/** Jusqu'au 12/2025 is "jusqu'à décembre", expire le 12/26 "en décembre". */
export function toMonth(reading: Reading): Found | undefined {
  const match = reading.match(MONTH);
  const [written = '', article, month = '', year = ''] = match ?? [];
  if (match === undefined || (year.length === 4 && month.length === 1)) return undefined;
  if (year.length === 2 && (Number(year) < 13 || !expires(reading))) return undefined;
  const name = nameOf(reading, month, year);
  if (name === undefined) return undefined;
  const spoken = article === 'du' ? of(name) : `${article === 'au' ? 'à' : 'en'} ${name}`;
  return { end: reading.at + written.length, spoken, rule: 'date' };
}

function expires({ text, at }: Reading): boolean {
  return EXPIRING.test(text.slice(Math.max(0, at - LONGEST_LEAD), at));
}

/** Exp. 12/26 */
export const cardExpiry = expiry(EXPIRING, ({ month, year }, around) =>
  SPEECH.date({ month, year, style: 'name' }, around),
);
