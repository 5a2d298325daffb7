// What a socket must know of the format that it was asked for, to cut its sound.
import { bytesPerSecond } from '../../speaking/audio-format.js';
import { type OutputFormat, readOutputFormat } from './output-format.js';
import { invalid } from '../http/message-fields.js';

export interface SocketFormat extends OutputFormat {
  /** Undefined where a byte has no fixed length in time. */
  readonly bytesPerMs: number | undefined;
  /** Of one sample, which must not be cut; 1 where bytes may be cut anywhere. */
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
