// A rendering: the bytes of a container, whole or on their way, and what is
// known of them once they are made.
import { crc32 } from 'node:zlib';
import type { WordTime } from '../engines/engine.js';

/** Where a sentence lies in the sound that a listener hears, in milliseconds. */
export interface SentencePlace {
  /** As it was written. */
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
  /** Their times count from the beginning of the whole sound. Empty where the engine tells none. */
  readonly words: readonly WordTime[];
  /** The words that were said for it, where they differ, and their times. */
  readonly spoken?: { readonly text: string; readonly words: readonly WordTime[] };
}

/** What making it took, in milliseconds, summed over its sentences; they overlap, so the sum may exceed the total. */
export interface SoundTiming {
  /** Waiting for the engine's attention. */
  readonly queueMs: number;
  /** Waiting for the engine to be loaded. */
  readonly loadMs: number;
  readonly inferMs: number;
  readonly encodeMs: number;
}

export interface SoundOutcome {
  readonly durationMs: number;
  readonly sentences: readonly SentencePlace[];
  readonly timing: SoundTiming;
  /** The beginning of the whole file: it takes the place of the first `replaced` bytes of the stream. Absent where both begin alike. */
  readonly header?: { readonly replaced: number; readonly bytes: Uint8Array };
}

/** Iterate once; leaving the loop or `cancel` stops the work. */
export interface SoundSource extends AsyncIterable<Uint8Array> {
  readonly contentType: string;
  /** Resolves, never rejects, at the end of the bytes; undefined where they broke off. */
  readonly outcome: Promise<SoundOutcome | undefined>;
  /** The sentences whose place is known so far, in order; absent where that is known at the end only. */
  placed?(): readonly SentencePlace[];
  cancel(): void;
}

export interface Sound {
  readonly contentType: string;
  readonly bytes: Uint8Array;
  readonly outcome: SoundOutcome;
}

/** Of what was made before: it took nothing. */
export const NO_TIME: SoundTiming = { queueMs: 0, loadMs: 0, inferMs: 0, encodeMs: 0 };

// A rendering as the bytes of a value in a store that servers share. Whatever
// does not read back as exactly what was written is nothing: a value cut short,
// of another program, or of another form.
//
//   "PRLY" │ form │ length of generation │ of head │ of sound │ CRC-32 of what follows │ generation │ head (JSON) │ sound
//     4       1              1               4          4                4

const MAGIC = Buffer.of(0x50, 0x52, 0x4c, 0x59); // PRLY
const FORM = 2;
const HEAD_BYTES = 18;
const MAX_GENERATION_BYTES = 64;
const MAX_HEADER_CHARS = 4096; // in base64; the longest header is a frame of MP3
const CONTENT_TYPE = /^audio\/[\w.+-]{1,60}(; ?[\w.+=-]{1,60}){0,4}$/; // it becomes a header of a reply

export interface StoredSound {
  readonly sound: Sound;
  /** Of the store, at the time that the rendering was begun. */
  readonly generation: string;
}

/** What making it took is not written: of a rendering that is there it is nothing. */
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

/** Undefined for what `packSound` did not make. The sound is a part of `bytes`. */
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

/** A mark of a generation as `packSound` takes it. */
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
