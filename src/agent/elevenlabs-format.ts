// The sound formats as ElevenLabs names them: codec, rate in Hz, and kb/s where
// the codec has any. Our encoders choose the kb/s themselves.
import { AUDIO_FORMATS, bytesPerSecond, hasRate, ratesOf } from '../call/audio-format.js';
import type { SpeakingManner } from '../call/spoken-sentences.js';
import { ParleyError } from '../errors.js';

export interface OutputFormat {
  readonly container: SpeakingManner['container'];
  /** Hz. */
  readonly sampleRate: number;
  /** Undefined where a byte has no fixed length in time. */
  readonly bytesPerMs: number | undefined;
  /** Of one sample, which must not be cut; 1 where bytes may be cut anywhere. */
  readonly sampleBytes: number;
}

// What clients ask of each codec, and what we know it as.
const CODECS: Readonly<Record<string, { readonly format: string; readonly kbps: boolean }>> = {
  mp3: { format: 'mp3', kbps: true },
  pcm: { format: 'pcm', kbps: false },
  ulaw: { format: 'ulaw_8000', kbps: false },
  alaw: { format: 'alaw_8000', kbps: false },
  opus: { format: 'opus', kbps: true },
};

const OPUS_HZ = 48_000; // the only rate ElevenLabs has it at
const NAME = /^([a-z0-9]+)_(\d{4,5})(?:_(\d{2,3}))?$/;

export const DEFAULT_OUTPUT_FORMAT = 'mp3_44100_128';

/** Throws INVALID_FIELD with what is allowed. */
export function readOutputFormat(name: string): OutputFormat {
  const [, codecName = '', rateText = '', kbps] = NAME.exec(name) ?? [];
  const codec = CODECS[codecName];
  const format = AUDIO_FORMATS.find((known) => known.name === codec?.format);
  if (codec === undefined || format === undefined || codec.kbps !== (kbps !== undefined))
    throw unknownFormat();
  const sampleRate = Number(rateText);
  if (!hasRate(format, sampleRate) || (codecName === 'opus' && sampleRate !== OPUS_HZ)) {
    const rates = codecName === 'opus' ? String(OPUS_HZ) : ratesOf(format);
    throw invalid(`"output_format" with ${codecName} must have a rate of ${rates} (Hz)`);
  }
  const { container } = format;
  const perSecond = bytesPerSecond(container, sampleRate);
  return {
    container,
    sampleRate,
    bytesPerMs: perSecond === undefined ? undefined : perSecond / 1000,
    sampleBytes: container === 'pcm' ? 2 : 1,
  };
}

function unknownFormat(): ParleyError {
  return invalid(
    '"output_format" must be pcm_<rate>, mp3_<rate>_<kbps>, opus_48000_<kbps>, ulaw_8000 or alaw_8000, such as "pcm_24000"',
  );
}

function invalid(message: string): ParleyError {
  return new ParleyError('INVALID_FIELD', message, { field: 'output_format' });
}
