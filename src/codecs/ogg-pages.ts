// Reads the pages of an Ogg file (RFC 3533, section 6) that arrives in pieces. A page that is cut off at the
// end of the file is no page.

export interface OggPage {
  /** The page as it is in the file. */
  readonly bytes: Uint8Array;
  /** Its packets, behind each other. */
  readonly body: Uint8Array;
  /** It begins a stream. */
  readonly isFirst: boolean;
  /** It ends a stream. */
  readonly isLast: boolean;
  /** Number of its stream. */
  readonly serial: number;
  /** Place in the stream: 0 in the pages of its head. */
  readonly granule: bigint;
}

const MARK = 'OggS';
const HEAD_BYTES = 27;
const SEGMENTS_AT = 26;
const BEGINS = 2; // flags of the first and the last page of a stream
const ENDS = 4;

export class OggPageReader {
  #left: Buffer = Buffer.alloc(0);

  /** Returns the pages that are complete now. Bytes between pages are skipped. */
  write(bytes: Uint8Array): OggPage[] {
    this.#left = Buffer.concat([this.#left, bytes]);
    const pages: OggPage[] = [];
    let at = 0;
    for (;;) {
      const start = this.#left.indexOf(MARK, at, 'latin1');
      if (start < 0) {
        at = Math.max(at, this.#left.length - MARK.length + 1);
        break;
      }
      at = start;
      const page = pageAt(this.#left, at);
      if (page === undefined) break;
      pages.push(page);
      at += page.bytes.length;
    }
    this.#left = Buffer.from(this.#left.subarray(at));
    return pages;
  }
}

/** Undefined until all of it is there. */
function pageAt(bytes: Buffer, at: number): OggPage | undefined {
  if (at + HEAD_BYTES > bytes.length) return undefined;
  const bodyAt = at + HEAD_BYTES + (bytes[at + SEGMENTS_AT] ?? 0);
  if (bodyAt > bytes.length) return undefined;
  const length = bytes.subarray(at + HEAD_BYTES, bodyAt).reduce((sum, segment) => sum + segment, 0);
  const end = bodyAt + length;
  if (end > bytes.length) return undefined;
  return {
    bytes: bytes.subarray(at, end),
    body: bytes.subarray(bodyAt, end),
    isFirst: ((bytes[at + 5] ?? 0) & BEGINS) !== 0,
    isLast: ((bytes[at + 5] ?? 0) & ENDS) !== 0,
    serial: bytes.readUInt32LE(at + 14),
    granule: bytes.readBigInt64LE(at + 6),
  };
}
