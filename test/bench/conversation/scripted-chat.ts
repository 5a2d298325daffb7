// An OpenAI-compatible chat endpoint on loopback that answers as the script of each caller says: its first
// token comes 150 ms after the question, then a token every 10 ms. The system prompt names the caller.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemTime } from '../../../src/time.js';

export const FIRST_TOKEN_MS = 150;
const TOKEN_MS = 10;

export interface ScriptedAnswer {
  readonly text: string;
  /** Until the first token; 150 by default. */
  readonly delayMs?: number;
}

interface Question {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}

export class ScriptedChat {
  /** The present answer of the model of each caller. */
  readonly answers = new Map<string, () => ScriptedAnswer>();
  /** Questions so far: when they came, and the words of the caller that were asked about. */
  readonly asked: { readonly caller: string; readonly text: string; readonly atMs: number }[] = [];
  readonly #server = createServer((request, response) => {
    this.#take(request, response).catch(() => response.destroy());
  });

  static async open(): Promise<ScriptedChat> {
    const chat = new ScriptedChat();
    chat.#server.listen(0, '127.0.0.1');
    await once(chat.#server, 'listening');
    return chat;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const bytes: Buffer[] = [];
    for await (const part of request) bytes.push(part as Buffer);
    if (request.method !== 'POST') return void response.writeHead(404).end(); // it lists no models
    const { messages } = JSON.parse(Buffer.concat(bytes).toString()) as Question;
    const caller = messages[0]?.content ?? '';
    this.asked.push({ caller, text: messages.at(-1)?.content ?? '', atMs: systemTime.now() });
    const answer = this.answers.get(caller);
    if (answer === undefined) return void response.writeHead(404).end();
    const { text, delayMs = FIRST_TOKEN_MS } = answer();
    await sleep(delayMs);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const token of text.split(/(?<= )/)) {
      if (response.destroyed) return;
      response.write(eventOf({ content: token }, null));
      await sleep(TOKEN_MS);
    }
    response.end(`${eventOf({}, 'stop')}data: [DONE]\n\n`);
  }
}

function eventOf(delta: object, finish: string | null): string {
  return `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
}
