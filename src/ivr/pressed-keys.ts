// The keys that a caller presses during a program. A verb takes them one by one; keys that no verb has taken
// wait for the next one that does, so that a caller who knows the menu may press ahead.

const MOST_WAITING = 64;

export class PressedKeys {
  #waiting = '';
  #taker: ((key: string) => void) | undefined;

  /** No verb has taken the keys that were pressed last. */
  get isAhead(): boolean {
    return this.#waiting !== '';
  }

  /** Keys beyond 64 that nobody takes are dropped. */
  pressed(key: string): void {
    if (this.#taker !== undefined) this.#taker(key);
    else if (this.#waiting.length < MOST_WAITING) this.#waiting += key;
  }

  /** `taker` gets the keys that wait, and then each key, until the returned function is called. */
  take(taker: (key: string) => void): () => void {
    this.#taker = taker;
    while (this.#taker === taker && this.#waiting !== '') {
      const [key = ''] = this.#waiting;
      this.#waiting = this.#waiting.slice(1);
      taker(key);
    }
    return () => this.release(taker);
  }

  /** That one gets no more keys. Idempotent. */
  release(taker: (key: string) => void): void {
    if (this.#taker === taker) this.#taker = undefined;
  }
}
