// Talks HTTP with a model hub: resolves revisions, lists files, opens a file at an offset.
//
// Every wait has a bound. A failed request is repeated with growing pauses, or after the Retry-After of the
// hub. The token goes to the origin of the endpoint only: redirects to other hosts are followed without it.
import { ParleyError } from '../errors.js';
import type { Time } from '../time.js';
import { type HubModel, knownNames } from './catalog.js';

const SILENCE_MS = 30_000; // without a response or a byte
const TRIES = 5;
const FIRST_PAUSE_MS = 1000;
const LONGEST_RETRY_AFTER_S = 120;
const MOST_REDIRECTS = 5;
const MOST_PAGES = 100;
const MOST_JSON_BYTES = 16 * 1024 * 1024;
const REPEATED: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface HubOptions {
  /** The http(s) address of the hub. */
  readonly endpoint: string;
  /** Undefined: the hub is asked without a token. */
  readonly token: string | undefined;
  readonly time: Time;
  readonly signal: AbortSignal;
  readonly fetch: Fetch;
  /** Called before each pause, with the reason in words. */
  readonly onRetry: (why: string, pauseMs: number) => void;
}

/** A file of a repository, as the tree of the hub lists it. */
export interface HubFile {
  readonly path: string;
  readonly size: number;
  /** The name of its blob: SHA-256 of the content, or SHA-1 of the git blob. */
  readonly digest: { readonly kind: 'sha256' | 'git'; readonly hex: string };
}

/** The bytes of a file from an offset on. */
interface OpenedFile {
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

export class HubClient {
  readonly #options: HubOptions;
  readonly #origin: string;

  /** Throws CONFIG_INVALID for an endpoint or a token that cannot be used. */
  constructor(options: HubOptions) {
    this.#options = { ...options, endpoint: checkedEndpoint(options.endpoint) };
    this.#origin = new URL(this.#options.endpoint).origin;
    if (options.token !== undefined && !/^[\x21-\x7e]+$/.test(options.token)) {
      throw new ParleyError('CONFIG_INVALID', 'HF_TOKEN must consist of visible ASCII characters', {
        field: 'HF_TOKEN',
      });
    }
  }

  /** The commit that a revision names now. */
  async commitOf(model: HubModel): Promise<string> {
    const { body } = await this.#json(model, `${this.#api(model)}/revision/${revisionPath(model)}`);
    const sha = (body as { sha?: unknown } | null)?.sha;
    if (typeof sha === 'string' && /^[0-9a-f]{40}$/.test(sha)) return sha;
    throw malformed(`names no commit for ${model.id}`);
  }

  /** All files of a commit. */
  async files(model: HubModel, commit: string): Promise<readonly HubFile[]> {
    const found: HubFile[] = [];
    let url: string | undefined = `${this.#api(model)}/tree/${commit}?recursive=true`;
    for (let page = 0; url !== undefined; page++) {
      if (page === MOST_PAGES) throw malformed(`lists more than ${MOST_PAGES} pages of files`);
      const { body, next }: JsonAnswer = await this.#json(model, url);
      if (!Array.isArray(body)) throw malformed('lists no files');
      found.push(...body.flatMap((entry) => fileOf(entry)));
      url = next;
    }
    return found;
  }

  /** Requests a file once, from an offset on. Throws a Retryable if another try may succeed. */
  async open(model: HubModel, commit: string, file: HubFile, from: number): Promise<OpenedFile> {
    const path = file.path.split('/').map(encodeURIComponent).join('/');
    const url = `${this.#options.endpoint}/${model.id}/resolve/${commit}/${path}`;
    const headers = from > 0 ? { range: `bytes=${from}-` } : {};
    const watch = this.#watch();
    try {
      const response = await this.#follow(url, headers, watch.signal);
      const refusal = this.#refusalOf(response, model);
      if (refusal !== undefined) throw refusal;
      const start = startOf(response, file, from);
      return { from: start, chunks: this.#chunksOf(response, watch) };
    } catch (error) {
      watch.stop();
      throw this.#retryable(error, watch.signal);
    }
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

  #api({ id }: HubModel): string {
    return `${this.#options.endpoint}/api/models/${id}`;
  }

  #json(model: HubModel, url: string): Promise<JsonAnswer> {
    return this.retried(async () => {
      const watch = this.#watch();
      try {
        const response = await this.#follow(url, { accept: 'application/json' }, watch.signal);
        const refusal = this.#refusalOf(response, model);
        if (refusal !== undefined) throw refusal;
        const pieces: Uint8Array[] = [];
        let bytes = 0;
        for await (const piece of this.#chunksOf(response, watch)) {
          bytes += piece.length;
          if (bytes > MOST_JSON_BYTES) throw malformed(`sends more than ${MOST_JSON_BYTES} bytes of JSON`);
          pieces.push(piece);
        }
        return { body: parsed(Buffer.concat(pieces)), next: nextPage(response, url) };
      } catch (error) {
        throw this.#retryable(error, watch.signal);
      } finally {
        watch.stop();
      }
    });
  }

  /** Follows redirects by itself, because the token may go to one origin only. */
  async #follow(url: string, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
    let target = new URL(url);
    for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
      const { token } = this.#options;
      const authorization: Record<string, string> =
        token !== undefined && target.origin === this.#origin ? { authorization: `Bearer ${token}` } : {};
      const sent = { 'accept-encoding': 'identity', ...headers, ...authorization };
      const response = await this.#options.fetch(target.href, { headers: sent, redirect: 'manual', signal });
      const location = response.headers.get('location');
      if (response.status < 300 || response.status >= 400 || location === null) return response;
      await response.body?.cancel();
      const next = URL.canParse(location, target.href) ? new URL(location, target) : undefined;
      const isWorse = target.protocol === 'https:' && next?.protocol === 'http:';
      if (next === undefined || !/^https?:$/.test(next.protocol) || isWorse) {
        throw malformed('redirects to an address that is not https');
      }
      target = next;
    }
    throw malformed(`redirects more than ${MOST_REDIRECTS} times`);
  }

  /** Undefined for an answer with content. */
  #refusalOf(response: Response, model: HubModel): Error | undefined {
    const { status, headers } = response;
    if (status === 200 || status === 206) return undefined;
    void response.body?.cancel().catch(() => undefined);
    const host = hostOf(response.url, this.#options.endpoint);
    // The address that a hub redirects to has a signature, which expires: the next try gets a new one.
    if (REPEATED.has(status) || host !== undefined) {
      return repeatable(status, headers.get('retry-after'), host);
    }
    const { token, endpoint } = this.#options;
    const page = `${endpoint}/${model.id}`;
    if (status === 401 && token === undefined) {
      const message = `${model.id} does not exist, or needs a token: check the name, or set HF_TOKEN (${page})`;
      return new ParleyError('UNAUTHORIZED', message, { field: 'HF_TOKEN' });
    }
    if (status === 401) {
      const message = `the hub refuses the token of HF_TOKEN for ${model.id}`;
      return new ParleyError('UNAUTHORIZED', message, { field: 'HF_TOKEN' });
    }
    if (status === 403) {
      const why = token === undefined ? 'set HF_TOKEN' : 'the account of HF_TOKEN has no access';
      const message = `${model.id} is not open to everybody: ${why}; request access at ${page}`;
      return new ParleyError('FORBIDDEN', message, { field: 'HF_TOKEN' });
    }
    if (status === 404) return missing(model, headers.get('x-error-code'));
    return new ParleyError('DOWNLOAD_FAILED', `the hub answers with status ${status}`);
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
    return new Retryable(
      `the connection to ${new URL(this.#options.endpoint).host} failed (${String(what)})`,
    );
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

interface JsonAnswer {
  readonly body: unknown;
  readonly next: string | undefined;
}

function checkedEndpoint(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url?.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (url !== undefined && /^https?:$/.test(url.protocol) && isPlain) return url.href.replace(/\/+$/, '');
  const message = 'HF_ENDPOINT must be an http(s) address without user, query and fragment';
  throw new ParleyError('CONFIG_INVALID', message, { field: 'HF_ENDPOINT' });
}

/** The host that answered, if it is not the endpoint. */
function hostOf(url: string, endpoint: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { origin, host } = new URL(url);
  return origin === new URL(endpoint).origin ? undefined : host;
}

function repeatable(status: number, retryAfter: string | null, host: string | undefined): Error {
  const what = `${host ?? 'the hub'} answers with status ${status}`;
  const seconds = /^\d{1,6}$/.test(retryAfter ?? '') ? Number(retryAfter) : undefined;
  if (seconds === undefined) return new Retryable(what);
  if (seconds <= LONGEST_RETRY_AFTER_S) return new Retryable(what, seconds * 1000);
  const message = `${what} and asks to wait for ${seconds} s; the same command resumes`;
  return new ParleyError('DOWNLOAD_FAILED', message, { retryAfterSeconds: seconds });
}

function missing({ id, revision }: HubModel, code: string | null): ParleyError {
  const message =
    code === 'RevisionNotFound'
      ? `${id} has no revision ${revision}`
      : `the hub has no model ${id} (revision ${revision}); known short names: ${knownNames()}`;
  return new ParleyError('MODEL_UNKNOWN', message, { field: 'NAME' });
}

function malformed(what: string): ParleyError {
  return new ParleyError('MALFORMED', `the hub ${what}`);
}

function revisionPath({ revision }: HubModel): string {
  return encodeURIComponent(revision);
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw malformed('sends something that is no JSON; is HF_ENDPOINT the address of a hub?');
  }
}

/** The address of the next page of a list (RFC 8288). */
function nextPage({ headers }: Response, url: string): string | undefined {
  const [, target] = /<([^>]+)>\s*;[^,]*rel="?next"?/.exec(headers.get('link') ?? '') ?? [];
  return target !== undefined && URL.canParse(target, url) ? new URL(target, url).href : undefined;
}

/** Folders and links are left out. Throws MALFORMED. */
function fileOf(entry: unknown): HubFile | [] {
  const { type, path, size, oid, lfs } = entry as Readonly<Record<string, unknown>>;
  if (type !== 'file') return [];
  if (typeof path !== 'string' || !isSafe(path)) throw malformed(`lists a file ${JSON.stringify(path)}`);
  const stored = lfs as { oid?: unknown; size?: unknown } | undefined;
  const bytes = stored?.size ?? size;
  const digest =
    stored === undefined || stored === null
      ? ({ kind: 'git', hex: oid } as const)
      : ({ kind: 'sha256', hex: stored.oid } as const);
  const isHex = typeof digest.hex === 'string' && /^[0-9a-f]+$/.test(digest.hex);
  if (!isHex || (digest.hex as string).length !== (digest.kind === 'git' ? 40 : 64)) {
    throw malformed(`lists no checksum of ${path}`);
  }
  if (!Number.isSafeInteger(bytes) || (bytes as number) < 0) throw malformed(`lists no size of ${path}`);
  return { path, size: bytes as number, digest: digest as HubFile['digest'] };
}

/** True for a relative path that leads nowhere else. */
function isSafe(path: string): boolean {
  return path.split('/').every((part) => /^[^\\:\0]{1,255}$/.test(part) && part !== '.' && part !== '..');
}

/** The offset of the first byte that a response has. Throws if its length contradicts the tree. */
function startOf({ status, headers }: Response, { path, size }: HubFile, from: number): number {
  if (status === 206) {
    const [, start, total] = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers.get('content-range') ?? '') ?? [];
    if (Number(start) !== from) throw malformed(`answers with another part of ${path} than was asked for`);
    if (total !== '*' && Number(total) !== size) throw wrongSize(path, size, Number(total));
    return from;
  }
  const length = headers.get('content-length');
  if (length !== null && Number(length) !== size) throw wrongSize(path, size, Number(length));
  return 0;
}

function wrongSize(path: string, size: number, actual: number): ParleyError {
  return new ParleyError('DOWNLOAD_FAILED', `${path} has ${actual} bytes, but the hub lists ${size}`);
}
