// Work that waits until the caller is silent: an answer that would talk over the caller, or a function that
// hangs up.
import { ParleyError } from '../errors.js';
import type { Time } from '../time.js';

const MOST_MS = 90_000; // no turn lasts so long: the end of the caller's speech was lost

export class QuietCaller {
  readonly #time: Time;
  readonly #isHeard: () => boolean;
  readonly #waiting = new Set<() => void>();
  #isClosed = false;

  /** `isHeard`: the caller speaks, or what was said is not known yet. */
  constructor(time: Time, isHeard: () => boolean) {
    this.#time = time;
    this.#isHeard = isHeard;
  }

  /**
   * Resolves once the caller is not heard, or is no `obstacle` any more, and after 90 s. Rejects with ABORTED
   * if the signal aborts first, or the call ends.
   */
  async wait(signal: AbortSignal, obstacle = this.#isHeard): Promise<void> {
    let isLate = false;
    const cancel = this.#time.after(MOST_MS, () => {
      isLate = true;
      this.look();
    });
    const look = () => this.look();
    signal.addEventListener('abort', look);
    while (obstacle() && !signal.aborted && !this.#isClosed && !isLate)
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    signal.removeEventListener('abort', look);
    cancel();
    if (signal.aborted || this.#isClosed) throw new ParleyError('ABORTED', 'the caller went on');
  }

  /** All who wait look whether the caller is silent now. */
  look(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }

  /** Rejects everyone who waits. */
  close(): void {
    this.#isClosed = true;
    this.look();
  }
}
