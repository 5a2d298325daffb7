// Times of day in Portuguese: três e meia da tarde, quinze e trinta.
import type { WrittenTime } from '../language.js';
import { withoutZeros } from '../numerals.js';
import type { Around } from '../reading.js';
import { cardinal } from './numbers.js';

const NOON = 12;

/** Zero hora, uma hora, duas horas. */
function counted(value: number, noun: string): string {
  return `${cardinal(String(value), noun === 'hora' ? 'f' : 'm')} ${noun}${value < 2 ? '' : 's'}`;
}

function partOfDay(hour: number, half: string): string {
  if (half === 'am') return hour === NOON ? ' da noite' : ' da manhã';
  return hour < 6 || hour === NOON ? ' da tarde' : ' da noite';
}

/** Vinte horas e cinco minutos: "vinte e cinco" would be heard as one number. */
function hourAndMinutes(hour: number, minutes: number): string {
  if (minutes === 0) return counted(hour, 'hora');
  if (hour >= 20 && minutes < 10) return `${counted(hour, 'hora')} e ${counted(minutes, 'minuto')}`;
  const past = minutes === 30 && hour > 0 && hour <= NOON ? 'meia' : cardinal(String(minutes));
  return `${hour === 0 ? counted(hour, 'hora') : cardinal(String(hour), 'f')} e ${past}`;
}

/** "9h-18h", of which this is one end. */
function isOfRange({ text, start, end }: Around): boolean {
  return /[-–]/.test(text.slice(start, end)) || /^ ?[-–] ?\d/.test(text.slice(end, end + 4));
}

// Leva 1h30: uma hora e trinta minutos.
const LASTING = new Set('duração leva levou levará dura durou durará demora demorou'.split(' '));

/** Undefined for "9 h" without "às" near it: that is how long something takes. */
export function clock(
  { hours, minutes, seconds, half, word, zone }: WrittenTime,
  around: Around,
): string | undefined {
  const [hour, minute] = [Number(hours), Number(minutes || '0')];
  const tail = zone === undefined ? '' : `, ${zone}`;
  const placed =
    /^(?:às|à|as|das|pelas)$/.test(around.previousWord) || zone !== undefined || isOfRange(around);
  if (minutes === '' && word === '' && half === undefined) return cardinal(hours, 'f'); // 8-12h
  if (minutes === '' && word !== undefined && half === undefined && !placed) return undefined;
  if (minutes !== '' && LASTING.has(around.previousShort))
    return minute === 0 ? counted(hour, 'hora') : `${counted(hour, 'hora')} e ${counted(minute, 'minuto')}`;
  if (seconds !== undefined)
    return `${counted(hour, 'hora')}, ${counted(minute, 'minuto')} e ${counted(Number(withoutZeros(seconds)), 'segundo')}${tail}`;
  if (half !== undefined && hour > 0 && hour <= NOON) {
    const past = minute === 0 ? '' : ` e ${minute === 30 ? 'meia' : cardinal(String(minute))}`;
    return cardinal(hours, 'f') + past + partOfDay(hour, half) + tail;
  }
  return hourAndMinutes(hour, minute) + tail;
}
