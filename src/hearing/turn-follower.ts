// Follows the turns of one caller with an end-of-turn model: gives it the sound of each turn, asks it in the
// pauses, and passes the estimates to the turn detector.
//
//   ring:   |……… 700 ms before ………|onset|                      always kept: a turn begins before its onset
//   turn:   |← replayed at the onset →|speech| pause |speech| pause |turn.ended
//   asked:                                     ▲ ▲ ▲          ▲ ▲ ▲
import { WINDOW_SAMPLES } from '../media/ears.js';
import type { TurnDetector } from './turn-detector.js';

/** One call's use of a model. Nothing of it throws. */
export interface CallTurnModel {
  /** Another name is another model. */
  readonly name: string;
  /**
   * When it is asked in a pause: at its beginning and then with every fifth window (160 ms), or when the
   * silence is as long as each of these milliseconds.
   */
  readonly asks: 'each step' | readonly number[];
  /** Windows of the turn, in order. They are copied. */
  push(sound: Float32Array): void;
  /** Undefined: no answer, which decides nothing. */
  ask(): Promise<number | undefined>;
  /** The turn is over. */
  reset(): void;
  close(): void;
}

/** Models that all calls share. */
export interface TurnModels {
  /** What the operator sees of them. */
  readonly names: readonly string[];
  /** The model for a BCP 47 tag; undefined if none knows that language. Undefined tag: it is not known. */
  open(language: string | undefined): CallTurnModel | undefined;
  close(): Promise<void>;
}

/** Sound before the onset is found: 500 ms, and some 200 ms until the detector finds it. */
const LEAD_WINDOWS = 22;
const STEP_WINDOWS = 5;
/** A question comes with the window that is nearest to its time. */
const HALF_WINDOW_MS = 16;

export class TurnFollower {
  readonly #turns: TurnDetector;
  readonly #models: TurnModels;
  readonly #recent = new Float32Array(LEAD_WINDOWS * WINDOW_SAMPLES);
  #heard = 0;
  #model: CallTurnModel | undefined;
  #language: string | undefined;
  #isChosen = false;
  /** Onset of the turn that is followed. */
  #sinceMs: number | undefined;
  /** Windows of that turn that the model has got. */
  #windows = 0;
  #pause: number | undefined;
  /** Questions of the present pause. */
  #asked = 0;
  #isAsking = false;
  #isClosed = false;

  constructor(turns: TurnDetector, models: TurnModels) {
    this.#turns = turns;
    this.#models = models;
  }

  /** The caller's language, if it is known. It chooses the model of the next turn. */
  set language(language: string | undefined) {
    if (language === this.#language) return;
    this.#language = language;
    this.#isChosen = false;
  }

  /** Called for each window, before `decided`. */
  hear(window: Float32Array): void {
    this.#recent.set(window, (this.#heard % LEAD_WINDOWS) * WINDOW_SAMPLES);
    this.#heard++;
  }

  /** The turn detector knows what the window says. `nowMs`: end of the window. */
  decided(nowMs: number): void {
    if (this.#isClosed) return;
    const sinceMs = this.#turns.movableSinceMs;
    if (sinceMs !== this.#sinceMs) this.#begin(sinceMs);
    else if (sinceMs !== undefined) this.#push(1);
    if (sinceMs !== undefined) this.#look(nowMs);
  }

  /** Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#model?.close();
    this.#model = undefined;
  }

  /** Another turn, or none. */
  #begin(sinceMs: number | undefined): void {
    if (this.#sinceMs !== undefined) this.#model?.reset();
    this.#sinceMs = sinceMs;
    this.#windows = 0;
    this.#pause = undefined;
    if (sinceMs === undefined) return;
    if (!this.#isChosen) this.#choose();
    this.#push(Math.min(this.#heard, LEAD_WINDOWS));
  }

  #choose(): void {
    const model = this.#models.open(this.#language);
    this.#isChosen = true;
    this.#model?.close();
    this.#model = model;
  }

  /** Gives the model the last windows, in order. */
  #push(count: number): void {
    for (let window = this.#heard - count; window < this.#heard; window++) {
      const at = (window % LEAD_WINDOWS) * WINDOW_SAMPLES;
      this.#model?.push(this.#recent.subarray(at, at + WINDOW_SAMPLES));
      this.#windows++;
    }
  }

  #look(nowMs: number): void {
    const { pause } = this.#turns;
    if (pause !== this.#pause) this.#asked = 0;
    this.#pause = pause;
    const model = this.#model;
    if (pause === undefined || model === undefined || this.#isAsking) return;
    if (!this.#isDue(model, this.#turns.pauseMs(nowMs))) return;
    this.#asked++;
    this.#isAsking = true;
    void model.ask().then((probability) => {
      this.#isAsking = false;
      if (probability !== undefined) this.#turns.estimated(pause, probability);
    });
  }

  #isDue({ asks }: CallTurnModel, silenceMs: number): boolean {
    if (asks === 'each step') return this.#asked === 0 || this.#windows % STEP_WINDOWS === 0;
    return silenceMs + HALF_WINDOW_MS >= (asks[this.#asked] ?? Infinity);
  }
}
