// FLAC (RFC 9639): 16-bit mono, encoded and streamed one block at a time. It is the only lossless compressed
// format here.
//
// The encoder predicts each block by the fixed polynomial that leaves the smallest residual, and Rice codes
// the residual. A constant block is stored as one sample, and noise is stored verbatim. Linear prediction
// would save another tenth of the bytes and cost several times the time. A stream leaves length and checksum
// of the whole unknown, as the format allows. The header of a whole file states them.
import { createHash } from 'node:crypto';
import { toBytesS16le, toInt16 } from '../audio/pcm16.js';
import type { Container, FileHeader } from './container.js';

const BLOCKS_PER_SECOND = 20; // 50 ms: longer blocks save little and add delay
const NOTHING = new Uint8Array(0);

export class FlacContainer implements Container {
  readonly sampleRate: number;
  readonly frameSamples: number;
  readonly header: Uint8Array;
  readonly #encoder: FlacEncoder;
  readonly #samples: Int16Array;
  /** View of the samples as bytes, for the checksum. */
  readonly #bytes: Uint8Array;
  readonly #md5 = createHash('md5');
  #sampleCount = 0;
  #leastFrameBytes = Infinity;
  #mostFrameBytes = 0;

  constructor(rate: number) {
    this.sampleRate = rate;
    this.frameSamples = Math.round(rate / BLOCKS_PER_SECOND);
    this.header = flacHeader(rate, this.frameSamples);
    this.#encoder = new FlacEncoder(rate, this.frameSamples);
    this.#samples = new Int16Array(this.frameSamples);
    this.#bytes = new Uint8Array(2 * this.frameSamples);
  }

  encode(frame: Float32Array, count: number): Uint8Array {
    toInt16(frame, count, this.#samples);
    this.#md5.update(this.#bytes.subarray(0, toBytesS16le(frame, count, this.#bytes)));
    const bytes = this.#encoder.encode(this.#samples, count);
    this.#sampleCount += count;
    this.#leastFrameBytes = Math.min(this.#leastFrameBytes, bytes.length);
    this.#mostFrameBytes = Math.max(this.#mostFrameBytes, bytes.length);
    return bytes;
  }

  finish(): Uint8Array {
    return NOTHING;
  }

  fileHeader(): FileHeader {
    const least = this.#sampleCount === 0 ? 0 : this.#leastFrameBytes;
    const bytes = flacHeader(this.sampleRate, this.frameSamples, {
      samples: this.#sampleCount,
      frameBytes: [least, this.#mostFrameBytes],
      md5: this.#md5.copy().digest(),
    });
    return { replaced: this.header.length, bytes };
  }

  close(): void {}
}

const STREAM_INFO_BYTES = 34;
const BITS_PER_SAMPLE = 16;
const MAX_FIXED_ORDER = 4;
const MAX_PARTITION_ORDER = 3;
const MAX_RICE = 14; // 15 is the escape code
const FRAME_OVERHEAD_BYTES = 64; // header, checksums, and the parameters of the partitions

// Codes of the frame header (RFC 9639, sections 9.1.1 to 9.1.4).
const SYNC_FIXED_BLOCKS = 0xfff8;
const BLOCK_SIZE_16_BIT = 7;
const RATE_16_BIT = 13;
const RATES: Readonly<Record<number, number>> = {
  8000: 4,
  16_000: 5,
  22_050: 6,
  24_000: 7,
  32_000: 8,
  44_100: 9,
  48_000: 10,
};
const MONO = 0;
const SIZE_16_BIT = 4;

// Types of the subframe header (section 9.2.1).
const CONSTANT = 0;
const VERBATIM = 1;
const FIXED = 8;

/** The fields of STREAMINFO that are known once the whole file is encoded. */
interface FlacTotals {
  readonly samples: number;
  /** Bytes of the shortest and of the longest frame. */
  readonly frameBytes: readonly [least: number, most: number];
  /** Digest of the samples as s16le. */
  readonly md5: Uint8Array;
}

/**
 * The stream marker and the only metadata block; `blockSamples` is the length of every block but the last.
 * Without `totals` it is the header of a stream: 0 stands for unknown.
 */
function flacHeader(rate: number, blockSamples: number, totals?: FlacTotals): Uint8Array {
  const header = new Uint8Array(8 + STREAM_INFO_BYTES);
  const view = new DataView(header.buffer);
  header.set([0x66, 0x4c, 0x61, 0x43]); // fLaC
  view.setUint32(4, 0x8000_0000 + STREAM_INFO_BYTES); // the last metadata block, of type 0
  view.setUint16(8, blockSamples);
  view.setUint16(10, blockSamples);
  // Rate (20 bits), channels - 1 (3), bits - 1 (5), samples (36).
  view.setUint32(18, ((rate << 12) | ((BITS_PER_SAMPLE - 1) << 4)) >>> 0);
  if (totals === undefined) return header;
  const [least, most] = totals.frameBytes;
  view.setUint32(12, ((least << 8) | (most >>> 16)) >>> 0); // 24 bits each
  view.setUint16(16, most & 0xffff);
  view.setUint8(21, ((BITS_PER_SAMPLE - 1) << 4) | Math.floor(totals.samples / 2 ** 32));
  view.setUint32(22, totals.samples % 2 ** 32);
  header.set(totals.md5, 26);
  return header;
}

class FlacEncoder {
  readonly #rate: number;
  readonly #bits: BitWriter;
  /** The block's residual of each order; each is the difference of the one before. */
  readonly #residuals: readonly Int32Array[];
  #frames = 0;

  constructor(rate: number, blockSamples: number) {
    this.#rate = rate;
    this.#bits = new BitWriter(2 * blockSamples + FRAME_OVERHEAD_BYTES);
    this.#residuals = Array.from({ length: MAX_FIXED_ORDER + 1 }, () => new Int32Array(blockSamples));
  }

  /**
   * One frame of the first `count` samples; shorter than a block only at the end. Valid until the next call.
   */
  encode(samples: Int16Array, count: number): Uint8Array {
    const bits = this.#bits;
    bits.clear();
    this.#putHeader(count);
    this.#putSubframe(samples, count);
    bits.align();
    const checksum = crc16(bits.written());
    bits.put(checksum, 16);
    this.#frames++;
    return bits.written();
  }

  #putHeader(count: number): void {
    const bits = this.#bits;
    const rateCode = RATES[this.#rate] ?? RATE_16_BIT;
    bits.put(SYNC_FIXED_BLOCKS, 16);
    bits.put((BLOCK_SIZE_16_BIT << 4) | rateCode, 8);
    bits.put((MONO << 4) | (SIZE_16_BIT << 1), 8);
    putNumber(bits, this.#frames);
    bits.put(count - 1, 16);
    if (rateCode === RATE_16_BIT) bits.put(this.#rate, 16);
    bits.put(crc8(bits.written()), 8);
  }

  #putSubframe(samples: Int16Array, count: number): void {
    if (isConstant(samples, count)) {
      this.#bits.put(CONSTANT << 1, 8);
      this.#bits.put(samples[0] as number, BITS_PER_SAMPLE);
      return;
    }
    const order = this.#predict(samples, count);
    const plan = ricePlan(this.#residuals[order] as Int32Array, count, order);
    if (order * BITS_PER_SAMPLE + plan.bits < count * BITS_PER_SAMPLE) {
      return this.#putFixed(samples, count, order, plan);
    }
    this.#bits.put(VERBATIM << 1, 8);
    for (let i = 0; i < count; i++) this.#bits.put(samples[i] as number, BITS_PER_SAMPLE);
  }

  /**
   * Fills the residuals of every order, each the difference of the one before, and returns the best order.
   */
  #predict(samples: Int16Array, count: number): number {
    const first = this.#residuals[0] as Int32Array;
    for (let i = 0; i < count; i++) first[i] = samples[i] as number;
    let best = 0;
    let least = magnitude(first, MAX_FIXED_ORDER, count);
    for (let order = 1; order <= Math.min(MAX_FIXED_ORDER, count - 1); order++) {
      const before = this.#residuals[order - 1] as Int32Array;
      const residual = this.#residuals[order] as Int32Array;
      for (let i = order; i < count; i++) residual[i] = (before[i] as number) - (before[i - 1] as number);
      const sum = magnitude(residual, MAX_FIXED_ORDER, count);
      if (sum < least) {
        least = sum;
        best = order;
      }
    }
    return best;
  }

  #putFixed(samples: Int16Array, count: number, order: number, plan: RicePlan): void {
    const bits = this.#bits;
    bits.put((FIXED + order) << 1, 8);
    for (let i = 0; i < order; i++) bits.put(samples[i] as number, BITS_PER_SAMPLE);
    bits.put(plan.partitionOrder, 6); // coding method 0: parameters of four bits
    const residual = this.#residuals[order] as Int32Array;
    const length = count >> plan.partitionOrder;
    plan.parameters.forEach((parameter, partition) => {
      bits.put(parameter, 4);
      const from = partition === 0 ? order : partition * length;
      for (let i = from; i < (partition + 1) * length; i++) {
        const folded = fold(residual[i] as number);
        bits.putUnary(folded >>> parameter);
        if (parameter > 0) bits.put(folded, parameter);
      }
    });
  }
}

interface RicePlan {
  readonly partitionOrder: number;
  readonly parameters: readonly number[];
  readonly bits: number;
}

/** Cuts the block into as many equal partitions as possible, each with its own parameter. */
function ricePlan(residual: Int32Array, count: number, order: number): RicePlan {
  let partitionOrder = MAX_PARTITION_ORDER;
  while (partitionOrder > 0 && (count % (1 << partitionOrder) > 0 || count >> partitionOrder <= order)) {
    partitionOrder--;
  }
  const length = count >> partitionOrder;
  const parameters: number[] = [];
  let bits = 6;
  for (let from = 0; from < count; from += length) {
    const [parameter, cost] = riceParameter(residual, Math.max(from, order), from + length);
    parameters.push(parameter);
    bits += 4 + cost;
  }
  return { partitionOrder, parameters, bits };
}

/** Finds the parameter that takes the fewest bits; it is near the logarithm of the mean. */
function riceParameter(residual: Int32Array, from: number, to: number): [parameter: number, bits: number] {
  let sum = 0;
  for (let i = from; i < to; i++) sum += fold(residual[i] as number);
  const guess = Math.floor(Math.log2(Math.max(1, sum / Math.max(1, to - from))));
  let best: [number, number] = [0, Infinity];
  for (let k = Math.max(0, guess - 1); k <= Math.min(MAX_RICE, guess + 1); k++) {
    let bits = (to - from) * (k + 1);
    for (let i = from; i < to; i++) bits += fold(residual[i] as number) >>> k;
    if (bits < best[1]) best = [k, bits];
  }
  return best;
}

/** Signed to unsigned: 0, -1, 1, -2, 2 ... */
function fold(value: number): number {
  return ((value << 1) ^ (value >> 31)) >>> 0;
}

function magnitude(residual: Int32Array, from: number, to: number): number {
  let sum = 0;
  for (let i = from; i < to; i++) sum += Math.abs(residual[i] as number);
  return sum;
}

function isConstant(samples: Int16Array, count: number): boolean {
  for (let i = 1; i < count; i++) if (samples[i] !== samples[0]) return false;
  return true;
}

/** Writes a number of up to 31 bits in UTF-8's coding (section 9.1.5). */
function putNumber(bits: BitWriter, value: number): void {
  if (value < 0x80) return bits.put(value, 8);
  let follow = 1; // bytes of six bits each
  while (value >= 2 ** (6 * follow + 6 - follow)) follow++;
  const lead = (0xff << (7 - follow)) & 0xff;
  bits.put(lead | (value >>> (6 * follow)), 8);
  for (let left = follow - 1; left >= 0; left--) bits.put(0x80 | ((value >>> (6 * left)) & 0x3f), 8);
}

const CRC8 = Uint8Array.from({ length: 256 }, (_, byte) => divided(byte, 8, 0x07));
const CRC16 = Uint16Array.from({ length: 256 }, (_, byte) => divided(byte, 16, 0x8005));

/** The remainder of one byte, followed by zeros, after division by the polynomial. */
function divided(byte: number, width: number, polynomial: number): number {
  const top = 1 << (width - 1);
  let rest = byte << (width - 8);
  for (let bit = 0; bit < 8; bit++) rest = (rest & top) === 0 ? rest << 1 : (rest << 1) ^ polynomial;
  return rest & (2 * top - 1);
}

function crc8(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) crc = CRC8[crc ^ byte] as number;
  return crc;
}

function crc16(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) crc = ((crc << 8) & 0xffff) ^ (CRC16[(crc >> 8) ^ byte] as number);
  return crc;
}

/** Packs numbers of any width into bytes, highest bit first. */
class BitWriter {
  readonly #bytes: Uint8Array;
  #length = 0;
  /** Bits that do not fill a byte yet: the lowest `#pending` of `#bits`. */
  #bits = 0;
  #pending = 0;

  /** @param capacity bytes; writing beyond is a mistake of the caller and is lost. */
  constructor(capacity: number) {
    this.#bytes = new Uint8Array(capacity);
  }

  /** Whole bytes so far. */
  get length(): number {
    return this.#length;
  }

  /** The lowest `width` bits of `value`; at most 24. */
  put(value: number, width: number): void {
    this.#bits = (this.#bits << width) | (value & ((1 << width) - 1));
    this.#pending += width;
    while (this.#pending >= 8) {
      this.#pending -= 8;
      this.#bytes[this.#length++] = (this.#bits >>> this.#pending) & 0xff;
    }
    this.#bits &= (1 << this.#pending) - 1;
  }

  /** `zeros` zeros and a one. */
  putUnary(zeros: number): void {
    let left = zeros;
    for (; left >= 16; left -= 16) this.put(0, 16);
    this.put(1, left + 1);
  }

  /** Fills the last byte up with zeros. */
  align(): void {
    if (this.#pending > 0) this.put(0, 8 - this.#pending);
  }

  /** The whole bytes written so far; valid until the next `clear`. */
  written(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
    this.#bits = 0;
    this.#pending = 0;
  }
}
