// Texts of one socket, spoken one after another: a bounded queue that can be
// emptied at any moment.
import { ParleyError } from '../../errors.js';

/** Speaks one text; settles soon after the signal is aborted, and never rejects. */
export type Recital = (signal: AbortSignal) => Promise<void>;

export class TextQueue {
  readonly #maxWaiting: number;
  #waiting: Recital[] = [];
  #current: AbortController | undefined;
  /** Told when what is being spoken has stopped, before anything else is. */
  #stopped: (() => void)[] = [];
  #idle: (() => void)[] = [];

  constructor(maxWaiting: number) {
    this.#maxWaiting = maxWaiting;
  }

  /** Nothing is being spoken, and nothing waits. */
  get isIdle(): boolean {
    return this.#current === undefined;
  }

  /** Throws QUEUE_FULL. */
  add(recital: Recital): void {
    if (!this.isIdle && this.#waiting.length >= this.#maxWaiting) {
      throw new ParleyError(
        'QUEUE_FULL',
        `${this.#maxWaiting} texts wait on this socket already, which is what MAX_WAITING_UTTERANCES allows`,
      );
    }
    this.#waiting.push(recital);
    this.#next();
  }

  /** Drops what waits and stops what is being spoken; `stopped` is called once nothing of it can come any more. */
  cancel(stopped: () => void): void {
    this.#waiting = [];
    if (this.#current === undefined) {
      stopped();
      return;
    }
    this.#stopped.push(stopped);
    this.#current.abort();
  }

  /** Resolves when everything that was added has been spoken or dropped. */
  idle(): Promise<void> {
    if (this.isIdle) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  #next(): void {
    if (this.#current !== undefined) return;
    const recital = this.#waiting.shift();
    if (recital === undefined) {
      for (const tell of this.#idle.splice(0)) tell();
      return;
    }
    const controller = new AbortController();
    this.#current = controller;
    void recital(controller.signal).finally(() => {
      this.#current = undefined;
      for (const tell of this.#stopped.splice(0)) tell();
      this.#next();
    });
  }
}
