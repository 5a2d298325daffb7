// One RTP payload in, one frame of sound out: for payloads of this server that
// have to go on in another codec. Callers' payloads never come here.
import type { CodecName } from './codec.js';
import { A_LAW_VALUES, MU_LAW_VALUES } from './g711.js';
import { G722Decoder } from './g722-decoder.js';
import { OpusFrameDecoder } from './opus-encoder.js';

export interface FrameDecoder {
  /** The samples at the codec's rate; valid until the next call. */
  decode(payload: Uint8Array): Int16Array;
  /** As if newly made. */
  reset(): void;
}

const MAKERS: Readonly<Record<CodecName, () => FrameDecoder>> = {
  opus: () => new OpusFrameDecoder(),
  G722: () => new G722FrameDecoder(),
  PCMU: () => new G711FrameDecoder(MU_LAW_VALUES),
  PCMA: () => new G711FrameDecoder(A_LAW_VALUES),
};

const MOST_SAMPLES = 16 * 120; // of G.711 and G.722

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
