// From words that were spoken back to what was written: "three dollars and fifty
// cents" is one written word, "$3.50".
import type { WordTime } from '../engines/engine.js';
import type { Normalized } from '../text/normalize/spoken-text.js';

/** UTF-16 units; `end` is exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

interface WrittenWord {
  readonly written: Span;
  readonly spoken: Span;
}

/** The words, each as what was written for it; those that share it are one. */
export function writtenWords(words: Iterable<Span>, { sourceSpan }: Normalized): WrittenWord[] {
  const found: WrittenWord[] = [];
  for (const spoken of words) {
    const written = sourceSpan(spoken.start, spoken.end);
    const last = found.at(-1);
    if (last === undefined || written.start >= last.written.end) found.push({ written, spoken });
    else
      found[found.length - 1] = {
        written: joined(last.written, written),
        spoken: joined(last.spoken, spoken),
      };
  }
  return found;
}

/** Times of the words that were spoken as times of those that were written. */
export function writtenTimes(words: readonly WordTime[], text: string, normalized: Normalized): WordTime[] {
  const spans = words.map(({ word, textOffset }) => ({ start: textOffset, end: textOffset + word.length }));
  const startsMs = new Map(words.map(({ textOffset, startMs }) => [textOffset, startMs]));
  const endsMs = new Map(words.map(({ textOffset, word, endMs }) => [textOffset + word.length, endMs]));
  return writtenWords(spans, normalized).map(({ written, spoken }) => ({
    word: text.slice(written.start, written.end),
    textOffset: written.start,
    startMs: startsMs.get(spoken.start) ?? 0,
    ...withEnd(endsMs.get(spoken.end)),
  }));
}

/** The word with its times as `place` has them. */
export function placedWord(word: WordTime, place: (ms: number) => number): WordTime {
  const { endMs } = word;
  return {
    ...word,
    startMs: place(word.startMs),
    ...withEnd(endMs === undefined ? undefined : place(endMs)),
  };
}

function withEnd(endMs: number | undefined): { readonly endMs?: number } {
  return endMs === undefined ? {} : { endMs };
}

function joined(first: Span, second: Span): Span {
  return { start: Math.min(first.start, second.start), end: Math.max(first.end, second.end) };
}
