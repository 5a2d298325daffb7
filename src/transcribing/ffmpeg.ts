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
import { nameOfKind, type OtherKind, type SoundKind } from '../codecs/sound-kind.js';
import { asParleyError, lacksDescriptors, ParleyError } from '../errors.js';
import { type DecodedSound, noSpeakers, openRings, watchProgress } from './decoded-sound.js';
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
  /** From 0; undefined: all channels are averaged. */
  readonly channel: number | undefined;
  /** Milliseconds that it may write nothing although there is room. */
  readonly stallMs: number;
  readonly time: Time;
  /** Why the file was not decoded here: it says more than ffmpeg, if that fails as well. */
  readonly refusal?: ParleyError;
}

/** The demultiplexer of each kind. None of these opens a file that its file names. */
const FORMATS: Readonly<Record<SoundKind | OtherKind, string>> = {
  wav: 'wav',
  mp3: 'mp3',
  opus: 'ogg',
  flac: 'flac',
  webm: 'matroska',
  mp4: 'mov',
  aac: 'aac',
  ogg: 'ogg',
  aiff: 'aiff',
  amr: 'amr',
  caf: 'caf',
  asf: 'asf',
  avi: 'avi',
  rifx: 'wav',
  w64: 'w64',
  au: 'au',
  mp2: 'mp3',
  ac3: 'ac3',
  eac3: 'eac3',
  dts: 'dts',
  wavpack: 'wv',
  ts: 'mpegts',
  ps: 'mpeg',
  flv: 'flv',
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
  kind: SoundKind | OtherKind,
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
  const output = new FfmpegOutput(rings, limits.channel);
  const done = run(ffmpeg, kind, file, output, limits).finally(() => void remove());
  done.catch(() => undefined); // whoever reads the rings awaits it
  return { ring, copy, channels: () => output.channels, done };
}

const NO_ROOM: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

function diskError(error: unknown): ParleyError {
  const isFull = NO_ROOM.has((error as NodeJS.ErrnoException).code ?? '');
  return isFull
    ? new ParleyError('DISK_FULL', 'the disk has no room for the file', { cause: error })
    : asParleyError(error, 'AUDIO_INVALID');
}

function unwanted(): ParleyError {
  return new ParleyError('ABORTED', 'the sound is not wanted any more');
}

async function run(
  { path }: Ffmpeg,
  kind: SoundKind | OtherKind,
  file: string,
  samples: FfmpegOutput,
  { signal, channel, stallMs, time, refusal }: FfmpegLimits,
): Promise<void> {
  const input = ['-nostdin', '-v', 'error', '-protocol_whitelist', 'file', '-f', FORMATS[kind], '-i', file];
  const { rings } = samples;
  // All channels are averaged, as they are here. If one is asked for, the head of an AU file counts them.
  const form = ['-af', 'aresample=rematrix_maxval=1.0', '-ar', String(RATE)];
  const written = channel === undefined ? ['-ac', '1', '-f', 'f32le'] : ['-c:a', 'pcm_f32be', '-f', 'au'];
  const output = ['-map', '0:a:0', '-vn', '-sn', '-dn', ...form, ...written, 'pipe:1'];
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
    await samples.take(child);
    const ended = await exit;
    if (signal.aborted) throw unwanted();
    if (stalled !== undefined) throw stalled;
    if (ended.status !== 0 || samples.count === 0) throw failureOf(ended, kind, refusal);
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

/** What a process writes, on its way into the rings. */
class FfmpegOutput {
  readonly rings: readonly PcmRing[];
  readonly #channel: number | undefined;
  #count = 0;
  #areDifferent = false;

  constructor(rings: readonly PcmRing[], channel: number | undefined) {
    this.rings = rings;
    this.#channel = channel;
  }

  /** Samples that came. */
  get count(): number {
    return this.#count;
  }

  /** Of a file of which one channel was asked for: 1 if both are the same. */
  get channels(): number | undefined {
    if (this.#channel === undefined) return undefined;
    return this.#areDifferent ? 2 : 1;
  }

  async take(child: ChildProcess): Promise<void> {
    let channels = this.#channel === undefined ? 1 : undefined;
    let left: Buffer = Buffer.alloc(0);
    for await (const bytes of child.stdout ?? []) {
      left = Buffer.concat([left, bytes as Buffer]);
      if (channels === undefined) {
        const head = auHeadOf(left);
        if (head === undefined) continue;
        ({ channels } = head);
        if (channels > 2) throw noSpeakers(channels);
        left = left.subarray(head.bytes);
      }
      const whole = left.length - (left.length % (SAMPLE_BYTES * channels));
      const own = Buffer.from(Uint8Array.from(left.subarray(0, whole)).buffer);
      if (this.#channel !== undefined) own.swap32();
      const samples = this.#only(new Float32Array(own.buffer), channels);
      left = left.subarray(whole);
      for (const ring of this.rings) await ring.writeAll(samples);
      this.#count += samples.length;
    }
  }

  #only(samples: Float32Array, channels: number): Float32Array {
    const channel = this.#channel;
    if (channel === undefined || channels === 1) return samples;
    const of = (index: number) =>
      Float32Array.from({ length: samples.length / 2 }, (_, frame) => samples[2 * frame + index] ?? 0);
    this.#areDifferent ||= samples.some((sample, at) => at % 2 === 1 && sample !== samples[at - 1]);
    return of(channel);
  }
}

/** Undefined until it is whole. `bytes`: its length. */
function auHeadOf(file: Buffer): { readonly bytes: number; readonly channels: number } | undefined {
  if (file.length < 24) return undefined;
  const bytes = file.readUInt32BE(4);
  return file.length < bytes ? undefined : { bytes, channels: file.readUInt32BE(20) };
}

/** How a process ended. */
interface Ended {
  /** Null if it was killed, or never ran. */
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Why it could not be started; undefined if it ran. */
  readonly unstarted: Error | undefined;
  /** The last that it said. */
  readonly said: string;
}

const NO_SOUND = /matches no streams|does not contain any stream/;
const KILLED = /received signal \d+/;

/** The file's fault in our words, or the server's. What ffmpeg said is the cause. */
function failureOf(
  { status, signal, unstarted, said }: Ended,
  kind: SoundKind | OtherKind,
  refusal: ParleyError | undefined,
): ParleyError {
  const cause = unstarted ?? new Error(`ffmpeg ended with ${signal ?? status}: ${said}`);
  if (lacksDescriptors(unstarted)) return asParleyError(unstarted, 'DECODER_FAILED');
  if (unstarted !== undefined) {
    return new ParleyError('DECODER_FAILED', 'ffmpeg cannot be started on this server', { cause });
  }
  if (signal !== null || KILLED.test(said)) {
    const message =
      'ffmpeg was killed while it decoded the file, which is no fault of the file; send it again';
    return new ParleyError('DECODER_FAILED', message, { cause });
  }
  if (refusal !== undefined) return refusal;
  if (status === 0 || NO_SOUND.test(said)) {
    return new ParleyError('AUDIO_INVALID', 'the file has no sound', { field: 'file', cause });
  }
  const message = `the ${nameOfKind(kind)} file cannot be decoded: it is damaged, or its encoding is not known`;
  return new ParleyError('AUDIO_INVALID', message, { field: 'file', cause });
}

const MOST_SAID = 2000; // characters that are kept

function exitOf(child: ChildProcess): Promise<Ended> {
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-MOST_SAID)));
  return new Promise((resolve) => {
    child.once('error', (unstarted) => resolve({ status: null, signal: null, unstarted, said }));
    child.once('close', (status, signal) => resolve({ status, signal, unstarted: undefined, said }));
  });
}
