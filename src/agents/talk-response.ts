// One response in a conversation that a client steers: the items that it consists of, and its way to the
// caller's ear.
//
//   in progress ─▶ completed   all of its text is known, and its sound has begun
//        ├───────▶ cancelled   the caller or the client went on
//        └───────▶ failed
//
// Its sound may be heard long after it was completed. An interruption, or a voice that fails, then still
// changes how the response has ended, without another event: a client may wait for the sound.
import type { ParleyError } from '../errors.js';
import type { AnswerEntry } from './chat-history.js';
import type { ToolCall } from './chat-model.js';
import type { ChatReply } from './chat-reply.js';
import type { MessageItem, TalkItem } from './talk-items.js';

export type CancelReason = 'turn_detected' | 'client_cancelled';

/** An event of the conversation, for its client. */
export type TalkEvent =
  | { readonly type: 'speech.started'; readonly item: string; readonly atMs: number }
  | { readonly type: 'speech.stopped'; readonly item: string; readonly atMs: number }
  /** The caller's turn is over. */
  | { readonly type: 'turn.committed'; readonly item: MessageItem; readonly previous: string | null }
  /** `seconds`: length of the speech. */
  | { readonly type: 'turn.text'; readonly item: MessageItem; readonly seconds: number }
  | { readonly type: 'turn.failed'; readonly item: MessageItem; readonly error: ParleyError }
  /** The caller said nothing for as long as `idleMs` allows, from `fromMs` on. */
  | { readonly type: 'idle'; readonly item: string; readonly fromMs: number; readonly atMs: number }
  | { readonly type: 'key'; readonly digit: string }
  /** An item that is no output of a response. */
  | { readonly type: 'item.added'; readonly item: TalkItem; readonly previous: string | null }
  /** The caller has heard `heard` of it, in so many milliseconds, and hears no more. */
  | {
      readonly type: 'item.cut';
      readonly item: MessageItem;
      readonly heard: string;
      readonly soundMs: number;
    }
  | { readonly type: 'response.created'; readonly response: TalkResponse }
  /** `isNew`: it was no item of the conversation before. */
  | { readonly type: 'output.added'; readonly output: Output; readonly isNew: boolean }
  | { readonly type: 'output.text'; readonly output: Output; readonly text: string }
  /** `text`: all that was written. */
  | { readonly type: 'output.done'; readonly output: Output; readonly text: string }
  | { readonly type: 'output.called'; readonly output: Output; readonly call: ToolCall }
  | { readonly type: 'response.done'; readonly response: TalkResponse }
  /** The item is heard from now on, or no more. */
  | {
      readonly type: 'sound.started' | 'sound.stopped' | 'sound.cleared';
      readonly response: TalkResponse;
      readonly item: MessageItem;
    }
  /** A response that was completed already could not be spoken to its end. */
  | { readonly type: 'failed'; readonly error: ParleyError };

/** One item of a response. */
export interface Output {
  readonly response: TalkResponse;
  readonly item: TalkItem;
  /** Its place in the response, from 0. */
  readonly index: number;
}

/** An utterance of a response. */
interface Sound {
  readonly item: MessageItem;
  hasStarted: boolean;
}

interface ResponseOptions {
  readonly id: string;
  /** Its items are part of the conversation. */
  readonly isKept: boolean;
  /** False: it is text only. */
  readonly isSpoken: boolean;
  readonly voice: string | undefined;
  /** The client's own words about it. */
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly emit: (event: TalkEvent) => void;
}

interface OpenMessage {
  readonly output: Output;
  /** Characters that were told. */
  told: number;
}

export class TalkResponse {
  readonly id: string;
  readonly isKept: boolean;
  readonly isSpoken: boolean;
  readonly voice: string | undefined;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly outputs: Output[] = [];
  /** By the number of the utterance; those whose end is not known. */
  readonly sounds = new Map<number, Sound>();
  /** The model that writes it; undefined for a text that is spoken as it is. */
  reply: ChatReply | undefined;
  status: 'in_progress' | 'completed' | 'cancelled' | 'failed' = 'in_progress';
  reason: CancelReason | undefined;
  error: ParleyError | undefined;
  readonly #emit: (event: TalkEvent) => void;
  readonly #messages = new Map<AnswerEntry, OpenMessage>();
  /** A message whose text is not complete. */
  #open: { message: OpenMessage; text: string } | undefined;
  #isWritten = false;

  constructor({ id, isKept, isSpoken, voice, metadata, emit }: ResponseOptions) {
    this.id = id;
    this.isKept = isKept;
    this.isSpoken = isSpoken;
    this.voice = voice;
    this.metadata = metadata;
    this.#emit = emit;
    emit({ type: 'response.created', response: this });
  }

  get isInProgress(): boolean {
    return this.status === 'in_progress';
  }

  /** The message that an answer of the model becomes. */
  messageOf(entry: AnswerEntry): MessageItem | undefined {
    return this.#messages.get(entry)?.output.item as MessageItem | undefined;
  }

  /** The message of the voice that was written last, if no utterance has it. */
  get unspoken(): MessageItem | undefined {
    const item = this.outputs.at(-1)?.item;
    if (item?.type !== 'message' || !item.isSound || item.soundMs !== undefined) return undefined;
    return [...this.sounds.values()].some((sound) => sound.item === item) ? undefined : item;
  }

  /** An item begins, as part of the response. */
  output(item: TalkItem, isNew: boolean): Output {
    const output = { response: this, item, index: this.outputs.length };
    this.outputs.push(output);
    this.#emit({ type: 'output.added', output, isNew });
    return output;
  }

  /** A whole text, which is spoken as it is. */
  whole(item: MessageItem, isNew: boolean): void {
    this.#begin(this.output(item, isNew));
    this.#write(item.text ?? '');
    this.written();
  }

  /** The model has begun a message with this item. */
  begin(entry: AnswerEntry, item: MessageItem): void {
    this.endMessage();
    const message = this.#begin(this.output(item, true));
    this.#messages.set(entry, message);
  }

  /** The model has written `text` of the message that is open so far. */
  write(text: string): void {
    if (this.isInProgress) this.#write(text);
  }

  /** The message that is open is complete. */
  endMessage(): void {
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    const { output } = open.message;
    const item = output.item as MessageItem;
    if (item.status === 'in_progress') item.status = 'completed';
    this.#emit({ type: 'output.done', output, text: open.text });
  }

  /** The message that is open was a thought: it ends without a text. */
  dropMessage(): void {
    if (this.#open === undefined) return;
    this.#open.text = '';
    this.endMessage();
  }

  /** Nothing more will be written. */
  written(): void {
    this.endMessage();
    this.#isWritten = true;
    this.look();
  }

  /** Completes the response if all of it is known, and its sound has begun. */
  look(): void {
    const isHeard = [...this.sounds.values()].every(({ hasStarted }) => hasStarted);
    if (this.isInProgress && this.#isWritten && isHeard) this.#end('completed');
  }

  /** Also changes how a completed response has ended. */
  cancel(reason: CancelReason): void {
    if (!this.isInProgress && this.status !== 'completed') return;
    this.reason = reason;
    this.#giveUp('cancelled');
  }

  /** False if it has ended already. Also changes how a completed response has ended. */
  fail(error: ParleyError): boolean {
    const wasInProgress = this.isInProgress;
    if (!wasInProgress && this.status !== 'completed') return false;
    this.error = error;
    this.#giveUp('failed');
    return wasInProgress;
  }

  #begin(output: Output): OpenMessage {
    const message = { output, told: 0 };
    this.#open = { message, text: '' };
    return message;
  }

  #write(text: string): void {
    const open = this.#open;
    if (open === undefined || text.length <= open.message.told) return;
    const more = text.slice(open.message.told);
    open.message.told = text.length;
    open.text = text;
    (open.message.output.item as MessageItem).text = text;
    this.#emit({ type: 'output.text', output: open.message.output, text: more });
  }

  #giveUp(status: 'cancelled' | 'failed'): void {
    const item = this.#open?.message.output.item as MessageItem | undefined;
    if (item !== undefined) item.status = 'incomplete';
    this.endMessage();
    this.#end(status);
  }

  #end(status: TalkResponse['status']): void {
    const isFirst = this.isInProgress;
    this.status = status;
    if (isFirst) this.#emit({ type: 'response.done', response: this });
  }
}
