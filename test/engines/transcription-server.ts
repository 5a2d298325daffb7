// An OpenAI-compatible transcription server under the control of a test: it keeps each request until the test
// answers it.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { type WebSocket, WebSocketServer } from 'ws';
import { readWav } from '../../src/codecs/wav.js';
import { until } from '../fakes/until.js';

export class Asked {
  readonly fields: Readonly<Record<string, string>>;
  /** At 16 kHz. */
  readonly sound: Float32Array;
  readonly authorization: string | undefined;
  /** The client has left before the answer. */
  gone = false;
  readonly #response: ServerResponse;

  constructor(request: IncomingMessage, form: FormData, bytes: Uint8Array, response: ServerResponse) {
    this.authorization = request.headers.authorization;
    const texts = [...form].filter((entry): entry is [string, string] => typeof entry[1] === 'string');
    this.fields = Object.fromEntries(texts);
    const wav = readWav(bytes);
    assert.deepEqual([wav.rate, wav.channels], [16_000, 1]);
    this.sound = new Float32Array(wav.frames);
    wav.read(0, 0, this.sound);
    this.#response = response;
    response.once('close', () => (this.gone = !response.writableFinished));
  }

  say(text: string, more: object = {}): void {
    this.answer(200, { text, ...more });
  }

  answer(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): void {
    this.#response.writeHead(status, { 'content-type': 'application/json', ...headers });
    this.#response.end(typeof body === 'string' ? body : JSON.stringify(body));
  }

  /** Breaks the connection. */
  cut(): void {
    this.#response.destroy();
  }
}

export class TranscriptionServerUnderTest {
  readonly asked: Asked[] = [];
  readonly probes: ServerResponse[] = [];
  readonly sockets: RealtimePeer[] = [];
  readonly #server = createServer((request, response) => void this.#take(request, response));
  readonly #upgrades = new WebSocketServer({ server: this.#server });

  static async open(t: TestContext): Promise<TranscriptionServerUnderTest> {
    const server = new TranscriptionServerUnderTest();
    server.#upgrades.on('connection', (socket, { url = '', headers }) =>
      server.sockets.push(new RealtimePeer(socket, url, headers.authorization)),
    );
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    t.after(() => server.close());
    return server;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  /** The request of this number, from 0, once it is there. */
  async request(index: number): Promise<Asked> {
    await until(() => this.asked.length > index);
    return this.asked[index] as Asked;
  }

  /** The socket of this number, from 0, once it is there. */
  async socket(index = 0): Promise<RealtimePeer> {
    await until(() => this.sockets.length > index);
    return this.sockets[index] as RealtimePeer;
  }

  close(): void {
    for (const { socket } of this.sockets) socket.terminate();
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === '/v1/models') {
      this.probes.push(response);
      return;
    }
    assert.equal(`${request.method} ${request.url}`, 'POST /v1/audio/transcriptions');
    const body = await new Response(request as unknown as ReadableStream, {
      headers: { 'content-type': request.headers['content-type'] ?? '' },
    }).formData();
    const file = body.get('file');
    assert(file instanceof File);
    this.asked.push(new Asked(request, body, new Uint8Array(await file.arrayBuffer()), response));
  }
}

/** The server's side of a realtime socket. */
class RealtimePeer {
  readonly socket: WebSocket;
  readonly url: string;
  readonly authorization: string | undefined;
  /** Messages of the client, without the sound. */
  readonly messages: { type: string; [field: string]: unknown }[] = [];
  /** Samples since the last commit. */
  samples = 0;

  constructor(socket: WebSocket, url: string, authorization: string | undefined) {
    this.socket = socket;
    this.url = url;
    this.authorization = authorization;
    socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString()) as { type: string; audio?: string };
      if (message.type === 'input_audio_buffer.append')
        this.samples += Buffer.from(message.audio ?? '', 'base64').length / 2;
      else this.messages.push(message);
    });
  }

  send(message: object): void {
    this.socket.send(JSON.stringify(message));
  }

  async message(type: string, index = 0): Promise<Readonly<Record<string, unknown>>> {
    const all = () => this.messages.filter((one) => one.type === type);
    await until(() => all().length > index);
    return all()[index] as Readonly<Record<string, unknown>>;
  }
}
