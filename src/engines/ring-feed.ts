// Feeds a ring that a recogniser reads: samples and the orders about them, in order, when there is room.
import { PcmRing } from '../audio/pcm-ring.js';
import type { TurnOrder } from './recogniser.js';

const RING_SECONDS = 4;

export class RingFeed {
  readonly ring: PcmRing;
  readonly #onOrder: (order: TurnOrder) => void;
  readonly #queue: (Float32Array | TurnOrder)[] = [];
  #waiting = 0;
  #isWatching = false;
  #isEnding = false;
  readonly #flush = (): void => {
    this.#isWatching = false;
    this.#go();
  };

  /** `onOrder` gets each order when all samples before it are in the ring. */
  constructor(rate: number, onOrder: (order: TurnOrder) => void = () => undefined) {
    this.ring = PcmRing.open(rate, RING_SECONDS * rate);
    this.#onOrder = onOrder;
  }

  /** Samples that wait for room. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Takes the samples over. */
  push(samples: Float32Array): void {
    this.#queue.push(samples);
    this.#waiting += samples.length;
    this.#go();
  }

  order(order: TurnOrder): void {
    this.#queue.push(order);
    this.#go();
  }

  end(): void {
    this.#isEnding = true;
    this.#go();
  }

  close(): void {
    this.#queue.length = 0;
    this.ring.forget(this.#flush);
    this.ring.close();
  }

  #go(): void {
    if (this.#isWatching) return;
    for (let next = this.#queue[0]; next !== undefined; next = this.#queue[0]) {
      if (typeof next === 'string') {
        this.#queue.shift();
        this.#onOrder(next);
        continue;
      }
      const count = this.ring.write(next);
      if (count < 0) return; // its reader has ended, and says why
      this.#waiting -= count;
      if (count === next.length) this.#queue.shift();
      else {
        this.#queue[0] = next.subarray(count);
        this.#isWatching = true;
        this.ring.onWritable(this.#flush);
        return;
      }
    }
    if (this.#isEnding) this.ring.end();
  }
}
