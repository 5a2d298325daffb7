// Tells the kind of a sound file from its first bytes, because names and content types are unreliable.
import { ParleyError } from '../errors.js';

/** Kinds that are decoded here. */
export type SoundKind = 'wav' | 'mp3' | 'opus' | 'flac' | 'webm';

/** Kinds that are known by name only. */
export type OtherKind = 'mp4' | 'aac' | 'ogg' | 'aiff' | 'amr' | 'caf' | 'asf' | 'avi';

/** Bytes from which a kind can be told, behind a tag. The first page of an Ogg file is no longer. */
export const KIND_BYTES = 4096;

export const DECODED_KINDS = 'WAV, MP3, FLAC, Ogg Opus and WebM Opus';

const NAMES: Readonly<Record<SoundKind | OtherKind, string>> = {
  wav: 'WAV',
  mp3: 'MP3',
  opus: 'Ogg Opus',
  flac: 'FLAC',
  webm: 'WebM',
  mp4: 'MP4 (M4A)',
  aac: 'AAC',
  ogg: 'Ogg, but not Opus',
  aiff: 'AIFF',
  amr: 'AMR',
  caf: 'CAF',
  asf: 'WMA',
  avi: 'AVI',
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

/** The kind of what follows a tag. Undefined if the bytes are of no known kind. */
export function soundKind(bytes: Uint8Array): SoundKind | OtherKind | undefined {
  if (starts(bytes, 0, 'RIFF') || starts(bytes, 0, 'RF64')) return riffKind(bytes);
  if (starts(bytes, 0, 'fLaC')) return 'flac';
  if (starts(bytes, 0, 'OggS')) return opusHeads(bytes.subarray(0, KIND_BYTES)).length > 0 ? 'opus' : 'ogg';
  if (starts(bytes, 0, '\x1aE\xdf\xa3')) return 'webm';
  if (starts(bytes, 4, 'ftyp')) return 'mp4';
  if (starts(bytes, 0, 'FORM') && starts(bytes, 8, 'AIF')) return 'aiff';
  if (starts(bytes, 0, '#!AMR')) return 'amr';
  if (starts(bytes, 0, 'caff')) return 'caf';
  if (starts(bytes, 0, '\x30\x26\xb2\x75')) return 'asf';
  return mpegKind(bytes);
}

function riffKind(bytes: Uint8Array): 'wav' | 'avi' | undefined {
  if (starts(bytes, 8, 'WAVE')) return 'wav';
  return starts(bytes, 8, 'AVI ') ? 'avi' : undefined;
}

/** Returns the offset of each OpusHead: one for each Opus stream of an Ogg file (RFC 7845 section 5.1). */
export function opusHeads(bytes: Uint8Array): number[] {
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

/** Reads the header of the first frame (ISO 11172-3, 2.4.1.3): layer 3 is MP3, no layer is AAC in ADTS. */
function mpegKind(bytes: Uint8Array): 'mp3' | 'aac' | undefined {
  const [sync = 0, kind = 0, rates = 0] = bytes.subarray(0, 3);
  if (sync !== 0xff || (kind & 0xe0) !== 0xe0) return undefined;
  const layer = (kind >> 1) & 3;
  if (layer === 0 && (kind & 0x10) !== 0) return 'aac';
  const isReserved = ((kind >> 3) & 3) === 1 || rates >> 4 === 15 || ((rates >> 2) & 3) === 3;
  return layer === 1 && !isReserved ? 'mp3' : undefined;
}

function starts(bytes: Uint8Array, at: number, text: string): boolean {
  if (at + text.length > bytes.length) return false;
  for (let i = 0; i < text.length; i++) if (bytes[at + i] !== text.charCodeAt(i)) return false;
  return true;
}
