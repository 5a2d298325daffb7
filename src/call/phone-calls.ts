// Contract of telephone calls: an application places them, speaks into them, watches them and ends them. The
// room sip implements it, src/api offers it over HTTP, and src/observe reports each call that ended.
import type { Country } from '../audio/country-tones.js';
import type { CodecName, SdpCodecName } from '../codecs/codec.js';
import type { TextRequest } from '../speaking/speech-request.js';
import type { PlayedSound } from '../speaking/speech-piece.js';
import type { HearingSettings } from '../config/hearing-config.js';
import type { RelayConfig } from '../config/relay-config.js';
import type { AnswerSettings } from './answer-detector.js';
import type { AnswerDetected, CallEvent } from './call-events.js';
import type { ProgramSource } from '../config/ivr-config.js';
import type { Interruptible } from './utterance.js';
import type { Interruption } from './utterance-queue.js';

/**
 *   dialling ─▶ ringing ─▶ connected ◀─▶ held
 *       └──────────┴───────────┴──────────┴────▶ ended
 *
 * A call that came in begins with ringing.
 */
export type PhoneCallState = 'dialling' | 'ringing' | 'connected' | 'held' | 'ended';

/** A text to speak in a call. */
export interface CallText extends TextRequest {
  /** `none`, if absent. */
  readonly interruptible?: Interruptible;
}

/** Settings of the detection of who answers; absent ones have their usual value. */
export interface AnswerRequest extends Partial<AnswerSettings> {
  /** BCP 47 tag of the far end's greeting, for the recogniser; absent: it is found. */
  readonly language?: string;
  /** The country of the tones of the network; the United States, if absent. */
  readonly country?: Country;
  /** Spoken to a service that screens calls; absent: it gets no answer. */
  readonly screening?: CallText;
}

/** The way by which a call came, for calls that are placed on its behalf: loops between servers end. */
export interface CallPath {
  /** Hops that a call on its behalf may take (Max-Forwards); below 1: none. */
  readonly hops: number;
  /** Entries of History-Info (RFC 7044). The last one is the address that was called. */
  readonly history: readonly string[];
}

export interface PhoneCallRequest {
  /** Name of the API key that the call belongs to; absent: to every key. */
  readonly owner?: string | undefined;
  /** Id of the call whose program places this one; absent: none does. */
  readonly parent?: string | undefined;
  /** A SIP or tel URI, or a number that the trunk's domain completes. */
  readonly to: string;
  /** URI or number of the caller; that of the trunk, if absent. */
  readonly from?: string;
  readonly displayName?: string;
  /** Name of a configured trunk; absent: the first that works. */
  readonly trunk?: string;
  /** Spoken once the call is answered. */
  readonly say?: CallText & {
    /** Done when it was heard; `stay` if absent. */
    readonly after?: 'stay' | 'hangup';
  };
  /** Name of the agent that talks. */
  readonly agent?: string;
  /** The application that talks; not together with an agent. */
  readonly relay?: RelayConfig;
  /** The program that conducts the call once it is answered; not together with an agent. */
  readonly program?: ProgramSource;
  /** Further header fields of the INVITE; names that SIP itself needs are refused. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Milliseconds until the call is given up unanswered; 60,000 if absent. */
  readonly ringTimeoutMs?: number;
  /** The way of the call on whose behalf this one is placed; absent: of none. */
  readonly path?: CallPath;
  /** Preferred first; those of the server, if absent. */
  readonly codecs?: readonly SdpCodecName[];
  /** It is detected who answers; absent: it is not. */
  readonly detect?: AnswerRequest;
}

/** The latest result of the detection of who has answered. */
export type PhoneCallAnswer = Omit<AnswerDetected, 'type'>;

/** The reason why a call ended. */
export interface PhoneCallEnd {
  /**
   * `peer hung up`: the far end ended it, whichever side had begun it; `cancelled`: the calling side gave it
   * up before the answer; `rejected`: the called side refused; `failed`: the far end could not be reached or
   * was lost.
   */
  readonly reason:
    | 'peer hung up'
    | 'we hung up'
    | 'cancelled'
    | 'rejected'
    | 'no answer'
    | 'failed'
    | 'transferred'
    | 'media timeout'
    | 'silence'
    | 'server closing';
  /** Status of the response or of the Reason field, if there was one. */
  readonly status?: number;
  /** Cause code of Q.850. */
  readonly cause?: number;
  /** Explanation in words of this server. */
  readonly detail?: string;
}

export interface PressedDigit {
  /** 0-9, *, #, A-D. */
  readonly digit: string;
  /** Absent where the protocol of the call does not tell it. */
  readonly durationMs?: number;
  /** Milliseconds since 1970. */
  readonly at: number;
}

export interface PhoneCallView {
  readonly id: string;
  /** Name of the API key that the call belongs to; absent: to every key. */
  readonly owner?: string;
  /** Id of the call whose program has placed this one; absent: none has. */
  readonly parent?: string;
  readonly direction: 'inbound' | 'outbound';
  readonly state: PhoneCallState;
  /** `audiosocket`, `websocket`, or `room` for an agent in one; absent: SIP. */
  readonly protocol?: string;
  /** Empty where the protocol of the call does not tell it. */
  readonly to: string;
  readonly from: string;
  readonly displayName?: string;
  /** Header fields of the INVITE of an inbound call, by name, as SIP_CALL_HEADERS lets them through. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Call-ID of its dialog. */
  readonly callId?: string;
  /** Name of the route that answered the call. */
  readonly route?: string;
  readonly trunk?: string;
  readonly codec?: CodecName;
  /** Encryption of the media, once it flows. */
  readonly srtp?: 'none' | 'sdes' | 'dtls';
  /** All of them milliseconds since 1970. */
  readonly createdAt: number;
  readonly answeredAt?: number;
  readonly endedAt?: number;
  readonly end?: PhoneCallEnd;
  /** The detected kind of answerer; absent: none was detected. */
  readonly answer?: PhoneCallAnswer;
  /** Names of its recordings, oldest first; absent: it was not recorded. */
  readonly recordings?: readonly string[];
  /** The latest ones, oldest first; at most 1000. */
  readonly digits: readonly PressedDigit[];
}

/**
 * An event of a call, in order. `id` counts from 1 within the call, so that a reader can go on where it
 * stopped.
 */
export type PhoneCallEvent = { readonly id: number; readonly at: number } & (
  | {
      readonly type: 'state';
      readonly state: PhoneCallState;
      /** Present in the first state of an inbound call. */
      readonly headers?: Readonly<Record<string, string>>;
      readonly end?: PhoneCallEnd;
    }
  | { readonly type: 'digit'; readonly digit: string; readonly durationMs: number }
  | { readonly type: 'transfer'; readonly status: number; readonly done: boolean }
  | { readonly type: 'speech'; readonly event: CallEvent }
);

export interface DigitsRequest {
  /** 0-9, *, #, A-D; `,` waits half a second. At most 64. */
  readonly digits: string;
  readonly durationMs?: number;
  readonly pauseMs?: number;
  /**
   * If absent: RTP (RFC 4733) if the far end supports it, otherwise INFO, and tones in the sound if it
   * refuses both.
   */
  readonly by?: 'rtp' | 'info' | 'audio';
}

export interface TransferRequest {
  /** Target of a blind transfer. */
  readonly to?: string;
  /** True: its target must be a destination that SIP_DESTINATIONS allows, otherwise FORBIDDEN. */
  readonly isLimited?: boolean;
  /**
   * Attended transfer: the id of another connected call of this server, whose far end is joined to this
   * one's.
   */
  readonly call?: string;
}

export interface TransferOutcome {
  /** The transfer succeeded: the last status is 2xx. This call is then over; otherwise it goes on. */
  readonly accepted: boolean;
  /** The last status that the far end reported: in a NOTIFY, or in a response that refused the REFER. */
  readonly status: number;
}

/**
 * Every method rejects or throws NOT_FOUND for an unknown call, WRONG_STATE if the state forbids the request,
 * INVALID_FIELD with the field, and what Call.speak throws.
 */
export interface PhoneCalls {
  /** False if `place` always throws TELEPHONE_OFF. */
  readonly canPlace?: boolean;
  /**
   * Resolves as soon as the call is on its way. Also rejects with FORBIDDEN for a destination that is not
   * allowed, CALL_LOOP for one on the `path`, CALL_LIMIT, RATE_LIMITED and ENGINE_UNAVAILABLE.
   */
  place(request: PhoneCallRequest): Promise<PhoneCallView>;
  /** Open calls and those that ended recently, newest first. */
  list(): readonly PhoneCallView[];
  get(id: string): PhoneCallView;
  say(id: string, speech: CallText): { readonly utterance: number };
  play(id: string, sound: PlayedSound, interruptible?: Interruptible): { readonly utterance: number };
  /** See Call.listen. */
  listen(id: string, settings: Partial<HearingSettings> | undefined): void;
  interrupt(id: string): Interruption;
  /** Resolves when the last digit was sent. */
  press(id: string, request: DigitsRequest): Promise<void>;
  hold(id: string, held: boolean): Promise<PhoneCallView>;
  transfer(id: string, request: TransferRequest): Promise<TransferOutcome>;
  /** Ends the call in any state; resolves when the far end was notified. */
  hangUp(id: string): Promise<PhoneCallView>;
  /**
   * Calls `onEvent` with the events after number `after` (0: all that are kept, at most 1000), then with each
   * new one. The last one is the state `ended`. The returned function stops it.
   */
  follow(id: string, after: number, onEvent: (event: PhoneCallEvent) => void): () => void;
}

/** Summary of a call that ended: the source of one log line and one webhook. */
export interface CallRecord {
  readonly id: string;
  readonly protocol: string;
  readonly direction: 'inbound' | 'outbound';
  /** Call-ID of SIP. */
  readonly callId?: string;
  readonly from?: string;
  readonly to?: string;
  /** Header fields of the INVITE of an inbound call, as SIP_CALL_HEADERS lets them through. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly trunk?: string;
  /** Name of the route that answered the call. */
  readonly route?: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly answeredAt?: number;
  readonly endedAt: number;
  readonly end: PhoneCallEnd;
  readonly codec?: CodecName;
  readonly srtp?: 'none' | 'sdes' | 'dtls';
  /** From the INVITE to its final response. */
  readonly setupMs?: number;
  /** From the INVITE to the end, by the monotonic clock; the times above are for readers. */
  readonly totalMs: number;
  /** From the answer to the end; absent: not answered. */
  readonly connectedMs?: number;
  /** From the answer to the first packet of speech. */
  readonly firstAudioMs?: number;
  readonly sent?: { readonly packets: number; readonly silencePackets: number; readonly underruns: number };
  readonly received?: {
    readonly packets: number;
    /** Fraction of the packets, 0 to 1. */
    readonly loss: number;
    readonly jitterMs: number;
    readonly mos: number;
  };
  /** Our sound as the far end reported it. */
  readonly remote?: {
    readonly loss: number;
    readonly jitterMs: number;
    readonly rttMs: number | null;
    readonly mos: number;
  };
  readonly digits: number;
  /** The detected kind of answerer; absent: none was detected. */
  readonly answer?: PhoneCallAnswer;
  /** Names of its recordings, oldest first; absent: it was not recorded. */
  readonly recordings?: readonly string[];
  readonly transferredTo?: string;
}
