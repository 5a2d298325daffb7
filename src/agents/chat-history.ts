// The history of a conversation for a chat model. What the agent said is in it as far as the caller heard it.
import type { ToolOutcome } from './agent-tools.js';
import type { ChatMessage, ToolCall } from './chat-model.js';

/** For the model, after a sound has cut an answer short. */
export const GO_ON = '[A sound without words interrupted you. Go on.]';
/** Stands before a greeting. */
const BEGUN: ChatMessage = { role: 'user', content: '[The call begins]' };
const NO_RESULT = JSON.stringify({ error: 'no result yet: the caller went on' });
const STILL_RUNS = JSON.stringify({
  pending: 'the function still runs: its result comes by itself. Do not call it again',
});

/** A function that runs, and whose result the history does not have. */
export interface RunningCall {
  readonly call: ToolCall;
  /** Rejects with ABORTED at the end of the call. */
  readonly outcome: Promise<ToolOutcome>;
}

/** One answer of the model, with the functions that it called. */
export class AnswerEntry {
  #text = '';
  #toolCalls: readonly ToolCall[] = [];
  readonly #results = new Map<string, string>();
  /** Stand in for results that have not come. */
  readonly #soFar = new Map<string, string>();
  readonly #begun = new Map<string, Promise<ToolOutcome>>();
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

  /** Keeps the answer of a function, which may come after the caller went on. */
  result(call: string, result: string): void {
    this.#results.set(call, result);
  }

  /** A function has begun, and runs to its end whatever the caller does. */
  begun(call: string, outcome: Promise<ToolOutcome>): void {
    this.#begun.set(call, outcome);
    this.soFar(call, STILL_RUNS);
  }

  /** The model gets this in place of the result, until that comes. */
  soFar(call: string, result: string): void {
    this.#soFar.set(call, result);
  }

  /** One of its functions has begun, or has a result or a part of one. */
  get hasActed(): boolean {
    return this.#results.size > 0 || this.#soFar.size > 0;
  }

  get running(): readonly RunningCall[] {
    return this.#toolCalls.flatMap((call) => {
      const outcome = this.#begun.get(call.id);
      return outcome === undefined || this.#results.has(call.id) ? [] : [{ call, outcome }];
    });
  }

  /** Takes a result back. */
  forget(call: string): void {
    this.#results.delete(call);
  }

  hasResult(call: string): boolean {
    return this.#results.has(call);
  }

  /** Every call has a result, as the endpoint demands. */
  resultOf(call: string): string {
    return this.#results.get(call) ?? this.#soFar.get(call) ?? NO_RESULT;
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

/** Words of the caller, or an addition of an application to the prompt. */
interface SaidEntry {
  readonly role: 'user' | 'system';
  readonly text: string;
}

export type HistoryEntry = SaidEntry | AnswerEntry;

const MOST_ENTRIES = 200;
const MOST_CHARACTERS = 60_000;

export class ChatHistory {
  readonly #prompt: string;
  #entries: HistoryEntry[] = [];

  constructor(prompt: string) {
    this.#prompt = prompt;
  }

  user(text: string): HistoryEntry {
    return this.add({ role: 'user', text });
  }

  /** `after`: the entry that it follows; null: it becomes the first one; absent: the last one. */
  add<E extends HistoryEntry>(entry: E, after?: HistoryEntry | null): E {
    const at = after === undefined ? -1 : after === null ? 0 : this.#entries.indexOf(after) + 1;
    this.#entries.splice(at === -1 ? this.#entries.length : at, 0, entry);
    this.#forget();
    return entry;
  }

  /** The caller said something after the last answer. */
  get isAsked(): boolean {
    const last = this.#entries.at(-1);
    return last !== undefined && !(last instanceof AnswerEntry) && last.role === 'user';
  }

  get running(): readonly RunningCall[] {
    return this.#entries.flatMap((entry) => (entry instanceof AnswerEntry ? entry.running : []));
  }

  /** A history that goes on by itself. */
  copy(): ChatHistory {
    const copy = new ChatHistory(this.#prompt);
    copy.#entries = [...this.#entries];
    return copy;
  }

  /** An answer that begins. */
  answer(): AnswerEntry {
    const entry = new AnswerEntry();
    this.#entries.push(entry);
    return entry;
  }

  has(entry: HistoryEntry): boolean {
    return this.#entries.includes(entry);
  }

  /** Takes back an entry, such as an answer that nobody heard. */
  drop(dropped: HistoryEntry): void {
    this.#entries = this.#entries.filter((entry) => entry !== dropped);
  }

  /**
   * The messages of a question to the model. The caller is first, and user and assistant alternate, as the
   * templates of many models demand: what one side said in several turns is one message, and a greeting
   * answers the beginning of the call.
   */
  messages(prompt = this.#prompt): ChatMessage[] {
    const messages: ChatMessage[] = [{ role: 'system', content: prompt }];
    for (const entry of this.#entries) {
      const more = entry instanceof AnswerEntry ? answerMessages(entry) : [said(entry)];
      for (const message of more) append(messages, message);
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

function sizeOf(entry: HistoryEntry): number {
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
    function: { name, arguments: isObject(given) ? given : '{}' },
  }));
  return [
    { role: 'assistant', content: content === '' ? null : content, tool_calls: calls },
    ...toolCalls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: entry.resultOf(id) }) as const),
  ];
}

function said({ role, text }: SaidEntry): ChatMessage {
  return { role, content: text };
}

function append(messages: ChatMessage[], message: ChatMessage): void {
  const last = messages.at(-1);
  const { role, content } = message;
  const isFirst = messages.length === 1 && last?.role === 'system';
  if (isFirst && role === 'assistant') messages.push(BEGUN, message);
  else if (role === 'user' && last?.role === 'user') {
    messages[messages.length - 1] = { role, content: `${last.content}\n${content}` };
  } else if (role === 'assistant' && last?.role === 'assistant' && last.tool_calls === undefined) {
    const space = /^[,.;:!?]/u.test(content ?? '') ? '' : ' ';
    const joined = `${last.content ?? ''}${space}${content ?? ''}`.trim();
    messages[messages.length - 1] = { ...message, content: joined };
  } else messages.push(message);
}

/** Endpoints refuse every later question if the arguments of a function are no JSON. */
function isObject(json: string): boolean {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
