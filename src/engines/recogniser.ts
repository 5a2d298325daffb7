// Defines the contract of recognisers and aligners: sound in, by the handle of a ring, and text with times
// out.
//
// The ring is the backpressure: a recogniser reads a file's sound no faster than it recognises it, and a live
// caller's as it comes.
import type { PcmRing } from '../audio/pcm-ring.js';
import { ParleyError } from '../errors.js';

export interface RecognitionOptions {
  /** BCP 47 tag of the speech; absent: it is found. */
  readonly language?: string | undefined;
  /** Background of what is said: a topic, names, hotwords. It does not command the model. */
  readonly context?: string | undefined;
  /** Hz of the ring, 8000 to 192000. */
  readonly sampleRate: number;
  /** Tells texts of a turn that is not over, where the recogniser can. */
  readonly partials?: boolean;
  /** `live`: turns of a caller, each with a final text. `file`: a whole sound of any length, in pieces. */
  readonly use: 'live' | 'file';
  /** Live: nothing is recognised before `turn('begin')`. Otherwise the first turn begins with the sound. */
  readonly gated?: boolean;
  /** Gated: only the client ends turns. Each is recognised, whether or not speech was found in it. */
  readonly endedByHand?: boolean;
  /** File: about the seconds of the pieces that a long sound is cut into, 10 to 1200. */
  readonly pieceSeconds?: number;
  /** File: finds the speech of the pieces, for recognisers with `needsSpeech`. */
  readonly speech?: SpeechFinder | undefined;
}

/** A stretch of a sound in which somebody speaks. */
export interface SpeechStretch {
  readonly beginSeconds: number;
  readonly endSeconds: number;
}

/** Voice activity detection in a whole sound. */
export interface SpeechFinder {
  /**
   * The stretches of speech in samples of any rate, between the pauses, in order. Rejects with HEARING_FAILED
   * or ABORTED.
   */
  find(samples: Float32Array, rate: number, signal: AbortSignal): Promise<readonly SpeechStretch[]>;
}

/** Throws INVALID_FIELD for a rate or a length out of range. */
export function checkRanges(options: Pick<RecognitionOptions, 'sampleRate' | 'pieceSeconds'>): void {
  const { sampleRate, pieceSeconds } = options;
  checkRange('sampleRate', sampleRate, [8000, 192_000, 'Hz']);
  if (pieceSeconds !== undefined) checkRange('pieceSeconds', pieceSeconds, [10, 1200, 'seconds']);
}

/** Throws INVALID_FIELD for a ring of another rate than the one stated. */
export function checkRate(ring: PcmRing, sampleRate: number): void {
  if (ring.rate === sampleRate) return;
  const message = `the ring has ${ring.rate} Hz, and sampleRate says ${sampleRate}`;
  throw new ParleyError('INVALID_FIELD', message, { field: 'sampleRate' });
}

function checkRange(
  field: string,
  value: number,
  [least, most, unit]: readonly [number, number, string],
): void {
  if (value >= least && value <= most) return;
  const message = `${field} must be from ${least} to ${most} ${unit}, not ${value}`;
  throw new ParleyError('INVALID_FIELD', message, { field });
}

/** The text of a turn, or of a piece of a file. Times are in seconds of the session's sound. */
export interface RecognisedText {
  /** Number of the turn or piece, from 0. */
  readonly part: number;
  readonly text: string;
  /**
   * The first UTF-16 units of the text, which later texts of this part do not change. All of a final
   * text.
   */
  readonly stable: number;
  /** BCP 47 tag; undefined if no language was found. */
  readonly language: string | undefined;
  readonly beginSeconds: number;
  readonly endSeconds: number;
  /** Stretches of speech that the text belongs to; absent if the recogniser does not find them. */
  readonly speech?: readonly SpeechStretch[];
}

/** A listener that throws ends its session with ENGINE_FAILED. */
export interface RecognitionListener {
  readonly partial?: (text: RecognisedText) => void;
  /**
   * Gated turns: the text of all sound up to a pause, also if it is empty or the last partial one. It is told
   * while the pause lasts, where the recogniser can.
   */
  readonly pause?: ((text: RecognisedText) => void) | undefined;
  readonly final: (text: RecognisedText) => void;
}

/**
 * `begin`: speech began a moment ago. `pause`: the turn may be over. `resume`: it is not. `end`: it is
 * over.
 */
export type TurnOrder = 'begin' | 'pause' | 'resume' | 'end';

export interface RecognitionSession {
  /**
   * Reads the ring until its writer ends it. Throws WRONG_STATE if the session has a ring already, and
   * INVALID_FIELD for a ring of another rate than the session's.
   */
  push(ring: PcmRing): void;
  /**
   * Tells about the turns of a live session, in order. An order is about the sound that the ring's writer has
   * written until now; those before `push` are about the beginning. A file's session ignores them.
   */
  turn(order: TurnOrder): void;
  /** Ends the sound here. Resolves like `ended`. */
  end(): Promise<void>;
  /**
   * Resolves when the sound has ended and every text of it was told. Rejects with a ParleyError:
   * AUDIO_INVALID for a sound that cannot be used, ABORTED after `close`, or what became of the engine.
   */
  readonly ended: Promise<void>;
  /** Gives the work up: the listener is not called any more. */
  close(): void;
}

export interface Recogniser {
  readonly name: string;
  /** BCP 47 primary tags; empty if they are not known. */
  readonly languages: readonly string[];
  /** It tells texts of a turn that is not over. */
  readonly tellsPartials: boolean;
  /** It tells the text of each pause in a turn. */
  readonly tellsPauses?: boolean;
  /** It has no use for the context of its options. */
  readonly ignoresContext?: boolean;
  /** It makes text of silence, unless the options of a file say how its speech is found. */
  readonly needsSpeech?: boolean;
  /** False after a load that failed, and after a close. */
  readonly usable: boolean;
  /** Reason why it is not usable. */
  readonly trouble?: string | undefined;
  /** The device that computes; undefined while it is not loaded, or on other machines. */
  readonly device?: string | undefined;
  readonly loaded: boolean;
  /** Open sessions. */
  readonly sessions: number;
  /**
   * Throws INVALID_FIELD for an option that is not allowed and ENGINE_BUSY where too many sessions are open.
   * An engine that is not loaded is loaded for the session.
   */
  open(options: RecognitionOptions, listener: RecognitionListener): RecognitionSession;
  load(): Promise<void>;
  /** Unloads when no session is open. */
  unload(): Promise<void>;
  close(): Promise<void>;
}

export interface AlignedWord {
  readonly word: string;
  readonly beginSeconds: number;
  readonly endSeconds: number;
}

export interface AlignmentRequest {
  readonly text: string;
  /** BCP 47 tag of the text; absent: words lie between spaces, and CJK characters are words. */
  readonly language?: string | undefined;
  /** Hz of the ring. */
  readonly sampleRate: number;
}

export interface Aligner {
  readonly name: string;
  readonly languages: readonly string[];
  readonly usable: boolean;
  readonly trouble?: string | undefined;
  /** The device that computes; undefined while it is not loaded, or on other machines. */
  readonly device?: string | undefined;
  readonly loaded: boolean;
  /**
   * Times the words of a text in the sound of a ring, which its writer ends. `onWords` gets those of each
   * part of a long sound as soon as they are certain. Rejects as a session does.
   */
  align(
    request: AlignmentRequest,
    ring: PcmRing,
    signal: AbortSignal,
    onWords?: (words: readonly AlignedWord[]) => void,
  ): Promise<readonly AlignedWord[]>;
  load(): Promise<void>;
  unload(): Promise<void>;
  close(): Promise<void>;
}
