// An OpenAI-compatible chat server that answers as the test says.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

interface ChatRequest {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}

/** Its answer: a text of the model, or a status with a body. */
type ChatAnswer = string | { readonly status: number; readonly body?: string; readonly retryAfter?: string };

export class ChatServer {
  readonly asked: ChatRequest[] = [];
  readonly authorizations: (string | undefined)[] = [];
  /** Undefined: it never answers. */
  answer: (request: ChatRequest) => ChatAnswer | undefined = (request) => shouted(request);
  readonly #server = createServer((request, response) => void this.#take(request, response));

  static async open(t: TestContext): Promise<ChatServer> {
    const chat = new ChatServer();
    chat.#server.listen(0, '127.0.0.1');
    await once(chat.#server, 'listening');
    t.after(() => chat.close());
    return chat;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'GET') return void response.writeHead(404).end(); // it lists no models
    const body: Buffer[] = [];
    for await (const bytes of request) body.push(bytes as Buffer);
    const asked = JSON.parse(Buffer.concat(body).toString()) as ChatRequest;
    this.asked.push(asked);
    this.authorizations.push(request.headers.authorization);
    const answer = this.answer(asked);
    if (answer === undefined) return;
    const {
      status,
      body: text,
      retryAfter,
    } = typeof answer === 'string'
      ? {
          status: 200,
          body: JSON.stringify({ choices: [{ message: { role: 'assistant', content: answer } }] }),
        }
      : { retryAfter: undefined, ...answer };
    response.writeHead(status, {
      'content-type': 'application/json',
      ...(retryAfter === undefined ? {} : { 'retry-after': retryAfter }),
    });
    response.end(text);
  }
}

/** The numbered lines of a question. */
export function linesIn({ messages }: ChatRequest): string[] {
  return (messages[1]?.content ?? '').split('\n').filter((line) => /^\d+: /.test(line));
}

/** A translation that keeps the numbers. */
export function shouted(request: ChatRequest): string {
  return linesIn(request).join('\n').toUpperCase();
}
