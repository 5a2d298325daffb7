// Builds what applications see of a telephone call, and the record of a finished one, from its times and
// figures.
import type { Call } from '../../src/call/call.js';
import type {
  CallRecord,
  PhoneCallAnswer,
  PhoneCallEnd,
  PhoneCallState,
  PhoneCallView,
  PressedDigit,
} from '../../src/call/phone-calls.js';
import type { Time } from '../../src/time.js';
import { stated } from '../../src/stated.js';
import type { CallFigures } from '../media/call-figures.js';
import type { Leg } from './leg.js';

/** Fields of a view that change, or are known once the call has a leg. */
type Followed =
  | (
      | 'protocol'
      | 'state'
      | 'digits'
      | 'callId'
      | 'trunk'
      | 'codec'
      | 'srtp'
      | 'end'
      | 'answer'
      | 'recordings'
    )
  | ('createdAt' | 'answeredAt' | 'endedAt');

/** The other fields of a view, which are known from the start. */
export type PhoneCallInfo = {
  readonly [Name in keyof Omit<PhoneCallView, Followed>]: undefined extends PhoneCallView[Name]
    ? PhoneCallView[Name] | undefined
    : PhoneCallView[Name];
};

/** The parts of a call that its view and record share. */
export interface PhoneFacts {
  readonly info: PhoneCallInfo;
  readonly times: CallTimes;
  readonly leg: Leg | undefined;
  readonly digits: readonly PressedDigit[];
  /** The detected kind of answerer; absent: none was detected. */
  readonly answer: PhoneCallAnswer | undefined;
}

export function viewOf(
  { info, times, leg, digits, answer }: PhoneFacts,
  state: PhoneCallState,
  call: Call | undefined,
  end: PhoneCallEnd | undefined,
): PhoneCallView {
  return stated({
    ...info,
    state,
    ...times.view,
    digits: [...digits],
    callId: leg?.session.dialog?.callId,
    trunk: leg?.trunk?.(),
    codec: call?.codec.name,
    srtp: call && leg?.media.figures().srtp,
    end,
    answer,
    recordings: call?.recordings,
  });
}

/** Figures after everything was closed. */
interface LastFigures {
  readonly end: PhoneCallEnd;
  readonly media: CallFigures | undefined;
  readonly sent: ReturnType<Call['stats']> | undefined;
  readonly transferredTo: string | undefined;
  readonly recordings: readonly string[] | undefined;
}

export function recordOf(
  { info, times, leg, digits, answer }: PhoneFacts,
  { end, media, sent, transferredTo, recordings }: LastFigures,
): CallRecord {
  const { id, direction, from, to, headers, route } = info;
  const trunk = leg?.trunk?.();
  const callId = leg?.session.dialog?.callId;
  return stated({
    id,
    protocol: 'sip',
    direction,
    from,
    to,
    end,
    ...times.record,
    digits: digits.length,
    answer,
    callId,
    trunk,
    headers,
    route,
    codec: media?.codec,
    srtp: media?.srtp,
    received: media?.received,
    remote: media?.remote,
    sent: sent && { packets: sent.packets, silencePackets: sent.silencePackets, underruns: sent.underruns },
    recordings,
    transferredTo,
  });
}

// The times of a call's events, for its view and its record.

export class CallTimes {
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly #time: Time;
  readonly #wallMs: () => number;
  readonly #createdMs: number;
  #setupMs: number | undefined;
  #answeredMs: number | undefined;
  #answeredAt: number | undefined;
  #firstAudioMs: number | undefined;
  #endedAt: number | undefined;
  #endedMs: number | undefined;

  /** Starts when the INVITE arrives or is sent. */
  constructor(time: Time, wallMs: () => number) {
    this.#time = time;
    this.#wallMs = wallMs;
    this.createdAt = wallMs();
    this.#createdMs = time.now();
  }

  get answered(): boolean {
    return this.#answeredMs !== undefined;
  }

  /** The INVITE has its final response; the first call counts. */
  settled(): void {
    this.#setupMs ??= this.#time.now() - this.#createdMs;
  }

  established(): void {
    this.settled();
    this.#answeredMs = this.#time.now();
    this.#answeredAt = this.#wallMs();
  }

  /** Speech begins; early media does not count. */
  spoke(): void {
    if (this.#answeredMs !== undefined) this.#firstAudioMs ??= this.#time.now() - this.#answeredMs;
  }

  ended(): void {
    this.#endedAt ??= this.#wallMs();
    this.#endedMs ??= this.#time.now();
  }

  /** Fields of the view; undefined before their event. */
  get view() {
    return { createdAt: this.createdAt, answeredAt: this.#answeredAt, endedAt: this.#endedAt };
  }

  /** Fields of the record; undefined if their event did not happen. */
  get record() {
    const { createdAt: startedAt, endedAt = this.#wallMs(), answeredAt } = this.view;
    const endedMs = this.#endedMs ?? this.#time.now();
    return {
      startedAt,
      endedAt,
      answeredAt,
      totalMs: endedMs - this.#createdMs,
      setupMs: this.#setupMs,
      firstAudioMs: this.#firstAudioMs,
      connectedMs: this.#answeredMs === undefined ? undefined : endedMs - this.#answeredMs,
    };
  }
}
