// WebSockets of browsers' phones (RFC 7118): on a port of their own, or on
// sockets that another server upgraded. Only the subprotocol `sip` is spoken.
import { createServer, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { Time } from '../../src/time.js';
import type { TransportLimits } from './limits.js';
import type { TransportCounts } from './transport-counts.js';
import { WebSocketFlow } from './websocket-flow.js';

export interface WebSocketListenerOptions {
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
  // It never listens: connections are given to it.
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
      this.#waiting.get(request.socket)?.(request, duplex, head);
      this.#waiting.delete(request.socket);
    });
  }

  /** Takes a connection on which nothing was said yet; it has to become a WebSocket within the handshake's limit. */
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

  /** Takes a request to upgrade that came to another server. */
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

/** The socket of another server has no listener left: whoever resets it now would end the process. */
function refuse(duplex: Duplex): void {
  duplex.on('error', () => duplex.destroy());
  duplex.once('finish', () => duplex.destroy());
  duplex.end(REFUSED);
}
