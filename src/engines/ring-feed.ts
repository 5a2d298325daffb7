// Feeds a ring that a recogniser reads: samples and the orders about them, in order, when there is room.
import { PcmRing } from '../audio/pcm-ring.js';
import { guarded, type ParleyError } from '../errors.js';
import type { TurnOrder } from './recogniser.js';

const RING_SECONDS = 4;

interface FeedListener {
  /** Called with each order when all samples before it are in the ring. */
  readonly order?: (order: TurnOrder) => void;
  /** Called when nothing waits any more. */
  readonly drained?: () => void;
  /** Called when an order could not be given, or `drained` threw. The feed is closed then. */
  readonly failed?: (error: ParleyError) => void;
}

export class RingFeed {
  readonly ring: PcmRing;
  readonly #listener: FeedListener;
  readonly #queue: (Float32Array | TurnOrder)[] = [];
  #waiting = 0;
  #isWatching = false;
  #isEnding = false;
  /** The reader has ended, and nothing is written any more. */
  #isOver = false;
  readonly #flush = guarded(
    { work: 'recognition' },
    () => {
      this.#isWatching = false;
      this.#go();
      if (this.#waiting === 0) this.#listener.drained?.();
    },
    (error) => {
      this.close();
      this.#listener.failed?.(error);
    },
  );

  constructor(rate: number, listener: FeedListener = {}) {
    this.ring = PcmRing.open(rate, RING_SECONDS * rate);
    this.#listener = listener;
  }

  /** Samples that wait for room. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Takes the samples over. */
  push(samples: Float32Array): void {
    if (this.#isOver) return;
    this.#queue.push(samples);
    this.#waiting += samples.length;
    this.#go();
  }

  order(order: TurnOrder): void {
    if (this.#isOver) return;
    this.#queue.push(order);
    this.#go();
  }

  end(): void {
    this.#isEnding = true;
    this.#go();
  }

  /** Idempotent. */
  close(): void {
    this.#stop();
    this.ring.forget(this.#flush);
    this.ring.close();
  }

  #stop(): void {
    this.#isOver = true;
    this.#queue.length = 0;
    this.#waiting = 0;
  }

  #go(): void {
    if (this.#isWatching || this.#isOver) return;
    for (let next = this.#queue[0]; next !== undefined; next = this.#queue[0]) {
      if (typeof next === 'string') {
        this.#queue.shift();
        this.#listener.order?.(next);
        continue;
      }
      const count = this.ring.write(next);
      if (count < 0) return this.#stop(); // the session says why
      this.#waiting -= count;
      if (count === next.length) this.#queue.shift();
      else {
        this.#queue[0] = next.subarray(count);
        this.#isWatching = true;
        this.ring.onWritable(this.#flush);
        return undefined;
      }
    }
    if (this.#isEnding) this.ring.end();
    return undefined;
  }
}
