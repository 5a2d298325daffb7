// The body of POST /v1/audio/speech, read field by field as OpenAI states it.
// Fields that are not known are ignored, as its clients and dialects expect.
import { AUDIO_FORMATS, hasRate, ratesOf, SPEEDS, type AudioFormat } from '../call/audio-format.js';
import { ParleyError } from '../errors.js';

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
}

const DEFAULT_FORMAT = 'mp3'; // as at OpenAI: clients that name none store what comes as .mp3
const MAX_LANGUAGE = 35; // characters; the longest that BCP 47 asks to be ready for (section 4.4.1)
const MAX_NAME = 200; // characters; no voice or model is called anything longer

function invalid(field: string, message: string): ParleyError {
  return new ParleyError('INVALID_FIELD', message, { field });
}

/** Throws MALFORMED or INVALID_FIELD with the field named and what it may be. */
export function readSpeechRequest(body: unknown): SpeechWish {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new ParleyError('MALFORMED', 'the body must be a JSON object with at least the field "input"');
  }
  const fields = statedFields(body);
  if (typeof fields['input'] !== 'string') {
    throw invalid('input', '"input" must be a string: the text to speak');
  }
  // OpenAI requires a model; every name is taken and none makes a difference.
  if (fields['model'] !== undefined) readName('model', fields['model']);
  checkStreamFormat(fields['stream_format']);
  const voice = readVoice(fields['voice']);
  const language = readLanguage(fields['language']);
  const format = readFormat(fields['response_format']);
  const cache = readCache(fields['cache']);
  return {
    text: fields['input'],
    format,
    sampleRate: readSampleRate(fields['sample_rate'], format),
    speed: readSpeed(fields['speed']),
    ...(voice === undefined ? {} : { voice }),
    ...(language === undefined ? {} : { language }),
    ...(cache === undefined ? {} : { cache }),
  };
}

/** Null is how some clients leave a field out. */
function statedFields(body: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
}

function readName(field: string, value: unknown): string {
  if (typeof value === 'string' && value !== '' && value.length <= MAX_NAME) return value;
  throw invalid(field, `"${field}" must be a string of 1 to ${MAX_NAME} characters`);
}

/** A name, or OpenAI's form for custom voices: {"id": name}. */
function readVoice(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'object' && value !== null && 'id' in value) return readName('voice.id', value.id);
  return readName('voice', value);
}

function readFormat(value: unknown): AudioFormat {
  const name = value ?? DEFAULT_FORMAT;
  const format = AUDIO_FORMATS.find((candidate) => candidate.name === name);
  if (format !== undefined) return format;
  const names = AUDIO_FORMATS.map((known) => `"${known.name}"`).join(', ');
  const aac = name === 'aac' ? '; this server has no encoder for "aac"' : '';
  throw invalid('response_format', `"response_format" must be one of ${names}${aac}`);
}

/** An extension to OpenAI's schema. */
function readSampleRate(value: unknown, format: AudioFormat): number {
  if (value === undefined) return format.defaultRate;
  if (typeof value === 'number' && hasRate(format, value)) return value;
  throw invalid('sample_rate', `"sample_rate" of ${format.name} must be ${ratesOf(format)} (Hz)`);
}

function readSpeed(value: unknown): number {
  const [least, most] = SPEEDS;
  if (value === undefined) return 1;
  if (typeof value === 'number' && value >= least && value <= most) return value;
  throw invalid('speed', `"speed" must be a number from ${least} to ${most}`);
}

function checkStreamFormat(value: unknown): void {
  if (value === undefined || value === 'audio') return;
  throw invalid('stream_format', '"stream_format" must be "audio"; this server has no other yet');
}

/** An extension to OpenAI's schema. */
function readCache(value: unknown): boolean | undefined {
  if (value === undefined || typeof value === 'boolean') return value;
  throw invalid('cache', '"cache" must be true or false');
}

/** An extension to OpenAI's schema: a BCP 47 tag, or "auto" for what the text turns out to be. */
function readLanguage(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'string') {
    if (value.toLowerCase() === 'auto') return undefined;
    if (value.length <= MAX_LANGUAGE && /^[a-z]{2,8}([-_][a-z0-9]{1,8})*$/i.test(value)) return value;
  }
  throw invalid('language', '"language" must be a tag such as "en" or "fr", or "auto"');
}
