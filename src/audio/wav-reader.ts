// The samples of a WAV file, whose header is anybody's word: every length is
// held against the bytes that are there.
import { ParleyError } from '../errors.js';

export interface WavSound {
  /** Hz. */
  readonly rate: number;
  readonly channels: number;
  /** Samples of each channel. */
  readonly frames: number;
  /** Writes the samples of one channel from `frame` on, as many as `out` has room for or the file holds; says how many. */
  read(channel: number, frame: number, out: Float32Array): number;
}

interface Format {
  readonly encoding: 'integer' | 'float';
  readonly channels: number;
  readonly rate: number;
  readonly bits: number;
}

type ReadSample = (view: DataView, at: number) => number;

const INTEGER = 1;
const FLOAT = 3;
const EXTENSIBLE = 0xfffe; // the format stands in the first two bytes of the GUID behind
const FORMAT_BYTES = 16;
const GUID_AT = 24;
const MAX_CHANNELS = 8;

const READERS: Readonly<Record<string, ReadSample>> = {
  integer8: (view, at) => (view.getUint8(at) - 128) / 128,
  integer16: (view, at) => view.getInt16(at, true) / 32_768,
  integer24: (view, at) => (view.getUint16(at, true) + view.getInt8(at + 2) * 65_536) / 8_388_608,
  integer32: (view, at) => view.getInt32(at, true) / 2_147_483_648,
  float32: (view, at) => view.getFloat32(at, true),
  float64: (view, at) => view.getFloat64(at, true),
};

/** Throws AUDIO_INVALID with what is wrong. */
export function readWav(bytes: Uint8Array): WavSound {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const { format, data } = chunksOf(view);
  const readSample = READERS[`${format.encoding}${format.bits}`];
  if (readSample === undefined) {
    throw invalid(`samples of ${format.bits} bits are not read; PCM of 8, 16, 24 or 32 bits and floats are`);
  }
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

function chunksOf(view: DataView): { format: Format; data: { start: number; end: number } } {
  let format: Format | undefined;
  // Each turn goes at least the 8 bytes of a head further.
  for (let at = 12; at + 8 <= view.byteLength;) {
    const name = view.getUint32(at);
    const bytes = view.getUint32(at + 4, true);
    const start = at + 8;
    if (name === 0x666d_7420) format = readFormat(view, start, bytes); // 'fmt '
    if (name === 0x6461_7461) {
      if (format === undefined) throw invalid('its samples come before their format');
      // A file that was streamed says that it is endless, or empty.
      const end = bytes === 0 ? view.byteLength : Math.min(view.byteLength, start + bytes);
      return { format, data: { start, end } };
    }
    at = start + bytes + (bytes & 1); // chunks begin at even places
  }
  throw invalid('it holds no samples');
}

function readFormat(view: DataView, at: number, bytes: number): Format {
  if (bytes < FORMAT_BYTES || at + bytes > view.byteLength) throw invalid('its format is cut short');
  const tag = view.getUint16(at, true);
  const channels = view.getUint16(at + 2, true);
  const rate = view.getUint32(at + 4, true);
  const bits = view.getUint16(at + 14, true);
  const isExtended = tag === EXTENSIBLE && bytes >= GUID_AT + 2;
  const meant = isExtended ? view.getUint16(at + GUID_AT, true) : tag;
  if (meant !== INTEGER && meant !== FLOAT) throw invalid(`its encoding (${meant}) is neither PCM nor float`);
  if (channels < 1 || channels > MAX_CHANNELS)
    throw invalid(`it has ${channels} channels; 1 to ${MAX_CHANNELS} are read`);
  return { encoding: meant === FLOAT ? 'float' : 'integer', channels, rate, bits };
}

function invalid(what: string): ParleyError {
  return new ParleyError('AUDIO_INVALID', `the WAV file cannot be read: ${what}`);
}
