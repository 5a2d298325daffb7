// A chat server on loopback that answers as its test says, and notes what it was asked.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';

type Answer = (response: ServerResponse, body: string) => void;

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: string;
}

export class FakeChatServer {
  readonly port: number;
  readonly asked: Asked[] = [];

  private constructor(port: number) {
    this.port = port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** `answers` by method and path, such as `GET /v1/models`. Other requests get 404. */
  static async open(t: TestContext, answers: Readonly<Record<string, Answer>>): Promise<FakeChatServer> {
    const take = async (request: IncomingMessage, response: ServerResponse) => {
      const [method, path] = [request.method ?? '', request.url ?? ''];
      const body = await text(request);
      fake.asked.push({ method, path, authorization: request.headers.authorization, body });
      const answer = answers[`${method} ${path}`];
      if (answer === undefined) response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>none</h1>');
      else answer(response, body);
    };
    const server = createServer((request, response) => void take(request, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const fake = new FakeChatServer((server.address() as AddressInfo).port);
    t.after(() => {
      server.closeAllConnections();
      server.close();
    });
    return fake;
  }
}

export const status =
  (code: number, body: string | object = {}): Answer =>
  (response) =>
    response
      .writeHead(code, { 'content-type': 'application/json' })
      .end(typeof body === 'string' ? body : JSON.stringify(body));

export const models = (owner: string, ...ids: readonly unknown[]): Answer =>
  status(200, { object: 'list', data: ids.map((id) => ({ id, object: 'model', owned_by: owner })) });

/** A chat completion that comes in events, and then does not end by itself. */
export const says =
  (...words: readonly string[]): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const content of words)
      response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`);
  };

/** A model that thinks, in events with this field. */
export const thinks =
  (field: string): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (let event = 0; event < 20; event++)
      response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { [field]: 'Hm.' } }] })}\n\n`);
  };
