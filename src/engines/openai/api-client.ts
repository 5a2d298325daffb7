// Asks an OpenAI-compatible server over HTTP, for an answer as a whole or in pieces: three attempts where the
// same request may succeed, a time limit, a limit of the answer, and errors that name the variable that the
// operator can change.
import { type ErrorCode, ParleyError } from '../../errors.js';
import { responseText } from '../../response-text.js';
import type { Time } from '../../time.js';

const RETRY_AFTER_MS = [300, 1000]; // so there are three attempts
const LONGEST_RETRY_MS = 10_000; // a server that wants a longer pause is busy
const MOST_REPLY_BYTES = 4 << 20; // of an answer
const MOST_REASON = 200; // characters of the server's own words in a message

export interface ApiServer {
  /** Such as `https://host/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
}

/** How its errors name the server. */
export interface ApiWords {
  /** Such as `transcription server`. */
  readonly server: string;
  /** Names of the variables of its address, key and model. */
  readonly variables: { readonly url: string; readonly key: string; readonly model: string };
  /** `unavailable`: it cannot be reached or refuses all requests. `failed`: its answer is not usable. */
  readonly codes: { readonly unavailable: ErrorCode; readonly busy: ErrorCode; readonly failed: ErrorCode };
}

interface ApiRequest {
  /** Absent: GET. A string is JSON. */
  readonly body?: FormData | string;
  /** Milliseconds that one attempt may take, or one piece of a streamed answer. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** The request failed, and may succeed if it is sent again. */
class Passing extends Error {
  readonly error: ParleyError;
  readonly waitMs: number;

  constructor(error: ParleyError, waitMs = 0) {
    super(error.message);
    this.error = error;
    this.waitMs = waitMs;
  }
}

/** The end of an attempt: by its client, or by the time limit while that runs. */
class AttemptLimits {
  readonly timeoutMs: number;
  isLate = false;
  // Node 20 keeps what AbortSignal.any makes as long as its sources, which a session has for hours.
  readonly #end = new AbortController();
  readonly #client: AbortSignal;
  readonly #time: Time;
  readonly #giveUp = () => this.#end.abort();
  #forget: () => void = () => undefined;

  constructor({ timeoutMs, signal }: ApiRequest, time: Time) {
    this.timeoutMs = timeoutMs;
    this.#client = signal;
    this.#time = time;
    signal.addEventListener('abort', this.#giveUp);
    if (signal.aborted) this.#giveUp();
  }

  get signal(): AbortSignal {
    return this.#end.signal;
  }

  start(): void {
    this.#forget = this.#time.after(this.timeoutMs, () => {
      this.isLate = true;
      this.#giveUp();
    });
  }

  stop(): void {
    this.#forget();
  }

  close(): void {
    this.stop();
    this.#client.removeEventListener('abort', this.#giveUp);
    this.#giveUp();
  }
}

export class ApiClient {
  readonly #server: ApiServer;
  readonly #words: ApiWords;
  readonly #time: Time;

  constructor(server: ApiServer, words: ApiWords, time: Time) {
    this.#server = server;
    this.#words = words;
    this.#time = time;
  }

  /**
   * Resolves with the body of the answer. Rejects with the ParleyError that the server's status stands for;
   * TIMEOUT and those of a server that is busy or out of reach only after three attempts; ABORTED.
   */
  async request(path: string, request: ApiRequest): Promise<string> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#fetch(path, request);
      } catch (error) {
        await this.#again(error, attempt, request.signal);
      }
    }
  }

  /**
   * The answer in pieces, as they come. Each may take `timeoutMs`, without the time that its reader takes.
   * Throws as `request` rejects. Once the answer has begun, it is not asked for again.
   */
  async *stream(path: string, request: ApiRequest): AsyncGenerator<Uint8Array, void, undefined> {
    const { response, limits } = await this.#begun(path, request);
    try {
      let bytes = 0;
      for await (const piece of response.body ?? []) {
        limits.stop();
        bytes += (piece as Uint8Array).length;
        if (bytes > MOST_REPLY_BYTES) throw this.#tooLong();
        yield piece as Uint8Array;
        limits.start();
      }
    } catch (error) {
      if (request.signal.aborted) throw new ParleyError('ABORTED', 'the request was given up');
      const failure = this.#failure(error, limits);
      throw failure instanceof Passing ? failure.error : failure;
    } finally {
      limits.close(); // and with it the connection, if its reader has left
    }
  }

  /** Its caller closes the limits. */
  async #begun(path: string, request: ApiRequest): Promise<{ response: Response; limits: AttemptLimits }> {
    for (let attempt = 0; ; attempt++) {
      const limits = new AttemptLimits(request, this.#time);
      try {
        limits.start();
        return { response: await this.#answer(path, request, limits), limits };
      } catch (error) {
        limits.close();
        await this.#again(this.#failure(error, limits), attempt, request.signal);
      }
    }
  }

  /** Resolves when the request may be sent again; otherwise rejects with the reason. */
  async #again(error: unknown, attempt: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw new ParleyError('ABORTED', 'the request was given up');
    if (!(error instanceof Passing)) throw error;
    const waitMs = Math.max(RETRY_AFTER_MS[attempt] ?? Infinity, error.waitMs);
    if (waitMs > LONGEST_RETRY_MS) throw error.error;
    await this.#wait(waitMs, signal);
  }

  /** The same, with one attempt. */
  async requestOnce(path: string, request: ApiRequest): Promise<string> {
    try {
      return await this.#fetch(path, request);
    } catch (error) {
      if (request.signal.aborted) throw new ParleyError('ABORTED', 'the request was given up');
      throw error instanceof Passing ? error.error : error;
    }
  }

  async #fetch(path: string, request: ApiRequest): Promise<string> {
    const limits = new AttemptLimits(request, this.#time);
    try {
      limits.start();
      return await this.#textOf(await this.#answer(path, request, limits));
    } catch (error) {
      throw request.signal.aborted ? error : this.#failure(error, limits);
    } finally {
      limits.close();
    }
  }

  async #answer(path: string, { body }: ApiRequest, limits: AttemptLimits): Promise<Response> {
    const { baseUrl, apiKey } = this.#server;
    const response = await fetch(`${baseUrl}/${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        'user-agent': 'parley',
        accept: 'application/json',
        ...(typeof body === 'string' ? { 'content-type': 'application/json' } : {}),
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
      },
      redirect: 'error', // sound and key go only to the address that the operator configured
      signal: limits.signal,
      ...(body === undefined ? {} : { body }),
    });
    if (!response.ok) throw this.#refusal(response, await this.#textOf(response));
    return response;
  }

  #failure(error: unknown, { isLate, timeoutMs }: AttemptLimits): unknown {
    if (error instanceof ParleyError || error instanceof Passing) return error;
    const { server, codes, variables } = this.#words;
    const message = isLate
      ? `the ${server} did not answer within ${Math.round(timeoutMs)} ms`
      : `the ${server} cannot be reached: ${reasonOf(error)}`;
    const code = isLate ? 'TIMEOUT' : codes.unavailable;
    return new Passing(new ParleyError(code, message, { field: variables.url, cause: error }));
  }

  #tooLong(): ParleyError {
    const { server, codes } = this.#words;
    return new ParleyError(codes.failed, `the answer of the ${server} is over 4 MiB`);
  }

  #refusal({ status, headers }: Response, body: string): Error {
    const { server, codes, variables } = this.#words;
    const said = this.#saidIn(body);
    const isKey =
      status === 401 ? `; ${variables.key} is ${this.#server.apiKey === undefined ? 'not ' : ''}set` : '';
    const message = `the ${server} answered ${status}${said === '' ? '' : `: ${said}`}${isKey}`;
    if (status === 429 || status === 503) {
      const seconds = Number(headers.get('retry-after') ?? 0);
      const retryAfterSeconds = Number.isFinite(seconds) && seconds > 0 ? seconds : undefined;
      const error = new ParleyError(codes.busy, message, { field: variables.url, retryAfterSeconds });
      return new Passing(error, (retryAfterSeconds ?? 0) * 1000);
    }
    if (status >= 500 || status === 408)
      return new Passing(new ParleyError(codes.unavailable, message, { field: variables.url }));
    if (status === 413) return new ParleyError('TOO_LARGE', message, { field: 'file' });
    if (status === 401) return new ParleyError(codes.unavailable, message, { field: variables.key });
    if (status === 404) return new ParleyError(codes.unavailable, message, { field: variables.model });
    // A key may be allowed to transcribe and not to list models.
    return new ParleyError(status === 403 ? codes.unavailable : codes.failed, message);
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

  async #textOf(response: Response): Promise<string> {
    const { text, isWhole } = await responseText(response, MOST_REPLY_BYTES);
    if (!isWhole) throw this.#tooLong();
    return text;
  }
}

/** Undefined for what is not JSON. */
export function parsed(body: string): unknown {
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
