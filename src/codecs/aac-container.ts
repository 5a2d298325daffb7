// AAC as a stream: frames of ADTS follow each other, and nothing goes before them.
//
// The first unit holds what comes before the sound, 1024 samples, and comes
// with the second frame; ADTS has no place to say so, nor where the sound ends
// within the last unit.
import { adtsFrame } from '../audio/adts.js';
import { AAC_FRAME_SAMPLES, AacEncoder } from './aac-encoder.js';
import type { Container, FileHeader } from './container.js';

export class AacContainer implements Container {
  readonly sampleRate: number;
  readonly frameSamples = AAC_FRAME_SAMPLES;
  readonly header = new Uint8Array(0);
  readonly #encoder: AacEncoder;
  #empty = true;

  constructor(rate: number) {
    this.#encoder = new AacEncoder(rate);
    this.sampleRate = rate;
  }

  encode(frame: Float32Array, count: number): Uint8Array {
    this.#empty = false;
    this.#encoder.put(frame, count);
    return this.#taken();
  }

  finish(): Uint8Array {
    if (this.#empty) this.#encoder.put(new Float32Array(0), 0); // no frame at all would be no file
    const taken = this.#taken();
    this.#encoder.end();
    return Buffer.concat([taken, this.#taken()]);
  }

  fileHeader(): FileHeader | undefined {
    return undefined;
  }

  close(): void {
    this.#encoder.close();
  }

  /** The units that are there, as frames. */
  #taken(): Uint8Array {
    const frames: Uint8Array[] = [];
    for (let unit = this.#encoder.take(); unit !== undefined; unit = this.#encoder.take()) {
      frames.push(adtsFrame(unit, this.sampleRate));
    }
    return Buffer.concat(frames);
  }
}
