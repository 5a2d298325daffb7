// The history of a conversation for a chat model. What the agent said is in it as far as the caller heard it.
import type { ChatMessage, ToolCall } from './chat-model.js';

const NO_RESULT = JSON.stringify({ error: 'no result yet: the caller went on' });

/** One answer of the model, with the functions that it called. */
export class AnswerEntry {
  #text = '';
  #toolCalls: readonly ToolCall[] = [];
  readonly #results = new Map<string, string>();
  #isCut = false;

  get text(): string {
    return this.#text;
  }

  get toolCalls(): readonly ToolCall[] {
    return this.#toolCalls;
  }

  /** The caller was interrupted, or spoke: more text of the answer is not heard. */
  get isCut(): boolean {
    return this.#isCut;
  }

  add(text: string): void {
    if (!this.#isCut) this.#text += text;
  }

  calls(toolCalls: readonly ToolCall[]): void {
    this.#toolCalls = toolCalls;
  }

  /** What a function answered; it may come after the caller went on. */
  result(call: string, result: string): void {
    this.#results.set(call, result);
  }

  /** Every call has a result, as the endpoint demands. */
  resultOf(call: string): string {
    return this.#results.get(call) ?? NO_RESULT;
  }

  /** The caller heard only this of it; white space may differ. Returns what was not heard. */
  cut(heard: string): string {
    const text = this.#text;
    const end = endOfHeard(text, heard);
    this.#text = end === undefined ? heard : text.slice(0, end);
    this.#isCut = true;
    return end === undefined ? '' : text.slice(end);
  }
}

const WHITE = /\s/u;

/**
 * Offset in the text behind what was heard of it; undefined if that is no beginning of it. Sentences are
 * reported with single spaces between them, however they were written.
 */
function endOfHeard(text: string, heard: string): number | undefined {
  let end = 0;
  for (const character of heard) {
    if (WHITE.test(character)) continue;
    let at = end;
    while (at < text.length && WHITE.test(text[at] ?? '')) at++;
    if (!text.startsWith(character, at)) return undefined;
    end = at + character.length;
  }
  return end;
}

/** What the caller said. */
interface CallerEntry {
  readonly text: string;
}

type Entry = CallerEntry | AnswerEntry;

const MOST_ENTRIES = 200;
const MOST_CHARACTERS = 60_000;

export class ChatHistory {
  readonly #prompt: string;
  #entries: Entry[] = [];

  constructor(prompt: string) {
    this.#prompt = prompt;
  }

  user(text: string): void {
    this.#entries.push({ text });
    this.#forget();
  }

  /** An answer that begins. */
  answer(): AnswerEntry {
    const entry = new AnswerEntry();
    this.#entries.push(entry);
    return entry;
  }

  /** Takes back an answer that nobody heard. */
  drop(answer: AnswerEntry): void {
    this.#entries = this.#entries.filter((entry) => entry !== answer);
  }

  /**
   * What the model gets. User and assistant alternate, as the templates of many models demand: what the
   * caller said in several turns without an answer is one message. `next` is what the caller has probably
   * said, which is not in the history.
   */
  messages(next?: string): ChatMessage[] {
    const messages: ChatMessage[] = [{ role: 'system', content: this.#prompt }];
    for (const entry of next === undefined ? this.#entries : [...this.#entries, { text: next }]) {
      const last = messages.at(-1);
      if (entry instanceof AnswerEntry) {
        messages.push(...answerMessages(entry));
      } else if (last?.role === 'user') {
        messages[messages.length - 1] = { role: 'user', content: `${last.content}\n${entry.text}` };
      } else {
        messages.push({ role: 'user', content: entry.text });
      }
    }
    return messages;
  }

  /** Drops the oldest turns whole. */
  #forget(): void {
    while (this.#entries.length > MOST_ENTRIES || this.#characters > MOST_CHARACTERS) {
      const next = this.#entries.findIndex((entry, at) => at > 0 && !(entry instanceof AnswerEntry));
      if (next <= 0) return;
      this.#entries.splice(0, next);
    }
  }

  get #characters(): number {
    return this.#entries.reduce((sum, entry) => sum + sizeOf(entry), 0);
  }
}

function sizeOf(entry: Entry): number {
  if (!(entry instanceof AnswerEntry)) return entry.text.length;
  const { text, toolCalls } = entry;
  return toolCalls.reduce(
    (sum, call) => sum + call.arguments.length + entry.resultOf(call.id).length,
    text.length,
  );
}

/** None for an answer of which nothing was heard. */
function answerMessages(entry: AnswerEntry): ChatMessage[] {
  const { toolCalls } = entry;
  const content = entry.text.trim();
  if (toolCalls.length === 0) return content === '' ? [] : [{ role: 'assistant', content }];
  const calls = toolCalls.map(({ id, name, arguments: given }) => ({
    id,
    type: 'function',
    function: { name, arguments: given },
  }));
  return [
    { role: 'assistant', content: content === '' ? null : content, tool_calls: calls },
    ...toolCalls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: entry.resultOf(id) }) as const),
  ];
}
