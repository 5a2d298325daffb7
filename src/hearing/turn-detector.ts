// Decides when the caller has finished a turn, from the onsets and ends of speech. Time is a parameter.
//
//     idle ── speech ──▶ open ── silence, or the longest turn ──▶ turn.ended ──▶ idle
//
// A turn is open once its speech is as long as `minSpeechMs`. The silence that ends it lies between two
// bounds. The words of the recogniser decide first, then an end-of-turn model, then the settings. A model
// that follows the turn and is sure overrules the words: a number may be whole, and a sentence may go on.
// If both are sure, two thirds of the lower bound are enough. If the recogniser tells the text of each
// pause, the turn does not end before that text is known, within a limit: nothing could answer it sooner.
// With `endedByHand` only `end` ends it.
//
// A model that follows the turn estimates several times in a pause. Its numbers are no calibrated
// probabilities, so one threshold for all would cut off some callers and keep others waiting. The threshold
// falls while the silence grows: a sure model ends the turn early, an unsure one later.
import type { HearingSettings } from '../config/hearing-config.js';

type TurnSettings = Pick<
  HearingSettings,
  'silenceMs' | 'minSilenceMs' | 'maxSilenceMs' | 'minSpeechMs' | 'maxTurnMs' | 'noInputMs' | 'endedByHand'
>;

export type TurnHint = 'unfinished' | 'finished' | undefined;

/** Longest silence in which the text of a pause is awaited, if the bound of the settings is not lower. */
const PAUSE_TEXT_MS = 2000;

/** The threshold of estimates, and the silence at which it has this value. It is linear between both. */
const HIGHEST_THRESHOLD = { probability: 0.9, silenceMs: 200 };
const LOWEST_THRESHOLD = { probability: 0.3, silenceMs: 1600 };
/**
 * Short answers such as names often keep a low estimate. From this silence on, one estimate of the pause that
 * reached this is enough.
 */
const FALLBACK = { probability: 0.1, silenceMs: 1300 };

/** An estimate from which the turn ends although its words go on, such as a number, and the silence then. */
const SURE = 0.8;
const SURE_END_MS = 500;
/** Part of the least silence that is enough where the words are a sentence and the model is sure as well. */
const SURE_SHARE = 2 / 3;
/** Below this estimate the turn waits for longer although its words are a sentence. */
const DOUBT = 0.15;

export type TurnEvent =
  | {
      readonly type: 'turn.ended';
      readonly atMs: number;
      readonly startedMs: number;
      /** Without the pauses in it. */
      readonly speechMs: number;
      /** `client`: those who conduct the call have ended it. */
      readonly reason: 'silence' | 'longest' | 'client';
      /** It was over our voice, and somebody else behind the caller. */
      readonly isDistant?: true;
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
  /** Estimates of a model that follows the turn: the last and the highest one of the present pause. */
  #estimate: { readonly last: number; readonly highest: number } | undefined;
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

  /** Onset of the open turn, if a model can move the silence that ends it. It may turn out to be a noise. */
  get movableSinceMs(): number | undefined {
    const { endedByHand, minSilenceMs, maxSilenceMs } = this.#settings;
    return endedByHand || minSilenceMs >= maxSilenceMs ? undefined : this.#startedMs;
  }

  /** Something was said since the last turn. It may turn out to be a noise. */
  get isOpen(): boolean {
    return this.#startedMs !== undefined;
  }

  /** Silence since the last speech of the turn. */
  pauseMs(nowMs: number): number {
    return nowMs - this.#stoppedMs;
  }

  /** Silence that ends the turn now. */
  get silenceMs(): number {
    const { silenceMs, minSilenceMs, maxSilenceMs } = this.#settings;
    if (this.#hint === 'unfinished') return this.#isSure ? Math.min(maxSilenceMs, SURE_END_MS) : maxSilenceMs;
    if (this.#awaitsTexts && !this.#isTextKnown)
      return Math.max(silenceMs, Math.min(maxSilenceMs, PAUSE_TEXT_MS));
    if (this.#hint === 'finished') return this.#finishedMs;
    if (this.#finished !== undefined) return maxSilenceMs - this.#finished * (maxSilenceMs - minSilenceMs);
    if (this.#estimate === undefined) return silenceMs;
    return Math.min(maxSilenceMs, Math.max(minSilenceMs, silenceBy(this.#estimate)));
  }

  /** Silence behind words that are a sentence. */
  get #finishedMs(): number {
    const { silenceMs, minSilenceMs, maxSilenceMs } = this.#settings;
    if (this.#isDoubted) return Math.max(minSilenceMs, (silenceMs + maxSilenceMs) / 2);
    return this.#isSure ? SURE_SHARE * minSilenceMs : minSilenceMs;
  }

  /** The model is sure of an end. */
  get #isSure(): boolean {
    return (this.#estimate?.last ?? 0) >= SURE;
  }

  /** The model is sure that more follows, though the words could be all. */
  get #isDoubted(): boolean {
    return (this.#estimate?.highest ?? 1) < DOUBT;
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
    this.#estimate = undefined;
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

  /** The estimate of a model that follows the turn, in a pause. It is ignored once that pause is over. */
  estimated(pause: number | undefined, probability: number): void {
    if (pause === undefined || pause !== this.pause || !Number.isFinite(probability)) return;
    this.#estimate = { last: probability, highest: Math.max(probability, this.#estimate?.highest ?? 0) };
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
    this.#estimate = undefined;
  }

  #noInput(nowMs: number): readonly TurnEvent[] {
    if (this.#noInputAtMs === undefined || nowMs < this.#noInputAtMs) return NOTHING;
    this.#noInputAtMs = undefined;
    return [{ type: 'no_input', atMs: nowMs }];
  }
}

const NOTHING: readonly TurnEvent[] = [];

/** Silence at which the falling threshold meets the last estimate, or the fallback allows the end. */
function silenceBy({ last, highest }: { readonly last: number; readonly highest: number }): number {
  const [high, low] = [HIGHEST_THRESHOLD, LOWEST_THRESHOLD];
  const fallen = (high.probability - last) / (high.probability - low.probability);
  const silenceMs = high.silenceMs + Math.max(0, fallen) * (low.silenceMs - high.silenceMs);
  const isMet = last >= low.probability;
  const fallbackMs = highest >= FALLBACK.probability ? FALLBACK.silenceMs : Infinity;
  return Math.min(isMet ? silenceMs : Infinity, fallbackMs);
}
