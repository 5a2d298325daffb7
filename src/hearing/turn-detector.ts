// Decides when the caller has finished a turn, from the onsets and ends of speech. Time is a parameter.
//
//     idle ── speech ──▶ open ── silence, or the longest turn ──▶ turn.ended ──▶ idle
//
// A turn is open once its speech is as long as `minSpeechMs`. The silence that ends it lies between two
// bounds: a hint of the recogniser or an end-of-turn model moves it. If the recogniser tells the text of each
// pause, the turn does not end before that text is known, within a limit: nothing could answer it sooner.
// With `endedByHand` only `end` ends it.
import type { HearingSettings } from '../config/hearing-config.js';

type TurnSettings = Pick<
  HearingSettings,
  'silenceMs' | 'minSilenceMs' | 'maxSilenceMs' | 'minSpeechMs' | 'maxTurnMs' | 'noInputMs' | 'endedByHand'
>;

export type TurnHint = 'unfinished' | 'finished' | undefined;

/** Longest silence in which the text of a pause is awaited, if the bound of the settings is not lower. */
const PAUSE_TEXT_MS = 2000;

export type TurnEvent =
  | {
      readonly type: 'turn.ended';
      readonly atMs: number;
      readonly startedMs: number;
      /** Without the pauses in it. */
      readonly speechMs: number;
      /** `client`: those who conduct the call have ended it. */
      readonly reason: 'silence' | 'longest' | 'client';
    }
  | { readonly type: 'no_input'; readonly atMs: number };

type TurnEnd = Extract<TurnEvent, { type: 'turn.ended' }>;

export class TurnDetector {
  #settings: TurnSettings;
  #hint: TurnHint;
  /** The text of each pause will be known. */
  #awaitsTexts = false;
  /** The text of the present pause is known. */
  #isTextKnown = false;
  /** The estimate of an end-of-turn model for the present pause. */
  #finished: number | undefined;
  #pause = 0;
  #startedMs: number | undefined;
  /** Speech of this turn that has stopped. */
  #speechMs = 0;
  /** Onset of the speech that lasts; undefined during silence. */
  #onsetMs: number | undefined;
  #stoppedMs = 0;
  #noInputAtMs: number | undefined;

  constructor(settings: TurnSettings) {
    this.#settings = settings;
  }

  set settings(settings: TurnSettings) {
    this.#settings = settings;
    if (settings.noInputMs === 0) this.#noInputAtMs = undefined;
  }

  /** Number of the present pause, for `answer`; undefined while the caller speaks, and between turns. */
  get pause(): number | undefined {
    const isPause = this.#startedMs !== undefined && this.#onsetMs === undefined;
    return isPause && !this.#settings.endedByHand ? this.#pause : undefined;
  }

  /** Silence that ends the turn now. */
  get silenceMs(): number {
    const { silenceMs, minSilenceMs, maxSilenceMs } = this.#settings;
    if (this.#finished !== undefined) return maxSilenceMs - this.#finished * (maxSilenceMs - minSilenceMs);
    if (this.#hint === 'unfinished') return maxSilenceMs;
    if (this.#awaitsTexts && !this.#isTextKnown)
      return Math.max(silenceMs, Math.min(maxSilenceMs, PAUSE_TEXT_MS));
    return this.#hint === 'finished' ? minSilenceMs : silenceMs;
  }

  /** Speech of the turn that has stopped. */
  get speechMs(): number {
    return this.#speechMs;
  }

  /** The recogniser tells the text of each pause from now on, or no longer. */
  set awaitsTexts(awaitsTexts: boolean) {
    this.#awaitsTexts = awaitsTexts;
  }

  started(onsetMs: number): void {
    this.#startedMs ??= onsetMs;
    this.#onsetMs = onsetMs;
    this.#hint = undefined; // it was about the words before
    this.#isTextKnown = false;
    this.#finished = undefined;
  }

  stopped(atMs: number): void {
    if (this.#onsetMs !== undefined) this.#speechMs += Math.max(0, atMs - this.#onsetMs);
    this.#onsetMs = undefined;
    this.#stoppedMs = atMs;
    this.#pause++;
  }

  /** `pauseMs`: the hint is by the whole text of the pause that began then. */
  hint(hint: TurnHint, pauseMs?: number): void {
    if (pauseMs !== undefined && (this.#onsetMs !== undefined || pauseMs !== this.#stoppedMs)) return;
    this.#hint = hint;
    this.#isTextKnown ||= pauseMs !== undefined;
  }

  /** The estimate of an end-of-turn model for a pause. It is ignored once that pause is over. */
  answer(pause: number | undefined, finished: number): void {
    if (pause === undefined || pause !== this.pause || !Number.isFinite(finished)) return;
    this.#finished = Math.min(1, Math.max(0, finished));
  }

  /** Begins the no-input time-out, unless the settings have none. */
  awaitInput(nowMs: number): void {
    const { noInputMs } = this.#settings;
    this.#noInputAtMs = noInputMs === 0 ? undefined : nowMs + noInputMs;
  }

  /** Ends the turn now, also if nothing was said in it. Speech that lasts begins the next turn. */
  end(nowMs: number): TurnEvent {
    this.#noInputAtMs = undefined;
    return this.#end(nowMs, nowMs, 'client');
  }

  /** Called for each window. Returns what happened by `nowMs`, in order. */
  advance(nowMs: number): readonly TurnEvent[] {
    if (this.#startedMs === undefined) return this.#noInput(nowMs);
    if (this.#settings.endedByHand) return NOTHING;
    const isLongEnough = this.#spokenBy(nowMs) >= this.#settings.minSpeechMs;
    if (isLongEnough) this.#noInputAtMs = undefined;
    const { maxTurnMs } = this.#settings;
    if (isLongEnough && maxTurnMs > 0 && nowMs - this.#startedMs >= maxTurnMs) {
      return [this.#end(this.#startedMs + maxTurnMs, nowMs, 'longest')];
    }
    const neededMs = isLongEnough ? this.silenceMs : this.#settings.silenceMs;
    if (this.#onsetMs !== undefined || nowMs - this.#stoppedMs < neededMs) return NOTHING;
    if (isLongEnough) return [this.#end(nowMs, nowMs, 'silence')];
    this.#clear(); // a noise
    return this.#noInput(nowMs);
  }

  #spokenBy(nowMs: number): number {
    return this.#speechMs + (this.#onsetMs === undefined ? 0 : nowMs - this.#onsetMs);
  }

  #end(atMs: number, nowMs: number, reason: TurnEnd['reason']): TurnEnd {
    const startedMs = this.#startedMs ?? atMs;
    const goesOn = this.#onsetMs !== undefined;
    const beyondMs = goesOn ? Math.max(0, nowMs - Math.max(atMs, this.#onsetMs ?? atMs)) : 0;
    const speechMs = Math.max(0, this.#spokenBy(nowMs) - beyondMs);
    this.#clear();
    if (goesOn) {
      this.#startedMs = atMs;
      this.#onsetMs = atMs;
    }
    return { type: 'turn.ended', atMs, startedMs, speechMs, reason };
  }

  #clear(): void {
    this.#startedMs = undefined;
    this.#onsetMs = undefined;
    this.#speechMs = 0;
    this.#hint = undefined;
    this.#isTextKnown = false;
    this.#finished = undefined;
  }

  #noInput(nowMs: number): readonly TurnEvent[] {
    if (this.#noInputAtMs === undefined || nowMs < this.#noInputAtMs) return NOTHING;
    this.#noInputAtMs = undefined;
    return [{ type: 'no_input', atMs: nowMs }];
  }
}

const NOTHING: readonly TurnEvent[] = [];
