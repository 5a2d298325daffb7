// Dates, centuries and zones in the forms that only Portuguese has.
import { dayAndMonth, monthAndYear, zone } from '../iberian/dates.js';
import { numberedByRomans } from '../iberian/romans.js';
import type { Found, Reading, Recogniser } from '../reading.js';
import { romanValue } from '../recognise/words.js';
import { DATES, FRACTIONS, SPEECH } from './speech.js';
import { cardinal, ordinal } from './numbers.js';
import { WRITING } from './writing.js';

const BEFORE_DATE =
  'vence vencem venceu vencimento dia dias segunda terça quarta quinta sexta feira sábado domingo desde até em';

/** Dia 15/01, até 3/4. */
export const day = dayAndMonth({
  before: new Set(BEFORE_DATE.split(' ')),
  beforeTime: /^,? (?:às?|pelas) \d/,
  isPressure: FRACTIONS.isPressure,
  marks: '/',
  say: DATES.dayOf,
  range: (from, to, around) => SPEECH.range(from, to, around),
});

/** Dez/2024, abr-24; without the slash "dez" is ten. */
export const shortMonth = monthAndYear(WRITING.dates.months, SPEECH, { dez: 12 });

/** UTC-3, GMT+5:30. */
export const utc = zone({ plus: 'mais', minus: 'menos', joint: ' e' }, cardinal, SPEECH);

/** Séculos XV e XVI, séc. XIX. */
export const centuries: Recogniser = numberedByRomans({
  names: {
    'séc.': 'século', 'Séc.': 'Século', 'sécs.': 'séculos', 'Sécs.': 'Séculos', século: '', séculos: '', Século: '', Séculos: '', SÉCULO: '',
  },
  isPlural: (name) => /s\.?$/i.test(name),
  say: (value) => (Number(value) <= 10 ? ordinal(value) : undefined) ?? cardinal(value),
}); // prettier-ignore

const FIRST_OF = /1[ºo°]\/(\d{1,2})(?:\/(\d{4}|\d{2}))?(?![\p{L}\p{N}/])/uy;

/** 1º/05, 1º/1/2025. */
export function firstOfMonth(reading: Reading): Found | undefined {
  const match = reading.isFresh && reading.text[reading.at] === '1' ? reading.match(FIRST_OF) : undefined;
  const [written = '', month = '', year] = match ?? [];
  if (match === undefined || Number(month) < 1 || Number(month) > 12) return undefined;
  const end = reading.at + written.length;
  const date = {
    day: '1',
    month: Number(month),
    style: 'name',
    ...(year !== undefined && { year }),
  } as const;
  const spoken = SPEECH.date(date, reading.around(end));
  return spoken === undefined ? undefined : { end, spoken, rule: 'date' };
}

const MONTHS = WRITING.dates.months.map(([name = '']) => name).join('|');
const ROMAN_DAY = new RegExp(`([IVX]{1,5})(?= de (?:${MONTHS})(?!\\p{L}))`, 'iuy');

/** Rua XV de Novembro. */
export function romanDay(reading: Reading): Found | undefined {
  if (!reading.isFresh || !/[IVX]/.test(reading.text[reading.at] ?? '')) return undefined;
  const match = reading.match(ROMAN_DAY);
  if (match === undefined) return undefined;
  const spoken = DATES.day(String(romanValue((match[1] ?? '').toUpperCase())));
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
