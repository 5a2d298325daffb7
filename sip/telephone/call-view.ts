// Builds what applications see of a telephone call, and the record of a finished one, from its times and
// figures.
import type { Call } from '../../src/call/call.js';
import type {
  CallRecord,
  PhoneCallEnd,
  PhoneCallState,
  PhoneCallView,
  PressedDigit,
} from '../../src/call/phone-calls.js';
import type { Time } from '../../src/time.js';
import type { CallFigures } from '../media/call-figures.js';
import type { Leg } from './leg.js';

export interface PhoneCallInfo {
  readonly id: string;
  readonly owner?: string;
  readonly direction: 'inbound' | 'outbound';
  readonly to: string;
  readonly from: string;
  readonly displayName?: string;
  /** Header fields of an inbound INVITE that applications may see. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly route?: string;
}

/** The parts of a call that its view and record share. */
export interface PhoneFacts {
  readonly info: PhoneCallInfo;
  readonly times: CallTimes;
  readonly leg: Leg | undefined;
  readonly digits: readonly PressedDigit[];
}

export function viewOf(
  { info, times, leg, digits }: PhoneFacts,
  state: PhoneCallState,
  call: Call | undefined,
  end: PhoneCallEnd | undefined,
): PhoneCallView {
  const { id, owner, direction, to, from, displayName, headers } = info;
  const trunk = leg?.trunk?.();
  const srtp = leg?.media.figures().srtp;
  return {
    id,
    direction,
    to,
    from,
    state,
    ...times.view,
    digits: [...digits],
    ...(owner === undefined ? {} : { owner }),
    ...(displayName === undefined ? {} : { displayName }),
    ...(headers === undefined ? {} : { headers }),
    ...(trunk === undefined ? {} : { trunk }),
    ...(call === undefined ? {} : { codec: call.codec.name }),
    ...(srtp === undefined || call === undefined ? {} : { srtp }),
    ...(end === undefined ? {} : { end }),
  };
}

/** Figures after everything was closed. */
interface LastFigures {
  readonly end: PhoneCallEnd;
  readonly media: CallFigures | undefined;
  readonly sent: ReturnType<Call['stats']> | undefined;
  readonly transferredTo: string | undefined;
}

export function recordOf(
  { info, times, leg, digits }: PhoneFacts,
  { end, media, sent, transferredTo }: LastFigures,
): CallRecord {
  const { id, direction, from, to, headers, route } = info;
  const trunk = leg?.trunk?.();
  const callId = leg?.session.dialog?.callId;
  return {
    id,
    door: 'sip',
    direction,
    from,
    to,
    end,
    ...times.record,
    digits: digits.length,
    ...(callId === undefined ? {} : { callId }),
    ...(trunk === undefined ? {} : { trunk }),
    ...(headers === undefined ? {} : { headers }),
    ...(route === undefined ? {} : { route }),
    ...(media === undefined
      ? {}
      : { codec: media.codec, srtp: media.srtp, received: media.received, remote: media.remote }),
    ...(sent === undefined
      ? {}
      : { sent: { packets: sent.packets, silencePackets: sent.silencePackets, underruns: sent.underruns } }),
    ...(transferredTo === undefined ? {} : { transferredTo }),
  };
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
  }

  get view(): Pick<CallRecord, 'answeredAt'> & { readonly createdAt: number; readonly endedAt?: number } {
    return {
      createdAt: this.createdAt,
      ...(this.#answeredAt === undefined ? {} : { answeredAt: this.#answeredAt }),
      ...(this.#endedAt === undefined ? {} : { endedAt: this.#endedAt }),
    };
  }

  get record(): Pick<CallRecord, 'startedAt' | 'answeredAt' | 'endedAt' | 'setupMs' | 'firstAudioMs'> {
    const { createdAt: startedAt, endedAt = this.#wallMs(), answeredAt } = this.view;
    return {
      startedAt,
      endedAt,
      ...(answeredAt === undefined ? {} : { answeredAt }),
      ...(this.#setupMs === undefined ? {} : { setupMs: this.#setupMs }),
      ...(this.#firstAudioMs === undefined ? {} : { firstAudioMs: this.#firstAudioMs }),
    };
  }
}
