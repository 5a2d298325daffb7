// What is said first in a call: before the answer, where the far end can hear us
// already, and once it is answered.
import type { Call } from '../../src/call/call.js';
import type { PhoneSpeech } from '../../src/call/phone-calls.js';
import type { Time } from '../../src/time.js';
import type { CallMedia } from '../media/call-media.js';
import type { InboundSession } from '../session/inbound-session.js';
import type { PhoneCall } from './phone-call.js';

type Action = (call: Call) => void;

export class Greeting {
  #early: Action | undefined;
  #first: Action | undefined;

  /** As soon as there is a call. */
  onceAudible(action: Action): void {
    this.#early = action;
  }

  /** Once it is answered. */
  onceTalking(action: Action): void {
    this.#first = action;
  }

  /** Says what it is time for, each of them once. */
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

// What a caller hears before the call is answered, or refused for good:
// ringing, or early media (RFC 3960).

export interface PreludePlan {
  /** 0 to 120,000. */
  readonly ringMs: number;
  /** Absent: it rings. */
  readonly early?: {
    readonly speech: PhoneSpeech;
    /** It is heard to its end before the answer; otherwise it goes on through it. */
    readonly whole: boolean;
  };
}

export interface PreludeParts {
  readonly plan: PreludePlan;
  readonly phone: PhoneCall;
  readonly session: InboundSession;
  readonly media: CallMedia;
  readonly time: Time;
  /** It is time to answer, or to refuse; never told where the call ends before. */
  readonly over: () => void;
}

const MOST_SPOKEN_MS = 60_000; // of early media, from its beginning
/**
 * For media to be agreed on, which takes a PRACK where the INVITE has no offer, and for the caller to show that it gets
 * what is sent to it.
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

  /** To be called once, when the phone call has its leg. */
  start(): void {
    const { plan, phone, session, media } = this.#parts;
    void phone.over.then(() => this.#close());
    if (plan.early === undefined) {
      if (plan.ringMs > 0) session.ring({ reliably: true });
    } else {
      this.#heard = !plan.early.whole;
      if (session.progress(media).refusal !== undefined) return;
      const callOff = this.#after(MOST_WAITED_MS, () => this.#silent());
      const speak = (): void => {
        callOff();
        this.#speak();
      };
      // What goes on through the answer waits for it; what is heard before it begins when it can be heard.
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
      this.#silent(); // an engine that is gone: what comes after it says so
    }
  }

  #hasRung(): void {
    this.#rung = true;
    this.#check();
  }

  /** What is to be heard to its end is over, or has taken too long, or there is nobody to hear it. */
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
    const callOff = this.#parts.time.after(ms, () => {
      this.#timers.delete(callOff);
      action();
    });
    this.#timers.add(callOff);
    return () => {
      callOff();
      this.#timers.delete(callOff);
    };
  }

  #close(): void {
    this.#over = true;
    for (const callOff of this.#timers) callOff();
    this.#timers.clear();
  }
}
