// Segments joined into one sound at the sink's rate: resampled without a seam
// where the rate stays, with pauses of exact length between them.
//
// Positions count samples at the sink's rate from the start of the line. They
// are known before the resampler has given the samples out.
import { Resampler } from '../audio/resampler.js';
import { SampleQueue } from '../audio/sample-queue.js';
import { CHUNK_SAMPLES } from './segment-sound.js';

const QUEUE_SAMPLES = 8192; // a chunk six times longer (8 to 48 kHz), and what a filter holds

export class LineSound {
  readonly #sampleRate: number;
  readonly #queue = new SampleQueue(QUEUE_SAMPLES);
  #resampler: Resampler;
  #scratch: Float32Array;
  /** Position of the resampler's first output. */
  #base = 0;
  #pauseLeft = 0;
  /** Sound came since the last pause: a silent segment between two others does not pause twice. */
  #sounded = false;

  constructor(sampleRate: number) {
    this.#sampleRate = sampleRate;
    this.#resampler = new Resampler(sampleRate, sampleRate, CHUNK_SAMPLES);
    this.#scratch = new Float32Array(this.#scratchLength());
  }

  /** The position after everything taken so far, pauses too: where the next sample will be. */
  get end(): number {
    return this.#base + this.#resampler.outputsFor(this.#resampler.inputs);
  }

  /** A segment at `rate` Hz follows, after a pause where sound came before. */
  begin(rate: number, pauseMs: number): void {
    const pause = this.#sounded ? Math.round((pauseMs * this.#sampleRate) / 1000) : 0;
    if (pause > 0 || rate !== this.#resampler.inputRate) this.finish();
    if (pause > 0) {
      this.#base += pause;
      this.#pauseLeft += pause;
      this.#sounded = false;
    }
    if (rate === this.#resampler.inputRate) return;
    this.#resampler = new Resampler(rate, this.#sampleRate, CHUNK_SAMPLES);
    this.#scratch = new Float32Array(this.#scratchLength());
  }

  /** Takes at most CHUNK_SAMPLES of the segment; only when `read` has nothing more. */
  take(input: Float32Array, count: number): void {
    this.#sounded = true;
    this.#queue.write(this.#scratch, this.#resampler.process(input, count, this.#scratch));
  }

  /** Gives out what the resampler holds. */
  finish(): void {
    const end = this.end;
    this.#queue.write(this.#scratch, this.#resampler.flush(this.#scratch));
    this.#base = end;
  }

  /** Fills up with silence to a multiple of `samples`, so that nothing waits for what comes next; false if nothing does. */
  pad(samples: number): boolean {
    this.finish();
    const over = this.#base % samples;
    if (over > 0) {
      this.#base += samples - over;
      this.#pauseLeft += samples - over;
    }
    return this.#queue.length + this.#pauseLeft > 0;
  }

  /** Moves up to `count` samples to `output` from `offset` on; returns how many. */
  read(output: Float32Array, count: number, offset: number): number {
    const sound = this.#queue.read(output, count, offset);
    const pause = Math.min(this.#pauseLeft, count - sound);
    if (pause > 0) {
      output.fill(0, offset + sound, offset + sound + pause);
      this.#pauseLeft -= pause;
    }
    return sound + pause;
  }

  #scratchLength(): number {
    return Math.max(this.#resampler.maxOutput(CHUNK_SAMPLES), this.#resampler.maxFlush);
  }
}
