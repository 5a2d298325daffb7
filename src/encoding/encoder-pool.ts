// Worker threads that encode, and the lines spread over them: a line goes to
// the worker with the fewest. A worker that dies takes its lines with it (they
// reject with ENCODER_FAILED) and is replaced.
import { availableParallelism } from 'node:os';
import type { TrimOptions } from '../audio/trimmer.js';
import { ParleyError } from '../errors.js';
import type { Carry } from './carry.js';
import type { EncoderLine, LineSink } from './encoder-line.js';
import { EncoderThread } from './encoder-thread.js';
import type { CarryMessage, LineSettings, SinkMessage } from './line-messages.js';
import { OPUS_SPEECH, type OpusSettings } from '../codecs/opus.js';

/** What a line does differently from the pool. */
export interface LineOptions {
  readonly opus?: Partial<OpusSettings>;
  readonly trim?: TrimOptions;
}

export interface PoolOptions extends LineOptions {
  /** Threads; by default one fewer than the machine has cores, at least one. */
  readonly workers?: number;
  /** The worker's program; another one in tests. */
  readonly script?: URL;
  /** Told of every worker that died, for the log. */
  readonly onWorkerLost?: (error: ParleyError) => void;
}

/** See CarryMessage. */
export type CarriedSound = Pick<CarryMessage, 'from' | 'to' | 'entries'>;

export class EncoderPool {
  /** Of lines that say nothing else. */
  readonly settings: LineSettings;
  readonly #threads: readonly EncoderThread[];
  #lineCount = 0;
  #closed: Promise<void> | undefined;

  constructor(options: PoolOptions = {}) {
    const workers = options.workers ?? Math.max(1, availableParallelism() - 1);
    if (!Number.isInteger(workers) || workers < 1) {
      throw new ParleyError('INVALID_FIELD', `workers must be 1 or more, not ${workers}`, {
        field: 'workers',
      });
    }
    this.settings = { opus: { ...OPUS_SPEECH, ...options.opus }, trim: { ...options.trim } };
    const script = options.script ?? new URL('./encoder-worker.js', import.meta.url);
    const onLost = options.onWorkerLost ?? (() => undefined);
    this.#threads = Array.from({ length: workers }, () => new EncoderThread(script, onLost));
  }

  /** Resolves when every worker is loaded and warm; rejects when one cannot start. */
  async ready(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.ready()));
  }

  /** Whether a line can be opened: a worker runs, or is being started. */
  get usable(): boolean {
    return this.#closed === undefined && this.#threads.some((thread) => thread.usable);
  }

  /** Open lines, worker by worker. */
  get lines(): readonly number[] {
    return this.#threads.map((thread) => thread.lines);
  }

  /** Lines and carries opened so far. */
  get opened(): number {
    return this.#lineCount;
  }

  /** Throws ENCODER_FAILED when no worker can be started, WRONG_STATE after a close. */
  open(sink: LineSink, options: LineOptions = {}): EncoderLine {
    const thread = this.#leastLoaded();
    const settings = {
      opus: { ...this.settings.opus, ...options.opus },
      trim: { ...this.settings.trim, ...options.trim },
    };
    const line = ++this.#lineCount;
    return thread.open(line, sink, { type: 'open', line, sink: messageOf(sink), settings });
  }

  /**
   * What a playout had queued goes into the one that took its place, and behind it what the lines `after` push: one of
   * them at most is at work, the rest are over. Throws as `open` does.
   */
  carry(sound: CarriedSound, after: readonly { readonly number: number }[]): Carry {
    const numbers = after.map(({ number }) => number);
    const thread =
      this.#threads.find((one) => one.usable && numbers.some((number) => one.holds(number))) ??
      this.#leastLoaded();
    const line = ++this.#lineCount;
    const { from, to, entries } = sound;
    return thread.carry({ type: 'carry', line, after: numbers, from, to, entries, settings: this.settings });
  }

  /** Aborts every line and ends every worker; every caller waits for the same end. */
  close(): Promise<void> {
    this.#closed ??= Promise.all(this.#threads.map((thread) => thread.close())).then(() => undefined);
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #leastLoaded(): EncoderThread {
    if (this.#closed !== undefined) throw new ParleyError('WRONG_STATE', 'the encoder pool is closed');
    const usable = this.#threads.filter((thread) => thread.usable);
    const [first, ...others] = usable;
    if (first === undefined) throw new ParleyError('ENCODER_FAILED', 'no encoder worker can be started');
    return others.reduce((least, thread) => (thread.lines < least.lines ? thread : least), first);
  }
}

function messageOf(sink: LineSink): SinkMessage {
  return sink.kind === 'bytes' ? sink : { ...sink, codec: sink.codec.name };
}
