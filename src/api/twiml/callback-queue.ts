// Callbacks of one call, sent one after another: an application gets them in order, and none delays the call.

/** Sends one callback. Its failure is reported by the sender. */
type SendCallback = (signal: AbortSignal) => Promise<void>;

const MOST_WAITING = 100;

export class CallbackQueue {
  readonly #waiting: SendCallback[] = [];
  readonly #closing = new AbortController();
  #sending: Promise<void> | undefined;

  /** False: the queue is full or closed, and the callback is not sent. */
  add(send: SendCallback): boolean {
    if (this.#closing.signal.aborted || this.#waiting.length >= MOST_WAITING) return false;
    this.#waiting.push(send);
    this.#sending ??= this.#sendAll();
    return true;
  }

  /** Resolves when nothing is left to send. */
  async drained(): Promise<void> {
    await this.#sending;
  }

  /** Drops what waits and ends what is being sent. Idempotent. */
  close(): void {
    this.#waiting.length = 0;
    this.#closing.abort();
  }

  async #sendAll(): Promise<void> {
    for (let send = this.#waiting.shift(); send !== undefined; send = this.#waiting.shift()) {
      await send(this.#closing.signal);
    }
    this.#sending = undefined;
  }
}
