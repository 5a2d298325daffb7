// A bot of the Media Streams protocol under the control of a test, behind a WebSocket on loopback.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { type WebSocket, WebSocketServer } from 'ws';
import { until } from '../../fakes/until.js';

interface StreamMessage {
  readonly event: string;
  readonly streamSid?: string;
  readonly sequenceNumber?: unknown;
  readonly media?: { readonly track: string; readonly payload: string; readonly timestamp: unknown };
  readonly mark?: { readonly name: string };
  readonly [field: string]: unknown;
}

/** One stream, as the bot sees it. */
export class BotStream {
  readonly socket: WebSocket;
  readonly headers: IncomingHttpHeaders;
  readonly messages: StreamMessage[] = [];
  /** Called with each message as it comes. */
  onMessage: (message: StreamMessage) => void = () => undefined;
  closeCode: number | undefined;

  constructor(socket: WebSocket, headers: IncomingHttpHeaders) {
    this.socket = socket;
    this.headers = headers;
    socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString()) as StreamMessage;
      this.messages.push(message);
      this.onMessage(message);
    });
    socket.on('close', (code) => (this.closeCode = code));
  }

  get streamSid(): string {
    return this.of('start')[0]?.streamSid ?? assert.fail('the stream has not started');
  }

  of(event: string): StreamMessage[] {
    return this.messages.filter((message) => message.event === event);
  }

  get marks(): (string | undefined)[] {
    return this.of('mark').map(({ mark }) => mark?.name);
  }

  /** The sound that it got of a track, in mu-law. */
  heard(track = 'inbound'): Buffer {
    const media = this.of('media').flatMap((message) => message.media ?? []);
    const own = media.filter((one) => one.track === track);
    return Buffer.concat(own.map(({ payload }) => Buffer.from(payload, 'base64')));
  }

  send(message: object | string): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  /** Speaks mu-law, as Pipecat's serializer for Twilio does. */
  speak(codes: Uint8Array): void {
    const payload = Buffer.from(codes).toString('base64');
    this.send({ event: 'media', streamSid: this.streamSid, media: { payload } });
  }

  mark(name: string): void {
    this.send({ event: 'mark', streamSid: this.streamSid, mark: { name } });
  }

  clear(): void {
    this.send({ event: 'clear', streamSid: this.streamSid });
  }

  /** Resolves when everything that it sent was read. */
  async read(): Promise<void> {
    let isRead = false;
    this.socket.once('pong', () => (isRead = true));
    this.socket.ping();
    await until(() => isRead);
  }
}

export class StreamBot {
  readonly streams: BotStream[] = [];
  readonly #server: WebSocketServer;

  private constructor(server: WebSocketServer) {
    this.#server = server;
    server.on('connection', (socket, { headers }) => this.streams.push(new BotStream(socket, headers)));
  }

  static async open(t: TestContext, port = 0, autoPong = true): Promise<StreamBot> {
    const server = new WebSocketServer({ host: '127.0.0.1', port, autoPong });
    const bot = new StreamBot(server);
    await once(server, 'listening');
    t.after(() => bot.close());
    return bot;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `ws://127.0.0.1:${this.port}/media`;
  }

  /** The first stream, once it has started. */
  async stream(): Promise<BotStream> {
    await until(() => this.streams[0]?.of('start').length === 1);
    return this.streams[0] ?? assert.fail();
  }

  async close(): Promise<void> {
    for (const { socket } of this.streams) socket.terminate();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
