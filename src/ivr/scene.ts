// The tools of a verb of a program, and the outcomes that it can have.
import type { HandledCall, Talk } from '../call/call-handler.js';
import type { BridgeReason, BridgeSettings } from '../call/bridge.js';
import type { CallAbout } from '../call/call-programs.js';
import type { PhoneCallEvent, PhoneCallRequest, PhoneCallView } from '../call/phone-calls.js';
import type { CallerTexts } from '../call/caller-texts.js';
import type { Time } from '../time.js';
import type { Door, Warning } from './door.js';
import type { ProgramJoining } from './program-joining.js';
import type { Forks } from './forks.js';
import type { PressedKeys } from './pressed-keys.js';
import type { Connect, ConnectEnd, Target, Verb, VerbResult, StreamFork, StreamTold } from './verbs.js';

export interface Scene {
  readonly door: Door;
  readonly keys: PressedKeys;
  /** Aborted when the verb has to stop: the call is over, or another program takes its place. */
  readonly signal: AbortSignal;
  readonly callerTexts: ProgramRecogniser;
  readonly about: CallAbout;
  readonly isAnswered: boolean;
  /** Undefined: this server has no telephone. */
  readonly calls: ProgramCalls | undefined;
  readonly transcribe: TranscribeRecording;
  readonly joining: ProgramJoining;
  /** Undefined: nobody else can talk in the calls of programs. */
  readonly talks: ProgramTalks | undefined;
  readonly forks: Forks;
  readonly time: Time;
  /** Answers the call, unless it is answered. Rejects with ABORTED if the call ends before. */
  answered(): Promise<HandledCall>;
  /** `listener` gets what the client of the call types, until the returned function is called. */
  typed(listener: (text: string) => void): () => void;
  warn(warning: Warning): void;
  /** `action` runs when the next verb begins, or the program ends. */
  afterwards(action: () => void): void;
  /** The door stays open for this work, which ends by itself, if the call ends before. */
  lasting(work: Promise<unknown>): void;
  /** Performs a program within this verb, over the same leg and with the same keys. Never rejects. */
  within(nested: NestedProgram): Promise<NestedEnd>;
  /**
   * Performs a program over the leg of another call, which is answered and has been placed for this one. Its
   * requests are about that call. The end of either call stops it. Never rejects.
   */
  onLeg(handled: HandledCall, nested: NestedProgram): Promise<NestedEnd>;
}

/** Connects calls with those who talk in them. */
export interface ProgramTalks {
  /**
   * The talk goes on until the call is given back: `hangUp` gives it back. `told` gets its end before that,
   * as far as it is known. Throws NOT_FOUND and INVALID_FIELD.
   */
  connect(to: Connect['to'], handled: HandledCall, told: (end: ConnectEnd) => void): Talk;
  /**
   * A bot hears the call. `told` learns of the beginning and the end. The returned function ends it. Throws
   * INVALID_FIELD.
   */
  stream(fields: StreamFork['fields'], handled: HandledCall, told: (what: StreamTold) => void): () => void;
  /** The program conducts the call of this id again. */
  left(call: string): void;
}

/**
 * The text of a recording, by its name. Rejects if it cannot be had, and after some minutes; undefined: this
 * server has no recogniser.
 */
export type TranscribeRecording = ((name: string) => Promise<string>) | undefined;

export type ProgramRecogniser = Pick<CallerTexts, 'isCallerRecognised' | 'follow' | 'conceal'>;

/** Places calls for programs, and joins them with their callers. */
export interface ProgramCalls {
  /** The reason why programs place no calls here; undefined: they may. */
  problem(): string | undefined;
  place(request: PhoneCallRequest): Promise<PhoneCallView>;
  follow(id: string, onEvent: (event: PhoneCallEvent) => void): () => void;
  /** An open call. Throws NOT_FOUND. */
  find(id: string): HandledCall;
  /** Ends a call that was placed. Never throws. */
  hangUp(id: string): void;
  /** The caller hears ringing until the returned function is called. */
  ring(caller: HandledCall): () => void;
  /** See Bridges.handOver. */
  join(
    caller: HandledCall,
    other: HandledCall,
    settings: Pick<BridgeSettings, 'endKey'>,
  ): Promise<BridgeReason>;
  /** Ends the bridge of a caller: both calls stay. Never throws. */
  part(caller: HandledCall): void;
  /** Milliseconds since 1970. */
  unixMs(): number;
}

/** A program that is performed while a verb runs. */
export interface NestedProgram {
  readonly target: Target;
  /** Told to the target. */
  readonly result: VerbResult;
  /** The verbs that it may have. Others are warnings, and skipped. */
  readonly allowed: readonly Verb['verb'][];
  /** Stops it at once, as the end of the verb does. */
  readonly signal?: AbortSignal | undefined;
}

/** `done`: no verb was left. `hangup` and `leave`: by that verb. `stopped`: something has stopped it. */
export type ChainEnd = 'done' | 'hangup' | 'leave' | 'stopped';

/**
 * The end of a program within a verb. `failed`: it could not be had, or could not go
 * on, of which a warning tells.
 */
export type NestedEnd = ChainEnd | 'failed';

/**
 * The program goes on with the next verb, or with the program at a target, or the call ends. `leave`: the
 * program within a verb ends, and the verb with it.
 */
export type Outcome = 'next' | 'end' | 'leave' | Follow;

export interface Follow {
  readonly follow: Target;
  readonly result: VerbResult;
  /** The target gets the result even if the call has ended. False, if absent. */
  readonly isToldAtEnd?: boolean;
}
