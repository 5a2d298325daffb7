// The body of POST /v1/audio/speech as a wish to the speech service. Its schema
// has checked every field by itself; what fields mean together is checked here.
import { AUDIO_FORMATS, hasRate, ratesOf, type AudioFormat } from '../../speaking/audio-format.js';
import type { VoiceSample } from '../../speaking/cached-speech.js';
import { tagOfStated } from '../../speaking/language-plan.js';
import { isMarkup } from '../../speaking/text-source.js';
import { requestLexicon } from '../../speaking/text-reading.js';
import { ParleyError } from '../../errors.js';
import { type Manner, readInstructions, readManner } from './manner-fields.js';
import type { SpeechBody } from './speech-body.js';
import type { SpokenRequest } from './speech-source.js';

/** How the sound is sent: while it is made, all at once, or as events while it is made. */
export type Delivery = 'stream' | 'whole' | 'events';

/** A voice that comes with the request, before anything is made of it. */
export type OwnVoice =
  | { readonly kind: 'sample'; readonly sample: VoiceSample }
  | { readonly kind: 'prompt'; readonly prompt: string };

export interface SpeechWish {
  readonly text: string;
  readonly format: AudioFormat;
  /** Hz. */
  readonly sampleRate: number;
  readonly speed: number;
  readonly voice?: string;
  readonly language?: string;
  /** False: rendered anew, and not kept. */
  readonly cache?: boolean;
  /** False: silence around sentences stays. */
  readonly trimSilence?: boolean;
  /** False: the engine is given the text as it is written. */
  readonly normalize?: boolean;
  /** The text is SSML. */
  readonly markup?: boolean;
  readonly lexicon?: NonNullable<SpokenRequest['lexicon']>;
  readonly manner: Manner;
  readonly ownVoice?: OwnVoice;
  readonly delivery: Delivery;
}

const DEFAULT_FORMAT = 'mp3'; // as at OpenAI: clients that name none store what comes as .mp3

/** Throws INVALID_FIELD with the field named and what it may be. */
export function readSpeechRequest(body: SpeechBody): SpeechWish {
  const format = formatNamed(body.response_format);
  const voice = typeof body.voice === 'object' ? body.voice.id : body.voice;
  const language = body.language === undefined ? undefined : tagOfStated(body.language);
  const ownVoice = readOwnVoice(body);
  return {
    text: body.input,
    format,
    sampleRate: readSampleRate(body.sample_rate, format),
    speed: body.speed ?? 1,
    ...(voice === undefined ? {} : { voice }),
    ...(language === undefined ? {} : { language }),
    ...(body.cache === undefined ? {} : { cache: body.cache }),
    ...(body.trim_silence === false ? { trimSilence: false } : {}),
    ...(body.normalize === false ? { normalize: false } : {}),
    ...(isMarkup(body.input, body.input_format) ? { markup: true } : {}),
    ...(body.lexicon === undefined ? {} : { lexicon: requestLexicon(body.lexicon) }),
    manner: readManner(body),
    ...(ownVoice === undefined ? {} : { ownVoice }),
    delivery: readDelivery(body),
  };
}

/** MP3 where none is named. */
export function formatNamed(name: string = DEFAULT_FORMAT): AudioFormat {
  const format = AUDIO_FORMATS.find((candidate) => candidate.name === name);
  if (format === undefined) throw invalid('response_format', `there is no format "${name}"`);
  return format;
}

/** Not every format has every rate. */
export function readSampleRate(rate: number | undefined, format: AudioFormat): number {
  if (rate === undefined) return format.defaultRate;
  if (hasRate(format, rate)) return rate;
  throw invalid('sample_rate', `"sample_rate" of ${format.name} must be ${ratesOf(format)} (Hz)`);
}

function readOwnVoice(body: SpeechBody): OwnVoice | undefined {
  const { task_type: task, ref_audio: source, ref_text: text, x_vector_only_mode: xVectorOnly } = body;
  if (source !== undefined) {
    if (task !== undefined && task !== 'Base')
      throw invalid('ref_audio', `"ref_audio" goes with "task_type" "Base", not "${task}"`);
    const said = text === undefined || text === '' ? {} : { text };
    return {
      kind: 'sample',
      sample: { source, ...said, ...(xVectorOnly === undefined ? {} : { xVectorOnly }) },
    };
  }
  // Without a sample, Base speaks with a voice that was made of one before.
  if (task === 'Base' && body.voice === undefined) {
    throw invalid('ref_audio', '"ref_audio" must be given with "task_type" "Base" unless "voice" names one');
  }
  if (task !== 'VoiceDesign') return undefined;
  const prompt = readInstructions(body);
  if (prompt !== undefined) return { kind: 'prompt', prompt };
  throw invalid('instructions', '"instructions" must describe the voice where "task_type" is "VoiceDesign"');
}

function readDelivery({ stream, stream_format: form, non_streaming_mode: whole }: SpeechBody): Delivery {
  if (form === 'sse') {
    if (stream !== false) return 'events';
    throw invalid('stream', '"stream" must be true or absent where "stream_format" is "sse"');
  }
  if (stream === false || whole === true) return 'whole';
  return stream === true && form === undefined ? 'events' : 'stream'; // as at vLLM-Omni
}

function invalid(field: string, message: string): ParleyError {
  return new ParleyError('INVALID_FIELD', message, { field });
}
