// What is left of a call when it is over: one line of the log, one webhook.
import type { CodecName } from '../codecs/codec.js';
import type { PhoneCallEnd } from './phone-calls.js';

export interface CallRecord {
  readonly id: string;
  readonly door: string;
  readonly direction: 'inbound' | 'outbound';
  /** Of SIP. */
  readonly callId?: string;
  readonly from?: string;
  readonly to?: string;
  /** Header fields of the INVITE of an inbound call, as applications are shown them. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly trunk?: string;
  /** Name of the route that answered it. */
  readonly route?: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly answeredAt?: number;
  readonly endedAt: number;
  readonly end: PhoneCallEnd;
  readonly codec?: CodecName;
  readonly srtp?: 'none' | 'sdes' | 'dtls';
  /** INVITE to its final response; answer to the first packet of speech. */
  readonly setupMs?: number;
  readonly firstAudioMs?: number;
  readonly sent?: { readonly packets: number; readonly silencePackets: number; readonly underruns: number };
  readonly received?: {
    readonly packets: number;
    /** Of 1. */
    readonly loss: number;
    readonly jitterMs: number;
    readonly mos: number;
  };
  /** As the far end reports it. */
  readonly remote?: { readonly loss: number; readonly jitterMs: number; readonly rttMs: number | null };
  readonly digits: number;
  readonly transferredTo?: string;
}
