// Runs the HTTP/1 and HTTP/2 servers that answer with one application. They do not listen: `Listeners` hands
// them connections. For HTTP/1 this file adds a time limit of a request from which a route may exempt an
// upload. `Http2Sessions` has the limits of HTTP/2.
import http from 'node:http';
import http2 from 'node:http2';
import type { Socket } from 'node:net';
import { guarded } from '../../errors.js';
import type { Time } from '../../time.js';
import { Http2Sessions, isLongUpload, type ProtocolLimits } from './http2-sessions.js';
import type { HttpVersion } from './listeners.js';

export const PROTOCOL_LIMITS: ProtocolLimits = {
  requestMs: 30_000,
  headersMs: 15_000,
  idleMs: 130_000, // longer than any common client pool keeps a connection
  unusedMs: 60_000, // browsers open connections ahead of need
  stallMs: 60_000,
  sweepMs: 5000,
  streams: { perSecond: 2000, burst: 4000 },
  resets: { perSecond: 50, burst: 100 },
  controls: { perSecond: 100, burst: 1000 },
};

const MAX_HEADER_BYTES = 16 * 1024;
export const MAX_HEADERS = 100; // per request; the application counts those of HTTP/1
const MAX_STREAMS = 100; // concurrent requests on one HTTP/2 connection

type Handler = http.RequestListener;

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
      if (!this.#sessions.watch(request, response)) return;
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
        if (cameMs > oldest || isLongUpload(request)) continue;
        this.#open.delete(request);
        const { socket } = request;
        guarded({ work: 'HTTP request' }, this.#onLate, () => socket.destroy())(request);
      }
      this.#cancelSweep = this.#open.size > 0 ? this.#sweepLater() : undefined;
    });
  }
}
