// Defines the messages between a recogniser and its workers.
import type { ErrorCode } from '../../errors.js';
import type { TurnOrder } from '../recogniser.js';
import type { ModelFolder } from './moonshine-model.js';
import type { FileHashes } from './onnx-graphs.js';

export interface MoonshineWorkerData {
  readonly models: readonly ModelFolder[];
  readonly partialIntervalMs: number;
}

export interface PlacedOrder {
  readonly order: TurnOrder;
  /** Samples of the ring that come before it. */
  readonly at: number;
}

export interface ListenRequest {
  readonly id: number;
  readonly language: string;
  readonly ring: number;
  /** Hz of the ring. */
  readonly rate: number;
  readonly isGated: boolean;
  readonly hasPartials: boolean;
  /** Orders that were given before. */
  readonly orders: readonly PlacedOrder[];
}

export type ToMoonshine =
  | { readonly type: 'listen'; readonly request: ListenRequest }
  | { readonly type: 'order'; readonly id: number; readonly order: PlacedOrder }
  /** Recognises the whole of a sound of 16 kHz. */
  | {
      readonly type: 'piece';
      readonly id: number;
      readonly language: string;
      readonly samples: Float32Array;
    }
  /** Gives a session or a piece up. */
  | { readonly type: 'stop'; readonly id: number }
  /** Answered with the same number between two runs. */
  | { readonly type: 'ping'; readonly number: number }
  /** Ends the worker between two runs. */
  | { readonly type: 'close' };

/** The text of a turn. Places are samples of 16 kHz. */
export interface TurnMessage {
  readonly kind: 'partial' | 'pause' | 'final';
  readonly part: number;
  readonly text: string;
  readonly stable: number;
  readonly begin: number;
  readonly end: number;
}

export type FromMoonshine =
  /** `passMs`: the time of the most usual work, a partial text of each model. */
  | { readonly type: 'loaded'; readonly passMs: number; readonly hashes: FileHashes }
  | { readonly type: 'refused'; readonly message: string }
  | { readonly type: 'turn'; readonly id: number; readonly turn: TurnMessage }
  | { readonly type: 'piece'; readonly id: number; readonly text: string }
  | { readonly type: 'done'; readonly id: number }
  | { readonly type: 'failed'; readonly id: number; readonly code: ErrorCode; readonly message: string }
  /** `runMs`: the time that the present run of a graph has taken. */
  | { readonly type: 'pong'; readonly number: number; readonly runMs: number };
