// Computes how urgent the next sentence is: by when its listener will have heard everything that was made
// before it.
import type { SpeechClass, Urgency } from '../engines/engine.js';
import type { Time } from '../time.js';

/** The state of a pipeline's sound. */
interface SpeechProgress {
  /** The engine has got a sentence already. */
  readonly begun: boolean;
  /** Sound made, in milliseconds. */
  readonly madeMs: number;
  /** Milliseconds of it that the sink has not taken yet. */
  readonly waitingMs: number;
  /** When the sink took the first of it, in milliseconds of the monotonic clock. */
  readonly queuedAtMs: number | undefined;
}

/** Called for each sentence when the engine gets it. */
export type Pace = (progress: SpeechProgress) => Urgency;

// Assumed rest of a text, for the texts behind it in the same call. The real one is unknown, and they must
// not overtake it.
const UTTERANCE_MS = 1000;

/**
 * The pace of a call. Its playout knows the sound that is queued; `ahead` is the number of texts before this
 * one.
 */
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
 * The pace of a reply: its listener began with the first byte and has heard at most the time since. `dueAtMs`
 * is when the listener will have heard the streams that come before this one.
 */
export function replyPace(
  client: string,
  time: Time,
  {
    kind = 'http',
    dueAtMs,
  }: { readonly kind?: SpeechClass | undefined; readonly dueAtMs?: number | undefined } = {},
): Pace {
  return ({ begun, madeMs, queuedAtMs }) => ({
    class: kind,
    client,
    deadlineMs: Math.max(queuedAtMs ?? time.now(), dueAtMs ?? -Infinity) + madeMs,
    begun: begun || dueAtMs !== undefined,
  });
}

/** The pace of a prompt that the server prepares: it has no listener yet. */
export function preparedPace(client: string): Pace {
  return ({ begun }) => ({ class: 'http', client, deadlineMs: Infinity, begun, prepared: true });
}

// Brisk speech: the estimate for a text whose sound is still in progress. If it is too short, the next
// sentence is only more urgent than necessary.
const MS_PER_CHARACTER = 50;

interface Heard {
  readonly startMs: number;
  lengthMs: number;
}

/** Knows how far the listener of consecutive streams is: by when the next one must begin to sound. */
export class Listener {
  readonly #time: Time;
  readonly #speed: number;
  #last: Heard | undefined;

  constructor(time: Time, speed = 1) {
    this.#time = time;
    this.#speed = speed;
  }

  /** When everything handed over will have been heard, in milliseconds of the monotonic clock. */
  get dueAtMs(): number | undefined {
    return this.#last === undefined ? undefined : this.#last.startMs + this.#last.lengthMs;
  }

  /**
   * A stream with this text is handed over. Call the returned function with its length once that is known.
   */
  hears(text: string): (durationMs: number) => void {
    const startMs = Math.max(this.#time.now(), this.dueAtMs ?? -Infinity);
    const heard: Heard = { startMs, lengthMs: (text.length * MS_PER_CHARACTER) / this.#speed };
    this.#last = heard;
    return (durationMs) => void (heard.lengthMs = durationMs);
  }
}
