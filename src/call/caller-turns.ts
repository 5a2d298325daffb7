// Joins the turns of the caller of one call with their texts, by the number of the turn. A turn that is over
// is settled once: by its text, by a recogniser that fails, or by a time limit.
//
//   turn.ended ─▶ ended ─▶ ┬─ text ────────▶ said
//                          ├─ not heard ───▶ unsaid
//                          └─ 8 s ─────────▶ unsaid
//
// Turns are settled in their order.
import { attempt, ParleyError, type Work } from '../errors.js';
import type { Time } from '../time.js';
import type { CallEvent } from './call-events.js';

/** A turn that is over. Times are in milliseconds of the monotonic clock. */
export interface EndedTurn {
  /** Its number in the call. */
  readonly number: number;
  readonly speechMs: number;
  /** From the end of the speech until the turn was found to be over. */
  readonly silenceMs: number;
  /** An order has ended it. */
  readonly isByOrder: boolean;
  /** It was over our voice, and somebody else has spoken. */
  readonly isDistant: boolean;
  readonly endOfSpeechMs: number;
  /** The turn was found to be over. */
  readonly decidedMs: number;
}

/** The words of a turn, which are an empty text if none were found. */
export interface TurnWords {
  readonly text: string;
  /** BCP 47 tag; undefined if it is not known. */
  readonly language: string | undefined;
  /** The words as they were recognised; absent where `text` has them. */
  readonly heard?: string;
}

/** A turn that is over, with its words. */
export interface CallerTurn extends EndedTurn, TurnWords {
  /** Its text was final. */
  readonly textMs: number;
}

/** `said` or `unsaid` follows each `turnEnded`, in the order of the turns. */
export interface TurnListener {
  turnEnded?(turn: EndedTurn): void;
  said?(turn: CallerTurn): void;
  /** The turn has no text, or not in time. Turns that one failure has lost have the same error object. */
  unsaid?(turn: EndedTurn, error: ParleyError): void;
}

interface OpenTurn {
  readonly turn: EndedTurn;
  readonly cancelLimit: () => void;
  /** How it was settled; it may wait for the turns before it. */
  outcome: TurnWords | ParleyError | undefined;
}

/** Milliseconds from the end of a turn to its text. A recogniser that takes longer is as good as lost. */
export const TEXT_MS = 8000;

const TEXTS: Work = { work: 'texts of the caller' };

/**
 * Tells each listener. One that throws keeps no other from it. One that is added or removed meanwhile is not
 * told.
 */
export function tellEach<T>(listeners: ReadonlySet<T>, tell: (listener: T) => void): void {
  const present = [...listeners];
  for (const listener of present) if (listeners.has(listener)) attempt(TEXTS, () => tell(listener));
}

export class CallerTurns {
  readonly #time: Time;
  readonly #listeners: ReadonlySet<TurnListener>;
  readonly #onLate: (turn: number) => void;
  #open: OpenTurn[] = [];

  /** `onLate` is called before the listeners when the text of a turn has not come in time. */
  constructor(
    time: Time,
    listeners: ReadonlySet<TurnListener>,
    onLate: (turn: number) => void = () => undefined,
  ) {
    this.#time = time;
    this.#listeners = listeners;
    this.#onLate = onLate;
  }

  /** A turn is over. */
  ended(event: Extract<CallEvent, { type: 'turn.ended' }>): void {
    const { turn: number, speechMs, silenceMs, reason, isDistant = false } = event;
    const decidedMs = this.#time.now();
    const times = { speechMs, silenceMs, endOfSpeechMs: decidedMs - silenceMs, decidedMs };
    const turn: EndedTurn = { number, ...times, isByOrder: reason === 'client', isDistant };
    const late = () => {
      this.#onLate(number);
      this.#settle(number, new ParleyError('TIMEOUT', 'the text came too late'));
    };
    this.#open.push({ turn, cancelLimit: this.#time.after(TEXT_MS, late), outcome: undefined });
    tellEach(this.#listeners, (listener) => listener.turnEnded?.(turn));
  }

  /** The final text of a turn has come. Without effect if the turn was settled before. */
  heard(turn: number, { text, language }: TurnWords): void {
    this.#settle(turn, { text, language });
  }

  /** No text comes of a turn. Without effect if the turn was settled before. */
  lost(turn: number, error: ParleyError): void {
    this.#settle(turn, error);
  }

  /** Nothing is told of the turns that wait. */
  close(): void {
    for (const { cancelLimit } of this.#open) cancelLimit();
    this.#open = [];
  }

  #settle(number: number, outcome: TurnWords | ParleyError): void {
    const open = this.#open.find(({ turn }) => turn.number === number);
    if (open === undefined) return;
    open.outcome ??= outcome;
    open.cancelLimit();
    while (this.#open[0]?.outcome !== undefined) this.#tell(this.#open.shift() as OpenTurn);
  }

  #tell({ turn, outcome }: OpenTurn): void {
    const textMs = this.#time.now();
    tellEach(this.#listeners, (listener) => {
      if (outcome instanceof ParleyError) listener.unsaid?.(turn, outcome);
      else if (outcome !== undefined) listener.said?.({ ...turn, ...outcome, textMs });
    });
  }
}
