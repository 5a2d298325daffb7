// Wraps the native recogniser and forced aligner: process-wide objects by handle, and their streams.
import type { PcmRing } from '../../audio/pcm-ring.js';
import { unwatchReady, watchReady } from '../../audio/ready.js';
import { loadAddon } from '../../addon.js';
import { guarded } from '../../errors.js';
import type { TurnOrder } from '../recogniser.js';
import {
  type NativeDeviceFacts,
  type NativeDeviceOptions,
  loadInTurn,
  withCudaFile,
} from './native-device.js';
import type { NativeOutcome } from './native-speech.js';

interface RecogniserAddon {
  recogniserInspect(directory: string, aligner: boolean): Promise<RecogniserFacts>;
  recogniserOpen(
    options: NativeRecogniserOptions & { readonly cudaFile: string },
  ): Promise<{ handle: number; facts: RecogniserFacts }>;
  recogniserClose(handle: number): Promise<void>;
  recogniserStart(handle: number, request: NativeRecognitionRequest, ring: number): number;
  recogniserTake(stream: number): readonly NativeRecognitionEvent[] | null;
  recogniserOrder(stream: number, order: TurnOrder, at: number): void;
  recogniserCancel(stream: number): void;
  recogniserStats(handle: number): NativeRecogniserStats | null;
}

/** Properties of a checkpoint; device, sizes and times are known after the load. */
export interface RecogniserFacts extends NativeDeviceFacts {
  readonly aligner: boolean;
  /** English names: `German`. */
  readonly languages: readonly string[];
  readonly weightBytes: number;
  /** Memory that a stream takes for a second of its sound. */
  readonly secondBytes: number;
  readonly loadMs: number;
  readonly warmUpMs: number;
}

export interface NativeRecogniserOptions extends NativeDeviceOptions {
  readonly directory: string;
  readonly aligner?: boolean;
  /** Weights of the decoder's layers. */
  readonly quantize: 'none' | 'int8';
  readonly cacheFormat?: 'f32' | 'bf16';
  /** `draft`: our own streaming. `official`: that of the reference package. */
  readonly streaming?: 'draft' | 'official';
  /** Aligner: a file of Korean nouns, one a line; empty: none. */
  readonly koreanDictionary?: string | undefined;
  /** Shortest time between partial texts. */
  readonly leastIntervalMs?: number;
  /** Files at a time, beside live callers; others wait. */
  readonly maxFiles?: number;
  readonly warmUp?: boolean;
}

export interface PlacedOrder {
  readonly order: TurnOrder;
  /** Samples of the ring that come before it. */
  readonly at: number;
}

export interface NativeRecognitionRequest {
  readonly use: 'live' | 'file' | 'align';
  readonly language?: string | undefined;
  /** An alignment has its text here. */
  readonly context?: string | undefined;
  /** Hz of the ring. */
  readonly rate: number;
  readonly partials?: boolean | undefined;
  /** Live: tells the text of each pause. */
  readonly pauses?: boolean;
  readonly gated?: boolean | undefined;
  /** Orders given before the start. */
  readonly orders?: readonly PlacedOrder[];
  readonly pieceSeconds?: number | undefined;
}

interface NativeText {
  readonly type: 'partial' | 'pause' | 'final';
  readonly part: number;
  readonly text: string;
  /** UTF-16 units. */
  readonly stable: number;
  /** English name, or empty. */
  readonly language: string;
  readonly beginSeconds: number;
  readonly endSeconds: number;
}

interface NativeWords {
  readonly type: 'words';
  readonly words: readonly {
    readonly word: string;
    readonly beginSeconds: number;
    readonly endSeconds: number;
  }[];
}

/** A loop or an echo was cut out of a text; `what` has no words of the speaker. */
interface NativeRunaway {
  readonly type: 'runaway';
  readonly what: string;
}

export interface NativeRecognitionEnd {
  readonly type: 'end';
  readonly outcome: NativeOutcome;
  /** Description for people; empty if done. */
  readonly problem: string;
  readonly soundSeconds: number;
  readonly totalMs: number;
}

export type NativeRecognitionEvent = NativeText | NativeWords | NativeRunaway | NativeRecognitionEnd;

export interface NativeRecogniserStats {
  readonly live: number;
  readonly files: number;
  readonly waiting: number;
  readonly passes: number;
  readonly droppedPasses: number;
  readonly draftOffered: number;
  readonly draftTaken: number;
  readonly runaways: number;
  /** Seconds of sound whose text is final. */
  readonly soundSeconds: number;
  readonly busyMs: number;
  readonly memoryInUse: number;
  readonly memoryLimit: number;
}

let loaded: RecogniserAddon | undefined;
function addon(): RecogniserAddon {
  return (loaded ??= loadAddon<RecogniserAddon>());
}

/**
 * Checks the files of a directory and reads what it offers; rejects with an Error that names the first
 * mistake.
 */
export function inspectRecogniser(directory: string, aligner: boolean): Promise<RecogniserFacts> {
  return addon().recogniserInspect(directory, aligner);
}

/** One sound that is being recognised. */
export class NativeRecognition {
  readonly ended: Promise<NativeRecognitionEnd>;
  readonly #handle: number;

  /** `onEvent` gets every event but the end, in order. If it throws, `ended` rejects. */
  constructor(
    handle: number,
    onEvent: (event: Exclude<NativeRecognitionEvent, NativeRecognitionEnd>) => void,
  ) {
    this.#handle = handle;
    this.ended = new Promise((resolve, reject) => {
      const take = () => {
        for (const event of addon().recogniserTake(handle) ?? []) {
          if (event.type !== 'end') onEvent(event);
          else {
            unwatchReady(handle, look);
            resolve(event);
          }
        }
      };
      const look: () => void = guarded({ work: 'recognition' }, take, (error) => {
        unwatchReady(handle, look);
        this.cancel();
        reject(error);
      });
      watchReady(handle, look);
      queueMicrotask(look); // it may have ended before it was watched
    });
  }

  turn({ order, at }: PlacedOrder): void {
    addon().recogniserOrder(this.#handle, order, at);
  }

  cancel(): void {
    addon().recogniserCancel(this.#handle);
  }
}

/** A loaded model, closed by its opener. */
export class NativeRecogniser {
  readonly facts: RecogniserFacts;
  readonly #handle: number;
  #closed: Promise<void> | undefined;

  private constructor(handle: number, facts: RecogniserFacts) {
    this.#handle = handle;
    this.facts = facts;
  }

  /** Rejects with an Error that says what cannot be loaded. */
  static async open(options: NativeRecogniserOptions): Promise<NativeRecogniser> {
    const { handle, facts } = await loadInTurn(() => addon().recogniserOpen(withCudaFile(options)));
    return new NativeRecogniser(handle, facts);
  }

  /** Undefined if the recogniser or the ring is closed. */
  start(
    request: NativeRecognitionRequest,
    ring: PcmRing,
    onEvent: (event: Exclude<NativeRecognitionEvent, NativeRecognitionEnd>) => void,
  ): NativeRecognition | undefined {
    const handle = addon().recogniserStart(this.#handle, request, ring.handle);
    return handle === 0 ? undefined : new NativeRecognition(handle, onEvent);
  }

  /** Null once it is closed. */
  get stats(): NativeRecogniserStats | null {
    return addon().recogniserStats(this.#handle);
  }

  /** Ends every stream and gives all memory back. */
  close(): Promise<void> {
    this.#closed ??= addon().recogniserClose(this.#handle);
    return this.#closed;
  }
}
