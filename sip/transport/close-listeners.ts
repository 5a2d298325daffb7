// Who wants to know that something closed: told once, even when they ask late.
import { tellDefect } from '../../src/errors.js';

export class CloseListeners {
  readonly #listeners = new Set<() => void>();
  #done = false;

  get done(): boolean {
    return this.#done;
  }

  /** The returned function removes the listener. */
  add(listener: () => void): () => void {
    if (this.#done) {
      listener();
      return () => undefined;
    }
    // Each has its own place, so that one function may be added twice.
    const entry = (): void => listener();
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }

  /** It is the network that says so: what one of them throws keeps nobody from being told. */
  fire(): void {
    if (this.#done) return;
    this.#done = true;
    for (const listener of this.#listeners) {
      try {
        listener();
      } catch (error) {
        tellDefect(error);
      }
    }
    this.#listeners.clear();
  }
}
