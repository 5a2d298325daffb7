// Takes the next call of a queue, and joins it with the caller. The call of the queue may hear a program
// before. An empty queue is waited for. The caller hears ringing until the two are joined.
//
//   waits ──a call──▶ its program ──▶ bridge ──key, time limit, either side──▶ completed
//     └── time-out ──▶ no answer
import type { Call } from '../call/call.js';
import type { HandledCall } from '../call/call-handler.js';
import { asParleyError, attempt, ParleyError } from '../errors.js';
import { warningOf } from './door.js';
import type { QueuedCall } from './program-joining.js';
import type { Outcome, Scene } from './scene.js';
import type { Dequeue, VerbResult } from './verbs.js';

type Dequeued = Omit<Extract<VerbResult, { readonly of: 'dequeue' }>, 'of'>;

const WORK = { work: 'program' };

export async function dequeue(verb: Dequeue, scene: Scene): Promise<Outcome> {
  const caller = await scene.answered();
  const dequeued = await new Dequeuing(verb, caller, scene).over();
  if (scene.signal.aborted || verb.action === undefined) return 'next';
  return { follow: verb.action, result: { of: 'dequeue', ...dequeued } };
}

class Dequeuing {
  readonly #verb: Dequeue;
  readonly #caller: HandledCall;
  readonly #call: Call;
  readonly #scene: Scene;
  readonly #stop: (() => void)[] = [];
  /** Resolves when the bridge has ended, or the verb has to stop. */
  readonly #ended: Promise<void>;
  #resolveEnded: () => void = () => undefined;
  #stopRinging: (() => void) | undefined;
  /** The two hear each other since then. */
  #startedMs: number | undefined;
  #endedMs: number | undefined;

  constructor(verb: Dequeue, caller: HandledCall, scene: Scene) {
    this.#verb = verb;
    this.#caller = caller;
    this.#call = caller.call;
    this.#scene = scene;
    this.#ended = new Promise((resolve) => (this.#resolveEnded = resolve));
  }

  /** Never rejects. */
  async over(): Promise<Dequeued> {
    const { signal } = this.#scene;
    const aborted = () => this.#aborted();
    signal.addEventListener('abort', aborted, { once: true });
    this.#stop.push(
      () => signal.removeEventListener('abort', aborted),
      this.#call.observe(({ type }) => {
        if (type === 'bridge.started') this.#started();
        if (type === 'bridge.ended' && this.#startedMs !== undefined) this.#finish();
      }),
    );
    try {
      return await this.#take();
    } finally {
      this.#silence();
      for (const stop of this.#stop.splice(0)) attempt(WORK, stop);
    }
  }

  async #take(): Promise<Dequeued> {
    const { signal, time } = this.#scene;
    const untilMs = time.now() + this.#verb.waitMs;
    while (!signal.aborted) {
      this.#stopRinging ??= this.#scene.calls?.ring(this.#caller);
      try {
        const other = await this.#next();
        await this.#ended;
        return { status: 'completed', other, durationMs: this.#durationMs };
      } catch (error) {
        if (signal.aborted) break;
        if (!isEmpty(error)) {
          this.#scene.warn(warningOf(error));
          return { status: 'failed', other: undefined, durationMs: 0 };
        }
      }
      if (!(await this.#waited(untilMs - time.now()))) break;
    }
    return { status: 'no-answer', other: undefined, durationMs: 0 };
  }

  /** Returns the id of the call that was taken. Rejects as `WaitingQueues.next`. */
  async #next(): Promise<string> {
    const {
      joining,
      about: { owner },
      signal,
    } = this.#scene;
    const { queue, whisper } = this.#verb;
    const { id } = this.#call;
    let queued: QueuedCall | undefined;
    const before = async ({ call }: { readonly call: Pick<Call, 'id' | 'isClosing'> }) => {
      if (whisper === undefined) return this.#silence();
      queued = joining.queued.get(call.id);
      if (queued === undefined)
        this.#scene.warn({ message: 'no program conducts the call of the queue: it hears none' });
      await queued?.whisper(whisper, id, signal);
      if (signal.aborted) throw new ParleyError('ABORTED', 'the call that takes it is over');
      if (call.isClosing()) throw new ParleyError('NOT_FOUND', 'the call of the queue has ended');
      return this.#silence();
    };
    try {
      return (await joining.queues.next(queue, owner, { call: id, before })).call;
    } catch (error) {
      queued?.resume();
      throw error;
    }
  }

  /** False: no call has come in time. */
  async #waited(ms: number): Promise<boolean> {
    const {
      joining,
      about: { owner },
      signal,
      time,
    } = this.#scene;
    if (ms <= 0 || signal.aborted) return false;
    const stop: (() => void)[] = [];
    const isThere = await new Promise<boolean>((resolve) => {
      const aborted = () => resolve(false);
      signal.addEventListener('abort', aborted, { once: true });
      stop.push(
        () => signal.removeEventListener('abort', aborted),
        time.after(ms, aborted),
        joining.queues.onceWaiting(this.#verb.queue, owner, () => resolve(true)),
      );
    });
    for (const one of stop) one();
    return isThere;
  }

  #silence(): void {
    this.#stopRinging?.();
    this.#stopRinging = undefined;
  }

  #started(): void {
    const { time, keys } = this.#scene;
    const { mostMs, endKey } = this.#verb;
    this.#startedMs = time.now();
    let isIn = false; // keys that were pressed before are meant for nobody
    this.#stop.push(keys.take((key) => void (isIn && key === endKey && this.#part())));
    isIn = true;
    if (mostMs !== undefined) this.#stop.push(time.after(mostMs, () => this.#part()));
  }

  get #durationMs(): number {
    return this.#startedMs === undefined ? 0 : (this.#endedMs ?? this.#scene.time.now()) - this.#startedMs;
  }

  #finish(): void {
    this.#endedMs ??= this.#scene.time.now();
    this.#resolveEnded();
  }

  #aborted(): void {
    if (this.#startedMs !== undefined && this.#endedMs === undefined && !this.#call.isClosing()) this.#part();
    this.#finish();
  }

  #part(): void {
    const {
      joining,
      about: { owner },
    } = this.#scene;
    attempt(WORK, () => joining.bridges.part(this.#call.id, owner));
  }
}

function isEmpty(error: unknown): boolean {
  return asParleyError(error, 'WRONG_STATE').code === 'NOT_FOUND';
}
