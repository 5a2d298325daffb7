// Formats without an encoder's memory: samples as they are, or one byte each.
import { toBytesS16le, toInt16 } from '../audio/pcm16.js';
import { WAV_HEADER_BYTES, wavHeader } from '../audio/wav.js';
import { pieceSamples, type Container, type FileHeader } from './container.js';

const NOTHING = new Uint8Array(0);

/** 16-bit samples, little-endian. */
export class PcmContainer implements Container {
  readonly sampleRate: number;
  readonly frameSamples: number;
  readonly header: Uint8Array = NOTHING;
  readonly #bytes: Uint8Array;

  constructor(rate: number) {
    this.sampleRate = rate;
    this.frameSamples = pieceSamples(rate);
    this.#bytes = new Uint8Array(2 * this.frameSamples);
  }

  encode(frame: Float32Array, count: number): Uint8Array {
    return this.#bytes.subarray(0, toBytesS16le(frame, count, this.#bytes));
  }

  finish(): Uint8Array {
    return NOTHING;
  }

  fileHeader(): FileHeader | undefined {
    return undefined;
  }

  close(): void {}
}

/** The same behind a WAV header. The header of a stream says that the length is unknown. */
export class WavContainer extends PcmContainer {
  override readonly header: Uint8Array;
  #samples = 0;

  constructor(rate: number) {
    super(rate);
    this.header = wavHeader(rate);
  }

  override encode(frame: Float32Array, count: number): Uint8Array {
    this.#samples += count;
    return super.encode(frame, count);
  }

  override fileHeader(): FileHeader {
    return { replaced: WAV_HEADER_BYTES, bytes: wavHeader(this.sampleRate, this.#samples) };
  }
}

/** G.711: one byte a sample, by the law's table. */
export class G711Container implements Container {
  readonly sampleRate: number;
  readonly frameSamples: number;
  readonly header = NOTHING;
  readonly #table: Uint8Array;
  readonly #samples: Int16Array;
  readonly #bytes: Uint8Array;

  constructor(table: Uint8Array, rate: number) {
    this.sampleRate = rate;
    this.frameSamples = pieceSamples(rate);
    this.#table = table;
    this.#samples = new Int16Array(this.frameSamples);
    this.#bytes = new Uint8Array(this.frameSamples);
  }

  encode(frame: Float32Array, count: number): Uint8Array {
    toInt16(frame, count, this.#samples);
    for (let i = 0; i < count; i++) {
      this.#bytes[i] = this.#table[(this.#samples[i] as number) + 32_768] as number;
    }
    return this.#bytes.subarray(0, count);
  }

  finish(): Uint8Array {
    return NOTHING;
  }

  fileHeader(): FileHeader | undefined {
    return undefined;
  }

  close(): void {}
}
