// Implements a recogniser with an OpenAI-compatible transcription server: a text for each turn, and partial
// texts where the server has a realtime socket.
//
// While a turn pauses, its text is asked for; if the speech goes on, that request is given up.
import { asParleyError, ParleyError } from '../../errors.js';
import { systemTime, type Time } from '../../time.js';
import type { EngineNews } from '../engine-lifecycle.js';
import { checkLanguage, primaryTag } from '../language-names.js';
import {
  checkRanges,
  type Recogniser,
  type RecognitionListener,
  type RecognitionOptions,
  type RecognitionSession,
} from '../recogniser.js';
import { FileSession } from './file-session.js';
import { LiveSession, type SessionParts } from './openai-session.js';
import { REALTIME_DIALECTS, type RealtimeDialectName } from './realtime-dialects.js';
import { RealtimeSocket } from './realtime-client.js';
import { TranscriptionClient, type TranscriptionServers } from './transcription-client.js';

export interface OpenAiRecogniserOptions {
  readonly servers: TranscriptionServers;
  /** Absent: the server has no realtime socket. */
  readonly realtime?: RealtimeDialectName | undefined;
  readonly maxSessions: number;
  /** Milliseconds that a request may take, beside the length of its sound. */
  readonly timeoutMs: number;
  readonly onNews?: (news: EngineNews) => void;
  readonly time?: Time;
}

export class OpenAiRecogniser implements Recogniser {
  readonly name = 'openai';
  readonly languages = [];
  readonly needsSpeech = true;
  readonly tellsPartials: boolean;
  readonly tellsPauses: boolean;
  readonly #options: OpenAiRecogniserOptions;
  readonly #time: Time;
  readonly #client: TranscriptionClient;
  readonly #open = new Set<RecognitionSession>();
  readonly #closed = new AbortController();
  #trouble: string | undefined;
  #isKeyRefused = false;
  #hasAnswered = false;

  constructor(options: OpenAiRecogniserOptions) {
    this.#options = options;
    this.#time = options.time ?? systemTime;
    this.tellsPartials = options.realtime !== undefined;
    this.tellsPauses = !this.tellsPartials;
    this.#client = new TranscriptionClient(options.servers, options.timeoutMs, this.#time, () => {
      this.#hasAnswered = true;
      this.#trouble = undefined;
    });
  }

  get usable(): boolean {
    return !this.#closed.signal.aborted && !this.#isKeyRefused;
  }
  /** Also of a server that was away when it was asked last, and may be back. */
  get trouble(): string | undefined {
    return this.#closed.signal.aborted ? 'the recogniser was closed' : this.#trouble;
  }
  /** The server has answered. */
  get loaded(): boolean {
    return this.usable && this.#hasAnswered;
  }
  get sessions(): number {
    return this.#open.size;
  }

  open(options: RecognitionOptions, listener: RecognitionListener): RecognitionSession {
    this.#check(options);
    const socket = this.#options.realtime;
    const parts: SessionParts = {
      client: this.#client,
      options,
      listener,
      time: this.#time,
      openSocket: socket === undefined ? undefined : () => this.#socket(socket, options),
      onCut: (reason) => this.#options.onNews?.({ what: 'runaway', reason }),
      onOver: () => this.#open.delete(session),
    };
    const session: RecognitionSession =
      options.use === 'file' ? new FileSession(parts) : new LiveSession(parts);
    this.#open.add(session);
    return session;
  }

  /**
   * Asks the server for its models. Rejects with ENGINE_UNAVAILABLE only if it refuses the key: a server
   * that is away now may be back before the first caller.
   */
  async load(): Promise<void> {
    const from = this.#time.now();
    try {
      await this.#client.probe(this.#closed.signal);
      this.#hasAnswered = true;
      this.#trouble = undefined;
      this.#options.onNews?.({ what: 'loaded', ms: Math.round(this.#time.now() - from) });
    } catch (cause) {
      const error = asParleyError(cause, 'ENGINE_UNAVAILABLE');
      this.#trouble = error.message;
      this.#isKeyRefused = error.field === 'ASR_API_KEY';
      if (this.#isKeyRefused) throw error;
      this.#options.onNews?.({ what: 'load failed', reason: error.message, againInMs: 0 });
    }
  }

  /** There is nothing to unload: the model is the server's. */
  unload(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.#closed.abort();
    for (const session of this.#open) session.close();
    return Promise.resolve();
  }

  #socket(name: RealtimeDialectName, { language, context }: RecognitionOptions): RealtimeSocket {
    return new RealtimeSocket({
      lease: this.#options.servers.pool.take(),
      model: this.#options.servers.model,
      dialect: REALTIME_DIALECTS[name],
      language: language === undefined || language === '' ? undefined : primaryTag(language),
      prompt: context,
      finalMs: this.#options.timeoutMs,
      time: this.#time,
      onFailed: (reason) => this.#options.onNews?.({ what: 'lost', reason: `realtime socket: ${reason}` }),
    });
  }

  #check(options: RecognitionOptions): void {
    checkRanges(options);
    const { language = '' } = options;
    if (language !== '') checkLanguage(language, 'language');
    const { maxSessions } = this.#options;
    if (this.#closed.signal.aborted) throw new ParleyError('ENGINE_UNAVAILABLE', 'the recogniser was closed');
    if (this.#open.size >= maxSessions) {
      const message = `${maxSessions} sounds are being recognised; more must wait`;
      throw new ParleyError('ENGINE_BUSY', message, { retryAfterSeconds: 1 });
    }
  }
}
