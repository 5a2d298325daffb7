// Messages to another thread, gathered: what is said in one turn of the event
// loop, and in the microtasks after it, leaves as one list, in order.

export class Outbox<T> {
  readonly #post: (messages: readonly T[]) => void;
  #messages: T[] = [];

  constructor(post: (messages: readonly T[]) => void) {
    this.#post = post;
  }

  add(message: T): void {
    // A tick that is asked for in a microtask comes after all of them.
    if (this.#messages.push(message) === 1) process.nextTick(() => this.flush());
  }

  /** Sends now what waits. */
  flush(): void {
    const messages = this.#messages;
    this.#messages = [];
    if (messages.length > 0) this.#post(messages);
  }

  /** Whoever they were for is gone. */
  drop(): void {
    this.#messages = [];
  }
}
