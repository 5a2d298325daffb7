// Addresses that this server has written to lately: their answers, and what they
// say within calls, are heard although they may begin none.
import type { Time } from '../../src/time.js';

const KEPT_MS = 7_200_000; // longer than a session goes without a request of either side
const MOST = 10_000;

export class RecentPeers {
  readonly #time: Time;
  readonly #lastMs = new Map<string, number>(); // longest ago first

  constructor(time: Time) {
    this.#time = time;
  }

  /** Something is being sent there. */
  wrote(address: string): void {
    this.#lastMs.delete(address);
    this.#lastMs.set(address, this.#time.now());
    if (this.#lastMs.size <= MOST) return;
    const [oldest] = this.#lastMs.keys();
    if (oldest !== undefined) this.#lastMs.delete(oldest);
  }

  knows(address: string): boolean {
    const lastMs = this.#lastMs.get(address);
    return lastMs !== undefined && this.#time.now() - lastMs < KEPT_MS;
  }
}
