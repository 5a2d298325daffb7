// Tells once who has answered a call, in the words of Twilio, from the results of the detection of the call.
// https://www.twilio.com/docs/voice/answering-machine-detection
import type { AnswerDetected } from '../../call/call-events.js';
import type { AnswerRequest } from '../../call/phone-calls.js';
import type { Target } from '../../ivr/verbs.js';
import { stated } from '../../stated.js';
import type { Time } from '../../time.js';

export interface MachineDetectionOrder {
  /** The end of a machine's greeting is awaited. */
  readonly awaitsEnd: boolean;
  /** The program begins at once, and the callback is told of the result. */
  readonly isAsync: boolean;
  readonly callback: Target | undefined;
  readonly timeoutMs: number;
  readonly speechThresholdMs: number | undefined;
  readonly speechEndThresholdMs: number | undefined;
  readonly silenceTimeoutMs: number | undefined;
}

export type AnsweredBy =
  | 'human'
  | 'machine_start'
  | 'machine_end_beep'
  | 'machine_end_silence'
  | 'machine_end_other'
  | 'fax'
  | 'unknown';

export interface DetectedBy {
  readonly answeredBy: AnsweredBy;
  /** Milliseconds since the answer. */
  readonly ms: number;
}

export function answeredByOf(by: AnswerDetected['by']): AnsweredBy {
  switch (by) {
    case 'human':
    case 'fax':
      return by;
    case 'machine':
    case 'screening':
      return 'machine_start';
    case 'machine_beep':
      return 'machine_end_beep';
    case 'machine_silence':
      return 'machine_end_silence';
    case 'announcement':
    case 'tone':
    case 'silence':
    case 'unknown':
      return 'unknown';
  }
}

/** The detection of the call has its own limit; this one ends what it leaves open. */
const GRACE_MS = 1000;

/** The request to the detection of the call. */
export function answerRequest(order: MachineDetectionOrder): AnswerRequest {
  const { timeoutMs, speechThresholdMs, speechEndThresholdMs, silenceTimeoutMs } = order;
  return stated({ timeoutMs, speechThresholdMs, speechEndThresholdMs, silenceTimeoutMs });
}

export class MachineDetection {
  /** Never rejects. Pending for ever if the call ends before. */
  readonly result: Promise<DetectedBy>;
  readonly #order: MachineDetectionOrder;
  readonly #time: Time;
  readonly #cancelLimit: () => void;
  readonly #answeredMs: number;
  #isMachine = false;
  #resolve!: (result: DetectedBy) => void;

  /** The call has just been answered. */
  constructor(order: MachineDetectionOrder, time: Time) {
    this.#order = order;
    this.#time = time;
    this.#answeredMs = time.now();
    this.result = new Promise((resolve) => (this.#resolve = resolve));
    const late = () => this.#tell(this.#isMachine ? 'machine_end_other' : 'unknown');
    this.#cancelLimit = time.after(order.timeoutMs + GRACE_MS, late);
  }

  /** A result of the detection of the call. Results before the answer do not count. */
  take({ by, early }: AnswerDetected): void {
    if (early === true) return;
    const answeredBy = answeredByOf(by);
    const { awaitsEnd } = this.#order;
    if (answeredBy === 'machine_start' && awaitsEnd) this.#isMachine = true;
    else if (answeredBy.startsWith('machine') && !awaitsEnd) this.#tell('machine_start');
    else this.#tell(answeredBy === 'unknown' && this.#isMachine ? 'machine_end_other' : answeredBy);
  }

  /** Idempotent. */
  close(): void {
    this.#cancelLimit();
  }

  #tell(answeredBy: AnsweredBy): void {
    this.#cancelLimit();
    this.#resolve({ answeredBy, ms: Math.round(this.#time.now() - this.#answeredMs) });
  }
}
