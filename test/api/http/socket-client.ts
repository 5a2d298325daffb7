// A real client of WebSockets, for tests.
import { once } from 'node:events';
import { request } from 'node:http';
import type { TestContext } from 'node:test';
import { WebSocket, type ClientOptions } from 'ws';
import { until } from '../../fakes/until.js';

export class SocketClient {
  readonly socket: WebSocket;
  /** Text messages as they are, binary ones as buffers. */
  readonly messages: (string | Buffer)[] = [];
  /** Code and reason of the close. */
  end: readonly [code: number, reason: string] | undefined;
  headers: NodeJS.Dict<string | string[]> = {};

  private constructor(url: string, protocols: string[], options: ClientOptions) {
    this.socket = new WebSocket(url, protocols, options);
    this.socket.on('message', (data, isBinary) => {
      this.messages.push(isBinary ? (data as Buffer) : (data as Buffer).toString());
    });
    this.socket.on('close', (code, reason) => (this.end = [code, reason.toString()]));
    this.socket.on('upgrade', ({ headers }) => (this.headers = headers));
    this.socket.on('error', () => undefined);
  }

  /** Resolves once it is open. */
  static async open(
    t: TestContext,
    url: string,
    { protocols = [], ...options }: ClientOptions & { protocols?: string[] } = {},
  ): Promise<SocketClient> {
    const client = new SocketClient(url.replace(/^http/, 'ws'), protocols, options);
    t.after(() => client.socket.terminate());
    await once(client.socket, 'open');
    return client;
  }

  send(message: object | string | Buffer): void {
    const raw = typeof message === 'string' || Buffer.isBuffer(message);
    this.socket.send(raw ? message : JSON.stringify(message));
  }

  async closed(): Promise<readonly [code: number, reason: string]> {
    await until(() => this.end !== undefined);
    return this.end ?? [0, ''];
  }

  /** Everything that was sent as JSON. */
  get received(): Record<string, unknown>[] {
    const texts = this.messages.filter((message) => typeof message === 'string');
    return texts.map((text) => JSON.parse(text) as Record<string, unknown>);
  }

  /** All bytes of sound. */
  get sound(): Buffer {
    return Buffer.concat(this.messages.filter((message) => typeof message !== 'string'));
  }
}

interface Refusal {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: string;
}

/** Asks for a WebSocket where none is given. */
export function refusal(url: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Refusal> {
  return new Promise((resolve, reject) => {
    const asking = request(url, {
      method,
      headers: {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
        ...headers,
      },
    });
    asking.on('upgrade', () => reject(new Error('a WebSocket was given')));
    asking.on('error', reject);
    asking.on('response', (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
      );
    });
    asking.end();
  });
}
