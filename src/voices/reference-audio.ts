// Decodes sound files: samples of voices and sounds to be played, of requests, and those of the library.
//
//   file ──▶ free thread, or a new one ──▶ decoded, refused: the thread waits for another file, a minute at most
//                                     └──▶ crashed, late, unwanted: the thread ends
//
// A thread has memory limits and decodes one file at a time, within a time limit. A file that hangs or
// crashes a decoder therefore ends its own thread and affects no other file. The number of threads and of
// waiting files is bounded.
import { DecodingThread } from '../codecs/decoding-thread.js';
import { type ErrorCode, ParleyError } from '../errors.js';
import { systemTime, type Time } from '../time.js';

/** Sample rate in Hz of all decoded sound: that of the models that clone voices. */
export const REFERENCE_RATE = 24_000;

/** The purpose of a sound: a voice is made from it, it is played, or it is kept in the library. */
export type SoundUse = 'voice' | 'play' | 'library';

/** Message to the decoder thread: one file. */
export interface EncodedReference {
  readonly bytes: Uint8Array;
  readonly use: SoundUse;
}

/** Mono in [-1, 1]. */
export interface DecodedSound {
  readonly samples: Float32Array;
  /** Hz. */
  readonly sampleRate: number;
}

/** Its answer. */
export type DecodedReference =
  | DecodedSound
  | {
      readonly code: ErrorCode;
      readonly message: string;
      /** The decoder failed: its memory may not be free before the thread ends. */
      readonly hasCrashed?: boolean;
    };

interface ReferenceAudioOptions {
  /** Script of the thread, replaced in tests. */
  readonly script?: URL;
  readonly timeoutMs?: number;
  readonly time?: Time;
}

const SCRIPT = new URL('./reference-worker.js', import.meta.url);
const TIMEOUT_MS = 20_000; // a minute of sound takes a second of it
const AT_ONCE = 2;
const MAX_WAITING = 16;

type ReferenceThread = DecodingThread<DecodedReference>;

export class ReferenceAudio {
  readonly #script: URL;
  readonly #timeoutMs: number;
  readonly #time: Time;
  readonly #free: ReferenceThread[] = [];
  readonly #running = new Set<Promise<unknown>>();
  /** Each call hands a place over. */
  readonly #waiting: (() => void)[] = [];
  #taken = 0;
  readonly #closing = new AbortController();

  constructor({ script = SCRIPT, timeoutMs = TIMEOUT_MS, time = systemTime }: ReferenceAudioOptions = {}) {
    this.#script = script;
    this.#timeoutMs = timeoutMs;
    this.#time = time;
  }

  /**
   * Mono in [-1, 1] at REFERENCE_RATE. Rejects with AUDIO_INVALID, QUEUE_FULL, or ABORTED.
   * @param field request field that errors name
   */
  async decode(
    bytes: Uint8Array,
    field: string,
    signal: AbortSignal,
    use: Exclude<SoundUse, 'library'> = 'voice',
  ): Promise<Float32Array> {
    return (await this.#inTurn({ bytes, use }, field, signal)).samples;
  }

  /** Mono at the rate of the file, if it can be played at it. Rejects as `decode`. */
  decodeForLibrary(bytes: Uint8Array, field: string, signal: AbortSignal): Promise<DecodedSound> {
    return this.#inTurn({ bytes, use: 'library' }, field, signal);
  }

  async #inTurn(file: EncodedReference, field: string, signal: AbortSignal): Promise<DecodedSound> {
    const given = AbortSignal.any([signal, this.#closing.signal]);
    await this.#turn(given);
    const run = this.#decode(file, field, given);
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

  /** Aborts decoding and ends the threads. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#running);
    await Promise.all(this.#free.splice(0).map((thread) => thread.close()));
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

  /** Settles when the thread is free again, or has ended. */
  async #decode(file: EncodedReference, field: string, signal: AbortSignal): Promise<DecodedSound> {
    if (signal.aborted) throw unwanted();
    const thread = this.#take();
    const { answer, isLate } = await this.#ask(thread, file, signal);
    const isSound = answer !== undefined && 'samples' in answer;
    const isKept = answer !== undefined && (isSound || answer.hasCrashed !== true);
    if (isKept && thread.usable && !this.#closing.signal.aborted) {
      thread.rest();
      this.#free.push(thread);
    } else await thread.close();
    if (isSound) return answer;
    if (answer === undefined && signal.aborted) throw unwanted();
    const late = `the audio could not be decoded within ${this.#timeoutMs / 1000} s`;
    const why = isLate ? late : 'the audio cannot be decoded';
    throw new ParleyError(answer?.code ?? 'AUDIO_INVALID', answer?.message ?? why, { field });
  }

  #take(): ReferenceThread {
    for (;;) {
      const thread = this.#free.pop();
      if (thread === undefined) return new DecodingThread(this.#script, 'parley-reference', this.#time);
      if (thread.usable) return thread;
    }
  }

  /** The answer is undefined if the file was late or unwanted, or ended the thread. */
  async #ask(
    thread: ReferenceThread,
    { bytes, use }: EncodedReference,
    signal: AbortSignal,
  ): Promise<{ readonly answer: DecodedReference | undefined; readonly isLate: boolean }> {
    let isLate = false;
    const giveUp = () => void thread.close();
    const cancelTimer = this.#time.after(this.#timeoutMs, () => {
      isLate = true;
      giveUp();
    });
    signal.addEventListener('abort', giveUp, { once: true });
    thread.begin();
    try {
      const answer = await new Promise<DecodedReference | undefined>((resolve) => {
        thread.onMessage = resolve;
        thread.onExit = () => resolve(undefined);
        const own = new Uint8Array(bytes); // a view may stand in a buffer that others use
        thread.post({ bytes: own, use } satisfies EncodedReference, [own.buffer]);
      });
      return { answer, isLate };
    } finally {
      cancelTimer();
      signal.removeEventListener('abort', giveUp);
    }
  }
}

function unwanted(): ParleyError {
  return new ParleyError('ABORTED', 'the sound is not wanted any more');
}
