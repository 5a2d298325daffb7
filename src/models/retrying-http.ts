// Talks HTTP with a server of models: follows redirects, watches for silence, opens a file at an offset.
//
// Every wait has a bound. A failed request is repeated with growing pauses, or after the Retry-After of the
// server. The token goes to the origin of the endpoint only: other hosts get redirected requests without it.
import { ParleyError } from '../errors.js';
import type { Time } from '../time.js';

const SILENCE_MS = 30_000; // without a response or a byte
const TRIES = 5;
const FIRST_PAUSE_MS = 1000;
const LONGEST_RETRY_AFTER_S = 120;
const MOST_REDIRECTS = 5;
const REPEATED: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);
/** Some servers refuse requests of programs that send none. */
const USER_AGENT = 'parley';

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface HttpOptions {
  readonly time: Time;
  readonly signal: AbortSignal;
  readonly fetch: Fetch;
  /** Called before each pause, with the reason in words. */
  readonly onRetry: (why: string, pauseMs: number) => void;
}

export interface ModelServer {
  /** The http(s) address, without a slash at its end. */
  readonly endpoint: string;
  /** Undefined: requests have no token. */
  readonly token?: string | undefined;
  /** The server for messages, such as `the hub`. */
  readonly name: string;
  /** Who states sizes and checksums, for messages. */
  readonly lister: string;
}

/** A file of a model. */
export interface RemoteFile {
  readonly path: string;
  readonly size: number;
  /** SHA-256 of the content, SHA-1 of the git blob, or CRC32C. */
  readonly digest: { readonly kind: 'sha256' | 'git' | 'crc32c'; readonly hex: string };
}

/** The bytes of a file from an offset on. */
export interface OpenedFile {
  /** The offset of the first byte: the one asked for, or 0 if the server sends the whole file. */
  readonly from: number;
  /** Throws a Retryable if the connection breaks or is silent for 30 s. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** A failure after which the same request may succeed. */
export class Retryable extends Error {
  readonly pauseMs: number | undefined;

  constructor(message: string, pauseMs?: number) {
    super(message);
    this.pauseMs = pauseMs;
  }
}

interface Answered<T> {
  readonly inspected: T;
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** The refusal of a response with another status than 200 and 206. */
type Refusal = (response: Response) => ParleyError;

export class RetryingHttp {
  readonly #server: ModelServer;
  readonly #options: HttpOptions;
  readonly #origin: string;

  constructor(server: ModelServer, options: HttpOptions) {
    this.#server = server;
    this.#options = options;
    this.#origin = new URL(server.endpoint).origin;
  }

  get lister(): string {
    return this.#server.lister;
  }

  /**
   * Requests an address once. `inspect` may throw for a response with content. Throws a Retryable if another
   * try may succeed.
   */
  async request<T>(
    url: string,
    headers: Record<string, string>,
    refusal: Refusal,
    inspect: (response: Response) => T,
  ): Promise<Answered<T>> {
    const watch = this.#watch();
    try {
      const response = await this.#follow(url, headers, watch.signal);
      this.#check(response, refusal);
      return { inspected: inspect(response), chunks: this.#chunksOf(response, watch) };
    } catch (error) {
      watch.stop();
      throw this.#retryable(error, watch.signal);
    }
  }

  /** Requests a file once, from an offset on. Throws a Retryable if another try may succeed. */
  async openFile(url: string, file: RemoteFile, from: number, refusal: Refusal): Promise<OpenedFile> {
    const headers: Record<string, string> = from > 0 ? { range: `bytes=${from}-` } : {};
    const startOf = (response: Response) => this.#startOf(response, file, from);
    const { inspected, chunks } = await this.request(url, headers, refusal, startOf);
    return { from: inspected, chunks };
  }

  /**
   * Calls `action` until it throws no Retryable, at most five times. `hasProgress` is asked after a failure;
   * if true, the count begins again.
   */
  async retried<T>(action: () => Promise<T>, hasProgress: () => boolean = () => false): Promise<T> {
    for (let failures = 1; ; failures++) {
      this.#checkAborted();
      try {
        return await action();
      } catch (error) {
        if (!(error instanceof Retryable)) throw error;
        if (hasProgress()) failures = 1;
        if (failures === TRIES) {
          const message = `${error.message}, ${TRIES} times in succession; the same command resumes`;
          throw new ParleyError('DOWNLOAD_FAILED', message, { cause: error });
        }
        const pauseMs = error.pauseMs ?? FIRST_PAUSE_MS * 2 ** (failures - 1);
        this.#options.onRetry(error.message, pauseMs);
        await this.#pause(pauseMs);
      }
    }
  }

  /** Follows redirects by itself, because the token may go to one origin only. */
  async #follow(url: string, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
    let target = new URL(url);
    for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
      const { token } = this.#server;
      const authorization: Record<string, string> =
        token !== undefined && target.origin === this.#origin ? { authorization: `Bearer ${token}` } : {};
      const own = { 'accept-encoding': 'identity', 'user-agent': USER_AGENT };
      const sent = { ...own, ...headers, ...authorization };
      const response = await this.#options.fetch(target.href, { headers: sent, redirect: 'manual', signal });
      const location = response.headers.get('location');
      if (response.status < 300 || response.status >= 400 || location === null) return response;
      await response.body?.cancel();
      const next = URL.canParse(location, target.href) ? new URL(location, target) : undefined;
      const isWorse = target.protocol === 'https:' && next?.protocol === 'http:';
      if (next === undefined || !/^https?:$/.test(next.protocol) || isWorse) {
        throw this.malformed('redirects to an address that is not https');
      }
      target = next;
    }
    throw this.malformed(`redirects more than ${MOST_REDIRECTS} times`);
  }

  /** Throws for a response without content. */
  #check(response: Response, refusal: Refusal): void {
    const { status, headers } = response;
    if (status === 200 || status === 206) return;
    void response.body?.cancel().catch(() => undefined);
    const host = hostOf(response.url, this.#server.endpoint);
    // The address that a hub redirects to has a signature, which expires: the next try gets a new one.
    if (REPEATED.has(status) || host !== undefined)
      throw repeatable(status, headers.get('retry-after'), host ?? this.#server.name);
    throw refusal(response);
  }

  /** The offset of the first byte that a response has. Throws if its length contradicts the list. */
  #startOf({ status, headers }: Response, { path, size }: RemoteFile, from: number): number {
    const checkSize = (actual: number) => {
      if (actual === size) return;
      const message = `${path} has ${actual} bytes, but ${this.#server.lister} lists ${size}`;
      throw new ParleyError('DOWNLOAD_FAILED', message);
    };
    if (status === 206) {
      const [, start, total] = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers.get('content-range') ?? '') ?? [];
      if (Number(start) !== from)
        throw this.malformed(`answers with another part of ${path} than was asked for`);
      if (total !== '*') checkSize(Number(total));
      return from;
    }
    const length = headers.get('content-length');
    if (length !== null) checkSize(Number(length));
    return 0;
  }

  malformed(what: string): ParleyError {
    return new ParleyError('MALFORMED', `${this.#server.name} ${what}`);
  }

  /** A signal that aborts after 30 s without a call of `touch`, or with the signal of the options. */
  #watch(): Watch {
    const { time, signal } = this.#options;
    const controller = new AbortController();
    const abort = () => controller.abort(signal.reason);
    const silent = () => controller.abort(new Retryable(`nothing came for ${SILENCE_MS / 1000} s`));
    let cancel = time.after(SILENCE_MS, silent);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort);
    return {
      signal: controller.signal,
      touch: () => {
        cancel();
        cancel = time.after(SILENCE_MS, silent);
      },
      stop: () => {
        cancel();
        signal.removeEventListener('abort', abort);
      },
    };
  }

  async *#chunksOf(response: Response, watch: Watch): AsyncGenerator<Uint8Array> {
    const reader = response.body?.getReader();
    try {
      for (;;) {
        watch.touch();
        const next = await reader?.read();
        if (next === undefined || next.done) return;
        yield next.value as Uint8Array;
      }
    } catch (error) {
      throw this.#retryable(error, watch.signal);
    } finally {
      watch.stop();
      await reader?.cancel().catch(() => undefined); // the connection may be broken
    }
  }

  /** Failures of the network become Retryable, with the words of the system. */
  #retryable(error: unknown, signal: AbortSignal): unknown {
    this.#checkAborted();
    if (signal.aborted && signal.reason instanceof Retryable) return signal.reason;
    if (error instanceof ParleyError || error instanceof Retryable || !(error instanceof Error)) return error;
    const { cause } = error as { cause?: { code?: unknown; message?: unknown } };
    const what = [cause?.code, cause?.message, error.message].find((one) => typeof one === 'string');
    return new Retryable(`the connection to ${new URL(this.#server.endpoint).host} failed (${String(what)})`);
  }

  #checkAborted(): void {
    if (this.#options.signal.aborted) throw new ParleyError('ABORTED', 'interrupted');
  }

  async #pause(ms: number): Promise<void> {
    const { time, signal } = this.#options;
    await new Promise<void>((resolve) => {
      const end = () => {
        cancel();
        signal.removeEventListener('abort', end);
        resolve();
      };
      const cancel = time.after(ms, end);
      signal.addEventListener('abort', end);
    });
  }
}

interface Watch {
  readonly signal: AbortSignal;
  touch(): void;
  stop(): void;
}

/** The host that answered, if it is not the endpoint. */
function hostOf(url: string, endpoint: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { origin, host } = new URL(url);
  return origin === new URL(endpoint).origin ? undefined : host;
}

function repeatable(status: number, retryAfter: string | null, who: string): Error {
  const what = `${who} answers with status ${status}`;
  const seconds = /^\d{1,6}$/.test(retryAfter ?? '') ? Number(retryAfter) : undefined;
  if (seconds === undefined) return new Retryable(what);
  if (seconds <= LONGEST_RETRY_AFTER_S) return new Retryable(what, seconds * 1000);
  const message = `${what} and asks to wait for ${seconds} s; the same command resumes`;
  return new ParleyError('DOWNLOAD_FAILED', message, { retryAfterSeconds: seconds });
}
