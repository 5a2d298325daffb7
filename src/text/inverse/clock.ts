// Hours and minutes of spoken times, in all languages.
import { twoFigures } from './figures.js';
import type { SpokenReading } from './spoken-reading.js';

interface Counted {
  readonly value: number;
  readonly end: number;
}

/** An hour up to `most`; an article counts where the word behind it names the hour. */
export function hourAt(
  reading: SpokenReading,
  at: number,
  most: number,
  mayBeOne = false,
): Counted | undefined {
  const found = reading.number(at);
  if (found === undefined || found.value > most || (found.isArticle && !mayBeOne)) return undefined;
  return { value: found.value, end: found.end };
}

/** Minutes behind an hour: thirty, oh five, null fünf; single figures only where they are counted. */
export function minutesAt(reading: SpokenReading, at: number, least = 10): Counted | undefined {
  if (!reading.isJoined(at)) return undefined;
  if (reading.listening.zeros.has(reading.key(at))) {
    const digit = reading.nextNumber(at + 1);
    return digit !== undefined && digit.value > 0 && digit.value < 10
      ? { value: digit.value, end: digit.end }
      : undefined;
  }
  const found = reading.number(at);
  if (found === undefined || found.value < least || found.value > 59) return undefined;
  // Seize heures une, but "trois heures un quart".
  if (found.isArticle && !reading.isClosed(found.end)) return undefined;
  return { value: found.value, end: found.end };
}

/** Hours and minutes; minutes below zero are before the hour. */
export function clock(hour: number, minutes: number, mark: string, hours: 12 | 24 = 12): string {
  if (minutes >= 0) return `${hour}${mark}${twoFigures(minutes)}`;
  const before = hour === 0 ? hours - 1 : hour === 1 && hours === 12 ? 12 : hour - 1;
  return `${before}${mark}${twoFigures(60 + minutes)}`;
}
