// One call in the hearing worker: from the windows of its sound to the events of its speech and turns.
import { BargeIn, type BargeInEvent, type InterruptibleTrack } from './barge-in.js';
import { WINDOW_SAMPLES } from '../media/ears.js';
import { SAMPLE_RATE } from './ear-source.js';
import { EchoGuard, type EchoGuardWorkspace } from './echo-guard.js';
import { EnergyGate } from './energy-gate.js';
import { type HearingEvent, type MediaHandles, speechEvent } from './hearing-messages.js';
import type { HearingSettings } from './hearing-settings.js';
import { SpeechDetector } from './speech-detector.js';
import { type EndOfTurnModel, TurnDetector, type TurnHint } from './turn-detector.js';
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
  readonly onEvent: (event: HearingEvent) => void;
  readonly endOfTurn?: EndOfTurnModel | undefined;
}

export class ListenedCall<M extends VoiceMemory> {
  readonly memory: M;
  media: MediaHandles;
  readonly #onEvent: (event: HearingEvent) => void;
  readonly #gate = new EnergyGate();
  readonly #guard: EchoGuard;
  readonly #detector: SpeechDetector;
  readonly #turns: TurnDetector;
  readonly #bargeIn: BargeIn;
  readonly #endOfTurn: EndOfTurnModel | undefined;
  /** The last sound for the end-of-turn model; empty without one. */
  readonly #recent: Float32Array;
  #isOver = false;
  #isOpen = false;
  #isEcho = false;
  #isLoud = false;
  #atMs = 0;

  constructor({ media, settings, memory, echo, fade, onEvent, endOfTurn }: CallOptions<M>) {
    this.media = media;
    this.memory = memory;
    this.#onEvent = onEvent;
    this.#guard = new EchoGuard(echo);
    this.#detector = new SpeechDetector(settings.sensitivity);
    this.#turns = new TurnDetector(settings);
    this.#bargeIn = new BargeIn(settings, (track) => fade(this.media.playout, track));
    this.#endOfTurn = endOfTurn;
    this.#recent = new Float32Array(Math.ceil((endOfTurn?.seconds ?? 0) * SAMPLE_RATE));
  }

  /** True if the window is to be analysed by the model. Then, or else at once, `decide` is called. */
  isWorthModel({ caller, ours, callerDb, oursDb, dropped }: CallWindow): boolean {
    if (dropped > 0) this.memory.reset();
    const wasOpen = this.#isOpen;
    const { thresholdDb } = this.#gate;
    this.#isOpen = this.#gate.isOpen(callerDb, this.#detector.isSpeaking);
    this.#isLoud = callerDb > thresholdDb;
    this.#isEcho = this.#guard.isEcho(caller, ours, { callerDb, oursDb, thresholdDb });
    if (this.#recent.length > 0) this.#remember(caller);
    if (this.#isOpen) return true;
    if (wasOpen) this.memory.reset();
    this.memory.skip(caller);
    return false;
  }

  /** Nobody wants to know of the call any more: a voice that it paused goes on. */
  end(): void {
    this.#isOver = true;
    this.#tell(this.#bargeIn.interruptible([], this.#atMs));
  }

  /** Decides about the window that `isWorthModel` saw last. */
  decide(probability: number, endMs: number): void {
    if (this.#isOver) return;
    this.#atMs = endMs;
    const voice = this.#isEcho ? 0 : probability;
    const change = this.#detector.window(voice, {
      endMs,
      isLoud: this.#isLoud && !this.#isEcho,
      isDoubtful: this.#guard.hasEcho,
    });
    if (change !== undefined) this.#onEvent(speechEvent(change));
    if (change?.type === 'started') {
      this.#turns.started(change.atMs);
      this.#tell(this.#bargeIn.started(change.atMs, endMs));
    } else if (change?.type === 'stopped') {
      this.#turns.stopped(change.atMs);
      this.#tell(this.#bargeIn.stopped(change.durationMs, endMs));
      this.#askEndOfTurn();
    } else {
      this.#tell(this.#bargeIn.advance(this.#detector.speechMs, endMs));
    }
    for (const event of this.#turns.advance(endMs)) this.#onEvent(event);
  }

  /** The call moved to another socket and playout. The path of its echo may be another one. */
  follow(media: MediaHandles): void {
    this.media = media;
    this.#guard.reset();
  }

  change(settings: HearingSettings): void {
    this.#detector.sensitivity = settings.sensitivity;
    this.#turns.settings = settings;
    this.#bargeIn.settings = settings;
  }

  interruptible(tracks: readonly InterruptibleTrack[]): void {
    this.#tell(this.#bargeIn.interruptible(tracks, this.#atMs));
  }

  hint(hint: TurnHint): void {
    this.#turns.hint(hint);
  }

  awaitInput(nowMs: number): void {
    this.#turns.awaitInput(nowMs);
  }

  #tell(event: BargeInEvent | undefined): void {
    if (event !== undefined) this.#onEvent(event);
  }

  #remember(caller: Float32Array): void {
    this.#recent.copyWithin(0, WINDOW_SAMPLES);
    this.#recent.set(caller, this.#recent.length - WINDOW_SAMPLES);
  }

  #askEndOfTurn(): void {
    if (this.#endOfTurn === undefined) return;
    const { pause } = this.#turns;
    const answer = this.#endOfTurn.ask(this.#recent.slice());
    // Without an answer the silence of the settings decides.
    answer.then((finished) => this.#turns.answer(pause, finished)).catch(() => undefined);
  }
}
