// Orders the sentences that wait for an engine. It is fair between clients and classes, and has no timers and
// no I/O.
//
// A sentence that has a slot may wait again within the native engine, which alone knows when its memory and
// the pace of the live listeners leave room. That engine orders by deadline only, and gets the bound of HTTP
// and of prompts as a deadline (agingMs).
//
//   classes   calls, then WebSockets, then HTTP, while each is served at least once within its bound
//   calls     the earliest deadline: the call whose sound ends first
//   others    fair between clients, then the earliest deadline (FairQueue)
//   prompts   prepared by the server, after all classes; they count as HTTP
//
// No sentence waits for ever. A deadline is never before its arrival, so a call's sentence is passed only by
// sentences that arrive before its deadline. A class without service for its bound gets the next slot for one
// sentence; of several overdue classes the most overdue one is first.
import { SPEECH_CLASSES, type SpeechClass, type Urgency } from './engine.js';

type QueueName = SpeechClass | 'prepared';
const QUEUES: readonly QueueName[] = [...SPEECH_CLASSES, 'prepared'];
const AGING_MS: Readonly<Record<QueueName, number>> = {
  call: Infinity,
  interactive: 1000,
  http: 2000,
  prepared: 10_000,
};

const MAX_AHEAD_MS = 30_000; // upper bound of deadlines, which bounds how long later sentences may pass one

export interface Waiting<T> extends Place {
  readonly class: SpeechClass;
  readonly queue: QueueName;
  readonly item: T;
}

function queueOf({ class: kind, prepared = false }: Pick<Urgency, 'class' | 'prepared'>): QueueName {
  return prepared ? 'prepared' : kind;
}

/** Milliseconds after which a waiting sentence goes before those of the classes above its own. */
export function agingMs(urgency: Pick<Urgency, 'class' | 'prepared'>): number {
  return AGING_MS[queueOf(urgency)];
}

interface ClassQueue<T> {
  readonly places: FairQueue<Waiting<T>>;
  /** Start of the current wait without service. */
  sinceMs: number;
}

export class SentenceQueue<T> {
  readonly #maxWaiting: number;
  readonly #queues: Readonly<Record<QueueName, ClassQueue<T>>>;
  /** The last slot went to an overdue class before those above it. */
  #lastOutOfOrder = false;

  /** `maxWaiting` applies to each class, so that no other class can fill the room of calls. */
  constructor(maxWaiting: number) {
    const open = () => ({ places: new FairQueue<Waiting<T>>(), sinceMs: 0 });
    this.#maxWaiting = maxWaiting;
    this.#queues = { call: open(), interactive: open(), http: open(), prepared: open() };
  }

  get size(): number {
    return QUEUES.reduce((sum, name) => sum + this.#queues[name].places.size, 0);
  }

  waitingOf(name: SpeechClass): number {
    const prepared = name === 'http' ? this.#queues.prepared.places.size : 0;
    return this.#queues[name].places.size + prepared;
  }

  /** The place of a sentence; `cost` counts in its client's share. */
  static place<T>(item: T, urgency: Urgency, cost: number, nowMs: number): Waiting<T> {
    const { begun, deadlineMs } = urgency;
    return {
      item,
      begun,
      class: urgency.class,
      queue: queueOf(urgency),
      // Calls need no more sound than their listener hears, so deadlines alone are fair to them.
      client: urgency.class === 'call' ? '' : urgency.client,
      deadlineMs: Math.min(Math.max(deadlineMs, nowMs), nowMs + MAX_AHEAD_MS),
      cost: Math.max(1, cost),
    };
  }

  /**
   * Adds a sentence. Returns undefined if there was room, otherwise the sentence to refuse, which may be the
   * new one. `elsewhere`: sentences of its class that wait inside the engine; they count as waiting.
   */
  add(place: Waiting<T>, nowMs: number, elsewhere = 0): Waiting<T> | undefined {
    const queue = this.#queues[place.queue];
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
    return this.#queues[place.queue].places.delete(place);
  }

  /** Removes and returns the next sentence. */
  take(nowMs: number): Waiting<T> | undefined {
    const [first, ...lower] = QUEUES.filter((name) => this.#queues[name].places.size > 0);
    if (first === undefined) return undefined;
    const next = (this.#lastOutOfOrder ? undefined : this.#overdue([first, ...lower], nowMs)) ?? first;
    this.#lastOutOfOrder = next !== first;
    this.#queues[next].sinceMs = nowMs;
    return this.#queues[next].places.take();
  }

  /** The queue that exceeds its bound most. */
  #overdue(names: readonly QueueName[], nowMs: number): QueueName | undefined {
    const behindMs = (name: QueueName) => nowMs - this.#queues[name].sinceMs - AGING_MS[name];
    const overdue = names.filter((name) => behindMs(name) >= 0);
    return overdue.sort((a, b) => behindMs(b) - behindMs(a))[0];
  }
}

export interface Place {
  readonly client: string;
  readonly deadlineMs: number;
  readonly begun: boolean;
  /** Above 0; in any unit, the same for all. */
  readonly cost: number;
}

interface Share<P> {
  /** Service of the client, on the scale of `#served`. */
  served: number;
  readonly places: P[]; // in order of arrival
}

const MAX_CLIENTS = 1024; // remembered while they wait for nothing

/**
 * The waiting sentences of one class.
 *
 *   between clients   the client with the least service, counted in cost (start-time fair queueing)
 *   equal service     the earliest deadline
 *   within a client   the earliest deadline, then the order of arrival
 *
 * A client's count is never below that of the client served last, so idle time earns no credit. While two
 * clients wait, their service differs by at most the cost of two sentences.
 */
export class FairQueue<P extends Place> {
  readonly #shares = new Map<string, Share<P>>();
  /** The count of the client that was served last, before it was. */
  #served = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  waitingOf(client: string): number {
    return this.#shares.get(client)?.places.length ?? 0;
  }

  add(place: P): void {
    const share = this.#shares.get(place.client) ?? { served: this.#served, places: [] };
    if (share.places.length === 0) share.served = Math.max(share.served, this.#served);
    this.#shares.set(place.client, share);
    share.places.push(place);
    this.#size++;
  }

  /** False if it does not wait here. */
  delete(place: P): boolean {
    const places = this.#shares.get(place.client)?.places ?? [];
    const index = places.indexOf(place);
    if (index < 0) return false;
    places.splice(index, 1);
    this.#size--;
    this.#forget();
    return true;
  }

  /** Removes and returns the next one. */
  take(): P | undefined {
    let next: { share: Share<P>; place: P } | undefined;
    for (const share of this.#shares.values()) {
      const place = soonest(share.places);
      if (place === undefined) continue;
      const before =
        next === undefined ||
        share.served < next.share.served ||
        (share.served === next.share.served && place.deadlineMs < next.place.deadlineMs);
      if (before) next = { share, place };
    }
    if (next === undefined) return undefined;
    this.#served = next.share.served;
    next.share.served += next.place.cost;
    this.delete(next.place);
    return next.place;
  }

  /**
   * The sentence to refuse for `newcomer` in a full queue: of the client with most places, the one with the
   * latest deadline that has not begun. A newcomer that has not begun replaces only a client with more places
   * than its own would have.
   */
  givesWay(newcomer: P): P | undefined {
    let most: { waiting: number; place: P } | undefined;
    for (const { places } of this.#shares.values()) {
      const place = latest(places.filter(({ begun }) => !begun));
      if (place === undefined || places.length <= (most?.waiting ?? 0)) continue;
      most = { waiting: places.length, place };
    }
    if (most === undefined || newcomer.begun) return most?.place;
    return most.waiting > this.waitingOf(newcomer.client) + 1 ? most.place : undefined;
  }

  #forget(): void {
    if (this.#size === 0) {
      this.#served = 0;
      this.#shares.clear();
      return;
    }
    for (const [client, share] of this.#shares) {
      if (share.places.length > 0) continue;
      if (share.served <= this.#served || this.#shares.size > MAX_CLIENTS) this.#shares.delete(client);
    }
  }
}

function soonest<P extends Place>(places: readonly P[]): P | undefined {
  let best: P | undefined;
  for (const place of places) if (best === undefined || place.deadlineMs < best.deadlineMs) best = place;
  return best;
}

function latest<P extends Place>(places: readonly P[]): P | undefined {
  let best: P | undefined;
  for (const place of places) if (best === undefined || place.deadlineMs >= best.deadlineMs) best = place;
  return best;
}
