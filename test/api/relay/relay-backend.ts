// An application of the ConversationRelay protocol under the control of a test.
import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { type WebSocket, WebSocketServer } from 'ws';
import { until } from '../../fakes/until.js';

export interface RelayedMessage {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** One socket of the server. */
export class RelaySocket {
  readonly socket: WebSocket;
  readonly headers: IncomingHttpHeaders;
  readonly messages: RelayedMessage[] = [];
  closeCode: number | undefined;

  constructor(socket: WebSocket, headers: IncomingHttpHeaders) {
    this.socket = socket;
    this.headers = headers;
    socket.on('message', (data: Buffer) => this.messages.push(JSON.parse(data.toString()) as RelayedMessage));
    socket.on('close', (code) => (this.closeCode = code));
  }

  send(message: object | string): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  of(type: string): RelayedMessage[] {
    return this.messages.filter((message) => message.type === type);
  }

  /** Message number `index`, from 0, of a type, once it is there. */
  async message(type: string, index = 0): Promise<RelayedMessage> {
    await until(() => this.of(type).length > index);
    return this.of(type)[index] as RelayedMessage;
  }
}

export class RelayBackend {
  readonly sockets: RelaySocket[] = [];
  readonly #server: WebSocketServer;

  private constructor(server: WebSocketServer) {
    this.#server = server;
    server.on('connection', (socket, { headers }) => this.sockets.push(new RelaySocket(socket, headers)));
  }

  static async open(t: TestContext, port = 0): Promise<RelayBackend> {
    const server = new WebSocketServer({ host: '127.0.0.1', port });
    const backend = new RelayBackend(server);
    await once(server, 'listening');
    t.after(() => backend.close());
    return backend;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `ws://127.0.0.1:${this.port}/calls?tenant=acme`;
  }

  async socket(index = 0): Promise<RelaySocket> {
    await until(() => this.sockets.length > index);
    return this.sockets[index] as RelaySocket;
  }

  async close(): Promise<void> {
    for (const { socket } of this.sockets) socket.terminate();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
