// Follows how loud the voice of a caller is, to tell it from a voice behind the caller: a television, or
// somebody else in the room. Such a voice is heard from farther away, and so it is weaker.
//
// The level of a turn is that of its third loudest window: a click is shorter. The caller's level is an
// average over the turns. It falls a little with each turn that was taken for a distant one, so that a caller
// who has put the telephone down is not ignored for good.
const LOUDEST = 3;
/** A voice so much weaker than the caller's is somebody else's. */
const DISTANT_DB = 10;
/** Weight of a turn in the moving average. */
const SMOOTHING = 0.3;
const DECAY_DB = 1;

export class CallerLevel {
  /** The loudest windows of the turn, descending. */
  readonly #loudest = new Float32Array(LOUDEST).fill(-Infinity);
  #windows = 0;
  #averageDb = 0;
  #turns = 0;

  /** A window of speech, louder than the noise of the line. */
  speech(levelDb: number): void {
    this.#windows++;
    let level = levelDb;
    for (let n = 0; n < LOUDEST; n++) {
      const kept = this.#loudest[n] as number;
      this.#loudest[n] = Math.max(kept, level);
      level = Math.min(kept, level);
    }
  }

  /** The turn so far is too weak for the caller's voice. */
  get isDistant(): boolean {
    if (this.#turns === 0 || this.#windows < LOUDEST) return false;
    return this.#turnDb < this.#averageDb - DISTANT_DB;
  }

  /** The turn is over. A turn over our voice that does not interrupt tells nothing of the caller. */
  turnEnded(by: 'caller' | 'distant' | 'unknown'): void {
    if (by === 'distant' || (by === 'caller' && this.isDistant)) this.#averageDb -= DECAY_DB;
    else if (by === 'caller' && this.#windows >= LOUDEST) {
      this.#averageDb += (this.#turns++ === 0 ? 1 : SMOOTHING) * (this.#turnDb - this.#averageDb);
    }
    this.forget();
  }

  /** The sound was too short for a turn. */
  forget(): void {
    this.#loudest.fill(-Infinity);
    this.#windows = 0;
  }

  /** The caller's sound comes by another way, on which it may be weaker. */
  restart(): void {
    this.#turns = 0;
    this.forget();
  }

  get #turnDb(): number {
    return this.#loudest[LOUDEST - 1] as number;
  }
}
