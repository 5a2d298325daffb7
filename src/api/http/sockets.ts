// Accepts WebSockets: takes the upgrades of an HTTP server, checks them by the rules of routes, and opens the
// dialect at the path.
//
//   upgrade ──▶ known path? ──▶ allowed? ──▶ valid handshake? ──▶ room? ──▶ check of the dialect ──▶ session
//                 404             401, 403     426, 405, 400       503
//
// A socket whose key comes with the first message has one of a few places for such sockets, and takes one of
// MAX_SOCKETS with its key. Otherwise clients without a key could shut out those that have one.
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { Server as TlsServer, TLSSocket } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import { type WebSocket, WebSocketServer } from 'ws';
import { guarded, ParleyError } from '../../errors.js';
import type { Log } from '../../log.js';
import type { SocketMetrics } from './http-metrics.js';
import { systemTime, type Time } from '../../time.js';
import { addressOf, refuseSecondHost } from './access.js';
import type { Admission } from './admission.js';
import { errorBody, errorReply, type ErrorReply } from './error-reply.js';
import { confirmedProtocol, UpgradeHandshake } from './socket-access.js';
import type { Dialect } from './socket-dialect.js';
import { type SocketLimits, SocketSession } from './socket-session.js';

/** The part of a server that accepts connections. */
interface ConnectionTaker {
  emit(event: 'connection' | 'secureConnection', socket: Duplex): boolean;
}

/** A path whose WebSockets another part of this process accepts and serves: SIP over WebSocket. */
export interface ForeignSocket {
  readonly path: string;
  /** Answers the upgrade, or ends the connection. */
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer, isSecure: boolean) => void;
}

interface SocketsOptions {
  readonly dialects: readonly Dialect[];
  readonly admission: Pick<Admission, 'admit'>;
  readonly foreign?: ForeignSocket | undefined;
  /** Limit of open sockets. */
  readonly maxSockets: number;
  /** Makes the ids of requests. */
  readonly newId: () => string;
  readonly metrics: SocketMetrics;
  readonly log: Log;
  readonly time?: Time;
  readonly limits?: Partial<SocketLimits>;
}

/** A server that emits upgrades. */
interface UpgradeSource extends ConnectionTaker {
  on(event: 'upgrade', listener: (request: IncomingMessage, socket: Duplex, head: Buffer) => void): unknown;
}

const MAX_MESSAGE_BYTES = 1024 * 1024; // like a body over HTTP
const KEY_MS = 3000; // time limit for the message with the key
const MOST_KEYLESS = 16; // sockets whose key is still to come
const MOST_KEYLESS_OF_ADDRESS = 4;
const GOING_AWAY = 1001;
const POLICY = 1008;

const LIMITS: SocketLimits = {
  messages: { perSecond: 500, burst: 1000 }, // several times the tokens of a fast language model
  bytes: { perSecond: 256 * 1024, burst: 2 * MAX_MESSAGE_BYTES },
  floodMs: 15_000,
  stallMs: 45_000,
  pingMs: 15_000,
  silenceMs: 40_000, // two missed pings: a dead peer is detected within 55 s
  closeMs: 2000,
};

/** Refuses another upgrade, or a request without one, at the path of a dialect. */
const UPGRADE_REQUIRED: ErrorReply = {
  status: 426,
  headers: { upgrade: 'websocket', 'sec-websocket-version': '13' },
  body: errorBody(426, 'upgrade_required', 'this URL speaks WebSocket, version 13'),
};

const GET_ONLY: ErrorReply = {
  status: 405,
  headers: { allow: 'GET' },
  body: errorBody(405, 'method_not_allowed', 'a WebSocket is asked for with GET'),
};

const VARIABLE = /^\{(\w+)\}$/;

/** Header fields of an upgrade. */
const OFFER = new Set(['upgrade', 'http2-settings']);

export class Sockets {
  readonly #options: SocketsOptions;
  readonly #time: Time;
  readonly #limits: SocketLimits;
  readonly #handshakes: WebSocketServer;
  readonly #sessions = new Set<SocketSession>();
  /** Sockets whose key is still to come. */
  readonly #keyless = new Set<UpgradeHandshake>();
  readonly #ids = new WeakMap<IncomingMessage, string>();
  #closing: Promise<void> | undefined;

  constructor(options: SocketsOptions) {
    this.#options = options;
    this.#time = options.time ?? systemTime;
    this.#limits = { ...LIMITS, ...options.limits };
    this.#handshakes = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false, // audio does not compress, and deflate needs memory per socket
      maxPayload: MAX_MESSAGE_BYTES,
      handleProtocols: confirmedProtocol,
    });
    this.#handshakes.on('headers', (headers, request) => {
      headers.push(`X-Request-Id: ${this.#idOf(request)}`);
    });
    this.#handshakes.on('wsClientError', (_error, socket, request) => {
      const refusal = new ParleyError('MALFORMED', 'the WebSocket handshake is not valid (RFC 6455)');
      this.#refuse(socket, refusal, this.#idOf(request));
    });
  }

  /** The number of open sockets. */
  get size(): number {
    return this.#sessions.size;
  }

  /** Handles the upgrades of this server. */
  attach(server: UpgradeSource): void {
    server.on('upgrade', (request, socket, head) => {
      const take = () => {
        if (isWebSocketUpgrade(request)) this.#upgrade(request, socket, head);
        else serveWithoutUpgrade(server, request, socket, head);
      };
      guarded({ work: 'upgrade' }, take, () => socket.destroy())();
    });
  }

  /** Refuses new sockets and closes the open ones. Resolves when everything is freed. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const open = [...this.#sessions];
    for (const session of open) session.close(GOING_AWAY, 'the server closes', 'server');
    await Promise.all(open.map(({ ended }) => ended));
  }

  #idOf(request: IncomingMessage): string {
    const id = this.#ids.get(request) ?? `req_${this.#options.newId()}`;
    this.#ids.set(request, id);
    return id;
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const requestId = this.#idOf(request);
    try {
      refuseSecondHost(request.rawHeaders);
      if (this.#isForeign(request)) return this.#handOver(request, socket, head);
      const { dialect, handshake } = this.#admitted(request, requestId);
      this.#handshakes.handleUpgrade(request, socket, head, (open) => this.#open(open, dialect, handshake));
    } catch (error) {
      this.#refuse(socket, error, requestId);
    }
  }

  #isForeign({ url = '' }: IncomingMessage): boolean {
    return url.split('?', 1)[0] === this.#options.foreign?.path;
  }

  /** Refuses pages of other origins. The owner of the path does its own authentication. */
  #handOver(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { admission, foreign } = this.#options;
    const { headers, socket: connection, url = '' } = request;
    if (this.#closing !== undefined) throw new ParleyError('ABORTED', 'the server is closing');
    admission.admit({ method: 'POST', access: 'origin', remoteAddress: addressOf(connection), headers });
    checkQuery(new URLSearchParams(url.split('?')[1]), []);
    foreign?.upgrade(request, socket, head, connection instanceof TLSSocket);
  }

  #admitted(request: IncomingMessage, requestId: string) {
    const { dialects, admission } = this.#options;
    const { url, found } = this.#found(request, dialects);
    const { dialect, params } = found;
    const admitted = () => this.#keyCame(handshake);
    const target = { url, params, requestId, dialect, admitted };
    const handshake: UpgradeHandshake = new UpgradeHandshake(admission, request, target);
    if (request.method !== 'GET') throw new UpgradeRefused(GET_ONLY);
    if (request.headers['sec-websocket-version'] !== '13') throw new UpgradeRefused(UPGRADE_REQUIRED);
    if (this.#closing !== undefined) throw new ParleyError('ABORTED', 'the server is closing');
    if (handshake.authorized) this.#checkRoom();
    else this.#checkKeylessRoom(handshake);
    checkQuery(url.searchParams, dialect.query);
    dialect.check?.(handshake);
    return { dialect, handshake };
  }

  #checkRoom(): void {
    const { maxSockets } = this.#options;
    if (this.#sessions.size - this.#keyless.size < maxSockets) return;
    const message = `${maxSockets} WebSockets are open, which is what MAX_SOCKETS allows`;
    throw new ParleyError('QUEUE_FULL', message);
  }

  #checkKeylessRoom({ address }: UpgradeHandshake): void {
    const advice = 'a key in a header of the request needs no such place';
    const ofAddress = [...this.#keyless].filter((other) => other.address === address).length;
    if (ofAddress >= MOST_KEYLESS_OF_ADDRESS) {
      const message = `${ofAddress} WebSockets of this address wait for their key already; ${advice}`;
      throw new ParleyError('CLIENT_LIMIT', message, { retryAfterSeconds: KEY_MS / 1000 });
    }
    if (this.#keyless.size < MOST_KEYLESS) return;
    const message = `${MOST_KEYLESS} WebSockets wait for their key already; ${advice}`;
    throw new ParleyError('QUEUE_FULL', message, { retryAfterSeconds: KEY_MS / 1000 });
  }

  /** The socket now takes one of the places of MAX_SOCKETS. */
  #keyCame(handshake: UpgradeHandshake): void {
    this.#checkRoom();
    this.#keyless.delete(handshake);
  }

  #found({ url: target = '' }: IncomingMessage, dialects: readonly Dialect[]) {
    try {
      const url = new URL(target, 'http://localhost');
      const found = findDialect(dialects, url.pathname);
      if (found !== undefined) return { url, found };
    } catch {
      throw new ParleyError('MALFORMED', 'the URL is not valid');
    }
    throw new ParleyError('NOT_FOUND', 'there is no WebSocket under this URL');
  }

  #open(socket: WebSocket, dialect: Dialect, handshake: UpgradeHandshake): void {
    const { metrics, log } = this.#options;
    const parts = { limits: this.#limits, time: this.#time, log, metrics };
    if (!handshake.authorized) this.#keyless.add(handshake);
    const session = new SocketSession(socket, dialect, handshake, parts);
    this.#sessions.add(session);
    const cancelTimer = handshake.authorized
      ? () => undefined
      : this.#time.after(KEY_MS, () => {
          if (!handshake.authorized) session.close(POLICY, 'no valid API key came', 'unauthorized');
        });
    void session.ended.then(() => {
      cancelTimer();
      this.#sessions.delete(session);
      this.#keyless.delete(handshake);
    });
  }

  #refuse(socket: Duplex, error: unknown, requestId: string): void {
    const { metrics, log } = this.#options;
    const status = refuseUpgrade(socket, error, requestId);
    metrics.refused(status);
    const fields = { requestId, status };
    if (status === 500) log.error({ ...fields, err: error }, 'socket refused');
    else log.info(fields, 'socket refused');
  }
}

/**
 * Answers an ordinary GET at the path of a dialect, and a WebSocket over HTTP/2, which has no upgrade: 426.
 */
export function addSocketRoutes(app: FastifyInstance, dialects: readonly Dialect[]): void {
  const { status, headers, body } = UPGRADE_REQUIRED;
  for (const { path } of dialects) {
    app.get(routePattern(path), ({ raw }, reply) => {
      // HTTP/2 forbids these headers (RFC 9113, section 8.2.2).
      if (raw.httpVersionMajor === 1) reply.headers({ ...headers, connection: 'upgrade' });
      return reply.code(status).send(body);
    });
  }
}

/** The path in the syntax of fastify's router. */
function routePattern(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}

interface FoundDialect {
  readonly dialect: Dialect;
  readonly params: Readonly<Record<string, string>>;
}

/** Finds the dialect at this path. Throws URIError if a segment cannot be decoded. */
function findDialect(dialects: readonly Dialect[], path: string): FoundDialect | undefined {
  const segments = path.split('/');
  for (const dialect of dialects) {
    const params = matched(dialect.path.split('/'), segments);
    if (params !== undefined) return { dialect, params };
  }
  return undefined;
}

function matched(pattern: readonly string[], path: readonly string[]): Record<string, string> | undefined {
  if (pattern.length !== path.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, part] of pattern.entries()) {
    const given = path[index] ?? '';
    const name = VARIABLE.exec(part)?.[1];
    if (name === undefined ? given !== part : given === '') return undefined;
    if (name !== undefined) params[name] = decodeURIComponent(given);
  }
  return params;
}

const MOST_SHOWN = 64; // characters of a name in an error

/** Throws INVALID_FIELD for a parameter that is not one of `names`, or that is there twice. */
function checkQuery(query: URLSearchParams, names: readonly string[] | undefined): void {
  const seen = new Set<string>();
  for (const name of query.keys()) {
    const field = name.slice(0, MOST_SHOWN);
    const shown = JSON.stringify(field);
    if (names?.includes(name) === false) {
      const allowed =
        names.length === 0 ? 'it takes none' : `it takes ${names.map((one) => `"${one}"`).join(', ')}`;
      throw new ParleyError('INVALID_FIELD', `this WebSocket has no query parameter ${shown}; ${allowed}`, {
        field,
      });
    }
    if (seen.has(name))
      throw new ParleyError('INVALID_FIELD', `the query has ${shown} twice; once is allowed`, { field });
    seen.add(name);
  }
}

/** A refusal with a complete answer. */
class UpgradeRefused extends Error {
  readonly reply: ErrorReply;

  constructor(reply: ErrorReply) {
    super(reply.body.error.message);
    this.reply = reply;
  }
}

/** Answers a refused upgrade with an ordinary HTTP/1.1 answer and ends the connection. Returns the status. */
function refuseUpgrade(socket: Duplex, error: unknown, requestId: string): number {
  const { status, headers, body } =
    error instanceof UpgradeRefused ? error.reply : errorReply(error, requestId);
  const text = JSON.stringify(body);
  const head = Object.entries({
    ...headers,
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(text)),
    'x-request-id': requestId,
    connection: 'upgrade' in headers ? 'upgrade, close' : 'close',
  }).map(([name, value]) => `${name}: ${value}`);
  // The refused client may have left already.
  socket.on('error', () => socket.destroy());
  socket.once('finish', () => socket.destroy());
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${head.join('\r\n')}\r\n\r\n${text}`);
  return status;
}

function isWebSocketUpgrade({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket';
}

/**
 * Serves a request that offers an upgrade to something other than WebSocket, as if it had offered none (RFC
 * 9110, section 7.8). Java's HTTP client and `curl --http2` offer h2c on ordinary requests, with bodies. Node
 * passes every upgrade to the listener as soon as there is one, so the request is put back into the
 * connection without the offer.
 */
function serveWithoutUpgrade(
  server: ConnectionTaker,
  request: IncomingMessage,
  socket: Duplex,
  rest: Buffer,
): void {
  socket.unshift(Buffer.concat([Buffer.from(headOf(request), 'latin1'), rest]));
  server.emit(server instanceof TlsServer ? 'secureConnection' : 'connection', socket);
}

function headOf({ method, url, httpVersion, rawHeaders }: IncomingMessage): string {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    const value = rawHeaders[index + 1] ?? '';
    if (OFFER.has(name.toLowerCase())) continue;
    if (name.toLowerCase() !== 'connection') lines.push(`${name}: ${value}`);
    else lines.push(`${name}: ${withoutOffer(value)}`);
  }
  return `${lines.join('\r\n')}\r\n\r\n`;
}

function withoutOffer(connection: string): string {
  const options = connection.split(',').map((option) => option.trim());
  return options.filter((option) => !OFFER.has(option.toLowerCase())).join(', ') || 'keep-alive';
}
