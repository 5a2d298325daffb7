// Calls that wait with music until somebody takes them. Those of a higher priority are taken first, and among
// equals the one that came first.
//
//   waiting ──taken──▶ bridge ──not answered──▶ waiting, at its old place
//      └──left, hung up, waited too long──▶ out
import { attempt, asParleyError, ParleyError } from '../errors.js';
import type { Log } from '../log.js';
import type { PlayedSound } from '../speaking/speech-piece.js';
import type { Time } from '../time.js';
import type { JoinEvent } from './call-events.js';
import type { HandledCall } from './call-handler.js';
import { CallMusic } from './call-music.js';
import type { MediaJoiner } from './joined-media.js';

export interface QueueSettings {
  /** Undefined: silence. */
  readonly music?: PlayedSound | undefined;
  readonly mostWaiting: number;
  /** A call that waits for longer leaves the queue; 0: no limit. */
  readonly timeoutMs: number;
  /** Spoken at first and whenever the place changes; `{position}` stands for it. Undefined: nothing. */
  readonly announce?: string | undefined;
}

export type QueueReason = 'taken' | 'left' | 'hung up' | 'timeout' | 'failed' | 'server closing';

interface QueueParts {
  readonly joiner: Pick<MediaJoiner, 'openMixer'>;
  readonly tell: (handled: HandledCall, event: JoinEvent) => void;
  readonly time: Time;
  readonly log: Log;
  /** Milliseconds since 1970. */
  readonly unixMs: () => number;
}

export interface WaitingView {
  readonly call: string;
  readonly priority: number;
  /** From 1. */
  readonly position: number;
  /** Milliseconds since 1970. */
  readonly joinedAt: number;
  readonly waitedMs: number;
}

/** A call that waits, or was taken and may come back. */
export interface Waiting {
  readonly handled: HandledCall;
  readonly priority: number;
  readonly joinedAt: number;
  readonly sinceMs: number;
  /** Number of the call in this queue, in the order in which they came. */
  readonly number: number;
  /** Fate of the call when it has waited for too long. */
  readonly after: 'stay' | 'hangup';
  /** The place that was told last. */
  told: number;
  /** The place that was spoken last, and when. */
  spoken: number;
  spokenMs: number;
  stop: (() => void)[];
}

const WORK = { work: 'queue' };
const SPEAK_AGAIN_MS = 20_000; // a place that changes sooner is not spoken

export class WaitingQueue {
  readonly name: string;
  /** Name of the API key that it belongs to; undefined: to every key. */
  readonly owner: string | undefined;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** Resolves when nothing of it is left. */
  readonly ended: Promise<void>;
  readonly #settings: QueueSettings;
  readonly #parts: QueueParts;
  readonly #music: CallMusic | undefined;
  /** In the order in which they are taken. */
  readonly #waiting: Waiting[] = [];
  /** Calls that were taken and may come back. */
  #lent = 0;
  #count = 0;
  #isOver = false;
  #resolveEnded!: () => void;

  /** Throws what `openMixer` throws. */
  constructor(name: string, owner: string | undefined, settings: QueueSettings, parts: QueueParts) {
    this.name = name;
    this.owner = owner;
    this.createdAt = parts.unixMs();
    this.#settings = settings;
    this.#parts = parts;
    this.ended = new Promise((resolve) => (this.#resolveEnded = resolve));
    const { music } = settings;
    if (music !== undefined) this.#music = new CallMusic(parts.joiner, music);
  }

  get size(): number {
    return this.#waiting.length;
  }

  get mostWaiting(): number {
    return this.#settings.mostWaiting;
  }

  get music(): PlayedSound | undefined {
    return this.#settings.music;
  }

  get waiting(): readonly WaitingView[] {
    const nowMs = this.#parts.time.now();
    return this.#waiting.map(({ handled, priority, joinedAt, sinceMs }, index) => ({
      call: handled.call.id,
      priority,
      position: index + 1,
      joinedAt,
      waitedMs: nowMs - sinceMs,
    }));
  }

  /** `left` is called once, when the call waits no more. Throws QUEUE_FULL. */
  add(
    handled: HandledCall,
    { priority, after }: { readonly priority: number; readonly after: 'stay' | 'hangup' },
    left: () => void,
  ): void {
    const { time, unixMs } = this.#parts;
    if (this.#isOver) throw new ParleyError('CALL_STATE', 'the queue has ended');
    if (this.#waiting.length + this.#lent >= this.#settings.mostWaiting)
      throw new ParleyError('QUEUE_FULL', `${this.#settings.mostWaiting} calls wait in this queue already`);
    const sinceMs = time.now();
    const told = { number: ++this.#count, told: 0, spoken: 0, spokenMs: -Infinity };
    this.#enter({ handled, priority, after, joinedAt: unixMs(), sinceMs, ...told, stop: [] }, left);
  }

  /** Takes the next call, which waits no more; undefined if none waits. `giveBack` or `settle` follows. */
  take(): Waiting | undefined {
    const [next] = this.#waiting;
    if (next === undefined) return undefined;
    this.#lent++;
    this.#out(next);
    this.#tellPlaces();
    return next;
  }

  /** The call that was taken is in good hands. */
  settle(waiting: Waiting): void {
    this.#lent--;
    this.#tellLeft(waiting, 'taken');
    this.#endIfEmpty();
  }

  /** The call was not joined: it waits again at its old place, unless it has ended or can hear no music. */
  giveBack(waiting: Waiting, left: () => void): void {
    this.#lent--;
    if (this.#isOver || waiting.handled.call.isClosing()) {
      left();
      this.#tellLeft(waiting, 'hung up');
      return this.#endIfEmpty();
    }
    try {
      return this.#enter(waiting, left);
    } catch (error) {
      this.#failed(waiting, error);
      return this.#tellLeft(waiting, 'failed');
    }
  }

  /** The call goes on without waiting. Throws NOT_FOUND for a call that does not wait. */
  remove(id: string, reason: QueueReason): void {
    const waiting = this.#waiting.find(({ handled }) => handled.call.id === id);
    if (waiting === undefined) throw new ParleyError('NOT_FOUND', 'this call does not wait in the queue');
    this.#leave(waiting, reason);
  }

  /** Idempotent. */
  end(reason: QueueReason): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const waiting of this.#waiting.splice(0)) this.#leave(waiting, reason);
    this.#music?.close();
    this.#resolveEnded();
  }

  #enter(waiting: Waiting, left: () => void): void {
    const { call, leg } = waiting.handled;
    const { timeoutMs } = this.#settings;
    try {
      waiting.stop.push(left);
      if (leg !== undefined) waiting.stop.push(leg.suspendSilence());
      if (this.#music !== undefined) waiting.stop.push(this.#music.add(call));
    } catch (error) {
      this.#out(waiting);
      this.#endIfEmpty();
      throw error;
    }
    if (timeoutMs > 0) {
      const leftMs = Math.max(0, waiting.sinceMs + timeoutMs - this.#parts.time.now());
      waiting.stop.push(this.#parts.time.after(leftMs, () => this.#timedOut(waiting)));
    }
    const at = this.#waiting.findIndex((other) => isBefore(waiting, other));
    this.#waiting.splice(at < 0 ? this.#waiting.length : at, 0, waiting);
    void call.closed.then((reason) => {
      if (!this.#waiting.includes(waiting)) return;
      this.#leave(waiting, reason === 'server closing' ? reason : 'hung up');
    });
    this.#tellPlaces();
  }

  #timedOut(waiting: Waiting): void {
    this.#leave(waiting, 'timeout');
    if (waiting.after === 'hangup')
      waiting.handled.hangUp().catch((error: unknown) => this.#failed(waiting, error));
  }

  #leave(waiting: Waiting, reason: QueueReason): void {
    this.#out(waiting);
    this.#tellLeft(waiting, reason);
    if (this.#isOver) return;
    this.#tellPlaces();
    this.#endIfEmpty();
  }

  #out(waiting: Waiting): void {
    const at = this.#waiting.indexOf(waiting);
    if (at >= 0) this.#waiting.splice(at, 1);
    for (const stop of waiting.stop.splice(0)) attempt(WORK, stop);
  }

  #endIfEmpty(): void {
    if (this.#waiting.length === 0 && this.#lent === 0) this.end('left');
  }

  #tellLeft({ handled, sinceMs }: Waiting, reason: QueueReason): void {
    const waitedMs = Math.round(this.#parts.time.now() - sinceMs);
    this.#parts.tell(handled, { type: 'queue.left', queue: this.name, reason, waitedMs });
  }

  #tellPlaces(): void {
    for (const [index, waiting] of this.#waiting.entries()) {
      const position = index + 1;
      if (waiting.told === position) continue;
      const type = waiting.told === 0 ? 'queue.joined' : 'queue.position';
      waiting.told = position;
      this.#parts.tell(waiting.handled, { type, queue: this.name, position });
      this.#speak(waiting, position);
    }
  }

  #speak(waiting: Waiting, position: number): void {
    const { announce } = this.#settings;
    const nowMs = this.#parts.time.now();
    const isSoon = nowMs - waiting.spokenMs < SPEAK_AGAIN_MS;
    if (announce === undefined || isSoon || waiting.spoken === position) return;
    [waiting.spoken, waiting.spokenMs] = [position, nowMs];
    try {
      waiting.handled.call.speak(announce.replaceAll('{position}', String(position)));
    } catch (error) {
      this.#failed(waiting, error);
    }
  }

  #failed({ handled }: Waiting, error: unknown): void {
    const { code } = asParleyError(error, 'WRONG_STATE');
    this.#parts.log.warn({ call: handled.call.id, queue: this.name, code }, 'call in a queue not served');
  }
}

function isBefore(one: Waiting, other: Waiting): boolean {
  if (one.priority !== other.priority) return one.priority > other.priority;
  return one.number < other.number;
}
