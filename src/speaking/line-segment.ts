// One sentence's place in the sound of its line, filled in while it is made.
import type { PcmRing } from '../audio/pcm-ring.js';
import type { KeptFrames } from '../encoding/kept-frames.js';
import type { SegmentEncoded } from '../encoding/line-messages.js';
import type { WordTime } from '../engines/engine.js';
import type { WrittenSentence } from './line-piece.js';
import { placedWord, type SpokenSegment, writtenTimes } from './spoken-text.js';

/** A sentence whose place in the sound of its line is known once it is encoded. */
export interface PlacedSegment extends SpokenSegment {
  readonly place: { readonly startMs: number; readonly endMs: number } | undefined;
  /** As the engine told them: of the words that it was given. */
  readonly engineWords: readonly WordTime[];
}

/** What a segment's sound is taken from while it is made. */
export interface SoundInMaking {
  /** Made so far. */
  readonly madeMs: number;
  /** Of that, not taken by the encoder. */
  readonly waitingMs: number;
  /** Where others share the sound: how much of it is probably the segment's own. */
  readonly shareMs?: number;
  /** Once all of it is made; else whoever sees the end of the making tells the segment. */
  readonly soundMs?: number | undefined;
  readonly words?: readonly WordTime[];
}

/** A ring of the segment's own. */
export function ringSound(ring: PcmRing): SoundInMaking {
  const ms = (count: 'written' | 'readable') => ((ring.status()?.[count] ?? 0) * 1000) / ring.rate;
  return {
    get madeMs() {
      return ms('written');
    },
    get waitingMs() {
      return ms('readable');
    },
  };
}

export class LineSegment implements PlacedSegment {
  readonly text: string;
  readonly spoken: WrittenSentence['spoken'];
  readonly delivery: WrittenSentence['delivery'];
  firstFrame: number | undefined;
  frames: number | undefined;
  /** When its first payload was queued, in milliseconds of the monotonic clock. */
  queuedAtMs: number | undefined;
  /** Its place in the sound of the line, in milliseconds; undefined until it is encoded whole. */
  place: { readonly startMs: number; readonly endMs: number } | undefined;
  /** Told its payloads, where they were to be kept and all of them were made. */
  onKept: ((frames: KeptFrames) => void) | undefined;
  /** Undefined where its payloads were kept before. */
  readonly #sound: SoundInMaking | undefined;
  /** Times the speed of the sound as it was made; all that is told of it is told as it is heard. */
  readonly #speed: number;
  #soundMs: number | undefined;
  #words: readonly WordTime[] = [];
  #trimmedStartMs = 0;

  constructor({ text, spoken, delivery }: WrittenSentence, sound: SoundInMaking | undefined, speed = 1) {
    this.text = text;
    this.spoken = spoken;
    this.delivery = delivery;
    this.#sound = sound;
    this.#speed = speed;
  }

  /** As it was made, whatever its speed. */
  get asMade(): { readonly soundMs: number; readonly words: readonly WordTime[] } {
    return { soundMs: this.#soundMs ?? this.#sound?.soundMs ?? 0, words: this.#sound?.words ?? this.#words };
  }

  get trimmedStartMs(): number {
    return this.#trimmedStartMs / this.#speed;
  }

  /** Told by the encoder, as it was made. */
  set trimmedStartMs(ms: number) {
    this.#trimmedStartMs = ms;
  }

  /** All of its sound is made. */
  made(soundMs: number, words: readonly WordTime[]): void {
    this.#soundMs = soundMs;
    this.#words = words;
  }

  get soundMs(): number | undefined {
    const ms = this.#soundMs ?? this.#sound?.soundMs;
    return ms === undefined ? undefined : ms / this.#speed;
  }

  get engineWords(): readonly WordTime[] {
    const { words } = this.asMade;
    if (this.#speed === 1) return words;
    return words.map((word) => placedWord(word, (ms) => ms / this.#speed));
  }

  /** Of the sentence as it was written. */
  get words(): readonly WordTime[] {
    return this.spoken === undefined
      ? this.engineWords
      : writtenTimes(this.engineWords, this.text, this.spoken);
  }

  get shareMs(): number | undefined {
    const ms = this.#sound?.shareMs;
    return ms === undefined ? undefined : ms / this.#speed;
  }

  get madeMs(): number {
    return this.soundMs ?? (this.#sound?.madeMs ?? 0) / this.#speed;
  }

  /** Made and not yet taken by the encoder. */
  get waitingMs(): number {
    if (this.#sound !== undefined) return this.#sound.waitingMs / this.#speed;
    return this.place === undefined ? (this.soundMs ?? 0) : 0;
  }

  encoded(done: SegmentEncoded): void {
    // Where the estimate left nothing for a sentence, it ends with the sentence before.
    const shared = this.shareMs !== undefined && done.frames === 0 && done.firstFrame > 0;
    this.firstFrame = shared ? done.firstFrame - 1 : done.firstFrame;
    this.frames = shared ? 1 : done.frames;
    this.trimmedStartMs = done.trimmedStartMs;
    this.place = { startMs: done.startMs, endMs: done.endMs };
  }
}
