// One encoder worker's place in the pool: the thread, the lines it works for,
// and its successor when it dies.
//
//   starting ──▶ ready ──▶ (dies) ──▶ starting …        closing ──▶ gone, from any
//      └── dies MAX_STILLBIRTHS times in a row ──▶ gone
import { Worker } from 'node:worker_threads';
import { ParleyError } from '../errors.js';
import { Carry } from './carry.js';
import { EncoderLine, type LineSink } from './encoder-line.js';
import type { CarryMessage, FromWorker, ToWorker } from './line-messages.js';
import { Outbox } from './outbox.js';

export const MAX_STILLBIRTHS = 3; // what kills three in a row before they are ready kills the fourth too
const CLOSE_TIMEOUT_MS = 2000; // a worker that does not end by itself by then is ended

export class EncoderThread {
  readonly #script: URL;
  readonly #onLost: (error: ParleyError) => void;
  readonly #lines = new Map<number, EncoderLine | Carry>();
  readonly #outbox = new Outbox<ToWorker>((messages) => this.#worker?.postMessage(messages));
  #worker: Worker | undefined;
  #failure: Error | undefined;
  #stillbirths = 0;
  #ready!: Promise<void>;
  #settleReady!: { resolve: () => void; reject: (error: ParleyError) => void };
  #closed: Promise<void> | undefined;
  #resolveGone: (() => void) | undefined;

  constructor(script: URL, onLost: (error: ParleyError) => void) {
    this.#script = script;
    this.#onLost = onLost;
    this.#awaitReady();
    this.#start();
  }

  /** Lines that are open here. */
  get lines(): number {
    return this.#lines.size;
  }

  /** False once it gave up starting. */
  get usable(): boolean {
    return this.#worker !== undefined;
  }

  /** Resolves when the worker, or the one after it, is warm; rejects when no start succeeds. */
  ready(): Promise<void> {
    return this.#ready;
  }

  open(number: number, sink: LineSink, message: ToWorker): EncoderLine {
    const line = new EncoderLine(number, sink, {
      post: (next) => {
        this.#outbox.add(next);
        // Where a part ends must be known before there is sound behind it.
        if (next.type === 'cut') this.#outbox.flush();
      },
      over: () => this.#lines.delete(number),
    });
    this.#lines.set(number, line);
    this.#outbox.add(message);
    return line;
  }

  /** It works for this line. */
  holds(line: number): boolean {
    return this.#lines.has(line);
  }

  carry(message: CarryMessage): Carry {
    const carry = new Carry(message.line, {
      post: (next) => this.#outbox.add(next),
      over: () => this.#lines.delete(message.line),
    });
    this.#lines.set(message.line, carry);
    this.#outbox.add(message);
    return carry;
  }

  /** Aborts the lines and waits for the thread's end; every caller gets the same promise. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  #awaitReady(): void {
    this.#ready = new Promise((resolve, reject) => (this.#settleReady = { resolve, reject }));
    this.#ready.catch(() => undefined); // nobody need wait for it
  }

  #start(): void {
    let born = false;
    this.#failure = undefined;
    const worker = new Worker(this.#script, { name: 'parley-encoder' });
    const told = (message: FromWorker): void => {
      if (message.type !== 'ready') return this.#lines.get(message.line)?.told(message);
      born = true;
      this.#stillbirths = 0;
      this.#settleReady.resolve();
    };
    worker.on('message', (messages: readonly FromWorker[]) => messages.forEach(told));
    worker.on('error', (error: Error) => (this.#failure = error));
    worker.on('exit', (code) => this.#gone(born, code));
    this.#worker = worker;
  }

  #gone(born: boolean, code: number): void {
    const why = this.#failure?.message ?? `it exited with ${code}`;
    const error = new ParleyError('ENCODER_FAILED', `an encoder worker died: ${why}`, {
      cause: this.#failure,
    });
    this.#worker = undefined;
    this.#outbox.drop();
    if (this.#closed === undefined) {
      if (born) this.#awaitReady();
      else this.#stillbirths++;
      if (this.#stillbirths < MAX_STILLBIRTHS) this.#start();
    }
    if (this.#worker === undefined) this.#settleReady.reject(error);
    for (const line of this.#lines.values()) line.lost(error);
    if (this.#closed === undefined) this.#onLost(error);
    this.#resolveGone?.();
  }

  async #close(): Promise<void> {
    const lines = [...this.#lines.values()];
    for (const line of lines) line.abort();
    const worker = this.#worker;
    if (worker === undefined) return;
    const gone = new Promise<void>((resolve) => (this.#resolveGone = resolve));
    this.#outbox.add({ type: 'close' });
    this.#outbox.flush();
    const timer = setTimeout(() => void worker.terminate(), CLOSE_TIMEOUT_MS);
    await gone;
    clearTimeout(timer);
    // One that was ended by force may not have read that they were aborted.
    for (const line of lines) line.lost(new ParleyError('ABORTED', 'the encoder was closed'));
  }
}
