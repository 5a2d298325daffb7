// Asks OpenAI-compatible servers over HTTP, for an answer as a whole or in pieces: more attempts where the
// same request may succeed, at once on another server, a time limit, a limit of the answer, and errors that
// name the variable that the operator can change.
import { type ErrorCode, ParleyError } from '../../errors.js';
import { responseText } from '../../response-text.js';
import type { Time } from '../../time.js';
import { type ApiServer, type Lease, ServerPool } from './server-pool.js';

const RETRY_AFTER_MS = [300, 1000]; // so there are three attempts, and one more for each further server
const LONGEST_RETRY_MS = 10_000; // a server that wants a longer pause is busy
const MOST_REPLY_BYTES = 4 << 20; // of an answer
const MOST_REASON = 200; // characters of the server's own words in a message

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
  /** Its requests should go to the same server. */
  readonly client?: string | undefined;
  /** JSON, if absent. */
  readonly accept?: string;
  /** Throws a ParleyError for an answer that is not the wanted one. */
  readonly check?: (headers: Headers) => void;
  /** Bytes of a streamed answer; 4 MiB, if absent. */
  readonly mostBytes?: number;
  /** Bytes of a streamed answer that must be there before its reader gets any; 0, if absent. */
  readonly heldBytes?: number;
}

/** An answer that has begun. */
interface BegunAnswer {
  readonly limits: AttemptLimits;
  readonly lease: Lease;
  readonly pieces: AsyncIterator<Uint8Array>;
  /** Its beginning, which may be all of it. */
  readonly held: IteratorResult<Uint8Array, unknown>[];
}

type Attempt<T> = (limits: AttemptLimits, lease: Lease) => Promise<T>;

/** The request failed, and may succeed if it is sent again. */
class Passing extends Error {
  readonly error: ParleyError;
  /** The server has no room, perhaps for so many milliseconds; undefined: it could not be reached. */
  readonly busyMs: number | undefined;

  constructor(error: ParleyError, busyMs?: number) {
    super(error.message);
    this.error = error;
    this.busyMs = busyMs;
  }
}

/** The server refuses the request, and another one may answer it. */
class Refused extends Error {
  readonly error: ParleyError;
  readonly status: number;
  readonly server: ApiServer;

  constructor(error: ParleyError, status: number, server: ApiServer) {
    super(error.message);
    this.error = error;
    this.status = status;
    this.server = server;
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
  readonly #pool: ServerPool;
  readonly #words: ApiWords;
  readonly #time: Time;

  /** Clients of the same servers may share a pool. */
  constructor(servers: ApiServer | ServerPool, words: ApiWords, time: Time) {
    this.#pool = servers instanceof ServerPool ? servers : new ServerPool([servers], time);
    this.#words = words;
    this.#time = time;
  }

  /**
   * Resolves with the body of the answer. Rejects with the ParleyError that the server's status stands for;
   * TIMEOUT and those of servers that are busy or out of reach only after three attempts at each; ABORTED.
   */
  request(path: string, request: ApiRequest): Promise<string> {
    return this.#repeat(request, (limits, lease) => this.#whole(path, request, limits, lease));
  }

  /** The same, with one attempt, or more where servers refuse the key. */
  async requestOnce(path: string, request: ApiRequest): Promise<string> {
    const tried = new Set<ApiServer>();
    for (;;) {
      try {
        return await this.#attempt(request, tried, (limits, lease) =>
          this.#whole(path, request, limits, lease),
        );
      } catch (error) {
        if (error instanceof Refused && error.status === 401 && this.#pool.hasOther(tried)) {
          this.#pool.setAside(error.server);
          continue;
        }
        throw error instanceof Passing || error instanceof Refused ? error.error : error;
      }
    }
  }

  /**
   * The answer in pieces, as they come. Each may take `timeoutMs`, without the time that its reader takes.
   * Throws as `request` rejects. Until its first piece and `heldBytes` are there, or all of it, a server that
   * breaks off or stalls is replaced by another one. Later it is not asked for again.
   */
  async *stream(path: string, request: ApiRequest): AsyncGenerator<Uint8Array, void, undefined> {
    const { pieces, held, limits, lease } = await this.#repeat(request, (...attempt) =>
      this.#begin(path, request, ...attempt),
    );
    let settle = () => lease.givenUp();
    try {
      let bytes = 0;
      const take = async () => held.shift() ?? (await pieces.next());
      for (let next = await take(); next.done !== true; next = await take()) {
        limits.stop();
        bytes += next.value.length;
        if (bytes > (request.mostBytes ?? MOST_REPLY_BYTES)) throw this.#tooLong();
        yield next.value;
        limits.start();
      }
      settle = () => lease.answered();
    } catch (error) {
      if (request.signal.aborted) throw new ParleyError('ABORTED', 'the request was given up');
      settle = () => lease.failed();
      const failure = this.#failure(error, limits);
      throw failure instanceof Passing || failure instanceof Refused ? failure.error : failure;
    } finally {
      settle();
      await pieces.return?.().catch(() => undefined);
      limits.close(); // and with it the connection, if its reader has left
    }
  }

  /** Until its first piece and `heldBytes` are there. Its caller closes the limits and settles the lease. */
  async #begin(path: string, request: ApiRequest, limits: AttemptLimits, lease: Lease): Promise<BegunAnswer> {
    const { body } = await this.#answer(path, request, limits, lease.server);
    const pieces = (body ?? new Blob([]).stream())[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
    const held: BegunAnswer['held'] = [];
    let bytes = 0;
    do {
      limits.stop();
      limits.start();
      const piece = await pieces.next();
      held.push(piece);
      if (piece.done === true) break;
      bytes += piece.value.length;
    } while (bytes < (request.heldBytes ?? 0));
    return { pieces, held, limits, lease };
  }

  async #whole(path: string, request: ApiRequest, limits: AttemptLimits, lease: Lease): Promise<string> {
    const text = await this.#textOf(await this.#answer(path, request, limits, lease.server));
    lease.answered();
    limits.close();
    return text;
  }

  /** Attempts, one at each server that is not left alone, and after a pause at all of them again. */
  async #repeat<T>(request: ApiRequest, act: Attempt<T>): Promise<T> {
    const tried = new Set<ApiServer>();
    const refused = new Set<ApiServer>();
    for (let pauses = 0; ;) {
      try {
        const answer = await this.#attempt(request, tried, act);
        // If one answers, the request is not at fault.
        for (const server of refused) this.#pool.setAside(server);
        return answer;
      } catch (error) {
        if (error instanceof Refused) {
          refused.add(error.server);
          if (this.#pool.hasOther(tried)) continue;
          throw error.error;
        }
        if (!(error instanceof Passing)) throw error;
        if (this.#pool.hasOther(tried)) continue;
        const waitMs = Math.max(RETRY_AFTER_MS[pauses++] ?? Infinity, error.busyMs ?? 0);
        if (waitMs > LONGEST_RETRY_MS) throw error.error;
        await this.#wait(waitMs, request.signal);
        if (request.signal.aborted) throw new ParleyError('ABORTED', 'the request was given up');
        tried.clear();
        for (const server of refused) tried.add(server);
      }
    }
  }

  /** `act` settles the lease and closes the limits if it succeeds. Throws Passing, or a ParleyError. */
  async #attempt<T>(request: ApiRequest, tried: Set<ApiServer>, act: Attempt<T>): Promise<T> {
    const lease = this.#pool.take(request.client, tried);
    const limits = new AttemptLimits(request, this.#time);
    tried.add(lease.server);
    try {
      limits.start();
      return await act(limits, lease);
    } catch (error) {
      limits.close();
      if (request.signal.aborted) {
        lease.givenUp();
        throw new ParleyError('ABORTED', 'the request was given up');
      }
      const failure = this.#failure(error, limits);
      if (!(failure instanceof Passing)) lease.answered();
      else if (failure.busyMs === undefined) lease.failed();
      else lease.busy(failure.busyMs);
      throw failure;
    }
  }

  async #answer(
    path: string,
    { body, accept = 'application/json', check }: ApiRequest,
    limits: AttemptLimits,
    server: ApiServer,
  ): Promise<Response> {
    const { baseUrl, apiKey } = server;
    const response = await fetch(`${baseUrl}/${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        'user-agent': 'parley',
        accept,
        ...(typeof body === 'string' ? { 'content-type': 'application/json' } : {}),
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
      },
      redirect: 'error', // sound and key go only to the address that the operator configured
      signal: limits.signal,
      ...(body === undefined ? {} : { body }),
    });
    if (!response.ok) throw this.#refusal(response, await this.#textOf(response), server);
    check?.(response.headers);
    return response;
  }

  #failure(error: unknown, { isLate, timeoutMs }: AttemptLimits): unknown {
    if (error instanceof ParleyError || error instanceof Passing || error instanceof Refused) return error;
    const { server, codes, variables } = this.#words;
    const message = isLate
      ? `the ${server} did not answer within ${Math.round(timeoutMs)} ms`
      : `the ${server} cannot be reached: ${reasonOf(error)}`;
    const code = isLate ? 'TIMEOUT' : codes.unavailable;
    return new Passing(new ParleyError(code, message, { field: variables.url, cause: causeOf(error) }));
  }

  #tooLong(): ParleyError {
    const { server, codes } = this.#words;
    return new ParleyError(codes.failed, `the answer of the ${server} is over 4 MiB`);
  }

  #refusal({ status, headers }: Response, body: string, answering: ApiServer): Error {
    const { server, codes, variables } = this.#words;
    const { apiKey } = answering;
    const said = saidIn(parsed(body), answering);
    const isKey = status === 401 ? `; ${variables.key} is ${apiKey === undefined ? 'not ' : ''}set` : '';
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
    const refused = (code: ErrorCode, field?: string) =>
      new Refused(new ParleyError(code, message, field === undefined ? {} : { field }), status, answering);
    if (status === 401) return refused(codes.unavailable, variables.key);
    if (status === 404) return refused(codes.unavailable, variables.model);
    // A key may be allowed to transcribe and not to list models.
    return refused(status === 403 ? codes.unavailable : codes.failed);
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

/**
 * The server's words in the body of an error, without key and addresses; empty if there are none. Forms that
 * may repeat what was sent are not read.
 */
export function saidIn(body: unknown, { apiKey, baseUrl }: ApiServer): string {
  const message = messageIn(body);
  if (typeof message !== 'string') return '';
  const keyless = apiKey === undefined ? message : message.replaceAll(apiKey, '…');
  const begin = beginOf(keyless.replaceAll(/\s+/g, ' '));
  return withoutAddresses(begin).replaceAll(new URL(baseUrl).hostname, '…').slice(0, MOST_REASON);
}

/** OpenAI, Ollama and llama.cpp have an object, LM Studio a string, older versions of vLLM no `error`. */
function messageIn(body: unknown): unknown {
  const error = field(body, 'error');
  if (typeof error === 'string') return error;
  return field(error, 'message') ?? (field(body, 'object') === 'error' ? field(body, 'message') : undefined);
}

const MOST_CLEANED = 2000; // characters; the search for addresses takes quadratic time

/** Whole words: half an address would not be found. */
function beginOf(text: string): string {
  if (text.length <= MOST_CLEANED) return text;
  const begin = text.slice(0, MOST_CLEANED);
  return begin.includes(' ') ? begin.slice(0, begin.lastIndexOf(' ')) : begin;
}

const ADDRESSES: readonly RegExp[] = [
  /\b[a-z][a-z\d+.-]*:\/\/[^\s"'`<>()]+/gi, // URL
  /\b\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?\b/g, // IPv4, with or without a port
  /\[[\da-f.]*(?::[\da-f.]*){2,}(?:%\w+)?\](?::\d{1,5})?/gi, // IPv6 in brackets
  /(?<![\w:])(?:[\da-f]{1,4}:){7}[\da-f]{1,4}(?![\w:])/gi, // IPv6
  /(?<![\w:])(?:(?:[\da-f]{1,4}:){1,6}|:):(?:[\da-f]{1,4}:){0,6}[\da-f]{0,4}(?![\w:])/gi, // with ::
  /\b(?:localhost|[a-z\d-]+(?:\.[a-z\d-]+)+):\d{1,5}\b/gi, // name and port
  /\b[a-z][a-z\d-]*:\d{4,5}\b/gi, // a name without a dot; error:404 is none
];

/** The text for people who may not know the addresses of this network. */
function withoutAddresses(text: string): string {
  return ADDRESSES.reduce((clean, address) => clean.replaceAll(address, '…'), text);
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

/** Errors of the network by their codes. Their own messages have addresses, which clients may not know. */
const NETWORK_REASONS: Readonly<Record<string, string>> = {
  EAI_AGAIN: 'its name cannot be looked up',
  ECONNREFUSED: 'it refuses connections',
  ECONNRESET: 'it broke the connection off',
  EHOSTUNREACH: 'there is no route to it',
  ENETUNREACH: 'there is no route to it',
  ENOTFOUND: 'its name is unknown',
  EPIPE: 'it broke the connection off',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
  ETIMEDOUT: 'it does not answer',
  UND_ERR_CONNECT_TIMEOUT: 'it does not answer',
  UND_ERR_SOCKET: 'it broke the connection off',
};

/** `fetch failed` says nothing: its cause does. */
function causeOf(error: unknown): unknown {
  const { cause = error } = error as { cause?: unknown };
  return cause;
}

/** Says why a server cannot be reached, without an address. */
export function reasonOf(error: unknown): string {
  const cause = causeOf(error);
  const { code } = cause as { code?: unknown };
  const known = typeof code === 'string' ? NETWORK_REASONS[code] : undefined;
  return known ?? withoutAddresses(cause instanceof Error ? cause.message : String(cause));
}
