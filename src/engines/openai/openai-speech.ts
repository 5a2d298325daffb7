// Implements a speech engine with OpenAI-compatible speech servers: POST audio/speech, answered in PCM as it
// is made. The voices are those that the operator names; the servers make their sound.
//
//   sentence ─▶ pool of servers ─▶ POST audio/speech ─▶ samples of 16 bits at 24 kHz ─▶ ring
//
// A server that fails before its first sample is replaced by another one. Later the sentence has failed,
// because its beginning was heard. A sentence whose listener takes the sound whole is kept here until it is
// complete, up to a minute, so that another server can still speak it from its beginning.
import type { PcmRing } from '../../audio/pcm-ring.js';
import { asParleyError, isAborted, ParleyError } from '../../errors.js';
import { systemTime, type Time } from '../../time.js';
import {
  type EngineCapabilities,
  type EngineDevice,
  keepRingContract,
  type SpeechEnd,
  type SpeechEngine,
  type SynthesisRequest,
  type Voice,
} from '../engine.js';
import type { EngineNews } from '../engine-lifecycle.js';
import { languageName, primaryTag } from '../language-names.js';
import { ApiClient, type ApiWords } from './api-client.js';
import type { ServerPool } from './server-pool.js';

/** `openai`: the fields of OpenAI. `vllm`: also the language, and that the sound is wanted as it is made. */
type SpeechDialect = 'openai' | 'vllm';

interface RemoteVoice {
  readonly name: string;
  /** Name at the servers. */
  readonly remote: string;
}

export interface OpenAiSpeechOptions {
  readonly pool: ServerPool;
  readonly model: string;
  readonly dialect: SpeechDialect;
  readonly voices: readonly RemoteVoice[];
  /** BCP 47 primary tags that every voice speaks, best first. */
  readonly languages: readonly string[];
  /** Milliseconds to the first sample, and between two pieces of sound. */
  readonly timeoutMs: number;
  readonly onNews?: (news: EngineNews) => void;
  readonly time?: Time;
}

const RATE = 24_000; // of "pcm", says OpenAI
const MOST_SECONDS = 600; // of one sentence: a model may never end
const HELD_SECONDS = 60; // of a sentence that is taken whole; a longer one goes on as it comes
const SAMPLE_BYTES = 2;
const FULL_SCALE = 32_768;
const WORDS: ApiWords = {
  server: 'speech server',
  variables: { url: 'TTS_BASE_URL', key: 'TTS_API_KEY', model: 'TTS_MODEL' },
  codes: { unavailable: 'ENGINE_UNAVAILABLE', busy: 'ENGINE_BUSY', failed: 'ENGINE_FAILED' },
};

export class OpenAiSpeech implements SpeechEngine {
  readonly name = 'openai';
  readonly identity: string;
  readonly capabilities: EngineCapabilities;
  readonly #options: OpenAiSpeechOptions;
  readonly #time: Time;
  readonly #api: ApiClient;
  readonly #remote: ReadonlyMap<string, string>;
  readonly #closed = new AbortController();
  #trouble: string | undefined;
  #isKeyRefused = false;
  #hasAnswered = false;

  constructor(options: OpenAiSpeechOptions) {
    const { pool, model, voices, time = systemTime } = options;
    const languages = options.languages.map(primaryTag);
    this.#options = options;
    this.#time = time;
    this.identity = model;
    this.#api = new ApiClient(pool, WORDS, time);
    this.#remote = new Map(voices.map(({ name, remote }) => [name, remote]));
    this.capabilities = {
      clone: false,
      design: false,
      instruct: true,
      sampling: false,
      wordTimes: false,
      textStreaming: false,
      languages,
    };
  }

  /** False while every server is left alone, so that another engine speaks. */
  get usable(): boolean {
    return !this.#closed.signal.aborted && !this.#isKeyRefused && this.#options.pool.usable > 0;
  }

  get trouble(): string | undefined {
    return this.#closed.signal.aborted ? 'the engine was closed' : this.#trouble;
  }

  /** A server has answered. */
  get loaded(): boolean {
    return this.#hasAnswered && !this.#closed.signal.aborted;
  }

  device(): EngineDevice {
    return { name: 'speech servers' };
  }

  voices(): Promise<readonly Voice[]> {
    const { voices, languages } = this.#options;
    const description = 'Voice of a speech server';
    return Promise.resolve(voices.map(({ name }) => ({ name, engine: this.name, languages, description })));
  }

  sampleRate(): number {
    return RATE;
  }

  synthesize(request: SynthesisRequest, out: PcmRing, signal: AbortSignal): Promise<SpeechEnd> {
    return keepRingContract(out, signal, () => this.#speak(request, out, signal));
  }

  /**
   * Asks a server for its models. Rejects with ENGINE_UNAVAILABLE only if it refuses the key: servers that
   * are away now may be back before the first sentence.
   */
  async load(): Promise<void> {
    const from = this.#time.now();
    const { timeoutMs, onNews } = this.#options;
    try {
      await this.#api.requestOnce('models', { timeoutMs, signal: this.#closed.signal });
      this.#answered();
      onNews?.({ what: 'loaded', ms: Math.round(this.#time.now() - from) });
    } catch (cause) {
      const error = asParleyError(cause, 'ENGINE_UNAVAILABLE');
      if (error.field === 'TTS_MODEL') return this.#answered(); // it tells no models, and may speak
      this.#failed(error);
      if (this.#isKeyRefused) throw error;
      onNews?.({ what: 'load failed', reason: error.message, againInMs: 0 });
    }
  }

  /** There is nothing to unload: the model is the servers'. */
  unload(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.#closed.abort();
    return Promise.resolve();
  }

  async #speak(request: SynthesisRequest, out: PcmRing, signal: AbortSignal): Promise<SpeechEnd> {
    if (this.#closed.signal.aborted) throw new ParleyError('ENGINE_UNAVAILABLE', 'the engine was closed');
    const beganMs = this.#time.now();
    const given = new AbortController();
    const giveUp = () => given.abort();
    signal.addEventListener('abort', giveUp);
    this.#closed.signal.addEventListener('abort', giveUp);
    try {
      const samples = await this.#receive(request, out, given.signal);
      out.end();
      this.#answered();
      const inferMs = this.#time.now() - beganMs;
      return { samples, words: [], timing: { queueMs: 0, loadMs: 0, inferMs } };
    } catch (error) {
      if (!isAborted(error)) this.#failed(asParleyError(error, 'ENGINE_FAILED'));
      throw error;
    } finally {
      signal.removeEventListener('abort', giveUp);
      this.#closed.signal.removeEventListener('abort', giveUp);
    }
  }

  async #receive(request: SynthesisRequest, out: PcmRing, signal: AbortSignal): Promise<number> {
    const { timeoutMs } = this.#options;
    const pieces = this.#api.stream('audio/speech', {
      body: this.#bodyOf(request),
      accept: 'audio/pcm, application/octet-stream',
      check: checkAnswer,
      timeoutMs,
      signal,
      client: request.urgency?.client,
      mostBytes: MOST_SECONDS * RATE * SAMPLE_BYTES,
      heldBytes: request.whole === true ? HELD_SECONDS * RATE * SAMPLE_BYTES : 0,
    });
    const samples = new SampleReader();
    for await (const piece of pieces) await out.writeAll(samples.read(piece), signal);
    if (samples.isCut) throw failed('ended in the middle of a sample');
    if (samples.count === 0) throw failed('sent no sound');
    return samples.count;
  }

  #bodyOf({ text, voice, language, options = {} }: SynthesisRequest): string {
    const { model, dialect } = this.#options;
    const { instructions } = options;
    const streamed = { stream: true, stream_format: 'audio', language: languageName(language) };
    const more = dialect === 'vllm' ? streamed : {};
    const voiced = { model, voice: this.#remote.get(voice) ?? voice, input: text, instructions };
    return JSON.stringify({ ...voiced, response_format: 'pcm', ...more });
  }

  #answered(): void {
    this.#hasAnswered = true;
    this.#trouble = undefined;
  }

  #failed(error: ParleyError): void {
    this.#trouble = error.message;
    if (error.field === 'TTS_API_KEY') this.#isKeyRefused = true;
  }
}

/** Joins bytes to samples, wherever they were cut. */
class SampleReader {
  count = 0;
  #odd: number | undefined;

  /** Half of a sample is missing. */
  get isCut(): boolean {
    return this.#odd !== undefined;
  }

  read(bytes: Uint8Array): Float32Array {
    const before = this.#odd;
    const all = before === undefined ? bytes : Uint8Array.of(before, ...bytes);
    const count = Math.floor(all.length / SAMPLE_BYTES);
    this.#odd = all.length % SAMPLE_BYTES === 0 ? undefined : all.at(-1);
    const view = new DataView(all.buffer, all.byteOffset, all.byteLength);
    this.count += count;
    return Float32Array.from({ length: count }, (_, n) => view.getInt16(SAMPLE_BYTES * n, true) / FULL_SCALE);
  }
}

/** Throws ENGINE_FAILED for an answer that says that it is no PCM, or has another rate. */
function checkAnswer(headers: Headers): void {
  const type = headers.get('content-type') ?? '';
  const stated = /\brate=(\d+)/i.exec(type)?.[1] ?? headers.get('x-pcm-sample-rate') ?? String(RATE);
  if (Number(stated) !== RATE) throw failed(`sends sound at ${Number(stated)} Hz, not at ${RATE}`);
  if (/^(?:text\/|application\/json|audio\/(?:mpeg|wav|x-wav|ogg|flac|aac))/i.test(type))
    throw failed(`answers with ${type.slice(0, 100)} in place of PCM`);
}

function failed(what: string): ParleyError {
  return new ParleyError('ENGINE_FAILED', `the speech server ${what}`);
}
