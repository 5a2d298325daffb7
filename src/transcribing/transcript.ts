// Gathers the pieces of a transcription: the whole text, its sentences and words with times, and its cues.
import { joinTexts } from '../engines/openai/transcription-client.js';
import { SentenceStream } from '../text/sentences.js';
import { type Cue, type CueRules, cuesOf, inOrder } from './cues.js';
import { TextTimes } from './timed-text.js';
import type { TranscribedPiece } from './transcriber.js';

/** A stretch of the text with its time, in seconds of the sound. */
export interface TimedStretch {
  readonly text: string;
  readonly beginSeconds: number;
  readonly endSeconds: number;
  /** Absent: speakers were not told apart. */
  readonly speaker?: string;
}

/** `accurate`: the aligner's. `fast`: shared out by length. `mixed`: some pieces could not be aligned. */
export type TimesQuality = 'accurate' | 'fast' | 'mixed';

export class Transcript {
  readonly #pieces: TranscribedPiece[] = [];
  #text = '';
  readonly #rules: CueRules | undefined;
  readonly #cues: Cue[] = [];

  /** With rules the cues are made piece by piece, as the pieces come. */
  constructor(rules?: CueRules) {
    this.#rules = rules;
  }

  /** Returns the piece's text as it goes on from the text before, with a space where one belongs. */
  add(piece: TranscribedPiece): string {
    const last = this.#pieces.at(-1)?.text ?? '';
    if (piece.text.trim() === '') return '';
    const delta = joinTexts([last, piece.text]).slice(last.trim().length);
    this.#pieces.push(piece);
    if (this.#rules !== undefined) this.#cues.push(...cuesOf(piece, this.#rules, piece.language));
    this.#text += delta;
    return delta;
  }

  get text(): string {
    return this.#text;
  }

  /** BCP 47 tags, the one of most of the sound first. */
  get languages(): string[] {
    const seconds = new Map<string, number>();
    for (const { language, beginSeconds, endSeconds } of this.#pieces) {
      if (language === undefined) continue;
      seconds.set(language, (seconds.get(language) ?? 0) + endSeconds - beginSeconds);
    }
    return [...seconds].sort(([, a], [, b]) => b - a).map(([language]) => language);
  }

  get times(): TimesQuality {
    const aligned = this.#pieces.filter(({ isAligned }) => isAligned).length;
    if (aligned === 0) return 'fast';
    return aligned === this.#pieces.length ? 'accurate' : 'mixed';
  }

  /** As they were heard, also where the text is written with figures. */
  words(): TimedStretch[] {
    return this.#pieces.flatMap((piece) => {
      const { text, words } = piece.heard ?? piece;
      return words.map(({ start, end, ...times }) => ({ text: text.slice(start, end), ...times }));
    });
  }

  sentences(): TimedStretch[] {
    return this.#pieces.flatMap(sentencesOf);
  }

  /** In order, without overlap. Empty without rules. */
  cues(): Cue[] {
    return inOrder(this.#cues);
  }
}

/** The sentences of a piece, which hold each visible character of its text. */
export function sentencesOf(piece: TranscribedPiece): TimedStretch[] {
  const stream = new SentenceStream({ language: piece.language });
  const sentences = [...stream.push(piece.text), ...stream.end()];
  const times = new TextTimes(piece);
  return sentences.map(({ start }, n) => {
    const begin = n === 0 ? 0 : start;
    const end = sentences[n + 1]?.start ?? piece.text.length;
    const { beginSeconds, endSeconds } = times.of(begin, end);
    return { text: piece.text.slice(begin, end).trim(), beginSeconds, endSeconds };
  });
}
