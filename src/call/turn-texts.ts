// Adds the caller's words to `turn.ended` in the events of a call that applications follow, where the server
// recognises callers. The text comes a little later than the end of the turn, so what the caller does next is
// told after it. Everything else is told at once.
import type { Time } from '../time.js';
import type { CallerTexts, HeardCall } from './caller-texts.js';
import type { TurnWords } from './caller-turns.js';
import type { CallEvent } from './call-events.js';

export type TurnRecogniser = Pick<CallerTexts, 'isCallerRecognised' | 'follow'>;

interface TurnTextsParts {
  readonly call: HeardCall;
  /** Absent: no caller is recognised. */
  readonly callerTexts?: TurnRecogniser | undefined;
  readonly time: Time;
  readonly tell: (event: CallEvent) => void;
}

interface Waiting {
  readonly event: CallEvent;
  /** Number of the turn whose text is still to come. */
  awaited: number | undefined;
  words?: TurnWords | undefined;
}

/** A turn that was settled before its event came here. */
interface EarlyWords {
  readonly turn: number;
  readonly words: TurnWords | undefined;
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
  /** Number of the last turn whose event came. */
  #lastTurn = -1;
  #early: EarlyWords | undefined;
  #cancelTimer = (): void => undefined;

  constructor(parts: TurnTextsParts) {
    this.#parts = parts;
  }

  /** The caller is recognised from now on. Idempotent. */
  start(): void {
    const { call, callerTexts } = this.#parts;
    if (callerTexts?.isCallerRecognised !== true) return;
    this.#stopFollowing ??= callerTexts.follow(call, {
      said: (turn) => this.#settled(turn.number, turn),
      unsaid: ({ number }) => this.#settled(number, undefined),
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
    this.#waiting.push({ event, awaited: isTurn ? event.turn : undefined });
    if (this.#waiting.length === 1) this.#wait();
    if (isTurn) this.#lastTurn = event.turn;
    if (isTurn && this.#early?.turn === event.turn) this.#settled(event.turn, this.#early.words);
  }

  /** Without words, the turn has no text. A turn that was told without its text stays so. */
  #settled(turn: number, words: TurnWords | undefined): void {
    if (turn > this.#lastTurn) this.#early = { turn, words };
    const waiting = this.#waiting.find(({ awaited }) => awaited === turn);
    if (waiting === undefined) return;
    Object.assign(waiting, { awaited: undefined, words });
    this.#drain();
  }

  #wait(): void {
    this.#cancelTimer = this.#parts.time.after(TEXT_MS, () => {
      const [first] = this.#waiting;
      if (first !== undefined) first.awaited = undefined;
      this.#drain();
    });
  }

  /** Tells what waits, up to the next turn whose text is to come. */
  #drain(): void {
    this.#cancelTimer();
    while (this.#waiting[0] !== undefined && this.#waiting[0].awaited === undefined) {
      const { event, words } = this.#waiting.shift() as Waiting;
      this.#parts.tell(words === undefined ? event : withWords(event, words));
    }
    if (this.#waiting.length > 0) this.#wait();
  }

  #flush(): void {
    for (const waiting of this.#waiting) waiting.awaited = undefined;
    this.#drain();
  }
}

function withWords(event: CallEvent, { text, language }: TurnWords): CallEvent {
  if (event.type !== 'turn.ended') return event;
  return { ...event, text, ...(language === undefined ? {} : { language }) };
}
