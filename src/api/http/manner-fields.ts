// How a text is to be spoken, from the fields that POST /v1/audio/speech has,
// too. Fields that are not known are passed over, as there.
import { AUDIO_FORMATS, hasRate, ratesOf, SPEEDS, type AudioFormat } from '../../speaking/audio-format.js';
import { promptVoice } from '../../speaking/prompt-voice.js';
import type { SpeakingManner } from '../../speaking/spoken-sentences.js';
import { isStatedLanguage, tagOfStated } from '../../speaking/stated-language.js';
import { requestLexicon } from '../../speaking/text-reading.js';
import { choiceIn, type Fields, flagIn, invalid, numberIn, stringIn, wholeIn } from './message-fields.js';

export type StatedManner = Pick<
  SpeakingManner,
  'voice' | 'language' | 'speed' | 'options' | 'trimSilence' | 'normalize' | 'lexicon' | 'reference' | 'cache'
>;

export interface MannerLimits {
  /** Codec frames of one sentence. */
  readonly maxNewTokens: number;
}

const MAX_NAME = 200; // characters; no voice or model is called anything longer
const MAX_INSTRUCTIONS = 4096; // as at OpenAI
const LARGEST_WHOLE = Number.MAX_SAFE_INTEGER;
const TASKS = ['CustomVoice', 'VoiceDesign', 'Base'] as const;

// A sample of a voice does not belong into a message; over HTTP there are ways for it.
const SAMPLE_FIELDS = ['ref_audio', 'ref_text', 'speaker_embedding'];

/** Fields that `readManner` reads, or refuses by name. */
export const MANNER_FIELDS = [
  'voice', 'speaker', 'language', 'speed', 'task_type', 'instructions', 'instruct', 'temperature', 'top_p', 'top_k',
  'seed', 'max_new_tokens', 'trim_silence', 'normalize', 'lexicon', 'cache', 'x_vector_only_mode', ...SAMPLE_FIELDS,
] as const; // prettier-ignore

/** Throws INVALID_FIELD. */
export function readManner(fields: Fields, limits: MannerLimits): StatedManner {
  refuseSamples(fields);
  const task = choiceIn(fields, 'task_type', TASKS);
  const instructions = readInstructions(fields);
  const designed = task === 'VoiceDesign';
  if (designed && instructions === undefined) {
    throw invalid('instructions', 'must describe the voice where "task_type" is "VoiceDesign"');
  }
  const options = {
    ...stated('instructions', designed ? undefined : instructions),
    ...stated('temperature', numberIn(fields, 'temperature', 0, 2)),
    ...stated('topP', numberIn(fields, 'top_p', 0, 1)),
    ...stated('topK', wholeIn(fields, 'top_k', 0, LARGEST_WHOLE)),
    ...stated('seed', wholeIn(fields, 'seed', -LARGEST_WHOLE, LARGEST_WHOLE)),
    ...stated('maxNewTokens', wholeIn(fields, 'max_new_tokens', 1, limits.maxNewTokens)),
  };
  return {
    ...stated('voice', readVoice(fields)),
    ...stated('language', readLanguage(fields)),
    ...stated('speed', numberIn(fields, 'speed', ...SPEEDS)),
    ...stated('trimSilence', flagIn(fields, 'trim_silence')),
    ...(flagIn(fields, 'normalize') === false ? { normalize: false } : {}),
    ...(fields['lexicon'] === undefined ? {} : { lexicon: requestLexicon(fields['lexicon']) }),
    ...stated('cache', flagIn(fields, 'cache')),
    ...(Object.keys(options).length === 0 ? {} : { options }),
    ...(designed && instructions !== undefined ? { reference: promptVoice(instructions) } : {}),
  };
}

export function readModel(fields: Fields): string | undefined {
  return stringIn(fields, 'model', MAX_NAME);
}

export function readFormat(fields: Fields, usual: AudioFormat['name']): AudioFormat {
  const name = stringIn(fields, 'response_format') ?? usual;
  const format = AUDIO_FORMATS.find((candidate) => candidate.name === name);
  if (format !== undefined) return format;
  const names = AUDIO_FORMATS.map((known) => `"${known.name}"`).join(', ');
  throw invalid('response_format', `must be one of ${names}`);
}

/** Hz. */
export function readRate(fields: Fields, format: AudioFormat): number {
  const rate = fields['sample_rate'];
  if (rate === undefined) return format.defaultRate;
  if (typeof rate === 'number' && hasRate(format, rate)) return rate;
  throw invalid('sample_rate', `of ${format.name} must be ${ratesOf(format)} (Hz)`);
}

function stated<K extends string, V>(name: K, value: V | undefined): { readonly [_ in K]?: V } {
  return value === undefined ? {} : ({ [name]: value } as { readonly [_ in K]?: V });
}

function refuseSamples(fields: Fields): void {
  const field =
    SAMPLE_FIELDS.find((name) => fields[name] !== undefined) ??
    (flagIn(fields, 'x_vector_only_mode') === true ? 'x_vector_only_mode' : undefined);
  if (field === undefined) return;
  throw invalid(
    field,
    'is not taken over a WebSocket; make the voice with POST /v1/audio/voices and name it',
  );
}

/** A name, under either field, or OpenAI's form for custom voices: {"id": name}. */
function readVoice(fields: Fields): string | undefined {
  const field = fields['voice'] === undefined && fields['speaker'] !== undefined ? 'speaker' : 'voice';
  const value = fields[field];
  const inner = typeof value === 'object' && value !== null && 'id' in value ? value.id : value;
  if (inner === undefined) return undefined;
  if (typeof inner === 'string' && inner !== '' && inner.length <= MAX_NAME) return inner;
  throw invalid(field, `must be a name of 1 to ${MAX_NAME} characters`);
}

function readLanguage(fields: Fields): string | undefined {
  const language = stringIn(fields, 'language');
  if (language === undefined || language === '') return undefined;
  if (isStatedLanguage(language)) return tagOfStated(language);
  throw invalid('language', 'must be a tag such as "en" or "fr", a name such as "English", or "auto"');
}

/** Some clients write None where there are none. */
function readInstructions(fields: Fields): string | undefined {
  const words =
    stringIn(fields, 'instructions', MAX_INSTRUCTIONS) ?? stringIn(fields, 'instruct', MAX_INSTRUCTIONS);
  return words === '' || words === 'None' ? undefined : words;
}
