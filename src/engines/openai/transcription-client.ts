// Sends sound to the transcription endpoint of an OpenAI-compatible server: POST audio/transcriptions with a
// WAV file, answered in JSON.
import { toBytesS16le } from '../../audio/pcm16.js';
import { WAV_HEADER_BYTES, wavHeader } from '../../codecs/wav.js';
import { ParleyError } from '../../errors.js';
import type { Time } from '../../time.js';
import { ApiClient, type ApiWords, field, parsed } from './api-client.js';
import type { ServerPool } from './server-pool.js';

/** Hz of all sound that is sent: recognition models work at this rate. */
export const TRANSCRIPTION_RATE = 16_000;

const LEAST_SAMPLES = TRANSCRIPTION_RATE / 2; // shorter sounds are padded: servers refuse below 0.1 s

export interface TranscriptionServers {
  readonly pool: ServerPool;
  readonly model: string;
}

interface TranscriptionRequest {
  /** Mono, at `TRANSCRIPTION_RATE`. */
  readonly samples: Float32Array;
  /** BCP 47 primary tag. */
  readonly language: string | undefined;
  readonly prompt: string | undefined;
  readonly signal: AbortSignal;
}

export interface Transcription {
  readonly text: string;
  /** Name that the server gives it; undefined if it gives none. */
  readonly language: string | undefined;
}

const CJK =
  '[\\u3000-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\uff00-\\uffef\\u{20000}-\\u{2fa1f}]';
const CJK_BESIDE = { before: new RegExp(`${CJK}$`, 'u'), after: new RegExp(`^${CJK}`, 'u') };

/** The texts of sounds that follow each other, with a space between them unless a CJK character is there. */
export function joinTexts(texts: readonly string[]): string {
  return texts
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .reduce((joined, text) => {
      const isClose = joined === '' || CJK_BESIDE.before.test(joined) || CJK_BESIDE.after.test(text);
      return isClose ? joined + text : `${joined} ${text}`;
    }, '');
}

const WORDS: ApiWords = {
  server: 'transcription server',
  variables: { url: 'ASR_BASE_URL', key: 'ASR_API_KEY', model: 'ASR_MODEL' },
  codes: { unavailable: 'ENGINE_UNAVAILABLE', busy: 'ENGINE_BUSY', failed: 'ENGINE_FAILED' },
};

export class TranscriptionClient {
  readonly #model: string;
  readonly #api: ApiClient;
  readonly #timeoutMs: number;
  readonly #onText: () => void;

  /** `timeoutMs`: of one attempt, beside the length of its sound. `onText`: the server has sent a text. */
  constructor(
    { pool, model }: TranscriptionServers,
    timeoutMs: number,
    time: Time,
    onText: () => void = () => undefined,
  ) {
    this.#onText = onText;
    this.#model = model;
    this.#timeoutMs = timeoutMs;
    this.#api = new ApiClient(pool, WORDS, time);
  }

  /** Rejects as `ApiClient.request` does. */
  async transcribe(request: TranscriptionRequest): Promise<Transcription> {
    const body = formOf(this.#model, request);
    const timeoutMs = this.#timeoutMs + (request.samples.length / TRANSCRIPTION_RATE) * 1000;
    const { signal } = request;
    const text = transcriptionIn(
      await this.#api.request('audio/transcriptions', { body, timeoutMs, signal }),
    );
    this.#onText();
    return text;
  }

  /** Asks the server for its models. Rejects where it cannot be reached or refuses the key. */
  async probe(signal: AbortSignal): Promise<void> {
    try {
      await this.#api.requestOnce('models', { timeoutMs: this.#timeoutMs, signal });
    } catch (error) {
      if (!(error instanceof ParleyError) || error.code === 'ABORTED') throw error;
      if (error.field === 'ASR_MODEL') {
        const message = 'the list of models was answered with 404: does ASR_BASE_URL end in /v1?';
        throw new ParleyError('ENGINE_UNAVAILABLE', message, { field: 'ASR_BASE_URL' });
      }
      // A server that does not tell its models may transcribe nevertheless.
      if (error.field === 'ASR_API_KEY' || error.field === 'ASR_BASE_URL') throw error;
    }
  }
}

function formOf(model: string, { samples, language, prompt }: TranscriptionRequest): FormData {
  const form = new FormData();
  form.set('model', model);
  form.set('response_format', 'json');
  if (language !== undefined) form.set('language', language);
  if (prompt !== undefined && prompt !== '') form.set('prompt', prompt);
  form.set('file', new Blob([wavOf(samples)], { type: 'audio/wav' }), 'sound.wav');
  return form;
}

function wavOf(samples: Float32Array): Uint8Array<ArrayBuffer> {
  const count = Math.max(samples.length, LEAST_SAMPLES);
  const file = new Uint8Array(WAV_HEADER_BYTES + 2 * count);
  file.set(wavHeader(TRANSCRIPTION_RATE, count));
  toBytesS16le(samples, samples.length, file, WAV_HEADER_BYTES);
  return file;
}

function transcriptionIn(body: string): Transcription {
  const reply = parsed(body);
  const [text, language] = [field(reply, 'text'), field(reply, 'language')];
  if (typeof text !== 'string')
    throw new ParleyError('ENGINE_FAILED', 'the transcription server answered without a "text"');
  return { text: text.trim(), language: typeof language === 'string' ? language : undefined };
}
