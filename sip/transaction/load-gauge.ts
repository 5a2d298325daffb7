// Computes the share of new calls to refuse under overload (RFC 7339). Without it the input queue
// grows until every message is processed too late and retransmitted.
import type { Time } from '../../src/time.js';
import { spread } from './transaction.js';

interface LoadGaugeOptions {
  readonly time: Time;
  /** Current wait of a message before it is read, in milliseconds. */
  readonly delayMs: () => number;
  /**
   * Acceptable wait in milliseconds, 250 by default. Peers retransmit an INVITE after 500 ms without a 100.
   */
  readonly aimMs?: number;
  /** Wall clock in milliseconds since 1970; the system's by default. */
  readonly wallMs?: () => number;
}

/** Overload control values for a peer that offers control by loss (RFC 7339, section 4). */
interface LoadControl {
  /** Percentage of its requests that the peer should not send. */
  readonly loss: number;
  /** Validity in milliseconds; 0 ends the control. */
  readonly validityMs: number;
  /** Increases with every change of the other values. */
  readonly sequence: string;
}

const AIM_MS = 250;
const VALIDITY_MS = 500; // RFC 7339, section 4.3
const PERIOD_MS = 100;
const MOST = 0.98; // some calls always pass, which shows when the load is gone
const UP = 0.1; // per period and multiple of the acceptable wait
const MOST_UP = 0.3;
const DOWN = 0.03; // per period while the wait is below half the acceptable one

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

  /** Current share of new calls to refuse. */
  get share(): number {
    return this.#share;
  }

  /** Returns the same decision for retransmissions of a call while the share is unchanged. */
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
    // First: a defect must not leave the share as it is for good.
    this.#cancelTimer = this.#options.time.after(PERIOD_MS, () => this.#measure());
    const before = this.#share;
    const times = this.#options.delayMs() / this.#aimMs;
    const isOver = times > 1;
    // A single long wait is a pause (garbage collection, another process) that is already over, and
    // refuses nothing.
    if (isOver && this.#wasOver) this.#share = Math.min(MOST, this.#share + Math.min(MOST_UP, UP * times));
    else if (times < 0.5) this.#share = Math.max(0, this.#share - DOWN);
    this.#wasOver = isOver;
    if (this.#share !== before) this.#changedMs = Math.max(this.#changedMs + 1, this.#wallMs());
  }
}
