// The WebSocket door: takes the upgrades of an HTTP server, checks them by the
// rules that routes have, and opens the dialect that lives at the path.
//
//   upgrade ──▶ known path? ──▶ allowed? ──▶ a handshake? ──▶ room? ──▶ the dialect's own check ──▶ session
//                 404             401, 403     426, 405, 400    503
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { WebSocketServer, type WebSocket } from 'ws';
import { ParleyError } from '../../errors.js';
import type { Log } from '../../observe/log.js';
import type { SocketMetrics } from '../../observe/metrics.js';
import { systemTime, type Time } from '../../time.js';
import { refuseSecondHost } from './access.js';
import type { Gate } from './gate.js';
import { isWebSocketUpgrade, serveWithoutUpgrade, type ConnectionTaker } from './other-upgrade.js';
import { findDialect, type Dialect } from './socket-dialect.js';
import { confirmedProtocol } from './socket-key.js';
import { GET_ONLY, refuseUpgrade, UPGRADE_REQUIRED, UpgradeRefused } from './socket-refusal.js';
import { SocketSession, type SocketLimits } from './socket-session.js';
import { UpgradeVisit } from './upgrade-visit.js';
import { addressOf } from './visitor.js';

/** Sockets that somebody else of this process speaks on and judges: SIP of browsers' phones. */
export interface ForeignSocket {
  readonly path: string;
  /** Answers the upgrade, or ends the connection. */
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer, isSecure: boolean) => void;
}

export interface SocketsOptions {
  readonly dialects: readonly Dialect[];
  readonly gate: Pick<Gate, 'admit'>;
  readonly foreign?: ForeignSocket | undefined;
  /** Open at once. */
  readonly maxSockets: number;
  /** Makes the id of a request. */
  readonly newId: () => string;
  readonly metrics: SocketMetrics;
  readonly log: Log;
  readonly time?: Time;
  readonly limits?: Partial<SocketLimits>;
}

/** A server that tells of upgrades. */
export interface UpgradeSource extends ConnectionTaker {
  on(event: 'upgrade', listener: (request: IncomingMessage, socket: Duplex, head: Buffer) => void): unknown;
}

const MAX_MESSAGE_BYTES = 1024 * 1024; // as a body over HTTP
const KEY_MS = 10_000; // for the message that brings the key
const GOING_AWAY = 1001;
const POLICY = 1008;

const LIMITS: SocketLimits = {
  messages: { perSecond: 500, burst: 1000 }, // tokens of a fast model, several times over
  bytes: { perSecond: 256 * 1024, burst: 2 * MAX_MESSAGE_BYTES },
  floodMs: 15_000,
  stallMs: 45_000,
  pingMs: 15_000,
  silenceMs: 40_000, // two pings unanswered: a dead peer is found within 55 s
  closeMs: 2000,
};

export class Sockets {
  readonly #options: SocketsOptions;
  readonly #time: Time;
  readonly #limits: SocketLimits;
  readonly #handshakes: WebSocketServer;
  readonly #sessions = new Set<SocketSession>();
  readonly #ids = new WeakMap<IncomingMessage, string>();
  #closing: Promise<void> | undefined;

  constructor(options: SocketsOptions) {
    this.#options = options;
    this.#time = options.time ?? systemTime;
    this.#limits = { ...LIMITS, ...options.limits };
    this.#handshakes = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false, // sound does not shrink, and its memory is per socket
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

  /** Sockets open now. */
  get size(): number {
    return this.#sessions.size;
  }

  /** From now on the server's upgrades come here. */
  attach(server: UpgradeSource): void {
    server.on('upgrade', (request, socket, head) => {
      if (isWebSocketUpgrade(request)) this.#upgrade(request, socket, head);
      else serveWithoutUpgrade(server, request, socket, head);
    });
  }

  /** Refuses new sockets and closes those that are open; resolves when everything of them is freed. */
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
      const { dialect, visit } = this.#admitted(request, requestId);
      this.#handshakes.handleUpgrade(request, socket, head, (open) => this.#open(open, dialect, visit));
    } catch (error) {
      this.#refuse(socket, error, requestId);
    }
  }

  #isForeign({ url = '' }: IncomingMessage): boolean {
    return url.split('?', 1)[0] === this.#options.foreign?.path;
  }

  /** No page of another origin gets through; everything else its owner asks. */
  #handOver(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { gate, foreign } = this.#options;
    const { headers, socket: connection } = request;
    if (this.#closing !== undefined) throw new ParleyError('ABORTED', 'the server is closing');
    gate.admit({ method: 'POST', access: 'origin', remoteAddress: addressOf(connection), headers });
    foreign?.upgrade(request, socket, head, connection instanceof TLSSocket);
  }

  #admitted(request: IncomingMessage, requestId: string) {
    const { dialects, gate, maxSockets } = this.#options;
    const { url, found } = this.#found(request, dialects);
    const { dialect, params } = found;
    const visit = new UpgradeVisit(gate, request, { url, params, requestId, dialect });
    if (request.method !== 'GET') throw new UpgradeRefused(GET_ONLY);
    if (request.headers['sec-websocket-version'] !== '13') throw new UpgradeRefused(UPGRADE_REQUIRED);
    if (this.#closing !== undefined) throw new ParleyError('ABORTED', 'the server is closing');
    if (this.#sessions.size >= maxSockets) {
      throw new ParleyError(
        'QUEUE_FULL',
        `${maxSockets} WebSockets are open, which is what MAX_SOCKETS allows`,
      );
    }
    dialect.check?.(visit);
    return { dialect, visit };
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

  #open(socket: WebSocket, dialect: Dialect, visit: UpgradeVisit): void {
    const { metrics, log } = this.#options;
    const parts = { limits: this.#limits, time: this.#time, log, metrics };
    const session = new SocketSession(socket, dialect, visit, parts);
    this.#sessions.add(session);
    const forgetKey = visit.authorized
      ? () => undefined
      : this.#time.after(KEY_MS, () => {
          if (!visit.authorized) session.close(POLICY, 'no valid API key came', 'unauthorized');
        });
    void session.ended.then(() => {
      forgetKey();
      this.#sessions.delete(session);
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
