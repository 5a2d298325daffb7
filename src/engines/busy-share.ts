// How much of the time something works, from a count of the time that it has
// worked: over the last few seconds, whoever asks and however often.

const LEAST_MS = 5000; // that a share is over, once there is as much to look back on

interface Mark {
  readonly atMs: number;
  readonly busyMs: number;
}

export class BusyShare {
  #from: Mark | undefined;
  #latest: Mark | undefined;

  /** From 0 to 1. `busyMs`: all that it has worked by now; less than before where it began anew. */
  at(atMs: number, busyMs: number): number {
    if (busyMs < (this.#latest?.busyMs ?? 0)) this.#from = this.#latest = undefined;
    const now = { atMs, busyMs };
    this.#latest ??= now;
    this.#from ??= this.#latest;
    if (atMs - this.#latest.atMs >= LEAST_MS) {
      this.#from = this.#latest;
      this.#latest = now;
    }
    const passedMs = atMs - this.#from.atMs;
    return passedMs > 0 ? Math.min(1, (busyMs - this.#from.busyMs) / passedMs) : 0;
  }
}
