// The events of a call: what its utterances, its caller, its agent and its recordings report. Applications
// read them as JSON and on data channels.
import type { ErrorCode } from '../errors.js';
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

export type CallEvent =
  | UtteranceStarted
  | { type: 'sentence.started'; utterance: number; sentence: number; text: string }
  | { type: 'sentence.spoken'; utterance: number; sentence: number; text: string }
  /** The speech before this mark of the markup was heard. */
  | { type: 'mark.reached'; utterance: number; mark: string }
  | { type: 'utterance.spoken'; utterance: number; text: string; durationMs: number }
  /** `text` left as packets. `heard` had reached the far end's ear by then, as far as its reports tell. */
  | { type: 'utterance.interrupted'; utterance: number; text: string; heard: string; durationMs: number }
  /** The caller began to speak, and the voice has faded out. It is resumed or interrupted next. */
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
      /** The caller's words and their BCP 47 tag. Only events of a call under /v1/calls have them. */
      text?: string;
      language?: string;
    }
  /** The caller was expected to speak, and did not. */
  | { type: 'no_input' }
  /** The caller pressed a key: 0-9, *, #, A-D. */
  | { type: 'digit'; digit: string }
  | AgentEvent
  | RecordingEvent;
