// Keeps an outgoing connection open and detects that its peer is gone (RFC 5626, section 4.4.1). A
// peer that has never answered a ping is assumed to be alive; the pings then only keep NAT bindings
// open.
import type { Time } from '../../src/time.js';
import type { Flow } from './flow.js';

interface Pingable extends Flow {
  /** Sends a keep-alive; `answered` is called when the peer answers it. */
  ping(answered: () => void): boolean;
}

export function isPingable(flow: Flow): flow is Pingable {
  return 'ping' in flow;
}

interface KeepAliveOptions {
  readonly time: Time;
  /** Milliseconds between pings; peers ask for up to 120 s. */
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
  /** True once the peer has answered a ping. */
  #answers = false;
  #cancelTimer: () => void = () => undefined;
  readonly #stopListening: () => void;

  /** Abandons the flow if a peer that has answered before does not answer in time; ends with the flow. */
  constructor(flow: Pingable, { time, intervalMs = INTERVAL_MS, answerMs = ANSWER_MS }: KeepAliveOptions) {
    this.#flow = flow;
    this.#time = time;
    this.#intervalMs = intervalMs;
    this.#answerMs = answerMs;
    this.#wait();
    this.#stopListening = flow.onClose(() => this.#cancelTimer());
  }

  /** Stops the pings and leaves the flow open. Idempotent. */
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
