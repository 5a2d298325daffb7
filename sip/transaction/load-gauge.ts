// The share of new calls that is refused because there is too much to do.
// Without that, what waits to be read grows until every message comes too late,
// is sent again, and nobody is served (RFC 7339).
import type { Time } from '../../src/time.js';
import { spread } from './transaction-key.js';

export interface LoadGaugeOptions {
  readonly time: Time;
  /** How long a message waits now before it is read, in milliseconds. */
  readonly delayMs: () => number;
  /** The wait that is put up with; 250 if absent. Peers send an INVITE again after 500 ms without a 100. */
  readonly aimMs?: number;
  /** Milliseconds since 1970; the system's if absent. */
  readonly wallMs?: () => number;
}

/** What a peer is asked for that offers overload control by loss (RFC 7339, section 4). */
export interface LoadControl {
  /** Of its requests, in percent: so many it should not send. */
  readonly loss: number;
  /** For so long, in milliseconds; 0 ends it. */
  readonly validityMs: number;
  /** Greater whenever one of the others has changed. */
  readonly sequence: string;
}

const AIM_MS = 250;
const VALIDITY_MS = 500; // RFC 7339, section 4.3
const PERIOD_MS = 100;
const MOST = 0.98; // some are always let in, so that it shows when the load is gone
const UP = 0.1; // a period, for each time that the wait is the aim and more
const MOST_UP = 0.3;
const DOWN = 0.03; // a period, while the wait is below half the aim

export class LoadGauge {
  readonly #options: LoadGaugeOptions;
  readonly #aimMs: number;
  #share = 0;
  #wasOver = false;
  #changedMs: number;
  #cancelTimer: () => void;

  constructor(options: LoadGaugeOptions) {
    this.#options = options;
    this.#aimMs = options.aimMs ?? AIM_MS;
    this.#changedMs = this.#wallMs();
    this.#cancelTimer = options.time.after(PERIOD_MS, () => this.#measure());
  }

  /** The share of new calls that is refused now. */
  get share(): number {
    return this.#share;
  }

  /** The same for the same call while the share does not change: its repetitions are not let in. */
  refuses(callId: string): boolean {
    return this.#share > 0 && spread(callId) < this.#share;
  }

  get control(): LoadControl {
    const sequence = (this.#changedMs / 1000).toFixed(3);
    return { loss: Math.round(this.#share * 100), validityMs: this.#share > 0 ? VALIDITY_MS : 0, sequence };
  }

  close(): void {
    this.#cancelTimer();
  }

  #wallMs(): number {
    return Math.floor((this.#options.wallMs ?? Date.now)());
  }

  #measure(): void {
    const before = this.#share;
    const times = this.#options.delayMs() / this.#aimMs;
    const isOver = times > 1;
    // One long wait is a pause (a collection of garbage, a neighbour on the machine), and over already: it refuses nobody.
    if (isOver && this.#wasOver) this.#share = Math.min(MOST, this.#share + Math.min(MOST_UP, UP * times));
    else if (times < 0.5) this.#share = Math.max(0, this.#share - DOWN);
    this.#wasOver = isOver;
    if (this.#share !== before) this.#changedMs = Math.max(this.#changedMs + 1, this.#wallMs());
    this.#cancelTimer = this.#options.time.after(PERIOD_MS, () => this.#measure());
  }
}
