// Tells when a far end that was heard has gone silent: neither RTP nor RTCP for
// so long. Never before its first packet, and not while it is not to send.
//
// One timer, set to when the silence would be long enough at the earliest: no
// packet costs anything here.
import type { Time } from '../../src/time.js';

export interface LastHeard {
  /** Milliseconds of the monotonic clock; null: nothing came yet. */
  readonly lastRtpMs: number | null;
  readonly lastRtcpMs: number | null;
}

export class SilenceWatch {
  readonly #time: Time;
  readonly #timeoutMs: number;
  readonly #heard: () => LastHeard;
  readonly #onSilent: () => void;
  #cancel: (() => void) | undefined;
  /** When the far end began to be expected. */
  #sinceMs = 0;

  /** `onSilent` is told once for each time of silence. */
  constructor(time: Time, timeoutMs: number, heard: () => LastHeard, onSilent: () => void) {
    this.#time = time;
    this.#timeoutMs = timeoutMs;
    this.#heard = heard;
    this.#onSilent = onSilent;
  }

  /** Whether the far end is to send. */
  expect(sound: boolean): void {
    if (sound === (this.#cancel !== undefined) || this.#timeoutMs === 0) return;
    if (!sound) return this.close();
    this.#sinceMs = this.#time.now();
    this.#wait(this.#timeoutMs, -1);
  }

  /** Idempotent. */
  close(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #wait(ms: number, toldOf: number): void {
    this.#cancel = this.#time.after(ms, () => this.#look(toldOf));
  }

  /** `toldOf` is the sign of life after which a silence was told already. */
  #look(toldOf: number): void {
    const { lastRtpMs, lastRtcpMs } = this.#heard();
    const last = Math.max(this.#sinceMs, lastRtpMs ?? 0, lastRtcpMs ?? 0);
    const leftMs = last + this.#timeoutMs - this.#time.now();
    if (lastRtpMs === null || last === toldOf) return this.#wait(this.#timeoutMs, toldOf);
    if (leftMs > 0) return this.#wait(leftMs, toldOf);
    this.#wait(this.#timeoutMs, last);
    this.#onSilent();
  }
}
