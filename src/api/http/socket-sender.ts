// What leaves through one socket: bounded, and given up when the peer takes
// nothing of it.
import type { Time } from '../../time.js';

/** The socket itself, as far as sending goes. */
export interface SendingSocket {
  /** Bytes given to `send` that the system has not taken yet. */
  readonly bufferedAmount: number;
  send(message: string | Uint8Array, taken: () => void): void;
}

export interface SenderParts {
  readonly socket: SendingSocket;
  readonly time: Time;
  /** Milliseconds for which the peer may take nothing. */
  readonly stallMs: number;
  /** Told once: the peer does not read. */
  readonly stalled: () => void;
}

// Below it a dialect hands over the next chunk. What lies here is heard after a
// cancellation, so it is two chunks and no more.
const DRAINED_BYTES = 32 * 1024;
const MOST_BYTES = 4 * 1024 * 1024; // waiting already: whoever does not read its answers is not there
const SLOWEST_BYTES_PER_MS = 16; // what waits as one piece is taken at this pace at least

export class SocketSender {
  readonly #parts: SenderParts;
  #waiters: (() => void)[] = [];
  #forgetStall: (() => void) | undefined;
  #closed = false;
  messages = 0;
  bytes = 0;

  constructor(parts: SenderParts) {
    this.#parts = parts;
  }

  send(message: string | Uint8Array): void {
    const { socket } = this.#parts;
    if (this.#closed) return;
    if (socket.bufferedAmount > MOST_BYTES) {
      this.#stall();
      return;
    }
    this.messages++;
    this.bytes += Buffer.byteLength(message);
    socket.send(message, () => this.#taken());
    this.#watch();
  }

  drained(): Promise<void> {
    if (this.#closed || this.#parts.socket.bufferedAmount <= DRAINED_BYTES) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  /** Nothing is sent any more; nobody waits, and no timer is left. Idempotent. */
  close(): void {
    this.#closed = true;
    this.#forget();
    for (const wake of this.#waiters.splice(0)) wake();
  }

  #taken(): void {
    this.#forget();
    if (this.#closed) return;
    if (this.#parts.socket.bufferedAmount <= DRAINED_BYTES) {
      for (const wake of this.#waiters.splice(0)) wake();
    }
    this.#watch();
  }

  #watch(): void {
    const { socket, time, stallMs } = this.#parts;
    const waiting = socket.bufferedAmount;
    if (waiting === 0 || this.#forgetStall !== undefined) return;
    this.#forgetStall = time.after(stallMs + waiting / SLOWEST_BYTES_PER_MS, () => this.#stall());
  }

  #stall(): void {
    this.close();
    this.#parts.stalled();
  }

  #forget(): void {
    this.#forgetStall?.();
    this.#forgetStall = undefined;
  }
}
