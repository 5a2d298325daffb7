// MP3 as a stream: frames follow each other, and nothing goes before them. A
// whole file begins with an Info frame.
import { mp3Crc, mp3InfoFrame } from '../audio/mp3-info.js';
import { pieceSamples, type Container, type FileHeader } from './container.js';
import { MP3_DELAY_SAMPLES, mp3Kbps, Mp3Encoder } from './mp3-encoder.js';

const HEADER_BYTES = 4;

export class Mp3Container implements Container {
  readonly sampleRate: number;
  readonly frameSamples: number;
  readonly header = new Uint8Array(0);
  readonly #encoder: Mp3Encoder;
  /** Of the first frame. */
  readonly #firstHeader = new Uint8Array(HEADER_BYTES);
  #samples = 0;
  #bytes = 0;
  #crc = 0;

  constructor(rate: number) {
    this.#encoder = new Mp3Encoder(rate);
    this.sampleRate = rate;
    this.frameSamples = pieceSamples(rate);
  }

  encode(frame: Float32Array, count: number): Uint8Array {
    this.#samples += count;
    return this.#counted(this.#encoder.encode(frame, count));
  }

  finish(): Uint8Array {
    return this.#counted(this.#encoder.finish());
  }

  fileHeader(): FileHeader | undefined {
    if (this.#bytes === 0) return undefined;
    const bytes = mp3InfoFrame({
      rate: this.sampleRate,
      kbps: mp3Kbps(this.sampleRate),
      firstHeader: this.#firstHeader,
      samples: this.#samples,
      delay: MP3_DELAY_SAMPLES,
      bytes: this.#bytes,
      crc: this.#crc,
    });
    return { replaced: 0, bytes };
  }

  close(): void {
    this.#encoder.close();
  }

  #counted(bytes: Uint8Array): Uint8Array {
    const missing = HEADER_BYTES - this.#bytes;
    if (missing > 0) this.#firstHeader.set(bytes.subarray(0, missing), this.#bytes);
    this.#bytes += bytes.length;
    this.#crc = mp3Crc(bytes, this.#crc);
    return bytes;
  }
}
