// The sound formats as ElevenLabs' clients name them, over HTTP and WebSockets
// alike: codec, rate in Hz, and kb/s where the codec has any. Our encoders
// choose the kb/s themselves.
import { ParleyError } from '../../errors.js';
import { AUDIO_FORMATS, type AudioFormat, hasRate, ratesOf } from '../../speaking/audio-format.js';

export interface OutputFormat {
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
export function readOutputFormat(name: string): OutputFormat {
  const [, codecName = '', rate = '', kbps] = NAME.exec(name) ?? [];
  const codec = CODECS.get(codecName);
  const format = AUDIO_FORMATS.find((known) => known.name === codec?.format);
  if (codec === undefined || format === undefined || (codec.kbps === true) !== (kbps !== undefined)) {
    throw invalid(`must be ${OUTPUT_FORMAT_NAMES}`);
  }
  const sampleRate = Number(rate);
  if (hasRate(format, sampleRate) && sampleRate === (codec.onlyRate ?? sampleRate))
    return { format, sampleRate };
  throw invalid(`with ${codecName} must have a rate of ${codec.onlyRate ?? ratesOf(format)} (Hz)`);
}

function invalid(what: string): ParleyError {
  const field = 'output_format';
  return new ParleyError('INVALID_FIELD', `"${field}" ${what}`, { field });
}
