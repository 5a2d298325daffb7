// Records the place of one sentence in the sound of its pipeline while that is made, with the times of its
// words.
import type { PcmRing } from '../audio/pcm-ring.js';
import type { KeptFrames } from '../encoding/kept-frames.js';
import type { SegmentEncoded } from '../encoding/encoder-messages.js';
import type { WordTime } from '../engines/engine.js';
import type { KeptSentence } from './frame-cache.js';
import type { WrittenSentence } from './speech-piece.js';
import type { SoundPause } from './estimated-words.js';
import { placedWord, type SpokenSegment, writtenTimes } from './spoken-text.js';

/** The source of a segment's sound, while that is made. */
interface SoundInMaking {
  /** Milliseconds made so far. */
  readonly madeMs: number;
  /** Milliseconds that the encoder has not taken yet. */
  readonly waitingMs: number;
  /** If sentences share the sound: the estimated part of this segment. */
  readonly shareMs?: number;
  /** Known once all of it is made. If it is absent, `SpeechSegment.made` states it. */
  readonly soundMs?: number | undefined;
  readonly words?: readonly WordTime[];
}

/** The sound of a segment that has a ring of its own. */
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

export class SpeechSegment implements SpokenSegment {
  readonly text: string;
  readonly spoken: WrittenSentence['spoken'];
  readonly delivery: WrittenSentence['delivery'];
  firstFrame: number | undefined;
  frames: number | undefined;
  /** Time at which its first payload was queued, in milliseconds of the monotonic clock. */
  queuedAtMs: number | undefined;
  /** Its place in the sound of the pipeline, in milliseconds; undefined until it is encoded whole. */
  place: { readonly startMs: number; readonly endMs: number } | undefined;
  /** Called with its payloads if they were to be kept and all of them were made. */
  onKept: ((frames: KeptFrames) => void) | undefined;
  /** Undefined if its payloads come from the cache. */
  readonly #sound: SoundInMaking | undefined;
  /**
   * Factor between the sound as it was made and as it is heard. All reported times are those of the heard
   * sound.
   */
  readonly #speed: number;
  #soundMs: number | undefined;
  #words: readonly WordTime[] = [];
  /** As made, before the speed is applied. */
  #pauses: readonly SoundPause[] = [];
  #trimmedStartMs = 0;

  constructor({ text, spoken, delivery }: WrittenSentence, sound: SoundInMaking | undefined, speed = 1) {
    this.text = text;
    this.spoken = spoken;
    this.delivery = delivery;
    this.#sound = sound;
    this.#speed = speed;
  }

  /** The sound as it was made, before the speed is applied. */
  get asMade(): Omit<KeptSentence, 'frames'> {
    const soundMs = this.#soundMs ?? this.#sound?.soundMs ?? 0;
    return { soundMs, words: this.#sound?.words ?? this.#words, pauses: this.#pauses };
  }

  get trimmedStartMs(): number {
    return this.#trimmedStartMs / this.#speed;
  }

  /** Set in milliseconds of the sound as it was made. */
  set trimmedStartMs(ms: number) {
    this.#trimmedStartMs = ms;
  }

  /** States that all of its sound is made. */
  made(soundMs: number, words: readonly WordTime[]): void {
    this.#soundMs = soundMs;
    this.#words = words;
  }

  /** States a pause of its sound, of which all before are stated. */
  paused({ startMs, endMs }: SoundPause): void {
    this.#pauses = [...this.#pauses, { startMs, endMs }];
  }

  /** States all pauses of a sound that was made before. */
  set madePauses(pauses: readonly SoundPause[]) {
    this.#pauses = pauses;
  }

  get pauses(): readonly SoundPause[] {
    if (this.#speed === 1) return this.#pauses;
    return this.#pauses.map(({ startMs, endMs }) => ({
      startMs: startMs / this.#speed,
      endMs: endMs / this.#speed,
    }));
  }

  get soundMs(): number | undefined {
    const ms = this.#soundMs ?? this.#sound?.soundMs;
    return ms === undefined ? undefined : ms / this.#speed;
  }

  /** Word times of the engine, for the words that it got. */
  get engineWords(): readonly WordTime[] {
    const { words } = this.asMade;
    if (this.#speed === 1) return words;
    return words.map((word) => placedWord(word, (ms) => ms / this.#speed));
  }

  /** Times for the words of the sentence as it was written. */
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

  /** Milliseconds that were made and that the encoder has not taken yet. */
  get waitingMs(): number {
    if (this.#sound !== undefined) return this.#sound.waitingMs / this.#speed;
    return this.place === undefined ? (this.soundMs ?? 0) : 0;
  }

  encoded(done: SegmentEncoded): void {
    // A sentence for which the estimate left no sound ends with the sentence before.
    const shared = this.shareMs !== undefined && done.frames === 0 && done.firstFrame > 0;
    this.firstFrame = shared ? done.firstFrame - 1 : done.firstFrame;
    this.frames = shared ? 1 : done.frames;
    this.trimmedStartMs = done.trimmedStartMs;
    this.place = { startMs: done.startMs, endMs: done.endMs };
  }
}
