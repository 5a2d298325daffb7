// The turns of the caller in a conversation that a client steers: each becomes an item when it is over, and
// gets its words later.
import type { ParleyError } from '../errors.js';
import type { CallerTurn, TurnLength } from './conversation.js';
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
}

export class TalkTurns {
  readonly #parts: TalkTurnParts;
  /** Turns whose text is to come, by their numbers; undefined: the client wants none of it. */
  readonly #open = new Map<number, OpenTurn | undefined>();
  /** Id of the item of the turn that the caller speaks. */
  #spoken: string | undefined;
  #isDropped = false;

  constructor(parts: TalkTurnParts) {
    this.#parts = parts;
  }

  callerSpeaks(isSpeaking: boolean): void {
    const { newId, nowMs, emit } = this.#parts;
    if (isSpeaking) {
      this.#spoken = newId();
      emit({ type: 'speech.started', item: this.#spoken, atMs: nowMs() });
    } else if (this.#spoken !== undefined) {
      // A sound that was no turn.
      emit({ type: 'speech.stopped', item: this.#spoken, atMs: nowMs() });
      this.#spoken = undefined;
      this.#isDropped = false;
    }
  }

  ended(turn: number, { speechMs, silenceMs }: TurnLength): void {
    const { newId, nowMs, emit } = this.#parts;
    const id = this.#spoken ?? newId();
    this.#spoken = undefined;
    emit({ type: 'speech.stopped', item: id, atMs: Math.max(0, nowMs() - silenceMs) });
    const seconds = speechMs / 1000;
    this.#open.set(turn, this.#isDropped ? undefined : { item: this.#commit(id, undefined), seconds });
    this.#isDropped = false;
  }

  /** False if the client wants nothing of the turn. */
  said({ number, text }: CallerTurn): boolean {
    const { items, newId, emit } = this.#parts;
    const isKnown = number !== undefined && this.#open.has(number);
    const open = isKnown ? this.#open.get(number) : { item: this.#commit(newId(), undefined), seconds: 0 };
    if (isKnown) this.#open.delete(number);
    if (open === undefined) return false;
    items.said(open.item, text);
    emit({ type: 'turn.text', ...open });
    return true;
  }

  unsaid(turn: number, error: ParleyError | undefined): void {
    const open = this.#open.get(turn);
    this.#open.delete(turn);
    if (open === undefined) return;
    open.item.text = '';
    if (error === undefined) this.#parts.emit({ type: 'turn.text', ...open });
    else this.#parts.emit({ type: 'turn.failed', item: open.item, error });
  }

  /** The caller has said nothing since `fromMs`: that is a turn, too. */
  idle(fromMs: number): void {
    const { newId, nowMs, emit } = this.#parts;
    const id = newId();
    emit({ type: 'idle', item: id, fromMs, atMs: nowMs() });
    this.#commit(id, '');
  }

  /** The words that the caller speaks now are no turn. */
  drop(): void {
    this.#isDropped = this.#spoken !== undefined;
  }

  #commit(id: string, text: string | undefined): MessageItem {
    const { items, emit } = this.#parts;
    const item: MessageItem = { type: 'message', id, role: 'user', isSound: true, text, status: 'completed' };
    items.put(item);
    emit({ type: 'turn.committed', item, previous: items.before(id) });
    return item;
  }
}
