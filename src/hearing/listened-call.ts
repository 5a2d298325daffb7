// One call in the hearing worker: from the windows of its sound to the events of its speech and turns.
import { Background } from './background.js';
import { BargeIn, type BargeInEvent, type InterruptibleTrack } from './barge-in.js';
import { CallerLevel } from './caller-level.js';
import { EarlyOnset, type WindowSound } from './early-onset.js';
import { SILENCE_DB, WINDOW_MS } from './ear-source.js';
import { EchoGuard, type EchoGuardWorkspace } from './echo-guard.js';
import { type CheckedEndOfTurnModel, RecentSound } from './end-of-turn.js';
import { EnergyGate } from './energy-gate.js';
import {
  type ExpectedWords,
  type HeardWords,
  type HearingEvent,
  type MediaHandles,
  speechEvent,
} from './hearing-messages.js';
import type { HearingSettings } from '../config/hearing-config.js';
import { SpeechDetector } from './speech-detector.js';
import { TurnDetector, type TurnEvent } from './turn-detector.js';
import { TurnFollower, type TurnModels } from './turn-follower.js';
import type { VoiceMemory } from './voice-model.js';

/** One window of both sides. The samples are views that are valid until the next take. */
export interface CallWindow {
  readonly caller: Float32Array;
  readonly ours: Float32Array;
  readonly endMs: number;
  readonly callerDb: number;
  readonly oursDb: number;
  /** Windows that were lost before it. */
  readonly dropped: number;
}

interface CallOptions<M extends VoiceMemory> {
  readonly media: MediaHandles;
  readonly settings: HearingSettings;
  readonly memory: M;
  readonly echo: EchoGuardWorkspace;
  readonly fade: (playout: number, track: number) => boolean;
  /** `decidedMs`: end of the window that decided. */
  readonly onEvent: (event: HearingEvent, decidedMs: number) => void;
  readonly endOfTurn?: CheckedEndOfTurnModel | TurnModels | undefined;
}

export class ListenedCall<M extends VoiceMemory> {
  readonly memory: M;
  media: MediaHandles;
  readonly #tell: (event: HearingEvent, decidedMs: number) => void;
  readonly #gate = new EnergyGate();
  readonly #background = new Background();
  readonly #level = new CallerLevel();
  readonly #guard: EchoGuard;
  readonly #detector: SpeechDetector;
  readonly #early = new EarlyOnset();
  readonly #turns: TurnDetector;
  readonly #bargeIn: BargeIn;
  readonly #endOfTurn: CheckedEndOfTurnModel | undefined;
  /** The last sound for the end-of-turn model; undefined without one. */
  readonly #recent: RecentSound | undefined;
  /** Undefined without a model that follows turns. */
  readonly #follower: TurnFollower | undefined;
  /** A question to the end-of-turn model has no answer yet. */
  #isAsking = false;
  #isOver = false;
  #isOpen = false;
  #isEcho = false;
  #isHidden = false;
  /** A voice of ours plays that speech may interrupt. */
  #isInterruptible = false;
  #isLoud = false;
  #callerDb = SILENCE_DB;
  #atMs = 0;

  constructor({ media, settings, memory, echo, fade, onEvent, endOfTurn }: CallOptions<M>) {
    this.media = media;
    this.memory = memory;
    this.#tell = onEvent;
    this.#guard = new EchoGuard(echo);
    this.#detector = new SpeechDetector(settings.sensitivity);
    this.#turns = new TurnDetector(settings);
    this.#bargeIn = new BargeIn(settings, (track) => fade(this.media.playout, track));
    if (endOfTurn === undefined) return;
    if ('open' in endOfTurn) {
      this.#follower = new TurnFollower(this.#turns, endOfTurn);
    } else {
      this.#endOfTurn = endOfTurn;
      this.#recent = new RecentSound(endOfTurn.seconds);
    }
  }

  /** True if the window is to be analysed by the model. Then, or else at once, `decide` is called. */
  isWorthModel({ caller, ours, callerDb, oursDb, dropped }: CallWindow): boolean {
    if (dropped > 0) this.memory.reset();
    const wasOpen = this.#isOpen;
    const { thresholdDb } = this.#gate;
    this.#isOpen = this.#gate.isOpen(callerDb, this.#detector.isSpeaking);
    this.#isLoud = callerDb > thresholdDb;
    this.#callerDb = callerDb;
    this.#isEcho = this.#guard.isEcho(caller, ours, { callerDb, oursDb, thresholdDb });
    this.#isHidden = this.#background.hides(callerDb);
    this.#early.window(caller, this.#windowSound(), thresholdDb);
    this.#recent?.add(caller);
    this.#follower?.hear(caller);
    if (this.#isOpen) return true;
    if (wasOpen) this.memory.reset();
    this.memory.skip(caller);
    return false;
  }

  /** Ends the events of the call: a voice that it paused goes on. */
  end(): void {
    this.#isOver = true;
    this.#emitIfAny(this.#bargeIn.interruptible([], this.#atMs));
  }

  /** Decides about the window that `isWorthModel` saw last. */
  decide(probability: number, endMs: number): void {
    if (this.#isOver) return;
    this.#atMs = endMs;
    const voice = this.#isEcho || (this.#isHidden && this.#isInterruptible) ? 0 : probability;
    const change = this.#detector.window(voice, {
      endMs,
      isLoud: this.#isLoud && !this.#isEcho,
    });
    if (change !== undefined) this.#onEvent(speechEvent(change));
    if (this.#detector.isSpeaking && this.#isLoud && !this.#isEcho) this.#level.speech(this.#callerDb);
    this.#bargeIn.isDistant = this.#level.isDistant;
    if (change?.type === 'started') {
      this.#turns.started(change.atMs);
      this.#emitIfAny(this.#bargeIn.started(change.atMs, endMs));
    } else if (change?.type === 'stopped') {
      this.#turns.stopped(change.atMs);
      this.#emitIfAny(this.#bargeIn.stopped(change.durationMs, endMs, this.#turns.speechMs));
      this.#askEndOfTurn();
    } else {
      const { speechMs } = this.#detector;
      this.#emitIfAny(this.#bargeIn.advance(speechMs, endMs, this.#turns.speechMs + speechMs));
      this.#suspect(voice, endMs);
    }
    for (const event of this.#turns.advance(endMs)) this.#onTurnEvent(event);
    if (!this.#turns.isOpen) this.#level.forget();
    this.#follower?.decided(endMs);
  }

  /** Nothing is decided any more. Idempotent. */
  close(): void {
    this.#isOver = true;
    this.#follower?.close();
  }

  /** The call moved to another socket and playout. The path of its echo may be another one. */
  follow(media: MediaHandles): void {
    this.media = media;
    this.#guard.reset();
    this.#level.restart();
  }

  change(settings: HearingSettings): void {
    this.#detector.sensitivity = settings.sensitivity;
    this.#turns.settings = settings;
    this.#bargeIn.settings = settings;
  }

  interruptible(tracks: readonly InterruptibleTrack[]): void {
    this.#isInterruptible = tracks.length > 0;
    this.#emitIfAny(this.#bargeIn.interruptible(tracks, this.#atMs));
  }

  expectWords(expected: ExpectedWords): void {
    this.#turns.awaitsTexts = expected === 'texts of pauses';
    this.#emitIfAny(this.#bargeIn.awaitWords(expected !== 'none', this.#atMs));
  }

  words({ hint, pauseMs, isNoInterruption, language }: HeardWords): void {
    if (language !== undefined && this.#follower !== undefined) this.#follower.language = language;
    this.#turns.hint(hint, pauseMs);
    if (isNoInterruption) this.#emitIfAny(this.#bargeIn.dismiss(this.#atMs));
  }

  awaitInput(nowMs: number): void {
    this.#turns.awaitInput(nowMs);
  }

  /** Ends the turn with the window that was decided last. `nowMs`: in place of it before the first one. */
  endTurn(nowMs: number): void {
    if (this.#atMs === 0) this.#atMs = nowMs;
    this.#onTurnEvent(this.#turns.end(this.#atMs));
  }

  #windowSound(): WindowSound {
    if (!this.#isLoud || this.#isHidden) return 'silence';
    return this.#isEcho ? 'echo' : 'caller';
  }

  /** A sound that may be the beginning of a word pauses the voice before speech is found. */
  #suspect(probability: number, endMs: number): void {
    if (this.#detector.isSpeaking || !this.#isInterruptible || !this.#early.isLikely(probability)) return;
    this.#emitIfAny(this.#bargeIn.suspected(endMs - this.#early.windows * WINDOW_MS, endMs));
  }

  #onTurnEvent(event: TurnEvent): void {
    if (event.type !== 'turn.ended') return this.#onEvent(event);
    const { isIgnored } = this.#bargeIn;
    this.#level.turnEnded(isIgnored ? 'distant' : this.#isInterruptible ? 'unknown' : 'caller');
    this.#bargeIn.isDistant = false;
    return this.#onEvent(isIgnored ? { ...event, isDistant: true } : event);
  }

  #onEvent(event: HearingEvent): void {
    this.#tell(event, this.#atMs);
  }

  #emitIfAny(event: BargeInEvent | undefined): void {
    if (event !== undefined) this.#onEvent(event);
  }

  /** At most one question is open. A pause that begins meanwhile is asked about after it, if it lasts. */
  #askEndOfTurn(): void {
    const { pause } = this.#turns;
    if (this.#recent === undefined || pause === undefined || this.#isAsking || this.#isOver) return;
    this.#isAsking = true;
    void this.#endOfTurn?.ask(this.#recent.get()).then((finished) => {
      this.#isAsking = false;
      // Without an answer the silence of the settings decides.
      if (finished !== undefined) this.#turns.answer(pause, finished);
      if (this.#turns.pause !== pause) this.#askEndOfTurn();
    });
  }
}
