// What happened in one call, numbered, for whoever asks now or comes back later.
import type { PhoneCallEvent } from '../../src/call/phone-calls.js';

const MOST_KEPT = 1000;

type Told = (event: PhoneCallEvent) => void;
/** An event without its number and time. */
export type NewEvent = PhoneCallEvent extends infer E
  ? E extends unknown
    ? Omit<E, 'id' | 'at'>
    : never
  : never;

export class EventLog {
  readonly #wallMs: () => number;
  readonly #kept: PhoneCallEvent[] = [];
  readonly #followers = new Set<Told>();
  #count = 0;

  /** `wallMs`: milliseconds since 1970. */
  constructor(wallMs: () => number) {
    this.#wallMs = wallMs;
  }

  add(event: NewEvent): void {
    const numbered = { id: ++this.#count, at: this.#wallMs(), ...event } as PhoneCallEvent;
    this.#kept.push(numbered);
    if (this.#kept.length > MOST_KEPT) this.#kept.shift();
    for (const told of this.#followers) told(numbered);
  }

  /** Events after number `after`, then each as it comes, until the function returned is called. */
  follow(after: number, told: Told): () => void {
    for (const event of this.#kept.filter(({ id }) => id > after)) told(event);
    this.#followers.add(told);
    return () => void this.#followers.delete(told);
  }
} // prettier-ignore
