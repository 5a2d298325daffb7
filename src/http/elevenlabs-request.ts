// A request as ElevenLabs' clients write it, in the words of /v1/audio/speech,
// so that one reader decides what is allowed.
import { ParleyError } from '../errors.js';
import { readSpeechRequest, type SpeechWish } from './speech-request.js';
import { renamedFields } from './spoken-reply.js';

const DEFAULT_FORMAT = 'mp3_44100_128';
const PCM_RATES = [8000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000];
// The last part is the bit rate that their server codes at; ours is its own.
const MP3_NAMES = ['22050_32', '24000_48', '44100_32', '44100_64', '44100_96', '44100_128', '44100_192'];
const OPUS_NAMES = ['48000_32', '48000_64', '48000_96', '48000_128', '48000_192'];

/** In the order in which a refusal lists them. */
const OUTPUT_FORMATS: ReadonlyMap<
  string,
  { readonly response_format: string; readonly sample_rate: number }
> = new Map([
  ...named('mp3', 'mp3', MP3_NAMES),
  ...named('pcm', 'pcm', PCM_RATES.map(String)),
  ...named('wav', 'wav', PCM_RATES.map(String)),
  ...named('opus', 'opus', OPUS_NAMES),
  ...named('ulaw', 'ulaw_8000', ['8000']),
  ...named('alaw', 'alaw_8000', ['8000']),
]);

/** What their clients call the fields of ours. */
const THEIR_NAMES: Readonly<Record<string, string>> = {
  input: 'text',
  voice: 'voice_id',
  model: 'model_id',
  speed: 'voice_settings.speed',
  language: 'language_code',
  response_format: 'output_format',
  sample_rate: 'output_format',
};

/** Throws MALFORMED or INVALID_FIELD under the names of their fields. */
export function readElevenLabsRequest(voiceId: string, query: unknown, body: unknown): SpeechWish {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new ParleyError('MALFORMED', 'the body must be a JSON object with at least the field "text"');
  }
  const fields = body as Readonly<Record<string, unknown>>;
  const { output_format: formatName } = query as Readonly<Record<string, unknown>>;
  const settings = readSettings(fields['voice_settings']);
  try {
    return readSpeechRequest({
      input: fields['text'],
      voice: voiceId,
      model: fields['model_id'],
      speed: settings['speed'],
      language: fields['language_code'],
      seed: fields['seed'],
      cache: fields['cache'],
      ...(fields['apply_text_normalization'] === 'off' ? { normalize: false } : {}),
      ...outputFormat(formatName ?? DEFAULT_FORMAT),
    });
  } catch (error) {
    throw inTheirWords(error);
  }
}

export function inTheirWords(error: unknown): unknown {
  return renamedFields(error, THEIR_NAMES);
}

function outputFormat(name: unknown) {
  const format = typeof name === 'string' ? OUTPUT_FORMATS.get(name) : undefined;
  if (format !== undefined) return format;
  const names = [...OUTPUT_FORMATS.keys()].join(', ');
  throw new ParleyError('INVALID_FIELD', `"output_format" must be one of ${names}`, {
    field: 'output_format',
  });
}

function readSettings(value: unknown): Readonly<Record<string, unknown>> {
  if (value === undefined || value === null) return {};
  if (typeof value === 'object' && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new ParleyError('INVALID_FIELD', '"voice_settings" must be an object', { field: 'voice_settings' });
}

function named(prefix: string, response_format: string, names: readonly string[]) {
  return names.map((name) => {
    const sample_rate = Number(name.split('_', 1)[0]);
    return [`${prefix}_${name}`, { response_format, sample_rate }] as const;
  });
}
