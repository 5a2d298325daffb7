// Contract of call programs: a rule, an application or a request gives a call the program that conducts it,
// from its INVITE on or from its answer on. src/ivr implements it.
import type { ProgramSource } from '../config/ivr-config.js';
import type { RingingCaller } from './bridges.js';
import type { HandledCall, Talk } from './call-handler.js';

/** A call as it is known before it is answered. */
export interface CallAbout extends Pick<
  HandledCall,
  'direction' | 'from' | 'to' | 'displayName' | 'headers' | 'callId' | 'route' | 'path'
> {
  readonly id: string;
  /** `sip`, `webrtc`, `websocket` or `audiosocket`. */
  readonly protocol: string;
  /** Name of the API key that the call belongs to; undefined: to every key. */
  readonly owner: string | undefined;
  /** Id of the call whose program has placed this one; absent: none has. */
  readonly parent?: string | undefined;
}

/** A caller whose call may not be answered yet: the program decides. */
export interface ProgramCaller extends Pick<
  RingingCaller,
  'id' | 'over' | 'answer' | 'ring' | 'onceTalking' | 'refuse'
> {
  readonly about: CallAbout;
}

export interface CallPrograms {
  /** The reason why a source cannot be used; undefined: it can. */
  problemOf(source: ProgramSource): string | undefined;
  /** The program conducts the call from its INVITE on, to its end. Never throws. */
  take(caller: ProgramCaller, source: ProgramSource): void;
  /** The program conducts a call that is answered, to its end. */
  conduct(handled: HandledCall, source: ProgramSource): Talk;
}
