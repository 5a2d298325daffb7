// Computes the text that was heard from the number of frames that were sent, and maps times of spoken words
// to the words as they were written.
//
//   sentences   [ first ......... ][pause][ second .............. ]
//   frames      0               40       50                    120
//   sent        ───────────────────────────────────▶ 87
//   spoken      "First."                   "Second sent"
//
// If the engine reports word times, words are counted by them. If not, the times are estimated from the sound
// (estimated-words.ts). A word counts as spoken once at least half of it was sent. Sentences of a run share
// one sound and have estimated places (sentence-run.ts): no word is left out or counted twice, but a word may
// be reported with the sentence before or after its own.
//
// The reported text is the one that was written. "$3.50" is one word, which lasts as long as the words spoken
// for it.
import type { WordTime } from '../engines/engine.js';
import type { Normalized } from '../text/normalize/spoken-text.js';
import { estimatedTimes, type SoundPause, type Span } from './estimated-words.js';
import type { WrittenSentence } from './speech-piece.js';

// The pace of an unhurried speaker. It is used only while the length of a sentence is unknown.
const USUAL_MS_PER_CHARACTER = 65;

export interface SpokenSegment extends WrittenSentence {
  /** Index of its first frame within the utterance; undefined while none has reached the playout. */
  readonly firstFrame: number | undefined;
  /** Its frames without the pause after it; undefined until it is encoded whole. */
  readonly frames: number | undefined;
  /** Length of the engine's sound in milliseconds; undefined until synthesised whole. */
  readonly soundMs: number | undefined;
  /** Milliseconds that the engine has made so far. */
  readonly madeMs: number;
  /** If sentences share the sound: the estimated part of this one, in milliseconds. */
  readonly shareMs?: number | undefined;
  /** Silence that was cut from the start. Word times still include it. */
  readonly trimmedStartMs: number;
  /** Word times of the text as it was written. */
  readonly words: readonly WordTime[];
  /**
   * Pauses found so far, without those of the silence that was cut; all of them once `frames` is known. Empty
   * if the engine reports word times.
   */
  readonly pauses: readonly SoundPause[];
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

/**
 * The frame at which the word began in which the sound stopped after `sentFrames` frames: `sentFrames` itself
 * if that was between two words.
 */
export function unfinishedWordFrame(
  segments: readonly SpokenSegment[],
  sentFrames: number,
  frameMs: number,
): number {
  for (const segment of segments) {
    const { firstFrame, frames } = segment;
    if (firstFrame === undefined || sentFrames <= firstFrame) break;
    const sent = sentFrames - firstFrame;
    if (frames !== undefined && sent >= frames) continue;
    const startMs = unfinishedWordMs(segment, sent * frameMs, lengthMs(segment, frameMs));
    return startMs === undefined ? sentFrames : firstFrame + Math.floor(startMs / frameMs);
  }
  return sentFrames;
}

/** Milliseconds of the segment's sound at which the word began that is cut at `heardMs`. */
function unfinishedWordMs(segment: SpokenSegment, heardMs: number, totalMs: number): number | undefined {
  const words = heardWords(segment, totalMs);
  const cut = words.find(({ startMs, endMs }, index) => {
    return startMs < heardMs && heardMs < (endMs ?? words[index + 1]?.startMs ?? totalMs);
  });
  return cut === undefined ? undefined : Math.max(0, cut.startMs);
}

/**
 * The words of the text as it was written, timed from the first packet of the segment. Empty if the engine
 * has reported none, or while it is not known how much silence the encoder has cut.
 */
export function packetTimes({ firstFrame, words, trimmedStartMs }: SpokenSegment): readonly WordTime[] {
  if (firstFrame === undefined) return [];
  return words.map((word) => placedWord(word, (ms) => Math.max(0, ms - trimmedStartMs)));
}

function partOf(segment: SpokenSegment, heardMs: number, frameMs: number): string {
  const totalMs = lengthMs(segment, frameMs);
  const isKnown = segment.soundMs !== undefined || segment.shareMs !== undefined;
  if (isKnown && heardMs >= totalMs) return segment.text;
  const words = heardWords(segment, totalMs);
  let end = 0;
  words.forEach(({ word, textOffset, startMs, endMs }, index) => {
    // A word without an end time lasts until the next one, with the pause between them.
    const untilMs = endMs ?? words[index + 1]?.startMs ?? totalMs;
    if (heardMs < (startMs + untilMs) / 2) return;
    end = Math.max(end, textOffset + word.length);
  });
  return segment.text.slice(0, end).trimEnd();
}

function lengthMs(segment: SpokenSegment, frameMs: number): number {
  if (segment.frames !== undefined) return Math.max(segment.frames, 1) * frameMs;
  if (segment.shareMs !== undefined) return Math.max(segment.shareMs, frameMs);
  if (segment.soundMs !== undefined) return Math.max(segment.soundMs - segment.trimmedStartMs, frameMs);
  const characters = (segment.spoken ?? segment).text.length;
  return Math.max(characters * USUAL_MS_PER_CHARACTER, segment.madeMs, frameMs);
}

/** The words as written, timed from the first sample that is heard. */
function heardWords(segment: SpokenSegment, totalMs: number): readonly WordTime[] {
  const { text, spoken, words, trimmedStartMs, frames, pauses } = segment;
  if (words.length > 0) return words.map((word) => placedWord(word, (ms) => ms - trimmedStartMs));
  const whole = spoken?.text ?? text;
  const spans = [...wordsOf(whole)];
  const times = estimatedTimes(whole, spans, { lengthMs: totalMs, isWhole: frames !== undefined, pauses });
  const estimated = spans.map(({ start, end }, index) => ({
    word: whole.slice(start, end),
    textOffset: start,
    ...(times[index] ?? { startMs: totalMs, endMs: totalMs }),
  }));
  return spoken === undefined ? estimated : writtenTimes(estimated, text, spoken);
}

const WORDS = new Intl.Segmenter(undefined, { granularity: 'word' });
// Finds the same words in plain sentences as the segmenter, a hundred times faster. Every interrupted call
// needs it.
const PLAIN_WORD = /[a-z0-9]+(?:(?<=[a-z])'(?=[a-z])[a-z0-9]+)*/gi;
const PLAIN_TEXT = /^(?:[a-z0-9]+(?:(?<=[a-z])'(?=[a-z])[a-z0-9]+)*[,.!?;:]*(?: +|$))*$/i;

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

interface WrittenWord {
  readonly written: Span;
  readonly spoken: Span;
}

/** Pairs spoken words with the written ones. Spoken words with the same written word become one. */
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

/** Turns times of spoken words into times of the written words. */
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

/** The word with its times mapped by `place`. */
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
