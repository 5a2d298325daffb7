// Plays the sound of a call. A browser may hold the sound back until the user presses something on the page.
import { CallError } from './parley-http.js';

const BLOCKED = 'Your browser holds the sound back. Press anywhere on the page to hear it.';

export class CallSound {
  /** @type {HTMLMediaElement} */
  #element;
  /** @type {(error: CallError) => void} */
  #onError;
  #ending = new AbortController();

  /**
   * @param {HTMLMediaElement | undefined} element Plays the sound; by default an element that is not on the
   *   page.
   * @param {(error: CallError) => void} onError
   */
  constructor(element, onError) {
    this.#element = element ?? new Audio();
    this.#onError = onError;
  }

  /** @param {MediaStream} stream */
  play(stream) {
    if (this.#ending.signal.aborted) return;
    this.#element.srcObject = stream;
    this.#element.play().catch((cause) => {
      if (cause.name !== 'NotAllowedError') return; // another stream is played by now
      const { signal } = this.#ending;
      const again = () => void this.#element.play().catch(() => undefined);
      for (const press of ['pointerdown', 'keydown'])
        addEventListener(press, again, { once: true, signal, capture: true });
      this.#onError(new CallError(BLOCKED, 0, { cause, code: 'SOUND_BLOCKED' }));
    });
  }

  /** Idempotent. */
  close() {
    this.#ending.abort();
    this.#element.srcObject = null;
  }
}
