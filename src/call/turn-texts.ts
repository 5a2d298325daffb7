// Adds the caller's words to `turn.ended` in the events of a call that applications follow, where the server
// recognises callers. The text comes a little later than the end of the turn, so what the caller does next is
// told after it. Everything else is told at once.
import type { Time } from '../time.js';
import type { Call } from './call.js';
import type { CallerText, CallerTexts } from './caller-texts.js';
import type { CallEvent } from './utterance.js';

export type TurnRecogniser = Pick<CallerTexts, 'isCallerRecognised' | 'follow'>;

interface TurnTextsParts {
  readonly call: Pick<Call, 'id' | 'observe' | 'follow' | 'hear' | 'closed'>;
  /** Absent: no caller is recognised. */
  readonly callerTexts?: TurnRecogniser | undefined;
  readonly time: Time;
  readonly tell: (event: CallEvent) => void;
}

interface Waiting {
  readonly event: CallEvent;
  /** The text of this turn is still to come. */
  isOpen: boolean;
  words?: Pick<CallerText, 'text' | 'language'>;
}

const TEXT_MS = 3000; // a turn is told without its text then
const OF_CALLER: ReadonlySet<CallEvent['type']> = new Set<CallEvent['type']>([
  'speech.started',
  'speech.stopped',
  'turn.ended',
  'no_input',
]);

export class TurnTexts {
  readonly #parts: TurnTextsParts;
  readonly #waiting: Waiting[] = [];
  #stopFollowing: (() => void) | undefined;
  #cancelTimer = (): void => undefined;

  constructor(parts: TurnTextsParts) {
    this.#parts = parts;
  }

  /** The caller is recognised from now on. Idempotent. */
  start(): void {
    const { call, callerTexts } = this.#parts;
    if (callerTexts?.isCallerRecognised !== true) return;
    this.#stopFollowing ??= callerTexts.follow(call, {
      text: (words) => words.isFinal && this.#arrived(words),
      failed: () => this.#flush(),
    });
  }

  /** The caller is not recognised any more. Turns that wait are told without a text. Idempotent. */
  stop(): void {
    this.#stopFollowing?.();
    this.#stopFollowing = undefined;
    this.#flush();
  }

  /** Takes each event of the call, in order. */
  take(event: CallEvent): void {
    // An interruptible utterance has the caller heard, too.
    if (event.type === 'speech.started') this.start();
    const isTurn = event.type === 'turn.ended' && this.#stopFollowing !== undefined;
    if (!isTurn && (this.#waiting.length === 0 || !OF_CALLER.has(event.type))) {
      this.#parts.tell(event);
      return;
    }
    this.#waiting.push({ event, isOpen: isTurn });
    if (this.#waiting.length === 1) this.#wait();
  }

  #arrived(words: CallerText): void {
    const turn = this.#waiting.find(({ isOpen }) => isOpen);
    if (turn === undefined) return; // it was told without its text
    turn.isOpen = false;
    turn.words = words;
    this.#drain();
  }

  #wait(): void {
    this.#cancelTimer = this.#parts.time.after(TEXT_MS, () => {
      const [first] = this.#waiting;
      if (first !== undefined) first.isOpen = false;
      this.#drain();
    });
  }

  /** Tells what waits, up to the next turn whose text is to come. */
  #drain(): void {
    this.#cancelTimer();
    while (this.#waiting[0]?.isOpen === false) {
      const { event, words } = this.#waiting.shift() as Waiting;
      this.#parts.tell(words === undefined ? event : withWords(event, words));
    }
    if (this.#waiting.length > 0) this.#wait();
  }

  #flush(): void {
    for (const waiting of this.#waiting) waiting.isOpen = false;
    this.#drain();
  }
}

function withWords(event: CallEvent, { text, language }: Pick<CallerText, 'text' | 'language'>): CallEvent {
  if (event.type !== 'turn.ended') return event;
  return { ...event, text, ...(language === undefined ? {} : { language }) };
}
