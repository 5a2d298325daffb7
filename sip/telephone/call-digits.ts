// Sends digits to the far end, one request after the other: in RTP if it accepts telephone events, else in
// INFO, else as tones in the sound. Keeps the digits that the far end pressed.
import { keySound } from '../../src/audio/country-tones.js';
import type { Call } from '../../src/call/call.js';
import type { DigitsRequest, PressedDigit } from '../../src/call/phone-calls.js';
import { ParleyError } from '../../src/errors.js';
import type { Time } from '../../src/time.js';
import type { Leg } from './leg.js';

const MOST_DIGITS = 64;
const DIGITS = /^[0-9*#A-D,]+$/i;
const DURATION_MS = 160;
const PAUSE_MS = 80;
const COMMA_MS = 500;
const MOST_WAITING = 16; // requests of one call

export class DigitKeys {
  readonly #time: Time;
  readonly #leg: () => Leg | undefined;
  readonly #call: () => Pick<Call, 'play'>;
  /** The leg that refuses INFO. */
  #withoutInfo: Leg | undefined;
  #turn: Promise<void> = Promise.resolve();
  #waiting = 0;
  #closed = false;
  /** Cancels the running pause. */
  #cancelTimer = (): void => undefined;
  /** Rejects the requests that wait when the call ends. */
  readonly #rejected = new Set<(error: ParleyError) => void>();

  /** `call` throws if nothing can be played. */
  constructor(time: Time, leg: () => Leg | undefined, call: () => Pick<Call, 'play'>) {
    this.#time = time;
    this.#leg = leg;
    this.#call = call;
  }

  /**
   * Resolves when the last digit was sent. Rejects with INVALID_FIELD, QUEUE_FULL, or WRONG_STATE if the far
   * end accepts no digits or the call ends before.
   */
  async press(request: DigitsRequest): Promise<void> {
    const { digits } = request;
    if (digits.length > MOST_DIGITS || !DIGITS.test(digits)) {
      const message = `digits must be 1 to ${MOST_DIGITS} of 0-9, *, #, A-D and commas`;
      throw new ParleyError('INVALID_FIELD', message, { field: 'digits' });
    }
    if (this.#waiting >= MOST_WAITING) {
      throw new ParleyError('QUEUE_FULL', `${MOST_WAITING} requests for digits wait in this call already`);
    }
    if (this.#closed) throw ended();
    this.#waiting++;
    const pressed = this.#turn.then(() => this.#pressAll(request)).finally(() => this.#waiting--);
    this.#turn = pressed.catch(() => undefined);
    await new Promise<void>((resolve, reject) => {
      this.#rejected.add(reject);
      void pressed.then(resolve, reject).finally(() => this.#rejected.delete(reject));
    });
  }

  /** Stops pressing and rejects waiting requests. Idempotent. */
  close(): void {
    this.#closed = true;
    this.#cancelTimer();
    for (const reject of this.#rejected) reject(ended());
    this.#rejected.clear();
  }

  async #pressAll({
    digits,
    durationMs = DURATION_MS,
    pauseMs = PAUSE_MS,
    by,
  }: DigitsRequest): Promise<void> {
    for (const digit of digits) {
      if (this.#closed) return;
      if (digit === ',') await this.#wait(COMMA_MS);
      else if (by === 'audio') await this.#inSound(digit, durationMs, pauseMs);
      else if (by === 'info' || !this.#inMedia(digit, durationMs, pauseMs)) {
        if (by === 'rtp') throw refused('the far end takes no digits in RTP: none were agreed on');
        if (await this.#inInfo(digit, durationMs, pauseMs)) continue;
        if (by === 'info') throw refused('the far end takes no digits in INFO');
        await this.#inSound(digit, durationMs, pauseMs);
      }
    }
    await this.#leg()?.media.digitsSent();
  }

  #inMedia(digit: string, durationMs: number, pauseMs: number): boolean {
    return this.#leg()?.media.press(digit, durationMs, pauseMs) ?? false;
  }

  /** False if the far end refuses it, now or before. */
  async #inInfo(digit: string, durationMs: number, pauseMs: number): Promise<boolean> {
    const leg = this.#leg();
    if (leg === undefined || leg === this.#withoutInfo) return false;
    if (!(await leg.session.sendDigit(digit, durationMs))) {
      this.#withoutInfo = leg;
      return false;
    }
    await this.#wait(durationMs + pauseMs);
    return true;
  }

  /** Resolves when the tone was sent, behind what is spoken before it. */
  async #inSound(digit: string, durationMs: number, pauseMs: number): Promise<void> {
    if (this.#closed) throw ended();
    const { end } = await this.#call().play(keySound(digit, { durationMs, pauseMs })).ended;
    if (end !== 'spoken') throw refused('the digits were interrupted');
  }

  async #wait(ms: number): Promise<void> {
    await this.#leg()?.media.digitsSent();
    if (this.#closed) return;
    await new Promise<void>((resolve) => (this.#cancelTimer = this.#time.after(ms, resolve)));
  }
}

function ended(): ParleyError {
  return new ParleyError('WRONG_STATE', 'the call ended before the digits were sent');
}

function refused(message: string): ParleyError {
  return new ParleyError('WRONG_STATE', message, { field: 'by' });
}

// The latest keys that the far end pressed.

const MOST_KEPT = 1000;

export class PressedDigits {
  readonly #latest: PressedDigit[] = [];

  add(digit: PressedDigit): void {
    this.#latest.push(digit);
    if (this.#latest.length > MOST_KEPT) this.#latest.shift();
  }

  /** Oldest first. */
  get latest(): readonly PressedDigit[] {
    return [...this.#latest];
  }
}
