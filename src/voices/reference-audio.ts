// Decodes sound files of requests: samples of voices, and sounds to be played.
//
// Each file is decoded in its own thread with a memory and a time limit, which ends afterwards. A file that
// hangs or crashes a decoder therefore affects nothing else. The number of threads and of waiting files is
// bounded.
import { Worker } from 'node:worker_threads';
import { type ErrorCode, ParleyError } from '../errors.js';

/** Sample rate in Hz of all decoded sound: that of the models that clone voices. */
export const REFERENCE_RATE = 24_000;

/** The purpose of a sound: a voice is made from it, or it is played. */
export type SoundUse = 'voice' | 'play';

/** Input of the decoder thread. */
export interface EncodedReference {
  readonly bytes: Uint8Array;
  readonly use: SoundUse;
}

/** Result of the decoder thread. */
export type DecodedReference =
  { readonly samples: Float32Array } | { readonly code: ErrorCode; readonly message: string };

interface ReferenceAudioOptions {
  /** Script of the thread, replaced in tests. */
  readonly script?: URL;
  readonly timeoutMs?: number;
}

const SCRIPT = new URL('./reference-worker.js', import.meta.url);
const TIMEOUT_MS = 20_000; // a minute of sound takes a second of it
const AT_ONCE = 2;
const MAX_WAITING = 16;
// Limits the thread's JavaScript objects; the pieces it is fed bound its samples and the decoder's memory.
const THREAD_MEMORY = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 };

export class ReferenceAudio {
  readonly #script: URL;
  readonly #timeoutMs: number;
  readonly #running = new Set<Promise<unknown>>();
  /** Each call hands a place over. */
  readonly #waiting: (() => void)[] = [];
  #taken = 0;
  readonly #closing = new AbortController();

  constructor({ script = SCRIPT, timeoutMs = TIMEOUT_MS }: ReferenceAudioOptions = {}) {
    this.#script = script;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Mono in [-1, 1] at REFERENCE_RATE. Rejects with AUDIO_INVALID, QUEUE_FULL, or ABORTED.
   * @param field request field that errors name
   */
  async decode(
    bytes: Uint8Array,
    field: string,
    signal: AbortSignal,
    use: SoundUse = 'voice',
  ): Promise<Float32Array> {
    const given = AbortSignal.any([signal, this.#closing.signal]);
    await this.#turn(given);
    const run = this.#decode({ bytes, use }, field, given);
    this.#running.add(run);
    try {
      return await run;
    } finally {
      this.#running.delete(run);
      const next = this.#waiting.shift();
      if (next === undefined) this.#taken--;
      else next();
    }
  }

  /** Aborts decoding. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#running);
  }

  /** Resolves when the caller has a place. */
  async #turn(signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw unwanted();
    if (this.#taken < AT_ONCE) {
      this.#taken++;
      return;
    }
    if (this.#waiting.length >= MAX_WAITING) {
      throw new ParleyError('QUEUE_FULL', `${MAX_WAITING} files of sound wait to be decoded already`);
    }
    await new Promise<void>((resolve, reject) => {
      const enter = () => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1);
        reject(unwanted());
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.push(enter);
    });
  }

  /** Settles when the thread has ended. */
  #decode({ bytes, use }: EncodedReference, field: string, signal: AbortSignal): Promise<Float32Array> {
    if (signal.aborted) return Promise.reject(unwanted());
    const own = new Uint8Array(bytes); // a view may stand in a buffer that others use
    // Messages of decoders are discarded.
    const worker = new Worker(this.#script, {
      name: 'parley-reference',
      workerData: { bytes: own, use } satisfies EncodedReference,
      transferList: [own.buffer],
      resourceLimits: THREAD_MEMORY,
      stdout: true,
      stderr: true,
    });
    worker.stdout.resume();
    worker.stderr.resume();
    return new Promise((resolve, reject) => {
      let answer: DecodedReference | undefined;
      let why = 'the audio cannot be decoded';
      const end = () => void worker.terminate();
      const timer = setTimeout(() => {
        why = `the audio could not be decoded within ${this.#timeoutMs / 1000} s`;
        end();
      }, this.#timeoutMs);
      signal.addEventListener('abort', end, { once: true });
      worker.once('message', (message: DecodedReference) => {
        answer = message;
        end();
      });
      worker.on('error', () => undefined); // 'exit' follows
      worker.once('exit', () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        if (answer !== undefined && 'samples' in answer) return resolve(answer.samples);
        if (answer === undefined && signal.aborted) return reject(unwanted());
        reject(new ParleyError(answer?.code ?? 'AUDIO_INVALID', answer?.message ?? why, { field }));
      });
    });
  }
}

function unwanted(): ParleyError {
  return new ParleyError('ABORTED', 'the sound is not wanted any more');
}
