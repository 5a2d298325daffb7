// Lets the messages of one socket through at the rate that is allowed. What is
// above it waits, and meanwhile nothing more is read: the client's own sending
// slows down. One that keeps pressing for too long is a flood.
import { MessageRate, type MessageRateLimits } from '../../call/client-limits.js';
import type { Time } from '../../time.js';

export interface GateLimits {
  readonly messages: MessageRateLimits;
  readonly bytes: MessageRateLimits;
  /** Milliseconds of being slowed down, without a rest, after which it is a flood. */
  readonly floodMs: number;
}

export interface GateParts {
  readonly limits: GateLimits;
  readonly time: Time;
  readonly deliver: (message: string | Buffer) => void;
  /** Stops and resumes reading; what was read already still comes. */
  readonly pause: () => void;
  readonly resume: () => void;
  /** Told once, with the limit in words. */
  readonly flooded: (limit: string) => void;
}

const LEAST_HOLD_MS = 50; // not a timer for each message
const REST_MS = 5000; // without being slowed down: the flood, if it was one, is over

export class MessageGate {
  readonly #parts: GateParts;
  readonly #messages: MessageRate;
  readonly #bytes: MessageRate;
  /** Read and not delivered: at most what was in one read of the connection. */
  #waiting: (string | Buffer)[] = [];
  #forgetHold: (() => void) | undefined;
  #pressedSinceMs = 0;
  #heldUntilMs = -Infinity;
  #closed = false;

  constructor(parts: GateParts) {
    const nowMs = parts.time.now();
    this.#parts = parts;
    this.#messages = new MessageRate(parts.limits.messages, nowMs);
    this.#bytes = new MessageRate(parts.limits.bytes, nowMs);
  }

  /** Reading is stopped. */
  get holds(): boolean {
    return this.#forgetHold !== undefined;
  }

  take(message: string | Buffer): void {
    if (this.#closed) return;
    this.#waiting.push(message);
    if (!this.holds) this.#flow();
  }

  /** Nothing is delivered any more, and no timer is left. Idempotent. */
  close(): void {
    this.#closed = true;
    this.#waiting = [];
    this.#forgetHold?.();
    this.#forgetHold = undefined;
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
    this.#forgetHold = time.after(holdMs, () => {
      this.#forgetHold = undefined;
      this.#flow();
      if (!this.holds && !this.#closed) resume();
    });
  }
}
