// Speaks many sentences of one checkpoint at once in the native engine, with one step of the model per frame.
// The folder of each kind of model says what its checkpoints offer, and opens this engine with it.
import { randomInt } from 'node:crypto';
import type { PcmRing } from '../../audio/pcm-ring.js';
import { asParleyError, type ErrorCode, ParleyError } from '../../errors.js';
import { systemTime, type Time } from '../../time.js';
import { EngineLifecycle } from '../engine-lifecycle.js';
import {
  type ChunkCounts,
  type EngineCapabilities,
  type EngineDevice,
  type EngineWork,
  keepRingContract,
  type SpeechClass,
  type SpeechEnd,
  type SpeechEngine,
  type SynthesisRequest,
  UNHURRIED,
  type Urgency,
  type Voice,
} from '../engine.js';
import { chunksOf, NO_CHUNKS } from '../engine-work.js';
import { type EngineSlot, Scheduler } from '../scheduler.js';
import { agingMs } from '../sentence-queue.js';
import type { EngineLimits } from '../worker-engine.js';
import {
  type ModelFacts,
  type NativeEnd,
  type NativeOptions,
  type NativeOutcome,
  type NativeRecording,
  type NativeRequest,
  NativeSpeech,
  type NativeStats,
  type NativeStream,
} from './native-speech.js';

// A byte of text in UTF-8 lasts about 0.9 frames at an ordinary pace in English and Chinese, and half as long
// in Russian. Two frames are room for a voice that speaks half as fast.
const FRAMES_PER_BYTE = 2;
// Limits of the native engine. Below either of the first two only the likeliest token is left, as with greedy
// decoding. The vocabulary has fewer tokens than the third.
const LEAST_TEMPERATURE = 0.0001;
const LEAST_TOP_P = 1e-6;
const MOST_TOP_K = 1_000_000;
const SEEDS = 2 ** 47; // as many as randomInt draws from

export interface NativeEngineOptions extends EngineLimits {
  readonly native: NativeOptions;
}

/** A checkpoint, as this server knows it. */
export interface NativeModel {
  /** Name of the engine. */
  readonly engine: string;
  /** A hash of the files alone; the same files with other options sound otherwise. */
  readonly identity: string;
  readonly facts: ModelFacts;
  readonly voices: readonly Voice[];
  readonly capabilities: EngineCapabilities;
  /** What the log says of it besides. */
  readonly about?: Readonly<Record<string, string>>;
  /** The checkpoint's name of a language; undefined if it has none. */
  languageOf(tag: string): string | undefined;
}

/** Error codes of outcomes without sound. */
const CODES: Readonly<Partial<Record<NativeOutcome, ErrorCode>>> = {
  cancelled: 'ABORTED',
  'too large': 'TEXT_TOO_LONG',
  'bad request': 'INVALID_FIELD',
  'out of memory': 'ENGINE_BUSY',
  closed: 'ENGINE_UNAVAILABLE',
  failed: 'ENGINE_FAILED',
};

export class NativeEngine implements SpeechEngine {
  readonly name: string;
  readonly identity: string;
  readonly capabilities: EngineCapabilities;
  readonly #model: NativeModel;
  readonly #options: NativeEngineOptions;
  readonly #time: Time;
  readonly #scheduler: Scheduler;
  readonly #lifecycle: EngineLifecycle;
  readonly #busy = new BusyShare();
  #native: NativeSpeech | undefined;
  /** Counted by loads that ended. */
  #chunksBefore = NO_CHUNKS;
  /** True once it has computed on a GPU: later loads must use one as well. */
  #onGpu = false;
  /** Reason of a lost device, until the next load. */
  #lost: string | undefined;

  constructor(model: NativeModel, options: NativeEngineOptions) {
    const { quantize, codecFormat, fullVectors = false } = options.native;
    const precision = fullVectors ? ['full vectors'] : [];
    this.name = model.engine;
    this.identity = JSON.stringify([model.identity, quantize, codecFormat, ...precision]);
    this.#model = model;
    this.#options = options;
    this.#time = options.time ?? systemTime;
    this.capabilities = model.capabilities;
    const { maxWaiting, maxWaitMs, idleMs = 0, onNews } = options;
    const { name: engine } = this;
    const concurrency = options.native.maxStreams;
    this.#scheduler = new Scheduler({ engine, concurrency, maxWaiting, maxWaitMs, time: this.#time });
    this.#lifecycle = new EngineLifecycle(this.#loadable(), { engine, idleMs, time: this.#time, onNews });
  }

  get usable(): boolean {
    return this.trouble === undefined;
  }

  get trouble(): string | undefined {
    const now = this.#lifecycle.trouble;
    if (this.#lost === undefined) return now;
    return now === undefined ? this.#lost : `${this.#lost}; since then: ${now}`;
  }

  get loaded(): boolean {
    return this.#lifecycle.loaded;
  }

  get waiting(): number {
    return this.#scheduler.waiting;
  }

  waitingOf(kind: SpeechClass): number {
    return this.#scheduler.waitingOf(kind);
  }

  get mostText(): number {
    const { maxNewTokens } = this.#options.native;
    const { openFrames } = this.#model.facts;
    const frames = maxNewTokens > 0 ? Math.min(maxNewTokens, openFrames) : openFrames;
    return Math.floor(frames / FRAMES_PER_BYTE);
  }

  device(): EngineDevice {
    const { device: name = 'cpu', deviceMemory: totalBytes = 0, noCuda = '' } = this.#native?.facts ?? {};
    const stats = this.#native?.stats ?? undefined;
    const memory = { allocatedBytes: stats?.deviceMemoryInUse ?? 0, totalBytes };
    return {
      name,
      noGpu: noCuda === '' ? undefined : noCuda,
      memory: totalBytes === 0 ? undefined : memory,
      work: stats && this.#workOf(stats),
      chunks: this.#chunks(stats),
    };
  }

  #workOf(stats: NativeStats): EngineWork {
    const { live: streams, busyMs, eager, captures, launches, listBytes } = stats;
    const busyShare = this.#busy.at(this.#time.now(), busyMs);
    return {
      streams,
      busySeconds: busyMs / 1000,
      busyShare,
      eager,
      captures,
      launches,
      listBytes,
      ...this.#chunks(stats),
    };
  }

  #chunks(stats: NativeStats | undefined): ChunkCounts {
    return chunksOf([this.#chunksBefore, stats ?? NO_CHUNKS]);
  }

  voices(): Promise<readonly Voice[]> {
    return Promise.resolve(this.#model.voices);
  }

  /** True if the voice is one of the checkpoint's. */
  has(voice: string): boolean {
    return this.#model.voices.some(({ name }) => name === voice);
  }

  sampleRate(voice: string): number {
    if (voice !== '' && !this.has(voice)) {
      throw new ParleyError('VOICE_UNKNOWN', `${this.name} has no voice "${voice}"`);
    }
    return this.#model.facts.sampleRate;
  }

  synthesize(request: SynthesisRequest, out: PcmRing, signal: AbortSignal): Promise<SpeechEnd> {
    return keepRingContract(out, signal, () => this.#inTurn(request, out, signal));
  }

  load(): Promise<void> {
    return this.#lifecycle.load();
  }

  unload(): Promise<void> {
    return this.#lifecycle.unload();
  }

  close(): Promise<void> {
    this.#scheduler.close();
    return this.#lifecycle.close();
  }

  async #inTurn(request: SynthesisRequest, out: PcmRing, signal: AbortSignal): Promise<SpeechEnd> {
    const askedAtMs = this.#time.now();
    const release = await this.#scheduler.enter(signal, request.urgency, request.text.length);
    const turnAtMs = this.#time.now();
    let letGo: () => void = () => undefined;
    try {
      letGo = await this.#lifecycle.enter(signal);
      const loadMs = this.#time.now() - turnAtMs;
      const end = await this.#speak(request, out, signal, release);
      const queueMs = turnAtMs - askedAtMs + end.queueMs;
      return {
        samples: end.samples,
        words: [],
        timing: { queueMs, loadMs, inferMs: end.totalMs - end.queueMs },
      };
    } finally {
      release();
      letGo();
    }
  }

  async #speak(
    request: SynthesisRequest,
    out: PcmRing,
    signal: AbortSignal,
    slot: EngineSlot,
  ): Promise<NativeEnd> {
    const { more } = request;
    let givenUp: ParleyError | undefined;
    const stream = this.#native?.start(this.#nativeRequest(request), out, (waits) => {
      slot.waits(waits, (error) => {
        givenUp = error;
        cancel();
      });
      watch.anew();
    });
    if (stream === undefined) {
      throw new ParleyError('ENGINE_UNAVAILABLE', 'the model was closed while a sentence waited for it');
    }
    const cancel = () => stream.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
    let text: FollowingText | undefined;
    const watch = this.#watch(stream, out, () => text?.open === true);
    if (more !== undefined) text = new FollowingText(more, stream, () => watch.anew());
    try {
      const end = await stream.ended;
      if (text?.failure !== undefined) throw text.failure;
      if (givenUp !== undefined && end.outcome === 'cancelled') throw givenUp;
      if (watch.hung && end.outcome === 'cancelled') throw this.#tookTooLong();
      if (end.outcome === 'lost') throw this.#lostDevice(end.problem);
      if (end.outcome === 'runaway') this.#options.onNews?.({ what: 'runaway', reason: end.problem });
      const code = CODES[end.outcome];
      if (code !== undefined) throw new ParleyError(code, end.problem || `the synthesis was ${end.outcome}`);
      return end;
    } finally {
      watch.stop();
      text?.stop();
      signal.removeEventListener('abort', cancel);
    }
  }

  /**
   * Cancels a stream that has written nothing for as long as one may take, though there was room, and text,
   * and the engine worked on it: the time while it waits for a place in the engine does not count.
   */
  #watch(stream: NativeStream, out: PcmRing, waitsForText: () => boolean) {
    const { renderTimeoutMs } = this.#options;
    let before = -1;
    let hung = false;
    let cancelTimer: () => void = () => undefined;
    const look = () => {
      if (stream.waits) return; // the end of the wait restarts the watch
      const status = out.status();
      const waitsForRoom = status !== null && status.writable < status.readable;
      if (status?.written === before && !waitsForRoom && !waitsForText()) {
        hung = true;
        return stream.cancel();
      }
      before = status?.written ?? before;
      cancelTimer = this.#time.after(renderTimeoutMs, look);
    };
    const anew = () => {
      cancelTimer();
      before = -1;
      look();
    };
    anew();
    return {
      anew,
      stop: () => cancelTimer(),
      get hung() {
        return hung;
      },
    };
  }

  /**
   * Fails the sentences that were spoken. Sentences that arrive during the reload wait, or use another
   * engine.
   */
  #lostDevice(problem: string): ParleyError {
    this.#lost = problem;
    this.#lifecycle.lost(problem);
    return new ParleyError('ENGINE_LOST', `the engine ${this.name} has lost its device`, {
      cause: new Error(problem),
    });
  }

  #tookTooLong(): ParleyError {
    const reason = `a sentence took longer than ${this.#options.renderTimeoutMs} ms`;
    this.#options.onNews?.({ what: 'lost', reason });
    return new ParleyError('ENGINE_FAILED', reason);
  }

  #nativeRequest(request: SynthesisRequest): NativeRequest {
    const { text, more, voice, language, options = {}, reference, urgency = UNHURRIED, whole } = request;
    const { temperature, topP, topK, seed, instructions, maxNewTokens } = options;
    const instruction = reference?.kind === 'prompt' ? reference.prompt : instructions;
    const greedy = temperature !== undefined && temperature < LEAST_TEMPERATURE;
    return {
      text,
      moreText: more !== undefined,
      language: this.#model.languageOf(language) ?? 'auto',
      speaker: voice,
      instruction: this.#model.facts.takesInstruction ? instruction : undefined,
      recording: reference?.kind === 'sample' ? recordingOf(reference) : undefined,
      temperature: greedy ? undefined : temperature,
      greedy,
      topP: topP === undefined ? undefined : Math.max(topP, LEAST_TOP_P),
      topK: topK === undefined ? undefined : Math.min(topK, MOST_TOP_K),
      seed: seed === undefined ? randomInt(SEEDS) : wrapped(seed),
      mayRepeat: seed === undefined,
      whole: whole ?? false,
      maxNewTokens,
      dueInMs: urgency.deadlineMs - this.#time.now(),
      overdueInMs: agingMs(urgency),
      listener: listenerOf(urgency),
    };
  }

  #newsOfLoad(): Readonly<Record<string, string>> {
    const { device = '', noCuda = '' } = this.#native?.facts ?? {};
    return {
      ...this.#model.about,
      device,
      ...(noCuda === '' ? {} : { cuda: `none: ${noCuda}` }),
    };
  }

  #loadable() {
    const newsOfLoad = () => this.#newsOfLoad();
    const closeNative = async () => {
      const native = this.#native;
      this.#chunksBefore = this.#chunks(native?.stats ?? undefined);
      this.#native = undefined;
      await native?.close();
    };
    return {
      load: async () => {
        await closeNative(); // a lost engine still holds its resources
        const { native } = this.#options;
        // Falling back to the CPU would silently serve a hundredth of the calls.
        const device = this.#onGpu && native.device === 'auto' ? 'cuda' : native.device;
        this.#native = await NativeSpeech.open({ ...native, device });
        this.#onGpu ||= this.#native.facts.deviceMemory > 0;
        this.#lost = undefined;
      },
      unload: closeNative,
      close: closeNative,
      get facts() {
        return newsOfLoad();
      },
    };
  }
}

/** Calls and WebSockets play sound as it arrives. An HTTP client may do so, but cannot say it. */
function listenerOf({ class: kind, prepared = false }: Urgency): NonNullable<NativeRequest['listener']> {
  if (prepared) return 'server';
  return kind === 'http' ? 'reader' : 'live';
}

type Sample = Extract<NonNullable<SynthesisRequest['reference']>, { kind: 'sample' }>;

function recordingOf({ hash, samples, rate, text, xVectorOnly }: Sample): NativeRecording {
  return { hash, samples, rate, text: xVectorOnly === true ? undefined : text };
}

/** Requests allow negative seeds, the engine does not. */
function wrapped(seed: number): number {
  const range = Number.MAX_SAFE_INTEGER + 1;
  return seed < 0 ? seed + range : seed;
}

const LEAST_MS = 5000; // least window of a share

interface Mark {
  readonly atMs: number;
  readonly busyMs: number;
}

/** Computes the busy share over the last seconds from a counter of busy time, however often it is read. */
export class BusyShare {
  #from: Mark | undefined;
  #latest: Mark | undefined;

  /** Returns the share from 0 to 1. `busyMs` is the total busy time; it decreases after a restart. */
  at(atMs: number, busyMs: number): number {
    if (busyMs < (this.#latest?.busyMs ?? 0)) this.#from = this.#latest = undefined;
    const now = { atMs, busyMs };
    this.#latest ??= now;
    this.#from ??= this.#latest;
    if (atMs - this.#latest.atMs >= LEAST_MS) {
      this.#from = this.#latest;
      this.#latest = now;
    }
    const passedMs = atMs - this.#from.atMs;
    return passedMs > 0 ? Math.min(1, (busyMs - this.#from.busyMs) / passedMs) : 0;
  }
}

/** Passes the text that follows a request into its running stream. */
class FollowingText {
  /** Error of the source, which cancelled the stream. */
  failure: ParleyError | undefined;
  readonly #source: AsyncIterator<string>;
  readonly #stream: NativeStream;
  readonly #onEnd: () => void;
  #state: 'open' | 'ended' = 'open';

  /** `onEnd` is called once, when the stream has the whole text. */
  constructor(source: AsyncIterable<string>, stream: NativeStream, onEnd: () => void) {
    this.#source = source[Symbol.asyncIterator]();
    this.#stream = stream;
    this.#onEnd = onEnd;
    void this.#handOver();
  }

  /** True while more text may follow: a silent stream may be waiting for it. */
  get open(): boolean {
    return this.#state === 'open';
  }

  /** Ends reading of the source. Idempotent. */
  stop(): void {
    if (!this.open) return;
    this.#state = 'ended';
    this.#source.return?.().then(undefined, () => undefined);
  }

  async #handOver(): Promise<void> {
    try {
      for (;;) {
        const next = await this.#source.next();
        if (!this.open) return;
        if (next.done === true) break;
        this.#stream.addText(next.value, false);
      }
      this.#state = 'ended';
      this.#stream.addText('', true);
      this.#onEnd();
    } catch (error) {
      if (!this.open) return;
      this.#state = 'ended';
      this.failure = asParleyError(error, 'ENGINE_FAILED');
      this.#stream.cancel();
    }
  }
}
