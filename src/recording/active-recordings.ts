// All recordings in progress, in the worker: sound moves from rings into files. A timer serves each of them
// every 200 ms, and a piece is written each second. So a killed server loses less than 2 s: 0.2 s in the
// ring, 1 s that waits for its piece and 0.4 s of an Ogg page.
//
// A ring that overflows, because the disk or the machine stood still, has ended with LISTENER_SLOW. The main
// thread opens another one, and silence takes the place of the sound between the two.
import { PcmRing } from '../audio/pcm-ring.js';
import { asParleyError, type ErrorCode, lacksDescriptors, ParleyError } from '../errors.js';
import type { Time } from '../time.js';
import { RecordingFile, type RecordingFiles } from './recording-file.js';
import {
  FRAMES_PER_MS,
  openForm,
  type RecordingChannels,
  RECORDING_RATE,
  wavFrameBytes,
} from './recording-form.js';
import type {
  FromRecorder,
  KeptSound,
  RecordingEnd,
  RecordingOrder,
  RecordingResult,
  RecordingSize,
  ToRecorder,
} from './recording-messages.js';

const TICK_MS = 200;
const PIECE_MS = 800; // the next tick after it writes: at most 1 s
const CHUNK_FRAMES = 4096;

const chunk = new Float32Array(CHUNK_FRAMES * 2);

interface ActiveRecordingsOptions {
  readonly files: RecordingFiles;
  readonly time: Time;
  readonly post: (message: FromRecorder) => void;
}

export class ActiveRecordings {
  readonly #options: ActiveRecordingsOptions;
  readonly #recordings = new Map<number, ActiveRecording>();
  #cancelTick: (() => void) | undefined;
  /** The last file that was written met a full disk, so the next one shows first that there is room. */
  #isDiskFull = false;
  /** Files are completed one after the other, so that flushing them occupies one thread of Node's pool. */
  #finishing: Promise<void> = Promise.resolve();

  constructor(options: ActiveRecordingsOptions) {
    this.#options = options;
  }

  /** Handles every message but `close`. */
  take(message: Exclude<ToRecorder, { type: 'close' }>): void {
    const { id } = message;
    const nowMs = this.#options.time.now();
    if (message.type === 'open') {
      this.#open(id, message, nowMs);
      return;
    }
    const recording = this.#recordings.get(id);
    if (recording === undefined) return; // it ended while the message was on its way
    this.#guarded(id, recording, () => {
      if (message.type === 'mute') recording.mute(message.muted, message.atMs, nowMs);
      else if (message.type === 'follow') recording.follow(message.ring, nowMs);
      else this.#stop(id, recording, message.end, nowMs, message.kept);
    });
  }

  /** Ends every recording; resolves when all files are complete. */
  async close(): Promise<void> {
    this.#cancelTick?.();
    const nowMs = this.#options.time.now();
    for (const [id, recording] of this.#recordings) {
      this.#guarded(id, recording, () => this.#stop(id, recording, 'call-ended', nowMs));
    }
    await this.#finishing;
  }

  #open(id: number, order: RecordingOrder, nowMs: number): void {
    try {
      const onLost = {
        starved: () => this.#options.post({ type: 'starved', id }),
        filled: (ms: number) => this.#options.post({ type: 'filled', id, ms }),
      };
      const options = { nowMs, needsRoom: this.#isDiskFull };
      this.#recordings.set(id, new ActiveRecording(this.#options.files, order, options, onLost));
      this.#isDiskFull = false;
    } catch (error) {
      this.#ended(id, { ...failureOf(error), frames: 0, bytes: 0 });
      return;
    }
    this.#options.post({ type: 'opened', id });
    if (this.#cancelTick === undefined) this.#planTick();
  }

  #planTick(): void {
    this.#cancelTick = this.#options.time.after(TICK_MS, () => this.#tick());
  }

  #tick(): void {
    const nowMs = this.#options.time.now();
    const sizes: RecordingSize[] = [];
    for (const [id, recording] of this.#recordings) {
      this.#guarded(id, recording, () => {
        const wrote = recording.advance(nowMs);
        if (recording.isFull) this.#stop(id, recording, 'too-long', nowMs);
        else if (wrote) sizes.push({ id, frames: recording.frames, bytes: recording.bytes });
      });
    }
    if (sizes.length > 0) this.#options.post({ type: 'grown', sizes });
    this.#cancelTick = undefined;
    if (this.#recordings.size > 0) this.#planTick();
  }

  /** An error ends this recording only. */
  #guarded(id: number, recording: ActiveRecording, action: () => void): void {
    try {
      action();
    } catch (error) {
      this.#recordings.delete(id);
      this.#ended(id, { ...failureOf(error), ...recording.abandon() });
    }
  }

  #stop(id: number, recording: ActiveRecording, end: RecordingEnd, nowMs: number, kept?: KeptSound): void {
    recording.drain(nowMs, nowMs);
    this.#recordings.delete(id);
    this.#finishing = this.#finishing.then(async () => {
      try {
        const isFull = recording.isFull;
        await recording.finish(nowMs, kept);
        this.#ended(id, {
          end: isFull ? 'too-long' : end,
          frames: recording.frames,
          bytes: recording.bytes,
        });
      } catch (error) {
        this.#ended(id, { ...failureOf(error), ...recording.abandon() });
      }
    });
  }

  #ended(id: number, result: RecordingResult): void {
    if (result.end === 'disk-full') this.#isDiskFull = true;
    this.#options.post({ type: 'ended', id, result });
  }
}

interface LossListener {
  starved(): void;
  filled(ms: number): void;
}

/** One recording: its ring, its file and its clock. */
class ActiveRecording {
  readonly #file: RecordingFile;
  readonly #onLost: LossListener;
  readonly #maxFrames: number;
  readonly #channels: RecordingChannels;
  #ring: PcmRing | undefined;
  /** The time of the first frame; undefined before it. */
  #beganMs: number | undefined;
  /** The ring has not delivered a frame yet. */
  #isNewRing = true;
  /** The ring before it ended with sound lost. */
  #isStarved = false;
  #muted = false;
  #frames = 0;

  constructor(
    files: RecordingFiles,
    order: RecordingOrder,
    options: { readonly nowMs: number; readonly needsRoom: boolean },
    onLost: LossListener,
  ) {
    const { path, format, serial, ring, maxFrames, channels } = order;
    this.#onLost = onLost;
    this.#channels = channels;
    this.#file = new RecordingFile(files, path, openForm(format, serial, channels), options);
    this.#maxFrames = maxFrames;
    this.#ring = PcmRing.attach(ring, RECORDING_RATE);
  }

  get frames(): number {
    return this.#frames;
  }

  get bytes(): number {
    return this.#file.bytes;
  }

  get isFull(): boolean {
    return this.#frames >= this.#maxFrames;
  }

  /** Reads the ring. True if a piece was due and written. */
  advance(nowMs: number): boolean {
    this.drain(nowMs, nowMs);
    if (nowMs - this.#file.writtenMs < PIECE_MS) return false;
    this.#file.flush(nowMs);
    return true;
  }

  mute(muted: boolean, atMs: number, nowMs: number): void {
    this.drain(nowMs, atMs);
    this.#muted = muted;
  }

  follow(ring: number, nowMs: number): void {
    this.drain(nowMs, nowMs);
    this.#ring = PcmRing.attach(ring, RECORDING_RATE);
    this.#isNewRing = true;
  }

  /** Reads the frames that arrived until `untilMs`. Throws if the ring ended with an error. */
  drain(nowMs: number, untilMs: number): void {
    const status = this.#ring?.status() ?? null;
    if (this.#ring === undefined || status === null || status.aborted) {
      this.#ring = undefined; // the call has closed it; another ring may follow
      return;
    }
    const readable = Math.floor(status.readable / this.#channels);
    if (this.#isNewRing && readable > 0) this.#align(nowMs - readable / FRAMES_PER_MS, nowMs);
    const later = Math.round(Math.max(0, nowMs - untilMs) * FRAMES_PER_MS);
    this.#read(this.#ring, Math.max(0, readable - later), nowMs);
    if (!status.ended || later > 0) return;
    this.#ring = undefined;
    if (status.error === SLOW) this.#starve();
    else if (status.error !== '') throw lostSound(status.error);
  }

  #starve(): void {
    this.#isStarved = true;
    this.#onLost.starved();
  }

  async finish(nowMs: number, kept: KeptSound | undefined): Promise<void> {
    if (kept !== undefined) this.#keep(kept, nowMs);
    await this.#file.finish(nowMs);
  }

  #keep({ beginMs, endMs = Infinity }: KeptSound, nowMs: number): void {
    const framesOf = (ms: number) => Math.max(0, Math.min(this.#frames, Math.round(ms * FRAMES_PER_MS)));
    const [begin, end] = [framesOf(beginMs), framesOf(endMs)];
    this.#frames = Math.max(0, end - begin);
    this.#file.keep(begin, this.#frames, wavFrameBytes(this.#channels), nowMs);
  }

  abandon(): { readonly frames: number; readonly bytes: number } {
    this.#file.abandon();
    return { frames: this.#frames, bytes: this.#file.bytes };
  }

  /** The sound of the ring begins at `beginMs`. Silence fills the time since the end of the ring before. */
  #align(beginMs: number, nowMs: number): void {
    this.#isNewRing = false;
    this.#beganMs ??= beginMs;
    let missing = Math.round((beginMs - this.#beganMs) * FRAMES_PER_MS) - this.#frames;
    if (this.#isStarved) this.#onLost.filled(Math.max(0, missing) / FRAMES_PER_MS);
    this.#isStarved = false;
    for (; missing > 0 && !this.isFull; missing -= CHUNK_FRAMES) {
      chunk.fill(0);
      this.#append(Math.min(missing, CHUNK_FRAMES), nowMs);
    }
  }

  #read(ring: PcmRing, frames: number, nowMs: number): void {
    for (let left = frames; left > 0;) {
      const samples = Math.min(left, CHUNK_FRAMES) * this.#channels;
      const taken = ring.read(chunk.subarray(0, samples));
      if (taken <= 0) return; // closed meanwhile
      left -= taken / this.#channels;
      if (this.#muted) chunk.fill(0);
      this.#append(taken / this.#channels, nowMs);
    }
  }

  /** Appends frames of the chunk, up to the limit of the recording. */
  #append(frames: number, nowMs: number): void {
    const kept = Math.min(frames, this.#maxFrames - this.#frames);
    if (kept > 0) this.#file.append(chunk, kept, nowMs);
    this.#frames += kept;
  }
}

const SLOW: ErrorCode = 'LISTENER_SLOW';
/** EFBIG: the file has reached the size that the system allows a process (RLIMIT_FSIZE). */
const FULL: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

function failureOf(error: unknown): Pick<RecordingResult, 'end' | 'error'> {
  const { code = '' } = error as NodeJS.ErrnoException;
  const { code: name, message } = FULL.has(code)
    ? new ParleyError('DISK_FULL', `the disk has no room for the recording (${code})`)
    : /^E[A-Z0-9]+$/.test(code)
      ? new ParleyError(unwritable(error), `the recording cannot be written (${code})`)
      : asParleyError(error, 'RECORDING_FAILED');
  return { end: name === 'DISK_FULL' ? 'disk-full' : 'failed', error: { code: name, message } };
}

function unwritable(error: unknown): ErrorCode {
  return lacksDescriptors(error) ? 'DESCRIPTORS_EXHAUSTED' : 'RECORDING_FAILED';
}

function lostSound(code: string): ParleyError {
  const message = `the recorder lost sound of the call (${code as ErrorCode})`;
  return new ParleyError('RECORDING_FAILED', message);
}
