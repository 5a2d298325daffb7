// The body of POST /v1/audio/speech, read field by field as OpenAI states it.
// Fields that are not known are ignored, as its clients and dialects expect.
import { ParleyError } from '../errors.js';

export interface SpeechWish {
  readonly text: string;
  readonly container: 'wav' | 'pcm';
  readonly voice?: string;
  readonly language?: string;
  /** False: rendered anew, and not kept. */
  readonly cache?: boolean;
}

const FORMATS = ['wav', 'pcm'] as const;
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
  checkSpeed(fields['speed']);
  checkStreamFormat(fields['stream_format']);
  const voice = readVoice(fields['voice']);
  const language = readLanguage(fields['language']);
  const cache = readCache(fields['cache']);
  return {
    text: fields['input'],
    container: readFormat(fields['response_format']),
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

// OpenAI answers mp3 where no format is named. There is no mp3 here yet, and a
// WAV says of itself what it is, so that is what a request without a format gets.
function readFormat(value: unknown): 'wav' | 'pcm' {
  if (value === undefined) return 'wav';
  const format = FORMATS.find((name) => name === value);
  if (format !== undefined) return format;
  throw invalid('response_format', '"response_format" must be "wav" or "pcm"; this server has no other yet');
}

function checkSpeed(value: unknown): void {
  if (value === undefined || value === 1) return;
  throw invalid('speed', '"speed" must be 1; this server has no other yet');
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
