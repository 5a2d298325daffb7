// Words for a time of day and for a duration that are stated to be one.
import type { Language, WrittenTime } from '../normalize/language.js';
import { withoutZeros } from '../normalize/numerals.js';
import type { Around } from '../normalize/reading.js';

const TIME = /^(\d{1,2})(?:[:.h](\d{2}))?(?:[:.](\d{2}))?\s*(\p{L}[\p{L}.]{0,8}(?: \p{L}\.)?)?$/u;

const MINUTES = /^(\d{1,3})['’′](?:(\d{1,2})(?:["”″]|''|’’)?)?$/u;

/** 1'21": minutes and seconds, though it is called a time. */
export function sayMinutes(text: string, { speech }: Language, around: Around): string | undefined {
  const [, minutes, seconds = '0'] = MINUTES.exec(text) ?? [];
  if (minutes === undefined) return undefined;
  const parts = ([[withoutZeros(minutes), 'min'], [withoutZeros(seconds), 's']] as const).filter(([digits]) => digits !== '0'); // prettier-ignore
  return parts.length === 0 ? undefined : speech.duration(parts, around);
}

/** 2:30pm, 14.30, 9 a.m.: hours are written before minutes in every format that there is. */
export function sayTime(text: string, language: Language, around: Around): string | undefined {
  const [, hours, minutes = '', seconds, suffix] = TIME.exec(text) ?? [];
  if (hours === undefined || Number(hours) > 24 || Number(minutes) > 59 || Number(seconds ?? 0) > 59) {
    return undefined;
  }
  const half = suffix === undefined ? undefined : halfOf(suffix, language);
  if (suffix !== undefined && half === undefined) return undefined;
  const time: WrittenTime = {
    hours: withoutZeros(hours),
    minutes,
    ...(seconds === undefined ? {} : { seconds }),
    ...(half === undefined ? {} : { half }),
  };
  return language.speech.time(time, around);
}

function halfOf(written: string, { writing }: Language): string | undefined {
  const wanted = written.toLowerCase();
  const entries = Object.entries(writing.times.halves);
  return entries.find(([half]) => half.toLowerCase() === wanted)?.[1];
}

const UNITS = { h: 'h', m: 'min', s: 's' } as const;

/** 1:05:20, in the order that is stated (hms, hm, ms), else from hours or minutes down to seconds. */
export function sayDuration(
  text: string,
  format: string,
  { speech }: Language,
  around: Around,
): string | undefined {
  if (!/^\d{1,6}(?:[:.]\d{1,2}){0,2}$/.test(text)) return undefined;
  const values = text.split(/[:.]/);
  const stated = format.toLowerCase().replace(/[^hms]/g, '');
  const order = stated.length === values.length ? stated : 'hms'.slice(3 - values.length);
  const parts = Array.from(order).flatMap((letter, index): [string, 'h' | 'min' | 's'][] => {
    const digits = withoutZeros(values[index] ?? '0');
    return digits === '0' ? [] : [[digits, UNITS[letter as keyof typeof UNITS]]];
  });
  return parts.length === 0 ? undefined : speech.duration(parts, around);
}
