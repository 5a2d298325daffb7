// Decodes and examines files with ffmpeg and ffprobe, which are independent of this server, from memory to
// memory. A warning of theirs is a failure.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const LIMIT_MS = 20_000;
// Not about the sound: raw samples, no samples, a bit rate that stands in no header, a WAV without a length,
// and the last packet of that, which is shorter than one of endless data would be.
const HARMLESS =
  /Guessed Channel Layout|Estimating duration from bitrate|Ignoring maximum wav data size|Output file is empty/;
const HARMLESS_IN_WAV = /\[wav .*Packet corrupt|corrupt input packet/;
const MAX_BYTES = 64 * 1024 * 1024;

function run(program: string, args: readonly string[], input: Uint8Array): Buffer {
  const { status, stdout, stderr, error } = spawnSync(program, ['-v', 'warning', ...args], {
    input,
    timeout: LIMIT_MS,
    maxBuffer: MAX_BYTES,
  });
  // ffprobe ends without the rest of its input as soon as it knows enough.
  if (error !== undefined && (error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
  const isWav = Buffer.from(input.subarray(0, 4)).toString() === 'RIFF';
  const complaints = String(stderr)
    .split('\n')
    .filter((line) => line !== '' && !HARMLESS.test(line) && !(isWav && HARMLESS_IN_WAV.test(line)));
  assert.deepEqual({ status, complaints }, { status: 0, complaints: [] });
  return stdout;
}

/** Mono samples at the file's own rate. `raw` says what a file without a header holds. */
export function decoded(file: Uint8Array, raw: readonly string[] = []): Float32Array {
  const args = [...raw, '-i', 'pipe:0', '-map', '0:a:0', '-f', 'f32le', '-ac', '1', 'pipe:1'];
  const bytes = run('ffmpeg', args, file);
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
}

/** Decodes a file on disk: ffmpeg ignores the stated length of an MP3 that comes through a pipe. */
export function decodedFromDisk(file: Uint8Array, raw: readonly string[] = []): Float32Array {
  const folder = mkdtempSync(join(tmpdir(), 'parley-sound-'));
  try {
    const path = join(folder, 'sound');
    writeFileSync(path, file);
    const args = [...raw, '-i', path, '-map', '0:a:0', '-f', 'f32le', '-ac', '1', 'pipe:1'];
    const bytes = run('ffmpeg', args, new Uint8Array(0));
    return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Encodes 16-bit mono samples with ffmpeg. */
export function encodedBy(format: readonly string[], rate: number, samples: Uint8Array): Buffer {
  const raw = ['-f', 's16le', '-ar', String(rate), '-ac', '1'];
  return run('ffmpeg', [...raw, '-i', 'pipe:0', ...format, 'pipe:1'], samples);
}

export interface Probed {
  readonly format: string;
  readonly codec: string;
  /** Hz. */
  readonly rate: number;
  readonly channels: number;
}

export function probed(file: Uint8Array): Probed {
  const args = ['-of', 'json', '-show_entries', 'format=format_name:stream=codec_name,sample_rate,channels'];
  const report = JSON.parse(run('ffprobe', [...args, 'pipe:0'], file).toString()) as {
    format: { format_name: string };
    streams: { codec_name: string; sample_rate: string; channels: number }[];
  };
  assert.equal(report.streams.length, 1);
  const { codec_name: codec = '', sample_rate: rate, channels = 0 } = report.streams[0] ?? {};
  return { format: report.format.format_name, codec, rate: Number(rate), channels };
}
