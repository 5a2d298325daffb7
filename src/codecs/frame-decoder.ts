// Decoders of every codec, from one RTP payload of this server to its sound, when it has to be transcoded.
// Callers' payloads are decoded in native code (native/audio).
import type { CodecName } from './codec.js';
import { A_LAW_VALUES, MU_LAW_VALUES } from './g711.js';
import { G722Decoder } from './g722.js';
import { OpusFrameDecoder } from './opus.js';

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
  L16: () => new L16FrameDecoder(),
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

class L16FrameDecoder implements FrameDecoder {
  readonly #samples = new Int16Array(MOST_PAYLOAD_BYTES / 2);
  readonly #bytes = Buffer.from(this.#samples.buffer);

  decode(payload: Uint8Array): Int16Array {
    if (payload.length > MOST_PAYLOAD_BYTES) return this.#samples.subarray(0, 0);
    const count = Math.floor(payload.length / 2);
    this.#bytes.set(payload.subarray(0, 2 * count));
    this.#bytes.subarray(0, 2 * count).swap16();
    return this.#samples.subarray(0, count);
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
