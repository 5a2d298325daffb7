// Fetches documents and sounds, and sends callbacks, as Twilio does: signed requests with form parameters,
// redirects, retries, cookies, a cache, and an error number for every failure.
// https://www.twilio.com/docs/usage/webhooks
import { randomUUID } from 'node:crypto';
import type { IvrConfig } from '../../config/ivr-config.js';
import { ParleyError } from '../../errors.js';
import { ProgramError } from '../../ivr/door.js';
import type { Target } from '../../ivr/verbs.js';
import { systemTime, type Time } from '../../time.js';
import { AllowedTargets, type Resolve } from './allowed-targets.js';
import { AnswerCache } from './answer-cache.js';
import type { CookieJar } from './cookie-jar.js';
import { type FetchLimits, fetchLimits, type RetryCause, shownUrl } from './document-url.js';
import { ExchangeError, type HttpAnswer, HttpExchanges, type HttpHead } from './http-exchange.js';
import * as errors from './twiml-errors.js';
import { type FormFields, formSignature } from './twiml-signature.js';

type FetchKind = 'document' | 'sound' | 'callback';

export interface FetchRequest {
  readonly kind: FetchKind;
  readonly target: Target;
  /** A form, or the query of a GET request. */
  readonly parameters: FormFields;
  /** Signs the request; undefined: it is not signed. */
  readonly authToken: string | undefined;
  readonly cookies: CookieJar;
}

export interface Fetched {
  /** After redirects; without the parameters of a GET request. */
  readonly url: string;
  /** Lower case, without parameters; empty: the answer has none. */
  readonly contentType: string;
  /** Undefined: UTF-8. */
  readonly charset: string | undefined;
  readonly body: Buffer;
}

export interface FetcherOptions {
  readonly config: Pick<IvrConfig, 'hosts' | 'twimlUrl'>;
  /** Bytes of one sound. */
  readonly mostSoundBytes: number;
  readonly time?: Time;
  readonly resolve?: Resolve;
  /** PEM of a certificate authority, in place of those of Node. */
  readonly authority?: string | undefined;
  /** A token that is the same in all attempts of a request. */
  readonly newToken?: () => string;
}

export const MOST_DOCUMENT_BYTES = 65_536;
const MOST_REDIRECTS = 10;
const DOCUMENT_CACHE_BYTES = 4 * 1024 * 1024;
const SOUND_CACHE_BYTES = 64 * 1024 * 1024;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const NOT_MODIFIED = 304;
const FORM = 'application/x-www-form-urlencoded';

const CODES_OF_CERTIFICATES: Readonly<Record<string, string>> = {
  ERR_TLS_CERT_ALTNAME_INVALID: errors.CERTIFICATE_OF_OTHER_HOST,
  CERT_HAS_EXPIRED: errors.CERTIFICATE_EXPIRED,
  CERT_NOT_YET_VALID: errors.CERTIFICATE_EXPIRED,
  DEPTH_ZERO_SELF_SIGNED_CERT: errors.CERTIFICATE_UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: errors.CERTIFICATE_UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: errors.CERTIFICATE_UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: errors.CERTIFICATE_UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: errors.CERTIFICATE_UNTRUSTED,
};

/** One hop of a request: redirects lead to the next one. */
interface Hop {
  readonly url: URL;
  readonly method: 'GET' | 'POST';
  /** True behind a redirect: its query may have the parameters already. */
  readonly isRedirected: boolean;
}

export class DocumentFetcher {
  readonly #targets: AllowedTargets;
  readonly #exchanges: HttpExchanges;
  readonly #time: Time;
  readonly #mostSoundBytes: number;
  readonly #newToken: () => string;
  readonly #caches = {
    document: new AnswerCache(DOCUMENT_CACHE_BYTES),
    sound: new AnswerCache(SOUND_CACHE_BYTES),
  };
  readonly #closing = new AbortController();

  constructor({ config, mostSoundBytes, time = systemTime, resolve, authority, newToken }: FetcherOptions) {
    this.#targets = new AllowedTargets(config, resolve);
    this.#exchanges = new HttpExchanges(time, { authority });
    this.#time = time;
    this.#mostSoundBytes = mostSoundBytes;
    this.#newToken = newToken ?? randomUUID;
  }

  /** Rejects with a ProgramError, or ABORTED. */
  async fetch(request: FetchRequest, signal: AbortSignal): Promise<Fetched> {
    const { at, method = 'POST' } = request.target;
    if (!URL.canParse(at))
      throw failure(errors.INVALID_URL, at, `${JSON.stringify(at.slice(0, 100))} is no URL`);
    const url = new URL(at);
    const limits = fetchLimits(url);
    const late = new AbortController();
    const cancelTimer = this.#time.after(limits.totalMs, () => late.abort());
    const given = AbortSignal.any([signal, late.signal, this.#closing.signal]);
    try {
      return await this.#follow({ url, method, isRedirected: false }, request, limits, given);
    } catch (error) {
      if (signal.aborted || this.#closing.signal.aborted)
        throw new ParleyError('ABORTED', 'the document is not wanted any more');
      if (late.signal.aborted) {
        const why = `it did not answer in full within ${limits.totalMs / 1000} s`;
        throw failure(errors.CONNECTION_FAILED, at, why);
      }
      throw error;
    } finally {
      cancelTimer();
    }
  }

  /** Ends all requests. Idempotent. */
  close(): void {
    this.#closing.abort();
    this.#exchanges.close();
  }

  async #follow(
    first: Hop,
    request: FetchRequest,
    limits: FetchLimits,
    signal: AbortSignal,
  ): Promise<Fetched> {
    const token = this.#newToken();
    let hop = first;
    for (let hops = 0; hops <= MOST_REDIRECTS; hops++) {
      const answer = await this.#ask(hop, request, { limits, token }, signal);
      if ('url' in answer) return answer;
      hop = redirected(hop, answer);
    }
    throw failure(
      errors.TOO_MANY_REDIRECTS,
      first.url.href,
      `it redirects more than ${MOST_REDIRECTS} times`,
    );
  }

  /** The answer, or a redirect. */
  async #ask(
    hop: Hop,
    request: FetchRequest,
    { limits, token }: { readonly limits: FetchLimits; readonly token: string },
    signal: AbortSignal,
  ): Promise<Fetched | HttpAnswer> {
    this.#targets.check(hop.url);
    const url = sentUrl(hop, request);
    // Sounds are kept for all calls, so they are asked for without the cookies of one.
    const cookie = request.kind === 'sound' ? undefined : request.cookies.headerFor(url);
    const cache =
      request.kind === 'callback' || hop.method === 'POST' || cookie !== undefined ? undefined : request.kind;
    const found = cache === undefined ? undefined : this.#caches[cache].find(url.href, this.#time.now());
    if (found?.kind === 'fresh') return fetched(hop, found.answer.contentType, found.answer.body);
    const headers = {
      ...this.#headers(url, hop, request, token),
      ...(cookie === undefined ? {} : { cookie }),
      ...(found?.kind === 'stale' ? found.headers : {}),
    };
    const answer = await this.#attempts({ ...hop, url }, headers, request, limits, signal);
    if (request.kind !== 'sound') request.cookies.keep(url, answer.headers['set-cookie']);
    if (REDIRECTS.has(answer.status)) return answer;
    if (cache !== undefined && answer.status === NOT_MODIFIED) {
      const kept = this.#caches[cache].confirm(url.href, answer.headers, this.#time.now());
      if (kept !== undefined) return fetched(hop, kept.contentType, kept.body);
    }
    if (answer.status < 200 || answer.status > 299)
      throw failure(errors.RETRIEVAL_FAILED, hop.url.href, `it answered with status ${answer.status}`);
    if (cache !== undefined && answer.status === 200)
      this.#caches[cache].keep(url.href, answer.headers, answer.body, this.#time.now());
    return fetched(hop, answer.headers['content-type'], answer.body);
  }

  #headers(
    url: URL,
    hop: Hop,
    { parameters, authToken }: FetchRequest,
    token: string,
  ): Record<string, string> {
    const form = hop.method === 'POST' ? parameters : [];
    return {
      accept: '*/*',
      'accept-encoding': 'identity',
      'user-agent': 'parley',
      'i-twilio-idempotency-token': token,
      ...(authToken === undefined ? {} : { 'x-twilio-signature': formSignature(authToken, url, form) }),
      ...(hop.method === 'POST'
        ? { 'content-type': FORM, 'content-length': String(Buffer.byteLength(formOf(form))) }
        : {}),
    };
  }

  /** Asks again after failures that the URL, or Twilio by default, says so of. */
  async #attempts(
    { url, method }: Hop,
    headers: Record<string, string>,
    request: FetchRequest,
    limits: FetchLimits,
    signal: AbortSignal,
  ): Promise<HttpAnswer> {
    const exchange = {
      url,
      method,
      headers,
      body: method === 'POST' ? formOf(request.parameters) : undefined,
      lookup: this.#targets.lookupFor(url),
      connectMs: limits.connectMs,
      readMs: limits.readMs,
      mostBytes: (head: HttpHead) => this.#mostBytes(request.kind, head),
    };
    for (let left = limits.retries; ; left--) {
      const mayRetry = (cause: RetryCause | undefined) =>
        left > 0 && cause !== undefined && limits.retryOn.has(cause) && !signal.aborted;
      try {
        const answer = await this.#exchanges.send(exchange, signal);
        if (!mayRetry(causeOfStatus(answer.status))) return answer;
      } catch (error) {
        if (!mayRetry(causeOfError(error))) throw exchangeFailure(url, error);
      }
    }
  }

  #mostBytes(kind: FetchKind, { status, headers }: HttpHead): number {
    if (kind === 'callback' || status < 200 || status > 299) return 0;
    const isSound = kind === 'sound' || typeOf(headers['content-type']).startsWith('audio/');
    return isSound ? this.#mostSoundBytes : MOST_DOCUMENT_BYTES;
  }
}

function sentUrl({ url, method, isRedirected }: Hop, { parameters }: FetchRequest): URL {
  const sent = new URL(url);
  sent.hash = '';
  if (method === 'POST') return sent;
  const added = isRedirected ? parameters.filter(([name]) => !sent.searchParams.has(name)) : parameters;
  // The query is not written anew: the application may compare it with its own.
  if (added.length > 0) sent.search += `${sent.search === '' ? '?' : '&'}${formOf(added)}`;
  return sent;
}

function redirected({ url, method }: Hop, { status, headers: { location } }: HttpAnswer): Hop {
  if (location === undefined || !URL.canParse(location, url.href))
    throw failure(errors.RETRIEVAL_FAILED, url.href, `it redirects (${status}) to no URL`);
  const next = new URL(location, url);
  if (next.hash === '') next.hash = url.hash;
  const keepsMethod = status === 307 || status === 308;
  return { url: next, method: keepsMethod ? method : 'GET', isRedirected: true };
}

function fetched({ url }: Hop, contentType: string | undefined, body: Buffer): Fetched {
  const [, charset] = /;\s*charset="?([\w.:-]{1,40})"?/i.exec(contentType ?? '') ?? [];
  return { url: url.href, contentType: typeOf(contentType), charset, body };
}

function typeOf(contentType = ''): string {
  return (contentType.split(';')[0] ?? '').trim().toLowerCase();
}

function formOf(fields: FormFields): string {
  return new URLSearchParams(fields.map(([name, value]): [string, string] => [name, value])).toString();
}

function causeOfStatus(status: number): RetryCause | undefined {
  if (status >= 400 && status < 500) return '4xx';
  return status >= 500 ? '5xx' : undefined;
}

function causeOfError(error: unknown): RetryCause | undefined {
  if (!(error instanceof ExchangeError) || error.cause instanceof ProgramError) return undefined;
  if (error.phase === 'size') return undefined;
  return error.phase === 'connect' ? 'ct' : 'rt';
}

function exchangeFailure(url: URL, error: unknown): unknown {
  if (!(error instanceof ExchangeError)) return error;
  if (error.cause instanceof ProgramError) return error.cause;
  const { phase, code = '', message } = error;
  if (phase === 'size') return failure(errors.BODY_TOO_LARGE, url.href, message);
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN' || code === 'ENODATA')
    return failure(errors.BAD_HOST, url.href, 'the name of its host does not exist', error);
  const certificate = CODES_OF_CERTIFICATES[code];
  if (certificate !== undefined)
    return failure(certificate, url.href, `its certificate is refused: ${message}`, error);
  if (/^(?:ERR_SSL|ERR_TLS|EPROTO)/.test(code))
    return failure(errors.TLS_FAILED, url.href, `TLS failed: ${message}`, error);
  if (code.startsWith('HPE_'))
    return failure(errors.NO_HTTP, url.href, `its answer is no HTTP: ${message}`, error);
  return failure(errors.CONNECTION_FAILED, url.href, message, error);
}

function failure(code: string, url: string, why: string, cause?: unknown): ProgramError {
  const message = `the URL could not be fetched: ${why}`;
  return new ProgramError({ code, message, document: shownUrl(url) }, { cause });
}
