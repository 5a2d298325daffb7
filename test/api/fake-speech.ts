// A speech service that speaks what the test feeds it, when the test does.
import { type AudioFormat, contentTypeOf } from '../../src/speaking/audio-format.js';
import type { ParleyError } from '../../src/errors.js';
import type { EngineAbilities, SpeechSource } from '../../src/api/speech/speech-source.js';
import type { Voice, VoiceReference } from '../../src/engines/engine.js';
import { NO_TIME, type SoundOutcome, type SoundSource } from '../../src/speaking/sound.js';
import type { Speaker } from '../../src/speaking/cached-speech.js';
import type { SpeechRequest, SpeechSettings } from '../../src/speaking/speech-request.js';
import { stated } from '../../src/stated.js';

export const OUTCOME: SoundOutcome = { durationMs: 0, sentences: [], timing: NO_TIME };

export const VOICES: readonly Voice[] = [
  { name: 'slt', engine: 'flite', languages: ['en-US'], description: 'American, female' },
  { name: 'fr', engine: 'espeak', languages: ['fr'], description: 'French' },
];

export const REFERENCE: VoiceReference = {
  kind: 'sample',
  hash: 'a',
  samples: new Float32Array(1),
  rate: 24_000,
};

export class FakeStream implements SoundSource {
  readonly contentType: string;
  outcome: Promise<SoundOutcome | undefined> = Promise.resolve(OUTCOME);
  /** Resolves when the work has been given up or has ended. */
  readonly cancelled: Promise<void>;
  #resolveCancelled!: () => void;
  readonly #chunks: Uint8Array[] = [];
  #end: { error?: Error } | undefined;
  #wake: (() => void) | undefined;

  constructor(contentType: string) {
    this.contentType = contentType;
    this.cancelled = new Promise((resolve) => (this.#resolveCancelled = resolve));
  }

  push(chunk: string | Uint8Array): void {
    this.#chunks.push(Buffer.from(chunk));
    this.#wake?.();
  }

  end(error?: Error): void {
    this.#end ??= error === undefined ? {} : { error };
    this.#wake?.();
  }

  cancel(): void {
    this.end();
    this.#resolveCancelled();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk !== undefined) yield chunk;
      else if (this.#end?.error !== undefined) throw this.#end.error;
      else if (this.#end !== undefined) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}

/** Never ends, and counts what was taken of it. */
export class EndlessStream implements SoundSource {
  readonly contentType = 'audio/wav';
  readonly outcome = new Promise<undefined>(() => undefined);
  readonly cancelled: Promise<void>;
  #resolveCancelled!: () => void;
  takenBytes = 0;

  constructor() {
    this.cancelled = new Promise((resolve) => (this.#resolveCancelled = resolve));
  }

  cancel(): void {
    this.#resolveCancelled();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    for (;;) {
      this.takenBytes += 16_384;
      yield new Uint8Array(16_384);
    }
  }
}

/**
 * A request as tests compare it: its stated fields, its format by the container alone, nothing of how the
 * reply is sent.
 */
export type AskedSpeech<T extends SpeechSettings> = Omit<T, 'format' | 'delivery' | 'ignoredFields'> & {
  readonly container: AudioFormat['container'];
};

export function askedSpeech<T extends SpeechSettings>(request: T): AskedSpeech<T> {
  const {
    format,
    delivery: _delivery,
    ignoredFields: _ignored,
    ...asked
  }: Partial<SpeechRequest> & T = request;
  return stated({ ...asked, container: format.container }) as unknown as AskedSpeech<T>;
}

type Request = Parameters<SpeechSource['openStream']>[0];
type Sample = Parameters<SpeechSource['reference']>[0];
type Found = ReturnType<SpeechSource['find']>;

export class FakeSpeech implements SpeechSource {
  readonly requests: AskedSpeech<Request>[] = [];
  /** Abort signals of the requests, in the same order. */
  readonly signals: AbortSignal[] = [];
  readonly streams: FakeStream[] = [];
  /** When set, every request is refused with it. */
  refusal: ParleyError | Error | undefined;
  /** Handed out instead of a stream of the test's own. */
  next: SoundSource | undefined;
  /** Fed and ended at once, so that a request is answered without the test's help. */
  whole: readonly string[] | undefined;
  /** The cached rendering that `find` returns. */
  found: Found;
  cleared = 0;
  listed: readonly Voice[] = VOICES;
  /** Abilities reported for every engine. */
  can: EngineAbilities = { engine: 'flite', clone: false, design: false, instruct: false, sampling: false };
  /** The voice and language of whatever is asked for. */
  speaker: Speaker | undefined;
  /** When set, no voice is found for any request. */
  unknown: ParleyError | undefined;
  /** Recordings submitted for cloning. */
  readonly samples: Sample[] = [];
  #opened: (() => void)[] = [];

  find(): Found {
    return this.found;
  }

  abilities(): EngineAbilities {
    return this.can;
  }

  get spokenBy(): SpeechSource['spokenBy'] {
    const { speaker, unknown } = this;
    if (unknown !== undefined) {
      return () => {
        throw unknown;
      };
    }
    return speaker === undefined ? undefined : () => speaker;
  }

  reference(sample: Sample): Promise<VoiceReference> {
    this.samples.push(sample);
    return Promise.resolve(REFERENCE);
  }

  /** Something is there already, whatever is asked for. */
  keep(bytes: string | Uint8Array, contentType = 'audio/mpeg', outcome = OUTCOME): void {
    this.found = { contentType, bytes: Buffer.from(bytes), outcome };
  }

  clear(): number {
    return this.cleared;
  }

  openStream(request: Request, signal: AbortSignal): Promise<SoundSource> {
    this.requests.push(askedSpeech(request));
    this.signals.push(signal);
    if (this.refusal !== undefined) return Promise.reject(this.refusal);
    if (this.next !== undefined) return Promise.resolve(this.next);
    const stream = new FakeStream(contentTypeOf(request.format.container));
    for (const chunk of this.whole ?? []) stream.push(chunk);
    if (this.whole !== undefined) stream.end();
    this.streams.push(stream);
    for (const tell of this.#opened.splice(0)) tell();
    return Promise.resolve(stream);
  }

  /** The stream of the request that is under way or comes next. */
  async stream(): Promise<FakeStream> {
    while (this.streams.length === 0) await new Promise<void>((resolve) => this.#opened.push(resolve));
    const [stream] = this.streams;
    if (stream === undefined) throw new Error('no stream was opened');
    return stream;
  }

  voices(): Promise<readonly Voice[]> {
    return Promise.resolve(this.listed);
  }
}
