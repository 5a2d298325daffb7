// How much the next sentence of a line hurries: by when its listener will have
// heard everything that was made before it.
import type { SpeechClass, Urgency } from '../engines/urgency.js';
import type { Time } from '../time.js';

/** What a line tells of its sound so far. */
export interface LineProgress {
  /** Sentences were given to the engine already. */
  readonly begun: boolean;
  /** Sound made, in milliseconds. */
  readonly madeMs: number;
  /** Of that, what its sink has not taken yet. */
  readonly waitingMs: number;
  /** When the sink took the first of it, in milliseconds of the monotonic clock. */
  readonly queuedAtMs: number | undefined;
}

/** Asked for each sentence, when it is given to the engine. */
export type Pace = (line: LineProgress) => Urgency;

// What one text has still to say, for those behind it in the same call: nobody
// knows how much is to come, and they must not go before it.
const UTTERANCE_MS = 1000;

/** Of a call: its playout tells what it still has; `ahead` is the number of texts before this one. */
export function callPace(
  client: string,
  time: Time,
  playout: { stats(): { readonly queuedMs: number } },
  ahead: () => number,
): Pace {
  return ({ begun, waitingMs }) => ({
    class: 'call',
    client,
    deadlineMs: time.now() + playout.stats().queuedMs + waitingMs + ahead() * UTTERANCE_MS,
    begun,
  });
}

/**
 * Of a reply: its listener began with the first byte and has heard no more than time has passed since. Where other
 * streams come before it, `dueAtMs` is when the listener will have heard them.
 */
export function replyPace(
  client: string,
  time: Time,
  { kind = 'http', dueAtMs }: { readonly kind?: SpeechClass; readonly dueAtMs?: number } = {},
): Pace {
  return ({ begun, madeMs, queuedAtMs }) => ({
    class: kind,
    client,
    deadlineMs: Math.max(queuedAtMs ?? time.now(), dueAtMs ?? -Infinity) + madeMs,
    begun: begun || dueAtMs !== undefined,
  });
}

/** Of a prompt that the server prepares: it has no listener yet. */
export function preparedPace(client: string): Pace {
  return ({ begun }) => ({ class: 'http', client, deadlineMs: Infinity, begun, prepared: true });
}

// What a listener still has to hear when streams follow one another: by when
// the next one must begin to sound.

// Of a text whose sound is still being made: brisk speech. A guess that is too
// short only makes the next sentence hurry more than it has to.
const MS_PER_CHARACTER = 50;

interface Heard {
  readonly startMs: number;
  lengthMs: number;
}

export class Listener {
  readonly #time: Time;
  readonly #speed: number;
  #last: Heard | undefined;

  constructor(time: Time, speed = 1) {
    this.#time = time;
    this.#speed = speed;
  }

  /** When everything handed over so far will have been heard, in milliseconds of the monotonic clock. */
  get dueAtMs(): number | undefined {
    return this.#last === undefined ? undefined : this.#last.startMs + this.#last.lengthMs;
  }

  /** A stream that speaks this text is handed over; what is returned is told how long it turned out to be. */
  hears(text: string): (durationMs: number) => void {
    const startMs = Math.max(this.#time.now(), this.dueAtMs ?? -Infinity);
    const heard: Heard = { startMs, lengthMs: (text.length * MS_PER_CHARACTER) / this.#speed };
    this.#last = heard;
    return (durationMs) => void (heard.lengthMs = durationMs);
  }
}
