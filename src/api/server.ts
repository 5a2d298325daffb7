// Runs the HTTP server: it joins the application, the protocols, the listeners and the WebSockets, and closes
// them in the right order.
import type { FastifyInstance } from 'fastify';
import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import { systemTime } from '../time.js';
import { AccessGuard } from './http/access.js';
import { type AppOptions, buildApp } from './app.js';
import { AudioReplies } from './speech/audio-replies.js';
import type { CertificateFiles } from '../config/certificate.js';
import { EventReplies } from './calls/event-replies.js';
import type { FileWatchOptions } from '../config/file-watch.js';
import { Admission, RateLimits } from './http/admission.js';
import { KeyFile, KeyRing } from './http/api-keys.js';
import { ClientSecrets } from './http/client-secrets.js';
import { type ListenerOptions, Listeners } from './http/listeners.js';
import { TelephoneAccess, type TelephoneParts } from './calls/telephone-access.js';
import type { ProtocolLimits } from './http/http2-sessions.js';
import { PROTOCOL_LIMITS, Protocols } from './http/protocols.js';
import type { Dialect } from './http/socket-dialect.js';
import { addSocketRoutes, type ForeignSocket, Sockets } from './http/sockets.js';
import { type DialectOptions, openDialects } from './dialects.js';

export interface HttpServerOptions extends AppOptions, DialectOptions {
  /** TCP port; 0 lets the system choose. */
  readonly port: number;
  readonly apiKeys: readonly string[];
  /** A file with more API keys, read again when it changes. */
  readonly apiKeysFile?: string | undefined;
  /** Requests per minute of each client; 0 means no limit. */
  readonly rateLimit?: number;
  /** Files of a certificate and its key, which make the port use TLS. */
  readonly tlsCert?: string | undefined;
  readonly tlsKey?: string | undefined;
  /** Path of a Unix socket to listen on in addition to the port. */
  readonly udsPath?: string | undefined;
  /** Limit of texts spoken over HTTP at once. */
  readonly maxReplies?: number;
  /** Write timeout in milliseconds: how long a client may leave sent audio unread. */
  readonly stallMs?: number;
  /** Time limit in milliseconds for the first audio of a text; above it the answer is 504. */
  readonly requestTimeoutMs?: number;
  /** More dialects that WebSockets may use. */
  readonly dialects?: readonly Dialect[];
  /** Ends every call, when the server closes and streams of events are still open. */
  readonly endCalls?: () => Promise<unknown>;
  /** A path whose WebSockets another part of this process serves. */
  readonly foreignSocket?: ForeignSocket | undefined;
  /** Telephone calls; without it, their routes answer 501. */
  readonly phone?: TelephoneParts | undefined;
  /** Limit of open WebSockets. */
  readonly maxSockets?: number;
  /** Time limit in milliseconds for the first bytes of a connection. */
  readonly startMs?: number;
  readonly protocolLimits?: Partial<ProtocolLimits>;
  readonly watch?: FileWatchOptions;
}

const MAX_REPLIES = 100;
const MAX_SOCKETS = 256;
const REQUEST_TIMEOUT_MS = 60_000;
const STALL_MS = 60_000; // a player that is paused for longer has to request again
const START_MS = 30_000; // browsers open connections ahead of need
const CLOSE_MS = 2000; // time limit for answers in progress when the server closes

export class HttpServer {
  /** Admits requests and WebSockets. */
  readonly admission: Admission;
  readonly #app: FastifyInstance;
  readonly #replies: AudioReplies;
  readonly #events: EventReplies;
  readonly #sockets: Sockets;
  readonly #protocols: Protocols;
  readonly #listeners: Listeners;
  readonly #keys: KeyRing;
  readonly #keyFile: KeyFile | undefined;
  readonly #endCalls: (() => Promise<unknown>) | undefined;
  #listening: Promise<string> | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: HttpServerOptions) {
    const { maxReplies = MAX_REPLIES, stallMs = STALL_MS, time = systemTime } = options;
    const { requestTimeoutMs = REQUEST_TIMEOUT_MS, apiKeys, apiKeysFile, rateLimit = 0 } = options;
    const keys = new KeyRing({ keys: apiKeys, file: apiKeysFile !== undefined });
    this.#keys = keys;
    if (apiKeysFile !== undefined) {
      this.#keyFile = new KeyFile(apiKeysFile, keys, options.log, options.watch);
    }
    const rates = rateLimit > 0 ? new RateLimits(rateLimit, time) : undefined;
    const secrets = new ClientSecrets({ time });
    this.admission = new Admission(new AccessGuard({ ...options, keys, secrets }), rates);
    this.#replies = new AudioReplies({ maxReplies, stallMs, requestTimeoutMs });
    this.#events = new EventReplies(time);
    this.#endCalls = options.endCalls;
    const phone = new TelephoneAccess(time, options.phone);
    const limits = { ...PROTOCOL_LIMITS, stallMs, ...options.protocolLimits };
    let protocols: Protocols | undefined;
    this.#app = buildApp(
      { ...options, isSecure: tlsFiles(options) !== undefined },
      { replies: this.#replies, events: this.#events, phone, admission: this.admission, secrets },
      (handler) => {
        protocols = new Protocols(handler, limits, time);
        return protocols.http1;
      },
    );
    if (protocols === undefined) throw new Error('fastify asked for no server');
    this.#protocols = protocols;
    const access = { keyed: this.admission.keyed, secrets };
    const dialects = [...(options.dialects ?? []), ...openDialects(options, { ...access, phone, time })];
    this.#sockets = openSockets(options, dialects, this.admission);
    addSocketRoutes(this.#app, dialects);
    this.#sockets.attach(protocols.http1);
    this.#listeners = new Listeners(this.#listenerOptions(options, protocols));
  }

  /** See KeyRing. */
  keyOf(name: string): ReturnType<KeyRing['keyOf']> {
    return this.#keys.keyOf(name);
  }

  /** Emits `upgrade` for WebSockets of every listener. */
  get http1(): Server {
    return this.#protocols.http1;
  }

  /** Resolves with the URL of the server. Rejects with CONFIG_INVALID if it cannot listen. */
  listen(): Promise<string> {
    this.#listening ??= this.#listen();
    return this.#listening;
  }

  /**
   * Stops accepting, has the calls ended, ends open streams and waits a moment for other answers. Then no
   * socket is left open.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #listen(): Promise<string> {
    await this.#keyFile?.open();
    await this.#app.ready();
    return this.#listeners.open();
  }

  async #close(): Promise<void> {
    await this.#listening?.catch(() => undefined);
    this.#keyFile?.close();
    const stopped = this.#listeners.stop();
    await this.#endCalls?.(); // the streams of events tell of it
    this.#protocols.close();
    this.#events.close();
    await Promise.all([this.#replies.close(), this.#sockets.close(), this.#answered()]);
    // The remaining connections do not end by themselves, or never carried a request.
    this.#protocols.destroy();
    this.#listeners.destroy();
    await stopped;
    await this.#app.close();
  }

  /** Resolves when no answer is in progress, or after CLOSE_MS. */
  async #answered(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<void>((resolve) => (timer = setTimeout(resolve, CLOSE_MS)));
    await Promise.race([this.#protocols.answered(), limit]);
    clearTimeout(timer);
  }

  #listenerOptions(options: HttpServerOptions, protocols: Protocols): ListenerOptions {
    const { host, port, udsPath: unixPath, watch, log } = options;
    const { startMs = START_MS, time = systemTime } = options;
    return {
      host,
      port,
      unixPath,
      startMs,
      time,
      watch,
      log,
      tls: tlsFiles(options),
      accepted: (socket, version) => protocols.take(socket, version),
    };
  }
}

function tlsFiles({ tlsCert, tlsKey }: HttpServerOptions): CertificateFiles | undefined {
  if (tlsCert === undefined || tlsKey === undefined) return undefined;
  return { certPath: tlsCert, keyPath: tlsKey };
}

function openSockets(
  options: HttpServerOptions,
  dialects: readonly Dialect[],
  admission: Admission,
): Sockets {
  const { maxSockets = MAX_SOCKETS, foreignSocket: foreign, metrics, log } = options;
  const newId = options.newId ?? randomUUID;
  return new Sockets({ dialects, foreign, admission, maxSockets, newId, metrics: metrics.sockets, log });
}
