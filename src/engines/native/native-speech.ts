// Wraps the native speech engine: one process-wide object by handle, and its streams.
import type { PcmRing } from '../../audio/pcm-ring.js';
import { unwatchReady, watchReady } from '../../audio/ready.js';
import { loadAddon } from '../../addon.js';
import { guarded } from '../../errors.js';
import {
  type NativeDeviceFacts,
  type NativeDeviceOptions,
  loadInTurn,
  withCudaFile,
} from './native-device.js';

interface SpeechAddon {
  speechInspect(directory: string): Promise<ModelFacts>;
  speechOpen(
    options: NativeOptions & { readonly cudaFile: string },
  ): Promise<{ handle: number; facts: ModelFacts }>;
  speechClose(handle: number): Promise<void>;
  speechStart(handle: number, request: NativeRequest, ring: number): number;
  speechEnd(stream: number): NativeEnd | null;
  speechWaits(stream: number): boolean;
  speechText(stream: number, text: string, last: boolean): void;
  speechCancel(stream: number): void;
  speechStats(handle: number): NativeStats | null;
}

/** Properties of a checkpoint; device, sizes and times are known after the load. */
export interface ModelFacts extends NativeDeviceFacts {
  readonly modelType: 'custom_voice' | 'voice_design' | 'base' | 'pocket';
  readonly modelSize: string;
  /** Hz. */
  readonly sampleRate: number;
  readonly takesInstruction: boolean;
  /** It speaks with the voice of a recording. */
  readonly takesRecording: boolean;
  readonly speakers: readonly string[];
  /** Each names the file of a voice that does not fit the model, and so is no speaker. */
  readonly voiceProblems: readonly string[];
  /** English names in lower case: `german`. */
  readonly languages: readonly string[];
  /** Limit of frames of a request with `moreText`. */
  readonly openFrames: number;
  readonly weightBytes: number;
  readonly streamBytes: number;
  readonly loadMs: number;
  readonly warmUpMs: number;
}

export interface NativeOptions extends NativeDeviceOptions {
  readonly directory: string;
  readonly quantize: string;
  /** Absent: f32 on a processor, bf16 on a GPU. */
  readonly codecFormat?: 'f32' | 'f16' | 'bf16' | undefined;
  readonly maxStreams: number;
  /** Streams in one step; absent or 0: all. */
  readonly maxBatch?: number;
  /** 0: from the length of each text. */
  readonly maxNewTokens: number;
  readonly maxVoices: number;
  readonly warmUp?: boolean;
}

/** A sample of the voice to use. */
export interface NativeRecording {
  /** Hash of the sound and its transcript, by which the engine recognises the voice. */
  readonly hash: string;
  /** Mono, in [-1, 1]. */
  readonly samples: Float32Array;
  /** Hz. */
  readonly rate: number;
  /** Transcript; without it the engine uses the voice but not its style. */
  readonly text?: string | undefined;
}

export interface NativeRequest {
  readonly text: string;
  /** True if text follows, by NativeStream.addText. */
  readonly moreText?: boolean;
  readonly language: string;
  readonly speaker: string;
  readonly instruction?: string | undefined;
  readonly recording?: NativeRecording | undefined;
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly topK?: number | undefined;
  readonly greedy?: boolean;
  readonly seed: number;
  /**
   * Speech that ended long before its text may be made again with other noise, before it is played: then the
   * seed alone does not say how the text sounds.
   */
  readonly mayRepeat?: boolean;
  /** The client gets nothing before all of it is made, whatever `dueInMs` says. */
  readonly whole?: boolean;
  readonly maxNewTokens?: number | undefined;
  /**
   * Milliseconds from now until the listener has nothing more to hear; Infinity if there is no live listener.
   */
  readonly dueInMs: number;
  /**
   * Milliseconds from now after which a waiting `reader` or `server` goes before live listeners; Infinity:
   * never.
   */
  readonly overdueInMs: number;
  /**
   * `live`, the default: the sound is played while it is generated, and admission keeps its pace. `reader`:
   * it is read as a file and shares rounds with others. `server`: a prompt that the server prepares, after
   * all others.
   */
  readonly listener?: 'live' | 'reader' | 'server';
}

export type NativeOutcome =
  | 'done'
  | 'budget'
  | 'runaway'
  | 'cancelled'
  | 'too large'
  | 'bad request'
  | 'out of memory'
  | 'closed'
  | 'failed'
  | 'lost';

export interface NativeEnd {
  readonly outcome: NativeOutcome;
  /** Description for people; empty if done. */
  readonly problem: string;
  readonly samples: number;
  readonly frames: number;
  readonly queueMs: number;
  readonly firstFrameMs: number;
  readonly totalMs: number;
}

export interface NativeStats {
  readonly live: number;
  readonly waiting: number;
  readonly parked: number;
  readonly frames: number;
  readonly steps: number;
  /** As EngineWork. */
  readonly chunksCutShort: number;
  readonly chunksRepeated: number;
  readonly chunksEndless: number;
  /** Milliseconds of rounds in which there was something to do. */
  readonly busyMs: number;
  readonly voices: number;
  readonly memoryInUse: number;
  readonly memoryLimit: number;
  /** Bytes of its own memory that a GPU gave; 0 for the CPU. */
  readonly deviceMemoryInUse: number;
  /** Launches of GPU work: uncaptured, captured as graphs, launched as graphs. */
  readonly eager: number;
  readonly captures: number;
  readonly launches: number;
  /** Host memory of cached launches. */
  readonly listBytes: number;
}

let loaded: SpeechAddon | undefined;
function addon(): SpeechAddon {
  return (loaded ??= loadAddon<SpeechAddon>());
}

/**
 * Checks the files of a directory and reads what it offers; rejects with an Error that names the first
 * mistake.
 */
export function inspectModel(directory: string): Promise<ModelFacts> {
  return addon().speechInspect(directory);
}

/** One text that is being spoken. */
export class NativeStream {
  readonly ended: Promise<NativeEnd>;
  readonly #handle: number;
  #waits = false;

  /**
   * `onWaits` is called with each change of `waits`, which is false at first and at the end. If it throws,
   * `ended` rejects.
   */
  constructor(handle: number, onWaits: (waits: boolean) => void) {
    this.#handle = handle;
    const report = (waits: boolean) => {
      if (waits === this.#waits) return;
      this.#waits = waits;
      onWaits(waits);
    };
    this.ended = new Promise((resolve, reject) => {
      const take = () => {
        const end = addon().speechEnd(handle);
        if (end === null) return report(addon().speechWaits(handle));
        report(false);
        unwatchReady(handle, look);
        resolve(end);
      };
      const look: () => void = guarded({ work: 'sentence' }, take, (error) => {
        unwatchReady(handle, look);
        this.cancel();
        reject(error);
      });
      watchReady(handle, look);
      queueMicrotask(look); // it may have ended before it was watched
    });
  }

  /** True while it waits inside the engine for others. */
  get waits(): boolean {
    return this.#waits;
  }

  /** Adds text; `last` ends it. Does nothing after the end of the stream. */
  addText(text: string, last: boolean): void {
    addon().speechText(this.#handle, text, last);
  }

  /** Ends the stream within one frame. */
  cancel(): void {
    addon().speechCancel(this.#handle);
  }
}

/** A loaded model, closed by its opener. */
export class NativeSpeech {
  readonly facts: ModelFacts;
  readonly #handle: number;
  #closed: Promise<void> | undefined;

  private constructor(handle: number, facts: ModelFacts) {
    this.#handle = handle;
    this.facts = facts;
  }

  /** Rejects with an Error that says what cannot be loaded. */
  static async open(options: NativeOptions): Promise<NativeSpeech> {
    const { handle, facts } = await loadInTurn(() => addon().speechOpen(withCudaFile(options)));
    return new NativeSpeech(handle, facts);
  }

  /** Undefined if the engine or the ring is closed. */
  start(
    request: NativeRequest,
    out: PcmRing,
    onWaits: (waits: boolean) => void = () => undefined,
  ): NativeStream | undefined {
    const handle = addon().speechStart(this.#handle, request, out.handle);
    return handle === 0 ? undefined : new NativeStream(handle, onWaits);
  }

  /** Null once it is closed. */
  get stats(): NativeStats | null {
    return addon().speechStats(this.#handle);
  }

  /** Ends every stream and gives all memory back. */
  close(): Promise<void> {
    this.#closed ??= addon().speechClose(this.#handle);
    return this.#closed;
  }
}
