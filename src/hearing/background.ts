// Follows the level of what goes on behind the caller: other voices, music, a street. The voice model takes a
// babble of voices for speech, so only a sound that stands out above the background is the caller's voice.
//
// The background is a low quantile of the levels of the last 704 ms. One voice alone has gaps between its
// syllables, far below its vowels. Eight voices fill each other's gaps. A fluent voice hides its softest
// windows, too: so the background decides only what interrupts our voice, and never where a turn ends.
import { SILENCE_DB } from './ear-source.js';

const WINDOWS = 22;
/** The background is the quietest window but this many. */
const QUIETER = 1;
/** A weaker background is a pause. */
const LEAST_DB = -50;
const ABOVE_DB = 9;

export class Background {
  readonly #levels = new Float32Array(WINDOWS).fill(SILENCE_DB);
  /** The quietest levels, ascending. */
  readonly #least = new Float32Array(QUIETER + 1);
  #next = 0;

  /** One window. True if its level is that of the background and no voice stands out of it. */
  hides(levelDb: number): boolean {
    this.#levels[this.#next] = levelDb;
    this.#next = (this.#next + 1) % WINDOWS;
    const background = this.#background();
    return background > LEAST_DB && levelDb < background + ABOVE_DB;
  }

  #background(): number {
    const least = this.#least.fill(0);
    for (const level of this.#levels) {
      let value = level;
      for (let n = 0; n <= QUIETER; n++) {
        const kept = least[n] as number;
        least[n] = Math.min(kept, value);
        value = Math.max(kept, value);
      }
    }
    return least[QUIETER] as number;
  }
}
