// The turns of the caller in a conversation that a client steers: each becomes an item when it is over, and
// gets its words later.
import type { ParleyError } from '../errors.js';
import type { CallerTurn } from './conversation.js';
import type { MessageItem, TalkItems } from './talk-items.js';
import type { TalkEvent } from './talk-response.js';

interface TalkTurnParts {
  readonly items: TalkItems;
  readonly newId: () => string;
  /** Milliseconds since the conversation began. */
  readonly nowMs: () => number;
  readonly emit: (event: TalkEvent) => void;
}

export class TalkTurns {
  readonly #parts: TalkTurnParts;
  /** Turns whose text is to come, by their numbers; undefined: the client wants none of it. */
  readonly #open = new Map<number, MessageItem | undefined>();
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

  ended(turn: number, silenceMs: number): void {
    const { newId, nowMs, emit } = this.#parts;
    const id = this.#spoken ?? newId();
    this.#spoken = undefined;
    emit({ type: 'speech.stopped', item: id, atMs: Math.max(0, nowMs() - silenceMs) });
    this.#open.set(turn, this.#isDropped ? undefined : this.#commit(id, undefined));
    this.#isDropped = false;
  }

  /** False if the client wants nothing of the turn. */
  said({ number, text, times }: CallerTurn): boolean {
    const isKnown = number !== undefined && this.#open.has(number);
    const item = isKnown ? this.#open.get(number) : this.#commit(this.#parts.newId(), undefined);
    if (isKnown) this.#open.delete(number);
    if (item === undefined) return false;
    this.#parts.items.said(item, text);
    const seconds = times === undefined ? 0 : Math.max(0, times.textMs - times.endOfSpeechMs) / 1000;
    this.#parts.emit({ type: 'turn.text', item, seconds });
    return true;
  }

  unsaid(turn: number, error: ParleyError | undefined): void {
    const item = this.#open.get(turn);
    this.#open.delete(turn);
    if (item === undefined) return;
    item.text = '';
    if (error === undefined) this.#parts.emit({ type: 'turn.text', item, seconds: 0 });
    else this.#parts.emit({ type: 'turn.failed', item, error });
  }

  /** The caller has said nothing since `fromMs`: that is a turn, too. */
  idle(fromMs: number): void {
    const { newId, nowMs, emit } = this.#parts;
    const id = newId();
    emit({ type: 'idle', item: id, fromMs, atMs: nowMs() });
    this.#commit(id, '');
  }

  /** What the caller says now is no turn. */
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
