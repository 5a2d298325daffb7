// The HTTP door: one port for the speech endpoints, browser calls, health,
// metrics and the page.
import type { FastifyInstance } from 'fastify';
import { type AppOptions, buildApp } from './app.js';
import { AudioReplies } from './audio-replies.js';

export interface HttpServerOptions extends AppOptions {
  /** TCP port; 0 lets the system choose. */
  readonly port: number;
  /** Texts being spoken over HTTP at once. */
  readonly maxReplies?: number;
  /** Milliseconds for which a client may take nothing of the sound that waits for it. */
  readonly stallMs?: number;
}

const MAX_REPLIES = 100;
const STALL_MS = 60_000; // a player that is paused for longer asks again
const CLOSE_MS = 2000; // for requests that are being answered when the server closes

export class HttpServer {
  readonly #app: FastifyInstance;
  readonly #replies: AudioReplies;
  readonly #options: HttpServerOptions;
  #closing: Promise<void> | undefined;

  constructor(options: HttpServerOptions) {
    this.#options = options;
    const { maxReplies = MAX_REPLIES, stallMs = STALL_MS } = options;
    this.#replies = new AudioReplies({ maxReplies, stallMs });
    this.#app = buildApp(options, this.#replies);
  }

  /** Resolves with the address that the server now answers under. */
  listen(): Promise<string> {
    const { host, port } = this.#options;
    return this.#app.listen({ host, port });
  }

  /** Accepts no more, ends open streams, waits a moment for other answers; no socket is left when it resolves. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const timer = setTimeout(() => this.#app.server.closeAllConnections(), CLOSE_MS);
    try {
      await Promise.all([this.#replies.close(), this.#app.close()]);
    } finally {
      clearTimeout(timer);
    }
  }
}
