// Implements the recogniser Qwen3-ASR and the aligner Qwen3-ForcedAligner with the native engine. Each is
// loaded, idled out and unloaded by itself.
import type { PcmRing } from '../../audio/pcm-ring.js';
import { asParleyError, type ErrorCode, ParleyError } from '../../errors.js';
import { systemTime, type Time } from '../../time.js';
import { EngineLifecycle, type EngineNews } from '../engine-lifecycle.js';
import { primaryTag, tagOfName } from '../language-names.js';
import {
  type AlignedWord,
  type Aligner,
  type AlignmentRequest,
  checkRanges,
  checkRate,
  type Recogniser,
  type RecognitionListener,
  type RecognitionOptions,
  type RecognitionSession,
  type TurnOrder,
} from '../recogniser.js';
import {
  inspectRecogniser,
  type NativeRecognition,
  type NativeRecognitionEnd,
  type NativeRecognitionEvent,
  type NativeRecognitionRequest,
  NativeRecogniser,
  type NativeRecogniserOptions,
  type NativeRecogniserStats,
  type PlacedOrder,
  type RecogniserFacts,
} from '../native/native-recogniser.js';
import type { NativeOutcome } from '../native/native-speech.js';

export interface Qwen3RecogniserOptions {
  readonly native: NativeRecogniserOptions;
  /** Its variables are those of the fast recogniser. */
  readonly isFast?: boolean;
  /** Sessions that may be open at a time. */
  readonly maxSessions: number;
  /** Milliseconds without a session after which it is unloaded; 0, or absent, keeps it loaded. */
  readonly idleMs?: number;
  /** A session fails if the engine does nothing for so long although there is sound. */
  readonly stallMs: number;
  readonly onNews?: (news: EngineNews) => void;
  readonly time?: Time;
}

/** Error codes of outcomes other than `done`. */
const CODES: Readonly<Record<Exclude<NativeOutcome, 'done' | 'budget' | 'runaway'>, ErrorCode>> = {
  cancelled: 'ABORTED',
  'too large': 'TOO_LARGE',
  'bad request': 'AUDIO_INVALID',
  'out of memory': 'ENGINE_BUSY',
  closed: 'ENGINE_UNAVAILABLE',
  failed: 'ENGINE_FAILED',
  lost: 'ENGINE_LOST',
};

type OnEvent = (event: Exclude<NativeRecognitionEvent, NativeRecognitionEnd>) => void;

/** A model of either kind: its checkpoint, its load, its running streams. */
class LoadedModel {
  readonly facts: RecogniserFacts;
  readonly lifecycle: EngineLifecycle;
  readonly #options: Qwen3RecogniserOptions;
  #native: NativeRecogniser | undefined;
  #open = 0;
  #onGpu = false;

  private constructor(name: string, facts: RecogniserFacts, options: Qwen3RecogniserOptions) {
    this.facts = facts;
    this.#options = options;
    const { idleMs = 0, onNews, time = systemTime } = options;
    this.lifecycle = new EngineLifecycle(this.#loadable(), { engine: name, idleMs, time, onNews });
  }

  /** Rejects with ENGINE_UNAVAILABLE, naming the defect and the variable, if the checkpoint is unusable. */
  static async of(name: string, variable: string, options: Qwen3RecogniserOptions): Promise<LoadedModel> {
    const { directory, aligner = false } = options.native;
    try {
      return new LoadedModel(name, await inspectRecogniser(directory, aligner), options);
    } catch (cause) {
      const message = `the checkpoint of ${variable}_DIR or ${variable}_ID cannot be used: ${(cause as Error).message}`;
      throw new ParleyError('ENGINE_UNAVAILABLE', message, { field: `${variable}_DIR`, cause });
    }
  }

  get open(): number {
    return this.#open;
  }

  get stats(): NativeRecogniserStats | undefined {
    return this.#native?.stats ?? undefined;
  }

  get device(): string | undefined {
    return this.#native?.facts.device;
  }

  /** BCP 47 primary tags. */
  get languages(): readonly string[] {
    return this.facts.languages.map((name) => tagOfName(name.toLowerCase()) ?? name.toLowerCase());
  }

  /**
   * Takes a place, and returns the function that frees it. Throws ENGINE_BUSY if all are taken, and
   * INVALID_FIELD for what the model does not take.
   */
  takePlace(options: Pick<RecognitionOptions, 'sampleRate' | 'pieceSeconds' | 'language'>): () => void {
    const { language } = options;
    const { maxSessions } = this.#options;
    if (this.#open >= maxSessions) {
      const message = `${maxSessions} sounds are being recognised; more must wait`;
      throw new ParleyError('ENGINE_BUSY', message, { retryAfterSeconds: 1 });
    }
    checkRanges(options);
    if (language !== undefined && language !== '' && !this.languages.includes(primaryTag(language))) {
      const message = `the language "${language}" is none of the model's: ${this.languages.join(', ')}`;
      throw new ParleyError('INVALID_FIELD', message, { field: 'language' });
    }
    this.#open++;
    return () => this.#open--;
  }

  /** Runs a stream to its end. Rejects with the ParleyError of its outcome. */
  async run(
    request: NativeRecognitionRequest,
    ring: PcmRing,
    signal: AbortSignal,
    onEvent: OnEvent,
    onStart: (stream: NativeRecognition) => void = () => undefined,
  ): Promise<void> {
    const passing = new Passing(signal, onEvent);
    let letGo: () => void = () => undefined;
    try {
      letGo = await this.lifecycle.enter(signal);
      const stream = this.#native?.start(request, ring, (event) => this.#pass(event, passing));
      if (stream === undefined)
        throw new ParleyError('ENGINE_UNAVAILABLE', 'the model or the ring was closed');
      const cancel = () => stream.cancel();
      signal.addEventListener('abort', cancel, { once: true });
      if (signal.aborted) cancel();
      onStart(stream);
      const watch = this.#watch(ring);
      try {
        this.#judge(await Promise.race([stream.ended, watch.hung, passing.failed]));
      } finally {
        watch.stop();
        signal.removeEventListener('abort', cancel);
        stream.cancel();
      }
    } catch (error) {
      ring.abort(); // its writer learns that nobody reads
      throw error;
    } finally {
      passing.stop();
      letGo();
    }
  }

  /** Rejects once the engine has done nothing between two looks although the ring had something for it. */
  #watch(ring: PcmRing): { readonly hung: Promise<never>; readonly stop: () => void } {
    const { stallMs, time = systemTime, onNews } = this.#options;
    let before = -1;
    let cancelTimer: () => void = () => undefined;
    const hung = new Promise<never>((_, reject) => {
      const look = () => {
        const { busyMs = 0 } = this.stats ?? {};
        const { readable = 0, ended = false } = ring.status() ?? {};
        if (busyMs === before && (readable > 0 || ended)) {
          const reason = `nothing was recognised for ${stallMs} ms`;
          onNews?.({ what: 'lost', reason });
          return reject(new ParleyError('ENGINE_FAILED', reason));
        }
        before = busyMs;
        cancelTimer = time.after(stallMs, look);
      };
      look();
    });
    return { hung, stop: () => cancelTimer() };
  }

  #pass(event: Exclude<NativeRecognitionEvent, NativeRecognitionEnd>, passing: Passing): void {
    if (event.type === 'runaway') this.#options.onNews?.({ what: 'runaway', reason: event.what });
    else passing.pass(event);
  }

  #judge({ outcome, problem }: NativeRecognitionEnd): void {
    if (outcome === 'done' || outcome === 'budget' || outcome === 'runaway') return;
    if (outcome === 'lost') this.lifecycle.lost(problem);
    const hidden = outcome === 'lost' || outcome === 'failed';
    const message = hidden
      ? `the recogniser has ${outcome === 'lost' ? 'lost its model' : 'failed'}`
      : problem;
    throw new ParleyError(CODES[outcome], message, hidden ? { cause: new Error(problem) } : {});
  }

  #loadable() {
    const closeNative = async () => {
      const native = this.#native;
      this.#native = undefined;
      await native?.close();
    };
    const newsOf = ({ device = '', noCuda = '' }: Partial<RecogniserFacts> = {}) => ({
      device,
      model,
      ...(noCuda === '' ? {} : { cuda: `none: ${noCuda}` }),
    });
    const native = () => this.#native?.facts;
    const options = this.#options.native;
    const { directory: model, koreanDictionary = '' } = options;
    return {
      load: async () => {
        await closeNative();
        // A model that had a GPU does not fall back to the CPU; NativeEngine says why.
        const device = this.#onGpu && options.device === 'auto' ? 'cuda' : options.device;
        this.#native = await NativeRecogniser.open({ ...options, device }).catch((error: Error) => {
          const isDictionary = koreanDictionary !== '' && error.message.startsWith(koreanDictionary);
          throw isDictionary ? new Error(`ALIGNER_KOREAN_WORDS: ${error.message}`, { cause: error }) : error;
        });
        this.#onGpu ||= this.#native.facts.deviceMemory > 0;
      },
      unload: closeNative,
      close: closeNative,
      get facts() {
        return newsOf(native());
      },
    };
  }
}

/** Passes events on until the work is given up or over. A listener that throws ends it. */
class Passing {
  /** Rejects with what the listener threw. */
  readonly failed: Promise<never>;
  readonly #signal: AbortSignal;
  readonly #onEvent: OnEvent;
  #fail: (error: ParleyError) => void = () => undefined;
  #stopped = false;

  constructor(signal: AbortSignal, onEvent: OnEvent) {
    this.#signal = signal;
    this.#onEvent = onEvent;
    this.failed = new Promise((_, reject) => (this.#fail = reject));
    this.failed.catch(() => undefined); // whoever runs the stream awaits it
  }

  pass(event: Parameters<OnEvent>[0]): void {
    if (this.#stopped || this.#signal.aborted) return;
    try {
      this.#onEvent(event);
    } catch (error) {
      this.#stopped = true;
      this.#fail(asParleyError(error, 'ENGINE_FAILED'));
    }
  }

  stop(): void {
    this.#stopped = true;
  }
}

class Session implements RecognitionSession {
  readonly ended: Promise<void>;
  readonly #model: LoadedModel;
  readonly #request: NativeRecognitionRequest;
  readonly #onEvent: OnEvent;
  readonly #given = new AbortController();
  #settle: { resolve: (value: Promise<void>) => void } | undefined;
  #ring: PcmRing | undefined;
  #stream: NativeRecognition | undefined;
  /** Orders given before the stream runs. */
  readonly #early: PlacedOrder[] = [];

  /** `freePlace` is called when the session has ended. */
  constructor(
    model: LoadedModel,
    request: NativeRecognitionRequest,
    onEvent: OnEvent,
    freePlace: () => void,
  ) {
    this.#model = model;
    this.#request = request;
    this.#onEvent = onEvent;
    this.ended = new Promise<void>((resolve) => (this.#settle = { resolve })).finally(freePlace);
    this.ended.catch(() => undefined); // whoever is interested awaits it
  }

  push(ring: PcmRing): void {
    if (this.#ring !== undefined) throw new ParleyError('WRONG_STATE', 'the session has a ring already');
    checkRate(ring, this.#request.rate);
    this.#ring = ring;
    const { signal } = this.#given;
    const request = { ...this.#request, orders: this.#early };
    const run = this.#model.run(request, ring, signal, this.#onEvent, (stream) => {
      this.#stream = stream;
    });
    const told = run.catch((error: unknown) => Promise.reject(asParleyError(error, 'ENGINE_FAILED')));
    this.#settle?.resolve(told);
  }

  turn(order: TurnOrder): void {
    const placed = { order, at: this.#ring?.status()?.written ?? 0 };
    if (this.#stream === undefined) this.#early.push(placed);
    else this.#stream.turn(placed);
  }

  end(): Promise<void> {
    if (this.#ring === undefined) this.close();
    this.#ring?.end();
    return this.ended;
  }

  close(): void {
    this.#given.abort();
    if (this.#ring !== undefined) return;
    this.#settle?.resolve(Promise.reject(new ParleyError('ABORTED', 'the recognition was given up')));
  }
}

export class Qwen3Recogniser implements Recogniser {
  readonly name = 'qwen3-asr';
  readonly tellsPartials = true;
  readonly tellsPauses: boolean;
  readonly #model: LoadedModel;

  private constructor(model: LoadedModel, tellsPauses: boolean) {
    this.#model = model;
    this.tellsPauses = tellsPauses;
  }

  static async open(options: Qwen3RecogniserOptions): Promise<Qwen3Recogniser> {
    return new Qwen3Recogniser(
      await LoadedModel.of('qwen3-asr', options.isFast === true ? 'ASR_FAST_MODEL' : 'ASR_MODEL', options),
      options.native.streaming !== 'official',
    );
  }

  get languages(): readonly string[] {
    return this.#model.languages;
  }
  get usable(): boolean {
    return this.#model.lifecycle.usable;
  }
  get trouble(): string | undefined {
    return this.#model.lifecycle.trouble;
  }
  get device(): string | undefined {
    return this.#model.device;
  }
  get loaded(): boolean {
    return this.#model.lifecycle.loaded;
  }
  get sessions(): number {
    return this.#model.open;
  }
  /** Undefined if it is not loaded. */
  get stats(): NativeRecogniserStats | undefined {
    return this.#model.stats;
  }

  open(options: RecognitionOptions, listener: RecognitionListener): RecognitionSession {
    const { language, context, sampleRate: rate, partials, use, gated, pieceSeconds } = options;
    const freePlace = this.#model.takePlace(options);
    const tag = language === undefined || language === '' ? language : primaryTag(language);
    const pauses = listener.pause !== undefined;
    const request = { use, language: tag, context, rate, partials, pauses, gated, pieceSeconds };
    let shown = '';
    const onEvent: OnEvent = (event) => {
      if (event.type === 'words' || event.type === 'runaway') return;
      const { part, text, stable, beginSeconds, endSeconds } = event;
      const told = { part, text, stable, language: tagOf(event.language), beginSeconds, endSeconds };
      // The text of a pause may stand for a partial one that was not taken.
      const news = `${part} ${stable} ${text}`;
      if (event.type !== 'final' && partials === true && text !== '' && news !== shown)
        listener.partial?.(told);
      shown = news;
      if (event.type === 'pause') listener.pause?.(told);
      if (event.type === 'final') listener.final(told);
    };
    return new Session(this.#model, request, onEvent, freePlace);
  }

  load(): Promise<void> {
    return this.#model.lifecycle.load();
  }
  unload(): Promise<void> {
    return this.#model.lifecycle.unload();
  }
  close(): Promise<void> {
    return this.#model.lifecycle.close();
  }
}

/** The pieces of a sound may be in several languages: the first counts. */
function tagOf(names: string): string | undefined {
  const [name = ''] = names.split(',', 1);
  return name === '' ? undefined : (tagOfName(name.toLowerCase()) ?? name.toLowerCase());
}

export class Qwen3Aligner implements Aligner {
  readonly name = 'qwen3-aligner';
  readonly #model: LoadedModel;

  private constructor(model: LoadedModel) {
    this.#model = model;
  }

  static async open(options: Qwen3RecogniserOptions): Promise<Qwen3Aligner> {
    const native = { ...options.native, aligner: true };
    return new Qwen3Aligner(await LoadedModel.of('qwen3-aligner', 'ALIGNER_MODEL', { ...options, native }));
  }

  get languages(): readonly string[] {
    return this.#model.languages;
  }
  get usable(): boolean {
    return this.#model.lifecycle.usable;
  }
  get trouble(): string | undefined {
    return this.#model.lifecycle.trouble;
  }
  get device(): string | undefined {
    return this.#model.device;
  }
  get loaded(): boolean {
    return this.#model.lifecycle.loaded;
  }

  async align(
    request: AlignmentRequest,
    ring: PcmRing,
    signal: AbortSignal,
    onWords: (words: readonly AlignedWord[]) => void = () => undefined,
  ): Promise<readonly AlignedWord[]> {
    const { text, sampleRate: rate, language } = request;
    checkRate(ring, rate);
    const freePlace = this.#model.takePlace({ sampleRate: rate });
    // A language that the model does not name changes only how words are found.
    const primary = language === undefined ? '' : primaryTag(language);
    const named = this.languages.includes(primary) ? primary : undefined;
    const words: AlignedWord[] = [];
    const asked = { use: 'align', context: text, language: named, rate } as const;
    try {
      await this.#model.run(asked, ring, signal, (event) => {
        if (event.type !== 'words') return;
        words.push(...event.words);
        onWords(event.words);
      });
    } finally {
      freePlace();
    }
    return words;
  }

  load(): Promise<void> {
    return this.#model.lifecycle.load();
  }
  unload(): Promise<void> {
    return this.#model.lifecycle.unload();
  }
  close(): Promise<void> {
    return this.#model.lifecycle.close();
  }
}
