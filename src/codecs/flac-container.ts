// FLAC as a stream: the only compressed format that loses nothing.
import { createHash } from 'node:crypto';
import { FlacEncoder, flacHeader } from '../audio/flac.js';
import { toBytesS16le, toInt16 } from '../audio/pcm16.js';
import type { Container, FileHeader } from './container.js';

const BLOCKS_PER_SECOND = 20; // 50 ms: longer blocks save little and come later
const NOTHING = new Uint8Array(0);

export class FlacContainer implements Container {
  readonly sampleRate: number;
  readonly frameSamples: number;
  readonly header: Uint8Array;
  readonly #encoder: FlacEncoder;
  readonly #samples: Int16Array;
  /** The same samples, as the checksum reads them. */
  readonly #bytes: Uint8Array;
  readonly #md5 = createHash('md5');
  #sampleCount = 0;
  #leastFrameBytes = Infinity;
  #mostFrameBytes = 0;

  constructor(rate: number) {
    this.sampleRate = rate;
    this.frameSamples = Math.round(rate / BLOCKS_PER_SECOND);
    this.header = flacHeader(rate, this.frameSamples);
    this.#encoder = new FlacEncoder(rate, this.frameSamples);
    this.#samples = new Int16Array(this.frameSamples);
    this.#bytes = new Uint8Array(2 * this.frameSamples);
  }

  encode(frame: Float32Array, count: number): Uint8Array {
    toInt16(frame, count, this.#samples);
    this.#md5.update(this.#bytes.subarray(0, toBytesS16le(frame, count, this.#bytes)));
    const bytes = this.#encoder.encode(this.#samples, count);
    this.#sampleCount += count;
    this.#leastFrameBytes = Math.min(this.#leastFrameBytes, bytes.length);
    this.#mostFrameBytes = Math.max(this.#mostFrameBytes, bytes.length);
    return bytes;
  }

  finish(): Uint8Array {
    return NOTHING;
  }

  fileHeader(): FileHeader {
    const least = this.#sampleCount === 0 ? 0 : this.#leastFrameBytes;
    const bytes = flacHeader(this.sampleRate, this.frameSamples, {
      samples: this.#sampleCount,
      frameBytes: [least, this.#mostFrameBytes],
      md5: this.#md5.copy().digest(),
    });
    return { replaced: this.header.length, bytes };
  }

  close(): void {}
}
