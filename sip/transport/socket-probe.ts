// How long what arrives waits in a UDP socket before it is read: a datagram to
// ourselves shows it, from the end of the queue. One that is lost shows that
// the queue is full.
import { randomBytes } from 'node:crypto';
import type { Time } from '../../src/time.js';

const LOST_MS = 1000;
const BYTES = 16; // its first byte is no beginning of SIP

export class SocketProbe {
  readonly #time: Time;
  readonly #send: (bytes: Buffer) => void;
  readonly #token = Buffer.concat([Buffer.alloc(1), randomBytes(BYTES - 1)]);
  #sentMs: number | undefined;
  #lastMs = 0;

  constructor(time: Time, send: (bytes: Buffer) => void) {
    this.#time = time;
    this.#send = send;
  }

  /** Of the last one that came back, or of the one that is under way if that is more. Sends the next one. */
  delayMs(): number {
    const now = this.#time.now();
    const ageMs = this.#sentMs === undefined ? 0 : now - this.#sentMs;
    if (this.#sentMs === undefined || ageMs >= LOST_MS) {
      this.#sentMs = now;
      this.#send(this.#token);
    }
    return Math.max(this.#lastMs, ageMs);
  }

  /** Whether these bytes are the probe, come back. */
  takes(bytes: Buffer): boolean {
    if (bytes.length !== BYTES || !bytes.equals(this.#token)) return false;
    if (this.#sentMs !== undefined) this.#lastMs = this.#time.now() - this.#sentMs;
    this.#sentMs = undefined;
    return true;
  }
}
