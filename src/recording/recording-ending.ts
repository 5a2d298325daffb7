// Finds where the sound of a recording's file ends: for its duration, and to repair the file of a server that
// was killed while it wrote.
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { WAV_HEADER_BYTES } from '../codecs/wav.js';
import { OPUS_LOOKAHEAD_SAMPLES } from '../codecs/opus.js';
import {
  FRAMES_PER_MS,
  GRANULES_PER_FRAME,
  type RecordingChannels,
  recordingWavHeader,
  wavFrameBytes,
} from './recording-form.js';
import type { RecordingFormat } from './recording-name.js';

export interface SoundEnding {
  /** Bytes up to the last complete unit; 0 if the file has no sound. */
  readonly bytes: number;
  readonly durationMs: number;
}

const NO_SOUND: SoundEnding = { bytes: 0, durationMs: 0 };

/** Throws an error of the file system. */
export async function endingOf(path: string, format: RecordingFormat): Promise<SoundEnding> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    return format === 'wav' ? wavEnding(size, await wavChannels(file)) : await oggEnding(file, size);
  } finally {
    await file.close();
  }
}

/**
 * Cuts the file after its last complete unit, and makes a WAV header state the length. The time of the last
 * change stays, because the age of the recording counts from it. A file without sound is removed. Throws an
 * error of the file system.
 */
export async function repairRecording(path: string, format: RecordingFormat): Promise<void> {
  const { bytes, durationMs } = await endingOf(path, format);
  if (bytes === 0) {
    await unlink(path);
    return;
  }
  const file = await open(path, 'r+');
  try {
    const { atime, mtime } = await file.stat();
    await file.truncate(bytes);
    if (format === 'wav') {
      const header = recordingWavHeader(durationMs * FRAMES_PER_MS, await wavChannels(file));
      await file.write(header, 0, undefined, 0);
    }
    await file.utimes(atime, mtime);
  } finally {
    await file.close();
  }
}

const CHANNELS_AT = 22;

/** Two, if the header of a file does not state one. */
async function wavChannels(file: FileHandle): Promise<RecordingChannels> {
  const [channels] = await read(file, CHANNELS_AT, 1);
  return channels === 1 ? 1 : 2;
}

function wavEnding(size: number, channels: RecordingChannels): SoundEnding {
  const frameBytes = wavFrameBytes(channels);
  const frames = Math.floor((size - WAV_HEADER_BYTES) / frameBytes);
  if (frames <= 0) return NO_SOUND;
  return { bytes: WAV_HEADER_BYTES + frames * frameBytes, durationMs: frames / FRAMES_PER_MS };
}

const MOST_PAGE = 27 + 255 + 255 * 255; // bytes (RFC 3533, section 6)
const PAGE_HEADER = 27;
const SERIAL_AT = 14;
const CAPTURE = Buffer.from('OggS\0'); // with the version

/** Looks for the last complete page of the stream that the file begins with. */
async function oggEnding(file: FileHandle, size: number): Promise<SoundEnding> {
  const head = await read(file, 0, PAGE_HEADER);
  const from = Math.max(0, size - 2 * MOST_PAGE);
  const tail = await read(file, from, size - from);
  if (head.length < PAGE_HEADER || !head.subarray(0, CAPTURE.length).equals(CAPTURE)) return NO_SOUND;
  const serial = head.readUInt32LE(SERIAL_AT);
  for (let at = tail.lastIndexOf(CAPTURE); at >= 0; at = at === 0 ? -1 : tail.lastIndexOf(CAPTURE, at - 1)) {
    const end = endOfPage(tail, at);
    if (end === undefined || tail.readUInt32LE(at + SERIAL_AT) !== serial) continue;
    const frames = (Number(tail.readBigUInt64LE(at + 6)) - OPUS_LOOKAHEAD_SAMPLES) / GRANULES_PER_FRAME;
    return frames <= 0 ? NO_SOUND : { bytes: from + end, durationMs: frames / FRAMES_PER_MS };
  }
  return NO_SOUND;
}

/** Undefined if the page is cut off. */
function endOfPage(bytes: Buffer, at: number): number | undefined {
  if (at + PAGE_HEADER > bytes.length) return undefined;
  const segments = bytes.readUInt8(at + 26);
  const table = bytes.subarray(at + PAGE_HEADER, at + PAGE_HEADER + segments);
  const end = at + PAGE_HEADER + segments + table.reduce((sum, length) => sum + length, 0);
  return end > bytes.length ? undefined : end;
}

async function read(file: FileHandle, position: number, bytes: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, position);
  return buffer.subarray(0, bytesRead);
}
