// Callbacks of one call, sent one after another: an application gets them in order, and none delays the call.
// Callbacks that wait at the end of the call are sent after it, for some seconds.
import { systemTime, type Time } from '../../time.js';

/** Sends one callback. Its failure is reported by the sender. */
type SendCallback = (signal: AbortSignal) => Promise<void>;

const MOST_WAITING = 100;
/** Two requests that take as long as they may. */
const CLOSING_MS = 30_000;

export class CallbackQueue {
  readonly #waiting: SendCallback[] = [];
  readonly #aborting = new AbortController();
  readonly #time: Pick<Time, 'after'>;
  #sending: Promise<void> | undefined;
  #isClosed = false;
  #cancelLimit = (): void => undefined;

  constructor(time: Pick<Time, 'after'> = systemTime) {
    this.#time = time;
  }

  /** False: the queue is full or closed, and the callback is not sent. */
  add(send: SendCallback): boolean {
    if (this.#isClosed || this.#waiting.length >= MOST_WAITING) return false;
    this.#waiting.push(send);
    this.#sending ??= this.#sendAll();
    return true;
  }

  /** Resolves when nothing is left to send. */
  async drained(): Promise<void> {
    await this.#sending;
  }

  /** Takes nothing more, and sends what waits within 30 s. Idempotent. */
  finish(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#sending !== undefined) this.#cancelLimit = this.#time.after(CLOSING_MS, () => this.close());
  }

  /** Drops what waits and ends what is being sent. Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#cancelLimit();
    this.#waiting.length = 0;
    this.#aborting.abort();
  }

  async #sendAll(): Promise<void> {
    for (let send = this.#waiting.shift(); send !== undefined; send = this.#waiting.shift()) {
      await send(this.#aborting.signal);
    }
    this.#sending = undefined;
    this.#cancelLimit();
  }
}
