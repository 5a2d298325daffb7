// Checks SCTP packets (RFC 9260 section 3) before werift 0.24.4 reads them. werift's parser follows every
// length that it reads.

const HEADER_BYTES = 12;
const CHUNK_HEADER_BYTES = 4;
const MAX_GAP = 10_000; // chunks beyond the acknowledged one; a window of this size holds fewer
// A packet of 1200 bytes holds fewer chunks of DATA.
const MAX_CHUNKS = 64;

const DATA = 0;
const DATA_HEADER_BYTES = 12; // behind the chunk header (RFC 9260 section 3.3.1)
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
 * False for an SCTP packet (RFC 9260 section 3) that ends inside a chunk or parameter, states impossible
 * lengths, has more than MAX_CHUNKS chunks or two SACK, or has DATA without user data (section 3.3.1).
 * werift's parser follows every length that it reads: a length of zero makes it run for ever, and gap blocks
 * far apart cost seconds each. DATA without user data fills no window, so it could be kept without a limit.
 */
export function isValidSctp(packet: Uint8Array): boolean {
  const view = new DataView(packet.buffer, packet.byteOffset, packet.byteLength);
  let [chunks, sacks] = [0, 0];
  const isValid = (_view: DataView, at: number, end: number) => {
    if (view.getUint8(at) === SACK) sacks++;
    return ++chunks <= MAX_CHUNKS && sacks <= 1 && isValidChunk(view, at, end);
  };
  return packet.length >= HEADER_BYTES && isValidList(view, HEADER_BYTES, packet.length, isValid);
}

/** Type and length in four bytes, the length counting these, each item padded to four. */
function isValidList(
  view: DataView,
  start: number,
  end: number,
  isValidItem: (view: DataView, at: number, end: number) => boolean,
): boolean {
  for (let at = start; at < end;) {
    if (at + CHUNK_HEADER_BYTES > end) return isPadding(view, at, end);
    const length = view.getUint16(at + 2);
    if (length < CHUNK_HEADER_BYTES || at + length > end) return false;
    if (!isValidItem(view, at, at + length)) return false;
    at += (length + 3) & ~3;
  }
  return true;
}

// A remainder shorter than an item header is never read as an item: only zero padding is accepted.
function isPadding(view: DataView, at: number, end: number): boolean {
  for (let byte = at; byte < end; byte++) if (view.getUint8(byte) !== 0) return false;
  return true;
}

function isValidChunk(view: DataView, at: number, end: number): boolean {
  const type = view.getUint8(at);
  const body = at + CHUNK_HEADER_BYTES;
  if (type === DATA) return end > body + DATA_HEADER_BYTES;
  if (type === SACK) return isValidSack(view, body, end);
  const before = PARAMETERS_AT.get(type);
  return before === undefined || isValidList(view, body + before, end, () => true);
}

function isValidSack(view: DataView, body: number, end: number): boolean {
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
