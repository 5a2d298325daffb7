// Decodes what ElevenLabs' clients send: the bodies of HTTP requests, the query of a socket's address, the
// messages on it, and the names of sound formats (codec, rate in Hz, and kb/s where the codec has any; the
// encoders choose the kb/s themselves). Unknown fields are ignored; null in a message counts as absent.
import { SPEEDS } from '../../audio/time-stretch.js';
import {
  AUDIO_FORMATS,
  type AudioFormat,
  bytesPerSecond,
  hasRate,
  ratesOf,
} from '../../speaking/audio-format.js';
import { isStatedLanguage, tagOfStated } from '../../speaking/language-plan.js';
import type { SpeechRequest } from '../../speaking/speech-request.js';
import { stated } from '../../stated.js';
import { isMarkup } from '../../speaking/text-source.js';
import { type Fields, flagIn, invalid, readFields, stringIn } from '../http/message-fields.js';
import type { FieldNames } from '../speech/speech-request.js';

export interface ClientMessage {
  readonly text?: string | undefined;
  readonly contextId?: string;
  readonly flush: boolean;
  readonly trigger: boolean;
  readonly closeContext: boolean;
  readonly closeSocket: boolean;
  readonly speed?: number;
  readonly schedule?: readonly number[];
  /** As it stands in the message, without "Bearer". */
  readonly key?: string;
}

const CHUNK_LENGTHS: readonly [least: number, most: number] = [50, 500];
const MAX_SCHEDULE = 100; // lengths; the last one holds for all that follow
const MAX_CONTEXT_ID = 256; // characters; it comes back with every message

/** Throws MALFORMED or INVALID_FIELD with the field named and what it may be. */
export function readClientMessage(data: string | Uint8Array): ClientMessage {
  const fields = readFields(data);
  const text = stringIn(fields, 'text');
  const contextId = readContextId(fields);
  const speed = readSpeed(fields['voice_settings']);
  const schedule = readSchedule(fields, 'generation_config') ?? readSchedule(fields, 'generator_config');
  const key = readKey(fields);
  return {
    flush: flagIn(fields, 'flush') ?? false,
    trigger: flagIn(fields, 'try_trigger_generation') ?? false,
    closeContext: flagIn(fields, 'close_context') ?? false,
    closeSocket: flagIn(fields, 'close_socket') ?? false,
    ...stated({ text, contextId, speed, schedule, key }),
  };
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The second name is the one under which ElevenLabs' own library writes it in one of its messages. */
function readContextId(fields: Fields): string | undefined {
  return stringIn(fields, 'context_id', MAX_CONTEXT_ID) ?? stringIn(fields, 'contextId', MAX_CONTEXT_ID);
}

/** Reads ElevenLabs' `voice_settings`; only the speed has an effect here. */
function readSpeed(settings: unknown): number | undefined {
  if (settings === undefined || settings === null) return undefined;
  if (!isObject(settings)) throw invalid('voice_settings', 'must be an object');
  const speed = settings['speed'] ?? undefined;
  const [least, most] = SPEEDS;
  if (speed === undefined || (typeof speed === 'number' && speed >= least && speed <= most)) return speed;
  throw invalid('voice_settings.speed', `must be a number from ${least} to ${most}`);
}

function readSchedule(fields: Fields, name: string): number[] | undefined {
  const config = fields[name] ?? undefined;
  if (config === undefined) return undefined;
  if (!isObject(config)) throw invalid(name, 'must be an object');
  const schedule = config['chunk_length_schedule'] ?? undefined;
  if (schedule === undefined) return undefined;
  const field = `${name}.chunk_length_schedule`;
  const [least, most] = CHUNK_LENGTHS;
  const isLength = (value: unknown) => typeof value === 'number' && value >= least && value <= most;
  if (Array.isArray(schedule) && schedule.length > 0 && schedule.length <= MAX_SCHEDULE) {
    if (schedule.every(isLength)) return schedule as number[];
  }
  throw invalid(field, `must be a list of 1 to ${MAX_SCHEDULE} numbers from ${least} to ${most}`);
}

function readKey(fields: Fields): string | undefined {
  const own = stringIn(fields, 'xi_api_key') ?? stringIn(fields, 'xi-api-key');
  return own ?? stringIn(fields, 'authorization')?.replace(/^Bearer\s+/i, '');
}

/** As its schema lets it through. */
export interface ElevenLabsBody {
  readonly text: string;
  readonly model_id?: string;
  readonly language_code?: string;
  readonly voice_settings?: { readonly speed?: number };
  readonly seed?: number;
  readonly apply_text_normalization?: 'auto' | 'on' | 'off';
  readonly cache?: boolean;
}

/** The clients' names for fields that have another name in a SpeechRequest. */
export const ELEVENLABS_NAMES: FieldNames = {
  voice: 'voice_id',
  model: 'model_id',
  language: 'language_code',
  normalize: 'apply_text_normalization',
};

/** `voice` is its name on this server. Throws INVALID_FIELD. */
export function readElevenLabsRequest(
  { text, language_code: language, voice_settings: settings, seed, cache, ...body }: ElevenLabsBody,
  voice: string,
  outputFormat: string = DEFAULT_OUTPUT_FORMAT,
): SpeechRequest {
  return {
    text,
    voice,
    ...readOutputFormat(outputFormat),
    speed: settings?.speed ?? 1,
    ...stated({
      language: language === undefined ? undefined : tagOfStated(language),
      cache,
      normalize: body.apply_text_normalization === 'off' ? false : undefined,
      markup: isMarkup(text) ? true : undefined,
      options: seed === undefined ? undefined : { seed },
    }),
  };
}

interface OutputFormat {
  readonly format: AudioFormat;
  /** Hz. */
  readonly sampleRate: number;
}

interface Codec {
  readonly format: AudioFormat['name'];
  readonly kbps?: true;
  /** Hz; where ElevenLabs has no other. */
  readonly onlyRate?: number;
}

const CODECS: ReadonlyMap<string, Codec> = new Map<string, Codec>([
  ['mp3', { format: 'mp3', kbps: true }],
  ['pcm', { format: 'pcm' }],
  ['wav', { format: 'wav' }],
  ['opus', { format: 'opus', kbps: true, onlyRate: 48_000 }],
  ['ulaw', { format: 'ulaw_8000' }],
  ['alaw', { format: 'alaw_8000' }],
]);

const NAME = /^([a-z0-9]+)_(\d{4,5})(?:_(\d{2,3}))?$/;

export const DEFAULT_OUTPUT_FORMAT = 'mp3_44100_128';

/** In words that follow `must be`. */
export const OUTPUT_FORMAT_NAMES =
  'mp3_<rate>_<kbps>, opus_48000_<kbps>, pcm_<rate>, wav_<rate>, ulaw_8000 or alaw_8000, such as "pcm_24000"';

/** Throws INVALID_FIELD with what is allowed. */
function readOutputFormat(name: string): OutputFormat {
  const [, codecName = '', rate = '', kbps] = NAME.exec(name) ?? [];
  const codec = CODECS.get(codecName);
  const format = AUDIO_FORMATS.find((known) => known.name === codec?.format);
  if (codec === undefined || format === undefined || (codec.kbps === true) !== (kbps !== undefined)) {
    throw invalid('output_format', `must be ${OUTPUT_FORMAT_NAMES}`);
  }
  const sampleRate = Number(rate);
  if (hasRate(format, sampleRate) && sampleRate === (codec.onlyRate ?? sampleRate))
    return { format, sampleRate };
  throw invalid(
    'output_format',
    `with ${codecName} must have a rate of ${codec.onlyRate ?? ratesOf(format)} (Hz)`,
  );
}

export interface SocketFormat extends OutputFormat {
  /** Undefined where a byte has no fixed length in time. */
  readonly bytesPerMs: number | undefined;
  /** Bytes of one sample, which must not be split; 1 if bytes may be split anywhere. */
  readonly sampleBytes: number;
}

/** Throws INVALID_FIELD with what is allowed. */
export function readSocketFormat(name: string): SocketFormat {
  const { format, sampleRate } = readOutputFormat(name);
  const { container } = format;
  // Sentences follow one another here, and each would begin with a header of its own.
  if (container === 'wav') throw invalid('output_format', 'of a WebSocket cannot be WAV; pcm_<rate> can');
  const perSecond = bytesPerSecond(container, sampleRate);
  return {
    format,
    sampleRate,
    bytesPerMs: perSecond === undefined ? undefined : perSecond / 1000,
    sampleBytes: container === 'pcm' ? 2 : 1,
  };
}

export interface SocketSettings {
  readonly format: SocketFormat;
  readonly language?: string;
  readonly seed?: number;
  /** Text is spoken as it comes, sentence by sentence, instead of by the schedule. */
  readonly autoMode: boolean;
  /** If false, the engine gets the text as it is written. */
  readonly normalize?: boolean;
  /** Markup in the text is not to be read out. */
  readonly markup: boolean;
  /** Milliseconds without a message after which a socket or context is let go. */
  readonly inactivityMs: number;
}

const INACTIVITY_S = { usual: 20, most: 180 };
const MAX_SEED = 4_294_967_295;

/** Parameters of ElevenLabs' sockets. Some have no effect: `readSocketSettings` does not read them. */
export const SOCKET_PARAMETERS = [
  'apply_text_normalization',
  'authorization',
  'auto_mode',
  'enable_logging',
  'enable_ssml_parsing',
  'inactivity_timeout',
  'language_code',
  'model_id',
  'optimize_streaming_latency',
  'output_format',
  'seed',
  'single_use_token',
  'sync_alignment',
] as const;

/** Throws INVALID_FIELD with the parameter named and what it may be. */
export function readSocketSettings(query: URLSearchParams): SocketSettings {
  const language = readLanguage(query.get('language_code'));
  const seed = readWhole(query, 'seed', 0, MAX_SEED);
  const normalization = readChoice(query, 'apply_text_normalization', ['auto', 'on', 'off']);
  readFlag(query, 'sync_alignment'); // every message of sound has its times, asked for or not
  return {
    format: readSocketFormat(query.get('output_format') ?? DEFAULT_OUTPUT_FORMAT),
    autoMode: readFlag(query, 'auto_mode'),
    markup: readFlag(query, 'enable_ssml_parsing'),
    inactivityMs: 1000 * (readWhole(query, 'inactivity_timeout', 1, INACTIVITY_S.most) ?? INACTIVITY_S.usual),
    ...stated({ language, seed, normalize: normalization === 'off' ? false : undefined }),
  };
}

function readFlag(query: URLSearchParams, name: string): boolean {
  switch (query.get(name)?.toLowerCase()) {
    case undefined:
    case '':
    case 'false':
    case '0':
      return false;
    case 'true':
    case '1':
      return true;
    default:
      throw invalid(name, 'must be true or false');
  }
}

function readWhole(query: URLSearchParams, name: string, least: number, most: number): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  const value = Number(text);
  if (/^\d{1,10}$/.test(text) && value >= least && value <= most) return value;
  throw invalid(name, `must be a whole number from ${least} to ${most}`);
}

function readChoice(query: URLSearchParams, name: string, choices: readonly string[]): string | undefined {
  const value = query.get(name);
  if (value === null || value === '') return undefined;
  if (choices.includes(value)) return value;
  throw invalid(name, `must be one of ${choices.map((choice) => `"${choice}"`).join(', ')}`);
}

function readLanguage(value: string | null): string | undefined {
  if (value === null || value === '') return undefined;
  if (isStatedLanguage(value)) return tagOfStated(value);
  throw invalid('language_code', 'must be a tag such as "en" or "fr"');
}
