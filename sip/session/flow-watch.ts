// Tells when a browser's phone cannot be reached any more. Nobody can connect to
// a browser (RFC 7118, section 5): the WebSocket that it came in on is the only
// way to it, and once that is closed the phone has to come back by itself, with a
// request within the dialog on another one.
import type { Time } from '../../src/time.js';
import type { Flow } from '../transport/flow.js';

export class FlowWatch {
  readonly #time: Time;
  readonly #patienceMs: number;
  readonly #lost: () => void;
  #cancelTimer = () => {};

  /** `lost` is told once, `patienceMs` after the flow was closed, unless another one is followed by then. */
  constructor(time: Time, patienceMs: number, lost: () => void) {
    this.#time = time;
    this.#patienceMs = patienceMs;
    this.#lost = lost;
  }

  /** This one from now on; any but a WebSocket is of no concern. */
  follow(flow: Flow | undefined): void {
    this.close();
    if (flow === undefined || !isWebSocket(flow)) return;
    let cancelWait = () => {};
    const stopListening = flow.onClose(() => {
      cancelWait = this.#time.after(this.#patienceMs, this.#lost);
    });
    this.#cancelTimer = () => {
      stopListening();
      cancelWait();
    };
  }

  /** Idempotent. */
  close(): void {
    this.#cancelTimer();
    this.#cancelTimer = () => {};
  }
}

export function isWebSocket({ transport }: Flow): boolean {
  return transport === 'ws' || transport === 'wss';
}
