// Contract of a door: it writes the program of one call, hears of the results of verbs, and answers with the
// next program. A door knows its protocol; the interpreter knows none.
import type { CallAbout } from '../call/call-programs.js';
import { asParleyError } from '../errors.js';
import type { PlayedSound } from '../speaking/speech-piece.js';
import type { Notice, Target, Verb, VerbResult } from './verbs.js';

/** Something in a program that was not understood, or that this server does not do. */
export interface Warning {
  /** Number of the error in the door's protocol; absent: it has none. */
  readonly code?: string | undefined;
  readonly message: string;
  /** The document that it is in: its URL, or the name of a program. */
  readonly document?: string | undefined;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
}

export interface Program {
  readonly verbs: readonly Verb[];
  readonly warnings: readonly Warning[];
}

/** The call of a program, as its door sees it. */
export interface ProgramCall {
  readonly about: CallAbout;
  readonly isAnswered: boolean;
  /** False, if absent. */
  readonly isOver?: boolean;
  /** Tells the observers of the call of a mistake. */
  warn(warning: Warning): void;
}

/** A mistake of a program that a door may have a number for. */
export type VerbMistake = 'coach' | 'label';

export interface Door {
  /** The first program. Rejects with a ProgramError, or ABORTED. */
  begin(signal: AbortSignal): Promise<Program>;
  /** The program at a target, which gets the result of a verb. Rejects as `begin` does. */
  follow(target: Target, result: VerbResult, signal: AbortSignal): Promise<Program>;
  /** Sends a notice to a target, whose answer is ignored. Never throws. */
  tell(target: Target, notice: Notice): void;
  /** A sound that a program names. Rejects with a ProgramError, or ABORTED. */
  sound(name: string, signal: AbortSignal): Promise<PlayedSound>;
  /**
   * The door of a call that the program has placed. It shares the session of this call, and has
   * no first program.
   */
  ofLeg(call: ProgramCall): Door;
  /** The name of a call in the words of the door. */
  nameOf(call: string): string;
  /** The number of a mistake in the door's protocol; undefined: it has none. */
  codeOf(mistake: VerbMistake): string | undefined;
  /** The call is over: no program follows. What is told is still sent. Idempotent. */
  close(): void;
}

/** Opens the door of one call. */
export type OpenDoor = (call: ProgramCall) => Door;

/** A program that cannot be had, or cannot go on. The caller hears an apology. */
export class ProgramError extends Error {
  readonly warning: Warning;

  constructor(warning: Warning, options?: ErrorOptions) {
    super(warning.message, options);
    this.name = 'ProgramError';
    this.warning = warning;
  }
}

/** The warning of an error that a verb met. */
export function warningOf(error: unknown): Warning {
  return error instanceof ProgramError
    ? error.warning
    : { message: asParleyError(error, 'WRONG_STATE').message };
}
