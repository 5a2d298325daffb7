// The HTTP door: one port, and a Unix socket if wanted, for the speech
// endpoints, browser calls, health, metrics and the page.
import type { FastifyInstance } from 'fastify';
import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import { systemTime, type Time } from '../../time.js';
import { AccessGuard } from './access.js';
import { type AppOptions, buildApp } from './app.js';
import { elevenLabsDialects } from '../elevenlabs/elevenlabs-dialects.js';
import { legacySocket } from '../legacy/legacy-socket.js';
import { omniSocket } from '../omni/omni-socket.js';
import type { SpeechSocketParts } from './speech-sockets.js';
import { AudioReplies } from '../openai/audio-replies.js';
import type { CertificateFiles } from '../../config/certificate.js';
import { EventReplies } from '../calls/event-replies.js';
import type { FileWatchOptions } from '../../config/file-watch.js';
import { Gate } from './gate.js';
import { KeyFile } from './key-file.js';
import { KeyRing } from './key-ring.js';
import { type ListenerOptions, Listeners } from './listeners.js';
import { PhoneDesk } from '../calls/phone-desk.js';
import type { PhoneDoor } from '../calls/phone-door.js';
import { phoneSocket } from '../calls/phone-socket.js';
import { PROTOCOL_LIMITS, type ProtocolLimits, Protocols } from './protocols.js';
import { RateLimits } from './rate-limits.js';
import type { Dialect } from './socket-dialect.js';
import { addSocketRoutes } from './socket-routes.js';
import { type ForeignSocket, Sockets } from './sockets.js';

export interface HttpServerOptions extends AppOptions {
  /** TCP port; 0 lets the system choose. */
  readonly port: number;
  readonly apiKeys: readonly string[];
  /** A file of more keys, read again when it changes. */
  readonly apiKeysFile?: string | undefined;
  /** Requests a minute of each client; 0 sets no limit. */
  readonly rateLimit?: number;
  /** Files of a certificate and its key, which make the port one of HTTPS. */
  readonly tlsCert?: string | undefined;
  readonly tlsKey?: string | undefined;
  /** A Unix socket to listen on, besides the port. */
  readonly udsPath?: string | undefined;
  /** Texts being spoken over HTTP at once. */
  readonly maxReplies?: number;
  /** Milliseconds for which a client may take nothing of the sound that waits for it. */
  readonly stallMs?: number;
  /** Milliseconds until the first sound of a text; 504 above it. */
  readonly requestTimeoutMs?: number;
  /** What is spoken over WebSockets. */
  readonly dialects?: readonly Dialect[];
  /** WebSockets that another door of this process speaks on. */
  readonly foreignSocket?: ForeignSocket | undefined;
  /** Telephone calls; without it, their addresses answer 501. */
  readonly phone?: PhoneDoor | undefined;
  /** WebSockets open at once. */
  readonly maxSockets?: number;
  /** Milliseconds until a connection has said what it speaks. */
  readonly startMs?: number;
  readonly protocolLimits?: Partial<ProtocolLimits>;
  readonly watch?: FileWatchOptions;
  readonly time?: Time;
}

const MAX_REPLIES = 100;
const MAX_SOCKETS = 256;
const REQUEST_TIMEOUT_MS = 60_000;
const STALL_MS = 60_000; // a player that is paused for longer asks again
const START_MS = 30_000; // browsers open connections ahead of need
const CLOSE_MS = 2000; // for requests that are being answered when the server closes

export class HttpServer {
  /** Who comes in: WebSockets ask it, too. */
  readonly gate: Gate;
  readonly #app: FastifyInstance;
  readonly #replies: AudioReplies;
  readonly #events: EventReplies;
  readonly #sockets: Sockets;
  readonly #protocols: Protocols;
  readonly #listeners: Listeners;
  readonly #keyFile: KeyFile | undefined;
  #listening: Promise<string> | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: HttpServerOptions) {
    const { maxReplies = MAX_REPLIES, stallMs = STALL_MS, time = systemTime } = options;
    const { requestTimeoutMs = REQUEST_TIMEOUT_MS, apiKeys, apiKeysFile, rateLimit = 0 } = options;
    const keys = new KeyRing({ keys: apiKeys, file: apiKeysFile !== undefined });
    if (apiKeysFile !== undefined) {
      this.#keyFile = new KeyFile(apiKeysFile, keys, options.log, options.watch);
    }
    const rates = rateLimit > 0 ? new RateLimits(rateLimit, time) : undefined;
    this.gate = new Gate(new AccessGuard({ ...options, keys }), rates);
    this.#replies = new AudioReplies({ maxReplies, stallMs, requestTimeoutMs });
    this.#events = new EventReplies(time);
    const phone = new PhoneDesk(time, options.phone);
    const limits = { ...PROTOCOL_LIMITS, stallMs, ...options.protocolLimits };
    let protocols: Protocols | undefined;
    this.#app = buildApp(
      { ...options, isSecure: tlsFiles(options) !== undefined },
      { replies: this.#replies, events: this.#events, phone, gate: this.gate },
      (handler) => {
        protocols = new Protocols(handler, limits, time);
        return protocols.http1;
      },
    );
    if (protocols === undefined) throw new Error('fastify asked for no server');
    this.#protocols = protocols;
    const dialects = [...(options.dialects ?? []), phoneSocket(phone, this.gate.keyed)];
    this.#sockets = openSockets(options, dialects, this.gate);
    addSocketRoutes(this.#app, dialects);
    this.#sockets.attach(protocols.http1);
    this.#listeners = new Listeners(this.#listenerOptions(options, protocols));
  }

  /** Emits `upgrade` for WebSockets, whichever way they came in. */
  get http1(): Server {
    return this.#protocols.http1;
  }

  /** Resolves with the address that the server now answers under; CONFIG_INVALID when it cannot be had. */
  listen(): Promise<string> {
    this.#listening ??= this.#listen();
    return this.#listening;
  }

  /** Accepts no more, ends open streams, waits a moment for other answers; no socket is left when it resolves. */
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
    this.#protocols.close();
    this.#events.close();
    await Promise.all([this.#replies.close(), this.#sockets.close(), this.#answered()]);
    // What is left are connections that do not end by themselves, and some that never carried a request.
    this.#protocols.destroy();
    this.#listeners.destroy();
    await stopped;
    await this.#app.close();
  }

  /** Resolves when nothing is being answered, or when that takes too long. */
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

function openSockets(options: HttpServerOptions, dialects: readonly Dialect[], gate: Gate): Sockets {
  const { maxSockets = MAX_SOCKETS, foreignSocket: foreign, metrics, log } = options;
  const newId = options.newId ?? randomUUID;
  return new Sockets({ dialects, foreign, gate, maxSockets, newId, metrics: metrics.sockets, log });
}

/** The dialects that speak over WebSockets without a call. */
export function speechDialects(parts: SpeechSocketParts): readonly Dialect[] {
  const { limits, elevenLabsVoices } = parts;
  const { maxTextLength } = limits;
  const voices = elevenLabsVoices === undefined ? {} : { voices: elevenLabsVoices };
  return [
    legacySocket(parts),
    omniSocket(parts),
    ...elevenLabsDialects({ ...parts, ...voices, maxTextLength }),
  ];
}
