// The turns of the caller in a conversation that a client steers: each becomes an item when it is over, and
// gets its words later.
import type { ParleyError } from '../errors.js';
import type { SaidTurn, TurnLength } from './conversation.js';
import type { MessageItem, TalkItems } from './talk-items.js';
import type { TalkEvent } from './talk-response.js';

interface TalkTurnParts {
  readonly items: TalkItems;
  readonly newId: () => string;
  /** Milliseconds since the conversation began. */
  readonly nowMs: () => number;
  readonly emit: (event: TalkEvent) => void;
}

interface OpenTurn {
  readonly item: MessageItem;
  readonly seconds: number;
  /** The client has ended it, and asks for an answer itself if it wants one. */
  readonly isByClient: boolean;
}

export class TalkTurns {
  readonly #parts: TalkTurnParts;
  /** Turns whose text is to come, by their numbers; undefined: the client wants none of it. */
  readonly #open = new Map<number, OpenTurn | undefined>();
  /** Items of turns that the client has ended and that are not over yet; undefined: it wants none of it. */
  readonly #endedByClient: (MessageItem | undefined)[] = [];
  /** Id of the item of the turn that the caller speaks. */
  #spoken: string | undefined;

  constructor(parts: TalkTurnParts) {
    this.#parts = parts;
  }

  callerSpeaks(isSpeaking: boolean): void {
    const { newId, nowMs, emit } = this.#parts;
    if (isSpeaking) {
      this.#spoken = newId();
      emit({ type: 'speech.started', item: this.#spoken, atMs: nowMs() });
    } else if (this.#spoken !== undefined) {
      // This was a sound without a turn, or the client has dropped its turn.
      emit({ type: 'speech.stopped', item: this.#spoken, atMs: nowMs() });
      this.#spoken = undefined;
    }
  }

  ended(turn: number, { speechMs, silenceMs }: TurnLength, isByClient: boolean): void {
    const { newId, nowMs, emit } = this.#parts;
    const seconds = speechMs / 1000;
    if (isByClient) {
      const item = this.#endedByClient.shift();
      this.#open.set(turn, item && { item, seconds, isByClient });
      return;
    }
    if (this.#endedByClient.length > 0) {
      // Silence has ended the turn before the order of the client could.
      const [item] = this.#endedByClient.splice(0, 1, undefined);
      this.#open.set(turn, item && { item, seconds, isByClient: true });
      return;
    }
    const id = this.#spoken ?? newId();
    this.#spoken = undefined;
    emit({ type: 'speech.stopped', item: id, atMs: Math.max(0, nowMs() - silenceMs) });
    this.#open.set(turn, { item: this.#commit(id, undefined), seconds, isByClient });
  }

  /** False if the turn is not to be answered: the client has ended or dropped it. */
  said({ number, text }: SaidTurn): boolean {
    const { items, newId, emit } = this.#parts;
    const isKnown = this.#open.has(number);
    const open = isKnown
      ? this.#open.get(number)
      : { item: this.#commit(newId(), undefined), seconds: 0, isByClient: false };
    this.#open.delete(number);
    if (open === undefined) return false;
    const { item, seconds, isByClient } = open;
    items.said(item, text);
    emit({ type: 'turn.text', item, seconds });
    return !isByClient;
  }

  /** False if the turn is not to be answered: the client has ended or dropped it. */
  unsaid(turn: number, error: ParleyError | undefined): boolean {
    const open = this.#open.get(turn);
    this.#open.delete(turn);
    if (open === undefined) return false;
    const { item, seconds, isByClient } = open;
    item.text = '';
    if (error === undefined) this.#parts.emit({ type: 'turn.text', item, seconds });
    else this.#parts.emit({ type: 'turn.failed', item, error });
    return !isByClient;
  }

  /** The caller has said nothing since `fromMs`: that is a turn, too. */
  idle(fromMs: number): void {
    const { newId, nowMs, emit } = this.#parts;
    const id = newId();
    emit({ type: 'idle', item: id, fromMs, atMs: nowMs() });
    this.#commit(id, '');
  }

  /** The client has ended the turn: it is an item at once, and gets its words once it is over. */
  commit(): void {
    const id = this.#spoken ?? this.#parts.newId();
    this.callerSpeaks(false);
    this.#endedByClient.push(this.#commit(id, undefined));
  }

  /** The client has ended the turn, and wants nothing of it. */
  drop(): void {
    this.#endedByClient.push(undefined);
  }

  #commit(id: string, text: string | undefined): MessageItem {
    const { items, emit } = this.#parts;
    const item: MessageItem = { type: 'message', id, role: 'user', isSound: true, text, status: 'completed' };
    items.put(item);
    emit({ type: 'turn.committed', item, previous: items.before(id) });
    return item;
  }
}
