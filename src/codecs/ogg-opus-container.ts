// Opus in Ogg (RFC 7845): packets of 20 ms, five to a page.
//
// A granule position counts every sample that the decoder gives out at 48 kHz,
// the pre-skip included, which it then drops. The last page says where the
// sound ends, inside the last packet.
import { OggPages, opusHead, opusTags } from '../audio/ogg.js';
import { OPUS } from './codec.js';
import type { Container, FileHeader } from './container.js';
import type { FrameEncoder } from './frame-encoder.js';

// What libopus 1.3.1 holds back at 48 kHz (OPUS_GET_LOOKAHEAD of its audio and
// voip applications): 2.5 ms of overlap and 4 ms of its own.
const LOOKAHEAD_SAMPLES = 312;
const PAGE_PACKETS = 5; // 100 ms: 28 bytes of page to some 400 of sound
const MAX_PACKET_BYTES = 1275; // RFC 6716, section 3.2.1
const NOTHING = new Uint8Array(0);

export interface OggOpusOptions {
  /** Tells streams apart that are joined into one file. */
  readonly serial: number;
  /** Hz that the sound is said to have had. */
  readonly inputRate: number;
  /** Called once, when the encoder is no longer used. */
  readonly release: () => void;
}

export class OggOpusContainer implements Container {
  readonly sampleRate = OPUS.sampleRate;
  readonly frameSamples: number;
  readonly header: Uint8Array;
  readonly #encoder: FrameEncoder;
  readonly #pages: OggPages;
  #release: (() => void) | undefined;
  #packets = 0;
  #samples = 0;

  /** The encoder is borrowed, fresh from a reset. */
  constructor(encoder: FrameEncoder, { serial, inputRate, release }: OggOpusOptions) {
    this.#encoder = encoder;
    this.#release = release;
    this.frameSamples = encoder.frameSamples;
    this.#pages = new OggPages(serial, PAGE_PACKETS * MAX_PACKET_BYTES);
    this.header = this.#headerPages(inputRate);
  }

  encode(frame: Float32Array, count: number): Uint8Array {
    if (count < this.frameSamples) frame.fill(0, count);
    this.#samples += count;
    // The last packet must be on the last page, so a full page waits for one more.
    const page = this.#packets > 0 && this.#packets % PAGE_PACKETS === 0 ? this.#closePage() : NOTHING;
    this.#add(frame);
    return page;
  }

  finish(): Uint8Array {
    const end = LOOKAHEAD_SAMPLES + this.#samples;
    const silence = new Float32Array(this.frameSamples);
    const parts: Uint8Array[] = [];
    // What the encoder still holds back comes out with the silence after it.
    while (this.#packets * this.frameSamples < end) {
      if (this.#packets > 0 && this.#packets % PAGE_PACKETS === 0) parts.push(this.#closePage().slice());
      this.#add(silence);
    }
    parts.push(this.#pages.close(end, 'last'));
    return Buffer.concat(parts);
  }

  fileHeader(): FileHeader | undefined {
    return undefined;
  }

  close(): void {
    this.#release?.();
    this.#release = undefined;
  }

  #add(frame: Float32Array): void {
    this.#pages.add(this.#encoder.encode(frame));
    this.#packets++;
  }

  #closePage(): Uint8Array {
    return this.#pages.close(this.#packets * this.frameSamples, 'middle');
  }

  /** Each on a page of its own (RFC 7845, section 3). */
  #headerPages(inputRate: number): Uint8Array {
    this.#pages.add(opusHead(LOOKAHEAD_SAMPLES, inputRate));
    const head = this.#pages.close(0, 'first').slice();
    this.#pages.add(opusTags('parley'));
    return Buffer.concat([head, this.#pages.close(0, 'middle')]);
  }
}
