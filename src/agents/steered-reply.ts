// Writes a response with the model of an agent, for a client that may have asked for it: messages, which are
// spoken, and calls of functions. The agent's functions run here; those of the client are told to the client,
// which adds their results to the conversation and asks for another response.
import type { SpeakOptions } from '../call/call.js';
import type { Utterance } from '../call/utterance.js';
import type { OwnReplyParts } from './agent-talk.js';
import type { AgentTools } from './agent-tools.js';
import type { AnswerEntry, ChatHistory } from './chat-history.js';
import type { ChatTool } from './chat-model.js';
import type { ChatReply } from './chat-reply.js';
import { type NewItem, NO_ANSWER_YET, TalkItems, voiceItem } from './talk-items.js';
import type { TalkEvent, TalkResponse } from './talk-response.js';

/** An item of the conversation, in place of a copy of it. */
export interface ItemReference {
  readonly type: 'item_reference';
  readonly id: string;
}

export interface ResponseRequest {
  /** In place of the prompt. */
  readonly prompt?: string | undefined;
  readonly voice?: string | undefined;
  /** It answers these items, in place of the conversation. */
  readonly input?: readonly (NewItem | ItemReference)[] | undefined;
  /** False: it does not become part of the conversation. */
  readonly isKept: boolean;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly isSpoken?: boolean | undefined;
  readonly tools?: readonly ChatTool[] | undefined;
}

interface SteeredReplyParts {
  readonly items: TalkItems;
  /** The agent's functions. */
  readonly tools: Pick<AgentTools, 'definitions' | 'run'>;
  /** Functions of the client, which take precedence over those of the same name. */
  readonly own: readonly ChatTool[];
  readonly prompt: string;
  readonly say: (tokens: AsyncIterable<string>, options: SpeakOptions) => Utterance;
  readonly newReply: (own: OwnReplyParts, tools: SteeredReplyParts['tools']) => ChatReply;
  readonly newId: (prefix: 'item') => string;
  readonly emit: (event: TalkEvent) => void;
}

/**
 * The reply that writes this response; nothing is asked before it runs. `input`: see ResponseRequest. Throws
 * NOT_FOUND for what the input refers to.
 */
export function steeredReply(
  openResponse: () => TalkResponse,
  input: ResponseRequest['input'],
  parts: SteeredReplyParts,
): { readonly response: TalkResponse; readonly reply: ChatReply } {
  const own = input === undefined ? undefined : historyOf(input, parts);
  const response = openResponse();
  return { response, reply: new SteeredReply(response, own, parts).reply };
}

class SteeredReply {
  readonly reply: ChatReply;
  readonly #response: TalkResponse;
  readonly #parts: SteeredReplyParts;
  #silentCount = 0;

  constructor(response: TalkResponse, own: ChatHistory | undefined, parts: SteeredReplyParts) {
    this.#response = response;
    this.#parts = parts;
    const { items, prompt, newReply } = parts;
    const history = own ?? (response.isKept ? items.history : items.history.copy());
    this.reply = newReply(
      {
        history: {
          messages: () => history.messages(prompt),
          answer: () => history.answer(),
          drop: (entry) => history.drop(entry),
          get running() {
            return history.running;
          },
        },
        say: (tokens, options) => this.#say(tokens, options),
        ...(response.isSpoken ? {} : { quiet: () => Promise.resolve(), stop: () => undefined }),
        onText: (entry) => this.#wrote(entry),
        onThought: (entry) => this.#dropThought(entry),
        onCalls: (entry) => this.#called(entry),
        // The conversation gets no results of a response that is no part of it.
        ...(response.isKept ? {} : { onAsk: undefined, onLate: undefined }),
      },
      this.#tools,
    );
  }

  get #tools(): Pick<AgentTools, 'definitions' | 'run'> {
    const { tools, own } = this.#parts;
    return {
      definitions: [...tools.definitions.filter((tool) => !this.#isOwn(tool)), ...own],
      run: async (call, signal, progress) =>
        this.#isOwn(call) ? { result: NO_ANSWER_YET, isOver: true } : tools.run(call, signal, progress),
    };
  }

  #isOwn({ name }: { readonly name: string }): boolean {
    return this.#parts.own.some((tool) => tool.name === name);
  }

  #wrote(entry: AnswerEntry): void {
    const response = this.#response;
    if (entry.text.trim() === '' || !response.isInProgress) return;
    if (response.messageOf(entry) === undefined) {
      const item = voiceItem(this.#parts.newId('item'), '', response.isSpoken);
      if (response.isKept) this.#parts.items.put(item, entry);
      response.begin(entry, item);
    }
    response.write(entry.text);
  }

  /** The client has the text of a thought already, and gets to know that the caller hears none of it. */
  #dropThought(entry: AnswerEntry): void {
    const { items, emit } = this.#parts;
    const response = this.#response;
    const item = response.messageOf(entry);
    if (item === undefined) return;
    response.dropMessage();
    items.cut(item, '');
    item.soundMs = 0;
    for (const [utterance, sound] of response.sounds) {
      if (sound.item !== item) continue;
      response.sounds.delete(utterance);
      emit({ type: 'item.cut', item, heard: '', soundMs: 0 });
      if (sound.hasStarted) emit({ type: 'sound.cleared', response, item });
    }
  }

  #called(entry: AnswerEntry): void {
    const { items, newId, emit } = this.#parts;
    const response = this.#response;
    if (!response.isInProgress) return;
    response.endMessage();
    for (const call of entry.toolCalls.filter((one) => this.#isOwn(one))) {
      const item = { type: 'function_call', id: newId('item'), call } as const;
      if (response.isKept) items.put(item, entry);
      entry.soFar(call.id, NO_ANSWER_YET);
      emit({ type: 'output.called', output: response.output(item, true), call });
    }
  }

  /** Returns the number of the utterance, which is negative if nothing is spoken. */
  #say(tokens: AsyncIterable<string>, options: SpeakOptions): number {
    const response = this.#response;
    if (!response.isSpoken) {
      const none = -++this.#silentCount;
      queueMicrotask(() => this.reply.spoken(none));
      return none;
    }
    const { number } = this.#parts.say(tokens, options);
    const item = response.outputs.findLast((one) => one.item.type === 'message')?.item;
    if (item?.type === 'message') response.sounds.set(number, { item, hasStarted: false });
    return number;
  }
}

/** Throws NOT_FOUND. */
function historyOf(
  input: NonNullable<ResponseRequest['input']>,
  { items, newId }: Pick<SteeredReplyParts, 'items' | 'newId'>,
): ChatHistory {
  const own = new TalkItems('', () => newId('item'));
  for (const item of input) {
    const known = item.type === 'item_reference' ? items.get(item.id) : item;
    own.add(known.type === 'message' ? { ...known, text: known.text ?? '' } : known, undefined);
  }
  return own.history;
}
