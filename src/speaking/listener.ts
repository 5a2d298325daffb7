// What a listener still has to hear when streams follow one another: by when
// the next one must begin to sound.
import type { Time } from '../time.js';

// Of a text whose sound is still being made: brisk speech. A guess that is too
// short only makes the next sentence hurry more than it has to.
const MS_PER_CHARACTER = 50;

interface Heard {
  readonly startMs: number;
  lengthMs: number;
}

export class Listener {
  readonly #time: Time;
  readonly #speed: number;
  #last: Heard | undefined;

  constructor(time: Time, speed = 1) {
    this.#time = time;
    this.#speed = speed;
  }

  /** When everything handed over so far will have been heard, in milliseconds of the monotonic clock. */
  get dueAtMs(): number | undefined {
    return this.#last === undefined ? undefined : this.#last.startMs + this.#last.lengthMs;
  }

  /** A stream that speaks this text is handed over; what is returned is told how long it turned out to be. */
  hears(text: string): (durationMs: number) => void {
    const startMs = Math.max(this.#time.now(), this.dueAtMs ?? -Infinity);
    const heard: Heard = { startMs, lengthMs: (text.length * MS_PER_CHARACTER) / this.#speed };
    this.#last = heard;
    return (durationMs) => void (heard.lengthMs = durationMs);
  }
}
