// Formats without an encoder's memory: samples as they are, or one byte each.
import { toBytesS16le, toInt16 } from '../audio/pcm16.js';
import { wavHeader } from '../audio/wav.js';
import { pieceSamples, type Container } from './container.js';

const NOTHING = new Uint8Array(0);

/** 16-bit samples, little-endian, behind a WAV header where one is given. */
export class PcmContainer implements Container {
  readonly sampleRate: number;
  readonly frameSamples: number;
  readonly header: Uint8Array;
  readonly #bytes: Uint8Array;

  constructor(rate: number, header: Uint8Array = NOTHING) {
    this.sampleRate = rate;
    this.frameSamples = pieceSamples(rate);
    this.header = header;
    this.#bytes = new Uint8Array(2 * this.frameSamples);
  }

  /** The length is not known when the header goes out, and is told as unknown. */
  static wav(rate: number): PcmContainer {
    return new PcmContainer(rate, wavHeader(rate));
  }

  encode(frame: Float32Array, count: number): Uint8Array {
    return this.#bytes.subarray(0, toBytesS16le(frame, count, this.#bytes));
  }

  finish(): Uint8Array {
    return NOTHING;
  }

  close(): void {}
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

  close(): void {}
}
