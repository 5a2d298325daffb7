// The order in which sentences reach an engine, as data without time or I/O of
// its own.
//
//   classes   calls, then WebSockets, then HTTP, while each is served at least once in its bound
//   calls     the earliest deadline: the call that would run dry first
//   others    fair between clients, then the earliest deadline (see fair-queue.ts)
//   prompts   that the server prepares come after all classes; they count as HTTP
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

/** The same for a prompt that the server prepares. */
const PREPARED_AGING_MS = 10_000;

type Line = SpeechClass | 'prepared';
const LINES: readonly Line[] = [...SPEECH_CLASSES, 'prepared'];
const LINE_AGING_MS: Readonly<Record<Line, number>> = { ...AGING_MS, prepared: PREPARED_AGING_MS };

const MAX_AHEAD_MS = 30_000; // a deadline beyond counts as this: nobody who comes later is before it for longer

export interface Waiting<T> extends Place {
  readonly class: SpeechClass;
  readonly prepared: boolean;
  readonly item: T;
}

interface ClassQueue<T> {
  readonly places: FairQueue<Waiting<T>>;
  /** Since when it has been waiting without being served. */
  sinceMs: number;
}

export class SentenceQueue<T> {
  readonly #maxWaiting: number;
  readonly #lines: Readonly<Record<Line, ClassQueue<T>>>;
  /** The last slot went to an overdue class before those above it. */
  #lastOutOfOrder = false;

  /** `maxWaiting` is of each class: no other can fill the room of calls. */
  constructor(maxWaiting: number) {
    const open = () => ({ places: new FairQueue<Waiting<T>>(), sinceMs: 0 });
    this.#maxWaiting = maxWaiting;
    this.#lines = { call: open(), interactive: open(), http: open(), prepared: open() };
  }

  get size(): number {
    return LINES.reduce((sum, name) => sum + this.#lines[name].places.size, 0);
  }

  waitingOf(name: SpeechClass): number {
    const prepared = name === 'http' ? this.#lines.prepared.places.size : 0;
    return this.#lines[name].places.size + prepared;
  }

  /** How a sentence would wait; `cost` is what it counts in its client's share. */
  static place<T>(item: T, urgency: Urgency, cost: number, nowMs: number): Waiting<T> {
    const { begun, deadlineMs, prepared = false } = urgency;
    return {
      item,
      begun,
      class: urgency.class,
      prepared,
      // Calls cannot ask for more than their listener hears, so deadlines alone are fair to them.
      client: urgency.class === 'call' ? '' : urgency.client,
      deadlineMs: Math.min(Math.max(deadlineMs, nowMs), nowMs + MAX_AHEAD_MS),
      cost: Math.max(1, cost),
    };
  }

  /**
   * Undefined when there was room; otherwise who has to leave for it, which is itself where nobody gives way.
   * `elsewhere` is the number of its class that wait in the engine: they take room, too.
   */
  add(place: Waiting<T>, nowMs: number, elsewhere = 0): Waiting<T> | undefined {
    const queue = this.#lineOf(place);
    if (queue.places.size === 0) queue.sinceMs = nowMs;
    let leaves: Waiting<T> | undefined;
    if (queue.places.size + elsewhere >= this.#maxWaiting) {
      leaves = queue.places.givesWay(place) ?? place;
      if (leaves === place) return place;
      queue.places.delete(leaves);
    }
    queue.places.add(place);
    return leaves;
  }

  delete(place: Waiting<T>): boolean {
    return this.#lineOf(place).places.delete(place);
  }

  /** Removes and returns whoever is next. */
  take(nowMs: number): Waiting<T> | undefined {
    const [first, ...lower] = LINES.filter((name) => this.#lines[name].places.size > 0);
    if (first === undefined) return undefined;
    const next = (this.#lastOutOfOrder ? undefined : this.#overdue([first, ...lower], nowMs)) ?? first;
    this.#lastOutOfOrder = next !== first;
    this.#lines[next].sinceMs = nowMs;
    return this.#lines[next].places.take();
  }

  /** Of those whose bound has passed, the one that is most behind it. */
  #overdue(names: readonly Line[], nowMs: number): Line | undefined {
    const behindMs = (name: Line) => nowMs - this.#lines[name].sinceMs - LINE_AGING_MS[name];
    const overdue = names.filter((name) => behindMs(name) >= 0);
    return overdue.sort((a, b) => behindMs(b) - behindMs(a))[0];
  }

  #lineOf(place: Waiting<T>): ClassQueue<T> {
    return this.#lines[place.prepared ? 'prepared' : place.class];
  }
}
