// Limits what HTTP/2 connections may cost: the time of requests, unread answers and idle connections, and the
// number of requests and resets a second. Floods of pings, settings or headers are bounded by nghttp2.
//
// A request that its client resets at once has cost the server most of its work (CVE-2023-44487). So has one
// that the server resets because of an error that the client provoked (CVE-2025-8671). Both count alike.
import type { IncomingMessage } from 'node:http';
import {
  constants,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { MessageRate, type MessageRateLimits, neighbourhood } from '../../call/client-limits.js';
import type { Time } from '../../time.js';
import { addressOf } from './access.js';

export interface ProtocolLimits {
  /** Time limit in milliseconds for a whole request to arrive. */
  readonly requestMs: number;
  /** Time limit in milliseconds for the headers of a request to arrive. */
  readonly headersMs: number;
  /** Milliseconds after which an idle connection is closed. */
  readonly idleMs: number;
  /** Write timeout in milliseconds: how long a client may leave the rest of a complete answer unread. */
  readonly stallMs: number;
  /** Milliseconds between two checks of these limits. */
  readonly sweepMs: number;
  /** Requests on one HTTP/2 connection. All connections of an address together may have twice as many. */
  readonly streams: MessageRateLimits;
  /** Streams that are reset. Fifty calls that are interrupted each second stay below. */
  readonly resets: MessageRateLimits;
}

const longUploads = new WeakSet<object>();

/** Exempts a request from the time limit of its arrival: its route bounds each pause of the upload. */
export function allowLongUpload(request: IncomingMessage): void {
  longUploads.add(request);
}

export function isLongUpload(request: object): boolean {
  return longUploads.has(request);
}

/** Counts the requests of one connection, or of one address. */
class StreamRates {
  readonly #streams: MessageRate;
  readonly #resets: MessageRate;
  /** When it last counted something, in milliseconds. */
  usedMs: number;
  /** Open connections. */
  connections = 0;
  /** New connections are refused until then, because each could begin with a thousand requests. */
  refusedUntilMs = 0;

  constructor({ streams, resets }: ProtocolLimits, nowMs: number, factor: number) {
    const rate = ({ perSecond, burst }: MessageRateLimits) =>
      new MessageRate({ perSecond: factor * perSecond, burst: factor * burst }, nowMs);
    this.#streams = rate(streams);
    this.#resets = rate(resets);
    this.usedMs = nowMs;
  }

  /** False if one more is too many. */
  admits(kind: 'stream' | 'reset', nowMs: number): boolean {
    this.usedMs = nowMs;
    return (kind === 'stream' ? this.#streams : this.#resets).admits(nowMs);
  }
}

const REFUSAL_MS = 1000;
const FORGET_MS = 10_000; // an unused rate has its whole burst again

interface Exchange {
  readonly request: Http2ServerRequest;
  readonly response: Http2ServerResponse;
  readonly sinceMs: number;
  /** When a sweep first found that the answer was written completely. */
  writtenMs: number | undefined;
}

interface Session {
  /** The number of unfinished exchanges. */
  open: number;
  idleSinceMs: number;
  /** The preface of the client and its settings have come. */
  isGreeted: boolean;
  /** It has had too many requests or resets, and is being closed. */
  isRefused: boolean;
  readonly rates: readonly StreamRates[];
}

const { NGHTTP2_CANCEL, NGHTTP2_ENHANCE_YOUR_CALM, NGHTTP2_NO_ERROR } = constants;

/** One periodic sweep checks the time limits of everything open: a request costs an entry in a set. */
export class Http2Sessions {
  readonly #limits: ProtocolLimits;
  readonly #time: Time;
  readonly #sessions = new Map<ServerHttp2Session, Session>();
  readonly #exchanges = new Set<Exchange>();
  /** By address, also for a while after its last connection. */
  readonly #addresses = new Map<string, StreamRates>();
  #cancelSweep: (() => void) | undefined;
  #closing = false;

  constructor(limits: ProtocolLimits, time: Time) {
    this.#limits = limits;
    this.#time = time;
  }

  get size(): number {
    return this.#sessions.size;
  }

  add(session: ServerHttp2Session): void {
    const nowMs = this.#time.now();
    const ofAddress = this.#ratesOf(session, nowMs);
    const rates = [new StreamRates(this.#limits, nowMs, 1), ofAddress];
    const isRefused = ofAddress.refusedUntilMs > nowMs;
    const state = { open: 0, idleSinceMs: nowMs, isGreeted: false, isRefused, rates };
    ofAddress.connections++;
    this.#sessions.set(session, state);
    session.prependListener('stream', (stream: ServerHttp2Stream) => {
      // Reset in the bytes that began it, so that no request comes of it.
      if (stream.session === undefined && this.#admits('stream', session, state))
        this.#admits('reset', session, state);
    });
    session.once('remoteSettings', () => (state.isGreeted = true));
    session.once('close', () => {
      this.#sessions.delete(session);
      ofAddress.connections--;
    });
    if (isRefused) refuse(session);
    else if (this.#closing) session.close();
    this.#cancelSweep ??= this.#sweepLater();
  }

  /** False if the connection has had too many requests, and is being closed. */
  watch(request: Http2ServerRequest, response: Http2ServerResponse): boolean {
    const { stream } = request;
    const connection = stream.session as ServerHttp2Session | undefined;
    const session = connection === undefined ? undefined : this.#sessions.get(connection);
    // It closed before the request was read.
    if (connection === undefined || session === undefined) return false;
    if (!this.#admits('stream', connection, session)) return false;
    const exchange = { request, response, sinceMs: this.#time.now(), writtenMs: undefined };
    this.#exchanges.add(exchange);
    session.open++;
    response.once('close', () => {
      this.#exchanges.delete(exchange);
      session.open--;
      session.idleSinceMs = this.#time.now();
      if (isReset(stream)) this.#admits('reset', connection, session);
    });
    return true;
  }

  #ratesOf(session: ServerHttp2Session, nowMs: number): StreamRates {
    const address = neighbourhood(addressOf(session.socket));
    const known = this.#addresses.get(address);
    const rates = known ?? new StreamRates(this.#limits, nowMs, 2);
    if (known === undefined) this.#addresses.set(address, rates);
    return rates;
  }

  #admits(kind: 'stream' | 'reset', connection: ServerHttp2Session, session: Session): boolean {
    if (session.isRefused) return false;
    const nowMs = this.#time.now();
    if (session.rates.every((rate) => rate.admits(kind, nowMs))) return true;
    session.isRefused = true;
    for (const rate of session.rates) rate.refusedUntilMs = nowMs + REFUSAL_MS;
    if (!connection.destroyed) refuse(connection);
    return false;
  }

  /** Asks every client to close its connection. Answers in progress go on. */
  close(): void {
    this.#closing = true;
    for (const session of this.#sessions.keys()) session.close();
  }

  destroy(): void {
    for (const session of this.#sessions.keys()) session.destroy();
    this.#cancelSweep?.();
    this.#cancelSweep = undefined;
  }

  #sweepLater(): () => void {
    return this.#time.after(this.#limits.sweepMs, () => {
      this.#sweep(this.#time.now());
      const isUsed = this.#sessions.size > 0 || this.#addresses.size > 0;
      this.#cancelSweep = isUsed ? this.#sweepLater() : undefined;
    });
  }

  #sweep(nowMs: number): void {
    const { requestMs, headersMs, stallMs, idleMs } = this.#limits;
    for (const exchange of this.#exchanges) {
      const { request, response, sinceMs } = exchange;
      if (response.writableEnded) exchange.writtenMs ??= nowMs;
      const late = !hasArrived(request) && !longUploads.has(request) && nowMs - sinceMs > requestMs;
      const stalled = exchange.writtenMs !== undefined && nowMs - exchange.writtenMs > stallMs;
      if (late || stalled) request.stream.close(NGHTTP2_CANCEL);
    }
    for (const [session, { open, idleSinceMs, isGreeted }] of this.#sessions) {
      if (!isGreeted && nowMs - idleSinceMs > headersMs) session.destroy();
      else if (open === 0 && nowMs - idleSinceMs > idleMs) session.close();
    }
    for (const [address, { connections, usedMs }] of this.#addresses) {
      if (connections === 0 && nowMs - usedMs > FORGET_MS) this.#addresses.delete(address);
    }
  }
}

function refuse(session: ServerHttp2Session): void {
  session.goaway(NGHTTP2_ENHANCE_YOUR_CALM);
  // Later: nghttp2 may be reading, and Node ends the process if its streams are freed meanwhile.
  setImmediate(() => session.destroy());
}

/** By the client, or by the server because of an error of the client. */
function isReset({ aborted, rstCode }: ServerHttp2Stream): boolean {
  return aborted || (rstCode ?? NGHTTP2_NO_ERROR) !== NGHTTP2_NO_ERROR;
}

function hasArrived({ complete, stream }: Http2ServerRequest): boolean {
  return complete || stream.endAfterHeaders;
}
