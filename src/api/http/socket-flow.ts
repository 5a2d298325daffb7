// Controls the flow of one socket in both directions. The throttle limits the rate of incoming messages and detects floods.
// The sender bounds what is buffered for the peer and detects a peer that reads nothing.
import { MessageRate, type MessageRateLimits } from '../../call/client-limits.js';
import type { Time } from '../../time.js';

export interface ThrottleLimits {
  readonly messages: MessageRateLimits;
  readonly bytes: MessageRateLimits;
  /** Milliseconds of continuous throttling after which a client is a flood. */
  readonly floodMs: number;
}

interface GateParts {
  readonly limits: ThrottleLimits;
  readonly time: Time;
  readonly deliver: (message: string | Buffer) => void;
  /** Stop and resume reading. Messages that were read already still arrive. */
  readonly pause: () => void;
  readonly resume: () => void;
  /** Called once, with the limit in words. */
  readonly flooded: (limit: string) => void;
}

/** The part of a socket that sends. */
interface SendingSocket {
  /** Bytes given to `send` that the operating system has not accepted yet. */
  readonly bufferedAmount: number;
  send(message: string | Uint8Array, taken: () => void): void;
}

interface SenderParts {
  readonly socket: SendingSocket;
  readonly time: Time;
  /** Write timeout in milliseconds: how long the peer may leave sent data unread. */
  readonly stallMs: number;
  /** Called once if the peer does not read. */
  readonly stalled: () => void;
}

const LEAST_HOLD_MS = 50; // saves a timer for each message
const REST_MS = 5000; // time without throttling after which a flood is over
// Below this level a dialect sends the next chunk. Buffered audio is heard even after a cancellation, so it is limited to
// two chunks.
const DRAINED_BYTES = 32 * 1024;
const MOST_BYTES = 4 * 1024 * 1024; // buffered; above it the peer is taken for stalled
const SLOWEST_BYTES_PER_MS = 16; // the slowest accepted rate for one large message

/**
 * Passes messages on at the allowed rate. Messages above it wait, and reading pauses, which slows the client down. A
 * client that stays over the limit for `floodMs` is a flood.
 */
export class MessageThrottle {
  readonly #parts: GateParts;
  readonly #messages: MessageRate;
  readonly #bytes: MessageRate;
  /** Messages that were read but not delivered: at most those of one read of the connection. */
  #waiting: (string | Buffer)[] = [];
  #cancelHold: (() => void) | undefined;
  #pressedSinceMs = 0;
  #heldUntilMs = -Infinity;
  #closed = false;

  constructor(parts: GateParts) {
    const nowMs = parts.time.now();
    this.#parts = parts;
    this.#messages = new MessageRate(parts.limits.messages, nowMs);
    this.#bytes = new MessageRate(parts.limits.bytes, nowMs);
  }

  /** True while reading is paused. */
  get holds(): boolean {
    return this.#cancelHold !== undefined;
  }

  take(message: string | Buffer): void {
    if (this.#closed) return;
    this.#waiting.push(message);
    if (!this.holds) this.#flow();
  }

  /** Stops delivering and cancels the timer. Idempotent. */
  close(): void {
    this.#closed = true;
    this.#waiting = [];
    this.#cancelHold?.();
    this.#cancelHold = undefined;
  }

  #flow(): void {
    let delivered = 0;
    for (const message of this.#waiting) {
      const nowMs = this.#parts.time.now();
      const size = Buffer.byteLength(message);
      const messagesMs = this.#messages.waitMs(nowMs);
      const bytesMs = this.#bytes.waitMs(nowMs, size);
      if (messagesMs > 0 || bytesMs > 0) {
        this.#waiting.splice(0, delivered);
        this.#hold(Math.max(messagesMs, bytesMs), bytesMs > messagesMs, nowMs);
        return;
      }
      this.#messages.admits(nowMs);
      this.#bytes.admits(nowMs, size);
      delivered++;
      this.#parts.deliver(message);
      if (this.#closed) return;
    }
    this.#waiting = [];
  }

  #hold(waitMs: number, bytes: boolean, nowMs: number): void {
    const { limits, time, pause, resume, flooded } = this.#parts;
    if (nowMs - this.#heldUntilMs > REST_MS) this.#pressedSinceMs = nowMs;
    if (nowMs - this.#pressedSinceMs >= limits.floodMs) {
      this.close();
      flooded(
        bytes
          ? `more than ${limits.bytes.perSecond} bytes a second`
          : `more than ${limits.messages.perSecond} messages a second`,
      );
      return;
    }
    const holdMs = Math.max(waitMs, LEAST_HOLD_MS);
    this.#heldUntilMs = nowMs + holdMs;
    pause();
    this.#cancelHold = time.after(holdMs, () => {
      this.#cancelHold = undefined;
      this.#flow();
      if (!this.holds && !this.#closed) resume();
    });
  }
}

export class SocketSender {
  readonly #parts: SenderParts;
  #waiters: (() => void)[] = [];
  #cancelStall: (() => void) | undefined;
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

  /** Stops sending, resolves every `drained` and cancels the timer. Idempotent. */
  close(): void {
    this.#closed = true;
    this.#cancelTimer();
    for (const wake of this.#waiters.splice(0)) wake();
  }

  #taken(): void {
    this.#cancelTimer();
    if (this.#closed) return;
    if (this.#parts.socket.bufferedAmount <= DRAINED_BYTES) {
      for (const wake of this.#waiters.splice(0)) wake();
    }
    this.#watch();
  }

  #watch(): void {
    const { socket, time, stallMs } = this.#parts;
    const waiting = socket.bufferedAmount;
    if (waiting === 0 || this.#cancelStall !== undefined) return;
    this.#cancelStall = time.after(stallMs + waiting / SLOWEST_BYTES_PER_MS, () => this.#stall());
  }

  #stall(): void {
    this.close();
    this.#parts.stalled();
  }

  #cancelTimer(): void {
    this.#cancelStall?.();
    this.#cancelStall = undefined;
  }
}
