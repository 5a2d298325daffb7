// Admits sentences to one engine through a bounded queue.
//
// A slot stands for one sentence that the engine works on. Its holder releases it as soon as the engine is
// free for the next sentence, which may be long before the sound has been read. sentence-queue.ts decides the
// order. A sentence with a slot may still wait within the engine. The scheduler counts it, and alone refuses
// sentences: the engine refuses none. If too many of a class wait within the engine, the scheduler refuses
// the one whose waits in the queue and within the engine are the shortest together.
import { ParleyError } from '../errors.js';
import { systemTime, type Time } from '../time.js';
import { SentenceQueue, type Waiting } from './sentence-queue.js';
import { SPEECH_CLASSES, type SpeechClass, UNHURRIED, type Urgency } from './engine.js';

interface SchedulerOptions {
  /** Named in refusals. */
  readonly engine: string;
  /** The noun for an entry in refusals: `sentence` by default. */
  readonly unit?: 'sentence' | 'sound' | undefined;
  /** Sentences the engine works on at once. */
  readonly concurrency: number;
  /** Sentences of each class (calls, WebSockets, HTTP) that may wait behind those. */
  readonly maxWaiting: number;
  /** Milliseconds that one may wait; unlimited if absent. */
  readonly maxWaitMs?: number | undefined;
  readonly time?: Time | undefined;
}

/** Releases the slot; further calls do nothing. */
export type ReleaseSlot = () => void;

/** A function that releases the slot. */
export interface EngineSlot {
  (): void;
  /**
   * True if the sentence waits within the engine, for others that have a slot as well. It counts as waiting.
   * `giveUp` is called with ENGINE_BUSY if more of its class wait there than may, and this one has waited
   * least. It is called with TIMEOUT when the sentence has waited for as long as it may, including the time
   * before it had a slot.
   */
  waits(waiting: boolean, giveUp: (error: ParleyError) => void): void;
}

interface Turn {
  readonly begin: () => void;
  readonly refuse: (error: ParleyError) => void;
}

const RECENT = 0.2; // weight of the latest sentence in the usual time of one
const MIN_RETRY_SECONDS = 1;
const MAX_RETRY_SECONDS = 60; // longest Retry-After that common clients obey

export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #time: Time;
  readonly #queue: SentenceQueue<Turn>;
  /** All waiting sentences, for `close`. */
  readonly #turns = new Set<Turn>();
  #active = 0;
  /** Sentences that have a slot and wait within the engine. */
  readonly #inside: Readonly<Record<SpeechClass, Set<SlotTimes>>> = {
    call: new Set(),
    interactive: new Set(),
    http: new Set(),
  };
  /** Moving average of the time of a sentence in milliseconds; 0 before the first. */
  #usualMs = 0;
  #closed = false;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#time = options.time ?? systemTime;
    this.#queue = new SentenceQueue(options.maxWaiting);
  }

  get active(): number {
    return this.#active;
  }

  get #unit(): string {
    return this.#options.unit ?? 'sentence';
  }

  get waiting(): number {
    return SPEECH_CLASSES.reduce((sum, kind) => sum + this.waitingOf(kind), 0);
  }

  waitingOf(kind: SpeechClass): number {
    return this.#queue.waitingOf(kind) + this.#inside[kind].size;
  }

  /**
   * Resolves with the slot. Rejects with ENGINE_BUSY when as many of its class wait as may, TIMEOUT when it
   * has waited for as long as it may, and ABORTED as soon as the signal is aborted or the scheduler closed.
   * `cost` is what the sentence counts in its client's fair share: its characters, say.
   */
  enter(signal: AbortSignal, urgency: Urgency = UNHURRIED, cost = 1): Promise<EngineSlot> {
    const { engine, concurrency, maxWaiting } = this.#options;
    if (this.#closed) return Promise.reject(new ParleyError('WRONG_STATE', `the engine ${engine} is closed`));
    if (signal.aborted) return Promise.reject(new ParleyError('ABORTED', `the ${this.#unit} was given up`));
    // A refusal would cut off a text that has begun. For others, waiting inside the engine counts like
    // waiting here.
    const inside = urgency.begun ? 0 : this.#inside[urgency.class].size;
    if (inside > 0 && inside >= maxWaiting) return Promise.reject(this.#busy(urgency.class));
    if (this.#active < concurrency) return Promise.resolve(this.#takeSlot(urgency, 0));
    return this.#wait(signal, urgency, cost);
  }

  /** Refuses all waiting sentences; held slots stay held. Idempotent. */
  close(): void {
    this.#closed = true;
    const error = new ParleyError('ABORTED', `the engine ${this.#options.engine} was closed`);
    for (const turn of this.#turns) turn.refuse(error);
  }

  #wait(signal: AbortSignal, urgency: Urgency, cost: number): Promise<EngineSlot> {
    return new Promise((resolve, reject) => {
      let forgetLimit: () => void = () => undefined;
      const leave = () => {
        this.#queue.delete(place);
        this.#turns.delete(turn);
        signal.removeEventListener('abort', giveUp);
        forgetLimit();
      };
      const turn: Turn = {
        begin: () => {
          leave();
          resolve(this.#takeSlot(urgency, this.#time.now() - nowMs));
        },
        refuse: (error) => {
          leave();
          reject(error);
        },
      };
      const giveUp = () =>
        turn.refuse(new ParleyError('ABORTED', `the ${this.#unit} was given up while waiting`));
      const nowMs = this.#time.now();
      const place: Waiting<Turn> = SentenceQueue.place(turn, urgency, cost, nowMs);
      this.#turns.add(turn);
      signal.addEventListener('abort', giveUp, { once: true });
      const leaves = this.#queue.add(place, nowMs, urgency.begun ? 0 : this.#inside[urgency.class].size);
      leaves?.item.refuse(this.#busy(urgency.class));
      const { maxWaitMs } = this.#options;
      if (maxWaitMs === undefined || leaves === place) return;
      forgetLimit = this.#time.after(maxWaitMs, () => turn.refuse(this.#waitedTooLong(maxWaitMs)));
    });
  }

  /** The refusal of a full queue, with the expected time until there is room. */
  #busy(kind: SpeechClass): ParleyError {
    const { engine, maxWaiting } = this.#options;
    const inside = SPEECH_CLASSES.reduce((sum, name) => sum + this.#inside[name].size, 0);
    const served = Math.max(1, this.#active - inside);
    const seconds = (this.#usualMs * (this.waiting + 1)) / served / 1000;
    return new ParleyError(
      'ENGINE_BUSY',
      `${maxWaiting} ${this.#unit}s of class ${kind} wait for the engine ${engine}, which is what MAX_QUEUE_DEPTH allows`,
      { retryAfterSeconds: Math.min(Math.max(seconds, MIN_RETRY_SECONDS), MAX_RETRY_SECONDS) },
    );
  }

  #waitedTooLong(ms: number): ParleyError {
    const { engine } = this.#options;
    return new ParleyError(
      'TIMEOUT',
      `the ${this.#unit} waited ${ms / 1000} s for the engine ${engine}, which is what REQUEST_TIMEOUT allows`,
    );
  }

  #takeSlot({ class: kind, begun }: Urgency, waitedMs: number): EngineSlot {
    this.#active++;
    const slot = new SlotTimes(this.#time.now(), waitedMs);
    const inside = this.#inside[kind];
    const resume = () => {
      if (inside.delete(slot)) slot.resume(this.#time.now());
    };
    let held = true;
    const release = () => {
      if (!held) return;
      held = false;
      resume();
      this.#active--;
      const nowMs = this.#time.now();
      const tookMs = slot.workedMs(nowMs);
      this.#usualMs = this.#usualMs === 0 ? tookMs : this.#usualMs + RECENT * (tookMs - this.#usualMs);
      this.#queue.take(nowMs)?.item.begin();
    };
    const waits = (waiting: boolean, giveUp: (error: ParleyError) => void) => {
      if (!waiting || !held) return resume();
      if (inside.has(slot)) return;
      const { maxWaiting, maxWaitMs = Infinity } = this.#options;
      const leftMs = Math.max(0, maxWaitMs - slot.waitedMs);
      const forgetLimit =
        leftMs === Infinity
          ? () => undefined
          : this.#time.after(leftMs, () => giveUp(this.#waitedTooLong(maxWaitMs)));
      slot.pause({ sinceMs: this.#time.now(), forgetLimit, giveUp: begun ? undefined : giveUp });
      inside.add(slot);
      // Sentences that enter together pass `enter` before the engine reports that any of them waits.
      if (!begun && inside.size > maxWaiting) this.#refuseInside(kind);
    };
    return Object.assign(release, { waits });
  }

  /** Refuses the sentence of a class that has waited least until now; of equal ones, the last that came. */
  #refuseInside(kind: SpeechClass): void {
    const nowMs = this.#time.now();
    const refusable = [...this.#inside[kind]].filter(({ giveUp }) => giveUp !== undefined);
    const [least] = refusable.reverse().sort((a, b) => a.waitedMsAt(nowMs) - b.waitedMsAt(nowMs));
    if (least === undefined) return;
    const { giveUp } = least;
    this.#inside[kind].delete(least);
    least.resume(nowMs);
    giveUp?.(this.#busy(kind));
  }
}

/** A wait inside the engine. */
interface Pause {
  readonly sinceMs: number;
  readonly forgetLimit: () => void;
  /** Refuses the sentence; undefined if a refusal would cut off a text that has begun. */
  readonly giveUp: ((error: ParleyError) => void) | undefined;
}

/** The times of a sentence that has a slot, in milliseconds. */
class SlotTimes {
  readonly #takenAtMs: number;
  /** Time in the queue and inside the engine, without the present wait. */
  waitedMs: number;
  #insideMs = 0;
  #pause: Pause | undefined;

  constructor(takenAtMs: number, waitedMs: number) {
    this.#takenAtMs = takenAtMs;
    this.waitedMs = waitedMs;
  }

  /** Undefined if the sentence may not be refused now. */
  get giveUp(): Pause['giveUp'] {
    return this.#pause?.giveUp;
  }

  pause(pause: Pause): void {
    this.#pause = pause;
  }

  resume(nowMs: number): void {
    if (this.#pause === undefined) return;
    const { sinceMs, forgetLimit } = this.#pause;
    this.#pause = undefined;
    forgetLimit();
    this.#insideMs += nowMs - sinceMs;
    this.waitedMs += nowMs - sinceMs;
  }

  /** Time in the queue and inside the engine, with the present wait. */
  waitedMsAt(nowMs: number): number {
    return this.waitedMs + (this.#pause === undefined ? 0 : nowMs - this.#pause.sinceMs);
  }

  /** Time with the slot, without the wait inside the engine. */
  workedMs(nowMs: number): number {
    return nowMs - this.#takenAtMs - this.#insideMs;
  }
}
