// Contract of those who conduct calls: an agent gets each call that it is to talk in, with what may be done
// with its far end. src/agents implements it; the rooms sip and signaling give it their calls.
import type { RelayConfig } from '../config/relay-config.js';
import type { ParleyError } from '../errors.js';
import type { Call } from './call.js';
import type { CallPath, DigitsRequest, TransferOutcome, TransferRequest } from './phone-calls.js';

/** The leg of a telephone call: what can be done with its far end beyond what every call can do. */
interface TelephoneLeg {
  /** See PhoneCalls.press. */
  press(request: DigitsRequest): Promise<void>;
  /** See PhoneCalls.transfer. */
  transfer(request: TransferRequest): Promise<TransferOutcome>;
  /** The silence limit of the call does not run until the returned function is called. */
  suspendSilence(): () => void;
}

/** A call that talks, or is about to. */
export interface HandledCall {
  readonly call: Call;
  readonly direction: 'inbound' | 'outbound';
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly displayName?: string | undefined;
  /** Header fields of the INVITE that applications may see. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Call-ID of SIP. */
  readonly callId?: string | undefined;
  /** The way by which a call over SIP came. */
  readonly path?: CallPath | undefined;
  /** Name of the rule that answered the call. */
  readonly route?: string | undefined;
  /** Undefined in a browser's call. */
  readonly leg?: TelephoneLeg | undefined;
  /** Ends the call. */
  hangUp(): Promise<void>;
}

/** The talk of one call, which ends with the call. */
export interface Talk {
  /** A client of the call has typed what its user says. Throws QUEUE_FULL, TEXT_EMPTY and TEXT_TOO_LONG. */
  typed(text: string): void;
  /** Absent: it cannot be silenced. */
  readonly silence?: Silence;
}

/**
 * The talk neither speaks nor answers until the returned function is called. `own`: a function of its own
 * asks for that, and gets the outcome itself. `note`, for the model, has it answer at once.
 */
export type Silence = (by: 'own' | 'others') => (note: string | undefined) => void;

export interface CallHandler {
  /** Name of the agent that takes calls for which none is named; undefined: none takes them. */
  readonly usual: string | undefined;
  has(agent: string): boolean;
  /** The call talks from now on, whoever conducts it. Called once for each call, before `handle`. */
  opened(handled: HandledCall): void;
  /** Conducts the call from now on until its end. Throws NOT_FOUND for an unknown agent. */
  handle(agent: string, handled: HandledCall): Talk;
  /** Connects the call until its end with an application that no agent names. */
  connect(relay: RelayConfig, handled: HandledCall): Talk;
}

/** The client of a browser's call, reached over its data channel. */
export interface ChannelClient {
  /** Never throws. Messages wait while the client cannot be reached. */
  send(message: ChannelMessage): void;
}

export interface ChannelMessage {
  readonly type: string;
}

/** How a client opened its call. */
export interface ChannelOpening {
  /** Name of the agent; undefined: none. */
  readonly agent: string | undefined;
  /** The client wrote it beside its offer: a JSON object, unread. */
  readonly session: Readonly<Record<string, unknown>> | undefined;
}

/** The other end of a data channel that does not speak Parley's own messages. */
export interface ChannelTalk {
  /** A message of the client. Never throws. */
  receive(data: unknown): void;
  /** A message of the client was not read. */
  missed?(): void;
  /** The error in the words of its protocol. */
  errorMessage(error: ParleyError): ChannelMessage;
  /** The client can no longer be reached. Idempotent. */
  close(): void;
}

/** A protocol of data channels with this label, in place of Parley's own messages. */
export interface ChannelDialect {
  readonly label: string;
  /** Conducts the call from now on until its end. */
  open(handled: HandledCall, opening: ChannelOpening, client: ChannelClient): ChannelTalk;
}

/** In place of the name of an agent: no agent takes the call. */
export const NO_AGENT = 'none';
