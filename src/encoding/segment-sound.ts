// The sound of one segment as it leaves the engine's ring, without the silence
// around it.
import { Trimmer, type TrimOptions } from '../audio/trimmer.js';
import { type ErrorCode, ParleyError } from '../errors.js';
import type { RingPart } from './line-messages.js';

/** Samples taken from the ring in one piece: 10 ms at 48 kHz, 60 at 8. */
export const CHUNK_SAMPLES = 480;

interface RingState {
  readonly readable: number;
  /** Of a ring that several segments share. */
  readonly written?: number;
  readonly ended: boolean;
  readonly error: string;
}

/** The part of PcmRing that is read from. */
export interface SampleSource {
  read(into: Float32Array): number;
  status(): RingState | null;
  onReadable(callback: () => void): void;
  forget(callback: () => void): void;
  abort(): void;
}

export class SegmentSound {
  readonly index: number;
  readonly rate: number;
  readonly pauseBeforeMs: number;
  /** Its payloads are to be kept. */
  readonly keep: boolean;
  /** Times the speed at which it was spoken. */
  readonly speed: number;
  readonly #gain: number;
  readonly #source: SampleSource;
  readonly #trimmer: Trimmer;
  readonly #scratch: Float32Array;
  #samplesIn = 0;
  /** It shares its ring with others. */
  readonly isPart: boolean;
  /** Where it ends in the ring; infinite: with it. */
  #endAt: number;
  /** The place in the ring, once something of a part was read. */
  #at: number | undefined;

  /** `scratch` holds at least CHUNK_SAMPLES and is used during `read` only, so that many may share one. */
  constructor(
    source: SampleSource,
    segment: {
      readonly index: number;
      readonly rate: number;
      readonly pauseBeforeMs: number;
      readonly keep?: boolean;
      readonly part?: RingPart | undefined;
      readonly speed?: number | undefined;
      readonly gain?: number | undefined;
    },
    trim: TrimOptions,
    scratch: Float32Array,
  ) {
    this.index = segment.index;
    this.rate = segment.rate;
    this.pauseBeforeMs = segment.pauseBeforeMs;
    this.keep = segment.keep === true;
    this.speed = segment.speed ?? 1;
    this.#gain = segment.gain ?? 1;
    this.isPart = segment.part !== undefined;
    this.#endAt = segment.part?.endAt ?? Infinity;
    this.#source = source;
    const begun = segment.part?.first === false;
    this.#trimmer = new Trimmer(segment.rate, CHUNK_SAMPLES, begun ? { ...trim, begun } : trim);
    this.#scratch = scratch.subarray(0, CHUNK_SAMPLES);
  }

  get samplesIn(): number {
    return this.#samplesIn;
  }

  get trimmedStartMs(): number {
    return (this.#trimmer.trimmedStart * 1000) / this.rate;
  }

  /** A part ends here, or where it is if that is beyond. */
  endAt(sample: number): void {
    this.#endAt = sample;
  }

  /**
   * Writes up to CHUNK_SAMPLES to `output` and returns how many; 0 when nothing can be said yet, -1 at the end.
   * Throws the error with which the ring ended, or ABORTED.
   */
  read(output: Float32Array): number {
    while (this.#trimmer.readable === 0) {
      const left = this.#left();
      if (left <= 0) {
        this.#trimmer.release();
        if (this.#trimmer.readable === 0) return -1;
        break;
      }
      const taken = this.#source.read(this.#scratch.subarray(0, Math.min(left, CHUNK_SAMPLES)));
      if (taken < 0) throw new ParleyError('ABORTED', 'the ring of the segment was aborted');
      if (taken === 0) return this.#rest();
      this.#samplesIn += taken;
      if (this.#at !== undefined) this.#at += taken;
      this.#trimmer.write(this.#scratch, taken);
    }
    const count = this.#trimmer.read(output, CHUNK_SAMPLES);
    applyGain(output, count, this.#gain); // behind the trimmer, which knows the sound as it was made
    return count;
  }

  /** Samples up to its end, as far as that is known. */
  #left(): number {
    if (!this.isPart) return Infinity;
    if (this.#at === undefined) {
      const status = this.#source.status();
      if (status?.written !== undefined) this.#at = status.written - status.readable;
    }
    return this.#endAt - (this.#at ?? 0);
  }

  #rest(): number {
    const status = this.#source.status();
    if (status === null) throw new ParleyError('ABORTED', 'the ring of the segment was closed');
    if (!status.ended || status.readable > 0) return 0;
    if (status.error !== '') {
      throw new ParleyError(status.error as ErrorCode, `the segment's sound ended with ${status.error}`);
    }
    return -1;
  }

  /** Calls back once when `read` has more to say. */
  onReadable(callback: () => void): void {
    this.#source.onReadable(callback);
  }

  /** No longer interested; the ring itself goes on. */
  release(callback: () => void): void {
    this.#source.forget(callback);
  }

  /** Drops the ring's content and tells its writer. */
  abort(callback: () => void): void {
    this.release(callback);
    this.#source.abort();
  }
}

// From this level on, samples that would exceed full scale are compressed into it. Clipping them would be heard as a
// crackle.
const KNEE = 0.8;

/** Multiplies the first `count` samples in place. */
export function applyGain(samples: Float32Array, count: number, gain: number): void {
  if (gain === 1) return;
  for (let index = 0; index < count; index++) {
    const louder = (samples[index] ?? 0) * gain;
    samples[index] = gain > 1 ? bent(louder) : louder;
  }
}

function bent(sample: number): number {
  const size = Math.abs(sample);
  if (size <= KNEE) return sample;
  return Math.sign(sample) * (KNEE + (1 - KNEE) * Math.tanh((size - KNEE) / (1 - KNEE)));
}
