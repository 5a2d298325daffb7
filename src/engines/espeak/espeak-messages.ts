// What espeak's worker thread and its child process say to one another, over
// the child's channel in Node's binary form ("advanced" serialization).
import type { WordTime } from '../engine.js';

export interface ToEspeak {
  readonly id: number;
  readonly text: string;
  /** What espeak calls the voice. */
  readonly identifier: string;
}

export type FromEspeak =
  | { readonly type: 'ready'; readonly rate: number }
  | {
      readonly type: 'spoken';
      readonly id: number;
      readonly samples: Int16Array;
      readonly words: readonly WordTime[];
    }
  | { readonly type: 'failed'; readonly id: number; readonly message: string };

/** What the worker is started with. */
export interface EspeakWorkerData {
  readonly packageFile: string;
  /** The child's program, where it is not the usual one. */
  readonly childFile?: string;
  /** Milliseconds that one sentence may take. */
  readonly renderTimeoutMs: number;
}

export const CHILD_START_TIMEOUT_MS = 20_000; // a cold disk; measured 0.2 s
