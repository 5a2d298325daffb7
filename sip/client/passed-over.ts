// Targets that lately did not serve: one that said 503, or that nobody could
// reach, comes after all others until its time is over (RFC 3263, section 4.3).
// It is not shut out: where it is the only one, trying costs less than giving up.
import type { Time } from '../../src/time.js';
import type { Target } from '../transport/outbound.js';

/** How long one that could not be reached comes last. */
export const UNREACHABLE_MS = 30_000;

const MOST_TARGETS = 1000;
const LONGEST_MS = 300_000; // whatever a Retry-After says: a mistake there is not to last a day

export class PassedOver {
  readonly #time: Time;
  readonly #untilMs = new Map<string, number>();

  constructor(time: Time) {
    this.#time = time;
  }

  /** Targets that are remembered: at most 1000, the oldest is forgotten first. */
  get size(): number {
    return this.#untilMs.size;
  }

  has(target: Target): boolean {
    const key = targetKey(target);
    const untilMs = this.#untilMs.get(key);
    if (untilMs === undefined) return false;
    if (untilMs > this.#time.now()) return true;
    this.#untilMs.delete(key);
    return false;
  }

  add(target: Target, forMs: number): void {
    const key = targetKey(target);
    this.#untilMs.delete(key);
    this.#untilMs.set(key, this.#time.now() + Math.min(forMs, LONGEST_MS));
    if (this.#untilMs.size <= MOST_TARGETS) return;
    const [oldest] = this.#untilMs.keys();
    if (oldest !== undefined) this.#untilMs.delete(oldest);
  }

  /** It has served. */
  remove(target: Target): void {
    this.#untilMs.delete(targetKey(target));
  }
}

export function targetKey({ transport, address, port }: Target): string {
  return `${transport} ${address} ${port}`;
}
