// The order in which sentences reach an engine, as data without time or I/O of
// its own.
//
//   classes   calls, then WebSockets, then HTTP, while each is served at least once in its bound
//   calls     the earliest deadline: the call that would run dry first
//   others    fair between clients, then the earliest deadline (see fair-queue.ts)
//
// Nobody waits for ever. A deadline is never before its arrival, so among calls
// a sentence is passed only by those that arrived before its deadline. A class
// that was not served for its bound gets the next slot, one sentence of it; where
// both lower classes are overdue, the more overdue one goes first.
import { FairQueue, type Place } from './fair-queue.js';
import { SPEECH_CLASSES, type SpeechClass, type Urgency } from './urgency.js';

/** Milliseconds after which a class that waits is served before those above it. */
export const AGING_MS: Readonly<Record<SpeechClass, number>> = {
  call: Infinity,
  interactive: 1000,
  http: 2000,
};

const MAX_AHEAD_MS = 30_000; // a deadline beyond counts as this: nobody who comes later is before it for longer

export interface Waiting<T> extends Place {
  readonly class: SpeechClass;
  readonly item: T;
}

interface ClassQueue<T> {
  readonly places: FairQueue<Waiting<T>>;
  /** Since when it has been waiting without being served. */
  sinceMs: number;
}

export class SentenceQueue<T> {
  readonly #maxWaiting: number;
  readonly #classes: Readonly<Record<SpeechClass, ClassQueue<T>>>;
  /** The last slot went to an overdue class before those above it. */
  #lastOutOfOrder = false;

  /** `maxWaiting` is of each class: no other can fill the room of calls. */
  constructor(maxWaiting: number) {
    const open = () => ({ places: new FairQueue<Waiting<T>>(), sinceMs: 0 });
    this.#maxWaiting = maxWaiting;
    this.#classes = { call: open(), interactive: open(), http: open() };
  }

  get size(): number {
    return SPEECH_CLASSES.reduce((sum, name) => sum + this.#classes[name].places.size, 0);
  }

  waitingOf(name: SpeechClass): number {
    return this.#classes[name].places.size;
  }

  /** How a sentence would wait; `cost` is what it counts in its client's share. */
  static place<T>(item: T, urgency: Urgency, cost: number, nowMs: number): Waiting<T> {
    const { begun, deadlineMs } = urgency;
    return {
      item,
      begun,
      class: urgency.class,
      // Calls cannot ask for more than their listener hears, so deadlines alone are fair to them.
      client: urgency.class === 'call' ? '' : urgency.client,
      deadlineMs: Math.min(Math.max(deadlineMs, nowMs), nowMs + MAX_AHEAD_MS),
      cost: Math.max(1, cost),
    };
  }

  /** Undefined when there was room; otherwise who has to leave for it, which is itself where nobody gives way. */
  add(place: Waiting<T>, nowMs: number): Waiting<T> | undefined {
    const queue = this.#classes[place.class];
    if (queue.places.size === 0) queue.sinceMs = nowMs;
    let leaves: Waiting<T> | undefined;
    if (queue.places.size >= this.#maxWaiting) {
      leaves = queue.places.givesWay(place) ?? place;
      if (leaves === place) return place;
      queue.places.delete(leaves);
    }
    queue.places.add(place);
    return leaves;
  }

  delete(place: Waiting<T>): boolean {
    return this.#classes[place.class].places.delete(place);
  }

  /** Removes and returns whoever is next. */
  take(nowMs: number): Waiting<T> | undefined {
    const [first, ...lower] = SPEECH_CLASSES.filter((name) => this.#classes[name].places.size > 0);
    if (first === undefined) return undefined;
    const next = (this.#lastOutOfOrder ? undefined : this.#overdue([first, ...lower], nowMs)) ?? first;
    this.#lastOutOfOrder = next !== first;
    this.#classes[next].sinceMs = nowMs;
    return this.#classes[next].places.take();
  }

  /** Of those whose bound has passed, the one that is most behind it. */
  #overdue(names: readonly SpeechClass[], nowMs: number): SpeechClass | undefined {
    const behindMs = (name: SpeechClass) => nowMs - this.#classes[name].sinceMs - AGING_MS[name];
    const overdue = names.filter((name) => behindMs(name) >= 0);
    return overdue.sort((a, b) => behindMs(b) - behindMs(a))[0];
  }
}
