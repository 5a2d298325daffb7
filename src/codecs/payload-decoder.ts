// Decoders of every codec, from one RTP payload to its sound. PayloadDecoder takes the payloads of a caller.
// FrameDecoder reuses its memory, for this server's own payloads when they have to be transcoded.
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
  const { clockRate, sampleRate } = CODECS[codec];
  if (codec === 'opus') {
    const opus = new OpusPacketDecoder();
    return { sampleRate: opus.sampleRate, clockRate, decode: (payload) => opus.decode(payload) };
  }
  const decoder = frameDecoder(codec);
  return { sampleRate, clockRate, decode: (payload) => decoder.decode(payload).slice() };
}

/** Decodes one payload after another. For Opus it takes only payloads that this server made itself. */
export interface FrameDecoder {
  /**
   * The samples at the codec's rate; valid until the next call. A payload longer than any datagram gives no
   * samples.
   */
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

const MOST_PAYLOAD_BYTES = 2048; // the largest datagram that the native plane receives

export function frameDecoder(codec: CodecName): FrameDecoder {
  return MAKERS[codec]();
}

class G711FrameDecoder implements FrameDecoder {
  readonly #values: Int16Array;
  readonly #samples = new Int16Array(MOST_PAYLOAD_BYTES);

  constructor(values: Int16Array) {
    this.#values = values;
  }

  decode(payload: Uint8Array): Int16Array {
    if (payload.length > MOST_PAYLOAD_BYTES) return this.#samples.subarray(0, 0);
    for (let i = 0; i < payload.length; i++) {
      this.#samples[i] = this.#values[payload[i] as number] as number;
    }
    return this.#samples.subarray(0, payload.length);
  }

  reset(): void {}
}

class G722FrameDecoder implements FrameDecoder {
  readonly #decoder = new G722Decoder();
  readonly #samples = new Int16Array(2 * MOST_PAYLOAD_BYTES); // one byte for two samples

  decode(payload: Uint8Array): Int16Array {
    if (payload.length > MOST_PAYLOAD_BYTES) return this.#samples.subarray(0, 0);
    this.#decoder.decode(payload, this.#samples);
    return this.#samples.subarray(0, 2 * payload.length);
  }

  reset(): void {
    this.#decoder.reset();
  }
}
