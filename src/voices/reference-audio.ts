// Bytes that somebody sent as a sample of a voice, or to be played, made into
// samples.
//
// Each file is decoded in a thread of its own, which has so much memory and so
// much time and is ended afterwards: a file that is made to hang or crash a
// decoder hangs or crashes nothing else. So many at once, and so many wait.
import { Worker } from 'node:worker_threads';
import { type ErrorCode, ParleyError } from '../errors.js';
import type { SoundUse } from './reference-sound.js';

/** What the thread is given. */
export interface EncodedReference {
  readonly bytes: Uint8Array;
  readonly use: SoundUse;
}

/** What the thread answers. */
export type DecodedReference =
  { readonly samples: Float32Array } | { readonly code: ErrorCode; readonly message: string };

export interface ReferenceAudioOptions {
  /** Of the thread; another only in tests. */
  readonly script?: URL;
  readonly timeoutMs?: number;
}

const SCRIPT = new URL('./reference-worker.js', import.meta.url);
const TIMEOUT_MS = 20_000; // a minute of sound takes a second of it
const AT_ONCE = 2;
const MAX_WAITING = 16;
// Of the thread's own objects; samples and the decoder's memory are bounded by the pieces that it is fed.
const THREAD_MEMORY = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 };

export class ReferenceAudio {
  readonly #script: URL;
  readonly #timeoutMs: number;
  readonly #running = new Set<Promise<unknown>>();
  /** Each takes over a place when it is called. */
  readonly #waiting: (() => void)[] = [];
  #taken = 0;
  readonly #closing = new AbortController();

  constructor({ script = SCRIPT, timeoutMs = TIMEOUT_MS }: ReferenceAudioOptions = {}) {
    this.#script = script;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Mono in [-1, 1] at REFERENCE_RATE. Rejects with AUDIO_INVALID, QUEUE_FULL, or ABORTED.
   * @param field of the request, for what is wrong with it
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

  /** Ends what is being decoded. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#running);
  }

  /** Resolves when one of the places is taken for whoever asked. */
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
    // What decoders print about a file is nobody's business.
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
      worker.on('error', () => undefined); // its end is what counts
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
