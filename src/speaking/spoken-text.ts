// What was really heard of a text, from the number of frames that really left.
//
//   sentences   [ first ......... ][pause][ second .............. ]
//   frames      0               40       50                    120
//   sent        ───────────────────────────────────▶ 87
//   spoken      "First."                   "Second sent"
//
// Where the engine told the time of each word, words are counted by it. Where
// it did not, the cut is placed in proportion to the sentence's letters. A word
// counts as spoken once at least half of it was sent. Of sentences that share
// one sound the places themselves are such estimates (sentence-run.ts): of what
// was sent nothing is left out or counted twice, but a word may be told with
// the sentence before or after its own.
//
// What is told is the text as it was written. Where it is spoken in other words,
// "$3.50" is one word, which lasts as long as those that are said for it.
import type { WordTime } from '../engines/engine.js';
import type { Normalized } from '../text/normalize/spoken-text.js';
import type { WrittenSentence } from './line-piece.js';

// Used only while neither the engine nor the encoder has said how long a
// sentence is: an unhurried speaker's pace.
const USUAL_MS_PER_CHARACTER = 65;

export interface SpokenSegment extends WrittenSentence {
  /** Index of its first frame within the utterance; undefined while none has reached the playout. */
  readonly firstFrame: number | undefined;
  /** Its frames without the pause after it; undefined until it is encoded whole. */
  readonly frames: number | undefined;
  /** Length of the engine's sound in milliseconds; undefined until synthesised whole. */
  readonly soundMs: number | undefined;
  /** What the engine has made of it so far, in milliseconds. */
  readonly madeMs: number;
  /** Where it shares a sound with others: how much of that is probably its own, in milliseconds. */
  readonly shareMs?: number | undefined;
  /** Silence cut from the start, which word times still count. */
  readonly trimmedStartMs: number;
  /** Of the text as it was written. */
  readonly words: readonly WordTime[];
}

/** The text of the segments up to where the sound stopped after `sentFrames` frames of `frameMs`. */
export function spokenText(segments: readonly SpokenSegment[], sentFrames: number, frameMs: number): string {
  const parts: string[] = [];
  for (const segment of segments) {
    if (segment.firstFrame === undefined) break;
    const sent = sentFrames - segment.firstFrame;
    if (sent <= 0) break;
    if (segment.frames !== undefined && sent >= segment.frames) {
      if (segment.text !== '') parts.push(segment.text);
      continue;
    }
    const part = partOf(segment, sent * frameMs, frameMs);
    if (part !== '') parts.push(part);
    break;
  }
  return parts.join(' ');
}

function partOf(segment: SpokenSegment, heardMs: number, frameMs: number): string {
  const totalMs = lengthMs(segment, frameMs);
  const isKnown = segment.soundMs !== undefined || segment.shareMs !== undefined;
  if (isKnown && heardMs >= totalMs) return segment.text;
  if (segment.words.length > 0) return byWordTimes(segment, heardMs + segment.trimmedStartMs, totalMs);
  return byProportion(segment, heardMs / totalMs);
}

function lengthMs(segment: SpokenSegment, frameMs: number): number {
  if (segment.frames !== undefined) return Math.max(segment.frames, 1) * frameMs;
  if (segment.shareMs !== undefined) return Math.max(segment.shareMs, frameMs);
  if (segment.soundMs !== undefined) return Math.max(segment.soundMs - segment.trimmedStartMs, frameMs);
  const characters = (segment.spoken ?? segment).text.length;
  return Math.max(characters * USUAL_MS_PER_CHARACTER, segment.madeMs, frameMs);
}

function byWordTimes(segment: SpokenSegment, heardMs: number, totalMs: number): string {
  let end = 0;
  segment.words.forEach((word, index) => {
    // Without its end a word lasts until the next one: a pause between them counts as part of it.
    const endMs = word.endMs ?? segment.words[index + 1]?.startMs ?? totalMs + segment.trimmedStartMs;
    if (heardMs < (word.startMs + endMs) / 2) return;
    end = Math.max(end, word.textOffset + word.word.length);
  });
  return segment.text.slice(0, end).trimEnd();
}

const WORDS = new Intl.Segmenter(undefined, { granularity: 'word' });
// Words of plain sentences, which the segmenter finds too, but a hundred times slower: every call that ends while
// it is spoken to asks.
const PLAIN_WORD = /[a-z0-9]+(?:(?<=[a-z])'(?=[a-z])[a-z0-9]+)*/gi;
const PLAIN_TEXT = /^(?:[a-z0-9]+(?:(?<=[a-z])'(?=[a-z])[a-z0-9]+)*[,.!?;:]*(?: +|$))*$/i;

function byProportion({ text, spoken }: SpokenSegment, share: number): string {
  const words = wordsOf(spoken?.text ?? text);
  const cut = share * (spoken?.text ?? text).length;
  let end = 0;
  for (const word of spoken === undefined ? asWritten(words) : writtenWords(words, spoken)) {
    if ((word.spoken.start + word.spoken.end) / 2 > cut) break;
    end = word.written.end;
  }
  return text.slice(0, end);
}

function* asWritten(words: Iterable<Span>): Generator<{ readonly spoken: Span; readonly written: Span }> {
  for (const word of words) yield { spoken: word, written: word };
}

function* wordsOf(text: string): Generator<Span> {
  if (PLAIN_TEXT.test(text)) {
    for (const { 0: word, index } of text.matchAll(PLAIN_WORD))
      yield { start: index, end: index + word.length };
    return;
  }
  for (const { segment, index, isWordLike } of WORDS.segment(text)) {
    if (isWordLike === true) yield { start: index, end: index + segment.length };
  }
}

// From words that were spoken back to what was written: "three dollars and fifty
// cents" is one written word, "$3.50".

/** UTF-16 units; `end` is exclusive. */
interface Span {
  readonly start: number;
  readonly end: number;
}

interface WrittenWord {
  readonly written: Span;
  readonly spoken: Span;
}

/** The words, each as what was written for it; those that share it are one. */
function writtenWords(words: Iterable<Span>, { sourceSpan }: Normalized): WrittenWord[] {
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
