// The queues of this server, by the API key that they belong to and by name. A queue is made by the first
// call that waits in it, and is gone with the last one.
import { ParleyError } from '../errors.js';
import { checkTarget, type Bridges, type BridgeView, type JoiningParts, type JoinTarget } from './bridges.js';
import type { BridgeSettings } from './bridge.js';
import type { HandledCall } from './call-handler.js';
import { checkJoinable } from './joined-media.js';
import { NamedOfKeys } from './named-of-keys.js';
import type { PlayedSound } from '../speaking/speech-piece.js';
import { WaitingQueue, type WaitingView, type Waiting } from './waiting-queue.js';

/** The first call decides them for the queue, apart from `priority` and `after`. */
export interface QueueRequest {
  /** Calls of a higher one are taken first; 0 if absent. */
  readonly priority?: number | undefined;
  /** Fate of the call when it has waited for too long; `stay` if absent. */
  readonly after?: 'stay' | 'hangup' | undefined;
  /** Name of a sound, or `none`; absent: the default tune. */
  readonly music?: string | undefined;
  readonly timeoutMs?: number | undefined;
  readonly mostWaiting?: number | undefined;
  readonly announce?: string | undefined;
}

/** The call or address that takes the next call. */
export interface NextRequest extends JoinTarget {
  readonly endKey?: string | undefined;
  /** Performed once the call was taken, before the two are joined. Rejected: the call waits again. */
  readonly before?: ((waiting: HandledCall) => Promise<void>) | undefined;
}

export interface QueueView {
  readonly name: string;
  readonly mostWaiting: number;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** False: who waits hears what its own application plays. */
  readonly hasMusic: boolean;
  readonly waiting: readonly WaitingView[];
}

interface QueuesParts extends JoiningParts {
  readonly bridges: Pick<Bridges, 'join' | 'outcomeOf'>;
  /** Milliseconds since 1970. */
  readonly unixMs: () => number;
}

/** Waits for a call in a queue that is empty. */
interface Taker {
  readonly name: string;
  readonly key: string | undefined;
  readonly notify: () => void;
}

export const MOST_WAITING = 1000;
const NO_MUSIC = 'none';

export class WaitingQueues {
  readonly #parts: QueuesParts;
  readonly #queues = new NamedOfKeys<WaitingQueue>();
  /** Takers that wait for a call in a queue, in the order in which they came. */
  readonly #takers = new Set<Taker>();
  #isClosed = false;

  constructor(parts: QueuesParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#queues.size;
  }

  /**
   * A call waits, in a queue that is made if there is none of this name. Rejects with NOT_FOUND, CALL_STATE,
   * INVALID_FIELD and QUEUE_FULL, and as `JoinSounds.music` does.
   */
  async join(name: string, key: string | undefined, call: string, request: QueueRequest): Promise<QueueView> {
    const { openCalls, sounds } = this.#parts;
    this.#check(openCalls.find(call, key));
    const known = this.#queues.find(key, name);
    const music =
      known !== undefined || request.music === NO_MUSIC ? undefined : await sounds.music(request.music);
    return this.enter(openCalls.find(call, key), key, name, request, music);
  }

  /** As `join`, with a call and a sound that are known. */
  enter(
    handled: HandledCall,
    key: string | undefined,
    name: string,
    request: QueueRequest,
    music: PlayedSound | undefined,
  ): QueueView {
    this.#check(handled);
    const queue = this.#queues.find(key, name) ?? this.#make(name, key, request, music);
    const leave = this.#enterBook(handled);
    try {
      const { priority = 0, after = 'stay' } = request;
      queue.add(handled, { priority, after }, leave);
    } catch (error) {
      leave();
      if (queue.size === 0) queue.end('failed');
      throw error;
    }
    this.#callTaker(queue);
    return viewOf(queue);
  }

  /**
   * Calls `action` once, when a call waits in the queue and nobody before has been called for it, unless the
   * returned function is called before. The queue need not be there yet. Throws INVALID_FIELD.
   */
  onceWaiting(name: string, key: string | undefined, action: () => void): () => void {
    const taker: Taker = {
      name,
      key,
      notify: () => {
        this.#takers.delete(taker);
        action();
      },
    };
    const queue = this.#queues.find(key, name);
    this.#takers.add(taker);
    if (queue !== undefined) this.#callTaker(queue);
    return () => void this.#takers.delete(taker);
  }

  /** The queues of this key. */
  list(key: string | undefined): readonly QueueView[] {
    return this.#queues.list(key).map(viewOf);
  }

  /** Throws NOT_FOUND. */
  get(name: string, key: string | undefined): QueueView {
    return viewOf(this.#queue(name, key));
  }

  /** The call goes on without waiting. Throws NOT_FOUND. */
  leave(name: string, key: string | undefined, call: string): void {
    this.#queue(name, key).remove(call, 'left');
  }

  /**
   * Joins the next call with another one, or with one that is placed; if nobody answers that, the call waits
   * again at its old place. Rejects with NOT_FOUND if nobody waits, and as `Bridges.join` does: the call then
   * goes on waiting.
   */
  async next(name: string, key: string | undefined, request: NextRequest): Promise<BridgeView> {
    checkTarget(request);
    const queue = this.#queue(name, key);
    if (request.call !== undefined) {
      const { call } = this.#parts.openCalls.find(request.call, key);
      checkJoinable(call, 'call');
      this.#parts.book.check(call.id, 'call');
    }
    const waiting = queue.take();
    if (waiting === undefined) throw new ParleyError('NOT_FOUND', 'nobody waits in this queue');
    const giveBack = () => this.#giveBack(queue, waiting);
    try {
      await request.before?.(waiting.handled);
      const view = await this.#parts.bridges.join(waiting.handled, key, request, settingsOf(queue, request));
      this.#settled(queue, waiting, view, giveBack);
      return view;
    } catch (error) {
      giveBack();
      throw error;
    }
  }

  /** Idempotent. */
  close(): void {
    this.#isClosed = true;
    for (const queue of this.#queues.all()) queue.end('server closing');
  }

  #settled(queue: WaitingQueue, waiting: Waiting, view: BridgeView, giveBack: () => void): void {
    if (view.state === 'connected') return queue.settle(waiting);
    void this.#parts.bridges.outcomeOf(view.call).then((wasAnswered) => {
      if (wasAnswered || this.#isClosed) queue.settle(waiting);
      else giveBack();
    });
  }

  /** The call waits again, unless it has ended or was joined to something else in between. */
  #giveBack(queue: WaitingQueue, waiting: Waiting): void {
    let left: () => void;
    try {
      left = this.#enterBook(waiting.handled);
    } catch {
      return queue.settle(waiting);
    }
    queue.giveBack(waiting, left);
    this.#callTaker(queue);
  }

  #callTaker(queue: WaitingQueue): void {
    if (queue.size === 0) return;
    const isOf = ({ key, name }: Taker) => this.#queues.find(key, name) === queue;
    [...this.#takers].find(isOf)?.notify();
  }

  #queue(name: string, key: string | undefined): WaitingQueue {
    const queue = this.#queues.find(key, name);
    if (queue === undefined) throw new ParleyError('NOT_FOUND', 'there is no queue of this name');
    return queue;
  }

  #check({ call }: HandledCall): void {
    if (this.#isClosed) throw new ParleyError('CALL_CLOSED', 'the server is closing');
    checkJoinable(call, 'call');
    this.#parts.book.check(call.id, 'call');
  }

  #enterBook({ call }: HandledCall): () => void {
    return this.#parts.book.enter(call.id, 'a queue', 'call');
  }

  #make(
    name: string,
    key: string | undefined,
    { timeoutMs = 0, mostWaiting = MOST_WAITING, announce }: QueueRequest,
    music: PlayedSound | undefined,
  ): WaitingQueue {
    const queue = new WaitingQueue(name, key, { music, mostWaiting, timeoutMs, announce }, this.#parts);
    void queue.ended.then(this.#queues.add(key, name, queue));
    return queue;
  }
}

/** Until the answer of a call that is placed, the music of the queue goes on. */
function settingsOf(queue: WaitingQueue, { endKey }: NextRequest): BridgeSettings {
  const { music } = queue;
  return { keys: 'forward', endKey, voice: 'paused', music, ringBack: music };
}

function viewOf({ name, createdAt, mostWaiting, music, waiting }: WaitingQueue): QueueView {
  return { name, createdAt, mostWaiting, hasMusic: music !== undefined, waiting };
}
