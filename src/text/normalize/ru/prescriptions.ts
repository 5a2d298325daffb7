// Short forms that only a doctor or a shop writes in Russian: 2 р. в день, 2 г. 3 мес., рассрочка 0-0-24.
import { numeralOf } from '../numerals.js';
import { certain, type Found, type Reading } from '../reading.js';
import type { Rules } from '../shared-forms.js';
import { withNoun } from './amounts.js';
import { noun } from './declension.js';
import type { DigitRule } from './digit-rules.js';
import { caseBefore } from './grammar.js';
import { cardinal } from './numbers.js';

const TIME = noun('m раз раза раз');
const YEAR = noun('m год года лет');
const TIMES = /(\d{1,2}) ?р\.? ?(?:в |\/ ?)(?=(?:день|сут|нед|мес|час|год)\p{L}*|д(?!\p{L}))/uy;
const MOST_DOSES = 8; // more would be roubles: 50 р./день
const SLASHED = /(сут|нед|мес|д)(?!\p{L})\.?/uy;
const AGE = /(\d{1,3}) ?[гл]\.? (?:и )?(?=\d{1,2} ?(?:мес|м\.))/uy;
const INSTALMENT = /0[-–]0[-–](\d{1,2})(?![\p{L}\d]|[-–]\d)/uy;
const IN_A = new Map([
  ['д', 'день'],
  ['сут', 'сутки'],
  ['нед', 'неделю'],
  ['мес', 'месяц'],
]);

/** 2 р. в день, 3 р/сут: how often. */
function howOften(reading: Reading): Found | undefined {
  const match = reading.match(TIMES);
  const [written = '', digits = ''] = match ?? [];
  if (match === undefined || Number(digits) > MOST_DOSES) return undefined;
  const end = reading.at + written.length;
  const often = caseBefore(reading.around(reading.at));
  const spoken = `${withNoun({ number: numeralOf(digits) }, TIME, often)} в`;
  const short = reading.match(SLASHED, end);
  const period = IN_A.get(short?.[1] ?? '');
  if (short === undefined || period === undefined) return { end, spoken: `${spoken} `, rule: 'measure' };
  return { end: end + short[0].length, spoken: `${spoken} ${period}`, rule: 'measure' };
}

/** 2 г. 3 мес.: how old. */
function age(reading: Reading): Found | undefined {
  const match = reading.match(AGE);
  const [written = '', digits = ''] = match ?? [];
  if (match === undefined) return undefined;
  const end = reading.at + written.length;
  const spoken = `${withNoun({ number: numeralOf(digits) }, YEAR, caseBefore(reading.around(end)))} `;
  return { end, spoken, rule: 'measure' };
}

/** Рассрочка 0-0-24 */
function instalment(reading: Reading): Found | undefined {
  const match = reading.match(INSTALMENT);
  if (match === undefined) return undefined;
  return {
    end: reading.at + match[0].length,
    spoken: `ноль-ноль-${cardinal(match[1] ?? '')}`,
    rule: 'digits',
  };
}

const POINTS = /\d{1,3}(?: \d{3})*,\d{1,2} ?п\.(?! ?[\dп])/uy;
const POINT = noun('m пункт пункта пунктов');

/** Индекс 1 099,34 п. */
function points(reading: Reading): Found | undefined {
  const match = reading.match(POINTS);
  const [whole = '', decimals = ''] = (match?.[0] ?? '').replace(/ ?п\.$/, '').split(',');
  if (match === undefined) return undefined;
  const end = reading.at + match[0].length;
  const number = { ...numeralOf(whole.replaceAll(' ', '')), decimals };
  return { end, spoken: withNoun({ number }, POINT, caseBefore(reading.around(end))), rule: 'measure' };
}

/** In the order in which the language asks them. */
export const prescriptionRules = {
  behindDigits: [
    [certain(howOften), 1, 2, /р/, /^ ?р/],
    [points, 1, 3, /[\d,]/, /^(?: \d{3}){0,2},\d{1,2} ?п/],
    [age, 1, 3, /[гл]/, /^ ?[гл]\.? /],
    [instalment, 1, 1, /[-–]/, /^[-–]0/],
  ],
} satisfies Rules<DigitRule>;
