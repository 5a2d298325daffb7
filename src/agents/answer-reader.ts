// Reads the server-sent events of one answer of a chat model: text, thoughts, and calls of functions. Servers
// write them in slightly different ways: `test/agents/answer-shapes.ts` has those of four servers.
import { createParser } from 'eventsource-parser';
import { contentText, ThoughtFilter } from '../engines/openai/thoughts.js';
import { field, parsed } from '../engines/openai/api-client.js';
import type { ParleyError } from '../errors.js';
import { FunctionParts, type ToolCall, unusable } from './function-parts.js';

/** Characters of one answer, which are minutes of speech. MAX_TEXT_LENGTH allows more. */
const MOST_TEXT = 4000;
/** Characters that are read of it in search of the end of a thought. Behind MOST_TEXT they are not said. */
const MOST_READ = 16_000;
/** Characters of an answer that may be no stream of events, but an error. */
const MOST_HEAD = 4096;
/** Fields in which servers put thoughts beside the text. */
const THOUGHT_FIELDS = ['reasoning', 'reasoning_content'];

interface AnswerReaderOptions {
  /** Names of the functions that the model may call. */
  readonly functions: readonly string[];
  /** The model usually begins with a thought that has no opening tag. */
  readonly isHolding: boolean;
  /** The server's words in an error; empty if there are none. */
  readonly wordsOf: (body: unknown) => string;
}

export class AnswerReader {
  readonly #functions: FunctionParts;
  readonly #thoughts: ThoughtFilter;
  readonly #wordsOf: (body: unknown) => string;
  readonly #parser = createParser({ onEvent: ({ data }) => this.#event(data.trim()) });
  #text = '';
  #endsThought = false;
  /** Characters that were said, and that were read. */
  #length = 0;
  #readLength = 0;
  #head = '';
  #isEventStream = false;
  #isFinished = false;
  #hasGrown = false;

  constructor({ functions, isHolding, wordsOf }: AnswerReaderOptions) {
    this.#functions = new FunctionParts(functions);
    this.#thoughts = new ThoughtFilter({ isHolding });
    this.#wordsOf = wordsOf;
  }

  /** The last event was read, or there is too much text. */
  get isOver(): boolean {
    return this.#isFinished || (this.#isFull && this.#readLength >= MOST_READ);
  }

  get toolCalls(): readonly ToolCall[] {
    return this.#functions.calls;
  }

  /** The last part that was read has said something. */
  get hasGrown(): boolean {
    return this.#hasGrown;
  }

  /** All that was returned before the last part is a thought. */
  get endsThought(): boolean {
    return this.#endsThought;
  }

  /** The answer has begun with a thought that has no opening tag. */
  get isUnopened(): boolean {
    return this.#thoughts.isUnopened;
  }

  /** Returns the text in this part of the stream. Throws AGENT_FAILED. */
  read(part: string): string {
    this.#text = '';
    this.#hasGrown = false;
    this.#endsThought = false;
    if (!this.#isEventStream) this.#head += part.slice(0, MOST_HEAD - this.#head.length);
    this.#parser.feed(part);
    return this.#text;
  }

  /** The stream has ended. Returns the text that was held back. Throws AGENT_FAILED. */
  end(): string {
    if (!this.isOver) throw unusable(this.#breakOff());
    this.#text = '';
    this.#add(this.#thoughts.end());
    return this.#text;
  }

  get #isFull(): boolean {
    return this.#length >= MOST_TEXT;
  }

  #breakOff(): string {
    const words = this.#isEventStream ? '' : this.#wordsOf(parsed(this.#head));
    return words === '' ? 'the answer broke off' : `it reports an error in place of an answer: ${words}`;
  }

  #event(data: string): void {
    this.#isEventStream = true;
    if (data === '' || this.#isFinished) return;
    if (data === '[DONE]') {
      this.#isFinished = true;
      return;
    }
    const event = parsed(data);
    const error = field(event, 'error') ?? undefined;
    if (error !== undefined) throw this.#errorWithin(event);
    const choices = field(event, 'choices');
    if (!Array.isArray(choices)) {
      if (typeof field(event, 'usage') === 'object') return;
      throw unusable('its events have no list "choices"');
    }
    const choice: unknown = choices[0]; // an event that counts tokens has none
    this.#delta(field(choice, 'delta'));
    const finish = field(choice, 'finish_reason');
    if (typeof finish === 'string' && finish !== '') this.#isFinished = true;
  }

  #errorWithin(event: unknown): ParleyError {
    const words = this.#wordsOf(event);
    return unusable(`it reports an error in the middle of its answer${words === '' ? '' : `: ${words}`}`);
  }

  #delta(delta: unknown): void {
    // Its thoughts come by themselves: the text has none.
    if (THOUGHT_FIELDS.some((name) => (field(delta, name) ?? '') !== '')) this.#add(this.#thoughts.release());
    const content = contentText(field(delta, 'content'));
    if (content !== undefined) this.#read(content);
    const calls = field(delta, 'tool_calls');
    if (!Array.isArray(calls)) return;
    for (const call of calls as unknown[]) {
      this.#hasGrown = true;
      this.#functions.add(call);
    }
  }

  #read(content: string): void {
    this.#readLength += content.length;
    const { text, endsThought } = this.#thoughts.push(content);
    if (endsThought) {
      this.#text = '';
      this.#length = 0;
      this.#endsThought = true;
    }
    this.#add(text);
  }

  #add(said: string): void {
    this.#hasGrown ||= said !== '';
    const text = said.slice(0, MOST_TEXT - this.#length);
    this.#text += text;
    this.#length += text.length;
  }
}
