// Contract of those who conduct calls: an agent gets each call that it is to talk in, with what may be done
// with its far end. src/agents implements it; the rooms sip and signaling give it their calls.
import type { Call } from './call.js';
import type { DigitsRequest, TransferOutcome, TransferRequest } from './phone-calls.js';

/** A telephone line, beyond what every call can do. */
export interface TelephoneLine {
  /** See PhoneCalls.press. */
  press(request: DigitsRequest): Promise<void>;
  /** See PhoneCalls.transfer. */
  transfer(request: TransferRequest): Promise<TransferOutcome>;
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
  /** Undefined in a browser's call. */
  readonly line?: TelephoneLine | undefined;
  /** Ends the call. */
  hangUp(): Promise<void>;
}

/** The talk of one call, which ends with the call. */
export interface Talk {
  /** A client of the call has typed what its user says. Throws QUEUE_FULL, TEXT_EMPTY and TEXT_TOO_LONG. */
  typed(text: string): void;
}

export interface CallHandler {
  /** Name of the agent that takes calls for which none is named; undefined: none takes them. */
  readonly usual: string | undefined;
  has(agent: string): boolean;
  /** The call talks from now on, whoever conducts it. Called once for each call, before `handle`. */
  opened(handled: HandledCall): void;
  /** Conducts the call from now on until its end. Throws NOT_FOUND for an unknown agent. */
  handle(agent: string, handled: HandledCall): Talk;
}

/** In place of the name of an agent: no agent takes the call. */
export const NO_AGENT = 'none';
