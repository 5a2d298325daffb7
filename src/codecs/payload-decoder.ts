// Decoders of every codec, from one RTP payload to its sound. PayloadDecoder takes the payloads of a caller.
// FrameDecoder takes this server's own payloads when they have to be transcoded.
import { type CodecName, CODECS } from './codec.js';
import { A_LAW_VALUES, MU_LAW_VALUES } from './g711.js';
import { G722Decoder } from './g722.js';
import { OpusFrameDecoder, OpusPacketDecoder } from './opus.js';

export interface PayloadDecoder {
  /** Hz of the samples and of the RTP timestamp. */
  readonly sampleRate: number;
  readonly clockRate: number;
  /** Payloads come in order; a malformed one gives no samples. The caller may keep the samples. */
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

/** Decodes payloads that this server made itself; a caller's payload never reaches it. */
export interface FrameDecoder {
  /** The samples at the codec's rate; valid until the next call. */
  decode(payload: Uint8Array): Int16Array;
  /** Returns to the initial state. */
  reset(): void;
}

const MAKERS: Readonly<Record<CodecName, () => FrameDecoder>> = {
  opus: () => new OpusFrameDecoder(),
  G722: () => new G722FrameDecoder(),
  PCMU: () => new G711FrameDecoder(MU_LAW_VALUES),
  PCMA: () => new G711FrameDecoder(A_LAW_VALUES),
};

const MOST_SAMPLES = 16 * 120; // 120 ms of G.722, the longest frame of G.711 and G.722

export function frameDecoder(codec: CodecName): FrameDecoder {
  return MAKERS[codec]();
}

class G711FrameDecoder implements FrameDecoder {
  readonly #values: Int16Array;
  readonly #samples = new Int16Array(MOST_SAMPLES);

  constructor(values: Int16Array) {
    this.#values = values;
  }

  decode(payload: Uint8Array): Int16Array {
    for (let i = 0; i < payload.length; i++) {
      this.#samples[i] = this.#values[payload[i] as number] as number;
    }
    return this.#samples.subarray(0, payload.length);
  }

  reset(): void {}
}

class G722FrameDecoder implements FrameDecoder {
  readonly #decoder = new G722Decoder();
  readonly #samples = new Int16Array(MOST_SAMPLES);

  decode(payload: Uint8Array): Int16Array {
    this.#decoder.decode(payload, this.#samples);
    return this.#samples.subarray(0, 2 * payload.length);
  }

  reset(): void {
    this.#decoder.reset();
  }
}
