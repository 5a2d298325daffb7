// The sound of one segment as it leaves the engine's ring, without the silence
// around it.
import { Trimmer, type TrimOptions } from '../audio/trimmer.js';
import { ParleyError, type ErrorCode } from '../errors.js';

/** Samples taken from the ring in one piece: 10 ms at 48 kHz, 60 at 8. */
export const CHUNK_SAMPLES = 480;

/** The part of PcmRing that is read from. */
export interface SampleSource {
  read(into: Float32Array): number;
  status(): { readonly readable: number; readonly ended: boolean; readonly error: string } | null;
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
  readonly #source: SampleSource;
  readonly #trimmer: Trimmer;
  readonly #scratch: Float32Array;
  #samplesIn = 0;

  /** `scratch` holds at least CHUNK_SAMPLES and is used during `read` only, so that many may share one. */
  constructor(
    source: SampleSource,
    segment: {
      readonly index: number;
      readonly rate: number;
      readonly pauseBeforeMs: number;
      readonly keep?: boolean;
    },
    trim: TrimOptions,
    scratch: Float32Array,
  ) {
    this.index = segment.index;
    this.rate = segment.rate;
    this.pauseBeforeMs = segment.pauseBeforeMs;
    this.keep = segment.keep === true;
    this.#source = source;
    this.#trimmer = new Trimmer(segment.rate, CHUNK_SAMPLES, trim);
    this.#scratch = scratch.subarray(0, CHUNK_SAMPLES);
  }

  get samplesIn(): number {
    return this.#samplesIn;
  }

  get trimmedStartMs(): number {
    return (this.#trimmer.trimmedStart * 1000) / this.rate;
  }

  /**
   * Writes up to CHUNK_SAMPLES to `output` and returns how many; 0 when nothing can be said yet, -1 at the end.
   * Throws the error with which the ring ended, or ABORTED.
   */
  read(output: Float32Array): number {
    while (this.#trimmer.readable === 0) {
      const taken = this.#source.read(this.#scratch);
      if (taken < 0) throw new ParleyError('ABORTED', 'the ring of the segment was aborted');
      if (taken === 0) return this.#rest();
      this.#samplesIn += taken;
      this.#trimmer.write(this.#scratch, taken);
    }
    return this.#trimmer.read(output, CHUNK_SAMPLES);
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
