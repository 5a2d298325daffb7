// The audio formats of files and streams: their names in requests and answers, and their sample rates.
import { AAC_RATES_HZ } from '../codecs/aac.js';
import type { ContainerName } from '../codecs/container.js';
import { mp3Kbps, MP3_RATES_HZ } from '../codecs/mp3.js';
import { ParleyError } from '../errors.js';

export interface AudioFormat {
  readonly name: string;
  readonly container: ContainerName;
  readonly contentType: string;
  /** Hz, if a request names no rate. */
  readonly defaultRate: number;
  /** The only rates; if absent, all of SAMPLE_RATES_HZ in steps of RATE_STEP_HZ. */
  readonly rates?: readonly number[];
  /** Sample encoding of a format without a header. */
  readonly raw?: { readonly encoding: 's16le' | 'mulaw' | 'alaw'; readonly bits: number };
}

export const SAMPLE_RATES_HZ: readonly [least: number, most: number] = [8000, 48_000];
// Every usual rate is a multiple, and between multiples no resampling filter is long.
const RATE_STEP_HZ = 25;

const SPEECH_HZ = 24_000; // clients of OpenAI's pcm have this number built in
const TELEPHONE_HZ = 8000;

export const AUDIO_FORMATS: readonly AudioFormat[] = [
  {
    name: 'mp3',
    container: 'mp3',
    contentType: 'audio/mpeg',
    defaultRate: SPEECH_HZ,
    rates: MP3_RATES_HZ,
  },
  // Two names of one format: that of the container, and OpenAI's.
  { name: 'ogg', container: 'ogg', contentType: 'audio/ogg', defaultRate: 48_000 },
  { name: 'opus', container: 'ogg', contentType: 'audio/opus', defaultRate: 48_000 },
  {
    name: 'aac',
    container: 'aac',
    contentType: 'audio/aac',
    defaultRate: SPEECH_HZ,
    rates: AAC_RATES_HZ,
  },
  { name: 'flac', container: 'flac', contentType: 'audio/flac', defaultRate: SPEECH_HZ },
  { name: 'wav', container: 'wav', contentType: 'audio/wav', defaultRate: SPEECH_HZ },
  {
    name: 'pcm',
    container: 'pcm',
    contentType: 'audio/pcm',
    defaultRate: SPEECH_HZ,
    raw: { encoding: 's16le', bits: 16 },
  },
  {
    name: 'ulaw_8000',
    container: 'ulaw',
    contentType: 'audio/basic', // mu-law of 8 kHz, one channel (RFC 2046, section 4.3)
    defaultRate: TELEPHONE_HZ,
    rates: [TELEPHONE_HZ],
    raw: { encoding: 'mulaw', bits: 8 },
  },
  {
    name: 'alaw_8000',
    container: 'alaw',
    contentType: 'audio/x-alaw-basic', // no registered type is for files of it; this is the usual one
    defaultRate: TELEPHONE_HZ,
    rates: [TELEPHONE_HZ],
    raw: { encoding: 'alaw', bits: 8 },
  },
];

/** The content type of a container, if no request named its format. */
export function contentTypeOf(container: ContainerName): string {
  const format = AUDIO_FORMATS.find((candidate) => candidate.container === container);
  return format?.contentType ?? 'application/octet-stream';
}

/** Throws INVALID_FIELD. */
export function formatNamed(name: string): AudioFormat {
  const format = AUDIO_FORMATS.find((candidate) => candidate.name === name);
  if (format !== undefined) return format;
  throw new ParleyError('INVALID_FIELD', `there is no format "${name}"`, { field: 'response_format' });
}

/** True if the format supports `rate` Hz. */
export function hasRate(format: AudioFormat, rate: number): boolean {
  if (format.rates !== undefined) return format.rates.includes(rate);
  const [least, most] = SAMPLE_RATES_HZ;
  return Number.isInteger(rate) && rate >= least && rate <= most && rate % RATE_STEP_HZ === 0;
}

/** Bytes of one second, if that is constant; otherwise undefined. */
export function bytesPerSecond(container: ContainerName, rate: number): number | undefined {
  switch (container) {
    case 'pcm':
      return 2 * rate;
    case 'ulaw':
    case 'alaw':
      return rate;
    case 'mp3':
      return (mp3Kbps(rate) * 1000) / 8;
    default: // a header before the sound, or frames of any length
      return undefined;
  }
}

/** The rates of the format for an error message: "8000, 16000" or "8000 to 48000 in steps of 25". */
export function ratesOf(format: AudioFormat): string {
  if (format.rates !== undefined) return format.rates.join(', ');
  return `${SAMPLE_RATES_HZ.join(' to ')} in steps of ${RATE_STEP_HZ}`;
}
