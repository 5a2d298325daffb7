// Recognises speech with Moonshine's streaming models, on the CPU, in workers of its own.
//
//   live: ring ─▶ worker: turns ─▶ texts        file: ring ─▶ pieces at pauses, up to 13 s ─▶ worker ─▶ texts
//
// Each model has one language, and a session has the model of its language. The models take no background:
// `context` changes nothing.
import type { PcmRing } from '../../audio/pcm-ring.js';
import { asParleyError, ParleyError } from '../../errors.js';
import { systemTime, type Time } from '../../time.js';
import { EngineLifecycle, type EngineNews } from '../engine-lifecycle.js';
import { primaryTag } from '../language-names.js';
import { FileSession } from '../openai/file-session.js';
import type { Transcription } from '../openai/transcription-client.js';
import {
  checkRanges,
  checkRate,
  type RecognisedText,
  type Recogniser,
  type RecognitionListener,
  type RecognitionOptions,
  type RecognitionSession,
  type TurnOrder,
} from '../recogniser.js';
import type { PlacedOrder, TurnMessage } from './moonshine-messages.js';
import { type ModelFolder, readModelFiles } from './moonshine-model.js';
import { MoonshineWorkers } from './moonshine-workers.js';

const RATE = 16_000;
const PIECE_SECONDS = 13; // of files: a segment has 14 s at most
const MOST_EARLY_ORDERS = 64; // before the models are loaded

export interface MoonshineOptions {
  /** At most one for each language; the first is that of sessions without a language. */
  readonly models: readonly ModelFolder[];
  readonly workers: number;
  readonly partialIntervalMs: number;
  /** Sessions at a time, live ones and files. */
  readonly maxSessions: number;
  /** Milliseconds without a session after which it is unloaded; 0 or absent keeps it loaded. */
  readonly idleMs?: number;
  /** Milliseconds that a worker may do nothing although it has work. */
  readonly stallMs: number;
  readonly onNews?: (news: EngineNews) => void;
  readonly time?: Time;
  /** Module of the workers, replaced in tests. */
  readonly workerFile?: URL;
}

export class MoonshineRecogniser implements Recogniser {
  readonly name = 'moonshine';
  readonly tellsPartials = true;
  readonly tellsPauses = true;
  readonly needsSpeech = true;
  readonly ignoresContext = true;
  readonly languages: readonly string[];
  readonly #options: MoonshineOptions;
  readonly #time: Time;
  readonly #workers: MoonshineWorkers;
  readonly #lifecycle: EngineLifecycle;
  readonly #open = new Set<RecognitionSession>();
  /** Open live sessions. */
  #live = 0;

  private constructor(options: MoonshineOptions) {
    const { models, workers: count, partialIntervalMs, idleMs = 0, stallMs, onNews, time } = options;
    this.#options = options;
    this.#time = time ?? systemTime;
    this.languages = models.map(({ language }) => language);
    this.#workers = new MoonshineWorkers({
      data: { models, partialIntervalMs },
      count,
      time: this.#time,
      stallMs,
      onNews: (news) => onNews?.(news),
      onAllLost: (reason) => this.#lifecycle.lost(reason),
      file: options.workerFile,
    });
    this.#lifecycle = new EngineLifecycle(this.#workers, {
      engine: this.name,
      idleMs,
      time: this.#time,
      onNews,
    });
  }

  /** Rejects with ENGINE_UNAVAILABLE, naming the folder and the defect, for a model that cannot be used. */
  static async open(options: MoonshineOptions): Promise<MoonshineRecogniser> {
    await Promise.all(options.models.map((folder) => readModelFiles(folder)));
    return new MoonshineRecogniser(options);
  }

  get usable(): boolean {
    return this.#lifecycle.usable;
  }
  get trouble(): string | undefined {
    return this.#lifecycle.trouble;
  }
  get device(): string | undefined {
    return this.loaded ? 'cpu' : undefined;
  }
  get loaded(): boolean {
    return this.#lifecycle.loaded;
  }
  get sessions(): number {
    return this.#open.size;
  }
  /** Live sessions that are served in time, measured at the load; undefined while it is not loaded. */
  get mostLive(): number | undefined {
    return this.#workers.mostLive;
  }

  open(options: RecognitionOptions, listener: RecognitionListener): RecognitionSession {
    checkRanges(options);
    const language = this.#language(options.language);
    this.#checkRoom(options.use);
    const session: RecognitionSession =
      options.use === 'file'
        ? this.#fileSession(options, listener, language)
        : new LiveSession(options, listener, language, (live) => this.#listen(live));
    this.#open.add(session);
    if (options.use === 'live') this.#live++;
    const over = () => {
      if (this.#open.delete(session) && options.use === 'live') this.#live--;
    };
    session.ended.then(over, over);
    return session;
  }

  load(): Promise<void> {
    return this.#lifecycle.load();
  }

  unload(): Promise<void> {
    return this.#lifecycle.unload();
  }

  async close(): Promise<void> {
    for (const session of this.#open) session.close();
    await this.#lifecycle.close();
  }

  #language(stated: string | undefined): string {
    const [first = ''] = this.languages;
    if (stated === undefined || stated === '') return first;
    const language = primaryTag(stated);
    if (this.languages.includes(language)) return language;
    const message = `the language "${stated}" is none of the model's: ${this.languages.join(', ')}`;
    throw new ParleyError('INVALID_FIELD', message, { field: 'language' });
  }

  #checkRoom(use: RecognitionOptions['use']): void {
    const { maxSessions } = this.#options;
    const { mostLive = maxSessions } = this.#workers;
    if (this.#open.size >= maxSessions) {
      const message = `${maxSessions} sounds are being recognised; more must wait`;
      throw new ParleyError('ENGINE_BUSY', message, { retryAfterSeconds: 1 });
    }
    if (use === 'live' && this.#live >= mostLive) {
      const message = `this machine recognises ${mostLive} live callers at a time; more must wait`;
      throw new ParleyError('ENGINE_BUSY', message, { retryAfterSeconds: 5 });
    }
  }

  #fileSession(options: RecognitionOptions, listener: RecognitionListener, language: string): FileSession {
    const { pieceSeconds = PIECE_SECONDS } = options;
    return new FileSession({
      client: { transcribe: ({ samples, signal }) => this.#piece(language, samples, signal) },
      options: { ...options, language, context: '', pieceSeconds: Math.min(PIECE_SECONDS, pieceSeconds) },
      listener,
      time: this.#time,
      onCut: (reason) => this.#options.onNews?.({ what: 'runaway', reason }),
      onOver: () => undefined,
    });
  }

  async #piece(language: string, samples: Float32Array, signal: AbortSignal): Promise<Transcription> {
    const letGo = await this.#lifecycle.enter(signal);
    try {
      return { text: await this.#workers.take('file').piece(language, samples, signal), language };
    } finally {
      letGo();
    }
  }

  /** Hears a live session to its end. */
  async #listen({ ring, options, language, orders, signal, onTurn, onStart }: LiveWork): Promise<void> {
    const letGo = await this.#lifecycle.enter(signal);
    try {
      const { mostLive = Infinity } = this.#workers;
      if (this.#workers.live >= mostLive)
        throw new ParleyError('ENGINE_BUSY', `this machine recognises ${mostLive} live callers at a time`);
      const { gated = false, partials = false } = options;
      const request = { language, ring: ring.handle, rate: ring.rate, isGated: gated, hasPartials: partials };
      const { ended, order, stop } = this.#workers.take('live').listen({ ...request, orders }, onTurn);
      signal.addEventListener('abort', stop, { once: true });
      onStart(order);
      await ended.finally(() => signal.removeEventListener('abort', stop));
    } finally {
      letGo();
    }
  }
}

interface LiveWork {
  readonly ring: PcmRing;
  readonly options: RecognitionOptions;
  readonly language: string;
  readonly orders: readonly PlacedOrder[];
  readonly signal: AbortSignal;
  readonly onTurn: (turn: TurnMessage) => void;
  /** Called when orders can be passed on. */
  readonly onStart: (order: (order: PlacedOrder) => void) => void;
}

class LiveSession implements RecognitionSession {
  readonly ended: Promise<void>;
  readonly #options: RecognitionOptions;
  readonly #listener: RecognitionListener;
  readonly #language: string;
  readonly #listen: (work: LiveWork) => Promise<void>;
  readonly #given = new AbortController();
  readonly #early: PlacedOrder[] = [];
  #settle: ((ended: Promise<void>) => void) | undefined;
  #ring: PcmRing | undefined;
  #order: ((order: PlacedOrder) => void) | undefined;
  /** The text that the caller of the session has seen last. */
  #shown = '';

  constructor(
    options: RecognitionOptions,
    listener: RecognitionListener,
    language: string,
    listen: (work: LiveWork) => Promise<void>,
  ) {
    this.#options = options;
    this.#listener = listener;
    this.#language = language;
    this.#listen = listen;
    this.ended = new Promise((resolve) => (this.#settle = resolve));
    this.ended.catch(() => undefined); // whoever is interested awaits it
  }

  push(ring: PcmRing): void {
    if (this.#ring !== undefined) throw new ParleyError('WRONG_STATE', 'the session has a ring already');
    checkRate(ring, this.#options.sampleRate);
    this.#ring = ring;
    const work = this.#listen({
      ring,
      options: this.#options,
      language: this.#language,
      orders: this.#early,
      signal: this.#given.signal,
      onTurn: (turn) => this.#tell(turn),
      onStart: (order) => (this.#order = order),
    });
    this.#settle?.(
      work.catch((error: unknown) => {
        ring.abort(); // its writer learns that nobody reads
        throw asParleyError(error, 'ENGINE_FAILED');
      }),
    );
  }

  turn(order: TurnOrder): void {
    const placed = { order, at: this.#ring?.status()?.written ?? 0 };
    if (this.#order !== undefined) return this.#order(placed);
    if (this.#early.length >= MOST_EARLY_ORDERS) return this.close();
    this.#early.push(placed);
    return undefined;
  }

  end(): Promise<void> {
    if (this.#ring === undefined) this.close();
    this.#ring?.end();
    return this.ended;
  }

  close(): void {
    this.#given.abort();
    if (this.#ring !== undefined) return;
    this.#settle?.(Promise.reject(new ParleyError('ABORTED', 'the recognition was given up')));
  }

  #tell({ kind, part, text, stable, begin, end }: TurnMessage): void {
    if (this.#given.signal.aborted) return;
    const language = text === '' ? undefined : this.#language;
    const told: RecognisedText = {
      part,
      text,
      stable,
      language,
      beginSeconds: begin / RATE,
      endSeconds: end / RATE,
    };
    // The text of a pause may stand for a partial one that was not made.
    const news = `${part} ${stable} ${text}`;
    if (kind !== 'final' && this.#options.partials === true && text !== '' && news !== this.#shown)
      this.#listener.partial?.(told);
    this.#shown = news;
    if (kind === 'pause') this.#listener.pause?.(told);
    if (kind === 'final') this.#listener.final(told);
  }
}
