// Runs a decoder of sound files in a worker thread. The thread has memory limits, so that a file that hangs
// or crashes its decoder ends that thread only. It decodes one file after the other, and ends after a minute
// without a file.
import { type Transferable, Worker } from 'node:worker_threads';
import type { Time } from '../time.js';

const IDLE_MS = 60_000; // an idle thread takes 10 MB; its start takes 100 ms
// Limits the thread's JavaScript objects; the pieces it is fed bound its samples and the decoder's memory.
const MEMORY = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 };

export class DecodingThread<Message> {
  /** Takes the thread's messages about the present file. */
  onMessage: (message: Message) => void = () => undefined;
  /** Called if the thread ends during a file. */
  onExit: () => void = () => undefined;
  readonly #worker: Worker;
  readonly #time: Time;
  readonly #gone: Promise<void>;
  #usable = true;
  #cancelIdle: () => void = () => undefined;

  constructor(script: URL, name: string, time: Time) {
    this.#time = time;
    // Text that decoders print is discarded.
    this.#worker = new Worker(script, { name, resourceLimits: MEMORY, stdout: true, stderr: true });
    this.#worker.stdout.resume();
    this.#worker.stderr.resume();
    this.#worker.on('message', (message: Message) => this.onMessage(message));
    this.#worker.on('error', () => undefined); // 'exit' follows
    this.#gone = new Promise((resolve) => {
      this.#worker.once('exit', () => {
        this.#usable = false;
        this.#cancelIdle();
        this.onExit();
        resolve();
      });
    });
  }

  /** False once the thread ends or has ended. */
  get usable(): boolean {
    return this.#usable;
  }

  /** A file begins. */
  begin(): void {
    this.#cancelIdle();
    this.#worker.ref();
  }

  post(message: unknown, transfer: readonly Transferable[] = []): void {
    this.#worker.postMessage(message, transfer);
  }

  /** The file is over. The thread closes unless another file begins within a minute. */
  rest(): void {
    this.onMessage = () => undefined;
    this.onExit = () => undefined;
    this.#worker.unref();
    this.#cancelIdle = this.#time.after(IDLE_MS, () => void this.close());
  }

  /** Ends the thread, with the file that it decodes. Idempotent. */
  async close(): Promise<void> {
    this.#usable = false;
    this.#cancelIdle();
    void this.#worker.terminate();
    await this.#gone;
  }
}
