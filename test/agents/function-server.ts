// A server with a function of the operator. The test answers its requests.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import type { AgentToolConfig } from '../../src/config/agent-config.js';

interface AskedFunction {
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
  readonly response: ServerResponse;
}

export interface FunctionServer {
  /** Requests so far. */
  readonly asked: AskedFunction[];
  readonly tool: AgentToolConfig;
}

/** `answer` is called with each request; by default the test answers through `asked`. */
export async function openFunctionServer(
  t: TestContext,
  answer: (response: ServerResponse) => void = () => undefined,
): Promise<FunctionServer> {
  const asked: AskedFunction[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(parts).toString()) as unknown;
      asked.push({ headers: request.headers, body, response });
      answer(response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => (server.close(), server.closeAllConnections()));
  const tool: AgentToolConfig = {
    name: 'order_status',
    description: 'State of an order',
    parameters: { type: 'object' },
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/order`,
    authorization: 'Bearer secret',
    timeoutMs: 5000,
  };
  return { asked, tool };
}
