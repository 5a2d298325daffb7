// The events of a call: what its utterances, its caller, its agent and its recordings report. Applications
// read them as JSON and on data channels.
import type { ErrorCode } from '../errors.js';
import type { AnsweredBy, AnswerToneKind } from './answer-detector.js';
import type { RecordingEvent } from '../recording/call-recording.js';

interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
}

/** Events of the agent of a call. */
export type AgentEvent =
  /** The caller said, typed or pressed this, and the agent answers it. */
  | { type: 'agent.prompt'; text: string; language?: string; by: 'speech' | 'text' | 'keys' }
  /** The answer began: the milliseconds of each part of the way to it. */
  | ({ type: 'agent.answered' } & AnswerTimes)
  /** The model called a function, which took this long. */
  | { type: 'agent.tool'; name: string; ms: number }
  | { type: 'agent.failed'; error: Failure };

/** Parts that the answer did not have are absent. Milliseconds. */
export interface AnswerTimes {
  /** From the end of the speech until the turn was found to be over. */
  readonly silenceMs?: number;
  /** From there to the final text. */
  readonly textMs?: number;
  /** From the text to the first token of the model, tools included. */
  readonly modelMs: number;
  /** From the first token until the first sentence is whole. */
  readonly sentenceMs: number;
  /** From there to the first sound in the queue. */
  readonly speechMs: number;
  /** From there to its packet. */
  readonly packetMs: number;
  /** From the end of the speech, or from the text, to the first packet. */
  readonly totalMs: number;
}

/** Tells who or what has answered a call that this server placed. Later results correct earlier ones. */
export interface AnswerDetected {
  readonly type: 'answer.detected';
  readonly by: AnsweredBy;
  /** Milliseconds since the answer. Of an early result: since the far end could be heard. */
  readonly ms: number;
  /** The kind of input that decided. */
  readonly basis: 'speech' | 'words' | 'tone' | 'time';
  /** The tone, if one decided. */
  readonly tone?: AnswerToneKind;
  /** The call was not answered yet. */
  readonly early?: true;
}

/** Milliseconds since the text arrived, or its first token did. */
interface UtteranceStarted {
  readonly type: 'utterance.started';
  readonly utterance: number;
  /** Until the first sentence was whole; absent for a text that came whole. */
  readonly sentenceMs?: number;
  /** Until its first sound was in the queue. */
  readonly queuedMs: number;
  readonly firstPacketMs: number;
}

/** Events of a call that is joined to others. */
export type JoinEvent =
  /** The two calls hear each other. */
  | { type: 'bridge.started'; other: string }
  /** `reason`: see BridgeEnd. `other` is absent if the call that was placed never came to be. */
  | { type: 'bridge.ended'; other?: string; reason: string }
  | { type: 'room.joined'; room: string; members: number }
  | { type: 'room.left'; room: string; reason: string }
  /** The member began to speak in the room, or stopped. */
  | { type: 'room.speaking'; room: string; speaking: boolean }
  /** Places count from 1. */
  | { type: 'queue.joined' | 'queue.position'; queue: string; position: number }
  | { type: 'queue.left'; queue: string; reason: string; waitedMs: number }
  | SuperviseEvent
  | WarmTransferEvent;

/**
 * `listen`: the supervisor hears both sides, and nobody hears it. `whisper`: the side that is supervised
 * hears it. `barge`: all hear it. `take_over`: it speaks in place of the side that is supervised.
 */
export const SUPERVISE_MODES = ['listen', 'whisper', 'barge', 'take_over'] as const;
export type SuperviseMode = (typeof SUPERVISE_MODES)[number];

/** `other`: for the supervised call the supervisor, for the supervisor the supervised call. */
export type SuperviseEvent =
  /** It began, or goes on in another mode. */
  | { type: 'supervise.started'; other: string; mode: SuperviseMode }
  /** `reason`: see SupervisionReason. */
  | { type: 'supervise.ended'; other: string; reason: string };

/** Events of a call that is handed over. `other`: the call that was placed to the person. */
export type WarmTransferEvent =
  | { type: 'warm_transfer.started'; other: string }
  /** The person, or a machine, has answered, and is told the summary. */
  | { type: 'warm_transfer.answered'; other: string; by: AnsweredBy }
  | { type: 'warm_transfer.connected'; other: string }
  /**
   * The caller is back. `reason`: see WarmTransferReason. `other` is absent if no call came to be. `by`: who
   * cancelled it.
   */
  | { type: 'warm_transfer.failed'; other?: string; reason: string; by?: 'application' };

/** Events of the program that conducts a call. */
export type ProgramEvent =
  /** The verb began. */
  | { type: 'program.verb'; verb: string }
  /** Something in the program was not understood, or is not done here: the rest of it goes on. */
  | ({ type: 'program.warning' } & ProgramMistake)
  /** The program cannot go on: the caller hears an apology, and the call ends. */
  | ({ type: 'program.failed' } & ProgramMistake);

/** Lines and columns count from 1. */
interface ProgramMistake {
  readonly message: string;
  /** Number of the error in the protocol that the program came by. */
  readonly code?: string;
  /** The document that it is in: its URL, or the name of a program. */
  readonly document?: string;
  readonly line?: number;
  readonly column?: number;
}

export type CallEvent =
  | UtteranceStarted
  | { type: 'sentence.started'; utterance: number; sentence: number; text: string }
  | { type: 'sentence.spoken'; utterance: number; sentence: number; text: string }
  /** The speech before this mark of the markup was heard. */
  | { type: 'mark.reached'; utterance: number; mark: string }
  | { type: 'utterance.spoken'; utterance: number; text: string; durationMs: number }
  /** `text` left as packets. `heard` had reached the far end's ear by then, as far as its reports tell. */
  | { type: 'utterance.interrupted'; utterance: number; text: string; heard: string; durationMs: number }
  /** The caller speaks, or may speak, and the voice has faded out. It is resumed or interrupted next. */
  | { type: 'utterance.paused'; utterance: number }
  /** It was no speech, or too short: the voice goes on with the word in which it stopped. */
  | { type: 'utterance.resumed'; utterance: number }
  | { type: 'utterance.failed'; utterance: number; text: string; error: Failure }
  /** The caller began to speak, at this time in milliseconds since 1970. */
  | { type: 'speech.started'; onsetAt: number }
  | { type: 'speech.stopped'; durationMs: number }
  /**
   * The caller has finished turn number `turn` of the call, from 0: `silenceMs` ago, or after as long as a
   * turn may last.
   */
  | {
      type: 'turn.ended';
      turn: number;
      speechMs: number;
      silenceMs: number;
      reason: 'silence' | 'longest' | 'client';
      /** It was over our voice, and too weak for the caller's: somebody else has spoken. */
      isDistant?: true;
      /** The caller's words and their BCP 47 tag. Only events of a call under /v1/calls have them. */
      text?: string;
      language?: string;
    }
  /** The caller was expected to speak, and did not. */
  | { type: 'no_input' }
  /** The caller pressed a key: 0-9, *, #, A-D. */
  | { type: 'digit'; digit: string }
  | AnswerDetected
  /** The far end is on hold, or its connection is interrupted: speech waits. */
  | { type: 'call.held' }
  | { type: 'call.resumed' }
  | JoinEvent
  | AgentEvent
  | ProgramEvent
  | RecordingEvent;
