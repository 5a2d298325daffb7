// Whose sentence is next: one bounded queue in front of one engine.
//
// Sentences enter in the order they came. A slot is the engine's attention for
// one sentence: its holder gives it back as soon as the engine is free for the
// next one, which may be long before the sound has been taken.
import { ParleyError } from '../errors.js';

const RETRY_AFTER_SECONDS = 1;

export interface SchedulerOptions {
  /** Named in refusals. */
  readonly engine: string;
  /** Sentences the engine works on at once. */
  readonly concurrency: number;
  /** Sentences that may wait behind those. */
  readonly maxWaiting: number;
}

/** Given back once, any further time does nothing. */
export type ReleaseSlot = () => void;

interface Waiting {
  readonly begin: () => void;
  readonly refuse: (error: ParleyError) => void;
}

export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #waiting = new Set<Waiting>(); // in order of arrival
  #active = 0;
  #closed = false;

  constructor(options: SchedulerOptions) {
    this.#options = options;
  }

  get active(): number {
    return this.#active;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Resolves with the slot. Rejects with ENGINE_BUSY when as many wait as may, and with ABORTED as soon as the
   * signal is aborted or the scheduler closed.
   */
  enter(signal: AbortSignal): Promise<ReleaseSlot> {
    const { engine, concurrency, maxWaiting } = this.#options;
    if (this.#closed) return Promise.reject(new ParleyError('WRONG_STATE', `the engine ${engine} is closed`));
    if (signal.aborted) return Promise.reject(new ParleyError('ABORTED', 'the sentence was given up'));
    if (this.#active < concurrency) return Promise.resolve(this.#takeSlot());
    if (this.#waiting.size >= maxWaiting) {
      const limit = `${maxWaiting} sentences are waiting for the engine ${engine}, which is its limit`;
      return Promise.reject(
        new ParleyError('ENGINE_BUSY', limit, { retryAfterSeconds: RETRY_AFTER_SECONDS }),
      );
    }
    return this.#wait(signal);
  }

  /** Refuses everybody who waits; slots that are held stay held. Idempotent. */
  close(): void {
    this.#closed = true;
    const error = new ParleyError('ABORTED', `the engine ${this.#options.engine} was closed`);
    for (const waiting of this.#waiting) waiting.refuse(error);
  }

  #wait(signal: AbortSignal): Promise<ReleaseSlot> {
    return new Promise((resolve, reject) => {
      const giveUp = () =>
        waiting.refuse(new ParleyError('ABORTED', 'the sentence was given up while waiting'));
      const leave = () => {
        this.#waiting.delete(waiting);
        signal.removeEventListener('abort', giveUp);
      };
      const waiting: Waiting = {
        begin: () => {
          leave();
          resolve(this.#takeSlot());
        },
        refuse: (error) => {
          leave();
          reject(error);
        },
      };
      this.#waiting.add(waiting);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }

  #takeSlot(): ReleaseSlot {
    this.#active++;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#active--;
      const [next] = this.#waiting;
      next?.begin();
    };
  }
}
