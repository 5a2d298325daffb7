// Keeps a connection of ours open, and finds out when its peer is gone (RFC
// 5626, section 4.4.1). Not every peer answers: one that never has is taken to be
// there, and the connection is only kept from falling asleep on the way.
import type { Time } from '../../src/time.js';
import type { Flow } from './flow.js';

export interface Pingable extends Flow {
  /** Sends a keep-alive; `answered` is called when the peer answers it. */
  ping(answered: () => void): boolean;
}

export function isPingable(flow: Flow): flow is Pingable {
  return 'ping' in flow;
}

export interface KeepAliveOptions {
  readonly time: Time;
  /** Peers that ask for it say up to 120 s. */
  readonly intervalMs?: number;
  readonly answerMs?: number;
}

const INTERVAL_MS = 95_000;
const ANSWER_MS = 10_000;

export class KeepAlive {
  readonly #flow: Pingable;
  readonly #time: Time;
  readonly #intervalMs: number;
  readonly #answerMs: number;
  /** Whether the peer has ever answered. */
  #answers = false;
  #cancelTimer: () => void = () => undefined;
  readonly #stopListening: () => void;

  /** Abandons the flow when an answer of a peer that answers does not come in time; ends with the flow. */
  constructor(flow: Pingable, { time, intervalMs = INTERVAL_MS, answerMs = ANSWER_MS }: KeepAliveOptions) {
    this.#flow = flow;
    this.#time = time;
    this.#intervalMs = intervalMs;
    this.#answerMs = answerMs;
    this.#wait();
    this.#stopListening = flow.onClose(() => this.#cancelTimer());
  }

  /** The flow stays as it is. Idempotent. */
  close(): void {
    this.#cancelTimer();
    this.#stopListening();
  }

  #wait(): void {
    this.#cancelTimer();
    if (!this.#flow.closed) this.#cancelTimer = this.#time.after(this.#intervalMs, () => this.#ping());
  }

  #ping(): void {
    this.#cancelTimer = this.#time.after(this.#answerMs, () => this.#unanswered());
    if (!this.#flow.ping(() => this.#answered())) this.#flow.abandon();
  }

  #answered(): void {
    this.#answers = true;
    this.#wait();
  }

  #unanswered(): void {
    if (this.#answers) this.#flow.abandon();
    else this.#wait();
  }
}
