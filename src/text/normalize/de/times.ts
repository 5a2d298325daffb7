// German times with a full stop that no "Uhr" follows at once, and durations on a clock.
import { numeralOf, withoutZeros } from '../numerals.js';
import type { Found, Reading } from '../reading.js';
import type { Rules } from '../shared-forms.js';
import { cardinal, decimal } from './numbers.js';
import { SPEECH } from './speech.js';
import { WRITING } from './writing.js';

const DOTTED =
  /(\d{1,2})\.(\d\d)(?: ?h(?!\p{L}))?(?![\p{L}\p{N}]|[.,:/]\d| ?[€$%£°]| ?[-–] ?\d| (?:m |cm|km|kg|Uhr|Euro|[A-Z]{3}|Fr|Rappen|Dollar|Prozent|Meter|Liter|Kilo|Gramm|Grad|Punkt|Mi[ol]|Mrd))/uy;
const BEFORE_TIME = /(?:^|[\s(])(um|gegen|bis|ab|von) $/i;
const LONGEST_UNTIL = 18; // units
const UNTIL =
  /^ bis \d{1,2}\.[0-5]\d(?![\d.]| ?[€%£$°]| (?:Euro|Franken|Prozent|Meter|Liter|Kilo|Mi[ol]|Mrd|[A-Z]{3}|km |m |kg))/u;
const TIME = String.raw`\d{1,2}(?:[.:][0-5]\d)?`;
/** 12.15 bis 13.00 Uhr, 9-12.30 und 14-18 Uhr: the word stands once, behind the last. */
const BEFORE_OTHERS = new RegExp(
  String.raw`(?:(\d{1,2})(?:[.:]([0-5]\d))? ?[-–] ?)?(\d{1,2})\.([0-5]\d)(?=(?: (?:bis|und|oder|sowie) |, ?)${TIME}(?:(?: (?:bis|und) | ?[-–] ?|, ?)${TIME}){0,3} ?Uhr)`,
  'uy',
);
const LAST_HOUR = 24;
const LONGEST_DAY = 44; // units before hours that may hold a day

function sayTime(hours: string, minutes: string, reading: Reading, end: number): string | undefined {
  if (Number(hours) > LAST_HOUR) return undefined;
  return SPEECH.time({ hours: withoutZeros(hours), minutes, word: 'Uhr' }, reading.around(end));
}

/** Um 15.30: no sum, no measure. Bis 21.30: no day, no version. */
function dotted(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const lead = BEFORE_TIME.exec(text.slice(Math.max(0, at - 10), at))?.[1]?.toLowerCase();
  if (lead === undefined) return undefined;
  const [written, hours = '', minutes = ''] = reading.match(DOTTED) ?? [];
  if (written === undefined || Number(minutes) > 59) return undefined;
  if (!/^(?:um|gegen)$/.test(lead) && !/^(?:00|15|[2-5][05])$/.test(minutes)) return undefined;
  if (lead === 'von' && !UNTIL.test(text.slice(at + written.length, at + written.length + LONGEST_UNTIL)))
    return undefined;
  if (WRITING.softwareNames.has(reading.around(at).secondPreviousShort.toLowerCase())) return undefined;
  const end = at + written.length;
  const spoken = sayTime(hours, minutes, reading, end);
  return spoken === undefined ? undefined : { end, spoken, rule: 'time' };
}

function beforeOthers(reading: Reading): Found | undefined {
  const match = reading.match(BEFORE_OTHERS);
  if (match === undefined) return undefined;
  const [written, from, fromMinutes, hours = '', minutes = ''] = match;
  const end = reading.at + written.length;
  const last = sayTime(hours, minutes, reading, end);
  if (last === undefined) return undefined;
  if (from === undefined) return { end, spoken: last, rule: 'time' };
  const first =
    fromMinutes === undefined ? cardinal(withoutZeros(from)) : sayTime(from, fromMinutes, reading, end);
  return first === undefined ? undefined : { end, spoken: `${first} bis ${last}`, rule: 'time' };
}

const BEHIND_DAY =
  /(?:(?<!\p{L})(?:Mo|Di|Mi|Do|Fr|Sa|So)|tags?|Mittwochs?|täglich|tägl\.|werktags|geöffnet|[zZ]eiten|(?<=(?:Mo|Di|Mi|Do|Fr|Sa|So|tag)[^.!?\n]{3,30}) und|(?<=(?:Mo|Di|Mi|Do|Fr|Sa|So|tag)[^.!?\n]{3,30}),)[.:,]{0,2} (?:von )?$/u;
const OPEN =
  /(\d{1,2})(?:\.([0-5]\d))?( ?[-–] ?| bis )(\d{1,2})\.([0-5]\d)(?![\p{L}\p{N}]|[,.:/]\d| ?[-–€$%°]| (?:Uhr|Euro|km|m|kg)(?!\p{L}))/uy;

/** Mo–Fr 8.30–17.00, Sa 9–13.30 */
function openingHours(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const [written, from = '', fromMinutes = '00', , to = '', toMinutes = ''] = reading.match(OPEN) ?? [];
  if (written === undefined || Number(from) > LAST_HOUR) return undefined;
  if (!BEHIND_DAY.test(text.slice(Math.max(0, at - LONGEST_DAY), at))) return undefined;
  const end = at + written.length;
  if (text[end] === '.' && Number(toMinutes) > 0 && Number(toMinutes) < 13) return undefined; // a day
  const last = sayTime(to, toMinutes, reading, end);
  const first =
    fromMinutes === '00' ? cardinal(withoutZeros(from)) : sayTime(from, fromMinutes, reading, end);
  return last === undefined
    ? undefined
    : { end, spoken: `${first ?? ''} bis ${last}`, rule: 'time', isCertain: true };
}

const MINUTES = /(\d{1,3}):([0-5]\d)(?:,(\d{1,3}))?(?: ?(?:Minuten|Min\.|min)(?!\p{L}))?(?![\d:])/uy;
const HOURS = /(\d{1,3}):([0-5]\d) (?:Stunden|Std\.)(?!\p{L})/uy;

/** 3:26,05 min, 1:30 Stunden */
export function onClock(reading: Reading): Found | undefined {
  const hours = reading.match(HOURS);
  const match = hours ?? reading.match(MINUTES);
  if (match === undefined) return undefined;
  const [written, large = '', small = '', rest] = match;
  if (!/\p{L}/u.test(written) && rest === undefined) return undefined; // 15:30
  const end = reading.at + written.length;
  const units = hours === undefined ? (['min', 's'] as const) : (['h', 'min'] as const);
  const parts = (
    [
      [large, units[0]],
      [small, units[1]],
    ] as const
  )
    .map(([digits, unit]) => [withoutZeros(digits), unit] as const)
    .filter(([digits]) => digits !== '0');
  if (parts.length === 0) return undefined;
  if (rest === undefined)
    return { end, spoken: SPEECH.duration(parts, reading.around(end)), rule: 'duration' };
  const minutes = SPEECH.duration([[withoutZeros(large), 'min']], reading.around(end));
  const seconds = decimal({ ...numeralOf(withoutZeros(small)), decimals: rest });
  return { end, spoken: `${minutes} ${seconds} Sekunden`, rule: 'duration' };
}

const LASTING = /(\d{1,3}(?:,\d{1,2})?)(?:[-–](\d{1,3}))? ?h(?:([0-5]\d))?(?![\p{L}\p{N}])/uy;
const LONGEST_LEAD = 28; // units before hours that may say that they last
const BEFORE_LASTING =
  /(?:^|[\s(])(?:in|nach|seit|für|alle|dauert|dauerte|circa|ca\.|etwa|rund|über|hat|habe|hatte|haben|mindestens|mind\.|max\.|maximal|nur|noch|pro|je|innerhalb|binnen|braucht|brauchte|benötigt|vor|jeweils|insgesamt|\p{L}*(?:dauer|zeit|länge)(?: ist| beträgt)?:?) $|\s[=:÷/·×+−] $/iu;
const BEFORE_CLOCK =
  /(?:(?<!\p{L})(?:ab|um|bis|gegen|von|zwischen|vor|so|mo|di|mi|do|fr|sa|am|und|oder|ca\.|[a-z]{1,3}\.)|tags?|mittwoch|früh|abend|mittag|morgen|heute|check-?(?:in|out):?|öffnet|beginn:?|start:?|abfahrt:?|ankunft:?|abflug:?|ende:?|termin:?|\d|[.,;:–-]|^) ?$/iu;
const BEHIND_LASTING =
  /^ =|^ (?:lang|gearbeitet|geschlafen|gewartet|später|früher|täglich|am Tag|vor|Schlaf|Arbeit|Zeit|Fahrt|Pause|Verspätung|Aufenthalt|Abstand|Ruhe|Laufzeit|Akku)(?!\p{L})/u;

/** Nach 12 h, 8 h gearbeitet, dauert 1h10: hours that last, where "um 19 h" and "nach 19h30" are times. */
export function hours(reading: Reading): Found | undefined {
  const { text, at } = reading;
  const match = reading.match(LASTING);
  if (match === undefined) return undefined;
  const [written, number = '', to, minutes] = match;
  const end = at + written.length;
  const before = text.slice(Math.max(0, at - LONGEST_LEAD), at);
  if (minutes !== undefined && /(?:nach|vor|seit|für) $/i.test(before)) return undefined;
  const lasts =
    BEFORE_LASTING.test(before) ||
    (minutes === undefined && !/^(?:1[3-9]|2[0-3])$/.test(number) && !BEFORE_CLOCK.test(before)) ||
    BEHIND_LASTING.test(text.slice(end, end + 16));
  const unit = WRITING.units['h'];
  if (!lasts || unit === undefined) return undefined;
  if (minutes !== undefined && to === undefined && /^\d+$/.test(number)) {
    const parts = [[withoutZeros(number), 'h'] as const, [withoutZeros(minutes), 'min'] as const];
    const some = parts.filter(([amount]) => amount !== '0');
    return { end, spoken: SPEECH.duration(some, reading.around(end)), rule: 'duration' };
  }
  const [whole = '', decimals = ''] = number.split(',');
  const quantity = {
    number: { ...numeralOf(withoutZeros(whole)), decimals },
    to: to ? numeralOf(to) : undefined,
  };
  return { end, spoken: SPEECH.measure(quantity, unit, reading.around(end)), rule: 'measure' };
}

/** In the order in which the language asks them. */
export const timeRules = {
  behindDigits: [
    [/[.]/, dotted],
    [/[.–-]/, beforeOthers],
    [/[. –-]/, openingHours],
  ],
} satisfies Rules;
