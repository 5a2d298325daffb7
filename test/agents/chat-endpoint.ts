// An OpenAI-compatible chat endpoint that streams what the test writes, event by event.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import type { ChatMessage } from '../../src/agents/chat-model.js';
import { until } from '../fakes/until.js';

interface StreamedQuestion {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
  readonly stream: boolean;
  readonly temperature?: number;
}

/** One answer, as its test writes it. */
export class StreamedAnswer {
  readonly question: StreamedQuestion;
  readonly authorization: string | undefined;
  readonly #response: ServerResponse;

  constructor(question: StreamedQuestion, request: IncomingMessage, response: ServerResponse) {
    this.question = question;
    this.authorization = request.headers.authorization;
    this.#response = response;
  }

  /** The client has left. */
  get isLeft(): boolean {
    return this.#response.destroyed && !this.#response.writableFinished;
  }

  write(bytes: string | Uint8Array): this {
    if (!this.#response.headersSent) this.#response.writeHead(200, { 'content-type': 'text/event-stream' });
    this.#response.write(bytes);
    return this;
  }

  event(value: object): this {
    return this.write(`data: ${JSON.stringify(value)}\n\n`);
  }

  delta(delta: object, finish: string | null = null): this {
    return this.event({ choices: [{ index: 0, delta, finish_reason: finish }] });
  }

  say(...tokens: readonly string[]): this {
    for (const content of tokens) this.delta({ content });
    return this;
  }

  /** Calls a function, in one event. */
  call(name: string, given: object | string, index = 0): this {
    const text = typeof given === 'string' ? given : JSON.stringify(given);
    const id = `call_${name}_${index}`;
    return this.delta({ tool_calls: [{ index, id, function: { name, arguments: text } }] });
  }

  done(): void {
    this.delta({}, 'stop').write('data: [DONE]\n\n');
    this.#response.end();
  }

  status(status: number, body = '{}'): void {
    this.#response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  }

  end(): void {
    this.#response.end();
  }

  cut(): void {
    this.#response.destroy();
  }
}

export class ChatEndpoint {
  readonly answers: StreamedAnswer[] = [];
  readonly #server = createServer((request, response) => void this.#take(request, response));

  static async open(t: TestContext): Promise<ChatEndpoint> {
    const chat = new ChatEndpoint();
    chat.#server.listen(0, '127.0.0.1');
    await once(chat.#server, 'listening');
    t.after(() => chat.close());
    return chat;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  /** Question number `index`, from 0, once it was asked. */
  async asked(index: number): Promise<StreamedAnswer> {
    await until(() => this.answers.length > index);
    return this.answers[index] as StreamedAnswer;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'GET') return void response.writeHead(404).end(); // it lists no models
    const body: Buffer[] = [];
    for await (const bytes of request) body.push(bytes as Buffer);
    const question = JSON.parse(Buffer.concat(body).toString()) as StreamedQuestion;
    this.answers.push(new StreamedAnswer(question, request, response));
  }
}
