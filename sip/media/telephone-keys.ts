// The keys of a telephone leg. DigitPresses sends ours to the far end as telephone events (RFC 4733). Queued
// presses survive a change of the stream. Callers can wait until the last one was sent. InbandKeys decides
// whether the keys of the far end are heard in its sound (DTMF).
import { eventOf } from '../../src/media/media-socket.js';
import type { DigitTone } from '../../src/media/media-addon.js';
import type { Playout } from '../../src/media/playout.js';
import type { Time } from '../../src/time.js';

/** The payload type and clock rate that were agreed on. */
export interface EventFormat {
  readonly payloadType: number;
  readonly clockRate: number;
}

interface Pressed extends Omit<DigitTone, keyof EventFormat> {
  readonly atMs: number;
}

const VOLUME = 10; // -dBm0, as telephones send
const POLL_MS = 20;
/** A key in INFO within this time is the one that was heard: it is sent when the key is released. */
const SAME_KEY_MS = 1500;
const MOST_TICKS = 0xffff; // the duration field has 16 bits (RFC 4733 section 2.3)

export class DigitPresses {
  readonly #time: Time;
  #playout: Playout | undefined;
  #format: EventFormat | undefined;
  /** The latest presses; the unsent ones are at the end. */
  #pressed: Pressed[] = [];
  #sent: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;
  #cancel: (() => void) | undefined;

  constructor(time: Time) {
    this.#time = time;
  }

  /** Returns false without an agreed format, for an unknown digit, or if 64 are queued. */
  press(digit: string, durationMs: number, pauseMs: number): boolean {
    const event = eventOf(digit);
    if (event === undefined || this.#format === undefined || this.#playout === undefined) return false;
    const tone = { event, durationMs, pauseMs, volume: VOLUME };
    this.#forgetSent();
    if (!this.#playout.pressDigit(toneIn(this.#format, tone))) return false;
    this.#pressed.push({ ...tone, atMs: this.#time.now() });
    return true;
  }

  /** Resolves when all presses so far were sent or dropped. */
  sent(): Promise<void> {
    this.#forgetSent();
    if (this.#pressed.length === 0) return Promise.resolve();
    if (this.#sent !== undefined) return this.#sent.promise;
    let resolve!: () => void;
    const promise = new Promise<void>((settle) => (resolve = settle));
    this.#sent = { promise, resolve };
    this.#poll();
    return promise;
  }

  /** Presses that have not begun: read them before replacing the playout. */
  waiting(): readonly Pressed[] {
    this.#forgetSent();
    const [first, ...rest] = this.#pressed;
    // The far end ends a begun press when its packets stop; begun again, it would count twice.
    const begun = first !== undefined && this.#time.now() - first.atMs >= (this.#playout?.frameMs ?? 0);
    return begun ? rest : this.#pressed;
  }

  /** Without a format, presses are refused. On a new playout, `waited` are queued again. */
  follow(playout: Playout | undefined, format: EventFormat | undefined, waited?: readonly Pressed[]): void {
    this.#playout = playout;
    this.#format = format;
    if (waited === undefined) return;
    this.#pressed = [];
    if (format === undefined) return;
    for (const pressed of waited) {
      if (playout?.pressDigit(toneIn(format, pressed))) this.#pressed.push(pressed);
    }
  }

  /** Resolves pending calls of sent(). Idempotent. */
  close(): void {
    this.#playout = undefined;
    this.#pressed = [];
    this.#settle();
  }

  #forgetSent(): void {
    const waiting = this.#playout?.stats().digitsWaiting ?? 0;
    this.#pressed = this.#pressed.slice(this.#pressed.length - Math.min(waiting, this.#pressed.length));
  }

  #poll(): void {
    this.#forgetSent();
    if (this.#pressed.length === 0) return this.#settle();
    this.#cancel = this.#time.after(POLL_MS, () => this.#poll());
  }

  #settle(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#sent?.resolve();
    this.#sent = undefined;
  }
}

/** Shortens the press to what the clock rate can express. */
function toneIn(
  format: EventFormat,
  { event, durationMs, pauseMs, volume }: Omit<Pressed, 'atMs'>,
): DigitTone {
  const mostMs = Math.floor((MOST_TICKS * 1000) / format.clockRate);
  return { event, durationMs: Math.min(durationMs, mostMs), pauseMs, volume, ...format };
}

/**
 * Keys are heard in the sound only without telephone-event, and until the first key of the far end comes in
 * INFO. Otherwise one key would count twice.
 */
export class InbandKeys {
  readonly #time: Time;
  readonly #hear: (on: boolean) => void;
  #isWanted = false;
  #comeInInfo = false;
  #heard: { readonly digit: string; readonly atMs: number } | undefined;

  /** `hear` begins and ends the detection. */
  constructor(time: Time, hear: (on: boolean) => void) {
    this.#time = time;
    this.#hear = hear;
  }

  /** `hasEvents`: telephone-event was agreed on. True without an agreement that carries sound. */
  agreed(hasEvents: boolean): void {
    this.#isWanted = !hasEvents;
    this.#hear(this.#isWanted && !this.#comeInInfo);
  }

  /** The media reported a key. */
  heard(digit: string): void {
    if (this.#isWanted) this.#heard = { digit, atMs: this.#time.now() };
  }

  /** A key came in INFO. False: it was heard in the sound and reported already. */
  signalled(digit: string): boolean {
    const heard = this.#heard;
    this.#heard = undefined;
    this.#comeInInfo = true;
    this.#hear(false);
    return heard?.digit !== digit || this.#time.now() - heard.atMs > SAME_KEY_MS;
  }
}
