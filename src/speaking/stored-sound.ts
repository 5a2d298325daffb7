// Writes a sound as the value of a rendering in the shared store, and reads it back. A value that packSound
// did not write exactly so is ignored: cut short, of another program, or of another form.
//
//   "PRLY" │ form │ length of generation │ of head │ of sound │ CRC-32 of the rest │ generation │ head (JSON) │ sound
//     4       1              1               4          4              4
import { crc32 } from 'node:zlib';
import type { WordTime } from '../engines/engine.js';
import { NO_TIME, type SentencePlace, type Sound } from './sound.js';

const MAGIC = Buffer.of(0x50, 0x52, 0x4c, 0x59); // PRLY
const FORM = 2;
const HEAD_BYTES = 18;
const MAX_GENERATION_BYTES = 64;
const MAX_HEADER_CHARS = 4096; // in base64; the longest header is a frame of MP3
const CONTENT_TYPE = /^audio\/[\w.+-]{1,60}(; ?[\w.+=-]{1,60}){0,4}$/; // it becomes a header of a reply

interface StoredSound {
  readonly sound: Sound;
  /** Generation of the store when the rendering began. */
  readonly generation: string;
}

/** Timings are not stored: a stored rendering costs no work. */
export function packSound({ contentType, bytes, outcome }: Sound, generation: string): Uint8Array {
  const { durationMs, sentences, header } = outcome;
  const written = header && {
    replaced: header.replaced,
    bytes: Buffer.from(header.bytes).toString('base64'),
  };
  const head = Buffer.from(JSON.stringify({ contentType, durationMs, sentences, header: written }));
  const mark = Buffer.from(generation);
  if (mark.length > MAX_GENERATION_BYTES) throw new RangeError('the generation is too long');
  const value = Buffer.allocUnsafe(HEAD_BYTES + mark.length + head.length + bytes.byteLength);
  MAGIC.copy(value);
  value.writeUInt8(FORM, 4);
  value.writeUInt8(mark.length, 5);
  value.writeUInt32LE(head.length, 6);
  value.writeUInt32LE(bytes.byteLength, 10);
  mark.copy(value, HEAD_BYTES);
  head.copy(value, HEAD_BYTES + mark.length);
  value.set(bytes, HEAD_BYTES + mark.length + head.length);
  value.writeUInt32LE(crc32(value.subarray(HEAD_BYTES)), 14);
  return value;
}

/** Undefined if `packSound` did not make the value. The sound is a view of `bytes`. */
export function unpackSound(bytes: Uint8Array): StoredSound | undefined {
  const value = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (value.length < HEAD_BYTES || !value.subarray(0, 4).equals(MAGIC) || value[4] !== FORM) return undefined;
  const headStart = HEAD_BYTES + value.readUInt8(5);
  const soundStart = headStart + value.readUInt32LE(6);
  if (value.length !== soundStart + value.readUInt32LE(10)) return undefined;
  if (value.readUInt32LE(14) !== crc32(value.subarray(HEAD_BYTES))) return undefined;
  const head = parsed(value.toString('utf8', headStart, soundStart));
  if (head === undefined) return undefined;
  const generation = value.toString('utf8', HEAD_BYTES, headStart);
  return { generation, sound: { ...head, bytes: value.subarray(soundStart) } };
}

/** True if `packSound` takes this name of a generation. */
export function isGeneration(generation: string): boolean {
  return Buffer.byteLength(generation) <= MAX_GENERATION_BYTES;
}

function parsed(json: string): Pick<Sound, 'contentType' | 'outcome'> | undefined {
  let head: unknown;
  try {
    head = JSON.parse(json);
  } catch {
    return undefined;
  }
  if (!isRecord(head)) return undefined;
  const { contentType, durationMs, sentences, header } = head;
  if (typeof contentType !== 'string' || !CONTENT_TYPE.test(contentType)) return undefined;
  if (!isTime(durationMs) || !Array.isArray(sentences) || !sentences.every(isSentence)) return undefined;
  const outcome = { durationMs, sentences, timing: NO_TIME };
  if (header === undefined) return { contentType, outcome };
  if (!isHeader(header)) return undefined;
  const bytes = Buffer.from(header.bytes, 'base64');
  return { contentType, outcome: { ...outcome, header: { replaced: header.replaced, bytes } } };
}

function isHeader(value: unknown): value is { readonly replaced: number; readonly bytes: string } {
  return (
    isRecord(value) &&
    Number.isSafeInteger(value['replaced']) &&
    isTime(value['replaced']) &&
    typeof value['bytes'] === 'string' &&
    value['bytes'].length <= MAX_HEADER_CHARS
  );
}

function isSentence(value: unknown): value is SentencePlace {
  if (!isRecord(value)) return false;
  const { startMs, endMs, spoken } = value;
  const placed = isTime(startMs) && isTime(endMs) && isTimedText(value);
  return placed && (spoken === undefined || (isRecord(spoken) && isTimedText(spoken)));
}

function isTimedText({ text, words }: Record<string, unknown>): boolean {
  return typeof text === 'string' && Array.isArray(words) && words.every(isWord);
}

function isWord(value: unknown): value is WordTime {
  return (
    isRecord(value) &&
    typeof value['word'] === 'string' &&
    isTime(value['textOffset']) &&
    isTime(value['startMs']) &&
    (value['endMs'] === undefined || isTime(value['endMs']))
  );
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
