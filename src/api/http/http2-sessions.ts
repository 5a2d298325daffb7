// Limits what HTTP/2 connections may cost: the time of headers, requests, unread answers and idle
// connections, and the number of requests, resets, pings and settings a second. nghttp2 and Node end a
// connection that sends too many CONTINUATION or empty DATA frames.
//
// A request that its client resets at once has cost the server most of its work (CVE-2023-44487). So has one
// that the server resets because of an error that the client provoked (CVE-2025-8671). Both count alike.
//
// A proxy on this machine has one connection for many clients. A client behind it is counted by the address
// that the proxy states, and only its own requests are refused.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import {
  constants,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import {
  clientAddress,
  isOwnMachine,
  MessageRate,
  type MessageRateLimits,
  neighbourhood,
  statesClient,
} from '../../call/client-limits.js';
import { attempt, guarded, type Work } from '../../errors.js';
import type { Time } from '../../time.js';
import { addressOf } from './access.js';

export interface ProtocolLimits {
  /** Time limit in milliseconds for a whole request to arrive. */
  readonly requestMs: number;
  /** Time limit in milliseconds for the headers of a request to arrive. */
  readonly headersMs: number;
  /** Milliseconds after which an idle connection is closed. */
  readonly idleMs: number;
  /** Milliseconds that an HTTP/2 connection has for its first request. */
  readonly unusedMs: number;
  /** Write timeout in milliseconds: how long a client may leave the rest of a complete answer unread. */
  readonly stallMs: number;
  /** Milliseconds between two checks of these limits. */
  readonly sweepMs: number;
  /** Requests on one HTTP/2 connection. All connections of an address together may have twice as many. */
  readonly streams: MessageRateLimits;
  /** Streams that are reset. Fifty calls that are interrupted each second stay below. */
  readonly resets: MessageRateLimits;
  /** PING and SETTINGS frames of one connection, each of which is answered. */
  readonly controls: MessageRateLimits;
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
  /**
   * New connections are refused until then, because each could begin with a thousand requests. So are the
   * requests of a client behind a proxy.
   */
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

const SWEEP: Work = { work: 'HTTP connection' };
const REFUSAL_MS = 1000;
const FORGET_MS = 10_000; // an unused rate has its whole burst again
const MAX_ADDRESSES = 10_000; // behind proxies; further ones share one rate

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
  /** A request has come. */
  isUsed: boolean;
  /** It has had too many requests, resets or control frames, and is being closed. */
  isRefused: boolean;
  /** Remote address of the connection. */
  readonly address: string | undefined;
  /** The rates of the connection, and of its address. */
  readonly rates: readonly [StreamRates, StreamRates];
  readonly controls: MessageRate;
  /** The headers of all streams up to this one have ended. */
  wholeUntil: number;
  /** The stream whose headers have begun and not ended. */
  begun: BegunHeaders | undefined;
}

interface BegunHeaders {
  readonly stream: number;
  readonly sinceMs: number;
  /** Bytes of data that the last sweep found not yet acknowledged. They become more only by a DATA frame. */
  received: number;
  /** Bytes that the last sweep found the server may send. They become more only by a WINDOW_UPDATE frame. */
  room: number;
  /** A ping is on its way. */
  isPinged: boolean;
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
  /** When the last sweep was, in milliseconds. */
  #sweptMs = 0;
  #closing = false;

  constructor(limits: ProtocolLimits, time: Time) {
    this.#limits = limits;
    this.#time = time;
  }

  get size(): number {
    return this.#sessions.size;
  }

  add(connection: ServerHttp2Session): void {
    const nowMs = this.#time.now();
    const session = this.#open(connection, nowMs);
    const [, ofAddress] = session.rates;
    ofAddress.connections++;
    this.#sessions.set(connection, session);
    connection.prependListener('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
      this.#onStream(connection, session, stream, headers);
    });
    const control = () => this.#control(connection, session);
    connection.once('remoteSettings', () => (session.isGreeted = true));
    connection.on('remoteSettings', control).on('ping', control);
    connection.once('close', () => {
      this.#sessions.delete(connection);
      ofAddress.connections--;
    });
    if (session.isRefused) refuse(connection);
    else if (this.#closing) connection.close();
    this.#cancelSweep ??= this.#sweepLater();
  }

  /** False if there were too many requests: the connection is being closed, or this request was reset. */
  watch(request: Http2ServerRequest, response: Http2ServerResponse): boolean {
    const { stream } = request;
    const connection = stream.session as ServerHttp2Session | undefined;
    const session = connection === undefined ? undefined : this.#sessions.get(connection);
    // It closed before the request was read.
    if (connection === undefined || session === undefined) return false;
    const client = this.#behindProxy(session, request.headers);
    if (!this.#admits('stream', connection, session, client)) {
      if (client !== undefined) stream.close(NGHTTP2_ENHANCE_YOUR_CALM);
      return false;
    }
    const exchange = { request, response, sinceMs: this.#time.now(), writtenMs: undefined };
    this.#exchanges.add(exchange);
    session.open++;
    response.once('close', () => {
      this.#exchanges.delete(exchange);
      session.open--;
      session.idleSinceMs = this.#time.now();
      if (isReset(stream)) this.#admits('reset', connection, session, client);
    });
    return true;
  }

  #open({ socket }: ServerHttp2Session, nowMs: number): Session {
    const address = addressOf(socket);
    const ofAddress = this.#ratesOf(neighbourhood(address), nowMs);
    return {
      open: 0,
      idleSinceMs: nowMs,
      isGreeted: false,
      isUsed: false,
      isRefused: ofAddress.refusedUntilMs > nowMs,
      address,
      rates: [new StreamRates(this.#limits, nowMs, 1), ofAddress],
      controls: new MessageRate(this.#limits.controls, nowMs),
      wholeUntil: 0,
      begun: undefined,
    };
  }

  #onStream(
    connection: ServerHttp2Session,
    session: Session,
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
  ): void {
    session.isUsed = true;
    session.wholeUntil = Math.max(session.wholeUntil, stream.id ?? 0);
    if (stream.session !== undefined) return;
    // It was reset in the bytes that began it, so that no request comes of it.
    const client = this.#behindProxy(session, headers);
    if (this.#admits('stream', connection, session, client))
      this.#admits('reset', connection, session, client);
  }

  /** The rates of a client that a proxy on this machine states; undefined without such a proxy. */
  #behindProxy({ address }: Session, headers: IncomingHttpHeaders): StreamRates | undefined {
    if (!isOwnMachine(address) || !statesClient(headers)) return undefined;
    const name = `forwarded ${neighbourhood(clientAddress(address, headers))}`;
    const isKnown = this.#addresses.has(name) || this.#addresses.size < MAX_ADDRESSES;
    return this.#ratesOf(isKnown ? name : 'forwarded', this.#time.now());
  }

  #ratesOf(address: string, nowMs: number): StreamRates {
    const known = this.#addresses.get(address);
    const rates = known ?? new StreamRates(this.#limits, nowMs, 2);
    if (known === undefined) this.#addresses.set(address, rates);
    return rates;
  }

  /** `client` has the rates of one that a proxy states. They take the place of the connection's. */
  #admits(
    kind: 'stream' | 'reset',
    connection: ServerHttp2Session,
    session: Session,
    client: StreamRates | undefined,
  ): boolean {
    if (session.isRefused) return false;
    const nowMs = this.#time.now();
    if (client !== undefined) {
      if (client.refusedUntilMs > nowMs) return false;
      if (client.admits(kind, nowMs)) return true;
      client.refusedUntilMs = nowMs + REFUSAL_MS;
      return false;
    }
    if (session.rates.every((rate) => rate.admits(kind, nowMs))) return true;
    this.#refuse(connection, session, nowMs);
    return false;
  }

  #control(connection: ServerHttp2Session, session: Session): void {
    const nowMs = this.#time.now();
    if (!session.isRefused && !session.controls.admits(nowMs)) this.#refuse(connection, session, nowMs);
  }

  #refuse(connection: ServerHttp2Session, session: Session, nowMs: number): void {
    session.isRefused = true;
    for (const rate of session.rates) rate.refusedUntilMs = nowMs + REFUSAL_MS;
    if (!connection.destroyed) refuse(connection);
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
    this.#sweptMs = this.#time.now();
    return this.#time.after(this.#limits.sweepMs, () => {
      const nowMs = this.#time.now();
      attempt(SWEEP, () => this.#sweepExchanges(nowMs));
      for (const [connection, session] of this.#sessions) {
        const sweep = () => this.#sweepSession(connection, session, nowMs);
        guarded(SWEEP, sweep, () => connection.destroy())();
      }
      for (const [address, { connections, usedMs }] of this.#addresses) {
        if (connections === 0 && nowMs - usedMs > FORGET_MS) this.#addresses.delete(address);
      }
      const isUsed = this.#sessions.size > 0 || this.#addresses.size > 0;
      this.#cancelSweep = isUsed ? this.#sweepLater() : undefined;
    });
  }

  #sweepExchanges(nowMs: number): void {
    const { requestMs, stallMs } = this.#limits;
    for (const exchange of this.#exchanges) {
      const { request, response, sinceMs } = exchange;
      if (response.writableEnded) exchange.writtenMs ??= nowMs;
      const late = !hasArrived(request) && !longUploads.has(request) && nowMs - sinceMs > requestMs;
      const stalled = exchange.writtenMs !== undefined && nowMs - exchange.writtenMs > stallMs;
      if (late || stalled) request.stream.close(NGHTTP2_CANCEL);
    }
  }

  #sweepSession(connection: ServerHttp2Session, session: Session, nowMs: number): void {
    const { headersMs, idleMs, unusedMs } = this.#limits;
    const { open, idleSinceMs, isGreeted, isUsed } = session;
    this.#seekHeaders(connection, session);
    const { begun } = session;
    const isUnbegun = !isGreeted && nowMs - idleSinceMs > headersMs;
    const isUnended = begun !== undefined && nowMs - begun.sinceMs > headersMs;
    if (isUnbegun || isUnended) connection.destroy();
    else if (open === 0 && nowMs - idleSinceMs > (isUsed ? idleMs : unusedMs)) connection.close();
  }

  /** Notes headers that have begun and not ended. Node reports them only once they have ended. */
  #seekHeaders(connection: ServerHttp2Session, session: Session): void {
    const {
      lastProcStreamID: stream = 0,
      effectiveRecvDataLength = 0,
      remoteWindowSize = 0,
    } = connection.state;
    const { begun } = session;
    // No other frame may come within headers (RFC 9113, section 4.3). One that comes shows that they have
    // ended, and that nghttp2 refused them: data, room for the data of answers, or the answer to a ping.
    if (
      begun?.stream === stream &&
      (effectiveRecvDataLength > begun.received || remoteWindowSize > begun.room)
    )
      session.wholeUntil = Math.max(session.wholeUntil, stream);
    if (stream <= session.wholeUntil) {
      session.begun = undefined;
    } else if (begun?.stream === stream) {
      begun.received = effectiveRecvDataLength;
      begun.room = remoteWindowSize;
      if (!begun.isPinged) ping(connection, session, begun);
    } else {
      const sinceMs = Math.max(this.#sweptMs, session.idleSinceMs);
      const next = { stream, sinceMs, received: effectiveRecvDataLength, room: remoteWindowSize };
      session.begun = { ...next, isPinged: false };
      ping(connection, session, session.begun);
    }
  }
}

/** Asks for a frame that shows that the headers have ended. A ping that was not sent is asked for again. */
function ping(connection: ServerHttp2Session, session: Session, begun: BegunHeaders): void {
  begun.isPinged = true;
  connection.ping((error: Error | null) => {
    if (error === null) session.wholeUntil = Math.max(session.wholeUntil, begun.stream);
    else begun.isPinged = false;
  });
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
