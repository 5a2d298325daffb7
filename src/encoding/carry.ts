// What a playout had not sent yet, on its way into the one that took its place,
// as the main thread holds it. The worker does the work (carried-queue.ts).
import { ParleyError } from '../errors.js';
import type { LineLink } from './encoder-line.js';
import type { LineMessage } from './line-messages.js';

export class Carry {
  readonly number: number;
  /** The new playout has all of it. Rejects with ENCODER_FAILED, or ABORTED. */
  readonly done: Promise<void>;
  /** A track's frame number `frames` in the new playout ends with so much silence that nobody encoded. */
  onPadded: ((track: number, frames: number, padMs: number) => void) | undefined;
  readonly #link: LineLink;
  #over = false;
  #settle!: { resolve: () => void; reject: (error: ParleyError) => void };

  /** Made by the pool only. */
  constructor(number: number, link: LineLink) {
    this.number = number;
    this.#link = link;
    this.done = new Promise((resolve, reject) => (this.#settle = { resolve, reject }));
    this.done.catch(() => undefined); // whoever interrupts need not wait
  }

  /** What was not handed over is dropped. Idempotent. */
  abort(): void {
    if (this.#over) return;
    this.#link.post({ type: 'abort', line: this.number });
    this.lost(new ParleyError('ABORTED', 'the queue was cleared on its way into another playout'));
  }

  /** What the worker says of it; called by the pool. */
  told(message: LineMessage): void {
    switch (message.type) {
      case 'padded':
        return this.onPadded?.(message.track, message.frames, message.padMs);
      case 'ended':
        this.#settle.resolve();
        return this.#finish();
      case 'lost':
        return this.lost(new ParleyError(message.code, message.message));
      default:
    }
  }

  /** The worker is gone; called by the pool. */
  lost(error: ParleyError): void {
    this.#settle.reject(error);
    this.#finish();
  }

  #finish(): void {
    this.#over = true;
    this.#link.over();
  }
}
