// Numbers that count something. A whole number below ten is left in words: most of them are none ("one of
// them", "no one", "a second opinion"), and style guides spell them.
import { figures } from './figures.js';
import type { Reader, SpokenReading, Written } from './spoken-reading.js';

const LEAST = 10;

export function plainNumber(reading: SpokenReading, at: number): Written | undefined {
  return ordinal(reading, at) ?? cardinal(reading, at);
}

/** Between five and fifteen people, zwischen acht und zehn Uhr: both ends have figures, or none. */
export function rangeOf(reading: SpokenReading, at: number, readers: readonly Reader[]): Written | undefined {
  const from = reading.quantity(at);
  if (from === undefined || !from.isSmall || from.isArticle || from.magnitude !== undefined) return undefined;
  if (!reading.listening.beforeRange.has(reading.key(at - 1)) || !reading.isRange(at, from.end))
    return undefined;
  let to: Written | undefined;
  for (const read of readers) {
    const found = read(reading, from.end + 1);
    if (found !== undefined && found.end > (to?.end ?? 0)) to = found;
  }
  if (to === undefined || !/^\d/.test(to.text) || to.rule === 'date' || to.rule === 'ordinal')
    return undefined;
  const word = reading.tokens[from.end]?.text ?? '';
  return { end: to.end, text: `${from.whole} ${word} ${to.text}`, rule: to.rule };
}

function ordinal(reading: SpokenReading, at: number): Written | undefined {
  const found = reading.ordinal(at);
  // One tenth is a fraction.
  const isPart = reading.isJoined(at) && reading.number(at - 1)?.end === at;
  if (found === undefined || found.value < LEAST || isPart) return undefined;
  return { end: found.end, text: `${found.value}${found.mark}`, rule: 'ordinal' };
}

function cardinal(reading: SpokenReading, at: number): Written | undefined {
  const found = reading.quantity(at);
  if (found === undefined || found.isLoose || found.isArticle) return undefined;
  const { end, whole, decimals, magnitude, isSmall } = found;
  if (isSmall && magnitude === undefined) return undefined;
  const isRound = whole % 100 === 0 && decimals === '';
  if (isRound && reading.isNext(end, reading.listening.manyOf)) return undefined;
  if (isBesideNumber(reading, at, end)) return undefined;
  const rule = decimals === '' ? 'cardinal' : 'decimal';
  return { end, text: figures(found, reading.language.writing.numbers), rule };
}

/** "Ten twenty" may be a price, a time, a year or two numbers: it is left in words. */
function isBesideNumber(reading: SpokenReading, at: number, end: number): boolean {
  const next = reading.nextNumber(end);
  if (next !== undefined && !next.isArticle) return true;
  if (!reading.isJoined(at)) return false;
  for (let back = 1; back <= MOST_WORDS; back++) {
    const before = reading.number(at - back);
    if (before?.end === at && !before.isArticle) return true;
  }
  return false;
}

const MOST_WORDS = 6; // of the number before
