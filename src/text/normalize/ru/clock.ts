// Russian times of day: в 15:30, с 9:00 до 18:00, 10:00–19:00, в 19.00.
import { numeralOf, withoutZeros } from '../numerals.js';
import type { WrittenTime } from '../quantity.js';
import { type Around, certain, type Found, type Reading } from '../reading.js';
import type { Rules } from '../shared-forms.js';
import { withNoun } from './amounts.js';
import { type Case, noun } from './declension.js';
import type { DigitRule } from './digit-rules.js';
import { caseBefore, wordAhead } from './grammar.js';
import { spellLetters } from './names.js';
import { cardinal } from './numbers.js';

export const HOUR = noun('m час часа часов');
export const MINUTE = noun('f минута минуты минут');
export const SECOND = noun('f секунда секунды секунд');

const SPAN =
  /([01]?\d|2[0-4])[:.]([0-5]\d) ?[-–—] ?([01]?\d|2[0-4])[:.]([0-5]\d)(?!\d|[.:,]\d)(?: ?ч(?:ас(?:ов|а)?|\.)?(?!\p{L}))?/uy;
const DOTTED =
  /([01]?\d|2[0-4])\.([0-5]\d)(?![\d\p{L}]|[.,:]\d| ?[%°₽$€])(?! ?(?:млн|тыс|руб|кг|км|см|мм|га|[мгтл])(?!\p{L}))/uy;

interface Clock {
  readonly hours: string;
  readonly minutes: string;
}

function counted(digits: string, unit: typeof HOUR, grammatical: Case): string {
  return withNoun({ number: numeralOf(withoutZeros(digits)) }, unit, grammatical);
}

/** Пятнадцать тридцать, девять ноль пять, девять часов; ноль часов тридцать минут. */
function say({ hours, minutes }: Clock, grammatical: Case): string {
  if (Number(minutes) === 0) return counted(hours, HOUR, grammatical);
  if (Number(hours) === 0)
    return `${counted(hours, HOUR, grammatical)} ${counted(minutes, MINUTE, grammatical)}`;
  const zero = minutes.startsWith('0') ? 'ноль ' : '';
  return `${cardinal(hours, grammatical)} ${zero}${cardinal(minutes, grammatical)}`;
}

/** Три часа дня, шесть утра. */
function partOfDay(hour: number, half: string): string {
  if (half === 'pm') return hour === 12 || hour < 5 ? 'дня' : 'вечера';
  return hour === 12 || hour < 4 ? 'ночи' : 'утра';
}

const BARE_BEFORE_END = /^ (?:до|по) (?:[01]?\d|2[0-4])[:.][0-5]\d(?!\d)/;

export function sayTime(time: WrittenTime, around: Around): string {
  const { hours, minutes, seconds, half, zone } = time;
  const grammatical = wordAhead(around) === 'по' ? 'accusative' : caseBefore(around);
  const behind = around.text.slice(around.end, around.end + 12);
  const part = half === undefined ? '' : ` ${partOfDay(Number(hours), half)}`;
  const tail = part + (zone === undefined ? '' : ` ${zone}`);
  if (seconds !== undefined) {
    return (
      (
        [
          [hours, HOUR],
          [minutes, MINUTE],
          [seconds, SECOND],
        ] as const
      )
        .filter(([digits, unit]) => unit !== SECOND || Number(digits) > 0 || Number(minutes) === 0)
        .map(([digits, unit]) => counted(digits, unit, grammatical))
        .join(' ') + tail
    );
  }
  const between = wordAhead(around) === 'между' && / и \d/.test(behind);
  if (Number(minutes) === 0 && (between || BARE_BEFORE_END.test(behind)))
    return cardinal(hours, grammatical) + tail;
  if (Number(minutes) === 0 && behind.startsWith(' час')) return cardinal(hours, grammatical);
  return say({ hours, minutes }, grammatical) + tail;
}

function isInside({ text, at }: Reading): boolean {
  return /[.,:/]/.test(text[at - 1] ?? '');
}

/** 9:00–18:00, 10.00-19.30: с девяти до восемнадцати часов. */
function span(reading: Reading): Found | undefined {
  if (isInside(reading)) return undefined;
  const match = reading.match(SPAN);
  if (match === undefined) return undefined;
  const [written = '', from = '', fromMinutes = '', to = '', toMinutes = ''] = match;
  if (Number(from) >= Number(to) && written.includes('.')) return undefined;
  const end = reading.at + written.length;
  const first = { hours: withoutZeros(from), minutes: fromMinutes };
  const last = { hours: withoutZeros(to), minutes: toMinutes };
  const whole = Number(fromMinutes) === 0 && Number(toMinutes) === 0;
  const start = whole ? cardinal(first.hours, 'genitive') : say(first, 'genitive');
  const before = wordAhead(reading.around(end));
  if (before === 'в' || before === 'во')
    return { end, spoken: `${say(first, 'accusative')} – ${say(last, 'accusative')}`, rule: 'time' };
  const lead = before === 'с' || before === 'со' ? '' : 'с ';
  return { end, spoken: `${lead}${start} до ${say(last, 'genitive')}`, rule: 'time' };
}

const BEFORE_TIME = /^(?:в|во|начало|открытие|закрытие)$/;
const BETWEEN = /^(?:с|со|до|к|ко|после|около|на)$/;

/** В 19.00, с 10.30 до 18.00: a full stop, but no date and no decimal. */
function dottedTime(reading: Reading): Found | undefined {
  if (isInside(reading)) return undefined;
  const match = reading.match(DOTTED);
  const [written = '', hours = '', minutes = ''] = match ?? [];
  if (match === undefined) return undefined;
  const end = reading.at + written.length;
  const around = reading.around(end);
  const month = Number(minutes) >= 1 && Number(minutes) <= 12;
  const sure = BEFORE_TIME.test(around.previousShort) || (BETWEEN.test(around.previousWord) && !month);
  if (!sure) return undefined;
  return { end, spoken: sayTime({ hours: withoutZeros(hours), minutes }, around), rule: 'time' };
}

const PACE = /(\d{1,2}):([0-5]\d)(?: ?мин)?\/км(?!\p{L})/uy;

/** Темп 5:30 мин/км */
function pace(reading: Reading): Found | undefined {
  const match = isInside(reading) ? undefined : reading.match(PACE);
  const [written = '', minutes = '', rest = ''] = match ?? [];
  if (match === undefined) return undefined;
  const grammatical = caseBefore(reading.around(reading.at));
  const parts = [
    counted(minutes, MINUTE, grammatical),
    ...(rest === '00' ? [] : [counted(rest, SECOND, grammatical)]),
  ];
  return { end: reading.at + written.length, spoken: `${parts.join(' ')} на километр`, rule: 'duration' };
}

/** The 1 of "в 1 ночи" is said "час". */
function oneOClock(reading: Reading): Found | undefined {
  const { text, at, runEnd } = reading;
  if (text.slice(at, runEnd) !== '1' || !/^ (?:ночи|дня)(?!\p{L})/u.test(text.slice(runEnd, runEnd + 6)))
    return undefined;
  const before = wordAhead(reading.around(runEnd));
  if (before !== 'в' && before !== 'до' && before !== 'около') return undefined;
  return { end: runEnd, spoken: before === 'в' ? 'час' : 'часа', rule: 'time' };
}

const OFFSET = /(UTC|GMT|МСК|MSK) ?([+−-])(\d{1,2})(?::(\d{2}))?(?![\p{L}\p{N}])/uy;

/** UTC+3, МСК+2 */
export function zoneOffset(reading: Reading): Found | undefined {
  const match = reading.match(OFFSET);
  if (match === undefined) return undefined;
  const [written, zone = '', sign, hours = '', minutes = '00'] = match;
  const rest = minutes === '00' ? '' : ` ${cardinal(minutes)}`;
  const said = `${spellLetters(zone)} ${sign === '+' ? 'плюс' : 'минус'} ${cardinal(hours)}${rest}`;
  return { end: reading.at + written.length, spoken: said, rule: 'zone' };
}

/** In the order in which the language asks them. */
export const clockRules = {
  behindDigits: [
    [span, 1, 2, /[:.–—-]/, /^(?:[:.]\d| ?[-–—])/],
    [dottedTime, 1, 2, /\./, /^\.[0-5]/],
    [certain(pace), 1, 2, /:/, /^:[0-5]\d(?: ?мин)?\/км/],
    [oneOClock, 1, 1, /[нд]/, /^ [нд]/],
  ],
} satisfies Rules<DigitRule>;
