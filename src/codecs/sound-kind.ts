// Tells the kind of a sound file from its first bytes, because names and content types are unreliable.
import { ParleyError } from '../errors.js';
import { mpegHeaderAt, mpegStart } from './mpeg-frames.js';

/** Kinds that are decoded here. */
export type SoundKind = 'wav' | 'mp3' | 'opus' | 'flac' | 'webm';

/** Kinds that are known by name, and that ffmpeg decodes. */
const OTHER_NAMES = {
  mp4: 'MP4 (M4A)',
  aac: 'AAC',
  ogg: 'Ogg, but not Opus',
  aiff: 'AIFF',
  amr: 'AMR',
  caf: 'CAF',
  asf: 'WMA',
  avi: 'AVI',
  rifx: 'WAV of big-endian samples',
  w64: 'Wave64',
  au: 'AU',
  mp2: 'MPEG audio of layer I or II',
  ac3: 'AC-3',
  eac3: 'E-AC-3',
  dts: 'DTS',
  wavpack: 'WavPack',
  ts: 'MPEG transport stream',
  ps: 'MPEG program stream',
  flv: 'FLV',
} as const;
export type OtherKind = keyof typeof OTHER_NAMES;

/** Bytes from which a kind can be told, behind a tag. The first page of an Ogg file is no longer. */
export const KIND_BYTES = 4096;

export const DECODED_KINDS = 'WAV, MP3, FLAC, Ogg Opus and WebM Opus';

const NAMES: Readonly<Record<SoundKind | OtherKind, string>> = {
  wav: 'WAV',
  mp3: 'MP3',
  opus: 'Ogg Opus',
  flac: 'FLAC',
  webm: 'WebM',
  ...OTHER_NAMES,
};

/** Hz that the sound of a file may have. */
const SOUND_RATES = [8000, 192_000] as const;

/** Throws AUDIO_INVALID for a sample rate out of range. Every rate that a file states sizes memory. */
export function checkSoundRate(rate: number): void {
  const [least, most] = SOUND_RATES;
  if (Number.isInteger(rate) && rate >= least && rate <= most) return;
  const message = `the sample rate of the sound is ${rate} Hz; ${least} to ${most} Hz are taken`;
  throw new ParleyError('AUDIO_INVALID', message);
}

export function nameOfKind(kind: SoundKind | OtherKind): string {
  return NAMES[kind];
}

export function isDecoded(kind: SoundKind | OtherKind): kind is SoundKind {
  return ['wav', 'mp3', 'opus', 'flac', 'webm'].includes(kind);
}

/** Bytes of anything else before the frames of MPEG audio among which the first frame is looked for. */
export const MOST_JUNK = 131_072;

/** The kind of what follows a tag, and where it begins. Undefined if the bytes are of no known kind. */
export function findSound(
  bytes: Uint8Array,
): { readonly kind: SoundKind | OtherKind; readonly start: number } | undefined {
  const kind = soundKind(bytes);
  if (kind !== undefined) return { kind, start: 0 };
  const start = mpegStart(bytes.subarray(0, MOST_JUNK));
  if (start === undefined) return undefined;
  return { kind: mpegHeaderAt(bytes, start)?.layer === 3 ? 'mp3' : 'mp2', start };
}

/** The first bytes of kinds that have fixed ones. */
const MARKS: readonly (readonly [at: number, mark: string, kind: SoundKind | OtherKind])[] = [
  [0, 'fLaC', 'flac'],
  [0, '\x1aE\xdf\xa3', 'webm'],
  [0, '#!AMR', 'amr'],
  [0, 'caff', 'caf'],
  [0, '\x30\x26\xb2\x75', 'asf'],
  [0, 'riff\x2e\x91\xcf\x11', 'w64'],
  [0, '.snd', 'au'],
  [0, '\x7f\xfe\x80\x01', 'dts'],
  [0, 'wvpk', 'wavpack'],
  [0, '\0\0\x01\xba', 'ps'],
  [0, 'FLV\x01', 'flv'],
  ...['ftyp', 'moov', 'mdat', 'wide', 'free', 'skip'].map((mark) => [4, mark, 'mp4'] as const),
];

/** The kind of what follows a tag. Undefined if the first bytes are of no known kind. */
export function soundKind(bytes: Uint8Array): SoundKind | OtherKind | undefined {
  if (['RIFF', 'RF64', 'BW64'].some((mark) => starts(bytes, 0, mark))) return riffKind(bytes);
  if (starts(bytes, 0, 'RIFX') && starts(bytes, 8, 'WAVE')) return 'rifx';
  if (starts(bytes, 0, 'OggS')) return opusHeads(bytes.subarray(0, KIND_BYTES)).length > 0 ? 'opus' : 'ogg';
  if (starts(bytes, 0, 'FORM') && starts(bytes, 8, 'AIF')) return 'aiff';
  if (isTransportStream(bytes)) return 'ts';
  const marked = MARKS.find(([at, mark]) => starts(bytes, at, mark));
  return marked?.[2] ?? dolbyKind(bytes) ?? mpegKind(bytes);
}

function riffKind(bytes: Uint8Array): 'wav' | 'avi' | undefined {
  if (starts(bytes, 8, 'WAVE')) return 'wav';
  return starts(bytes, 8, 'AVI ') ? 'avi' : undefined;
}

const TS_SYNC = 0x47;
/** Length of a packet (ISO 13818-1, 2.4.3.2), and of one with a time before it, as on Blu-ray. */
const TS_PACKETS = [
  { first: 0, bytes: 188 },
  { first: 4, bytes: 192 },
];

function isTransportStream(bytes: Uint8Array): boolean {
  const isSync = (first: number, length: number) =>
    [0, 1, 2].every((n) => bytes[first + n * length] === TS_SYNC);
  return TS_PACKETS.some(({ first, bytes: length }) => isSync(first, length));
}

/** Reads the version of the bit stream (ETSI TS 102 366, sections 4.3 and E.1.2). */
function dolbyKind(bytes: Uint8Array): 'ac3' | 'eac3' | undefined {
  const [a, b, , , , version = 0xff] = bytes.subarray(0, 6);
  if (a !== 0x0b || b !== 0x77) return undefined;
  if (version >> 3 <= 10) return 'ac3';
  return version >> 3 <= 16 ? 'eac3' : undefined;
}

/** Returns the offset of each OpusHead: one for each Opus stream of an Ogg file (RFC 7845 section 5.1). */
function opusHeads(bytes: Uint8Array): number[] {
  const heads: number[] = [];
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = text.indexOf('OpusHead'); at >= 0; at = text.indexOf('OpusHead', at + 1)) heads.push(at);
  return heads;
}

export const TAG_HEAD_BYTES = 10;

/**
 * Returns the end of an ID3v2 tag (id3.org, section 3.1) from its first TAG_HEAD_BYTES bytes: these and the
 * length that they state; 0 without a tag.
 */
export function endOfTag(bytes: Uint8Array): number {
  if (!starts(bytes, 0, 'ID3') || bytes.length < TAG_HEAD_BYTES) return 0;
  const [a = 0, b = 0, c = 0, d = 0] = bytes.subarray(6, 10);
  return TAG_HEAD_BYTES + (((a & 0x7f) << 21) | ((b & 0x7f) << 14) | ((c & 0x7f) << 7) | (d & 0x7f));
}

/** Layer III is MP3, no layer is AAC in ADTS. The other layers need a frame that others follow. */
function mpegKind(bytes: Uint8Array): 'mp3' | 'aac' | 'mp2' | undefined {
  const [sync = 0, kind = 0] = bytes;
  if (sync === 0xff && (kind & 0xf6) === 0xf0) return 'aac';
  const layer = mpegHeaderAt(bytes, 0)?.layer;
  if (layer === 3) return 'mp3';
  return layer !== undefined && mpegStart(bytes) === 0 ? 'mp2' : undefined;
}

function starts(bytes: Uint8Array, at: number, text: string): boolean {
  if (at + text.length > bytes.length) return false;
  for (let i = 0; i < text.length; i++) if (bytes[at + i] !== text.charCodeAt(i)) return false;
  return true;
}
