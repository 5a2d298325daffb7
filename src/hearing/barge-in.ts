// Decides whether speech interrupts our voice. Time and the fade of the playout are parameters.
//
//     idle ── onset, and the fade took place ──▶ paused ──┬── long enough ──▶ confirmed
//                                                         └── it ended, or the time-out ──▶ false
//
// The length is that of all speech of the turn: four short words are no cough. Where a recogniser tells the
// words of the caller, one stretch must be long enough. A shorter one that begins a turn leaves the voice
// paused until its words are known: whoever knows them ends the voice, or calls `dismiss`.
//
// Each `bargein.paused` is followed by exactly one `bargein.confirmed` or `bargein.false` of its track.
import type { HearingSettings, Sensitivity } from '../config/hearing-config.js';

type BargeInSettings = Pick<
  HearingSettings,
  'minSpeechMs' | 'sensitivity' | 'ignoreBackchannel' | 'resumeMs' | 'endedByHand'
>;

export interface InterruptibleTrack {
  /** Number of the utterance in its playout. */
  readonly track: number;
  readonly by: 'speech' | 'any';
}

export type BargeInEvent =
  | {
      readonly type: 'bargein.paused';
      readonly track: number;
      readonly onsetMs: number;
      readonly atMs: number;
    }
  | { readonly type: 'bargein.confirmed'; readonly track: number; readonly atMs: number }
  | {
      readonly type: 'bargein.false';
      readonly track: number;
      readonly atMs: number;
      readonly speechMs: number;
    };

/** Multiplies the minimum speech. */
const CAUTION: Readonly<Record<Sensitivity, number>> = { high: 1, medium: 1.5, low: 2 };
/** A "mhm" or "yes, I see" is shorter. */
const BACKCHANNEL_MS = 700;

export class BargeIn {
  #settings: BargeInSettings;
  readonly #fade: (track: number) => boolean;
  #tracks: readonly InterruptibleTrack[] = [];
  #paused: { readonly track: number; readonly atMs: number } | undefined;
  #onsetMs: number | undefined;
  #speechMs = 0;
  /** The words of the caller will be known. */
  #awaitsWords = false;
  /** The present speech was decided already: it pauses nothing again. */
  #isSpent = false;

  /** `fade` fades the voice out and pauses it; false if that track does not play. */
  constructor(settings: BargeInSettings, fade: (track: number) => boolean) {
    this.#settings = settings;
    this.#fade = fade;
  }

  set settings(settings: BargeInSettings) {
    this.#settings = settings;
  }

  /** Speech of this length interrupts. */
  get neededMs(): number {
    const { minSpeechMs, sensitivity, ignoreBackchannel } = this.#settings;
    const needed = minSpeechMs * CAUTION[sensitivity];
    return ignoreBackchannel ? Math.max(needed, BACKCHANNEL_MS) : needed;
  }

  /**
   * The tracks that speech may interrupt from now on. A paused track that is not among them any more ended
   * by other means: its pause ends with `bargein.false`.
   */
  interruptible(tracks: readonly InterruptibleTrack[], nowMs: number): BargeInEvent | undefined {
    this.#tracks = tracks;
    const track = this.#paused?.track;
    if (track === undefined || tracks.some((one) => one.track === track)) return undefined;
    return this.#resume(nowMs);
  }

  /** The words of the caller will be known from now on, or no longer. */
  awaitWords(awaitsWords: boolean, nowMs: number): BargeInEvent | undefined {
    this.#awaitsWords = awaitsWords;
    return awaitsWords ? undefined : this.dismiss(nowMs);
  }

  /** The words of speech that has stopped do not interrupt. */
  dismiss(nowMs: number): BargeInEvent | undefined {
    return this.#onsetMs === undefined ? this.#resume(nowMs) : undefined;
  }

  started(onsetMs: number, nowMs: number): BargeInEvent | undefined {
    this.#onsetMs = onsetMs;
    this.#speechMs = nowMs - onsetMs;
    this.#isSpent = false;
    return this.#paused === undefined ? this.#pause(nowMs) : undefined;
  }

  /** The speech is still there at `nowMs`, and as long as `speechMs`; all of the turn is `turnMs`. */
  advance(speechMs: number, nowMs: number, turnMs = speechMs): BargeInEvent | undefined {
    if (this.#onsetMs !== undefined) this.#speechMs = speechMs;
    const paused = this.#paused;
    if (paused === undefined) return this.#onsetMs === undefined ? undefined : this.#pause(nowMs);
    const lengthMs = this.#awaitsWords ? this.#speechMs : Math.max(this.#speechMs, turnMs);
    if (this.#onsetMs !== undefined && lengthMs >= this.neededMs) {
      this.#paused = undefined;
      this.#isSpent = true;
      return { type: 'bargein.confirmed', track: paused.track, atMs: nowMs };
    }
    return nowMs - paused.atMs >= this.#settings.resumeMs ? this.#resume(nowMs) : undefined;
  }

  /** The speech has ended, and was as long as `speechMs`; all of the turn is `turnMs`. */
  stopped(speechMs: number, nowMs: number, turnMs = speechMs): BargeInEvent | undefined {
    if (this.#paused === undefined) {
      this.#onsetMs = undefined;
      return undefined;
    }
    const event = this.advance(speechMs, nowMs, turnMs);
    this.#onsetMs = undefined;
    if (event !== undefined || this.#paused === undefined) return event;
    const isTurn = turnMs >= this.#settings.minSpeechMs;
    return this.#awaitsWords && isTurn ? undefined : this.#resume(nowMs);
  }

  #pause(nowMs: number): BargeInEvent | undefined {
    if (this.#isSpent || this.#onsetMs === undefined || this.#settings.endedByHand) return undefined;
    const found = this.#tracks.find(({ track }) => this.#fade(track));
    if (found === undefined) return undefined;
    this.#paused = { track: found.track, atMs: nowMs };
    return { type: 'bargein.paused', track: found.track, onsetMs: this.#onsetMs, atMs: nowMs };
  }

  #resume(nowMs: number): BargeInEvent | undefined {
    const paused = this.#paused;
    if (paused === undefined) return undefined;
    this.#paused = undefined;
    this.#isSpent = true;
    return { type: 'bargein.false', track: paused.track, atMs: nowMs, speechMs: this.#speechMs };
  }
}
