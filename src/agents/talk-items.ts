// The items of a conversation that a client steers: messages, calls of functions and their results, each with
// an id. What a chat model gets of them is in the history.
import { ParleyError } from '../errors.js';
import { AnswerEntry, ChatHistory, type HistoryEntry } from './chat-history.js';
import type { ToolCall } from './chat-model.js';

type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

export interface MessageItem {
  readonly type: 'message';
  readonly id: string;
  readonly role: 'user' | 'assistant' | 'system';
  /** It was said, by the caller or by our voice: its text is a transcript. */
  isSound: boolean;
  /** Undefined while the words of the caller are not known. Of our voice: no more than what was heard. */
  text: string | undefined;
  status: ItemStatus;
  /** Milliseconds of its sound that were sent; undefined before the end of the sound. */
  soundMs?: number;
  /** Its text was given to be spoken. */
  isGiven?: boolean;
}

interface CallItem {
  readonly type: 'function_call';
  readonly id: string;
  readonly call: ToolCall;
}

interface ResultItem {
  readonly type: 'function_call_output';
  readonly id: string;
  /** Id of the call, not of its item. */
  readonly call: string;
  readonly output: string;
}

export type TalkItem = MessageItem | CallItem | ResultItem;

/** An item that a client adds. Its id is the client's own, or made. */
export type NewItem =
  | {
      readonly type: 'message';
      readonly id?: string;
      readonly role: MessageItem['role'];
      readonly text: string;
    }
  | { readonly type: 'function_call'; readonly id?: string; readonly call: ToolCall }
  | {
      readonly type: 'function_call_output';
      readonly id?: string;
      readonly call: string;
      readonly output: string;
    };

interface Placed {
  readonly item: TalkItem;
  entry: HistoryEntry | undefined;
}

/** Result of a client's function in the history, until the client gives it. */
export const NO_ANSWER_YET = JSON.stringify({ pending: 'the result has not come yet' });

const MOST_ITEMS = 500;
const MOST_CHARACTERS = 400_000; // of all items together

export class TalkItems {
  readonly history: ChatHistory;
  readonly #newId: () => string;
  #placed: Placed[] = [];

  constructor(prompt: string, newId: () => string) {
    this.history = new ChatHistory(prompt);
    this.#newId = newId;
  }

  get last(): TalkItem | undefined {
    return this.#placed.at(-1)?.item;
  }

  /** The oldest message that the client wrote for the voice, and that was not given to be spoken. */
  get unspoken(): MessageItem | undefined {
    const items = this.#placed.map(({ item }) => item);
    return items.find((item): item is MessageItem => item.type === 'message' && isUnspoken(item));
  }

  /** Throws NOT_FOUND. */
  get(id: string): TalkItem {
    return this.#find(id).item;
  }

  /** Id of the item before this one; null for the first one, and for one that is not here. */
  before(id: string): string | null {
    const at = this.#placed.findIndex(({ item }) => item.id === id);
    return this.#placed[at - 1]?.item.id ?? null;
  }

  /** Adds an item whose part in the history is known, or comes later. */
  put(item: TalkItem, entry?: HistoryEntry): void {
    this.#place({ item, entry }, this.#placed.length);
  }

  /** The words of the caller are known: they become part of the history, unless the item was removed. */
  said(item: MessageItem, text: string): void {
    item.text = text;
    const placed = this.#placed.find((one) => one.item === item);
    if (placed !== undefined) placed.entry = this.history.user(text);
  }

  /**
   * Adds an item of the client behind that of the id `after`; null: as the first one; undefined: as the last
   * one. Throws NOT_FOUND for an unknown `after` or call, and EXISTS if the id is taken.
   */
  add(given: NewItem, after: string | null | undefined): TalkItem {
    const id = given.id ?? this.#newId();
    if (this.#placed.some(({ item }) => item.id === id))
      throw new ParleyError('EXISTS', `there is an item ${JSON.stringify(id)} already`, { field: 'item.id' });
    const before = after === undefined || after === null ? undefined : this.#find(after);
    const at = after === null ? 0 : before === undefined ? this.#placed.length : this.#indexOf(before) + 1;
    const item = itemOf(given, id);
    const entry = entryOf(item);
    if (item.type === 'function_call_output') this.#answerOf(item.call).result(item.call, item.output);
    if (entry !== undefined) this.history.add(entry, after === undefined ? undefined : this.#entryBefore(at));
    this.#place({ item, entry }, at);
    return item;
  }

  /** Throws NOT_FOUND. */
  remove(id: string): void {
    const removed = this.#find(id);
    const { item, entry } = removed;
    this.#placed = this.#placed.filter((one) => one !== removed);
    if (item.type === 'function_call_output') this.#tryAnswerOf(item.call)?.forget(item.call);
    if (entry === undefined) return;
    if (entry instanceof AnswerEntry && this.#placed.some((one) => one.entry === entry)) {
      if (item.type === 'message') entry.cut('');
      else if (item.type === 'function_call')
        entry.calls(entry.toolCalls.filter(({ id: call }) => call !== item.call.id));
    } else {
      this.history.drop(entry);
    }
  }

  /** The caller heard only this of it. Returns what was not heard. */
  cut(item: MessageItem, heard: string): string {
    const text = item.text ?? '';
    item.text = heard;
    item.status = 'incomplete';
    const entry = this.#placed.find((one) => one.item === item)?.entry;
    if (entry instanceof AnswerEntry) entry.cut(heard);
    return text.startsWith(heard) ? text.slice(heard.length) : '';
  }

  #place(placed: Placed, at: number): void {
    this.#placed.splice(at, 0, placed);
    while (this.#placed.length > MOST_ITEMS || this.#characters > MOST_CHARACTERS) {
      const oldest = this.#placed.find((one) => one !== placed);
      if (oldest === undefined) return;
      this.remove(oldest.item.id);
    }
  }

  get #characters(): number {
    return this.#placed.reduce((sum, { item }) => sum + sizeOf(item), 0);
  }

  #find(id: string): Placed {
    const found = this.#placed.find(({ item }) => item.id === id);
    if (found !== undefined) return found;
    throw new ParleyError('NOT_FOUND', `there is no item ${JSON.stringify(id)}`, { field: 'item_id' });
  }

  #indexOf(placed: Placed): number {
    return this.#placed.indexOf(placed);
  }

  /** An answer that nobody heard has an item, and is not in the history. */
  #entryBefore(at: number): HistoryEntry | null {
    const entries = this.#placed.slice(0, at).map(({ entry }) => entry);
    return entries.findLast((entry) => entry !== undefined && this.history.has(entry)) ?? null;
  }

  #tryAnswerOf(call: string): AnswerEntry | undefined {
    const of = ({ item }: Placed) => item.type === 'function_call' && item.call.id === call;
    const entry = this.#placed.findLast(of)?.entry;
    return entry instanceof AnswerEntry ? entry : undefined;
  }

  #answerOf(call: string): AnswerEntry {
    const answer = this.#tryAnswerOf(call);
    if (answer !== undefined) return answer;
    const message = `no function was called with the id ${JSON.stringify(call)}`;
    throw new ParleyError('NOT_FOUND', message, { field: 'item.call_id' });
  }
}

/** A message of the client's for the voice, which was not given to be spoken. */
export function isUnspoken({ role, isSound, isGiven }: MessageItem): boolean {
  return role === 'assistant' && !isSound && isGiven !== true;
}

/** A message of the voice that begins; `isSound` is false for a text that is not spoken. */
export function voiceItem(id: string, text: string, isSound = true): MessageItem {
  return { type: 'message', id, role: 'assistant', text, isSound, isGiven: true, status: 'in_progress' };
}

function itemOf(given: NewItem, id: string): TalkItem {
  if (given.type === 'message') return { ...given, id, isSound: false, status: 'completed' };
  return { ...given, id };
}

function entryOf(item: TalkItem): HistoryEntry | undefined {
  if (item.type === 'function_call_output') return undefined;
  if (item.type === 'message' && item.role !== 'assistant') return { role: item.role, text: item.text ?? '' };
  const entry = new AnswerEntry();
  if (item.type === 'message') entry.add(item.text ?? '');
  else entry.calls([item.call]);
  return entry;
}

function sizeOf(item: TalkItem): number {
  if (item.type === 'message') return item.text?.length ?? 0;
  return item.type === 'function_call' ? item.call.arguments.length : item.output.length;
}

/** So much of a text, in whole words: an estimate, as if all words took the same time. */
export function shareOf(text: string, share: number): string {
  const words = text.match(/\s*\S+/gu) ?? [];
  return words.slice(0, Math.floor(words.length * Math.min(1, share) + 1e-9)).join('');
}
