// Samples of voices, as files of every kind that ffmpeg makes of a known tone.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { wavHeader } from '../../src/codecs/wav.js';

export const TONE_HZ = 440;

interface SampleFile {
  readonly seconds?: number;
  /** Hz. */
  readonly rate?: number;
  readonly channels?: number;
  /** 0 is silence. */
  readonly level?: number;
}

/** Arguments of ffmpeg for each kind of file. */
export const KINDS = {
  'wav u8': ['-c:a', 'pcm_u8', '-f', 'wav'],
  'wav s16': ['-c:a', 'pcm_s16le', '-f', 'wav'],
  'wav s24': ['-c:a', 'pcm_s24le', '-f', 'wav'],
  'wav s32': ['-c:a', 'pcm_s32le', '-f', 'wav'],
  'wav f32': ['-c:a', 'pcm_f32le', '-f', 'wav'],
  'wav f64': ['-c:a', 'pcm_f64le', '-f', 'wav'],
  mp3: ['-c:a', 'libmp3lame', '-b:a', '128k', '-f', 'mp3'],
  opus: ['-c:a', 'libopus', '-b:a', '64k', '-f', 'ogg'],
  flac: ['-c:a', 'flac', '-f', 'flac'],
  webm: ['-c:a', 'libopus', '-b:a', '64k', '-f', 'webm'],
  'wav A-law': ['-c:a', 'pcm_alaw', '-f', 'wav'],
  'wav mu-law': ['-c:a', 'pcm_mulaw', '-f', 'wav'],
} as const;

/** Formats that clients send and the server rejects, or that ffmpeg decodes. */
export const OTHER_KINDS = {
  mp4: ['-c:a', 'aac', '-movflags', 'frag_keyframe+empty_moov', '-f', 'mp4'],
  aac: ['-c:a', 'aac', '-f', 'adts'],
  vorbis: ['-c:a', 'libvorbis', '-f', 'ogg'],
  aiff: ['-f', 'aiff'],
  'wav ADPCM': ['-c:a', 'adpcm_ms', '-f', 'wav'],
  'wav GSM': ['-ar', '8000', '-ac', '1', '-c:a', 'libgsm_ms', '-f', 'wav'],
  'webm vorbis': ['-c:a', 'libvorbis', '-f', 'webm'],
  'mkv AAC': ['-c:a', 'aac', '-f', 'matroska'],
  ts: ['-c:a', 'aac', '-f', 'mpegts'],
  ps: ['-c:a', 'mp2', '-f', 'mpeg'],
  ac3: ['-f', 'ac3'],
  eac3: ['-f', 'eac3'],
  mp2: ['-f', 'mp2'],
  au: ['-f', 'au'],
  w64: ['-f', 'w64'],
  caf: ['-f', 'caf'],
  wavpack: ['-f', 'wv'],
  flv: ['-ar', '44100', '-c:a', 'aac', '-f', 'flv'],
} as const;

/** Kinds whose container is read, and whose encoding is not. */
export const HALF_KNOWN: readonly string[] = ['wav ADPCM', 'wav GSM', 'webm vorbis', 'mkv AAC'];

export function sampleFile(how: readonly string[], options: SampleFile = {}): Buffer {
  const { seconds = 2, rate = 48_000, channels = 2, level = 0.5 } = options;
  const tone = `${level}*sin(2*PI*${TONE_HZ}*t)`;
  const source = `aevalsrc=${Array.from({ length: channels }, () => tone).join('|')}:s=${rate}:d=${seconds}`;
  // The lengths in these are written at the end, into their heads.
  const seeks = ['aiff', 'w64'].includes(how.at(-1) ?? '');
  const folder = mkdtempSync(join(tmpdir(), 'parley-sample-'));
  const path = join(folder, 'sample');
  const args = ['-v', 'error', '-f', 'lavfi', '-i', source, ...how, seeks ? path : 'pipe:1'];
  const { status, stdout, stderr, error } = spawnSync('ffmpeg', args, {
    maxBuffer: 64 * 1024 * 1024,
    timeout: 20_000,
  });
  try {
    if (error !== undefined) throw error;
    assert.equal(status, 0, String(stderr));
    return seeks ? readFileSync(path) : stdout;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Without ffmpeg: a tone in 16-bit WAV, at 24 kHz. */
export function toneWav({ seconds = 2, level = 0.5, rate = 24_000 }: SampleFile = {}): Buffer {
  const samples = Int16Array.from({ length: seconds * rate }, (_, i) =>
    Math.round(level * 32_767 * Math.sin((2 * Math.PI * TONE_HZ * i) / rate)),
  );
  return Buffer.concat([wavHeader(rate, samples.length), Buffer.from(samples.buffer)]);
}
