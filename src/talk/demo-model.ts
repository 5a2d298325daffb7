// A chat server on loopback whose model repeats what the caller says: `parley talk` uses it where no chat
// server is found. It is asked as any other one, so that a demo takes the way of every conversation.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isFields } from '../config/fields.js';

export const DEMO_MODEL = 'parley-demo';
export const DEMO_GREETING =
  'Hello. I am a demo, without a language model. Say something, and I repeat what I have understood.';

const MOST_BODY_BYTES = 4 << 20;
const MOST_WORDS = 1000; // characters that it repeats

/** Returns the address for AGENT_LLM_URL. The server does not keep the process alive. */
export async function openDemoModel(): Promise<string> {
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.unref();
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = '', url = '' } = request;
  if (method === 'GET' && url === '/v1/models') {
    const data = [{ id: DEMO_MODEL, object: 'model', owned_by: 'parley' }];
    return sendJson(response, 200, { object: 'list', data });
  }
  if (method !== 'POST' || url !== '/v1/chat/completions')
    return sendJson(response, 404, { error: { message: 'the demo has no such address' } });
  const body = await bodyOf(request);
  if (body === undefined) return sendJson(response, 413, { error: { message: 'the question is too long' } });
  const said = lastWordsIn(body);
  if (said === undefined)
    return sendJson(response, 400, { error: { message: 'messages has no text of a user' } });
  const chunk = (delta: object, finish: string | null) =>
    `data: ${JSON.stringify({ object: 'chat.completion.chunk', model: DEMO_MODEL, choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const content = `You said: ${said.slice(0, MOST_WORDS)}`;
  response.end(`${chunk({ role: 'assistant', content }, null)}${chunk({}, 'stop')}data: [DONE]\n\n`);
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** Undefined for a body that is too long. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of request) {
    const chunk = part as Uint8Array;
    bytes += chunk.length;
    if (bytes > MOST_BODY_BYTES) return undefined;
    parts.push(chunk);
  }
  return Buffer.concat(parts).toString('utf8');
}

/** The text of the last message of the user; undefined if there is none. */
function lastWordsIn(body: string): string | undefined {
  let question: unknown;
  try {
    question = JSON.parse(body);
  } catch {
    return undefined;
  }
  const messages: unknown = isFields(question) ? question['messages'] : undefined;
  const texts = (Array.isArray(messages) ? messages : [])
    .filter(isFields)
    .filter(({ role, content }) => role === 'user' && typeof content === 'string');
  const content = texts.at(-1)?.['content'];
  return typeof content === 'string' ? content : undefined;
}
