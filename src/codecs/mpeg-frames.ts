// Frames of MPEG audio (ISO 11172-3, 2.4.1.3): where they begin, and those of free format in a form that the
// decoder reads.
//
// A frame of free format does not state its length: all frames of the file have the same. The decoder reads
// frames that state theirs. If a bit rate has that length, FreeFormat states it. Otherwise it writes each
// frame again, large enough for its own main data, so that no frame refers to one before it.

interface MpegHeader {
  readonly layer: 1 | 2 | 3;
  /** MPEG-1; otherwise MPEG-2 or its extension to lower rates. */
  readonly isFirst: boolean;
  /** Hz. */
  readonly rate: number;
  readonly isMono: boolean;
  readonly isChecked: boolean;
  readonly padding: number;
  /** Undefined in free format. */
  readonly bytes: number | undefined;
}

const MPEG_HEADER_BYTES = 4;
const RATES = [44_100, 48_000, 32_000]; // of MPEG-1; MPEG-2 has half of them, MPEG-2.5 a quarter
const DIVISORS = [4, undefined, 2, 1]; // by the version in the header
const INDICES = Array.from({ length: 14 }, (_, n) => n + 1); // of bit rates
const UNITS = 1000; // bit/s of one unit of the tables
// prettier-ignore
const BIT_RATES = {
  first: {
    1: [32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
    2: [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
    3: [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  },
  second: {
    1: [32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
    2: [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
    3: [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
  },
} as const;

/** The header at this place; undefined if there is none, or not all of it. */
export function mpegHeaderAt(bytes: Uint8Array, at: number): MpegHeader | undefined {
  const [sync = 0, kind = 0, rates = 0, mode = 0] = bytes.subarray(at, at + MPEG_HEADER_BYTES);
  if (at + MPEG_HEADER_BYTES > bytes.length || sync !== 0xff || (kind & 0xe0) !== 0xe0) return undefined;
  const divisor = DIVISORS[(kind >> 3) & 3];
  const layer = 4 - ((kind >> 1) & 3);
  const rate = RATES[(rates >> 2) & 3];
  if (divisor === undefined || layer === 4 || rate === undefined || rates >> 4 === 15) return undefined;
  const form = { layer: layer as 1 | 2 | 3, isFirst: divisor === 1, rate: rate / divisor };
  const padding = (rates >> 1) & 1;
  const bytesOf = lengthOf(form, rates >> 4);
  return {
    ...form,
    isMono: mode >> 6 === 3,
    isChecked: (kind & 1) === 0,
    padding: layer === 1 ? 4 * padding : padding,
    bytes: bytesOf === undefined ? undefined : bytesOf + (layer === 1 ? 4 * padding : padding),
  };
}

type Form = Pick<MpegHeader, 'layer' | 'isFirst' | 'rate'>;

/** Bytes of a frame without padding by the index of its bit rate; undefined for free format. */
function lengthOf({ layer, isFirst, rate }: Form, index: number): number | undefined {
  const units = BIT_RATES[isFirst ? 'first' : 'second'][layer][index - 1];
  if (units === undefined) return undefined;
  if (layer === 1) return 4 * Math.floor((12 * units * UNITS) / rate);
  return Math.floor(((layer === 3 && !isFirst ? 72 : 144) * units * UNITS) / rate);
}

const CHAIN = 3; // frames behind each other that prove the first

/**
 * The place of the first frame that two others follow; undefined if there is none. Frames of free format are
 * found only at the beginning: a search for their length at every place would take too long.
 */
export function mpegStart(bytes: Uint8Array): number | undefined {
  for (let at = bytes.indexOf(0xff); at >= 0; at = bytes.indexOf(0xff, at + 1)) {
    const first = mpegHeaderAt(bytes, at);
    if (first === undefined) continue;
    if (first.bytes !== undefined ? isChain(bytes, at) : at === 0 && freeLength(bytes, at) !== undefined)
      return at;
  }
  return undefined;
}

function isChain(bytes: Uint8Array, start: number): boolean {
  let at = start;
  for (let count = 1; count < CHAIN; count++) {
    at += mpegHeaderAt(bytes, at)?.bytes ?? Infinity;
    if (!isAlike(bytes, start, at)) return false;
  }
  return true;
}

/** Version, layer and sample rate are the same. */
function isAlike(bytes: Uint8Array, first: number, other: number): boolean {
  const [a, b] = [mpegHeaderAt(bytes, first), mpegHeaderAt(bytes, other)];
  return a !== undefined && b !== undefined && b.layer === a.layer && b.rate === a.rate;
}

const LEAST_FREE = 32; // bytes of a frame
const MOST_FREE = 2880; // of layer III at 640 kbit/s and 32 kHz, which is what LAME writes

/** Bytes of a frame of free format here, without padding; undefined if two others do not follow. */
function freeLength(bytes: Uint8Array, start: number): number | undefined {
  const padding = (at: number) => mpegHeaderAt(bytes, at)?.padding ?? 0;
  const isFree = (at: number) => isAlike(bytes, start, at) && mpegHeaderAt(bytes, at)?.bytes === undefined;
  const most = Math.min(start + MOST_FREE, bytes.length);
  for (let next = start + LEAST_FREE; next < most; next++) {
    const length = next - start - padding(start);
    if (isFree(next) && isFree(next + length + padding(next))) return length;
  }
  return undefined;
}

function isFreeMp3(header: MpegHeader | undefined): header is MpegHeader {
  return header?.layer === 3 && header.bytes === undefined;
}

const CHECK_BYTES = 2;
const MOST_RESERVOIR = 511; // bytes of main data before its frame (ISO 11172-3, 2.4.2.7)
/** Enough for three frames. */
const PROOF_BYTES = CHAIN * (MOST_FREE + MPEG_HEADER_BYTES);

/** Writes frames of layer III in free format again; other bytes pass as they are. */
export class FreeFormat {
  #left: Uint8Array = new Uint8Array(0);
  /** Bytes of a frame without padding; undefined before it is known, 0 in a file of another format. */
  #length: number | undefined;
  /** The last main data. */
  #reservoir: Uint8Array = new Uint8Array(0);

  write(bytes: Uint8Array): Uint8Array {
    if (this.#length === 0) return bytes;
    this.#left = this.#left.length === 0 ? bytes : Buffer.concat([this.#left, bytes]);
    if (this.#length === undefined && this.#left.length < PROOF_BYTES) return new Uint8Array(0);
    return this.#take();
  }

  /** The bytes that are left. */
  end(): Uint8Array {
    const taken = this.#take();
    const rest = this.#length === 0 ? this.#left : new Uint8Array(0);
    this.#left = new Uint8Array(0);
    return rest.length === 0 ? taken : Buffer.concat([taken, rest]);
  }

  #take(): Uint8Array {
    this.#length ??= this.#found();
    if (this.#length === 0) {
      const all = this.#left;
      this.#left = new Uint8Array(0);
      return all;
    }
    const frames: Uint8Array[] = [];
    let at = 0;
    while (at + MPEG_HEADER_BYTES <= this.#left.length) {
      const header = mpegHeaderAt(this.#left, at);
      const end = at + this.#length + (header?.padding ?? 0);
      if (!isFreeMp3(header)) at++;
      else if (end > this.#left.length) break;
      else {
        frames.push(this.#rewritten(this.#left.subarray(at, end), header));
        at = end;
      }
    }
    this.#left = Buffer.from(this.#left.subarray(at));
    return Buffer.concat(frames);
  }

  #found(): number {
    const header = mpegHeaderAt(this.#left, 0);
    return (isFreeMp3(header) ? freeLength(this.#left, 0) : undefined) ?? 0;
  }

  /** A frame whose main data is not all there, or too long for any bit rate, becomes silence. */
  #rewritten(frame: Uint8Array, header: MpegHeader): Uint8Array {
    const index = INDICES.find((one) => lengthOf(header, one) === this.#length);
    if (index !== undefined) {
      const stated = Uint8Array.from(frame);
      stated[2] = (index << 4) | ((frame[2] ?? 0) & 0x0f);
      return stated;
    }
    const sideAt = MPEG_HEADER_BYTES + (header.isChecked ? CHECK_BYTES : 0);
    const side = new SideInformation(frame.subarray(sideAt), header);
    const own = frame.subarray(sideAt + side.bytes);
    const known = Buffer.concat([this.#reservoir, own]);
    const begin = this.#reservoir.length - side.mainDataBegin;
    this.#reservoir = known.subarray(Math.max(0, known.length - MOST_RESERVOIR));
    const end = begin + side.mainDataBytes;
    const data = begin < 0 || end > known.length ? undefined : known.subarray(begin, end);
    return written(frame, side, data, header);
  }
}

/** The frame with all of its main data behind its own side information; without main data it is silence. */
function written(
  frame: Uint8Array,
  side: SideInformation,
  data: Uint8Array | undefined,
  header: MpegHeader,
): Uint8Array {
  const needed = MPEG_HEADER_BYTES + side.bytes + (data?.length ?? 0);
  const index = INDICES.find((one) => (lengthOf(header, one) ?? 0) >= needed);
  if (index === undefined) return written(frame, side, undefined, header);
  const whole = new Uint8Array(lengthOf(header, index) ?? 0);
  whole.set(frame.subarray(0, MPEG_HEADER_BYTES));
  whole[1] = (frame[1] ?? 0) | 1; // no check
  whole[2] = (index << 4) | ((frame[2] ?? 0) & 0x0d); // no padding
  if (data === undefined) return whole;
  whole.set(side.withoutReservoir(), MPEG_HEADER_BYTES);
  whole.set(data, MPEG_HEADER_BYTES + side.bytes);
  return whole;
}

/** Side information of layer III (ISO 11172-3, 2.4.1.7; ISO 13818-3, 2.4.1.7). */
class SideInformation {
  readonly bytes: number;
  /** Bytes before the frame at which its main data begins. */
  readonly mainDataBegin: number;
  readonly mainDataBytes: number;
  readonly #side: Uint8Array;
  readonly #beginBits: number;

  constructor(bytes: Uint8Array, { isFirst, isMono }: MpegHeader) {
    const channels = isMono ? 1 : 2;
    // Bits before the first granule, and of each channel in a granule.
    const [head, part, granules] = isFirst ? [isMono ? 18 : 20, 59, 2] : [isMono ? 9 : 10, 63, 1];
    this.bytes = (head + part * granules * channels) / 8;
    this.#side = bytes.subarray(0, this.bytes);
    this.#beginBits = isFirst ? 9 : 8;
    this.mainDataBegin = this.#bits(0, this.#beginBits);
    let bits = 0;
    for (let n = 0; n < granules * channels; n++) bits += this.#bits(head + part * n, 12);
    this.mainDataBytes = Math.ceil(bits / 8);
  }

  withoutReservoir(): Uint8Array {
    const side = Uint8Array.from(this.#side);
    side[0] = 0;
    if (this.#beginBits === 9) side[1] = (side[1] ?? 0) & 0x7f;
    return side;
  }

  #bits(at: number, count: number): number {
    let value = 0;
    for (let n = at; n < at + count; n++)
      value = 2 * value + (((this.#side[n >> 3] ?? 0) >> (7 - (n & 7))) & 1);
    return value;
  }
}
