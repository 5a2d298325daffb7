// Detects the kind of an audio file from its content, because names and content types are unreliable.

/** Kinds that can be read here. */
export type AudioKind = 'wav' | 'mp3' | 'opus' | 'flac';

/** Kinds that cannot be read, detected so that the refusal can name them. */
export type OtherKind = 'webm' | 'mp4' | 'aac' | 'ogg' | 'aiff';

const PAGE_BYTES = 4096; // the first page of an Ogg file holds nothing but the head of its codec

/** Undefined if the bytes are of no known kind. */
export function audioKind(bytes: Uint8Array): AudioKind | OtherKind | undefined {
  const at = endOfTag(bytes);
  if (starts(bytes, at, 'RIFF') && starts(bytes, at + 8, 'WAVE')) return 'wav';
  if (starts(bytes, at, 'fLaC')) return 'flac';
  if (starts(bytes, at, 'OggS'))
    return opusHeads(bytes.subarray(at, at + PAGE_BYTES)).length > 0 ? 'opus' : 'ogg';
  if (starts(bytes, at, '\x1aE\xdf\xa3')) return 'webm';
  if (starts(bytes, at + 4, 'ftyp')) return 'mp4';
  if (starts(bytes, at, 'FORM') && starts(bytes, at + 8, 'AIF')) return 'aiff';
  return mpegKind(bytes, at);
}

/** Returns the offset of each OpusHead: one for each Opus stream of an Ogg file. */
export function opusHeads(bytes: Uint8Array): number[] {
  const heads: number[] = [];
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = text.indexOf('OpusHead'); at >= 0; at = text.indexOf('OpusHead', at + 1)) heads.push(at);
  return heads;
}

/** Behind the ID3v2 tag in front of some files (id3.org, section 3.1): 10 bytes and as many as they say. */
export function endOfTag(bytes: Uint8Array): number {
  if (!starts(bytes, 0, 'ID3') || bytes.length < 10) return 0;
  const [a = 0, b = 0, c = 0, d = 0] = bytes.subarray(6, 10);
  return 10 + (((a & 0x7f) << 21) | ((b & 0x7f) << 14) | ((c & 0x7f) << 7) | (d & 0x7f));
}

/** By the header of the first frame (ISO 11172-3, 2.4.1.3): layer 3 is MP3, no layer is AAC in ADTS. */
function mpegKind(bytes: Uint8Array, at: number): 'mp3' | 'aac' | undefined {
  const [sync = 0, kind = 0, rates = 0] = bytes.subarray(at, at + 3);
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
