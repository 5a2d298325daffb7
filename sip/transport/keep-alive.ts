// Keeps a connection of ours open, and finds out when its peer is gone (RFC
// 5626, section 4.4.1). For flows whose peer has agreed to it: others need not answer.
import type { Time } from '../../src/time.js';
import type { Flow } from './flow.js';

export interface Pingable extends Flow {
  /** Sends a keep-alive; `answered` is called when the peer answers it. */
  ping(answered: () => void): boolean;
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
  #callOff: () => void = () => undefined;

  /** Closes the flow when an answer does not come in time; ends with the flow. */
  constructor(flow: Pingable, { time, intervalMs = INTERVAL_MS, answerMs = ANSWER_MS }: KeepAliveOptions) {
    this.#flow = flow;
    this.#time = time;
    this.#intervalMs = intervalMs;
    this.#answerMs = answerMs;
    this.#wait();
    flow.onClose(() => this.close());
  }

  close(): void {
    this.#callOff();
  }

  #wait(): void {
    this.#callOff();
    if (!this.#flow.closed) this.#callOff = this.#time.after(this.#intervalMs, () => this.#ping());
  }

  #ping(): void {
    this.#callOff = this.#time.after(this.#answerMs, () => this.#flow.close());
    if (!this.#flow.ping(() => this.#wait())) this.#flow.close();
  }
}
