// What a speech engine is: text in, sound out, through a ring.
//
// The ring is the backpressure: an engine that finds it full waits (or leaves
// its slot of the batch empty) until the reader made room. Nothing else limits
// how far an engine runs ahead.
import type { PcmRing } from '../audio/pcm-ring.js';
import type { SpeechClass, Urgency } from './urgency.js';

export interface Voice {
  /** What requests name it by; unique within the server. */
  readonly name: string;
  readonly engine: string;
  /** BCP 47 tags this voice can speak, best first. */
  readonly languages: readonly string[];
  readonly description: string;
  /** Of one that was made over HTTP: what else it is named by, and what it was made from. */
  readonly made?: { readonly id: string; readonly kind: VoiceReference['kind'] };
}

export interface EngineCapabilities {
  readonly clone: boolean;
  readonly design: boolean;
  readonly instruct: boolean;
  /** Temperature, top_p, top_k, seed and max_new_tokens make a difference. */
  readonly sampling: boolean;
  /** The end of a synthesis carries the time of each word. */
  readonly wordTimes: boolean;
  /** It takes `SpeechRequest.more`; then it says how much, by `mostText`. */
  readonly textStreaming: boolean;
  /** BCP 47 primary tags, for example `en`. */
  readonly languages: readonly string[];
}

/** How an engine that has the capability speaks; others leave it out of account. */
export interface SpeechOptions {
  /** The manner of speaking, in words. */
  readonly instructions?: string;
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly seed?: number;
  /** Codec frames of one sentence. */
  readonly maxNewTokens?: number;
}

/** A voice that is not one of the engine's own. */
export type VoiceReference =
  | {
      readonly kind: 'sample';
      /** SHA-256 of what it was made from. */
      readonly hash: string;
      /** Mono PCM in [-1, 1]. */
      readonly samples: Float32Array;
      /** Hz. */
      readonly rate: number;
      /** What is said in it, where that is known. */
      readonly text?: string;
      /** Only the speaker's embedding is used, not the manner of the sample. */
      readonly xVectorOnly?: boolean;
    }
  | { readonly kind: 'prompt'; readonly hash: string; readonly prompt: string };

export interface SpeechRequest {
  /** One sentence or several, ready to be spoken: never markup, never empty. */
  readonly text: string;
  /**
   * What follows the text, for as long as it goes on; only to an engine with the capability `textStreaming`, others
   * never get it. Joined to the text as it comes, spaces and all, it is one text, spoken with one voice in one breath.
   * The engine reads on as it can take more, whether or not its sound is taken, and waits without working where it
   * needs words that have not come: such a wait is no hang, its bound is the text's. An iteration that throws ends the
   * synthesis with that error. When the synthesis is over, for whatever reason, the engine asks for nothing more.
   */
  readonly more?: AsyncIterable<string>;
  /** Empty where the engine has none of its own; then there is a reference. */
  readonly voice: string;
  /** BCP 47 primary tag. */
  readonly language: string;
  /** Its place in the engine's queue; behind everybody who says more where absent. */
  readonly urgency?: Urgency;
  readonly options?: SpeechOptions;
  /** To be spoken with instead of `voice`; only to engines that can clone (sample) or design (prompt). */
  readonly reference?: VoiceReference;
  /** Called when the engine has the whole sound before its ring has room for all of it. */
  readonly onRendered?: (sound: Pick<SpeechEnd, 'samples' | 'words'>) => void;
}

export interface WordTime {
  readonly word: string;
  /** Where the word begins in the request's text, what followed it included, in UTF-16 units. */
  readonly textOffset: number;
  /** From the first sample the engine wrote for this request, in milliseconds. */
  readonly startMs: number;
  /** Where its sound ends, before the pause that may follow; absent where the engine does not tell. */
  readonly endMs?: number;
}

/** What one sentence took, in milliseconds. */
export interface EngineTiming {
  readonly queueMs: number;
  readonly loadMs: number;
  readonly inferMs: number;
}

export interface SpeechEnd {
  /** Samples written, at the engine's rate. */
  readonly samples: number;
  readonly words: readonly WordTime[];
  /** Absent where the engine does not measure it. */
  readonly timing?: EngineTiming;
}

/** What an engine computes on. */
export interface EngineDevice {
  /** `cpu`, or what the device calls itself. */
  readonly name: string;
  /** Why it is no GPU, where one was wanted if there is one. */
  readonly noGpu?: string;
  /** Bytes of the device's own memory: what the engine holds of it, and all. The CPU has none of its own. */
  readonly memory?: { readonly allocatedBytes: number; readonly totalBytes: number };
  /** Absent where it is not loaded, or not known. */
  readonly work?: EngineWork;
}

/** What an engine is at that speaks many sentences together. Counts since it was loaded. */
export interface EngineWork {
  /** Sentences. */
  readonly streams: number;
  readonly busySeconds: number;
  /** Of the last seconds, from 0 to 1. */
  readonly busyShare: number;
  /** Lists of work for a GPU: run piece by piece, made into graphs, run as graphs. */
  readonly eager: number;
  readonly captures: number;
  readonly launches: number;
  /** Bytes of the server's memory that remembered lists take. */
  readonly listBytes: number;
}

export interface SpeechEngine {
  readonly name: string;
  /** What decides how it sounds beside its name and the voice, such as a checkpoint: the same on all servers that sound the same. */
  readonly identity?: string;
  readonly capabilities: EngineCapabilities;
  /** Nothing is known that keeps it from speaking now; false once it could not be made ready, and after a close. */
  readonly usable: boolean;
  /** Why it is not usable. */
  readonly trouble?: string | undefined;
  /** It speaks without being loaded first. One that is not may still be usable. */
  readonly loaded: boolean;
  /** Sentences that wait for it; absent where it has no queue of its own. */
  readonly waiting?: number;
  /** Those of one class. */
  waitingOf?(kind: SpeechClass): number;
  /**
   * Bytes of text in UTF-8 that one synthesis surely has room for, further text included: a byte lasts about as long
   * in all languages. A single sentence may be longer. Absent where text cannot follow.
   */
  readonly mostText?: number;
  device(): EngineDevice;
  /** Known without loading, as are the capabilities. */
  voices(): Promise<readonly Voice[]>;
  /** The sample rate in Hz at which the engine writes for this voice, or with '' for voices of references; the caller opens the ring at this rate. */
  sampleRate(voice: string): number;
  /**
   * Writes Float32 mono PCM in [-1, 1] at the ring's rate, in order, ends the ring, and resolves. On failure the
   * ring ends with the error's code and the promise rejects with that ParleyError. An abort of the signal frees
   * the work within one step, aborts the ring and rejects with ABORTED. An engine that is not loaded is loaded
   * first; ENGINE_UNAVAILABLE when it cannot be.
   */
  synthesize(request: SpeechRequest, out: PcmRing, signal: AbortSignal): Promise<SpeechEnd>;
  load(): Promise<void>;
  /** As soon as no sentence is in hand. */
  unload(): Promise<void>;
  close(): Promise<void>;
}
