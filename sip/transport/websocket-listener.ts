// Accepts WebSockets of browser phones (RFC 7118), on a port of its own or upgraded by another server,
// and carries one SIP message in each WebSocket message. The only subprotocol is `sip`.
import { createServer, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { guarded } from '../../src/errors.js';
import type { Time } from '../../src/time.js';
import { CloseListeners, type Flow, type Place, plainAddress } from './flow.js';
import type { TransportCounts, TransportLimits } from './transport-limits.js';

interface WebSocketListenerOptions {
  readonly limits: TransportLimits;
  readonly time: Time;
  readonly counts: TransportCounts;
  readonly opened: (flow: WebSocketFlow) => void;
  readonly received: (bytes: Buffer, flow: WebSocketFlow) => void;
  readonly sent?: ((bytes: Buffer, flow: WebSocketFlow) => void) | undefined;
}

type Upgrade = (request: IncomingMessage, duplex: Duplex, head: Buffer) => void;

const REFUSED = 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n';

export class WebSocketListener {
  readonly #options: WebSocketListenerOptions;
  readonly #server: WebSocketServer;
  readonly #waiting = new Map<Socket, Upgrade>();
  // It never listens itself: connections are handed to it.
  readonly #http = createServer((_, reply) => {
    reply.writeHead(426, { Connection: 'close', Upgrade: 'websocket' }).end();
  });

  constructor(options: WebSocketListenerOptions) {
    this.#options = options;
    const { headBytes, bodyBytes } = options.limits;
    this.#server = new WebSocketServer({
      noServer: true,
      maxPayload: headBytes + bodyBytes,
      perMessageDeflate: false,
      handleProtocols: (protocols) => (protocols.has('sip') ? 'sip' : false),
    });
    this.#http.on('upgrade', (request: IncomingMessage, duplex: Duplex, head: Buffer) => {
      const upgrade = this.#waiting.get(request.socket);
      this.#waiting.delete(request.socket);
      const take = () => upgrade?.(request, duplex, head);
      guarded({ work: 'SIP connection', transport: 'ws' }, take, () => duplex.destroy())();
    });
  }

  /** Takes a new connection, which must become a WebSocket within the handshake limit. */
  take(socket: Socket, secure: boolean, upgraded: () => void): void {
    const { time, limits, counts } = this.#options;
    const cancelTimer = time.after(limits.handshakeMs, () => {
      counts.add('handshakes-slow');
      socket.destroy();
    });
    socket.on('error', () => counts.add('socket-errors'));
    socket.once('close', () => {
      cancelTimer();
      this.#waiting.delete(socket);
    });
    this.#waiting.set(socket, (request, duplex, head) => {
      cancelTimer();
      upgraded();
      this.upgrade(request, duplex, head, secure);
    });
    this.#http.emit('connection', socket);
  }

  /** Takes an upgrade request of another server. */
  upgrade(request: IncomingMessage, duplex: Duplex, head: Buffer, secure: boolean): void {
    const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
    if (!offered.includes('sip')) {
      this.#options.counts.add('handshakes-failed');
      return refuse(duplex);
    }
    const { opened, ...options } = this.#options;
    this.#server.handleUpgrade(request, duplex, head, (webSocket) => {
      const transport = secure ? 'wss' : 'ws';
      opened(new WebSocketFlow(webSocket, { ...options, transport, socket: request.socket }));
    });
  }

  close(): void {
    this.#server.close();
    for (const client of this.#server.clients) client.terminate();
    this.#http.close();
  }
}

/** The socket of another server has no listener any more: a reset would end the process. */
function refuse(duplex: Duplex): void {
  duplex.on('error', () => duplex.destroy());
  duplex.once('finish', () => duplex.destroy());
  duplex.end(REFUSED);
}

interface WebSocketFlowOptions {
  readonly transport: 'ws' | 'wss';
  /** Underlying socket; its ends are those of the flow. */
  readonly socket: Socket;
  readonly limits: TransportLimits;
  readonly time: Time;
  readonly counts: TransportCounts;
  readonly received: (bytes: Buffer, flow: WebSocketFlow) => void;
  /** Called when a message was handed to the system. */
  readonly sent?: ((bytes: Buffer, flow: WebSocketFlow) => void) | undefined;
}

const GOING_AWAY = 1001;
const PONG = Buffer.from('\r\n');

class WebSocketFlow implements Flow {
  readonly transport: 'ws' | 'wss';
  readonly reliable = true;
  readonly local: Place;
  readonly remote: Place;
  readonly #webSocket: WebSocket;
  readonly #options: WebSocketFlowOptions;
  readonly #closing = new CloseListeners();
  #received = 0;
  #heardMs: number;
  #spoke = false;
  #stopWatch: () => void;

  constructor(webSocket: WebSocket, options: WebSocketFlowOptions) {
    const { localAddress = '', localPort = 0, remoteAddress = '', remotePort = 0 } = options.socket;
    this.transport = options.transport;
    this.local = { address: plainAddress(localAddress), port: localPort };
    this.remote = { address: plainAddress(remoteAddress), port: remotePort };
    this.#webSocket = webSocket;
    this.#options = options;
    this.#heardMs = options.time.now();
    this.#stopWatch = options.time.after(options.limits.firstMessageMs, () => this.#check());
    const work = { work: 'SIP connection', transport: options.transport };
    webSocket.on(
      'message',
      guarded(
        work,
        (data: Buffer) => this.#take(data),
        () => this.#cut('defect'),
      ),
    );
    webSocket.on('error', () => options.counts.add('socket-errors'));
    webSocket.on('close', () => this.#gone());
  }

  get closed(): boolean {
    return this.#closing.done;
  }

  get received(): number {
    return this.#received;
  }

  send(bytes: Buffer): boolean {
    if (this.closed || this.#webSocket.readyState !== this.#webSocket.OPEN) return false;
    if (this.#webSocket.bufferedAmount > this.#options.limits.unsentBytes) {
      this.#cut('reader-slow');
      return false;
    }
    this.#webSocket.send(bytes, { binary: false }); // browsers expect text, and SIP is UTF-8
    if (bytes !== PONG) this.#options.sent?.(bytes, this);
    return true;
  }

  onClose(listener: () => void): () => void {
    return this.#closing.add(listener);
  }

  close(): void {
    if (this.closed) return;
    this.#webSocket.close(GOING_AWAY);
    this.#gone();
  }

  abandon(): void {
    if (!this.closed) this.#cut('unanswered');
  }

  #take(data: Buffer): void {
    if (this.closed) return;
    this.#heardMs = this.#options.time.now();
    this.#received++;
    this.#spoke = true;
    const text = data.length <= 4 ? data.toString('latin1') : '';
    if (text === '\r\n\r\n') this.send(PONG);
    else if (text !== '\r\n') this.#options.received(data, this);
  }

  #check(): void {
    const { limits, time } = this.#options;
    if (!this.#spoke) this.#cut('first-message-missing');
    else if (time.now() - this.#heardMs >= limits.idleMs) this.#cut('idle');
    else this.#stopWatch = time.after(limits.idleMs, () => this.#check());
  }

  #cut(reason: 'first-message-missing' | 'idle' | 'reader-slow' | 'unanswered' | 'defect'): void {
    this.#options.counts.add(reason);
    this.#webSocket.terminate();
    this.#gone();
  }

  #gone(): void {
    this.#stopWatch();
    this.#closing.fire();
  }
}
