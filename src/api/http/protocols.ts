// Runs the HTTP/1 and HTTP/2 servers that answer with one application. They do not listen: `Listeners` hands
// them connections. For HTTP/2 this file adds the time limits that Node applies to HTTP/1 only, and for both
// the time limit of a request, from which a route may exempt an upload.
import http from 'node:http';
import http2, {
  constants,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from 'node:http2';
import type { Socket } from 'node:net';
import { guarded } from '../../errors.js';
import type { Time } from '../../time.js';
import type { HttpVersion } from './listeners.js';

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
}

export const PROTOCOL_LIMITS: ProtocolLimits = {
  requestMs: 30_000,
  headersMs: 15_000,
  idleMs: 130_000, // longer than any common client pool keeps a connection
  stallMs: 60_000,
  sweepMs: 5000,
};

const MAX_HEADER_BYTES = 16 * 1024;
export const MAX_HEADERS = 100; // per request; the application counts those of HTTP/1
const MAX_STREAMS = 100; // concurrent requests on one HTTP/2 connection

type Handler = http.RequestListener;

const longUploads = new WeakSet<object>();

/** Exempts a request from the time limit of its arrival: its route bounds each pause of the upload. */
export function allowLongUpload(request: http.IncomingMessage): void {
  longUploads.add(request);
}

export class Protocols {
  /** Emits `upgrade` for WebSockets. */
  readonly http1: http.Server;
  readonly #http2: http2.Http2Server;
  readonly #sessions: Http2Sessions;
  readonly #arrivals: Http1Arrivals;
  /** The number of requests whose answer is not complete. */
  #answering = 0;
  #allAnswered: (() => void) | undefined;

  constructor(handler: Handler, limits: ProtocolLimits, time: Time) {
    this.#sessions = new Http2Sessions(limits, time);
    const counted: Handler = (request, response) => {
      this.#count(response);
      guarded({ work: 'HTTP request' }, handler, () => response.destroy())(request, response);
    };
    this.http1 = makeHttp1((request, response) => {
      this.#arrivals.watch(request);
      counted(request, response);
    }, limits);
    this.#arrivals = new Http1Arrivals(limits, time, (request) => {
      const error = Object.assign(new Error('the request came too slowly'), {
        code: 'ERR_HTTP_REQUEST_TIMEOUT',
      });
      this.http1.emit('clientError', error, request.socket);
    });
    this.#http2 = this.#makeHttp2(counted);
  }

  /** Takes over a connection of a known version. */
  take(socket: Socket, version: HttpVersion): void {
    if (version === 'http/1') {
      this.http1.emit('connection', socket);
      socket.resume();
    } else {
      socket.allowHalfOpen = false; // an HTTP/2 client that ends its side is gone
      this.#http2.emit('connection', socket);
    }
  }

  /** Closes idle connections now and the others after their answers. */
  close(): void {
    this.http1.close(); // closes idle connections and the timer; there is no listener to close
    this.#sessions.close();
  }

  destroy(): void {
    this.#sessions.destroy();
    this.#arrivals.close();
    this.http1.closeAllConnections();
  }

  /** Resolves when no request is in progress. */
  answered(): Promise<void> {
    if (this.#answering === 0) return Promise.resolve();
    return new Promise((resolve) => (this.#allAnswered = resolve));
  }

  #count(response: http.ServerResponse): void {
    this.#answering++;
    response.once('close', () => {
      if (--this.#answering === 0) this.#allAnswered?.();
    });
  }

  #makeHttp2(handler: Handler): http2.Http2Server {
    const server = http2.createServer({
      maxHeaderListPairs: MAX_HEADERS,
      settings: { maxConcurrentStreams: MAX_STREAMS, maxHeaderListSize: MAX_HEADER_BYTES },
    });
    server.on('session', (session) => this.#sessions.add(session));
    server.on('request', (request, response) => {
      this.#sessions.watch(request, response);
      // fastify distinguishes the two versions itself.
      handler(request as unknown as http.IncomingMessage, response as unknown as http.ServerResponse);
    });
    return server;
  }
}

function makeHttp1(handler: Handler, limits: ProtocolLimits): http.Server {
  const server = http.createServer(
    {
      keepAliveTimeout: limits.idleMs,
      requestTimeout: 0, // Http1Arrivals
      headersTimeout: limits.headersMs,
      connectionsCheckingInterval: limits.sweepMs,
      maxHeaderSize: MAX_HEADER_BYTES,
    },
    handler,
  );
  // No limit of Node, which drops headers silently; the application refuses too many.
  server.maxHeadersCount = 0;
  // From this event on, Node tracks connections and their time limits.
  server.emit('listening');
  return server;
}

/** Applies the time limit of requests to HTTP/1. Node's own cannot be lifted for one request. */
class Http1Arrivals {
  readonly #limits: ProtocolLimits;
  readonly #time: Time;
  readonly #onLate: (request: http.IncomingMessage) => void;
  /** Milliseconds at which each request with a body came that has not arrived whole. */
  readonly #open = new Map<http.IncomingMessage, number>();
  #cancelSweep: (() => void) | undefined;

  constructor(limits: ProtocolLimits, time: Time, onLate: (request: http.IncomingMessage) => void) {
    this.#limits = limits;
    this.#time = time;
    this.#onLate = onLate;
  }

  watch(request: http.IncomingMessage): void {
    const { 'content-length': length = '0', 'transfer-encoding': coding } = request.headers;
    if (length === '0' && coding === undefined) return;
    this.#open.set(request, this.#time.now());
    const arrived = () => this.#open.delete(request);
    request.once('end', arrived);
    request.once('close', arrived);
    this.#cancelSweep ??= this.#sweepLater();
  }

  close(): void {
    this.#cancelSweep?.();
    this.#cancelSweep = undefined;
  }

  #sweepLater(): () => void {
    return this.#time.after(this.#limits.sweepMs, () => {
      const oldest = this.#time.now() - this.#limits.requestMs;
      for (const [request, cameMs] of this.#open) {
        if (cameMs > oldest || longUploads.has(request)) continue;
        this.#open.delete(request);
        this.#onLate(request);
      }
      this.#cancelSweep = this.#open.size > 0 ? this.#sweepLater() : undefined;
    });
  }
}

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
}

const { NGHTTP2_CANCEL } = constants;

/**
 * Applies the time limits of requests, unread answers and idle connections to HTTP/2. One periodic sweep
 * checks everything that is open, so a request costs only an entry in a set. Floods of resets, pings,
 * settings or headers are bounded by nghttp2 and by the server options.
 */
class Http2Sessions {
  readonly #limits: ProtocolLimits;
  readonly #time: Time;
  readonly #sessions = new Map<ServerHttp2Session, Session>();
  readonly #exchanges = new Set<Exchange>();
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
    this.#sessions.set(session, { open: 0, idleSinceMs: this.#time.now() });
    session.once('close', () => this.#sessions.delete(session));
    if (this.#closing) session.close();
    this.#cancelSweep ??= this.#sweepLater();
  }

  watch(request: Http2ServerRequest, response: Http2ServerResponse): void {
    const session = this.#sessions.get(request.stream.session as ServerHttp2Session);
    const exchange = { request, response, sinceMs: this.#time.now(), writtenMs: undefined };
    this.#exchanges.add(exchange);
    if (session !== undefined) session.open++;
    response.once('close', () => {
      this.#exchanges.delete(exchange);
      if (session === undefined) return;
      session.open--;
      session.idleSinceMs = this.#time.now();
    });
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
      this.#cancelSweep = this.#sessions.size > 0 ? this.#sweepLater() : undefined;
    });
  }

  #sweep(nowMs: number): void {
    const { requestMs, stallMs, idleMs } = this.#limits;
    for (const exchange of this.#exchanges) {
      const { request, response, sinceMs } = exchange;
      if (response.writableEnded) exchange.writtenMs ??= nowMs;
      const late = !hasArrived(request) && !longUploads.has(request) && nowMs - sinceMs > requestMs;
      const stalled = exchange.writtenMs !== undefined && nowMs - exchange.writtenMs > stallMs;
      if (late || stalled) request.stream.close(NGHTTP2_CANCEL);
    }
    for (const [session, { open, idleSinceMs }] of this.#sessions) {
      if (open === 0 && nowMs - idleSinceMs > idleMs) session.close();
    }
  }
}

function hasArrived({ complete, stream }: Http2ServerRequest): boolean {
  return complete || stream.endAfterHeaders;
}
