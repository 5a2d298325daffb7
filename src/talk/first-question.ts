// Asks a model one question before a person talks with it, as the agent will ask: in a stream. That loads the
// model, shows that it can chat, and finds the fields that switch its thinking off.
import { type Fields, isFields } from '../config/fields.js';
import { MOST_NAME } from './chat-models.js';
import type { ChatServer, SearchParts } from './chat-servers.js';
import { isLoading, loadingPause } from './loading-model.js';

/** A model that is being loaded takes long. */
export const FIRST_WORD_MS = 30_000;
const MOST_BYTES = 256 * 1024; // before the first word
const MOST_THOUGHTS = 8; // events; a server may begin with empty ones
/** Statuses of a server that refuses a field. */
const FIELD_REFUSED = [400, 422];
const UNAUTHORIZED = [401, 403];

export type FirstAnswer =
  | {
      readonly kind: 'answers';
      /** Fields of each request; undefined: none. */
      readonly options: Fields | undefined;
      /** It thinks before it speaks, whatever the fields say. */
      readonly thinks: boolean;
    }
  /** It said nothing for FIRST_WORD_MS. */
  | { readonly kind: 'slow'; readonly options: Fields | undefined }
  | { readonly kind: 'refused'; readonly reason: string };

type Reply =
  | { readonly kind: 'speaks' | 'thinks' | 'slow' | 'loading' }
  | { readonly kind: 'refused'; readonly reason: string; readonly mayBeField: boolean };

/** Tries the `candidates` in turn, and at last a request without any of them. */
export async function firstAnswer(
  server: ChatServer,
  model: string,
  candidates: readonly Fields[],
  parts: SearchParts,
): Promise<FirstAnswer> {
  let thinking: Fields | undefined;
  for (const options of candidates) {
    const reply = await ask(server, { ...options, model }, parts);
    if (reply.kind === 'speaks') return { kind: 'answers', options, thinks: false };
    if (reply.kind === 'slow') return { kind: 'slow', options };
    if (reply.kind === 'thinks') thinking ??= options;
    if (reply.kind === 'refused' && !reply.mayBeField) return { kind: 'refused', reason: reply.reason };
  }
  if (thinking !== undefined) return { kind: 'answers', options: thinking, thinks: true };
  const options = undefined;
  const reply = await ask(server, { model }, parts);
  if (reply.kind === 'refused') return { kind: 'refused', reason: reply.reason };
  return reply.kind === 'slow'
    ? { kind: 'slow', options }
    : { kind: 'answers', options, thinks: reply.kind === 'thinks' };
}

/** Asks again while the server is loading the model. */
async function ask(server: ChatServer, fields: Fields, parts: SearchParts): Promise<Reply> {
  const end = new AbortController();
  let isOver = false;
  const cancelTimer = parts.time.after(FIRST_WORD_MS, () => {
    isOver = true;
    end.abort();
  });
  try {
    for (;;) {
      const reply = await replyOf(await sent(server, fields, parts.fetch, end.signal));
      if (reply.kind !== 'loading') return reply;
      await loadingPause(parts.time, end.signal);
    }
  } catch {
    if (isOver) return { kind: 'slow' };
    return { kind: 'refused', reason: 'the connection broke', mayBeField: false };
  } finally {
    cancelTimer();
    end.abort(); // the rest of the answer
  }
}

async function sent(
  { baseUrl, apiKey }: ChatServer,
  fields: Fields,
  fetch: typeof globalThis.fetch,
  signal: AbortSignal,
): Promise<Response> {
  const messages = [{ role: 'user', content: 'Answer with one word: yes.' }];
  return await fetch(`${baseUrl}/chat/completions`, {
    method: 'POST',
    headers: {
      'user-agent': 'parley',
      'content-type': 'application/json',
      ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
    },
    body: JSON.stringify({ ...fields, messages, stream: true }),
    redirect: 'manual',
    signal,
  });
}

async function replyOf(response: Response): Promise<Reply> {
  const decoder = new TextDecoder();
  let [text, bytes, thoughts] = ['', 0, 0];
  for await (const part of response.body ?? []) {
    const chunk = part as Uint8Array;
    bytes += chunk.length;
    text += decoder.decode(chunk, { stream: true });
    if (bytes > MOST_BYTES) break;
    if (!response.ok) continue;
    const lines = text.split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) {
      const said = saidIn(line);
      if (said === 'word') return { kind: 'speaks' };
      if (said === 'thought' && ++thoughts === MOST_THOUGHTS) return { kind: 'thinks' };
    }
  }
  if (thoughts > 0) return { kind: 'thinks' };
  const { status } = response;
  if (isLoading(status, text)) return { kind: 'loading' };
  const words = wordsIn(text);
  const key = UNAUTHORIZED.includes(status) ? '; it wants a key, which AGENT_LLM_API_KEY states' : '';
  const reason = response.ok ? `its answer has no words${words}` : `it answers ${status}${words}${key}`;
  return { kind: 'refused', reason, mayBeField: FIELD_REFUSED.includes(status) };
}

/** What a line of an event stream brings; undefined: nothing of the answer yet. */
function saidIn(line: string): 'word' | 'thought' | undefined {
  const event = parsed(line.replace(/^data:\s*/, ''));
  const choices = isFields(event) ? event['choices'] : undefined;
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
  const delta = isFields(choice) ? choice['delta'] : undefined;
  if (!isFields(delta)) return undefined;
  const { content, reasoning, reasoning_content: older } = delta;
  if ([reasoning, older].some(isText)) return 'thought';
  if (!isText(content)) return undefined;
  return /^\s*<think/i.test(content) ? 'thought' : 'word';
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

/** The words of a server's error in brackets, if they can be shown; else empty. */
function wordsIn(text: string): string {
  const body = parsed(text);
  const error = isFields(body) ? body['error'] : undefined;
  const message = isFields(error)
    ? error['message']
    : (error ?? (isFields(body) ? body['message'] : undefined));
  if (!isText(message)) return '';
  return ` (${message.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ').slice(0, MOST_NAME)})`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
