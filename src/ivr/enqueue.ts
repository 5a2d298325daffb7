// Has the caller wait in a queue with music or a program, until another call takes it.
//
//   waits ──taken──▶ hears the program of the taker, if there is one ──▶ bridge ──its end──▶ bridged
//     └── leave, hang-up, another program, an error ──▶ out
//
// A program of a wait begins anew when it ends. A caller who hangs up, or whose program is replaced, leaves
// at once; its action is told then, and its answer is ignored.
import type { Call } from '../call/call.js';
import type { CallEvent } from '../call/call-events.js';
import { asParleyError, attempt, isAborted } from '../errors.js';
import { warningOf } from './door.js';
import type { QueuedCall } from './program-joining.js';
import type { Outcome, Scene } from './scene.js';
import type { Enqueue, QueuePlace, QueueResult, Target, Verb, VerbResult } from './verbs.js';
import { WaitSound } from './wait-sound.js';

const WORK = { work: 'program' };
const ALLOWED: readonly Verb['verb'][] = ['say', 'play', 'pause', 'gather', 'redirect', 'hangup', 'leave'];
const WHISPER: readonly Verb['verb'][] = ['say', 'play', 'pause', 'redirect'];

export async function enqueue(verb: Enqueue, scene: Scene): Promise<Outcome> {
  const { call } = await scene.answered();
  const { action, queue } = verb;
  const waiting = new EnqueuedCall(verb, call, scene);
  const result = await waiting.over();
  const told: VerbResult = { of: 'enqueue', queue, result, waitedMs: waiting.waitedMs };
  const isLate = scene.signal.aborted || result === 'hangup';
  if (isLate && action !== undefined) scene.door.tell(action, { of: 'result', result: told });
  if (isLate) return result === 'hangup' ? 'end' : 'next';
  return action === undefined ? 'next' : { follow: action, result: told };
}

class EnqueuedCall implements QueuedCall {
  readonly #verb: Enqueue;
  readonly #call: Call;
  readonly #scene: Scene;
  readonly #sinceMs: number;
  readonly #stop: (() => void)[] = [];
  readonly #result: Promise<QueueResult>;
  #resolve: (result: QueueResult) => void = () => undefined;
  #isOver = false;
  #isTaken = false;
  #isBridged = false;
  /** Until the call was taken. */
  #waitedMs: number | undefined;
  #sound: WaitSound | undefined;
  #hearing: Promise<void> = Promise.resolve();

  constructor(verb: Enqueue, call: Call, scene: Scene) {
    this.#verb = verb;
    this.#call = call;
    this.#scene = scene;
    this.#sinceMs = scene.time.now();
    this.#result = new Promise((resolve) => (this.#resolve = resolve));
  }

  get waitedMs(): number {
    return this.#waitedMs ?? this.#scene.time.now() - this.#sinceMs;
  }

  /** Resolves when the call waits no more, and is in no bridge of the queue. Never rejects. */
  async over(): Promise<QueueResult> {
    const { joining, signal } = this.#scene;
    const { id } = this.#call;
    const aborted = () => this.#aborted();
    signal.addEventListener('abort', aborted, { once: true });
    // A call that waits for this one may take it at once.
    joining.queued.set(id, this);
    this.#stop.push(
      () => signal.removeEventListener('abort', aborted),
      () => void joining.queued.delete(id),
      this.#call.observe((event) => this.#observed(event)),
    );
    await this.#join();
    if (signal.aborted) this.#aborted();
    this.#hear();
    return this.#result;
  }

  async whisper(target: Target, by: string, signal: AbortSignal): Promise<void> {
    this.#taken();
    await this.#hearing;
    const result = { of: 'whisper', queue: this.#verb.queue, waitedMs: this.waitedMs, by } as const;
    await this.#scene.within({ target, result, allowed: WHISPER, signal });
  }

  resume(): void {
    this.#isTaken = false;
    this.#waitedMs = undefined;
    this.#hear();
  }

  async #join(): Promise<void> {
    const {
      joining,
      about: { owner },
      signal,
    } = this.#scene;
    const { queue, mostWaiting, wait } = this.#verb;
    try {
      const place = this.#queueThere();
      if (place !== undefined && place.size >= mostWaiting) return this.#done('queue-full');
      const request = { mostWaiting, ...(wait === 'music' ? {} : { music: 'none' }) };
      await joining.queues.join(queue, owner, this.#call.id, request);
    } catch (error) {
      if (isAborted(error) || signal.aborted) return;
      const { code } = asParleyError(error, 'WRONG_STATE');
      this.#scene.warn(warningOf(error));
      this.#done(code === 'QUEUE_FULL' ? 'queue-full' : 'error');
    }
  }

  /** Begins the program of the wait, or the music if the queue has none: its first call decided that. */
  #hear(): void {
    const { wait } = this.#verb;
    if (wait === 'silence' || this.#isOver || this.#isTaken || this.#isBridged) return;
    if (wait === 'music' && this.#queueThere()?.hasMusic !== false) return;
    const sound = new WaitSound({ call: this.#call, scene: this.#scene, allowed: ALLOWED });
    this.#sound = sound;
    this.#hearing = wait === 'music' ? sound.music() : this.#hearAll(sound, wait);
  }

  /** Performs the program again and again. */
  async #hearAll(sound: WaitSound, wait: Target): Promise<void> {
    while (!sound.isStopped) {
      const end = await sound.perform(wait, { of: 'wait', place: this.#place() });
      if (sound.isStopped) return;
      if (end === 'failed') return sound.music();
      if (end === 'leave' || end === 'hangup') return this.#out(end);
    }
  }

  #place(): QueuePlace | undefined {
    const there = this.#queueThere();
    const { id } = this.#call;
    const own = there?.waiting.find(({ call }) => call === id);
    if (there === undefined || own === undefined) return undefined;
    const { waiting, size, mostWaiting } = there;
    const averageMs = waiting.reduce((sum, { waitedMs }) => sum + waitedMs, 0) / size;
    const { position, waitedMs } = own;
    return { queue: this.#verb.queue, position, waitedMs, averageMs, size, mostWaiting };
  }

  #queueThere() {
    const {
      joining,
      about: { owner },
    } = this.#scene;
    try {
      const queue = joining.queues.get(this.#verb.queue, owner);
      return { ...queue, size: queue.waiting.length };
    } catch (error) {
      if (asParleyError(error, 'WRONG_STATE').code === 'NOT_FOUND') return undefined;
      throw error;
    }
  }

  #observed(event: CallEvent): void {
    if (event.type === 'bridge.started') {
      this.#isBridged = true;
      this.#taken();
      // Keys of the bridge are for the other call.
      this.#stop.push(this.#scene.keys.take(() => undefined));
    }
    if (event.type === 'bridge.ended' && this.#isBridged) this.#done('bridged');
    if (event.type !== 'queue.left' || event.queue !== this.#verb.queue) return;
    if (event.reason === 'left' || event.reason === 'timeout') this.#done('leave');
    else if (event.reason !== 'taken') this.#done('system-error');
    else if (!this.#isBridged) this.#done('error'); // a request has joined it to something else
  }

  #taken(): void {
    this.#waitedMs ??= this.#scene.time.now() - this.#sinceMs;
    this.#isTaken = true;
    this.#sound?.stop();
  }

  /** Another program takes the place of this one, or the call is over. */
  #aborted(): void {
    const {
      joining,
      about: { owner },
    } = this.#scene;
    const isBridged = this.#isBridged;
    if (this.#call.isClosing()) return this.#done(isBridged ? 'bridged' : 'hangup');
    this.#done(isBridged ? 'redirected-from-bridged' : 'redirected');
    if (isBridged) attempt(WORK, () => joining.bridges.part(this.#call.id, owner));
    else this.#leaveQueue();
  }

  #out(result: QueueResult): void {
    this.#done(result);
    this.#leaveQueue();
  }

  #leaveQueue(): void {
    const {
      joining,
      about: { owner },
    } = this.#scene;
    const { id } = this.#call;
    attempt(WORK, () => {
      const isIn = this.#queueThere()?.waiting.some(({ call }) => call === id) === true;
      if (isIn) joining.queues.leave(this.#verb.queue, owner, id);
    });
  }

  #done(result: QueueResult): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#waitedMs ??= this.#scene.time.now() - this.#sinceMs;
    this.#sound?.stop();
    for (const stop of this.#stop.splice(0)) attempt(WORK, stop);
    this.#resolve(result);
  }
}
