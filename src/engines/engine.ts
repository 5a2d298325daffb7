// Defines the contract of speech engines: requests, voices, urgency, and the ring that receives the sound.
//
// The ring is the backpressure: an engine that finds it full waits (or leaves its slot of the batch empty)
// until the reader has made room. Nothing else limits how far an engine runs ahead.
import type { PcmRing } from '../audio/pcm-ring.js';
import { asParleyError, isAborted, ParleyError } from '../errors.js';

export interface Voice {
  /** Name in requests; unique within the server. */
  readonly name: string;
  readonly engine: string;
  /** BCP 47 tags this voice can speak, best first. */
  readonly languages: readonly string[];
  readonly description: string;
  /** Licence of the recording that it was made from, if it has one of its own. */
  readonly licence?: string;
  /** Primary tags of the languages that it speaks unless another voice is named. */
  readonly usualFor?: readonly string[];
  /** Why it does not speak on this server. */
  readonly refusal?: string;
  /** Id and origin of a voice made over HTTP. */
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
  /** Kinds of `SynthesisRequest.hints` that it follows; absent: none. */
  readonly hints?: readonly SpeechHint['kind'][];
  /** It takes `SynthesisRequest.more`; then it says how much, by `mostText`. */
  readonly textStreaming: boolean;
  /** BCP 47 primary tags, for example `en`. */
  readonly languages: readonly string[];
  /** The engine clones or designs voices in these; absent: in all. */
  readonly referenceLanguages?: readonly string[];
  /** Shortest sample that it clones; absent: any that the server takes. */
  readonly leastSampleSeconds?: number;
}

/** Pronunciation or delivery that markup prescribes for a part of a text. */
export interface SpeechHint {
  /** Offsets in the text, in UTF-16 units; `end` is exclusive. */
  readonly start: number;
  readonly end: number;
  readonly kind: 'phoneme' | 'emphasis' | 'pitch';
  /** In the words of SSML: the phonemes in IPA, the level of emphasis, or the pitch. */
  readonly value: string;
}

/** Options of engines with the matching capability; others ignore them. */
export interface SpeechOptions {
  /** Description of the speaking style. */
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
      /** SHA-256 of its source. */
      readonly hash: string;
      /** Mono PCM in [-1, 1]. */
      readonly samples: Float32Array;
      /** Hz. */
      readonly rate: number;
      /** Transcript, if known. */
      readonly text?: string | undefined;
      /** The engine uses only the speaker's embedding, not the style of the sample. */
      readonly xVectorOnly?: boolean | undefined;
    }
  | { readonly kind: 'prompt'; readonly hash: string; readonly prompt: string };

export interface SynthesisRequest {
  /** One sentence or several, ready to be spoken: never markup, never empty. */
  readonly text: string;
  /**
   * The text that follows, as it arrives; only for engines with the capability `textStreaming`. The pieces
   * are joined without spaces into one text, which is spoken with one voice in one breath. The engine reads
   * on while it can take more, even if its sound is not read. It waits without working for missing words,
   * without a time limit of its own. An iteration that throws ends the synthesis with that error. After the
   * synthesis the engine reads nothing more.
   */
  readonly more?: AsyncIterable<string> | undefined;
  /** Empty if the engine has no voice of its own; then there is a reference. */
  readonly voice: string;
  /** BCP 47 primary tag. */
  readonly language: string;
  /** Place in the engine's queue; UNHURRIED by default. */
  readonly urgency?: Urgency;
  readonly options?: SpeechOptions | undefined;
  /** Only of kinds that the engine's capabilities name. */
  readonly hints?: readonly SpeechHint[] | undefined;
  /** Voice to use instead of `voice`; only for engines that can clone (sample) or design (prompt). */
  readonly reference?: VoiceReference | undefined;
  /**
   * The listener gets nothing before all of it is made, so the engine may begin it again until then. It may
   * keep the sound back.
   */
  readonly whole?: boolean | undefined;
  /** Called when the engine has the whole sound before its ring has room for all of it. */
  readonly onRendered?: ((sound: Pick<SpeechEnd, 'samples' | 'words'>) => void) | undefined;
}

export interface WordTime {
  readonly word: string;
  /** Start of the word in the request's text including `more`, in UTF-16 units. */
  readonly textOffset: number;
  /** Milliseconds from the first sample that the engine wrote for this request. */
  readonly startMs: number;
  /** End of its sound, before a pause; absent if the engine does not report it. */
  readonly endMs?: number;
}

/** Durations of one sentence in milliseconds. */
export interface EngineTiming {
  readonly queueMs: number;
  readonly loadMs: number;
  readonly inferMs: number;
}

export interface SpeechEnd {
  /** Samples written, at the engine's rate. */
  readonly samples: number;
  readonly words: readonly WordTime[];
  /** Absent if the engine does not measure it. */
  readonly timing?: EngineTiming;
}

/** The device that an engine computes on. */
export interface EngineDevice {
  /** `cpu`, or the name of the device. */
  readonly name: string;
  /** Why no GPU is used although one was wanted. */
  readonly noGpu?: string | undefined;
  /** Bytes of the device's own memory: allocated by the engine, and in total. Absent for the CPU. */
  readonly memory?: { readonly allocatedBytes: number; readonly totalBytes: number } | undefined;
  /** Absent if the engine is not loaded, or does not measure it. */
  readonly work?: EngineWork | undefined;
  /** All since the start of the server, also of unloaded models; absent if the engine does not count them. */
  readonly chunks?: ChunkCounts | undefined;
}

/** Counters of chunks of text. */
export interface ChunkCounts {
  /** Chunks of text whose speech ended long before the text could, and was played so. */
  readonly chunksCutShort: number;
  /** Chunks whose speech ended so, and was made again before it was played. */
  readonly chunksRepeated: number;
  /** Chunks whose speech did not end, and was stopped. */
  readonly chunksEndless: number;
}

/** Work of an engine that speaks many sentences together. Counters but those of chunks start at the load. */
export interface EngineWork extends ChunkCounts {
  /** Sentences. */
  readonly streams: number;
  readonly busySeconds: number;
  /** Share of the last seconds, from 0 to 1. */
  readonly busyShare: number;
  /** Launches of GPU work: uncaptured, captured as graphs, launched as graphs. */
  readonly eager: number;
  readonly captures: number;
  readonly launches: number;
  /** Host memory of cached launches. */
  readonly listBytes: number;
}

export interface SpeechEngine {
  readonly name: string;
  /**
   * Identifies what determines the sound besides name and voice, such as a checkpoint; equal on servers that
   * sound equal.
   */
  readonly identity?: string;
  readonly capabilities: EngineCapabilities;
  /** False after a load that failed, and after a close. */
  readonly usable: boolean;
  /**
   * The same for one language, by its primary tag; absent from an engine whose languages share one model. An
   * engine is usable if one of its languages is.
   */
  usableFor?(language: string): boolean;
  /** Reason why it, or one of its languages, is not usable. */
  readonly trouble?: string | undefined;
  /** True if it is loaded. An engine that is not may still be usable. */
  readonly loaded: boolean;
  /** Number of waiting sentences; absent without a queue of its own. */
  readonly waiting?: number;
  /** Number of waiting sentences of one class. */
  waitingOf?(kind: SpeechClass): number;
  /**
   * Bytes of text in UTF-8 that one synthesis surely has room for, further text included: a byte lasts about
   * as long in all languages. A single sentence may be longer. Absent where text cannot follow.
   */
  readonly mostText?: number;
  device(): EngineDevice;
  /** Known without loading, as are the capabilities. */
  voices(): Promise<readonly Voice[]>;
  /**
   * The name of its voice that stands for one of another product in this language; `name` in lower case.
   * Undefined if it has none.
   */
  standIn?(name: string, language: string): string | undefined;
  /**
   * The sample rate in Hz at which the engine writes for this voice, or with '' for voices of references; the
   * caller opens the ring at this rate.
   */
  sampleRate(voice: string): number;
  /**
   * Writes Float32 mono PCM in [-1, 1] at the ring's rate, in order, ends the ring, and resolves. On failure
   * the ring ends with the error's code and the promise rejects with that ParleyError. An abort of the signal
   * frees the work within one step, aborts the ring and rejects with ABORTED. An engine that is not loaded is
   * loaded first; ENGINE_UNAVAILABLE when it cannot be.
   */
  synthesize(request: SynthesisRequest, out: PcmRing, signal: AbortSignal): Promise<SpeechEnd>;
  load(): Promise<void>;
  /** Unloads when no sentence is being spoken. */
  unload(): Promise<void>;
  close(): Promise<void>;
}

/** Most urgent first. */
export const SPEECH_CLASSES = ['call', 'interactive', 'http'] as const;

/** `call`: calls. `interactive`: WebSockets. `http`: HTTP requests. */
export type SpeechClass = (typeof SPEECH_CLASSES)[number];

export interface Urgency {
  readonly class: SpeechClass;
  /** Owner of a fair share: an API key or an address; for calls, the call. */
  readonly client: string;
  /** When the listener will have heard everything made so far, in milliseconds of the monotonic clock. */
  readonly deadlineMs: number;
  /** Sound of the same text exists already: a refusal would cut it off. */
  readonly begun: boolean;
  /** The server prepares a prompt in advance, after all other work. */
  readonly prepared?: boolean;
}

/** The default for sentences without urgency. */
export const UNHURRIED: Urgency = { class: 'http', client: '', deadlineMs: Infinity, begun: false };

/**
 * Runs the work, which writes the sound and ends the ring when complete. An abort aborts the ring and rejects
 * at once, whatever the work does. A failure ends the ring with the error's code.
 */
export function keepRingContract(
  out: PcmRing,
  signal: AbortSignal,
  work: () => Promise<SpeechEnd>,
): Promise<SpeechEnd> {
  return new Promise((resolve, reject) => {
    const giveUp = () => {
      out.abort();
      reject(new ParleyError('ABORTED', 'the synthesis was given up'));
    };
    if (signal.aborted) return giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    work()
      .finally(() => signal.removeEventListener('abort', giveUp))
      .then(resolve, (cause: unknown) => {
        const error = asParleyError(cause, 'ENGINE_FAILED');
        if (isAborted(error)) out.abort();
        else out.end(error.code);
        reject(error);
      });
  });
}
