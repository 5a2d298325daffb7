// Takes the Opus packets out of a WebM or Matroska file that arrives in pieces (RFC 8794, RFC 9559). Elements
// are read one after the other, without their ends: a stream of a browser does not know them.
import { ParleyError } from '../errors.js';

/** Elements whose children are read. */
const SEGMENT = 0x1853_8067;
const CLUSTER = 0x1f43_b675;
const TRACKS = 0x1654_ae6b;
const TRACK_ENTRY = 0xae;
const AUDIO = 0xe1;
const BLOCK_GROUP = 0xa0;
const OPENED: ReadonlySet<number> = new Set([SEGMENT, CLUSTER, TRACKS, TRACK_ENTRY, AUDIO, BLOCK_GROUP]);
/** Elements that are read. */
const TRACK_NUMBER = 0xd7;
const CODEC_ID = 0x86;
const CODEC_PRIVATE = 0x63a2;
const CONTENT_ENCODINGS = 0x6d80;
const SIMPLE_BLOCK = 0xa3;
const BLOCK = 0xa1;
const READ: ReadonlySet<number> = new Set([
  TRACK_NUMBER,
  CODEC_ID,
  CODEC_PRIVATE,
  CONTENT_ENCODINGS,
  SIMPLE_BLOCK,
  BLOCK,
]);

const MOST_BYTES = 1 << 20; // of an element that is read
const MOST_TRACKS = 64;
const MOST_NAME = 64; // characters of a codec's name
const MOST_HEAD = 12; // bytes of an id and a size
const MOST_ID = 4;
const OPUS_CHANNELS_AT = 9; // in the codec's private bytes (RFC 7845 section 5.1)

interface Track {
  number: number;
  codec: string;
  channels: number;
  isEncoded: boolean;
}

interface ElementHead {
  readonly id: number;
  /** Undefined if it is not known. */
  readonly bytes: number | undefined;
  readonly headBytes: number;
}

export class WebmPackets {
  readonly #tracks: Track[] = [];
  #opus: Track | undefined;
  #left: Uint8Array = new Uint8Array(0);
  #skip = 0;

  /** Channels of the first Opus track; undefined before they are known. */
  get channels(): number | undefined {
    return this.#opus?.channels;
  }

  /** Returns the packets that are complete now. Throws AUDIO_INVALID naming the fault. */
  write(bytes: Uint8Array): Uint8Array[] {
    const skipped = Math.min(this.#skip, bytes.length);
    this.#skip -= skipped;
    const fresh = bytes.subarray(skipped);
    const data = this.#left.length === 0 ? fresh : Buffer.concat([this.#left, fresh]);
    const packets: Uint8Array[] = [];
    let at = 0;
    for (;;) {
      const head = headAt(data, at);
      if (head === undefined) break;
      const start = at + head.headBytes;
      if (OPENED.has(head.id)) {
        this.#open(head.id);
        at = start;
      } else if (READ.has(head.id)) {
        if (head.bytes === undefined || head.bytes > MOST_BYTES) throw damaged();
        if (start + head.bytes > data.length) break;
        packets.push(...this.#read(head.id, data.subarray(start, start + head.bytes)));
        at = start + head.bytes;
      } else {
        if (head.bytes === undefined) throw damaged();
        this.#skip = Math.max(0, start + head.bytes - data.length);
        at = Math.min(start + head.bytes, data.length);
      }
    }
    this.#left = Buffer.from(data.subarray(at));
    return packets;
  }

  /** Throws AUDIO_INVALID if there was no Opus track. */
  end(): void {
    this.#chooseTrack();
  }

  #open(id: number): void {
    if (id === TRACK_ENTRY) {
      if (this.#tracks.length >= MOST_TRACKS)
        throw invalid(`the WebM file has more than ${MOST_TRACKS} tracks`);
      this.#tracks.push({ number: 0, codec: '', channels: 0, isEncoded: false });
    }
    if (id === CLUSTER) this.#chooseTrack();
  }

  #chooseTrack(): void {
    if (this.#opus !== undefined) return;
    const codecs = this.#tracks.map(({ codec }) => codec).filter((codec) => codec.startsWith('A_'));
    const opus = this.#tracks.find(({ codec }) => codec === 'A_OPUS');
    if (opus === undefined) {
      const found = codecs[0]?.slice(2).toLowerCase();
      throw invalid(
        found === undefined
          ? 'the WebM file has no sound'
          : `the sound of the WebM file is ${found}, not Opus`,
      );
    }
    if (opus.isEncoded) throw invalid('the sound of the WebM file is compressed or encrypted once more');
    this.#opus = opus;
  }

  #read(id: number, value: Uint8Array): readonly Uint8Array[] {
    if (id === SIMPLE_BLOCK || id === BLOCK) return this.#packetsOf(value);
    const track = this.#tracks.at(-1);
    if (track === undefined) return [];
    if (id === TRACK_NUMBER) track.number = value.reduce((number, byte) => number * 256 + byte, 0);
    if (id === CODEC_ID) track.codec = nameIn(value);
    if (id === CODEC_PRIVATE) track.channels = value[OPUS_CHANNELS_AT] ?? 0;
    if (id === CONTENT_ENCODINGS) track.isEncoded = true;
    return [];
  }

  /**
   * A block: the track's number, two bytes of time, flags, and one frame or several (RFC 9559, section
   * 10).
   */
  #packetsOf(block: Uint8Array): readonly Uint8Array[] {
    this.#chooseTrack();
    const track = numberAt(block, 0);
    if (track?.value !== this.#opus?.number) return [];
    const flags = block[(track?.bytes ?? 0) + 2];
    if (track === undefined || flags === undefined) throw damaged();
    const frames = block.subarray(track.bytes + 3);
    const lacing = (flags >> 1) & 3;
    return lacing === 0 ? [frames] : unlaced(frames, lacing);
  }
}

/** Text of the file is quoted in messages: only characters of names are. */
function nameIn(value: Uint8Array): string {
  return Buffer.from(value.subarray(0, MOST_NAME))
    .toString('latin1')
    .replace(/[^\w/.+-].*$/s, '');
}

const XIPH = 1;
const FIXED = 2;

/**
 * The frames of a block with lacing (RFC 9559, section 10.3): their number less one, and all but the last
 * size.
 */
function unlaced(bytes: Uint8Array, lacing: number): Uint8Array[] {
  const count = (bytes[0] ?? 0) + 1;
  let at = 1;
  const sizes: number[] = [];
  if (lacing === FIXED)
    sizes.push(...Array.from({ length: count - 1 }, () => Math.floor((bytes.length - 1) / count)));
  while (sizes.length < count - 1) {
    const size = lacing === XIPH ? xiphAt(bytes, at) : ebmlSizeAt(bytes, at, sizes.at(-1));
    if (size === undefined || size.value < 0) throw damaged();
    sizes.push(size.value);
    at += size.bytes;
  }
  const frames: Uint8Array[] = [];
  for (const size of sizes) {
    frames.push(bytes.subarray(at, at + size));
    at += size;
  }
  if (at > bytes.length) throw damaged();
  return [...frames, bytes.subarray(at)];
}

interface Read {
  readonly value: number;
  /** Length of the number. */
  readonly bytes: number;
}

function xiphAt(bytes: Uint8Array, at: number): Read | undefined {
  let value = 0;
  for (let n = at; n < bytes.length; n++) {
    const byte = bytes[n] ?? 0;
    value += byte;
    if (byte < 255) return { value, bytes: n + 1 - at };
  }
  return undefined;
}

/** The first size as it is, each other as the difference to the one before. */
function ebmlSizeAt(bytes: Uint8Array, at: number, before: number | undefined): Read | undefined {
  const read = numberAt(bytes, at);
  if (read === undefined || before === undefined) return read;
  const bias = 2 ** (7 * read.bytes - 1) - 1;
  return { value: before + read.value - bias, bytes: read.bytes };
}

/** Undefined until all of it is there. Throws AUDIO_INVALID if there is none. */
function headAt(data: Uint8Array, at: number): ElementHead | undefined {
  const first = data[at];
  if (first === undefined) return undefined;
  const idBytes = Math.clz32(first) - 23;
  if (idBytes > MOST_ID) throw damaged();
  const size = at + idBytes < data.length ? numberAt(data, at + idBytes) : undefined;
  if (size === undefined) {
    if (data.length - at >= MOST_HEAD) throw damaged();
    return undefined;
  }
  let id = 0;
  for (let n = 0; n < idBytes; n++) id = id * 256 + (data[at + n] ?? 0);
  const isUnknown = size.value === 2 ** (7 * size.bytes) - 1;
  return { id, bytes: isUnknown ? undefined : size.value, headBytes: idBytes + size.bytes };
}

/** A number of variable length (RFC 8794, section 4). Undefined if it is not complete, or none. */
function numberAt(bytes: Uint8Array, at: number): Read | undefined {
  const first = bytes[at];
  if (first === undefined || first === 0) return undefined;
  const length = Math.clz32(first) - 23;
  if (at + length > bytes.length) return undefined;
  let value = first - 2 ** (8 - length);
  for (let n = 1; n < length; n++) value = value * 256 + (bytes[at + n] ?? 0);
  return { value, bytes: length };
}

function damaged(): ParleyError {
  return invalid('the WebM file is damaged');
}

function invalid(message: string): ParleyError {
  return new ParleyError('AUDIO_INVALID', message);
}
