// Decodes the sound that a client sends in messages into samples at 16 kHz: raw samples, G.711, or an Opus
// packet in each message.
import { toFloat32 } from '../audio/pcm16.js';
import { Resampler } from '../audio/resampler.js';
import { A_LAW_VALUES, MU_LAW_VALUES } from '../codecs/g711.js';
import { OpusFrameDecoder } from '../codecs/opus.js';
import { ParleyError } from '../errors.js';

export const LIVE_RATE = 16_000; // Hz, of recognition and of voice activity
export const SOUND_ENCODINGS = ['pcm_s16le', 'mulaw', 'alaw', 'opus'] as const;
export type SoundEncoding = (typeof SOUND_ENCODINGS)[number];

/** Hz that raw samples and G.711 may have. */
export const LIVE_RATES = [8000, 192_000] as const;
const OPUS_RATE = 48_000;
const MOST_PACKET_BYTES = 1275 * 6; // of Opus: six frames (RFC 6716 section 3.4)
const IS_LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;
const STEP = 4096; // inputs that one pass of the converter takes

interface LiveFormat {
  readonly encoding: SoundEncoding;
  /** Hz. Opus has its own. */
  readonly rate: number;
}

export class LiveSound {
  readonly #encoding: SoundEncoding;
  readonly #resampler: Resampler;
  readonly #opus: OpusFrameDecoder | undefined;
  /** The first byte of a sample whose second one has not come. */
  #half: number | undefined;

  /** Throws INVALID_FIELD for a rate that is not allowed. */
  constructor({ encoding, rate }: LiveFormat) {
    const [least, most] = LIVE_RATES;
    if (!Number.isInteger(rate) || rate < least || rate > most) {
      const message = `"sample_rate" must be a whole number from ${least} to ${most} (Hz)`;
      throw new ParleyError('INVALID_FIELD', message, { field: 'sample_rate' });
    }
    this.#encoding = encoding;
    this.#opus = encoding === 'opus' ? new OpusFrameDecoder() : undefined;
    this.#resampler = new Resampler(encoding === 'opus' ? OPUS_RATE : rate, LIVE_RATE, STEP);
  }

  /** The samples that a message completes. Throws AUDIO_INVALID for a packet that is not Opus. */
  push(bytes: Uint8Array): Float32Array {
    return this.#resampled(this.#decoded(bytes));
  }

  /** The last samples. Afterwards another sound may begin. */
  end(): Float32Array {
    const rest = new Float32Array(this.#resampler.maxFlush);
    return rest.subarray(0, this.#resampler.flush(rest));
  }

  #resampled(samples: Float32Array): Float32Array {
    const { inputRate, outputRate } = this.#resampler;
    if (inputRate === outputRate) return samples;
    const converted = new Float32Array(this.#resampler.maxOutput(samples.length));
    return converted.subarray(0, this.#resampler.process(samples, samples.length, converted));
  }

  #decoded(bytes: Uint8Array): Float32Array {
    if (this.#opus !== undefined) return packetSamples(this.#opus, bytes);
    if (this.#encoding === 'pcm_s16le') return this.#rawSamples(bytes);
    const values = this.#encoding === 'mulaw' ? MU_LAW_VALUES : A_LAW_VALUES;
    return Float32Array.from(bytes, (code) => (values[code] as number) / 32_768);
  }

  #rawSamples(bytes: Uint8Array): Float32Array {
    const half = this.#half;
    const all = half === undefined ? bytes : Buffer.concat([Uint8Array.of(half), bytes]);
    const count = all.length >> 1;
    this.#half = all.length % 2 === 1 ? all[all.length - 1] : undefined;
    const samples = new Float32Array(count);
    if (IS_LITTLE_ENDIAN && all.byteOffset % 2 === 0) {
      toFloat32(new Int16Array(all.buffer, all.byteOffset, count), count, samples);
      return samples;
    }
    const view = new DataView(all.buffer, all.byteOffset, all.length);
    for (let n = 0; n < count; n++) samples[n] = view.getInt16(2 * n, true) / 32_768;
    return samples;
  }
}

function packetSamples(decoder: OpusFrameDecoder, bytes: Uint8Array): Float32Array {
  let decoded: Int16Array;
  try {
    if (bytes.length === 0 || bytes.length > MOST_PACKET_BYTES)
      throw new RangeError('not the size of a packet');
    decoded = decoder.decode(bytes);
  } catch (cause) {
    throw new ParleyError('AUDIO_INVALID', 'a binary message must be one packet of Opus', { cause });
  }
  const samples = new Float32Array(decoded.length);
  toFloat32(decoded, decoded.length, samples);
  return samples;
}
