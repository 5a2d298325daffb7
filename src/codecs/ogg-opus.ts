// Opus in Ogg (RFC 3533, RFC 7845): the container packs frames of 20 ms into pages of five.
//
// A granule position counts every sample that the decoder outputs at 48 kHz, including the pre-skip, which it
// then drops. The last page states where the sound ends, inside the last packet.
import { ParleyError } from '../errors.js';
import { OPUS } from './codec.js';
import type { Container, FileHeader } from './container.js';
import type { FrameEncoder } from './frame-encoder.js';
import { OPUS_LOOKAHEAD_SAMPLES } from './opus.js';

const PAGE_PACKETS = 5; // 100 ms: 28 bytes of page header for some 400 bytes of sound
const MAX_PACKET_BYTES = 1275; // RFC 6716, section 3.2.1
const NOTHING = new Uint8Array(0);

interface OggOpusOptions {
  /** Distinguishes streams that are joined into one file. */
  readonly serial: number;
  /** Sample rate of the original sound in Hz, for information only. */
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

  /** The container borrows the encoder, which was just reset. */
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
    const end = OPUS_LOOKAHEAD_SAMPLES + this.#samples;
    const silence = new Float32Array(this.frameSamples);
    const parts: Uint8Array[] = [];
    // Silence flushes the samples that the encoder still holds back.
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
    this.#pages.add(opusHead(OPUS_LOOKAHEAD_SAMPLES, inputRate));
    const head = this.#pages.close(0, 'first').slice();
    this.#pages.add(opusTags('parley'));
    return Buffer.concat([head, this.#pages.close(0, 'middle')]);
  }
}

const PAGE_HEADER_BYTES = 27;
const MAX_SEGMENTS = 255;
const CHECKSUM_AT = 22;

type PagePlace = 'first' | 'middle' | 'last';
const FLAGS: Readonly<Record<PagePlace, number>> = { first: 0x02, middle: 0, last: 0x04 };

/** Packs whole packets of one logical stream into pages; no packet spans two pages. */
export class OggPages {
  readonly #page: Uint8Array;
  readonly #view: DataView;
  /**
   * Packets wait here until their page is closed, because only then the length of the lacing table is known.
   */
  readonly #body: Uint8Array;
  readonly #lacing = new Uint8Array(MAX_SEGMENTS);
  #bodyBytes = 0;
  #segments = 0;
  #sequence = 0;
  readonly #serial: number;

  /**
   * @param serial distinguishes streams that are joined into one file.
   * @param capacity maximum bytes of packets in one page.
   */
  constructor(serial: number, capacity: number) {
    this.#serial = serial;
    this.#body = new Uint8Array(capacity);
    this.#page = new Uint8Array(PAGE_HEADER_BYTES + MAX_SEGMENTS + capacity);
    this.#view = new DataView(this.#page.buffer);
  }

  /** Bytes of packets in the page that is not closed yet. */
  get pending(): number {
    return this.#bodyBytes;
  }

  add(packet: Uint8Array): void {
    const segments = Math.floor(packet.length / 255) + 1;
    if (this.#bodyBytes + packet.length > this.#body.length || this.#segments + segments > MAX_SEGMENTS) {
      throw new ParleyError(
        'QUEUE_FULL',
        `a packet of ${packet.length} bytes does not fit into the Ogg page`,
      );
    }
    this.#body.set(packet, this.#bodyBytes);
    this.#bodyBytes += packet.length;
    this.#lacing.fill(255, this.#segments, this.#segments + segments - 1);
    this.#segments += segments;
    this.#lacing[this.#segments - 1] = packet.length % 255;
  }

  /** Closes the page at the granule position of its last packet. Valid until the next call. */
  close(granule: number, place: PagePlace): Uint8Array {
    const page = this.#page;
    const view = this.#view;
    page.set([0x4f, 0x67, 0x67, 0x53, 0, FLAGS[place]]); // OggS, version 0
    view.setBigUint64(6, BigInt(granule), true);
    view.setUint32(14, this.#serial, true);
    view.setUint32(18, this.#sequence++, true);
    view.setUint32(CHECKSUM_AT, 0, true);
    page[26] = this.#segments;
    page.set(this.#lacing.subarray(0, this.#segments), PAGE_HEADER_BYTES);
    const bodyAt = PAGE_HEADER_BYTES + this.#segments;
    page.set(this.#body.subarray(0, this.#bodyBytes), bodyAt);
    const whole = page.subarray(0, bodyAt + this.#bodyBytes);
    view.setUint32(CHECKSUM_AT, checksum(whole), true);
    this.#bodyBytes = 0;
    this.#segments = 0;
    return whole;
  }
}

/** Identification header (RFC 7845, section 5.1). `inputRate` is for information only. */
export function opusHead(preSkip: number, inputRate: number, channels: 1 | 2 = 1): Uint8Array {
  const head = new Uint8Array(19);
  const view = new DataView(head.buffer);
  head.set(new TextEncoder().encode('OpusHead'));
  head[8] = 1; // version
  head[9] = channels;
  view.setUint16(10, preSkip, true);
  view.setUint32(12, inputRate, true);
  return head; // gain 0, mapping family 0
}

/** Comment header (RFC 7845, section 5.2) without any comment. */
export function opusTags(vendor: string): Uint8Array {
  const name = new TextEncoder().encode(vendor);
  const tags = new Uint8Array(8 + 4 + name.length + 4);
  tags.set(new TextEncoder().encode('OpusTags'));
  new DataView(tags.buffer).setUint32(8, name.length, true);
  tags.set(name, 12);
  return tags;
}

// Polynomial 0x04c11db7, highest bit first, from zero and without inversion.
const CRC = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte << 24;
  for (let bit = 0; bit < 8; bit++) rest = rest < 0 ? (rest << 1) ^ 0x04c1_1db7 : rest << 1;
  return rest >>> 0;
});

function checksum(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) crc = (crc << 8) ^ (CRC[((crc >>> 24) ^ byte) & 0xff] as number);
  return crc >>> 0;
}
