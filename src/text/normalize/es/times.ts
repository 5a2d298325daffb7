// Times of day in Spanish: tres y media de la tarde, quince treinta horas.
import type { WrittenTime } from '../language.js';
import { withoutZeros } from '../numerals.js';
import type { Around } from '../reading.js';
import { cardinal } from './numbers.js';

const NOON = 12;

/** Quarters and halves by name, up to the half with "y". */
function past(minutes: number): string {
  if (minutes === 0) return '';
  if (minutes === 15) return ' y cuarto';
  if (minutes === 30) return ' y media';
  return `${minutes < 30 ? ' y' : ''} ${cardinal(String(minutes))}`;
}

function partOfDay(hour: number, half: string): string {
  if (half === 'm') return ' del mediodía';
  if (half === 'am') return hour === NOON ? ' de la noche' : ' de la mañana';
  if (hour === NOON) return ' del mediodía';
  return hour < 8 ? ' de la tarde' : ' de la noche';
}

function onDigitalClock(hour: number, minutes: number, noun: boolean): string {
  const said = cardinal(String(hour), 'f');
  const zero = minutes > 0 && minutes < 10 ? ' cero' : '';
  const tail = minutes === 0 ? '' : `${zero} ${cardinal(String(minutes))}`;
  const name = noun ? (hour === 1 && minutes === 0 ? ' hora' : ' horas') : '';
  return said + tail + name;
}

function toTheSecond(hour: number, minutes: number, seconds: number): string {
  const second = `${cardinal(String(seconds), 'm')} segundo${seconds === 1 ? '' : 's'}`;
  const minute = `${cardinal(String(minutes), 'm')} minuto${minutes === 1 ? '' : 's'}`;
  return `${cardinal(String(hour), 'f')} hora${hour === 1 ? '' : 's'}, ${minute} y ${second}`;
}

const LASTING = new Set('duración tarda tardó tardará dura duró durará demora demoró lleva llevó'.split(' '));

/** Tarda 1h30: una hora y treinta minutos. */
function lasting(hour: number, minutes: number): string {
  const hours = `${cardinal(String(hour), 'f')} hora${hour === 1 ? '' : 's'}`;
  return minutes === 0
    ? hours
    : `${hours} y ${cardinal(String(minutes), 'm')} minuto${minutes === 1 ? '' : 's'}`;
}

/** Undefined for "9 h" without "las" near it: that is how long something takes. */
export function clock(
  { hours, minutes, seconds, half, word, zone }: WrittenTime,
  around: Around,
): string | undefined {
  const [hour, minute] = [Number(hours), Number(minutes || '0')];
  const tail = zone === undefined ? '' : `${zone.startsWith('hora') ? ',' : ''} ${zone}`;
  const behindArticle = /^las?$/.test(around.previousWord);
  if (minutes === '' && word !== undefined && half === undefined && !behindArticle) return undefined;
  if (half === 'm' && !(hour === NOON && behindArticle)) return undefined; // 12 m. are metres
  if (minutes !== '' && LASTING.has(around.previousShort)) return lasting(hour, minute);
  if (seconds !== undefined) return toTheSecond(hour, minute, Number(withoutZeros(seconds))) + tail;
  const late = hour === 0 || hour > NOON;
  if (half !== undefined && !late) return cardinal(hours, 'f') + past(minute) + partOfDay(hour, half) + tail;
  // "9:00-17:00 h" and "17:00 CET" name the hours once.
  const named =
    word !== undefined ||
    (minute === 0 &&
      zone === undefined &&
      !/^ ?[-–] ?\d/.test(around.text.slice(around.end, around.end + 4)));
  if (late || word !== undefined) return onDigitalClock(hour, minute, named) + tail;
  return cardinal(hours, 'f') + past(minute) + tail;
}
