// Joins the folder of recordings with the worker that writes them, and gives each recording its name.
import type { RecordingConfig } from '../config/recording-config.js';
import { ParleyError } from '../errors.js';
import type { Log } from '../log.js';
import type { Time } from '../time.js';
import { FRAMES_PER_MS, type RecordingChannels } from './recording-form.js';
import { RecordingFolder } from './recording-folder.js';
import type { KeptSound, RecordingResult, RecordingSize, StopReason } from './recording-messages.js';
import { ownerTag, type RecordingFormat, recordingName } from './recording-name.js';
import { type RecordingListener, RecordingThread } from './recording-thread.js';

interface RecordingsOptions {
  readonly config: RecordingConfig;
  readonly time: Time;
  /** Milliseconds since 1970. */
  readonly unixMs: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly log: Log;
  /** The worker's program; another one in tests. */
  readonly script?: URL;
}

/** A call to be recorded, and the source of its sound. */
interface NewRecording {
  readonly call: string;
  /** Name of the API key that owns the call; undefined if every key may use it. */
  readonly owner: string | undefined;
  /** Absent: the configured one. */
  readonly format: RecordingFormat | undefined;
  /** Handle of a ring of interleaved frames: caller, this server; or of the caller alone. */
  readonly ring: number;
  /** Two, if absent. */
  readonly channels?: RecordingChannels | undefined;
}

/** A recording that the worker writes. */
export interface OpenRecording {
  readonly name: string;
  readonly format: RecordingFormat;
  /** Milliseconds since 1970. */
  readonly startedMs: number;
  mute(muted: boolean, atMs: number): void;
  follow(ring: number): void;
  /** The listener is called when the file is complete. */
  stop(end: StopReason, kept?: KeptSound): void;
}

/** Loss of sound is logged here. */
type RecordingObserver = Omit<RecordingListener, 'filled'>;

interface Entry {
  readonly id: number;
  readonly name: string;
  size: RecordingSize;
  isStopping: boolean;
}

interface RecordingFigures {
  /** In progress. */
  readonly open: number;
  /** Since the start of the server. */
  readonly started: number;
  readonly failed: number;
}

export class Recordings {
  readonly folder: RecordingFolder;
  readonly #options: RecordingsOptions;
  readonly #thread: RecordingThread;
  readonly #entries = new Map<string, Entry>();
  #started = 0;
  #failed = 0;
  #closed: Promise<void> | undefined;

  private constructor(options: RecordingsOptions, folder: RecordingFolder) {
    const { time, log, script } = options;
    this.#options = options;
    this.folder = folder;
    const onLost = (detail: string) => log.error({ detail }, 'recording worker lost');
    this.#thread = new RecordingThread({ time, onLost, ...(script === undefined ? {} : { script }) });
  }

  /** Rejects with CONFIG_INVALID if the folder cannot be written. */
  static async open(options: RecordingsOptions): Promise<Recordings> {
    const { config, ...shared } = options;
    const { folder, keepMs, keepBytes } = config;
    const limits = { folder, keepMs, keepBytes, onExcess: () => recordings.#stopLargest() };
    const recordings = new Recordings(options, await RecordingFolder.open({ ...shared, ...limits }));
    return recordings;
  }

  get figures(): RecordingFigures {
    return { open: this.#entries.size, started: this.#started, failed: this.#failed };
  }

  /** Begins a recording. The listener hears whether the file could be created. Throws after a close. */
  begin(
    { call, owner, format, ring, channels = 2 }: NewRecording,
    listener: RecordingObserver,
  ): OpenRecording {
    if (this.#closed !== undefined) throw new ParleyError('CALL_CLOSED', 'the server is closing');
    const { config, unixMs, randomBytes, log } = this.#options;
    const startedMs = unixMs();
    const kind = format ?? config.format;
    const tag = owner === undefined ? undefined : ownerTag(owner);
    const name = recordingName({ call, owner: tag, startedMs, format: kind, random: randomBytes(4) });
    const serial = new DataView(Uint8Array.from(randomBytes(4)).buffer).getUint32(0);
    const maxFrames = config.maxMs * FRAMES_PER_MS;
    const order = { path: this.folder.pathOf(name), format: kind, ring, channels, maxFrames, serial };
    this.folder.begin(name);
    this.#started++;
    const id = this.#thread.open(order, {
      opened: () => listener.opened(),
      grown: (size) => this.#grown(name, size, listener),
      starved: () => listener.starved(),
      filled: (ms) => {
        log.warn({ call, recording: name, silentMs: Math.round(ms) }, 'recording lost sound');
      },
      ended: (result) => this.#ended(name, result, listener),
    });
    this.#entries.set(name, { id, name, size: { id, frames: 0, bytes: 0 }, isStopping: false });
    return {
      name,
      format: kind,
      startedMs,
      mute: (muted, atMs) => this.#thread.mute(id, muted, atMs),
      follow: (next) => this.#thread.follow(id, next),
      stop: (end, kept) => this.#thread.stop(id, end, kept),
    };
  }

  /** The recordings together exceed the limit of size: the largest one in progress ends. */
  #stopLargest(): void {
    const going = [...this.#entries.values()].filter(({ isStopping }) => !isStopping);
    const [largest] = going.sort((a, b) => b.size.bytes - a.size.bytes);
    if (largest === undefined || going.length < this.#entries.size) return; // one is about to end
    largest.isStopping = true;
    this.#thread.stop(largest.id, 'too-large');
  }

  /** Ends every recording. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= this.#thread.close().then(() => this.folder.close());
    return this.#closed;
  }

  #grown(name: string, size: RecordingSize, listener: RecordingObserver): void {
    const entry = this.#entries.get(name);
    if (entry !== undefined) entry.size = size;
    this.folder.grow(name, size.bytes);
    listener.grown(size);
  }

  #ended(name: string, result: RecordingResult, listener: RecordingObserver): void {
    this.#entries.delete(name);
    this.folder.end(name, result.bytes, result.end);
    const { end, error } = result;
    if (error !== undefined) {
      this.#failed++;
      this.#options.log.warn(
        { recording: name, end, code: error.code, detail: error.message },
        'recording failed',
      );
    }
    listener.ended(result);
  }
}
