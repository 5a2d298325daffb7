// Telephone calls as an application drives them: placed, spoken into, watched
// and ended. A door implements it (sip/), another offers it (src/http).
import type { CodecName } from '../codecs/codec.js';
import type { ErrorCode } from '../errors.js';
import type { Lexicon } from '../text/lexicon.js';
import type { CallEvent, Interruption } from './call.js';
import type { TextFormat } from '../speaking/text-format.js';

/**
 *   dialling ─▶ ringing ─▶ connected ◀─▶ held
 *       └──────────┴───────────┴──────────┴────▶ ended
 *
 * A call that came in begins with ringing.
 */
export type PhoneCallState = 'dialling' | 'ringing' | 'connected' | 'held' | 'ended';

export interface PhoneSpeech {
  readonly text: string;
  readonly voice?: string;
  /** BCP 47 tag. */
  readonly language?: string;
  /** `auto` where absent. */
  readonly format?: TextFormat;
  /** How words of the text are said. */
  readonly lexicon?: Lexicon;
}

export interface PhoneCallRequest {
  /** Name of the API key that the call belongs to; absent: to every key. */
  readonly owner?: string;
  /** A SIP or tel URI, or a number that the trunk's domain completes. */
  readonly to: string;
  /** The same for the caller; that of the trunk, if absent. */
  readonly from?: string;
  readonly displayName?: string;
  /** Name of a configured trunk; absent: the first that works. */
  readonly trunk?: string;
  /** What is spoken once the call is answered. */
  readonly say?: PhoneSpeech & {
    /** What happens when it was heard; stay, if absent. */
    readonly after?: 'stay' | 'hangup';
  };
  /** The agent backend that talks. */
  readonly agent?: string;
  /** Further header fields of the INVITE; names that SIP itself needs are refused. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Milliseconds until the call is given up unanswered; 60,000 if absent. */
  readonly ringTimeoutMs?: number;
  /** Preferred first; those of the server, if absent. */
  readonly codecs?: readonly CodecName[];
}

/** Why a call is over. */
export interface PhoneCallEnd {
  /**
   * `peer hung up`: the far end ended it, whichever side had begun it; `cancelled`: whoever began it gave it up before
   * the answer; `rejected`: the side that was called said no; `failed`: the far end could not be reached or was lost.
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
  /** Of the response or of the Reason field, where there was one. */
  readonly status?: number;
  /** Of Q.850. */
  readonly cause?: number;
  /** In words of this server. */
  readonly detail?: string;
}

export interface PressedDigit {
  /** 0-9, *, #, A-D. */
  readonly digit: string;
  readonly durationMs: number;
  /** Milliseconds since 1970. */
  readonly at: number;
}

export interface PhoneCallView {
  readonly id: string;
  /** Name of the API key that the call belongs to; absent: to every key. */
  readonly owner?: string;
  readonly direction: 'inbound' | 'outbound';
  readonly state: PhoneCallState;
  readonly to: string;
  readonly from: string;
  readonly displayName?: string;
  /** Header fields of the INVITE of an inbound call, by name, as SIP_CALL_HEADERS lets them through. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly trunk?: string;
  readonly codec?: CodecName;
  /** Whether media is encrypted, once it flows. */
  readonly srtp?: 'none' | 'sdes' | 'dtls';
  /** All of them milliseconds since 1970. */
  readonly createdAt: number;
  readonly answeredAt?: number;
  readonly endedAt?: number;
  readonly end?: PhoneCallEnd;
  /** The latest ones, oldest first; at most 1000. */
  readonly digits: readonly PressedDigit[];
}

/** What happens in a call, in order. `id` counts from 1 within the call, so that a reader can go on where it stopped. */
export type PhoneCallEvent = { readonly id: number; readonly at: number } & (
  | {
      readonly type: 'state';
      readonly state: PhoneCallState;
      /** Of the first state of an inbound call. */
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
  /** In RTP (RFC 4733) where the far end can take it, in INFO otherwise; or as stated. */
  readonly by?: 'rtp' | 'info';
}

export interface TransferRequest {
  /** Blind: where to. */
  readonly to?: string;
  /** Attended: the id of another connected call of this server, whose far end is joined to this one's. */
  readonly call?: string;
}

export interface TransferOutcome {
  /** The transfer succeeded: the last status is 2xx. This call is then over; otherwise it goes on. */
  readonly accepted: boolean;
  /** The last status that was told of it: by NOTIFY, or by the response to REFER where that refused. */
  readonly status: number;
}

/** Sound that was decoded already, to be played as it is. */
export interface PlayedSound {
  /** Mono, in [-1, 1]. */
  readonly samples: Float32Array;
  /** Hz. */
  readonly sampleRate: number;
  /** Times that it is played; 1 if absent. */
  readonly times?: number;
}

/**
 * All reject or throw NOT_FOUND for a call that nobody knows, WRONG_STATE where the state forbids it, INVALID_FIELD
 * with the field, and what Call.speak throws.
 */
export interface PhoneCalls {
  /** Resolves as soon as the call is on its way. Also FORBIDDEN for a destination that is not allowed, CALL_LIMIT, RATE_LIMITED, ENGINE_UNAVAILABLE. */
  place(request: PhoneCallRequest): Promise<PhoneCallView>;
  /** Those that ended lately are still known. Newest first. */
  list(): readonly PhoneCallView[];
  get(id: string): PhoneCallView;
  say(id: string, speech: PhoneSpeech): { readonly utterance: number };
  play(id: string, sound: PlayedSound): { readonly utterance: number };
  interrupt(id: string): Interruption;
  /** Resolves when the last digit was handed to the far end's wire. */
  press(id: string, request: DigitsRequest): Promise<void>;
  hold(id: string, held: boolean): Promise<PhoneCallView>;
  transfer(id: string, request: TransferRequest): Promise<TransferOutcome>;
  /** Ends it, in whatever state; resolves when the far end was told. */
  hangUp(id: string): Promise<PhoneCallView>;
  /**
   * Events after number `after` (0: all that are kept, at most 1000), then each as it comes. The last one is the state
   * `ended`. The function returned stops it.
   */
  follow(id: string, after: number, told: (event: PhoneCallEvent) => void): () => void;
}

/** Statuses by which an HTTP door answers what can go wrong are its own; these are the codes. */
export type PhoneCallFailure = Extract<
  ErrorCode,
  'NOT_FOUND' | 'WRONG_STATE' | 'INVALID_FIELD' | 'CALL_LIMIT' | 'RATE_LIMITED' | 'CALL_CLOSED' | 'QUEUE_FULL'
>;
