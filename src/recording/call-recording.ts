// Records one call, as often as it is asked to. It holds the state of the recording; the worker writes it.
//
//   idle ──▶ starting ──▶ recording ⇄ paused ──▶ stopping ──▶ idle
//            announcement, then the file            the worker may also end it at any time
import { asParleyError, type ErrorCode, forClient, ParleyError } from '../errors.js';
import type { Time } from '../time.js';
import { FRAMES_PER_MS, type RecordingChannels } from './recording-form.js';
import type {
  KeptSound,
  RecordingEnd,
  RecordingResult,
  RecordingSize,
  StopReason,
} from './recording-messages.js';
import type { RecordingFormat } from './recording-name.js';
import type { OpenRecording, Recordings } from './recordings.js';

/** Characters of an announcement. */
export const MOST_ANNOUNCEMENT = 1000;

export interface StartRecording {
  /** Absent: the configured format. */
  readonly format?: RecordingFormat | undefined;
  /** Played in the call before the recording begins: `none`, `beep`, or a text to speak. Absent: `none`. */
  readonly announce?: string | undefined;
}

/** A recording in progress, or the last one of its call. */
export interface RecordingView {
  readonly call: string;
  readonly name: string;
  readonly format: RecordingFormat;
  readonly state: 'recording' | 'paused' | 'stopping' | 'stopped';
  /** Milliseconds since 1970. */
  readonly startedMs: number;
  readonly durationMs: number;
  /** Bytes on disk. */
  readonly bytes: number;
  /** Set if it is over. */
  readonly reason?: RecordingEnd;
}

interface Size {
  readonly durationMs: number;
  readonly bytes: number;
}

export type RecordingEvent =
  | { readonly type: 'recording.started'; readonly name: string; readonly format: RecordingFormat }
  | { readonly type: 'recording.paused' | 'recording.resumed'; readonly name: string }
  | ({
      readonly type: 'recording.stopped';
      readonly name: string;
      readonly reason: Exclude<RecordingEnd, 'disk-full' | 'failed'>;
    } & Size)
  | ({
      readonly type: 'recording.failed';
      /** Absent if it failed before it had a file. */
      readonly name?: string;
      readonly reason: Extract<RecordingEnd, 'disk-full' | 'failed'>;
      readonly error: { readonly code: ErrorCode; readonly message: string };
    } & Size);

/** The recorder of one call. Every method throws or rejects with CALL_STATE if the state forbids it. */
export interface CallRecorder {
  /** The recording in progress, or the last one; undefined before the first. */
  readonly view: RecordingView | undefined;
  /**
   * Resolves when the file is there. Also rejects with DISK_FULL, RECORDING_FAILED or TIMEOUT, and as the
   * announcement does.
   */
  start(options: StartRecording): Promise<RecordingView>;
  /** From now on silence is recorded, so that the time of the recording stays that of the call. */
  pause(): RecordingView;
  resume(): RecordingView;
  /** Resolves when the file is complete. */
  stop(): Promise<RecordingView>;
}

/** The recorders of all calls. */
export interface Recorder {
  /**
   * Undefined if there is no such call, or the client with the API key of this name may not use it. `key` is
   * undefined on a server without keys.
   */
  recordingOf(call: string, key: string | undefined): CallRecorder | undefined;
}

/** The sound of a call, for its recording. */
export interface RecordedCall {
  readonly id: string;
  /** Name of the API key that owns the call; undefined if every key may use it. */
  readonly owner: string | undefined;
  /**
   * Opens a ring of interleaved frames of 16 kHz (caller, this server), or of the caller alone, and returns
   * its handle. May throw.
   */
  openRing(capacityMs: number, channels: RecordingChannels): number;
  /** True if this ring is filled by the call's present connection. */
  hasSourceOf(ring: number): boolean;
  /** Closes such a ring. It may belong to a connection that the call has left. */
  closeRing(ring: number): void;
  /** Plays `beep` or a text in the call; resolves when it was played. */
  announce(announcement: string): Promise<void>;
  onEvent(event: RecordingEvent): void;
}

/**
 * The worker reads each ring five times a second; the rest of the capacity bridges a slow disk. After a
 * longer stall the ring has ended, and another one takes its place.
 */
const RING_MS = 4000;
const ANNOUNCE_MS = 60_000;
const MOST_NAMES = 1000;
const WRITE_MS = 10_000; // for creating and for completing a file

interface Running {
  readonly recording: OpenRecording;
  ring: number;
  /** The ring before; closed late, because the worker still reads the rest of its sound. */
  leftRing: number | undefined;
  size: Pick<RecordingSize, 'frames' | 'bytes'>;
  result: RecordingResult | undefined;
  readonly opened: Promise<void>;
  readonly ended: Promise<RecordingResult>;
}

/** A recording of the caller alone, beside that of the call. */
interface Beside {
  /** Names of the recordings of the call. */
  readonly names: string[];
  readonly kept: () => KeptSound | undefined;
  readonly over: (recording: CallRecording) => void;
}

export class CallRecording implements CallRecorder {
  readonly #beside: Beside | undefined;
  readonly #besides = new Set<CallRecording>();
  readonly #recordings: Recordings;
  readonly #call: RecordedCall;
  readonly #time: Time;
  #state: 'idle' | 'starting' | 'recording' | 'paused' | 'stopping' = 'idle';
  #running: Running | undefined;
  #starting: Promise<unknown> = Promise.resolve();
  /** An event has told that the recording which was started last is over. */
  #isReported = false;
  #closed: Promise<void> | undefined;
  readonly #names: string[];

  constructor(recordings: Recordings, call: RecordedCall, time: Time, beside?: Beside) {
    this.#beside = beside;
    this.#names = beside?.names ?? [];
    this.#recordings = recordings;
    this.#call = call;
    this.#time = time;
  }

  /** The recording in progress, or the last one; undefined before the first. */
  get view(): RecordingView | undefined {
    return this.#running === undefined ? undefined : this.#viewOf(this.#running);
  }

  /** Names of the recordings that began, oldest first; the latest 1000. Undefined before the first. */
  get names(): readonly string[] | undefined {
    return this.#names.length === 0 ? undefined : [...this.#names];
  }

  /**
   * Another recording, of the caller alone, which goes on beside this one. Its name is among those of the
   * call. `kept` is asked when it is stopped, or its call ends: its file, a WAV, keeps this part.
   */
  beside(kept: () => KeptSound | undefined): CallRecording {
    const over = (one: CallRecording) => void this.#besides.delete(one);
    const beside = { names: this.#names, kept, over };
    const recording = new CallRecording(this.#recordings, this.#call, this.#time, beside);
    this.#besides.add(recording);
    return recording;
  }

  async start(options: StartRecording = {}): Promise<RecordingView> {
    if (this.#closed !== undefined) throw refusal('the call has ended');
    if (this.#state !== 'idle') throw refusal('the call is being recorded already');
    this.#state = 'starting';
    this.#isReported = false;
    const starting = this.#start(options);
    this.#starting = starting.catch(() => undefined);
    try {
      return await starting;
    } catch (error) {
      this.#state = 'idle';
      this.#beside?.over(this);
      this.#notStarted(error);
      throw error;
    }
  }

  /** An event tells it, unless the worker has reported a failure already. */
  #notStarted(error: unknown): void {
    if (this.#closed !== undefined || this.#isReported) return;
    const failure = asParleyError(error, 'RECORDING_FAILED');
    const why = { code: failure.code, message: forClient(failure).message };
    this.#call.onEvent({ type: 'recording.failed', durationMs: 0, bytes: 0, reason: 'failed', error: why });
  }

  pause(): RecordingView {
    return this.#mute(true);
  }

  resume(): RecordingView {
    return this.#mute(false);
  }

  async stop(): Promise<RecordingView> {
    const running = this.#present();
    await this.#stop(running, 'stopped');
    return this.#viewOf(running);
  }

  /** Removes the file of the last recording, which is over. Rejects with an error of the file system. */
  async discard(): Promise<void> {
    const running = this.#running;
    if (running?.result !== undefined) await this.#recordings.folder.remove(running.recording.name);
  }

  /**
   * The call has moved to another connection: its sound is read from there on. Silence is recorded while the
   * call has a connection without sound.
   */
  follow(): void {
    for (const beside of this.#besides) beside.follow();
    const running = this.#running;
    if (running === undefined || running.result !== undefined || this.#state === 'stopping') return;
    if (!this.#call.hasSourceOf(running.ring)) this.#openNext(running);
  }

  /** The ring overflowed. What follows is recorded in its place in time. */
  #starved(running: Running): void {
    if (running.result === undefined && this.#state !== 'stopping') this.#openNext(running);
  }

  #openNext(running: Running): void {
    let ring: number;
    try {
      ring = this.#call.openRing(RING_MS, this.#channels);
    } catch {
      return; // the ring before has ended, and gives silence
    }
    running.recording.follow(ring);
    if (running.leftRing !== undefined) this.#call.closeRing(running.leftRing);
    running.leftRing = running.ring;
    running.ring = ring;
  }

  /** The call has ended. Resolves when the recording is complete. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const besides = [...this.#besides].map((beside) => beside.close());
    await this.#starting;
    const running = this.#running;
    if (running !== undefined && this.#state !== 'idle')
      await this.#stop(running, 'call-ended').catch(() => undefined); // the worker reports a failure by event
    await Promise.all(besides);
  }

  get #channels(): RecordingChannels {
    return this.#beside === undefined ? 2 : 1;
  }

  async #start({ format, announce = 'none' }: StartRecording): Promise<RecordingView> {
    if (announce !== 'none') {
      await this.#within(ANNOUNCE_MS, this.#call.announce(announce), 'the announcement did not end');
    }
    if (this.#closed !== undefined) throw refusal('the call has ended');
    const running = this.#begin(format);
    try {
      await this.#within(WRITE_MS, running.opened, 'the file of the recording could not be created');
    } catch (error) {
      running.recording.stop('stopped'); // if it is created later
      throw error;
    }
    if (running.result !== undefined) throw failureOf(running.result);
    this.#state = 'recording';
    const { name, format: kind } = running.recording;
    this.#names.push(name);
    if (this.#names.length > MOST_NAMES) this.#names.shift();
    this.#call.onEvent({ type: 'recording.started', name, format: kind });
    return this.#viewOf(running);
  }

  #begin(format: RecordingFormat | undefined): Running {
    const { id: call, owner } = this.#call;
    const ring = this.#call.openRing(RING_MS, this.#channels);
    const opened = deferred<void>();
    const ended = deferred<RecordingResult>();
    const listener: Parameters<Recordings['begin']>[1] = {
      opened: () => opened.resolve(),
      grown: (size) => (running.size = size),
      starved: () => this.#starved(running),
      ended: (result) => {
        opened.reject(failureOf(result));
        ended.resolve(result);
        this.#ended(running, result);
      },
    };
    let recording: OpenRecording;
    try {
      recording = this.#recordings.begin({ call, owner, format, ring, channels: this.#channels }, listener);
    } catch (error) {
      this.#call.closeRing(ring);
      throw error;
    }
    const size = { frames: 0, bytes: 0 };
    const promises = { opened: opened.promise, ended: ended.promise };
    const running: Running = { recording, ring, leftRing: undefined, size, result: undefined, ...promises };
    running.opened.catch(() => undefined); // it may be rejected after it was awaited
    this.#running = running;
    return running;
  }

  #ended(running: Running, result: RecordingResult): void {
    running.result = result;
    running.size = result.bytes === 0 ? running.size : result; // a lost worker reports no size
    this.#call.closeRing(running.ring);
    if (running.leftRing !== undefined) this.#call.closeRing(running.leftRing);
    if (this.#running === running && this.#state !== 'starting') this.#state = 'idle';
    this.#beside?.over(this);
    const { durationMs, bytes } = this.#viewOf(running);
    const head = { name: running.recording.name, durationMs, bytes };
    const { end } = result;
    this.#isReported = true;
    if (end === 'disk-full' || end === 'failed') {
      const { code, message } = failureOf(result);
      this.#call.onEvent({ type: 'recording.failed', ...head, reason: end, error: { code, message } });
    } else this.#call.onEvent({ type: 'recording.stopped', ...head, reason: end });
  }

  #mute(muted: boolean): RecordingView {
    const running = this.#present();
    const state = muted ? 'paused' : 'recording';
    if (this.#state !== state) {
      this.#state = state;
      running.recording.mute(muted, this.#time.now());
      const type = muted ? 'recording.paused' : 'recording.resumed';
      this.#call.onEvent({ type, name: running.recording.name });
    }
    return this.#viewOf(running);
  }

  async #stop(running: Running, end: StopReason): Promise<void> {
    if (this.#state !== 'stopping') running.recording.stop(end, this.#beside?.kept());
    this.#state = 'stopping';
    const result = await this.#within(WRITE_MS, running.ended, 'the recording is not complete yet');
    if (result.error !== undefined) throw failureOf(result);
  }

  /** The recording that can be paused or stopped. Throws CALL_STATE. */
  #present(): Running {
    if (this.#running !== undefined && (this.#state === 'recording' || this.#state === 'paused')) {
      return this.#running;
    }
    const states = { starting: 'is not being recorded yet', stopping: 'is no longer recorded' };
    const what = this.#state === 'starting' || this.#state === 'stopping' ? states[this.#state] : undefined;
    throw refusal(`the call ${what ?? 'is not being recorded'}`);
  }

  #viewOf(running: Running): RecordingView {
    const { recording, size, result } = running;
    const { name, format, startedMs } = recording;
    const paused = this.#state === 'paused' ? 'paused' : 'recording';
    const current = this.#state === 'stopping' ? 'stopping' : paused;
    const over = result === undefined ? { state: current } : { state: 'stopped', reason: result.end };
    return {
      call: this.#call.id,
      name,
      format,
      startedMs,
      durationMs: size.frames / FRAMES_PER_MS,
      bytes: size.bytes,
      ...(over as Pick<RecordingView, 'state' | 'reason'>),
    };
  }

  #within<T>(ms: number, work: Promise<T>, message: string): Promise<T> {
    return new Promise((resolve, reject) => {
      const cancel = this.#time.after(ms, () => reject(new ParleyError('TIMEOUT', message)));
      work.then(resolve, reject).finally(cancel);
    });
  }
}

interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: Error) => void;
}

function deferred<T>(): Deferred<T> {
  let settle: Omit<Deferred<T>, 'promise'> | undefined;
  const promise = new Promise<T>((resolve, reject) => (settle = { resolve, reject }));
  return { promise, ...(settle as unknown as Omit<Deferred<T>, 'promise'>) };
}

function refusal(message: string): ParleyError {
  return new ParleyError('CALL_STATE', message);
}

/** The error of a recording that failed; of one that ended before its start, CALL_STATE. */
function failureOf({ end, error }: RecordingResult): ParleyError {
  if (error !== undefined) return new ParleyError(error.code, error.message);
  return refusal(`the recording ended before its start was reported (${end})`);
}
