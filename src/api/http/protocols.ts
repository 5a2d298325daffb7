// The two versions of HTTP that answer with one application. They listen
// nowhere: connections are handed to them by whoever listens.
import http from 'node:http';
import http2 from 'node:http2';
import type { Socket } from 'node:net';
import type { Time } from '../../time.js';
import type { HttpVersion } from './first-bytes.js';
import { Http2Sessions } from './http2-sessions.js';

export interface ProtocolLimits {
  /** Milliseconds that a whole request may take to arrive. */
  readonly requestMs: number;
  /** Milliseconds that its headers may take. */
  readonly headersMs: number;
  /** Milliseconds for which a connection may carry no request. */
  readonly idleMs: number;
  /** Milliseconds for which the rest of a finished answer may wait to be taken. */
  readonly stallMs: number;
  /** Milliseconds between two looks at these limits. */
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
export const MAX_HEADERS = 100; // of a request; of HTTP/1 counted by the application
const MAX_STREAMS = 100; // requests at once on one connection of HTTP/2

type Handler = http.RequestListener;

export class Protocols {
  /** Also whom WebSockets ask: its event `upgrade`. */
  readonly http1: http.Server;
  readonly #http2: http2.Http2Server;
  readonly #sessions: Http2Sessions;
  /** Requests whose answer is not finished. */
  #answering = 0;
  #allAnswered: (() => void) | undefined;

  constructor(handler: Handler, limits: ProtocolLimits, time: Time) {
    this.#sessions = new Http2Sessions(limits, time);
    const counted: Handler = (request, response) => {
      this.#count(response);
      handler(request, response);
    };
    this.http1 = makeHttp1(counted, limits);
    this.#http2 = this.#makeHttp2(counted);
  }

  /** Takes a connection of which the version is known. */
  take(socket: Socket, version: HttpVersion): void {
    if (version === 'http/1') {
      this.http1.emit('connection', socket);
      socket.resume();
    } else {
      socket.allowHalfOpen = false; // a client of HTTP/2 that ends its side is gone
      this.#http2.emit('connection', socket);
    }
  }

  /** Ends what is idle, and asks everybody else to leave when they are answered. */
  close(): void {
    this.http1.close(); // it does not listen: this ends idle connections and its timer
    this.#sessions.close();
  }

  destroy(): void {
    this.#sessions.destroy();
    this.http1.closeAllConnections();
  }

  /** Resolves when nothing is being answered. */
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
      // fastify tells the two versions apart itself.
      handler(request as unknown as http.IncomingMessage, response as unknown as http.ServerResponse);
    });
    return server;
  }
}

function makeHttp1(handler: Handler, limits: ProtocolLimits): http.Server {
  const server = http.createServer(
    {
      keepAliveTimeout: limits.idleMs,
      requestTimeout: limits.requestMs,
      headersTimeout: limits.headersMs,
      connectionsCheckingInterval: limits.sweepMs,
      maxHeaderSize: MAX_HEADER_BYTES,
    },
    handler,
  );
  server.maxHeadersCount = 0; // all that fit into the bytes: above it Node drops some without a word
  // Node keeps account of connections, and of their time limits, from here on.
  server.emit('listening');
  return server;
}
