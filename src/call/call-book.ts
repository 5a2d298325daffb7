// Calls that applications see under /v1/calls, by their id: current ones, those that ended recently, and the
// numbered events of each.
import { attempt, ParleyError } from '../errors.js';
import type { Time } from '../time.js';
import type { PhoneCallEvent, PhoneCallView } from './phone-calls.js';

interface BookedCall {
  readonly view: PhoneCallView;
  /** Resolves when everything of the call is closed. */
  readonly over: Promise<unknown>;
}

const MOST_ENDED = 1000;
const KEPT_MS = 600_000;

export class CallBook<C extends BookedCall> {
  readonly #time: Time;
  readonly #open = new Map<string, C>();
  readonly #ended = new Map<string, { readonly call: C; readonly untilMs: number }>();

  constructor(time: Time) {
    this.#time = time;
  }

  get open(): readonly C[] {
    return [...this.#open.values()];
  }

  add(call: C): void {
    const { id } = call.view;
    this.#open.set(id, call);
    void call.over.then(() => {
      this.#open.delete(id);
      this.#ended.set(id, { call, untilMs: this.#time.now() + KEPT_MS });
      this.#forget();
    });
  }

  /** Undefined for an unknown id. */
  find(id: string): C | undefined {
    this.#forget();
    return this.#open.get(id) ?? this.#ended.get(id)?.call;
  }

  /** Throws NOT_FOUND for an unknown id. */
  get(id: string): C {
    const call = this.find(id);
    if (call === undefined) throw new ParleyError('NOT_FOUND', 'there is no call of this id');
    return call;
  }

  /** Newest first. */
  list(): readonly PhoneCallView[] {
    this.#forget();
    const calls = [...this.#open.values(), ...[...this.#ended.values()].map(({ call }) => call)];
    return calls.map(({ view }) => view).toSorted((a, b) => b.createdAt - a.createdAt);
  }

  #forget(): void {
    const nowMs = this.#time.now();
    for (const [id, { untilMs }] of this.#ended) {
      if (untilMs > nowMs && this.#ended.size <= MOST_ENDED) return;
      this.#ended.delete(id);
    }
  }
}

// Numbers and keeps the events of one call for followers that join now or later.

const MOST_EVENTS = 1000;

type OnEvent = (event: PhoneCallEvent) => void;
/** An event without its number and time. */
type NewEvent = PhoneCallEvent extends infer E ? (E extends unknown ? Omit<E, 'id' | 'at'> : never) : never;

export class EventLog {
  readonly #wallMs: () => number;
  readonly #kept: PhoneCallEvent[] = [];
  readonly #followers = new Set<OnEvent>();
  #count = 0;

  /** `wallMs`: milliseconds since 1970. */
  constructor(wallMs: () => number) {
    this.#wallMs = wallMs;
  }

  add(event: NewEvent): void {
    const numbered = { id: ++this.#count, at: this.#wallMs(), ...event } as PhoneCallEvent;
    this.#kept.push(numbered);
    if (this.#kept.length > MOST_EVENTS) this.#kept.shift();
    for (const onEvent of this.#followers) attempt({ work: 'call events' }, () => onEvent(numbered));
  }

  /**
   * Calls `onEvent` with the events after number `after`, then with each new one, until the returned function
   * is called.
   */
  follow(after: number, onEvent: OnEvent): () => void {
    for (const event of this.#kept.filter(({ id }) => id > after)) onEvent(event);
    this.#followers.add(onEvent);
    return () => void this.#followers.delete(onEvent);
  }
}
