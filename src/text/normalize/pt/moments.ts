// Dates, centuries and zones in the forms that only Portuguese has.
import { withoutZeros } from '../numerals.js';
import { numberedByRomans } from '../iberian/romans.js';
import type { Found, Reading, Recogniser } from '../reading.js';
import { romanValue } from '../recognise/words.js';
import { isPressure } from './fractions.js';
import { cardinal, ordinal } from './numbers.js';
import { fullYear, MONTH_NAMES, sayDay, SPEECH } from './speech.js';

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
  const written2 = day.length === 2 && month.length === 2 && !isPressure(reading.around(end));
  const known =
    BEFORE_DATE.has(reading.around(end).previousWord) || (written2 && (month.startsWith('0') || d > 12));
  return known
    ? { end, spoken: `${sayDay(withoutZeros(day))} de ${MONTH_NAMES[m - 1] ?? ''}`, rule: 'date' }
    : undefined;
}

/** Séculos XV e XVI, séc. XIX. */
export const centuries: Recogniser = numberedByRomans({
  names: {
    'séc.': 'século', 'Séc.': 'Século', 'sécs.': 'séculos', 'Sécs.': 'Séculos', século: '', séculos: '', Século: '', Séculos: '', SÉCULO: '',
  },
  isPlural: (name) => /s\.?$/i.test(name),
  say: (value) => (Number(value) <= 10 ? ordinal(value) : undefined) ?? cardinal(value),
}); // prettier-ignore

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

const ROMAN_DAY = new RegExp(`([IVX]{1,5})(?= de (?:${MONTH_NAMES.join('|')})(?!\\p{L}))`, 'iuy');

/** Rua XV de Novembro. */
export function romanDay(reading: Reading): Found | undefined {
  if (!reading.isFresh || !/[IVX]/.test(reading.text[reading.at] ?? '')) return undefined;
  const match = reading.match(ROMAN_DAY);
  if (match === undefined) return undefined;
  const spoken = sayDay(String(romanValue((match[1] ?? '').toUpperCase())));
  return { end: reading.at + match[0].length, spoken, rule: 'roman' };
}

const WEEKDAYS = ['segunda', 'terça', 'quarta', 'quinta', 'sexta', 'sábado', 'domingo'];
const WEEK = /(seg|ter|qua|qui|sex|s[áa]b|dom)\.? ?[-–] ?(seg|ter|qua|qui|sex|s[áa]b|dom)(?![\p{L}])/iuy;

/** Seg-sex. */
export function weekdays(reading: Reading): Found | undefined {
  if (!reading.isFresh || !/[stqd]/i.test(reading.text[reading.at] ?? '')) return undefined;
  const match = reading.match(WEEK);
  const [from, to] = [match?.[1], match?.[2]].map((short = '') =>
    WEEKDAYS.find((name) => name.startsWith(short.toLowerCase().replace('sab', 'sáb'))),
  );
  if (match === undefined || from === undefined || to === undefined) return undefined;
  return { end: reading.at + match[0].length, spoken: `${from} a ${to}`, rule: 'date' };
}

const SHORT_DECEMBER = /dez\/((?:20)?\d{2})(?![\p{L}\p{N}/]|[.,]\d)/iuy;

/** Dez/2024; without the slash "dez" is ten. */
export function december(reading: Reading): Found | undefined {
  if (!reading.isFresh || !/[dD]/.test(reading.text[reading.at] ?? '')) return undefined;
  const match = reading.match(SHORT_DECEMBER);
  if (match === undefined) return undefined;
  const [written, year = ''] = match;
  return {
    end: reading.at + written.length,
    spoken: `dezembro de ${cardinal(fullYear(year))}`,
    rule: 'date',
  };
}
