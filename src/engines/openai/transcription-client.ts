// Sends sound to the transcription endpoint of an OpenAI-compatible server: POST audio/transcriptions with a
// WAV file, answered in JSON.
import { toBytesS16le } from '../../audio/pcm16.js';
import { WAV_HEADER_BYTES, wavHeader } from '../../codecs/wav.js';
import { type ErrorCode, ParleyError } from '../../errors.js';
import type { Time } from '../../time.js';

/** Hz of all sound that is sent: recognition models work at this rate. */
export const TRANSCRIPTION_RATE = 16_000;

const LEAST_SAMPLES = TRANSCRIPTION_RATE / 2; // shorter sounds are padded: servers refuse below 0.1 s
const RETRY_AFTER_MS = [300, 1000]; // so there are three attempts
const LONGEST_RETRY_MS = 10_000; // a server that wants a longer pause is busy
const MOST_REPLY_BYTES = 4 << 20; // of an answer
const MOST_REASON = 200; // characters of the server's own words in a message

export interface TranscriptionServer {
  /** Such as `https://host/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly model: string;
}

export interface TranscriptionRequest {
  /** Mono, at `TRANSCRIPTION_RATE`. */
  readonly samples: Float32Array;
  /** BCP 47 primary tag. */
  readonly language: string | undefined;
  readonly prompt: string | undefined;
  readonly signal: AbortSignal;
}

export interface Transcription {
  readonly text: string;
  /** Name that the server gives it; undefined if it gives none. */
  readonly language: string | undefined;
}

const CJK =
  '[\\u3000-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\uff00-\\uffef\\u{20000}-\\u{2fa1f}]';
const CJK_BESIDE = { before: new RegExp(`${CJK}$`, 'u'), after: new RegExp(`^${CJK}`, 'u') };

/** The texts of sounds that follow each other, with a space between them unless a CJK character is there. */
export function joinTexts(texts: readonly string[]): string {
  return texts
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .reduce((joined, text) => {
      const isClose = joined === '' || CJK_BESIDE.before.test(joined) || CJK_BESIDE.after.test(text);
      return isClose ? joined + text : `${joined} ${text}`;
    }, '');
}

/** A failure after which the same request may succeed. */
class Passing extends Error {
  readonly error: ParleyError;
  readonly waitMs: number;

  constructor(error: ParleyError, waitMs = 0) {
    super(error.message);
    this.error = error;
    this.waitMs = waitMs;
  }
}

export class TranscriptionClient {
  readonly #server: TranscriptionServer;
  readonly #time: Time;
  readonly #timeoutMs: number;
  readonly #onText: () => void;

  /** `timeoutMs`: of one attempt, beside the length of its sound. `onText`: the server has sent a text. */
  constructor(
    server: TranscriptionServer,
    timeoutMs: number,
    time: Time,
    onText: () => void = () => undefined,
  ) {
    this.#onText = onText;
    this.#server = server;
    this.#timeoutMs = timeoutMs;
    this.#time = time;
  }

  /**
   * Rejects with the ParleyError that the server's status stands for; TIMEOUT, ENGINE_BUSY and
   * ENGINE_UNAVAILABLE only after three attempts.
   */
  async transcribe(request: TranscriptionRequest): Promise<Transcription> {
    const body = formOf(this.#server.model, request);
    const timeoutMs = this.#timeoutMs + (request.samples.length / TRANSCRIPTION_RATE) * 1000;
    for (let attempt = 0; ; attempt++) {
      try {
        const text = transcriptionIn(
          await this.#fetch('audio/transcriptions', { body, timeoutMs, ...request }),
        );
        this.#onText();
        return text;
      } catch (error) {
        if (request.signal.aborted) throw new ParleyError('ABORTED', 'the recognition was given up');
        if (!(error instanceof Passing)) throw error;
        const waitMs = Math.max(RETRY_AFTER_MS[attempt] ?? Infinity, error.waitMs);
        if (waitMs > LONGEST_RETRY_MS) throw error.error;
        await this.#wait(waitMs, request.signal);
      }
    }
  }

  /** Asks the server for its models. Rejects where it cannot be reached or refuses the key. */
  async probe(signal: AbortSignal): Promise<void> {
    try {
      await this.#fetch('models', { timeoutMs: this.#timeoutMs, signal });
    } catch (error) {
      if (signal.aborted) throw new ParleyError('ABORTED', 'the recogniser was closed');
      if (error instanceof ParleyError && error.field === 'ASR_MODEL') {
        const message = `${this.#server.baseUrl}/models was answered with 404: does ASR_BASE_URL end in /v1?`;
        throw new ParleyError('ENGINE_UNAVAILABLE', message, { field: 'ASR_BASE_URL' });
      }
      // A server that does not tell its models may transcribe nevertheless.
      if (error instanceof ParleyError && error.field !== 'ASR_API_KEY') return;
      throw error instanceof Passing ? error.error : error;
    }
  }

  async #fetch(
    path: string,
    { body, timeoutMs, signal }: { body?: FormData; timeoutMs: number; signal: AbortSignal },
  ): Promise<string> {
    const { baseUrl, apiKey } = this.#server;
    // Node 20 keeps what AbortSignal.any makes as long as its sources, which a session has for hours.
    const end = new AbortController();
    const giveUp = () => end.abort();
    signal.addEventListener('abort', giveUp);
    if (signal.aborted) giveUp();
    let isLate = false;
    const forget = this.#time.after(timeoutMs, () => {
      isLate = true;
      giveUp();
    });
    try {
      const response = await fetch(`${baseUrl}/${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          'user-agent': 'parley',
          accept: 'application/json',
          ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
        },
        redirect: 'error', // sound and key go only to the address that the operator configured
        signal: end.signal,
        ...(body === undefined ? {} : { body }),
      });
      const text = await textOf(response);
      if (!response.ok) throw this.#refusal(response, text);
      return text;
    } catch (error) {
      if (error instanceof ParleyError || error instanceof Passing || signal.aborted) throw error;
      const message = isLate
        ? `the transcription server did not answer within ${Math.round(timeoutMs)} ms`
        : `the transcription server cannot be reached: ${reasonOf(error)}`;
      const code = isLate ? 'TIMEOUT' : 'ENGINE_UNAVAILABLE';
      throw new Passing(new ParleyError(code, message, { field: 'ASR_BASE_URL', cause: error }));
    } finally {
      forget();
      signal.removeEventListener('abort', giveUp);
    }
  }

  #refusal({ status, headers }: Response, body: string): Error {
    const said = this.#saidIn(body);
    const isKey =
      status === 401 ? `; ASR_API_KEY is ${this.#server.apiKey === undefined ? 'not ' : ''}set` : '';
    const message = `the transcription server answered ${status}${said === '' ? '' : `: ${said}`}${isKey}`;
    if (status === 429 || status === 503) {
      const seconds = Number(headers.get('retry-after') ?? 0);
      const retryAfterSeconds = Number.isFinite(seconds) && seconds > 0 ? seconds : undefined;
      const error = new ParleyError('ENGINE_BUSY', message, { retryAfterSeconds });
      return new Passing(error, (retryAfterSeconds ?? 0) * 1000);
    }
    if (status >= 500 || status === 408) return new Passing(new ParleyError('ENGINE_UNAVAILABLE', message));
    const [code, field] = REFUSALS[status] ?? ['ENGINE_FAILED', undefined];
    return new ParleyError(code, message, field === undefined ? {} : { field });
  }

  /** The message of an OpenAI error, without the key. Other forms may repeat what was sent. */
  #saidIn(body: string): string {
    const message = field(field(parsed(body), 'error'), 'message');
    if (typeof message !== 'string') return '';
    const { apiKey } = this.#server;
    const clean = apiKey === undefined ? message : message.replaceAll(apiKey, '…');
    return clean.replaceAll(/\s+/g, ' ').slice(0, MOST_REASON);
  }

  #wait(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#time.after(ms, done);
      function done() {
        cancel();
        signal.removeEventListener('abort', done);
        resolve();
      }
      signal.addEventListener('abort', done);
      if (signal.aborted) done();
    });
  }
}

const REFUSALS: Readonly<Record<number, readonly [ErrorCode, string | undefined]>> = {
  401: ['ENGINE_UNAVAILABLE', 'ASR_API_KEY'],
  403: ['ENGINE_UNAVAILABLE', undefined], // a key may be allowed to transcribe and not to list models
  404: ['ENGINE_UNAVAILABLE', 'ASR_MODEL'],
  413: ['TOO_LARGE', 'file'],
};

function formOf(model: string, { samples, language, prompt }: TranscriptionRequest): FormData {
  const form = new FormData();
  form.set('model', model);
  form.set('response_format', 'json');
  if (language !== undefined) form.set('language', language);
  if (prompt !== undefined && prompt !== '') form.set('prompt', prompt);
  form.set('file', new Blob([wavOf(samples)], { type: 'audio/wav' }), 'sound.wav');
  return form;
}

function wavOf(samples: Float32Array): Uint8Array<ArrayBuffer> {
  const count = Math.max(samples.length, LEAST_SAMPLES);
  const file = new Uint8Array(WAV_HEADER_BYTES + 2 * count);
  file.set(wavHeader(TRANSCRIPTION_RATE, count));
  toBytesS16le(samples, samples.length, file, WAV_HEADER_BYTES);
  return file;
}

async function textOf(response: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    const chunk = part as Uint8Array;
    bytes += chunk.length;
    if (bytes > MOST_REPLY_BYTES) throw new ParleyError('ENGINE_FAILED', 'the transcription is over 4 MiB');
    parts.push(chunk);
  }
  return Buffer.concat(parts).toString('utf8');
}

function transcriptionIn(body: string): Transcription {
  const reply = parsed(body);
  const [text, language] = [field(reply, 'text'), field(reply, 'language')];
  if (typeof text !== 'string')
    throw new ParleyError('ENGINE_FAILED', 'the transcription server answered without a "text"');
  return { text: text.trim(), language: typeof language === 'string' ? language : undefined };
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

export function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

/** `fetch failed` says nothing: its cause does. */
function reasonOf(error: unknown): string {
  const { cause = error } = error as { cause?: unknown };
  return cause instanceof Error ? cause.message : String(cause);
}
