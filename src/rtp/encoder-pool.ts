// Worker threads that encode, and the lines spread over them: a line goes to
// the worker with the fewest. A worker that dies takes its lines with it (they
// reject with ENCODER_FAILED) and is replaced.
import { availableParallelism } from 'node:os';
import type { TrimOptions } from '../audio/trimmer.js';
import { ParleyError } from '../errors.js';
import type { EncoderLine, LineSink } from './encoder-line.js';
import { EncoderThread } from './encoder-thread.js';
import type { LineSettings, SinkMessage } from './line-messages.js';
import { OPUS_SPEECH, type OpusSettings } from './opus-encoder.js';

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
