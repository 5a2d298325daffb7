// The energy gate of one call: decides by level alone whether a window is worth the voice model.
//
// The noise floor falls quickly with the level and rises slowly. The gate opens a few dB above it and stays
// open for a hangover, so that the model hears how the speech ends.
import { SILENCE_DB } from './ear-source.js';

const OPEN_ABOVE_DB = 6;
const LEAST_DB = -60; // lower levels are line noise
const FLOOR_LEAST_DB = -75;
const FLOOR_MOST_DB = -35; // speech in loud noise is louder still
const FLOOR_START_DB = -60;
const FALL = 0.3; // part of the distance to a lower level, in one window
const RISE_DB = 0.1; // in one window: 3 dB in a second
const HANGOVER_WINDOWS = 10; // 320 ms: a pause between two words

export class EnergyGate {
  #floorDb = FLOOR_START_DB;
  #hangover = 0;

  /**
   * True if the window goes to the model. During speech (`holdFloor`) the floor does not rise: a long
   * sentence is no noise.
   */
  isOpen(levelDb: number, holdFloor: boolean): boolean {
    const open = levelDb > this.thresholdDb;
    this.#follow(levelDb, holdFloor);
    if (open) this.#hangover = HANGOVER_WINDOWS;
    else if (this.#hangover > 0) this.#hangover--;
    else return false;
    return true;
  }

  /** Level above which a sound may be a voice. */
  get thresholdDb(): number {
    return Math.max(LEAST_DB, this.#floorDb + OPEN_ABOVE_DB);
  }

  #follow(levelDb: number, holdFloor: boolean): void {
    if (levelDb <= SILENCE_DB) return; // a far end that sends nothing tells nothing about the noise there
    if (levelDb < this.#floorDb) this.#floorDb += FALL * (levelDb - this.#floorDb);
    else if (!holdFloor) this.#floorDb += Math.min(RISE_DB, levelDb - this.#floorDb);
    this.#floorDb = Math.min(FLOOR_MOST_DB, Math.max(FLOOR_LEAST_DB, this.#floorDb));
  }
}
