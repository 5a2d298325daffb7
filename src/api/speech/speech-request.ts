// Decodes the body of POST /v1/audio/speech into a SpeechRequest. The schema has checked every field by
// itself; this file checks what fields mean together, and the model that a request names. An error names a
// field as the client does.
import type { SpeechOptions } from '../../engines/engine.js';
import { ParleyError } from '../../errors.js';
import { type AudioFormat, formatNamed, hasRate, ratesOf } from '../../speaking/audio-format.js';
import { tagOfStated } from '../../speaking/language-plan.js';
import type { SpeechRequest } from '../../speaking/speech-request.js';
import { stated } from '../../stated.js';
import { requestLexicon } from '../../speaking/text-reading.js';
import { isMarkup, type TextFormat } from '../../speaking/text-source.js';
import { promptVoice } from '../../speaking/voice-plan.js';

/** The body as its schema lets it through. */
export interface SpeechBody {
  readonly model?: string;
  readonly input: string;
  readonly input_format?: TextFormat;
  readonly lexicon?: readonly object[];
  readonly voice?: string | { readonly id: string };
  readonly response_format?: string;
  readonly speed?: number;
  readonly language?: string;
  readonly sample_rate?: number;
  readonly instructions?: string;
  readonly instruct?: string;
  readonly temperature?: number;
  readonly top_p?: number;
  readonly top_k?: number;
  readonly seed?: number;
  readonly max_new_tokens?: number;
  readonly normalize?: boolean;
  readonly trim_silence?: boolean;
  readonly task_type?: 'CustomVoice' | 'VoiceDesign' | 'Base';
  readonly ref_audio?: string;
  readonly ref_text?: string;
  readonly x_vector_only_mode?: boolean;
  readonly stream?: boolean;
  readonly stream_format?: 'audio' | 'sse';
  readonly non_streaming_mode?: boolean;
  readonly initial_codec_chunk_frames?: number;
  readonly cache?: boolean;
}

const DEFAULT_FORMAT = 'mp3'; // as at OpenAI: clients that name none store what comes as .mp3
const INPUT: FieldNames = { text: 'input' }; // as at OpenAI

/** Throws INVALID_FIELD with the field named and what it may be. */
export function readSpeechRequest(body: SpeechBody, client: string): SpeechRequest {
  const { input: text, voice, language, lexicon } = body;
  const format = formatNamed(body.response_format ?? DEFAULT_FORMAT);
  const ownVoice = readOwnVoice(body);
  return {
    text,
    client,
    format,
    sampleRate: readSampleRate(body.sample_rate, format),
    speed: body.speed ?? 1,
    ...stated({
      voice: typeof voice === 'object' ? voice.id : voice,
      language: language === undefined ? undefined : tagOfStated(language),
      cache: body.cache,
      trimSilence: body.trim_silence === false ? false : undefined,
      normalize: body.normalize === false ? false : undefined,
      markup: isMarkup(text, body.input_format) ? true : undefined,
      lexicon: lexicon === undefined ? undefined : requestLexicon(lexicon),
      options: readOptions(body),
      delivery: readDelivery(body),
      ignoredFields:
        body.initial_codec_chunk_frames === undefined ? undefined : ['initial_codec_chunk_frames'],
    }),
    ...ownVoice,
  };
}

/** Returns the body's names of fields that have another name in a SpeechRequest. */
export function fieldNamesOf({ instructions, instruct }: SpeechBody): FieldNames {
  return instructions === undefined && instruct !== undefined
    ? { ...INPUT, instructions: 'instruct' }
    : INPUT;
}

/** Not every format has every rate. */
function readSampleRate(rate: number | undefined, format: AudioFormat): number {
  if (rate === undefined) return format.defaultRate;
  if (hasRate(format, rate)) return rate;
  throw invalid('sample_rate', `"sample_rate" of ${format.name} must be ${ratesOf(format)} (Hz)`);
}

function readOptions(body: SpeechBody): SpeechOptions | undefined {
  const options = stated({
    // With VoiceDesign they describe the voice.
    instructions: body.task_type === 'VoiceDesign' ? undefined : readInstructions(body),
    temperature: body.temperature,
    topP: body.top_p,
    topK: body.top_k,
    seed: body.seed,
    maxNewTokens: body.max_new_tokens,
  });
  return Object.keys(options).length === 0 ? undefined : options;
}

/** Some clients write None if there are none. */
function readInstructions({ instructions, instruct }: SpeechBody): string | undefined {
  const words = instructions ?? instruct;
  return words === undefined || words === '' || words === 'None' ? undefined : words;
}

/** The voice that comes with the request. */
function readOwnVoice(body: SpeechBody): Pick<SpeechRequest, 'sample' | 'reference'> {
  const { task_type: task, ref_audio: source, ref_text: text, x_vector_only_mode: xVectorOnly } = body;
  if (source !== undefined) {
    if (task !== undefined && task !== 'Base')
      throw invalid('ref_audio', `"ref_audio" goes with "task_type" "Base", not "${task}"`);
    return { sample: { source, ...stated({ text: text === '' ? undefined : text, xVectorOnly }) } };
  }
  // Without a sample, Base speaks with a voice that was made of one before.
  if (task === 'Base' && body.voice === undefined) {
    throw invalid('ref_audio', '"ref_audio" must be given with "task_type" "Base" unless "voice" names one');
  }
  if (task !== 'VoiceDesign') return {};
  const prompt = readInstructions(body);
  if (prompt !== undefined) return { reference: promptVoice(prompt) };
  throw invalid('instructions', '"instructions" must describe the voice where "task_type" is "VoiceDesign"');
}

function readDelivery(body: SpeechBody): SpeechRequest['delivery'] {
  const { stream, stream_format: form, non_streaming_mode: whole } = body;
  if (form === 'sse') {
    if (stream !== false) return 'events';
    throw invalid('stream', '"stream" must be true or absent where "stream_format" is "sse"');
  }
  if (stream === false || whole === true) return 'whole';
  return stream === true && form === undefined ? 'events' : undefined; // as at vLLM-Omni
}

function invalid(field: string, message: string): ParleyError {
  return new ParleyError('INVALID_FIELD', message, { field });
}

/** By the name inside. */
export type FieldNames = Readonly<Record<string, string>>;

/** The error under these names, in its message too; any other error as it is. */
export function renamed(error: unknown, names: FieldNames): unknown {
  if (!(error instanceof ParleyError) || error.field === undefined) return error;
  const name = names[error.field];
  if (name === undefined) return error;
  const message = error.message.replaceAll(`"${error.field}"`, `"${name}"`);
  const { code, retryAfterSeconds } = error;
  return new ParleyError(code, message, { field: name, cause: error, retryAfterSeconds });
}

// Clients have these names built in; any voice may speak for them, and any recogniser listen.
export const SPEECH_MODELS = /^(?:tts-1(?:-hd)?|gpt-4o-mini-tts)(?:-\d{4}-\d{2}-\d{2}|-\d{4})?$/;
export const TRANSCRIPTION_MODELS =
  /^(?:whisper-1|gpt-4o(?:-mini)?-transcribe|gpt-realtime-whisper)(?:-\d{4}-\d{2}-\d{2})?$/;

export class ModelNames {
  /** As the lists name it. */
  readonly id: string;
  readonly #strict: boolean;
  readonly #known: RegExp;

  /** Strict: other names than its own and OpenAI's are refused. */
  constructor(id: string, strict: boolean, known = SPEECH_MODELS) {
    this.id = id;
    this.#strict = strict;
    this.#known = known;
  }

  /** Throws MODEL_UNKNOWN where a request may not name it so. */
  check(name: string | undefined): void {
    if (!this.#strict || name === undefined || name === this.id || this.#known.test(name)) return;
    throw this.unknown(name);
  }

  unknown(name: string): ParleyError {
    const there = `there is no model "${name}"; there is "${this.id}"`;
    return new ParleyError('MODEL_UNKNOWN', there, { field: 'model' });
  }
}
