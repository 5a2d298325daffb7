// Asks a chat model for an answer that comes in tokens: POST chat/completions with "stream", as OpenAI,
// Ollama, vLLM and llama.cpp serve it.
//
// https://platform.openai.com/docs/api-reference/chat/streaming
import type { ChatServerConfig } from '../config/recognition-config.js';
import { ApiClient, type ApiWords, saidIn } from '../engines/openai/api-client.js';
import { ParleyError } from '../errors.js';
import type { Time } from '../time.js';
import { AnswerReader } from './answer-reader.js';
import type { ToolCall } from './function-parts.js';

export type { ToolCall };

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
export type AnswerPart =
  | { readonly text: string }
  | { readonly toolCalls: readonly ToolCall[] }
  /** All text before it was a thought, which had no opening tag: the answer begins behind it. */
  | { readonly isThought: true };

interface ChatModelOptions {
  readonly server: ChatServerConfig;
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

export class ChatModel {
  readonly #options: ChatModelOptions;
  readonly #api: ApiClient;
  /**
   * Its last answer began with a thought that had no opening tag. Until it is known what the next one begins
   * with, nothing of that is passed on.
   */
  #thinksUnopened = false;

  constructor(options: ChatModelOptions) {
    this.#options = options;
    this.#api = new ApiClient(options.server, WORDS, options.time);
  }

  /** Throws AGENT_FAILED, TIMEOUT or ABORTED, possibly in the middle of the answer. */
  async *answer({ messages, tools, signal }: ChatQuestion): AsyncGenerator<AnswerPart, void, undefined> {
    const { server, temperature } = this.#options;
    const body = JSON.stringify({
      ...server.options,
      model: server.model,
      messages,
      stream: true,
      ...(temperature === undefined ? {} : { temperature }),
      ...(tools.length === 0 ? {} : { tools: tools.map((one) => ({ type: 'function', function: one })) }),
    });
    const limit = new SilenceLimit(this.#options.time, signal);
    try {
      yield* this.#read(body, tools, limit);
    } catch (error) {
      if (!limit.isOver) throw error;
      throw new ParleyError('TIMEOUT', `the agent's language model said nothing for ${TOKEN_MS / 1000} s`);
    } finally {
      limit.close();
    }
  }

  async *#read(
    body: string,
    tools: readonly ChatTool[],
    limit: SilenceLimit,
  ): AsyncGenerator<AnswerPart, void, undefined> {
    const answer = this.#newReader(tools);
    const decoder = new TextDecoder();
    const request = { body, timeoutMs: TOKEN_MS, signal: limit.signal };
    let hasText = false;
    for await (const piece of this.#api.stream(PATH, request)) {
      const text = answer.read(decoder.decode(piece, { stream: true }));
      if (answer.hasGrown) limit.restart();
      this.#thinksUnopened ||= answer.isUnopened;
      const isThought: boolean = hasText && answer.endsThought;
      if (isThought || text !== '') {
        limit.pause(); // what its reader waits for is not the model's silence
        if (isThought) yield { isThought: true };
        if (text !== '') yield { text };
        limit.restart();
      }
      hasText = text !== '' || (hasText && !isThought);
      if (answer.isOver) break;
    }
    limit.pause();
    const rest = answer.end();
    hasText ||= rest !== '';
    if (hasText) this.#thinksUnopened = answer.isUnopened;
    if (rest !== '') yield { text: rest };
    if (answer.toolCalls.length > 0) yield { toolCalls: answer.toolCalls };
  }

  #newReader(tools: readonly ChatTool[]): AnswerReader {
    const { server } = this.#options;
    return new AnswerReader({
      functions: tools.map(({ name }) => name),
      isHolding: this.#thinksUnopened,
      wordsOf: (body) => saidIn(body, server),
    });
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
