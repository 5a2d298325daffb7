// Plays what a caller hears first: ringing or early media before the answer (RFC 3960), and the first words
// after it.
import type { Call } from '../../src/call/call.js';
import type { CallText } from '../../src/call/phone-calls.js';
import type { Utterance } from '../../src/call/utterance.js';
import type { Time } from '../../src/time.js';
import type { CallMedia } from '../media/call-media.js';
import type { InboundSession } from '../session/inbound-session.js';

type Action = (call: Call) => void;

export class Greeting {
  #early: Action | undefined;
  #first: Action | undefined;

  /** Runs `action` as soon as there is a call. */
  onceAudible(action: Action): void {
    this.#early = action;
  }

  /** Runs `action` once the call is answered. */
  onceTalking(action: Action): void {
    this.#first = action;
  }

  /** Runs the actions that are due, each of them once. */
  say(call: Call, isAnswered: boolean): void {
    const [early, first] = [this.#early, isAnswered ? this.#first : undefined];
    this.#early = undefined;
    if (first !== undefined) this.#first = undefined;
    early?.(call);
    first?.(call);
  }

  forget(): void {
    this.#early = undefined;
    this.#first = undefined;
  }
}

// Rings, or plays early media, until it is time to answer or to refuse.

export interface PreludePlan {
  /** 0 to 120,000. */
  readonly ringMs: number;
  /** Absent: ringing. */
  readonly early?: {
    readonly speech: CallText;
    /** True: it is heard to its end before the answer. False: it continues through the answer. */
    readonly whole: boolean;
  };
}

/** The parts of a telephone call that its prelude uses. */
interface GreetedCall {
  readonly over: Promise<unknown>;
  readonly call: Pick<Call, 'interrupt'> | undefined;
  onceAudible(action: () => void): void;
  speakEarly(speech: CallText): Pick<Utterance, 'ended'>;
}

interface PreludeParts {
  readonly plan: PreludePlan;
  readonly phone: GreetedCall;
  readonly session: InboundSession;
  readonly media: CallMedia;
  readonly time: Time;
  /** Called when it is time to answer or to refuse; never if the call ends before. */
  readonly over: () => void;
}

const MOST_SPOKEN_MS = 60_000; // limit of early media, from its beginning
/**
 * Time for the media to be agreed on (by a PRACK if the INVITE has no offer) and for the caller to show that
 * our packets arrive.
 */
const MOST_WAITED_MS = 5000;

export class Prelude {
  readonly #parts: PreludeParts;
  readonly #timers = new Set<() => void>();
  #rung = false;
  #heard = true;
  #over = false;

  constructor(parts: PreludeParts) {
    this.#parts = parts;
  }

  /** Call it once, when the phone call has its leg. */
  start(): void {
    const { plan, phone, session, media } = this.#parts;
    void phone.over.then(() => this.#close());
    if (plan.early === undefined) {
      if (plan.ringMs > 0) session.ring({ reliably: true });
    } else {
      this.#heard = !plan.early.whole;
      media.onUnacknowledged = () => this.#silent(); // the caller would hear no more before the answer
      if (session.progress(media).refusal !== undefined) return;
      const cancelTimer = this.#after(MOST_WAITED_MS, () => this.#silent());
      const speak = (): void => {
        cancelTimer();
        this.#speak();
      };
      // Speech that continues through the answer waits for it. Speech that ends before the answer begins once
      // it can be heard.
      phone.onceAudible(plan.early.whole ? () => media.onceConfirmed(speak) : speak);
    }
    if (plan.ringMs === 0) this.#hasRung();
    else this.#after(plan.ringMs, () => this.#hasRung());
  }

  #speak(): void {
    const { plan, phone } = this.#parts;
    if (plan.early === undefined) return;
    const { speech, whole } = plan.early;
    if (whole && this.#over) return;
    if (!whole) return void phone.speakEarly(speech);
    this.#after(MOST_SPOKEN_MS, () => this.#silent());
    try {
      void phone.speakEarly(speech).ended.then(() => this.#silent());
    } catch {
      this.#silent(); // the engine is gone: the answer reports it
    }
  }

  #hasRung(): void {
    this.#rung = true;
    this.#check();
  }

  /** The early media has ended, has taken too long, or cannot be heard. */
  #silent(): void {
    this.#heard = true;
    this.#check();
  }

  #check(): void {
    if (!this.#rung || !this.#heard || this.#over) return;
    const { phone, session, plan, over } = this.#parts;
    this.#close();
    if (session.state === 'ended') return;
    if (plan.early?.whole === true) phone.call?.interrupt('early media over');
    over();
  }

  #after(ms: number, action: () => void): () => void {
    const cancelTimer = this.#parts.time.after(ms, () => {
      this.#timers.delete(cancelTimer);
      action();
    });
    this.#timers.add(cancelTimer);
    return () => {
      cancelTimer();
      this.#timers.delete(cancelTimer);
    };
  }

  #close(): void {
    this.#over = true;
    for (const cancelTimer of this.#timers) cancelTimer();
    this.#timers.clear();
  }
}
