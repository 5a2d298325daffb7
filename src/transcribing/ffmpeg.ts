// Decodes the other kinds of sound files with the ffmpeg of the machine. ffmpeg reads each file from a
// private folder, because it reads some kinds from their end. Its demultiplexer is fixed by the kind, so that
// it never opens a playlist, or another file that names files.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { PcmRing } from '../audio/pcm-ring.js';
import type { OtherKind } from '../codecs/sound-kind.js';
import { asParleyError, ParleyError } from '../errors.js';
import { type DecodedSound, openRings, watchProgress } from './decoded-sound.js';
import type { Time } from '../time.js';
import type { UploadedSound } from './uploaded-sound.js';

export interface Ffmpeg {
  /** Path of the program. */
  readonly path: string;
  readonly version: string;
}

const RATE = 16_000;
const SAMPLE_BYTES = Float32Array.BYTES_PER_ELEMENT;

interface FfmpegLimits {
  readonly signal: AbortSignal;
  readonly withCopy: boolean;
  /** Milliseconds that it may write nothing although there is room. */
  readonly stallMs: number;
  readonly time: Time;
}

/** The demultiplexer of each kind. */
const FORMATS: Readonly<Record<OtherKind, string>> = {
  mp4: 'mov',
  aac: 'aac',
  ogg: 'ogg',
  aiff: 'aiff',
  amr: 'amr',
  caf: 'caf',
  asf: 'asf',
  avi: 'avi',
};

/** The ffmpeg on the machine's path; undefined if there is none. */
export function findFfmpeg(path = 'ffmpeg'): Ffmpeg | undefined {
  const { status, stdout } = spawnSync(path, ['-version'], { encoding: 'utf8', timeout: 10_000 });
  if (status !== 0) return undefined;
  return { path, version: /^ffmpeg version (\S+)/.exec(stdout)?.[1] ?? 'unknown' };
}

/** Behaves as SoundDecoders.open does. */
export async function decodeWithFfmpeg(
  ffmpeg: Ffmpeg,
  kind: OtherKind,
  sound: UploadedSound,
  limits: FfmpegLimits,
): Promise<DecodedSound> {
  const { signal, withCopy } = limits;
  const folder = await mkdtemp(join(tmpdir(), 'parley-sound-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  const file = join(folder, 'sound');
  try {
    await pipeline(Readable.from(sound.pieces()), createWriteStream(file, { mode: 0o600 }), { signal });
  } catch (error) {
    await remove();
    throw signal.aborted ? unwanted() : diskError(error);
  }
  const [ring, copy] = openRings(RATE, withCopy);
  const rings = copy === undefined ? [ring] : [ring, copy];
  const done = run(ffmpeg, FORMATS[kind], file, rings, limits).finally(() => void remove());
  done.catch(() => undefined); // whoever reads the rings awaits it
  return { ring, copy, done };
}

function diskError(error: unknown): ParleyError {
  const isFull = (error as NodeJS.ErrnoException).code === 'ENOSPC';
  return isFull
    ? new ParleyError('DISK_FULL', 'the disk has no room for the file', { cause: error })
    : asParleyError(error, 'AUDIO_INVALID');
}

function unwanted(): ParleyError {
  return new ParleyError('ABORTED', 'the sound is not wanted any more');
}

async function run(
  { path }: Ffmpeg,
  format: string,
  file: string,
  rings: readonly PcmRing[],
  { signal, stallMs, time }: FfmpegLimits,
): Promise<void> {
  const input = ['-nostdin', '-v', 'error', '-protocol_whitelist', 'file', '-f', format, '-i', file];
  // Channels are averaged, as they are here.
  const mono = ['-af', 'aresample=rematrix_maxval=1.0', '-ac', '1', '-ar', String(RATE)];
  const output = ['-map', '0:a:0', '-vn', '-sn', '-dn', ...mono, '-f', 'f32le', 'pipe:1'];
  const child = spawn(path, [...input, ...output], { stdio: ['ignore', 'pipe', 'pipe'] });
  const exit = exitOf(child);
  const kill = () => child.kill('SIGKILL');
  signal.addEventListener('abort', kill, { once: true });
  if (signal.aborted) kill();
  let stalled: ParleyError | undefined;
  const onStall = (error: ParleyError) => {
    stalled = error;
    kill();
  };
  const forget = watchProgress({ rings: () => rings, stallMs, time, onStall });
  try {
    const count = await copyOut(child, rings);
    const { status, said } = await exit;
    if (signal.aborted) throw unwanted();
    if (stalled !== undefined) throw stalled;
    if (status !== 0 || count === 0) {
      const message = said === '' ? 'the file has no sound' : `the sound cannot be decoded: ${said}`;
      throw new ParleyError('AUDIO_INVALID', message, { field: 'file' });
    }
    for (const ring of rings) ring.end();
  } catch (error) {
    kill();
    const known = signal.aborted ? unwanted() : asParleyError(error, 'AUDIO_INVALID');
    for (const ring of rings) ring.end(known.code);
    throw known;
  } finally {
    forget();
    signal.removeEventListener('abort', kill);
    await exit;
  }
}

/** Returns how many samples came. */
async function copyOut(child: ChildProcess, rings: readonly PcmRing[]): Promise<number> {
  let left: Buffer = Buffer.alloc(0);
  let count = 0;
  for await (const bytes of child.stdout ?? []) {
    left = Buffer.concat([left, bytes as Buffer]);
    const whole = left.length - (left.length % SAMPLE_BYTES);
    const samples = new Float32Array(Uint8Array.from(left.subarray(0, whole)).buffer);
    left = left.subarray(whole);
    for (const ring of rings) await ring.writeAll(samples);
    count += samples.length;
  }
  return count;
}

// Characters of what ffmpeg says that are kept, and of a message.
const MOST_HEARD = 2000;
const MOST_SAID = 200;

/** Resolves with the last line that it said, without the name of our file. */
function exitOf(child: ChildProcess): Promise<{ readonly status: number | null; readonly said: string }> {
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-MOST_HEARD)));
  return new Promise((resolve) => {
    const over = (status: number | null) => {
      const line = said.trim().split('\n').at(-1) ?? '';
      resolve({ status, said: line.replace(/\S*parley-sound-\S*/g, 'the file').slice(0, MOST_SAID) });
    };
    child.once('error', (error) => {
      said = error.message;
      over(null);
    });
    child.once('close', over);
  });
}
