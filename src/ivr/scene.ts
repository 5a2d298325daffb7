// What a verb of a program works with, and how it can end.
import type { HandledCall } from '../call/call-handler.js';
import type { CallerTexts } from '../call/caller-texts.js';
import type { Time } from '../time.js';
import type { Door, Warning } from './door.js';
import type { PressedKeys } from './pressed-keys.js';
import type { Target, VerbResult } from './verbs.js';

export interface Scene {
  readonly door: Door;
  readonly keys: PressedKeys;
  /** Aborted when the verb has to stop: the call is over, or another program takes its place. */
  readonly signal: AbortSignal;
  readonly callerTexts: ProgramRecogniser;
  readonly time: Time;
  /** Answers the call, unless it is answered. Rejects with ABORTED if the call ends before. */
  answered(): Promise<HandledCall>;
  /** `listener` gets what the client of the call types, until the returned function is called. */
  typed(listener: (text: string) => void): () => void;
  warn(warning: Warning): void;
  /** `action` runs when the next verb begins, or the program ends. */
  afterwards(action: () => void): void;
}

export type ProgramRecogniser = Pick<CallerTexts, 'isCallerRecognised' | 'follow' | 'conceal'>;

/** The program goes on with the next verb, or with the program at a target, or the call ends. */
export type Outcome = 'next' | 'end' | { readonly follow: Target; readonly result: VerbResult };
