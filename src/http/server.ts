// The HTTP door: one port for the speech endpoints, browser calls, health,
// metrics and the page.
import type { FastifyInstance } from 'fastify';
import { randomUUID } from 'node:crypto';
import { ParleyError } from '../errors.js';
import { type AppOptions, buildApp } from './app.js';
import { AccessGuard } from './access.js';
import { AudioReplies } from './audio-replies.js';
import type { SocketDialect } from './socket-dialect.js';
import { addSocketRoutes } from './socket-routes.js';
import { Sockets } from './sockets.js';

export interface HttpServerOptions extends AppOptions {
  /** TCP port; 0 lets the system choose. */
  readonly port: number;
  /** Texts being spoken over HTTP at once. */
  readonly maxReplies?: number;
  /** Milliseconds for which a client may take nothing of the sound that waits for it. */
  readonly stallMs?: number;
  /** Milliseconds until the first sound of a text; 504 above it. */
  readonly requestTimeoutMs?: number;
  /** What is spoken over WebSockets. */
  readonly dialects?: readonly SocketDialect[];
  /** WebSockets open at once. */
  readonly maxSockets?: number;
}

const MAX_REPLIES = 100;
const MAX_SOCKETS = 256;
const REQUEST_TIMEOUT_MS = 60_000;
const STALL_MS = 60_000; // a player that is paused for longer asks again
const CLOSE_MS = 2000; // for requests that are being answered when the server closes

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there',
  EADDRNOTAVAIL: 'this machine has no such address',
  EACCES: 'the system does not allow it',
  ENOTFOUND: 'there is no such name',
};

export class HttpServer {
  readonly #app: FastifyInstance;
  readonly #replies: AudioReplies;
  readonly #sockets: Sockets;
  readonly #options: HttpServerOptions;
  /** Requests whose answer is not finished. */
  #answering = 0;
  #allAnswered: (() => void) | undefined;
  #listening: Promise<string> | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: HttpServerOptions) {
    this.#options = options;
    const { maxReplies = MAX_REPLIES, stallMs = STALL_MS } = options;
    const { requestTimeoutMs = REQUEST_TIMEOUT_MS } = options;
    this.#replies = new AudioReplies({ maxReplies, stallMs, requestTimeoutMs });
    this.#app = buildApp(options, this.#replies);
    this.#sockets = openSockets(options);
    addSocketRoutes(this.#app, options.dialects ?? []);
    this.#sockets.attach(this.#app.server);
    this.#app.server.on('request', (_request, response) => {
      this.#answering++;
      response.once('close', () => {
        if (--this.#answering === 0) this.#allAnswered?.();
      });
    });
  }

  /** Resolves with the address that the server now answers under; CONFIG_INVALID when it cannot be had. */
  listen(): Promise<string> {
    const { host, port } = this.#options;
    // Otherwise fastify opens a second server for ::1, out of reach of close().
    const address = host === 'localhost' ? '127.0.0.1' : host;
    this.#listening ??= this.#app.listen({ host: address, port }).catch((error: NodeJS.ErrnoException) => {
      const why = REASONS[error.code ?? ''] ?? error.message;
      throw new ParleyError('CONFIG_INVALID', `cannot listen on HOST=${host}, PORT=${port}: ${why}`, {
        cause: error,
      });
    });
    return this.#listening;
  }

  /** Accepts no more, ends open streams, waits a moment for other answers; no socket is left when it resolves. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#listening?.catch(() => undefined);
    const { server } = this.#app;
    const stopped = new Promise<void>((resolve) => server.close(() => resolve()));
    await Promise.all([this.#replies.close(), this.#sockets.close(), this.#answered()]);
    // What is left are idle connections, and browsers keep some that never carried a request.
    server.closeAllConnections();
    await stopped;
    await this.#app.close();
  }

  /** Resolves when nothing is being answered, or when that takes too long. */
  #answered(): Promise<void> {
    if (this.#answering === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, CLOSE_MS);
      this.#allAnswered = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

function openSockets(options: HttpServerOptions): Sockets {
  const { dialects = [], maxSockets = MAX_SOCKETS, metrics, log } = options;
  return new Sockets({
    dialects,
    guard: new AccessGuard(options),
    maxSockets,
    newId: options.newId ?? randomUUID,
    metrics: metrics.sockets,
    log,
  });
}
