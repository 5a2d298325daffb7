// Decides whether speech interrupts our voice. Time and the fade of the playout are parameters.
//
//     idle ── onset, and the fade took place ──▶ paused ──┬── long enough ──▶ confirmed
//                                                         └── it ended, or the time-out ──▶ false
//
// With high sensitivity a sound that only may be the beginning of a word pauses the voice, too. Speech must
// be found within SUSPICION_MS then, or the voice goes on. After each such error the next suspicion has to
// wait for twice as long: a noise that is often taken for a word hardly stops the voice.
//
// The length is that of all speech of the turn: four short words are no cough. Where a recogniser tells the
// words of the caller, one stretch must be long enough. A shorter one that begins a turn leaves the voice
// paused until its words are known: whoever knows them ends the voice, or calls `dismiss`. One that is too
// short for a turn leaves it paused for SHORT_WORD_MS: "no" or "stop" is often followed by more.
//
// With `ignoreDistant` a voice that is too weak for the caller's does not interrupt. Once that was found, it
// pauses our voice no more in this turn, unless the caller speaks as well.
//
// Each `bargein.paused` is followed by exactly one `bargein.confirmed` or `bargein.false` of its track.
import type { HearingSettings, Sensitivity } from '../config/hearing-config.js';

type BargeInSettings = Pick<
  HearingSettings,
  'minSpeechMs' | 'sensitivity' | 'ignoreBackchannel' | 'ignoreDistant' | 'resumeMs' | 'endedByHand'
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
      /** It was somebody else behind the caller: its words do not interrupt either. */
      readonly isDistant?: true;
    };

/** Multiplies the minimum speech. */
const CAUTION: Readonly<Record<Sensitivity, number>> = { high: 1, medium: 1.5, low: 2 };
/** A "mhm" or "yes, I see" is shorter. */
const BACKCHANNEL_MS = 700;
/** Silence behind a short word, after its end was found. */
const SHORT_WORD_MS = 256;
/** A fricative and a closure before the first vowel are shorter. */
const SUSPICION_MS = 256;
const LEAST_TRUST_PAUSE_MS = 4000;
const MOST_TRUST_PAUSE_MS = 64_000;

interface Paused {
  readonly track: number;
  readonly atMs: number;
  /** No speech was found yet. */
  readonly isSuspicion: boolean;
  /** The voice goes on then unless speech is found again. */
  readonly untilMs?: number;
}

export class BargeIn {
  #settings: BargeInSettings;
  readonly #fade: (track: number) => boolean;
  #tracks: readonly InterruptibleTrack[] = [];
  #paused: Paused | undefined;
  #onsetMs: number | undefined;
  #speechMs = 0;
  /** The words of the caller will be known. */
  #awaitsWords = false;
  /** The present speech was decided already: it pauses nothing again. */
  #isSpent = false;
  /** A suspicion counts from then on. */
  #trustedFromMs = -Infinity;
  #trustPauseMs = LEAST_TRUST_PAUSE_MS;
  #isDistant = false;
  #isIgnored = false;
  /** Length of the speech by which it could interrupt, and how much of that was a distant voice. */
  #lengthMs = 0;
  #ignoredMs = 0;

  /** `fade` fades the voice out and pauses it; false if that track does not play. */
  constructor(settings: BargeInSettings, fade: (track: number) => boolean) {
    this.#settings = settings;
    this.#fade = fade;
  }

  set settings(settings: BargeInSettings) {
    this.#settings = settings;
  }

  /** The present turn is too weak for the caller's voice, as far as it was heard. */
  set isDistant(isDistant: boolean) {
    if (this.#isIgnored && !isDistant) {
      this.#isSpent = false; // the caller speaks as well
      this.#ignoredMs = this.#lengthMs;
    }
    this.#isDistant = isDistant && this.#settings.ignoreDistant;
    this.#isIgnored &&= isDistant;
  }

  /** The present turn was taken for somebody else behind the caller. */
  get isIgnored(): boolean {
    return this.#isIgnored;
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
    const goesOn = this.#onsetMs !== undefined || this.#paused?.isSuspicion === true;
    return goesOn ? undefined : this.#resume(nowMs);
  }

  /** A word may have begun, and no speech is there yet. */
  suspected(onsetMs: number, nowMs: number): BargeInEvent | undefined {
    const isTrusted = this.#settings.sensitivity === 'high' && nowMs >= this.#trustedFromMs;
    if (!isTrusted || this.#paused !== undefined || this.#onsetMs !== undefined) return undefined;
    this.#speechMs = 0;
    return this.#pause(onsetMs, { atMs: nowMs, isSuspicion: true });
  }

  started(onsetMs: number, nowMs: number): BargeInEvent | undefined {
    this.#onsetMs = onsetMs;
    this.#speechMs = nowMs - onsetMs;
    this.#ignoredMs = 0;
    this.#isSpent = false;
    if (this.#paused === undefined) return this.#pause(onsetMs, { atMs: nowMs, isSuspicion: false });
    const { track, atMs } = this.#paused;
    this.#paused = { track, atMs, isSuspicion: false };
    return undefined;
  }

  /** The speech is still there at `nowMs`, and as long as `speechMs`; all of the turn is `turnMs`. */
  advance(speechMs: number, nowMs: number, turnMs = speechMs): BargeInEvent | undefined {
    if (this.#onsetMs !== undefined) this.#speechMs = speechMs;
    this.#lengthMs = this.#awaitsWords ? this.#speechMs : Math.max(this.#speechMs, turnMs);
    const paused = this.#paused;
    if (paused === undefined) return this.#pauseLate(nowMs);
    if (paused.isSuspicion) return this.#doubt(paused, nowMs);
    if (this.#onsetMs !== undefined && this.#lengthMs - this.#ignoredMs >= this.neededMs) {
      if (this.#isDistant) return this.#ignore(nowMs);
      this.#paused = undefined;
      this.#isSpent = true;
      this.#trustPauseMs = LEAST_TRUST_PAUSE_MS;
      return { type: 'bargein.confirmed', track: paused.track, atMs: nowMs };
    }
    const resumesAtMs = Math.min(paused.untilMs ?? Infinity, paused.atMs + this.#settings.resumeMs);
    return nowMs >= resumesAtMs ? this.#resume(nowMs) : undefined;
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
    if (!this.#awaitsWords) return this.#resume(nowMs);
    const isTurn = turnMs >= this.#settings.minSpeechMs;
    if (isTurn && this.#isDistant) return this.#ignore(nowMs);
    if (!isTurn) this.#paused = { ...this.#paused, untilMs: nowMs + SHORT_WORD_MS };
    return undefined;
  }

  /** The voice began while the caller was speaking. */
  #pauseLate(nowMs: number): BargeInEvent | undefined {
    if (this.#isSpent || this.#onsetMs === undefined) return undefined;
    return this.#pause(this.#onsetMs, { atMs: nowMs, isSuspicion: false });
  }

  #pause(onsetMs: number, pause: Omit<Paused, 'track'>): BargeInEvent | undefined {
    if (this.#settings.endedByHand || this.#isIgnored) return undefined;
    const found = this.#tracks.find(({ track }) => this.#fade(track));
    if (found === undefined) return undefined;
    this.#paused = { track: found.track, ...pause };
    return { type: 'bargein.paused', track: found.track, onsetMs, atMs: pause.atMs };
  }

  #doubt({ atMs }: Paused, nowMs: number): BargeInEvent | undefined {
    if (nowMs - atMs < Math.min(SUSPICION_MS, this.#settings.resumeMs)) return undefined;
    this.#trustedFromMs = nowMs + this.#trustPauseMs;
    this.#trustPauseMs = Math.min(MOST_TRUST_PAUSE_MS, 2 * this.#trustPauseMs);
    return this.#resume(nowMs);
  }

  #ignore(nowMs: number): BargeInEvent | undefined {
    const event = this.#resume(nowMs);
    this.#isIgnored = event !== undefined;
    return event?.type === 'bargein.false' ? { ...event, isDistant: true } : event;
  }

  #resume(nowMs: number): BargeInEvent | undefined {
    const paused = this.#paused;
    if (paused === undefined) return undefined;
    this.#paused = undefined;
    this.#isSpent = true;
    return { type: 'bargein.false', track: paused.track, atMs: nowMs, speechMs: this.#speechMs };
  }
}
