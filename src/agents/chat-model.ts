// Asks a chat model for an answer that comes in tokens: POST chat/completions with "stream", as OpenAI,
// Ollama, vLLM and llama.cpp serve it.
//
// https://platform.openai.com/docs/api-reference/chat/streaming
import { createParser } from 'eventsource-parser';
import type { ApiServerConfig } from '../config/recognition-config.js';
import { ApiClient, type ApiWords, field, parsed } from '../engines/openai/api-client.js';
import { ParleyError } from '../errors.js';
import type { Time } from '../time.js';

/** A call of a function, as the model wrote it: the arguments may be no JSON. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

export type ChatMessage =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | { readonly role: 'assistant'; readonly content: string | null; readonly tool_calls?: readonly object[] }
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string };

export interface ChatTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema. */
  readonly parameters: object;
}

export interface ChatQuestion {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ChatTool[];
  readonly signal: AbortSignal;
}

/** A piece of the text, or, at the end, the functions that the model calls. */
export type AnswerPart = { readonly text: string } | { readonly toolCalls: readonly ToolCall[] };

interface ChatModelOptions {
  readonly server: ApiServerConfig;
  readonly temperature?: number | undefined;
  readonly time: Time;
}

const WORDS: ApiWords = {
  server: "agent's language model",
  variables: { url: 'AGENT_LLM_URL', key: 'AGENT_LLM_API_KEY', model: 'AGENT_LLM_MODEL' },
  codes: { unavailable: 'AGENT_FAILED', busy: 'AGENT_FAILED', failed: 'AGENT_FAILED' },
};

const PATH = 'chat/completions';
/** Until the first token, all attempts together, and between two. A model that is being loaded takes long. */
const TOKEN_MS = 30_000;
/**
 * Characters of one answer, which are minutes of speech: what follows is not read. MAX_TEXT_LENGTH allows
 * more.
 */
const MOST_TEXT = 4000;
const MOST_CALLS = 8;
const MOST_ARGUMENTS = 16_384; // characters

export class ChatModel {
  readonly #options: ChatModelOptions;
  readonly #api: ApiClient;

  constructor(options: ChatModelOptions) {
    this.#options = options;
    this.#api = new ApiClient(options.server, WORDS, options.time);
  }

  /** Throws AGENT_FAILED, TIMEOUT or ABORTED, possibly in the middle of the answer. */
  async *answer({ messages, tools, signal }: ChatQuestion): AsyncGenerator<AnswerPart, void, undefined> {
    const { server, temperature } = this.#options;
    const body = JSON.stringify({
      model: server.model,
      messages,
      stream: true,
      ...(temperature === undefined ? {} : { temperature }),
      ...(tools.length === 0 ? {} : { tools: tools.map((one) => ({ type: 'function', function: one })) }),
    });
    const limit = new SilenceLimit(this.#options.time, signal);
    try {
      yield* this.#read(body, limit);
    } catch (error) {
      if (!limit.isOver) throw error;
      throw new ParleyError('TIMEOUT', `the agent's language model said nothing for ${TOKEN_MS / 1000} s`);
    } finally {
      limit.close();
    }
  }

  async *#read(body: string, limit: SilenceLimit): AsyncGenerator<AnswerPart, void, undefined> {
    const answer = new AnswerReader();
    const decoder = new TextDecoder();
    const request = { body, timeoutMs: TOKEN_MS, signal: limit.signal };
    for await (const piece of this.#api.stream(PATH, request)) {
      const text = answer.read(decoder.decode(piece, { stream: true }));
      if (answer.hasGrown) limit.restart();
      if (text !== '') {
        limit.pause(); // what its reader waits for is not the model's silence
        yield { text };
        limit.restart();
      }
      if (answer.isOver) break;
    }
    if (!answer.isOver) throw failed('the answer broke off');
    limit.pause();
    if (answer.toolCalls.length > 0) yield { toolCalls: answer.toolCalls };
  }
}

/**
 * Ends a request whose model says nothing for too long, whatever else its server sends: keep-alive comments,
 * or thoughts that are not for the caller.
 */
class SilenceLimit {
  readonly #time: Time;
  readonly #given: AbortSignal;
  readonly #end = new AbortController();
  #isOver = false;
  #cancel: () => void = () => undefined;

  constructor(time: Time, given: AbortSignal) {
    this.#time = time;
    this.#given = given;
    given.addEventListener('abort', this.#giveUp);
    if (given.aborted) this.#end.abort();
    this.restart();
  }

  get signal(): AbortSignal {
    return this.#end.signal;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  pause(): void {
    this.#cancel();
  }

  restart(): void {
    this.#cancel();
    this.#cancel = this.#time.after(TOKEN_MS, () => {
      this.#isOver = true;
      this.#end.abort();
    });
  }

  close(): void {
    this.#cancel();
    this.#given.removeEventListener('abort', this.#giveUp);
  }

  readonly #giveUp = () => this.#end.abort();
}

function failed(what: string): ParleyError {
  return new ParleyError('AGENT_FAILED', `the agent's language model gave no usable answer: ${what}`);
}

/** Reads the server-sent events of one answer. */
class AnswerReader {
  readonly #calls: ({ id: string; name: string; arguments: string } | undefined)[] = [];
  readonly #parser = createParser({ onEvent: ({ data }) => this.#event(data) });
  #text = '';
  #length = 0;
  #isFinished = false;
  #hasGrown = false;

  /** The last event was read, or there is too much text. */
  get isOver(): boolean {
    return this.#isFinished || this.#length >= MOST_TEXT;
  }

  /** Places that the model left out are left out, and so are calls of nothing. */
  get toolCalls(): readonly ToolCall[] {
    return this.#calls.filter((call) => call !== undefined).filter(({ name }) => name !== '');
  }

  /** The last part that was read has said something. */
  get hasGrown(): boolean {
    return this.#hasGrown;
  }

  /** Returns the text in this part of the stream. Throws AGENT_FAILED. */
  read(part: string): string {
    this.#text = '';
    this.#hasGrown = false;
    this.#parser.feed(part);
    return this.#text;
  }

  #event(data: string): void {
    if (data === '[DONE]') {
      this.#isFinished = true;
      return;
    }
    const event = parsed(data);
    if (field(event, 'error') !== undefined) throw failed('it reports an error in the middle of its answer');
    const choices = field(event, 'choices');
    if (!Array.isArray(choices)) throw failed('its events have no list "choices"');
    const choice: unknown = choices[0]; // the last event may count tokens, and have none
    const delta = field(choice, 'delta');
    const content = field(delta, 'content');
    if (typeof content === 'string') this.#add(content);
    const calls = field(delta, 'tool_calls');
    if (Array.isArray(calls)) for (const call of calls as unknown[]) this.#addCall(call);
    if (typeof field(choice, 'finish_reason') === 'string') this.#isFinished = true;
  }

  #add(content: string): void {
    this.#hasGrown ||= content !== '';
    const text = content.slice(0, MOST_TEXT - this.#length);
    this.#text += text;
    this.#length += text.length;
  }

  /** A call comes in parts, each with its place in the list. Ollama sends whole ones. */
  #addCall(part: unknown): void {
    const index = field(part, 'index');
    const id = field(part, 'id');
    const place = typeof index === 'number' ? index : this.#calls.length;
    if (!Number.isInteger(place) || place < 0 || place >= MOST_CALLS)
      throw failed(`it calls more than ${MOST_CALLS} functions at once`);
    this.#hasGrown = true;
    const call = (this.#calls[place] ??= { id: `call_${place}`, name: '', arguments: '' });
    if (typeof id === 'string' && id !== '') call.id = id.slice(0, 200);
    const [name, more] = [
      field(field(part, 'function'), 'name'),
      field(field(part, 'function'), 'arguments'),
    ];
    if (typeof name === 'string') call.name += name;
    if (typeof more === 'string') call.arguments += more;
    else if (typeof more === 'object' && more !== null) call.arguments += JSON.stringify(more);
    if (call.name.length + call.arguments.length > MOST_ARGUMENTS)
      throw failed(`the arguments of a function have more than ${MOST_ARGUMENTS} characters`);
  }
}
