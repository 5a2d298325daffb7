// WAV files: readers of samples, of a whole file and of one that arrives in pieces, and the header that is
// written before 16-bit PCM. The readers trust no length in a file: they check each against the bytes that
// are present.
import { ParleyError } from '../errors.js';
import { A_LAW_VALUES, MU_LAW_VALUES } from './g711.js';

interface WavSound {
  /** Hz. */
  readonly rate: number;
  readonly channels: number;
  /** Samples of each channel. */
  readonly frames: number;
  /**
   * Writes the samples of one channel from `frame` on, limited by `out` and by the file; returns their
   * number.
   */
  read(channel: number, frame: number, out: Float32Array): number;
}

interface Format {
  readonly encoding: 'integer' | 'float' | 'aLaw' | 'muLaw';
  readonly channels: number;
  readonly rate: number;
  readonly bits: number;
}

type ReadSample = (view: DataView, at: number) => number;

/** Format tags (RFC 2361). */
const ENCODINGS: Readonly<Record<number, Format['encoding']>> = {
  1: 'integer',
  3: 'float',
  6: 'aLaw',
  7: 'muLaw',
};
const EXTENSIBLE = 0xfffe; // the first two bytes of the GUID after it are the format
const FORMAT_BYTES = 16;
const GUID_AT = 24;
const MAX_CHANNELS = 8;
const HEAD_BYTES = 12; // RIFF, a length, WAVE
const CHUNK_BYTES = 8; // before what a chunk holds: its name and its length
const FMT = 0x666d_7420;
const DATA = 0x6461_7461;
const DS64 = 0x6473_3634; // lengths of RF64 and BW64 files (ITU-R BS.2088-1, section 4)
const DS64_BYTES = 16; // of which the latter half is the length of the samples
const MOST_FORMAT = 4096;

const READERS: Readonly<Record<string, ReadSample>> = {
  integer8: (view, at) => (view.getUint8(at) - 128) / 128,
  integer16: (view, at) => view.getInt16(at, true) / 32_768,
  integer24: (view, at) => (view.getUint16(at, true) + view.getInt8(at + 2) * 65_536) / 8_388_608,
  integer32: (view, at) => view.getInt32(at, true) / 2_147_483_648,
  float32: (view, at) => view.getFloat32(at, true),
  float64: (view, at) => view.getFloat64(at, true),
  aLaw8: (view, at) => (A_LAW_VALUES[view.getUint8(at)] ?? 0) / 32_768,
  muLaw8: (view, at) => (MU_LAW_VALUES[view.getUint8(at)] ?? 0) / 32_768,
};

/** Throws AUDIO_INVALID naming the fault. */
export function readWav(bytes: Uint8Array): WavSound {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const { format, data } = chunksOf(view);
  const readSample = readerOf(format);
  const { channels, rate } = format;
  const sampleBytes = format.bits / 8;
  const frameBytes = channels * sampleBytes;
  const frames = Math.floor((data.end - data.start) / frameBytes);
  const read = (channel: number, frame: number, out: Float32Array) => {
    const count = Math.max(0, Math.min(out.length, frames - frame));
    const first = data.start + frame * frameBytes + channel * sampleBytes;
    for (let i = 0; i < count; i++) out[i] = readSample(view, first + i * frameBytes);
    return count;
  };
  return { rate, channels, frames, read };
}

/** Reads a file that arrives in pieces. */
export class WavStream {
  #format: Format | undefined;
  /** Bytes that are not complete yet. */
  #left: Uint8Array = new Uint8Array(0);
  /** Bytes that are skipped. */
  #skip = 0;
  #isHeadRead = false;
  /** Bytes of samples that `ds64` states. */
  #long: number | undefined;
  /** Bytes of samples that follow; undefined before them. */
  #samples: number | undefined;

  /** Hz; 0 before it is known. */
  get rate(): number {
    return this.#format?.rate ?? 0;
  }

  /** Returns the channels of the samples that are complete now. Throws AUDIO_INVALID naming the fault. */
  write(bytes: Uint8Array): Float32Array[] {
    const skipped = Math.min(this.#skip, bytes.length);
    this.#skip -= skipped;
    const fresh = bytes.subarray(skipped);
    this.#left = this.#left.length === 0 ? fresh : Buffer.concat([this.#left, fresh]);
    if (this.#samples === undefined) this.#readChunks();
    return this.#samples === undefined ? [] : this.#readSamples();
  }

  /** Throws AUDIO_INVALID if there were no samples. */
  end(): void {
    if (this.#samples === undefined) throw invalid('it holds no samples');
  }

  #readChunks(): void {
    if (!this.#isHeadRead && this.#left.length < HEAD_BYTES) return;
    let at = this.#isHeadRead ? 0 : HEAD_BYTES;
    this.#isHeadRead = true;
    for (;;) {
      const view = new DataView(this.#left.buffer, this.#left.byteOffset, this.#left.byteLength);
      if (at + CHUNK_BYTES > view.byteLength) break;
      const [name, bytes] = [view.getUint32(at), view.getUint32(at + 4, true)];
      if (name === DATA) {
        if (this.#format === undefined) throw invalid('its samples come before their format');
        this.#samples = dataBytes(bytes, this.#long);
        at += CHUNK_BYTES;
        break;
      }
      const end = at + CHUNK_BYTES + bytes + (bytes & 1); // chunks begin at even offsets
      if (name === FMT) {
        if (bytes > MOST_FORMAT) throw invalid('its format is too long');
        if (end > view.byteLength) break;
        this.#format = readFormat(view, at + CHUNK_BYTES, bytes);
        readerOf(this.#format);
      }
      if (name === DS64 && bytes >= DS64_BYTES) {
        if (at + CHUNK_BYTES + DS64_BYTES > view.byteLength) break;
        this.#long = longDataBytes(view, at + CHUNK_BYTES);
      }
      this.#skip = Math.max(0, end - view.byteLength);
      at = Math.min(end, view.byteLength);
    }
    this.#left = this.#left.subarray(at);
  }

  #readSamples(): Float32Array[] {
    const format = this.#format as Format;
    const { channels, bits } = format;
    const sampleBytes = bits / 8;
    const frameBytes = channels * sampleBytes;
    const samples = this.#samples ?? 0;
    const frames = Math.floor(Math.min(this.#left.length, samples) / frameBytes);
    const view = new DataView(this.#left.buffer, this.#left.byteOffset, this.#left.byteLength);
    const readSample = readerOf(format);
    const read = Array.from({ length: channels }, (_, channel) => {
      const out = new Float32Array(frames);
      const first = channel * sampleBytes;
      for (let i = 0; i < frames; i++) out[i] = readSample(view, first + i * frameBytes);
      return out;
    });
    this.#samples = samples - frames * frameBytes;
    // Bytes that are less than a frame, or follow the samples, are dropped.
    const isOver = this.#samples < frameBytes;
    this.#left = isOver ? new Uint8Array(0) : Buffer.from(this.#left.subarray(frames * frameBytes));
    if (isOver) this.#skip = Infinity;
    return read;
  }
}

function readerOf({ encoding, bits }: Format): ReadSample {
  const reader = READERS[`${encoding}${bits}`];
  if (reader !== undefined) return reader;
  throw invalid(`samples of ${bits} bits are not read; PCM of 8, 16, 24 or 32 bits, floats and G.711 are`);
}

function chunksOf(view: DataView): { format: Format; data: { start: number; end: number } } {
  let format: Format | undefined;
  let long: number | undefined;
  // Each turn advances by at least the 8 bytes of a chunk header.
  for (let at = HEAD_BYTES; at + CHUNK_BYTES <= view.byteLength;) {
    const name = view.getUint32(at);
    const bytes = view.getUint32(at + 4, true);
    const start = at + CHUNK_BYTES;
    if (name === FMT) format = readFormat(view, start, bytes);
    if (name === DS64 && bytes >= DS64_BYTES && start + DS64_BYTES <= view.byteLength)
      long = longDataBytes(view, start);
    if (name === DATA) {
      if (format === undefined) throw invalid('its samples come before their format');
      const end = Math.min(view.byteLength, start + dataBytes(bytes, long));
      return { format, data: { start, end } };
    }
    at = start + bytes + (bytes & 1); // chunks begin at even offsets
  }
  throw invalid('it holds no samples');
}

/** Reads the length of the samples in a `ds64` chunk. */
function longDataBytes(view: DataView, at: number): number {
  return Number(view.getBigUint64(at + 8, true));
}

/** Length of the samples. A streamed file states an endless or an empty length, and a long one has `ds64`. */
function dataBytes(stated: number, long = 0): number {
  if (stated !== 0 && stated !== UNKNOWN_LENGTH) return stated;
  return stated === UNKNOWN_LENGTH && long > 0 ? long : Infinity;
}

function readFormat(view: DataView, at: number, bytes: number): Format {
  if (bytes < FORMAT_BYTES || at + bytes > view.byteLength) throw invalid('its format is cut short');
  const tag = view.getUint16(at, true);
  const channels = view.getUint16(at + 2, true);
  const rate = view.getUint32(at + 4, true);
  const bits = view.getUint16(at + 14, true);
  const isExtended = tag === EXTENSIBLE && bytes >= GUID_AT + 2;
  const meant = isExtended ? view.getUint16(at + GUID_AT, true) : tag;
  const encoding = ENCODINGS[meant];
  if (encoding === undefined) throw invalid(`its encoding (${meant}) is neither PCM nor float nor G.711`);
  if (channels < 1 || channels > MAX_CHANNELS)
    throw invalid(`it has ${channels} channels; 1 to ${MAX_CHANNELS} are read`);
  return { encoding, channels, rate, bits };
}

function invalid(what: string): ParleyError {
  return new ParleyError('AUDIO_INVALID', `the WAV file cannot be read: ${what}`);
}

export const WAV_HEADER_BYTES = 44;

// The length of a streamed file is unknown when its header is sent. Players accept this value in both length
// fields and read to the end.
const UNKNOWN_LENGTH = 0xffff_ffff;
const BYTES_PER_SAMPLE = 2;
// The RIFF length counts everything after its own field: the header without its first 8 bytes, and the data.
const RIFF_OVERHEAD = WAV_HEADER_BYTES - 8;

/**
 * The header of s16le at `rate` Hz. `samples` counts those of one channel. Without it, the header is that of
 * a stream of unknown length.
 */
export function wavHeader(rate: number, samples?: number, channels = 1): Uint8Array {
  const frameBytes = channels * BYTES_PER_SAMPLE;
  const dataBytes = samples === undefined ? UNKNOWN_LENGTH : samples * frameBytes;
  const header = new Uint8Array(WAV_HEADER_BYTES);
  const view = new DataView(header.buffer);
  ascii(header, 0, 'RIFF');
  view.setUint32(4, samples === undefined ? UNKNOWN_LENGTH : RIFF_OVERHEAD + dataBytes, true);
  ascii(header, 8, 'WAVEfmt ');
  view.setUint32(16, 16, true); // length of the format chunk
  view.setUint16(20, 1, true); // integer PCM
  view.setUint16(22, channels, true);
  view.setUint32(24, rate, true);
  view.setUint32(28, rate * frameBytes, true); // bytes a second
  view.setUint16(32, frameBytes, true); // bytes of one sample of all channels
  view.setUint16(34, 16, true); // bits a sample
  ascii(header, 36, 'data');
  view.setUint32(40, dataBytes, true);
  return header;
}

function ascii(bytes: Uint8Array, at: number, text: string): void {
  for (let i = 0; i < text.length; i++) bytes[at + i] = text.charCodeAt(i);
}
