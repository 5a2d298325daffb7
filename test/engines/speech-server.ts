// An OpenAI-compatible speech server under the control of a test: it keeps each request until the test
// answers it.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { until } from '../fakes/until.js';

export class AskedSpeech {
  readonly body: Readonly<Record<string, unknown>>;
  readonly authorization: string | undefined;
  /** The client has left before the end. */
  isLeft = false;
  readonly response: ServerResponse;

  constructor(body: string, request: IncomingMessage, response: ServerResponse) {
    this.body = JSON.parse(body) as Readonly<Record<string, unknown>>;
    this.authorization = request.headers.authorization;
    this.response = response;
    response.once('close', () => (this.isLeft = !response.writableFinished));
  }

  begin(type = 'audio/pcm'): this {
    this.response.writeHead(200, { 'content-type': type }).flushHeaders();
    return this;
  }

  /** Samples of 16 bits. */
  samples(...values: readonly number[]): this {
    const bytes = Buffer.from(Int16Array.from(values).buffer);
    this.response.write(bytes);
    return this;
  }

  end(): void {
    this.response.end();
  }

  cut(): void {
    this.response.destroy();
  }

  refuse(status: number, headers: Readonly<Record<string, string>> = {}): void {
    this.response.writeHead(status, headers).end(JSON.stringify({ error: { message: 'no' } }));
  }
}

export class SpeechServerUnderTest {
  readonly asked: AskedSpeech[] = [];
  readonly #server = createServer((request, response) => void this.#take(request, response));

  static async open(t: TestContext): Promise<SpeechServerUnderTest> {
    const server = new SpeechServerUnderTest();
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    t.after(() => server.close());
    return server;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  /** Request number `index`, from 0, once it is there. */
  async request(index = 0): Promise<AskedSpeech> {
    await until(() => this.asked.length > index);
    return this.asked[index] as AskedSpeech;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body: Buffer[] = [];
    for await (const bytes of request) body.push(bytes as Buffer);
    if (request.url === '/v1/models') return void response.end('{"data":[]}');
    this.asked.push(new AskedSpeech(Buffer.concat(body).toString(), request, response));
    return undefined;
  }
}
