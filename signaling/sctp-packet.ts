// Checks SCTP packets (RFC 9260 section 3) before werift 0.24.4 reads them. werift's parser follows every
// length that it reads.

const HEADER_BYTES = 12;
const CHUNK_HEADER_BYTES = 4;
const MAX_GAP = 10_000; // chunks beyond the acknowledged one; a window of this size holds fewer

const SACK = 3;
/** Chunks that consist of parameters, and the bytes before those. */
const PARAMETERS_AT: ReadonlyMap<number, number> = new Map([
  [1, 16], // INIT
  [2, 16], // INIT ACK
  [4, 0], // HEARTBEAT
  [5, 0], // HEARTBEAT ACK
  [6, 0], // ABORT
  [9, 0], // ERROR
  [130, 0], // RE-CONFIG (RFC 6525 section 3.1)
]);

/**
 * False for an SCTP packet (RFC 9260 section 3) that ends inside a chunk or parameter, or states impossible
 * lengths. werift's parser follows every length that it reads: a length of zero makes it run for ever, and
 * gap blocks far apart cost seconds each.
 */
export function isSoundSctp(packet: Uint8Array): boolean {
  const view = new DataView(packet.buffer, packet.byteOffset, packet.byteLength);
  return packet.length >= HEADER_BYTES && isSoundList(view, HEADER_BYTES, packet.length, isSoundChunk);
}

/** Type and length in four bytes, the length counting these, each item padded to four. */
function isSoundList(
  view: DataView,
  start: number,
  end: number,
  isSoundItem: (view: DataView, at: number, end: number) => boolean,
): boolean {
  for (let at = start; at < end;) {
    if (at + CHUNK_HEADER_BYTES > end) return isPadding(view, at, end);
    const length = view.getUint16(at + 2);
    if (length < CHUNK_HEADER_BYTES || at + length > end) return false;
    if (!isSoundItem(view, at, at + length)) return false;
    at += (length + 3) & ~3;
  }
  return true;
}

// A remainder shorter than an item header is never read as an item: only zero padding is accepted.
function isPadding(view: DataView, at: number, end: number): boolean {
  for (let byte = at; byte < end; byte++) if (view.getUint8(byte) !== 0) return false;
  return true;
}

function isSoundChunk(view: DataView, at: number, end: number): boolean {
  const type = view.getUint8(at);
  const body = at + CHUNK_HEADER_BYTES;
  if (type === SACK) return isSoundSack(view, body, end);
  const before = PARAMETERS_AT.get(type);
  return before === undefined || isSoundList(view, body + before, end, () => true);
}

function isSoundSack(view: DataView, body: number, end: number): boolean {
  if (body + 12 > end) return false;
  const gaps = view.getUint16(body + 8);
  const duplicates = view.getUint16(body + 10);
  if (body + 12 + 4 * (gaps + duplicates) > end) return false;
  let last = 0;
  for (let index = 0; index < gaps; index++) {
    const from = view.getUint16(body + 12 + 4 * index);
    const to = view.getUint16(body + 14 + 4 * index);
    if (from <= last || to < from || to > MAX_GAP) return false;
    last = to;
  }
  return true;
}
