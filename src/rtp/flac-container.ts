// FLAC as a stream: the only compressed format that loses nothing.
import { FlacEncoder, flacHeader } from '../audio/flac.js';
import { toInt16 } from '../audio/pcm16.js';
import type { Container } from './container.js';

const BLOCKS_PER_SECOND = 20; // 50 ms: longer blocks save little and come later
const NOTHING = new Uint8Array(0);

export class FlacContainer implements Container {
  readonly sampleRate: number;
  readonly frameSamples: number;
  readonly header: Uint8Array;
  readonly #encoder: FlacEncoder;
  readonly #samples: Int16Array;

  constructor(rate: number) {
    this.sampleRate = rate;
    this.frameSamples = Math.round(rate / BLOCKS_PER_SECOND);
    this.header = flacHeader(rate, this.frameSamples);
    this.#encoder = new FlacEncoder(rate, this.frameSamples);
    this.#samples = new Int16Array(this.frameSamples);
  }

  encode(frame: Float32Array, count: number): Uint8Array {
    toInt16(frame, count, this.#samples);
    return this.#encoder.encode(this.#samples, count);
  }

  finish(): Uint8Array {
    return NOTHING;
  }

  close(): void {}
}
