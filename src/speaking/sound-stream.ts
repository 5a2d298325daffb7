// Sound that is played while it still comes, as that of a bot behind a socket: nobody knows its end before.
//
//   push ─▶ stretch 0 │ stretch 1 │ … ─▶ one sound piece each ─▶ speech pipeline
//                    cut         cut
//
// Stretches follow each other without a seam. A call reports the end of stretch n as the end of sentence n
// of the utterance, so a cut tells when all sound before it was sent.
import type { PcmRing } from '../audio/pcm-ring.js';
import { toFloat32 } from '../audio/pcm16.js';
import type { SpeechEnd } from '../engines/engine.js';
import { asParleyError } from '../errors.js';
import { type PlayedSound, type SoundPiece, soundPiece } from './speech-piece.js';
import type { SpeechPieces } from './sentence-run.js';

/** Sound between two cuts. */
interface Stretch {
  /** Samples that were not taken, in order. */
  readonly chunks: Int16Array[];
  isEnded: boolean;
}

const STEP = 480; // samples that are converted at once
const SEAMLESS = { pauseBeforeMs: 0 } as const;

/** One utterance of 16-bit samples, mono. It can be played once. */
export class SoundStream {
  /** Hz. */
  readonly sampleRate: number;
  /** Stretches that the pipeline has not begun. */
  readonly #coming: Stretch[] = [];
  readonly #scratch = new Float32Array(STEP);
  #open: Stretch | undefined;
  #count = 0;
  #waiting = 0;
  #isOver = false;
  #wake: (() => void)[] = [];

  constructor(sampleRate: number) {
    this.sampleRate = sampleRate;
  }

  /** Samples that the pipeline has not taken. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Appends samples, which must not be changed afterwards. Returns false if the stream has ended. */
  push(samples: Int16Array): boolean {
    if (this.#isOver) return false;
    if (samples.length === 0) return true;
    if (this.#open === undefined) {
      this.#open = { chunks: [], isEnded: false };
      this.#coming.push(this.#open);
      this.#count++;
    }
    this.#open.chunks.push(samples);
    this.#waiting += samples.length;
    this.#changed();
    return true;
  }

  /** Ends the stretch. Returns the number of the one with the last sample; -1 before the first sample. */
  cut(): number {
    if (this.#open !== undefined) {
      this.#open.isEnded = true;
      this.#open = undefined;
      this.#changed();
    }
    return this.#count - 1;
  }

  /** No sample follows. Idempotent. */
  end(): void {
    this.cut();
    this.#isOver = true;
    this.#changed();
  }

  /** The stretches as pieces of a pipeline. An abort drops what waits, and ends the stream. */
  async *pieces(signal: AbortSignal): AsyncGenerator<SoundPiece> {
    if (signal.aborted) this.#drop();
    else signal.addEventListener('abort', () => this.#drop(), { once: true });
    for (;;) {
      const stretch = this.#coming.shift();
      if (stretch !== undefined) yield this.#piece(stretch);
      else if (this.#isOver) return;
      else await this.#change();
    }
  }

  #piece(stretch: Stretch): SoundPiece {
    const write: SoundPiece['write'] = (out, signal) => this.#write(stretch, out, signal);
    return { sampleRate: this.sampleRate, delivery: SEAMLESS, write };
  }

  async #write(stretch: Stretch, out: PcmRing, signal: AbortSignal): Promise<SpeechEnd> {
    try {
      let samples = 0;
      while (stretch.chunks.length > 0 || !stretch.isEnded) {
        const chunk = stretch.chunks.shift();
        if (chunk === undefined) await this.#change();
        else samples += await this.#writeChunk(chunk, out, signal);
      }
      out.end();
      return { samples, words: [] };
    } catch (error) {
      out.abort();
      throw asParleyError(error, 'ABORTED');
    }
  }

  async #writeChunk(chunk: Int16Array, out: PcmRing, signal: AbortSignal): Promise<number> {
    for (let at = 0; at < chunk.length; at += STEP) {
      const part = chunk.subarray(at, at + STEP);
      toFloat32(part, part.length, this.#scratch);
      await out.writeAll(this.#scratch.subarray(0, part.length), signal);
      this.#waiting -= part.length;
    }
    return chunk.length;
  }

  #drop(): void {
    for (const { chunks } of this.#coming) chunks.length = 0;
    if (this.#open !== undefined) this.#open.chunks.length = 0;
    this.end();
    this.#coming.length = 0;
    this.#waiting = 0;
  }

  /** Resolves at the next change. */
  #change(): Promise<void> {
    return new Promise((resolve) => this.#wake.push(resolve));
  }

  #changed(): void {
    if (this.#wake.length === 0) return;
    const waiting = this.#wake;
    this.#wake = [];
    for (const wake of waiting) wake();
  }
}

/** Sound that a call plays as it is. */
export type PlayableSound = PlayedSound | SoundStream;

/** Throws as `soundPiece`. The result is called once, with the signal that ends the playing. */
export function playedPieces(sound: PlayableSound): (signal: AbortSignal) => SpeechPieces {
  if (sound instanceof SoundStream) return (signal) => sound.pieces(signal);
  const piece = soundPiece(sound);
  return () => [piece];
}
