// One RTP payload in, its sound out: what listening to a caller needs of a
// codec, whichever it is.
import { CODECS, type CodecName } from './codec.js';
import { A_LAW_VALUES, MU_LAW_VALUES } from './g711.js';
import { G722Decoder } from './g722-decoder.js';
import { OpusPacketDecoder } from './opus-encoder.js';

export interface PayloadDecoder {
  /** Hz of the samples, and of the RTP timestamp. */
  readonly sampleRate: number;
  readonly clockRate: number;
  /** In order; nothing for a payload that is none. The caller may keep the samples. */
  decode(payload: Uint8Array): Int16Array;
}

export function payloadDecoder(codec: CodecName): PayloadDecoder {
  const { clockRate } = CODECS[codec];
  if (codec === 'opus') {
    const opus = new OpusPacketDecoder();
    return { sampleRate: opus.sampleRate, clockRate, decode: (payload) => opus.decode(payload) };
  }
  if (codec === 'G722') return g722(clockRate);
  const values = codec === 'PCMU' ? MU_LAW_VALUES : A_LAW_VALUES;
  const decode = (payload: Uint8Array) => Int16Array.from(payload, (code) => values[code] as number);
  return { sampleRate: clockRate, clockRate, decode };
}

function g722(clockRate: number): PayloadDecoder {
  const decoder = new G722Decoder();
  return {
    sampleRate: CODECS.G722.sampleRate,
    clockRate,
    decode(payload) {
      const samples = new Int16Array(2 * payload.length);
      decoder.decode(payload, samples);
      return samples;
    },
  };
}
