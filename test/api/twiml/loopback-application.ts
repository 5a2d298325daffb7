// An application on loopback that answers requests for documents, and keeps what it was asked.
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

export interface Asked {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface LoopbackApplication {
  /** Such as http://127.0.0.1:40000 */
  readonly origin: string;
  readonly port: number;
  readonly asked: Asked[];
}

export const TWIML = { 'content-type': 'text/xml' };

/** The application answers in `answer`. It ends with the test. */
export async function openApplication(
  t: TestContext,
  answer: (response: ServerResponse, asked: Asked, count: number) => void,
): Promise<LoopbackApplication> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (part: string) => (body += part));
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request;
      const one = { method, path, headers, body };
      asked.push(one);
      answer(response, one, asked.length);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  const { port } = server.address() as AddressInfo;
  return { origin: `http://127.0.0.1:${port}`, port, asked };
}

/** The fields of a form, in the shape that parsers of forms give an application. */
export function formIn(body: string): Record<string, string | string[]> {
  const fields: Record<string, string | string[]> = {};
  const form = new URLSearchParams(body);
  for (const name of new Set(form.keys())) {
    const values = form.getAll(name);
    fields[name] = values.length === 1 ? (values[0] ?? '') : values;
  }
  return fields;
}
