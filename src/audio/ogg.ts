// Ogg pages (RFC 3533) for one logical stream, and the two header packets of
// Opus in Ogg (RFC 7845).
import { ParleyError } from '../errors.js';

const PAGE_HEADER_BYTES = 27;
const MAX_SEGMENTS = 255;
const CHECKSUM_AT = 22;

export type PagePlace = 'first' | 'middle' | 'last';
const FLAGS: Readonly<Record<PagePlace, number>> = { first: 0x02, middle: 0, last: 0x04 };

/** Whole packets into pages; no packet is spread over two. */
export class OggPages {
  readonly #page: Uint8Array;
  readonly #view: DataView;
  /** Packets wait here until their page is closed: how long the page's table is, is known only then. */
  readonly #body: Uint8Array;
  readonly #lacing = new Uint8Array(MAX_SEGMENTS);
  #bodyBytes = 0;
  #segments = 0;
  #sequence = 0;
  readonly #serial: number;

  /**
   * @param serial tells streams apart that are joined into one file.
   * @param capacity bytes of packets in one page, at most.
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

/** Identification header (RFC 7845, section 5.1), mono. `inputRate` is told for the record only. */
export function opusHead(preSkip: number, inputRate: number): Uint8Array {
  const head = new Uint8Array(19);
  const view = new DataView(head.buffer);
  head.set(new TextEncoder().encode('OpusHead'));
  head[8] = 1; // version
  head[9] = 1; // channels
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
