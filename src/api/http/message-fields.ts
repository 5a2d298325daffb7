// Reads the fields of JSON messages on speech sockets one by one: the primitives, and the speaking options
// that POST /v1/audio/speech has too. Each refusal names the field and its allowed values. Null counts as
// absent. A dialect that must not ignore unknown fields calls refuseUnknown.
import { ParleyError } from '../../errors.js';
import { SPEEDS } from '../../audio/time-stretch.js';
import { AUDIO_FORMATS, type AudioFormat, hasRate, ratesOf } from '../../speaking/audio-format.js';
import { promptVoice } from '../../speaking/voice-plan.js';
import type { SpeechSettings } from '../../speaking/speech-request.js';
import { stated } from '../../stated.js';
import { isStatedLanguage, tagOfStated } from '../../speaking/language-plan.js';
import { requestLexicon } from '../../speaking/text-reading.js';

export type Fields = Readonly<Record<string, unknown>>;

/** Parses a text message. Throws MALFORMED if it is not a JSON object. */
export function readFields(data: string | Uint8Array): Fields {
  if (typeof data !== 'string') throw malformed('a message must be text, not binary');
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    throw malformed('a message must be JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw malformed('a message must be a JSON object');
  }
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null));
}

function malformed(what: string): ParleyError {
  return new ParleyError('MALFORMED', what);
}

export function invalid(field: string, what: string): ParleyError {
  return new ParleyError('INVALID_FIELD', `"${field}" ${what}`, { field });
}

/**
 * Throws INVALID_FIELD for the first field that is not known, so that a misspelt one is not ignored in
 * silence.
 */
export function refuseUnknown(fields: Fields, known: readonly string[], what: string): void {
  const unknown = Object.keys(fields).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw invalid(unknown.slice(0, 100), `is no field of ${what}, which may have ${known.join(', ')}`);
}

export function stringIn(fields: Fields, name: string, most = Infinity): string | undefined {
  const value = fields[name];
  if (value === undefined || (typeof value === 'string' && value.length <= most)) return value;
  throw invalid(
    name,
    most === Infinity ? 'must be a string' : `must be a string of at most ${most} characters`,
  );
}

export function flagIn(fields: Fields, name: string): boolean | undefined {
  const value = fields[name];
  if (value === undefined || typeof value === 'boolean') return value;
  throw invalid(name, 'must be true or false');
}

export function numberIn(fields: Fields, name: string, least: number, most: number): number | undefined {
  const value = fields[name];
  if (value === undefined) return undefined;
  if (typeof value === 'number' && value >= least && value <= most) return value;
  throw invalid(name, `must be a number from ${least} to ${most}`);
}

export function wholeIn(fields: Fields, name: string, least: number, most: number): number | undefined {
  const value = fields[name];
  if (value === undefined) return undefined;
  if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most)
    return value as number;
  throw invalid(name, `must be a whole number from ${least} to ${most}`);
}

export function choiceIn<T extends string>(
  fields: Fields,
  name: string,
  choices: readonly T[],
): T | undefined {
  const value = fields[name];
  if (value === undefined) return undefined;
  const chosen = choices.find((choice) => choice === value);
  if (chosen !== undefined) return chosen;
  throw invalid(name, `must be one of ${choices.map((choice) => `"${choice}"`).join(', ')}`);
}

type SpeechOptionFields = Pick<
  SpeechSettings,
  'voice' | 'language' | 'speed' | 'options' | 'trimSilence' | 'normalize' | 'lexicon' | 'reference' | 'cache'
>;

export interface SpeechOptionLimits {
  /** The largest allowed `max_new_tokens`: codec frames of one sentence. */
  readonly maxNewTokens: number;
}

const MAX_NAME = 200; // characters of a voice or model name
const MAX_INSTRUCTIONS = 4096; // characters, as in OpenAI's API
const LARGEST_WHOLE = Number.MAX_SAFE_INTEGER;
const TASKS = ['CustomVoice', 'VoiceDesign', 'Base'] as const;

// Voice samples are not accepted in messages; POST /v1/audio/voices takes them.
const SAMPLE_FIELDS = ['ref_audio', 'ref_text', 'speaker_embedding'];

/** The fields that `readSpeechOptions` reads or refuses. */
export const SPEECH_OPTION_FIELDS = [
  'voice',
  'speaker',
  'language',
  'speed',
  'task_type',
  'instructions',
  'instruct',
  'temperature',
  'top_p',
  'top_k',
  'seed',
  'max_new_tokens',
  'trim_silence',
  'normalize',
  'lexicon',
  'cache',
  'x_vector_only_mode',
  ...SAMPLE_FIELDS,
] as const;

/** Throws INVALID_FIELD. */
export function readSpeechOptions(fields: Fields, limits: SpeechOptionLimits): SpeechOptionFields {
  refuseSamples(fields);
  const task = choiceIn(fields, 'task_type', TASKS);
  const instructions = readInstructions(fields);
  const designed = task === 'VoiceDesign';
  if (designed && instructions === undefined) {
    throw invalid('instructions', 'must describe the voice where "task_type" is "VoiceDesign"');
  }
  const options = stated({
    instructions: designed ? undefined : instructions,
    temperature: numberIn(fields, 'temperature', 0, 2),
    topP: numberIn(fields, 'top_p', 0, 1),
    topK: wholeIn(fields, 'top_k', 0, LARGEST_WHOLE),
    seed: wholeIn(fields, 'seed', -LARGEST_WHOLE, LARGEST_WHOLE),
    maxNewTokens: wholeIn(fields, 'max_new_tokens', 1, limits.maxNewTokens),
  });
  return stated({
    voice: readVoice(fields),
    language: readLanguage(fields),
    speed: numberIn(fields, 'speed', ...SPEEDS),
    trimSilence: flagIn(fields, 'trim_silence'),
    normalize: flagIn(fields, 'normalize') === false ? false : undefined,
    lexicon: fields['lexicon'] === undefined ? undefined : requestLexicon(fields['lexicon']),
    cache: flagIn(fields, 'cache'),
    options: Object.keys(options).length === 0 ? undefined : options,
    reference: designed && instructions !== undefined ? promptVoice(instructions) : undefined,
  });
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

/** The sample rate in Hz. */
export function readRate(fields: Fields, format: AudioFormat): number {
  const rate = fields['sample_rate'];
  if (rate === undefined) return format.defaultRate;
  if (typeof rate === 'number' && hasRate(format, rate)) return rate;
  throw invalid('sample_rate', `of ${format.name} must be ${ratesOf(format)} (Hz)`);
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

/** A name in `voice` or `speaker`, or OpenAI's form for custom voices: {"id": name}. */
function readVoice(fields: Fields): string | undefined {
  const field = fields['voice'] === undefined && fields['speaker'] !== undefined ? 'speaker' : 'voice';
  const value = fields[field];
  const inner = typeof value === 'object' && value !== null && 'id' in value ? value.id : value;
  if (inner === undefined) return undefined;
  if (typeof inner === 'string' && inner !== '' && inner.length <= MAX_NAME) return inner;
  throw invalid(field, `must be a name of 1 to ${MAX_NAME} characters`);
}

export function readLanguage(fields: Fields): string | undefined {
  const language = stringIn(fields, 'language');
  if (language === undefined || language === '') return undefined;
  if (isStatedLanguage(language)) return tagOfStated(language);
  throw invalid('language', 'must be a tag such as "en" or "fr", a name such as "English", or "auto"');
}

/** Some clients write "None" for absent instructions. */
function readInstructions(fields: Fields): string | undefined {
  const words =
    stringIn(fields, 'instructions', MAX_INSTRUCTIONS) ?? stringIn(fields, 'instruct', MAX_INSTRUCTIONS);
  return words === '' || words === 'None' ? undefined : words;
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Bytes of sound in base64. Throws INVALID_FIELD. */
export function soundIn(fields: Fields, name: string): Buffer {
  const sound = stringIn(fields, name);
  if (sound === undefined || !BASE64.test(sound)) throw invalid(name, 'must be sound in base64');
  return Buffer.from(sound, 'base64');
}
