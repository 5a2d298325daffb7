// Reads a ring of sound at another rate, in this thread.
import type { PcmRing } from '../../audio/pcm-ring.js';
import { Resampler } from '../../audio/resampler.js';
import { guarded, ParleyError } from '../../errors.js';
import type { Time } from '../../time.js';

const CHUNK_SECONDS = 0.1;

interface RingReaderOptions {
  /** Hz of the samples that are taken. */
  readonly rate: number;
  /** Pause between two looks into the ring: a live ring gets samples 50 times a second. */
  readonly everyMs: number;
  readonly time: Time;
  /** Gets at most a tenth of a second, in an array that is used again. */
  readonly take: (samples: Float32Array) => void;
  /** False leaves the sound in the ring until `look` is called. */
  readonly hasRoom: () => boolean;
  /** Called once: with an error if the sound broke off, is damaged, or its ring was closed. */
  readonly over: (error: ParleyError | undefined) => void;
}

export class RingReader {
  readonly #ring: PcmRing;
  readonly #options: RingReaderOptions;
  readonly #resampler: Resampler;
  readonly #input: Float32Array;
  readonly #output: Float32Array;
  #isOver = false;
  #cancelTimer: () => void = () => undefined;

  /** Begins to read; nothing is called before this returns. */
  constructor(ring: PcmRing, options: RingReaderOptions) {
    this.#ring = ring;
    this.#options = options;
    const chunk = Math.round(ring.rate * CHUNK_SECONDS);
    this.#resampler = new Resampler(ring.rate, options.rate, chunk);
    this.#input = new Float32Array(chunk);
    this.#output = new Float32Array(Math.max(this.#resampler.maxOutput(chunk), this.#resampler.maxFlush));
    ring.onReadable(this.#look);
  }

  /** Samples of the ring that were read, at its rate. */
  get taken(): number {
    return this.#resampler.inputs;
  }

  /** Takes what the ring has now. */
  look(): void {
    this.#ring.forget(this.#look);
    this.#look();
  }

  /** Reads no more. The writer learns that nobody does. */
  stop(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelTimer();
    this.#ring.forget(this.#look);
    this.#ring.abort();
  }

  readonly #look = guarded(
    { work: 'recognition' },
    () => this.#read(),
    (error) => this.#end(error),
  );

  #read(): void {
    this.#cancelTimer();
    while (!this.#isOver && this.#options.hasRoom()) {
      const count = this.#ring.read(this.#input);
      if (count < 0) return this.#end(new ParleyError('ABORTED', 'the ring was aborted or closed'));
      if (count === 0) return this.#pause();
      const samples = this.#input.subarray(0, count);
      if (!samples.every(Number.isFinite))
        return this.#end(new ParleyError('AUDIO_INVALID', 'the sound has samples that are no numbers'));
      this.#pass(this.#resampler.process(samples, count, this.#output));
    }
  }

  /** The ring is empty: for now, or for good. */
  #pause(): void {
    const { everyMs, time } = this.#options;
    const status = this.#ring.status();
    if (status?.ended === false) {
      const wait = () => this.#ring.onReadable(this.#look);
      if (everyMs === 0) wait();
      else this.#cancelTimer = time.after(everyMs, wait);
      return;
    }
    if (status === null) return this.#end(new ParleyError('ABORTED', 'the ring was closed'));
    if (status.error !== '')
      return this.#end(new ParleyError('ABORTED', `the sound broke off: ${status.error}`));
    this.#pass(this.#resampler.flush(this.#output));
    this.#end(undefined);
  }

  #pass(count: number): void {
    if (count > 0) this.#options.take(this.#output.subarray(0, count));
  }

  #end(error: ParleyError | undefined): void {
    if (this.#isOver) return;
    if (error === undefined) this.#isOver = true;
    else this.stop();
    this.#options.over(error);
  }
}
