// The ears of the server, as the main thread sees them: one worker listens to all calls, and to rings of
// sound without a call. If it dies, another one takes its place and listens to the same.
import { Worker } from 'node:worker_threads';
import type { PcmRing } from '../audio/pcm-ring.js';
import { attempt, guarded, ParleyError } from '../errors.js';
import { Ears } from '../media/ears.js';
import type { MediaPlane } from '../media/media-plane.js';
import type { MediaSocket } from '../media/media-socket.js';
import type { Playout } from '../media/playout.js';
import type { Log } from '../log.js';
import type { Time } from '../time.js';
import type { InterruptibleTrack } from './barge-in.js';
import {
  type AnalysedStream,
  type DetectorState,
  type ExpectedWords,
  type FromHearingWorker,
  type HeardWords,
  HEARING_COUNTER_BYTES,
  HEARING_COUNTERS,
  type HearingEvent,
  type HearingWorkerData,
  type MediaHandles,
  type ToHearingWorker,
} from './hearing-messages.js';
import type { HearingSettings, TurnModelFile } from '../config/hearing-config.js';
import { disableTelemetry } from '../onnx/telemetry.js';
import { changedSettings } from './hearing-settings.js';

interface HearingOptions {
  readonly plane: Pick<MediaPlane, 'handle'>;
  /** Another model file than the one that comes with the server. */
  readonly vadModel?: string | undefined;
  /** Module of an end-of-turn model. */
  readonly endOfTurnModule?: string | undefined;
  /** Models that follow turns, preferred ones first. They run unless there is such a module. */
  readonly turnModels?: readonly TurnModelFile[];
  readonly log: Log;
  readonly time: Time;
  /** The worker's program, and the ears of the plane; others in tests. */
  readonly script?: URL;
  readonly openEars?: () => Pick<Ears, 'handle' | 'close'>;
}

interface HearingFigures {
  /** Calls that are listened to. */
  readonly calls: number;
  /** Fraction of the last second in which the worker was busy, 0 to 1. */
  readonly load: number;
  /** Windows of 32 ms so far. */
  readonly windows: number;
  /** Windows that were too quiet for the model. */
  readonly gated: number;
  /** Batches that the model has analysed. */
  readonly runs: number;
}

interface CallMedia {
  readonly socket: Pick<MediaSocket, 'handle'>;
  readonly playout: Pick<Playout, 'handle'>;
}

const SAMPLE_MS = 1000;
const MAX_FAILED_STARTS = 3; // workers in a row that die soon
const SHORT_LIFE_MS = 10_000;
const CLOSE_TIMEOUT_MS = 2000; // a worker that does not end by itself by then is ended

export class Hearing {
  readonly #options: HearingOptions;
  readonly #streams = new Map<number, HearingStream>();
  readonly #counters = new Int32Array(new SharedArrayBuffer(HEARING_COUNTER_BYTES));
  readonly #seen = new Int32Array(HEARING_COUNTER_BYTES / 4);
  readonly #totals = { windows: 0, gated: 0, runs: 0 };
  #load = 0;
  #streamCount = 0;
  #worker: Worker | undefined;
  #ears: Pick<Ears, 'close'> | undefined;
  #state: DetectorState = { detector: 'energy', problem: 'the model is not loaded yet' };
  #endOfTurnProblem: string | undefined;
  #failure: Error | undefined;
  /** Workers in a row that died soon. */
  #failedStarts = 0;
  #readyMs = 0;
  #settleReady: { readonly resolve: () => void; readonly reject: (error: ParleyError) => void } | undefined;
  #cancelSample: () => void = () => undefined;
  #resolveGone: () => void = () => undefined;
  #closed: Promise<void> | undefined;

  private constructor(options: HearingOptions) {
    this.#options = options;
  }

  /** Resolves when the worker listens. Throws HEARING_FAILED if no worker can be started. */
  static async open(options: HearingOptions): Promise<Hearing> {
    const hearing = new Hearing(options);
    await new Promise<void>((resolve, reject) => {
      hearing.#settleReady = { resolve, reject };
      hearing.#start();
    });
    hearing.#planSample();
    return hearing;
  }

  /** `energy`: the model could not be loaded. `none`: no worker runs any more. */
  get detector(): DetectorState['detector'] {
    return this.#state.detector;
  }

  /** `turnModels`: the end-of-turn models that are used; undefined without one. */
  get health(): Pick<DetectorState, 'detector' | 'turnModels'> & { readonly problem: string | undefined } {
    const { detector, turnModels } = this.#state;
    return { detector, ...(turnModels?.length && { turnModels }), problem: this.problem };
  }

  /** Names the reason if the detector is not Silero, or the end-of-turn model does not answer. */
  get problem(): string | undefined {
    const problems = [this.#state.problem, this.#endOfTurnProblem].filter((one) => one !== undefined);
    return problems.length === 0 ? undefined : problems.join('; ');
  }

  /**
   * Listens to a call. Events come in order, on this thread, until the stream is closed. Throws INVALID_FIELD
   * for settings that are not allowed, HEARING_FAILED if no worker runs any more, and WRONG_STATE after
   * `close`.
   */
  listen(
    call: string,
    media: CallMedia,
    settings: HearingSettings,
    onEvent: (event: HearingEvent) => void,
  ): HearingStream {
    if (this.#closed !== undefined) throw new ParleyError('WRONG_STATE', 'the hearing is closed');
    if (this.#state.detector === 'none') throw new ParleyError('HEARING_FAILED', this.#state.problem ?? '');
    return this.#open({ call, media: handlesOf(media), settings, listener: { event: onEvent } });
  }

  #open(heard: Pick<StreamOptions, 'call' | 'media' | 'ring' | 'settings' | 'listener'>): HearingStream {
    const number = ++this.#streamCount;
    const stream = new HearingStream({
      ...heard,
      number,
      settings: changedSettings(heard.settings, {}),
      post: (message) => this.#worker?.postMessage(message),
      now: () => this.#options.time.now(),
    });
    this.#streams.set(number, stream);
    stream.attach();
    return stream;
  }

  /**
   * Finds speech and turns in the sound of a ring of any rate, which nobody else reads. Times are those of
   * the sound. Throws as `listen` does.
   */
  listenToRing(
    name: string,
    ring: PcmRing,
    settings: HearingSettings,
    listener: RingListener,
  ): HearingStream {
    if (this.#closed !== undefined) throw new ParleyError('WRONG_STATE', 'the hearing is closed');
    if (this.#state.detector === 'none') throw new ParleyError('HEARING_FAILED', this.#state.problem ?? '');
    return this.#open({ call: name, ring, settings, listener });
  }

  figures(): HearingFigures {
    this.#readCounters();
    const calls = [...this.#streams.values()].filter(({ isClosed }) => !isClosed).length;
    return { calls, load: this.#load, ...this.#totals };
  }

  /** Closes the streams and ends the worker. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #start(): void {
    const { plane, vadModel, endOfTurnModule, turnModels = [], script } = this.#options;
    const { openEars = () => Ears.open(plane) } = this.#options;
    // Ears of their own for each worker: those of one that died hear nothing more once they are closed.
    const ears = openEars();
    this.#ears = ears;
    const counters = this.#counters;
    const models = { vadModel, endOfTurnModule, turnModels };
    const data: HearingWorkerData = { ears: ears.handle, ...models, counters };
    let isReady = false;
    this.#failure = undefined;
    this.#endOfTurnProblem = undefined;
    disableTelemetry();
    const worker = new Worker(script ?? new URL('./hearing-worker.js', import.meta.url), {
      name: 'parley-hearing',
      workerData: data,
    });
    worker.on('message', (message: FromHearingWorker) => {
      if (message.type === 'event')
        return this.#tell(message.stream, (stream) => stream.receive(message.event, message.decidedMs));
      if (message.type === 'forgotten') return void this.#streams.delete(message.stream);
      if (message.type === 'failed') return this.#failed(message.stream, message.message);
      if (message.type === 'end-of-turn') return this.#endOfTurnChanged(message);
      if (message.type === 'analysed') {
        for (const place of message.streams) this.#tell(place.stream, (stream) => stream.analysed(place));
        return undefined;
      }
      isReady = true;
      this.#ready(message.state);
    });
    worker.on('error', (error: Error) => (this.#failure = error));
    worker.on('exit', (code) => this.#gone(isReady, code));
    this.#worker = worker;
  }

  /** A stream whose listener throws is heard no more, and no other. */
  #tell(number: number, action: (stream: HearingStream) => void): void {
    const stream = this.#streams.get(number);
    if (stream === undefined) return;
    const fail = ({ message }: ParleyError) => {
      stream.lost(message);
      stream.close();
    };
    guarded({ work: 'hearing', call: stream.call }, () => action(stream), fail)();
  }

  /** The worker met a defect in the work of one stream, and has dropped it. */
  #failed(number: number, detail: string): void {
    const stream = this.#streams.get(number);
    this.#streams.delete(number);
    this.#options.log.error({ code: 'HEARING_FAILED', detail, call: stream?.call }, 'call is heard no more');
    const work = { work: 'hearing', call: stream?.call };
    attempt(work, () => stream?.interrupted());
    attempt(work, () => stream?.lost(detail));
  }

  #ready(state: DetectorState): void {
    this.#state = state;
    this.#readyMs = this.#options.time.now();
    const { log } = this.#options;
    if (state.detector === 'silero') log.info({ ...state }, 'voice activity model loaded');
    else log.error({ ...state }, 'voice activity model missing');
    this.#settleReady?.resolve();
    this.#settleReady = undefined;
  }

  #endOfTurnChanged({ problem, turnModels }: Extract<FromHearingWorker, { type: 'end-of-turn' }>): void {
    this.#endOfTurnProblem = problem;
    if (turnModels !== undefined) this.#state = { ...this.#state, turnModels };
    const { log } = this.#options;
    if (problem === undefined) log.info({}, 'end-of-turn model answers again');
    else log.error({ problem }, 'end-of-turn model not used');
  }

  #gone(wasReady: boolean, code: number): void {
    this.#worker = undefined;
    this.#ears?.close();
    this.#resolveGone();
    if (this.#closed !== undefined) return;
    const livedMs = wasReady ? this.#options.time.now() - this.#readyMs : 0;
    this.#failedStarts = livedMs < SHORT_LIFE_MS ? this.#failedStarts + 1 : 0;
    const detail = this.#failure?.message ?? `it exited with ${code}`;
    const calls = [...this.#streams.values()].map((stream) => stream.call);
    const isLast = this.#failedStarts >= MAX_FAILED_STARTS;
    const phrase = isLast ? 'hearing worker cannot be started' : 'hearing worker replaced';
    this.#options.log.error({ code: 'HEARING_FAILED', detail, calls }, phrase);
    for (const [number, stream] of this.#streams) {
      attempt({ work: 'hearing', call: stream.call }, () => stream.interrupted());
      if (stream.isClosed) this.#streams.delete(number);
    }
    if (!isLast) {
      this.#start();
      for (const stream of this.#streams.values()) stream.attach();
      return;
    }
    const problem = `no hearing worker can be started: ${detail}`;
    this.#state = { detector: 'none', problem };
    this.#settleReady?.reject(new ParleyError('HEARING_FAILED', problem, { cause: this.#failure }));
    for (const stream of this.#streams.values())
      attempt({ work: 'hearing', call: stream.call }, () => stream.lost(problem));
  }

  #planSample(): void {
    const beganMs = this.#options.time.now();
    const workedUs = this.#counter('workedUs');
    this.#cancelSample = this.#options.time.after(SAMPLE_MS, () => {
      const tookMs = Math.max(1, this.#options.time.now() - beganMs);
      const worked = (this.#counter('workedUs') - workedUs) | 0;
      this.#load = Math.min(1, worked / 1000 / tookMs);
      this.#readCounters();
      this.#planSample();
    });
  }

  #counter(name: keyof typeof HEARING_COUNTERS): number {
    return Atomics.load(this.#counters, HEARING_COUNTERS[name]);
  }

  /** Adds what the counters have grown by. They wrap around. */
  #readCounters(): void {
    for (const name of ['windows', 'gated', 'runs'] as const) {
      const value = this.#counter(name);
      const place = HEARING_COUNTERS[name];
      this.#totals[name] += (value - (this.#seen[place] ?? 0)) >>> 0;
      this.#seen[place] = value;
    }
  }

  async #close(): Promise<void> {
    this.#cancelSample();
    for (const stream of this.#streams.values()) stream.close();
    const worker = this.#worker;
    if (worker === undefined) return;
    const gone = new Promise<void>((resolve) => (this.#resolveGone = resolve));
    worker.postMessage({ type: 'close' } satisfies ToHearingWorker);
    const timer = setTimeout(() => void worker.terminate(), CLOSE_TIMEOUT_MS);
    // A run of a model cannot be interrupted: its thread may outlive the hearing.
    const late = setTimeout(() => this.#resolveGone(), 2 * CLOSE_TIMEOUT_MS);
    await gone;
    clearTimeout(timer);
    clearTimeout(late);
  }
}

/** Called on this thread, in the order of the sound. */
interface RingListener {
  /** `decidedMs`: end of the window that decided; no event about the sound before it follows. */
  readonly event: (event: HearingEvent, decidedMs: number) => void;
  /** The sound is analysed up to here. Afterwards comes no event about the sound before. */
  readonly analysed: (atMs: number, isOver: boolean) => void;
  /** No worker can be started any more: nothing follows. */
  readonly lost: (error: ParleyError) => void;
}

interface StreamOptions {
  readonly number: number;
  readonly call: string;
  /** The media of a call. */
  readonly media?: MediaHandles;
  /** A ring without a call. */
  readonly ring?: Pick<PcmRing, 'handle' | 'rate'>;
  readonly settings: HearingSettings;
  readonly listener: Partial<RingListener> & Pick<RingListener, 'event'>;
  readonly post: (message: ToHearingWorker) => void;
  readonly now: () => number;
}

interface OpenTurn {
  readonly startedMs: number;
  /** Speech that has stopped. */
  readonly speechMs: number;
  /** End of that speech. */
  readonly stoppedMs: number;
}

/** The ears of one call. */
export class HearingStream {
  readonly #options: StreamOptions;
  #media: MediaHandles | undefined;
  #settings: HearingSettings;
  /** Place in a ring's sound up to which it is analysed. */
  #analysedMs = 0;
  #tracks: readonly InterruptibleTrack[] = [];
  #awaitedMs: number | undefined;
  #expectedWords: ExpectedWords = 'none';
  /** Pause, speech and turn that have begun and not ended: the death of a worker ends them. */
  #paused: number | undefined;
  #speakingSinceMs: number | undefined;
  #turn: OpenTurn | undefined;
  /** Orders to end the turn that the worker has not obeyed. */
  #ordersToEnd = 0;
  #closed = false;

  /** Made by Hearing.listen. */
  constructor(options: StreamOptions) {
    this.#options = options;
    this.#media = options.media;
    this.#settings = options.settings;
  }

  /** The call's name in the log. */
  get call(): string {
    return this.#options.call;
  }

  /** The call moved to another socket and playout. */
  follow(media: CallMedia): void {
    this.#media = handlesOf(media);
    this.#post({ type: 'follow', stream: this.#options.number, media: this.#media });
  }

  /** Throws INVALID_FIELD for settings that are not allowed; then nothing has changed. */
  change(settings: Partial<HearingSettings>): void {
    this.#settings = changedSettings(this.#settings, settings);
    if (this.#settings.noInputMs === 0) this.#awaitedMs = undefined;
    this.#post({ type: 'change', stream: this.#options.number, settings: this.#settings });
  }

  /**
   * Utterances that speech may interrupt from now on: the track and its mode. Empty: none. A pause of a track
   * that is not among them ends with `bargein.false`.
   */
  interruptible(tracks: readonly InterruptibleTrack[]): void {
    this.#tracks = tracks.map(({ track, by }) => ({ track, by }));
    this.#post({ type: 'interruptible', stream: this.#options.number, tracks: this.#tracks });
  }

  /** States what will be known of the caller's words from now on: `words` tells them. */
  expectWords(expected: ExpectedWords): void {
    this.#expectedWords = expected;
    this.#post({ type: 'expect-words', stream: this.#options.number, expected });
  }

  /** Tells what the words so far say. It holds until the caller speaks again. */
  words(words: HeardWords): void {
    this.#post({ type: 'words', stream: this.#options.number, words });
  }

  /** Begins the no-input time-out. */
  awaitInput(): void {
    this.#awaitedMs = this.#settings.noInputMs === 0 ? undefined : this.#options.now();
    this.#post({ type: 'await', stream: this.#options.number, atMs: this.#options.now() });
  }

  /** Ends the turn of the caller now: `turn.ended` follows, also if nothing was said. */
  endTurn(): void {
    this.#ordersToEnd++;
    this.#post({ type: 'end-turn', stream: this.#options.number, atMs: this.#options.now() });
  }

  /**
   * Only the end of a pause comes after this: `bargein.false`, if the worker has paused the voice.
   * Idempotent.
   */
  close(): void {
    if (this.#closed) return;
    this.#post({ type: 'forget', stream: this.#options.number });
    this.#closed = true;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** Called by Hearing: a new worker is to listen. */
  attach(): void {
    const { number: stream, ring } = this.#options;
    const settings = this.#settings;
    if (ring !== undefined)
      this.#post({ type: 'listen-ring', stream, ring: ring.handle, rate: ring.rate, settings });
    if (this.#media !== undefined) this.#post({ type: 'listen', stream, media: this.#media, settings });
    if (this.#tracks.length > 0) this.#post({ type: 'interruptible', stream, tracks: this.#tracks });
    if (this.#expectedWords !== 'none')
      this.#post({ type: 'expect-words', stream, expected: this.#expectedWords });
    if (this.#awaitedMs !== undefined) this.#post({ type: 'await', stream, atMs: this.#awaitedMs });
    for (let order = 0; order < this.#ordersToEnd; order++)
      this.#post({ type: 'end-turn', stream, atMs: this.#options.now() });
  }

  /** Called by Hearing: the worker died. */
  interrupted(): void {
    const atMs = this.#options.ring === undefined ? this.#options.now() : this.#analysedMs;
    if (this.#paused !== undefined)
      this.receive({ type: 'bargein.false', track: this.#paused, atMs, speechMs: 0 }, atMs);
    if (this.#speakingSinceMs !== undefined) {
      const durationMs = Math.max(0, atMs - this.#speakingSinceMs);
      this.receive({ type: 'speech.stopped', atMs, durationMs }, atMs);
    }
    if (this.#settings.endedByHand) return;
    const turn = this.#turn;
    this.#turn = undefined;
    if (turn === undefined || turn.speechMs < this.#settings.minSpeechMs) return;
    const { startedMs, speechMs } = turn;
    this.receive({ type: 'turn.ended', atMs, startedMs, speechMs, reason: 'silence' }, atMs);
  }

  /** Called by Hearing: the worker has analysed the ring so far. */
  analysed({ atMs, isOver }: Omit<AnalysedStream, 'stream'>): void {
    if (this.#closed) return;
    this.#analysedMs = Math.max(this.#analysedMs, atMs);
    this.#options.listener.analysed?.(this.#analysedMs, isOver);
  }

  /** Called by Hearing: no worker runs any more. */
  lost(problem: string): void {
    if (!this.#closed) this.#options.listener.lost?.(new ParleyError('HEARING_FAILED', problem));
  }

  /** Called by Hearing: an event of the worker. */
  receive(event: HearingEvent, decidedMs: number): void {
    if (this.#closed && event.type !== 'bargein.paused' && event.type !== 'bargein.false') return;
    if (event.type === 'bargein.paused') this.#paused = event.track;
    else if (event.type === 'bargein.confirmed' || event.type === 'bargein.false') this.#paused = undefined;
    else if (event.type === 'speech.started') this.#speechStarted(event.atMs);
    else if (event.type === 'speech.stopped') this.#speechStopped(event.atMs);
    else this.#awaitedMs = undefined;
    if (event.type === 'turn.ended') this.#turnEnded(event.atMs, event.reason === 'client');
    this.#options.listener.event(event, decidedMs);
  }

  #speechStarted(atMs: number): void {
    this.#speakingSinceMs = atMs;
    const { minSpeechMs, silenceMs } = this.#settings;
    const turn = this.#turn;
    // The worker drops a noise that is too short for a turn, and sends no event of that.
    const isNoise = turn !== undefined && turn.speechMs < minSpeechMs && atMs - turn.stoppedMs >= silenceMs;
    if (turn === undefined || isNoise) this.#turn = { startedMs: atMs, speechMs: 0, stoppedMs: atMs };
  }

  #speechStopped(atMs: number): void {
    const [turn, sinceMs] = [this.#turn, this.#speakingSinceMs];
    this.#speakingSinceMs = undefined;
    if (turn === undefined || sinceMs === undefined) return;
    const speechMs = turn.speechMs + Math.max(0, atMs - Math.max(sinceMs, turn.startedMs));
    this.#turn = { ...turn, speechMs, stoppedMs: atMs };
  }

  /** After the longest turn the speech goes on in another one. */
  #turnEnded(atMs: number, isByOrder: boolean): void {
    if (isByOrder) this.#ordersToEnd--;
    const goesOn = this.#speakingSinceMs !== undefined;
    this.#turn = goesOn ? { startedMs: atMs, speechMs: 0, stoppedMs: atMs } : undefined;
  }

  #post(message: ToHearingWorker): void {
    if (!this.#closed) this.#options.post(message);
  }
}

function handlesOf({ socket, playout }: CallMedia): MediaHandles {
  return { socket: socket.handle, playout: playout.handle };
}
