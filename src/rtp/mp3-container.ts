// MP3 as a stream: frames follow each other, and nothing goes before them.
import { pieceSamples, type Container } from './container.js';
import { Mp3Encoder } from './mp3-encoder.js';

export class Mp3Container implements Container {
  readonly sampleRate: number;
  readonly frameSamples: number;
  readonly header = new Uint8Array(0);
  readonly #encoder: Mp3Encoder;

  constructor(rate: number) {
    this.#encoder = new Mp3Encoder(rate);
    this.sampleRate = rate;
    this.frameSamples = pieceSamples(rate);
  }

  encode(frame: Float32Array, count: number): Uint8Array {
    return this.#encoder.encode(frame, count);
  }

  finish(): Uint8Array {
    return this.#encoder.finish();
  }

  close(): void {
    this.#encoder.close();
  }
}
