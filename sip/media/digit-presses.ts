// Keys that we press at the far end (RFC 4733): as many as wait survive a change
// of the stream, and whoever pressed them hears when the last one has left.
import { eventOf } from '../../src/media/media-socket.js';
import type { DigitTone } from '../../src/media/media-addon.js';
import type { Playout } from '../../src/media/playout.js';
import type { Time } from '../../src/time.js';

/** As the far end takes them. */
export interface EventFormat {
  readonly payloadType: number;
  readonly clockRate: number;
}

interface Pressed extends Omit<DigitTone, keyof EventFormat> {
  readonly atMs: number;
}

const VOLUME = 10; // -dBm0, as telephones press
const POLL_MS = 20;
const MOST_TICKS = 0xffff; // the length of a key has 16 bits (RFC 4733 section 2.3)

export class DigitPresses {
  readonly #time: Time;
  #playout: Playout | undefined;
  #format: EventFormat | undefined;
  /** The latest ones; those that are still to leave are its end. */
  #pressed: Pressed[] = [];
  #sent: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;
  #cancel: (() => void) | undefined;

  constructor(time: Time) {
    this.#time = time;
  }

  /** False: not agreed on, no digit, or 64 wait already. */
  press(digit: string, durationMs: number, pauseMs: number): boolean {
    const event = eventOf(digit);
    if (event === undefined || this.#format === undefined || this.#playout === undefined) return false;
    const tone = { event, durationMs, pauseMs, volume: VOLUME };
    this.#forgetSent();
    if (!this.#playout.pressDigit(toneIn(this.#format, tone))) return false;
    this.#pressed.push({ ...tone, atMs: this.#time.now() });
    return true;
  }

  /** Resolves when every key so far has left, or never will. */
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

  /** Those that have not begun: to be asked before the playout is replaced. */
  waiting(): readonly Pressed[] {
    this.#forgetSent();
    const [first, ...rest] = this.#pressed;
    // One that has begun is ended by the far end when no more of it comes; begun again, it would count twice.
    const begun = first !== undefined && this.#time.now() - first.atMs >= (this.#playout?.frameMs ?? 0);
    return begun ? rest : this.#pressed;
  }

  /** Without a format the far end takes none. Of another playout: those that waited are pressed again. */
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

  /** Whoever waits is told. Idempotent. */
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

/** As long as was wished, or as the clock can say. */
function toneIn(
  format: EventFormat,
  { event, durationMs, pauseMs, volume }: Omit<Pressed, 'atMs'>,
): DigitTone {
  const mostMs = Math.floor((MOST_TICKS * 1000) / format.clockRate);
  return { event, durationMs: Math.min(durationMs, mostMs), pauseMs, volume, ...format };
}
