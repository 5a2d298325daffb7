// Cuts the silence before and after the sound of one segment, as it streams.
//
//   silence   lead-in   sound ... silence ... sound   tail   silence
//   dropped │ kept ──────────────────────────────────────── │ held, then dropped at the end
//
// Only the sound that follows shows whether a silence is a pause or the end, so
// what is longer than the tail is held back until then. A sample is sound when
// its magnitude reaches the threshold: no window, so nothing audible is ever
// cut and the answer does not depend on how the segment was chunked.
import { SampleQueue } from './sample-buffers.js';

export interface TrimOptions {
  /** Peak level in dBFS from which on a sample counts as sound. */
  readonly thresholdDb?: number;
  /** Kept before the first sound: soft onsets lie below the threshold. */
  readonly leadInMs?: number;
  /** Kept after the last sound: the voice and its room fade. */
  readonly tailMs?: number;
  /** A silence beyond this is let through while it lasts; bounds memory and delay. */
  readonly maxHoldMs?: number;
  /** The sound has begun before: nothing is cut at the start. */
  readonly begun?: boolean;
}

const DEFAULTS = { thresholdDb: -50, leadInMs: 20, tailMs: 80, maxHoldMs: 1000 } as const;

export class Trimmer {
  /** The most samples that one `write` may bring. */
  readonly maxChunk: number;
  readonly #threshold: number;
  readonly #leadIn: number;
  readonly #tail: number;
  readonly #maxHold: number;
  readonly #queue: SampleQueue;
  // Positions count samples of the segment.
  #written = 0;
  #trimmedStart = 0;
  #soundEnd = -1; // after the last sound and its tail; negative while nothing has sounded

  constructor(rate: number, maxChunk: number, options: TrimOptions = {}) {
    const { thresholdDb, leadInMs, tailMs, maxHoldMs, begun } = { ...DEFAULTS, ...options };
    this.maxChunk = maxChunk;
    this.#threshold = 10 ** (thresholdDb / 20);
    this.#leadIn = Math.round((leadInMs * rate) / 1000);
    this.#tail = Math.round((tailMs * rate) / 1000);
    this.#maxHold = Math.round((maxHoldMs * rate) / 1000);
    if (begun === true) this.#soundEnd = 0;
    this.#queue = new SampleQueue(Math.max(this.#leadIn, this.#maxHold) + maxChunk);
  }

  /** Samples cut before the first that is kept: all of them while nothing has sounded. */
  get trimmedStart(): number {
    return this.sounded ? this.#trimmedStart : this.#written;
  }

  get sounded(): boolean {
    return this.#soundEnd >= 0;
  }

  /** Samples that `read` would return now. */
  get readable(): number {
    if (!this.sounded) return 0;
    const released = Math.min(this.#written, Math.max(this.#soundEnd, this.#written - this.#maxHold));
    return released - (this.#written - this.#queue.length);
  }

  /** Takes at most `maxChunk` samples; whatever was readable must have been read before. */
  write(input: Float32Array, count: number): void {
    this.#queue.write(input, count);
    if (!this.sounded) this.#seekStart(input, count);
    if (this.sounded) this.#seekEnd(input, count);
    this.#written += count;
  }

  read(output: Float32Array, count: number, offset = 0): number {
    return this.#queue.read(output, Math.min(count, this.readable), offset);
  }

  /** The sound goes on elsewhere: a silence that is held is a pause of it. */
  release(): void {
    if (this.sounded) this.#soundEnd = this.#written;
  }

  /** Drops the held samples, which were trailing silence, and prepares for the next segment. */
  reset(): void {
    this.#queue.clear();
    this.#written = 0;
    this.#trimmedStart = 0;
    this.#soundEnd = -1;
  }

  /** Forgets all but the lead-in; marks the start once there is sound. */
  #seekStart(input: Float32Array, count: number): void {
    let quiet = 0;
    while (quiet < count && !this.#isSound(input[quiet] as number)) quiet++;
    const beforeSound = this.#queue.length - (count - quiet);
    const excess = Math.max(0, beforeSound - this.#leadIn);
    this.#queue.drop(excess);
    this.#trimmedStart += excess;
    if (quiet < count) this.#soundEnd = 0;
  }

  #seekEnd(input: Float32Array, count: number): void {
    let last = count - 1;
    while (last >= 0 && !this.#isSound(input[last] as number)) last--;
    if (last >= 0) this.#soundEnd = this.#written + last + 1 + this.#tail;
  }

  #isSound(sample: number): boolean {
    return sample >= this.#threshold || sample <= -this.#threshold;
  }
}
