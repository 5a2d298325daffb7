// Ears whose sound is a script: each call's two sides are arrays, cut into windows on one grid of time.
import { type EarSource, ROW_SAMPLES, SILENCE_DB, WINDOW_MS } from '../../src/hearing/ear-source.js';
import { EAR, EAR_FIELDS, WINDOW_SAMPLES } from '../../src/media/ears.js';

export interface ScriptedCall {
  readonly caller: Float32Array;
  /** The sound that we send; none by default. */
  readonly ours?: Float32Array;
}

/** Time at the end of the first window. */
export const FIRST_END_MS = 1000 + WINDOW_MS;

export class ScriptedEars implements EarSource {
  readonly #calls: ReadonlyMap<number, ScriptedCall>;
  /** The next window of each socket that is listened to. */
  readonly #next = new Map<number, number>();
  #step = 0;
  #steps = 0;
  #onReady: () => void = () => undefined;
  #isWatched = false;
  closed = 0;

  constructor(calls: ReadonlyMap<number, ScriptedCall>) {
    this.#calls = calls;
  }

  /** Sockets that are listened to. */
  get sockets(): readonly number[] {
    return [...this.#next.keys()];
  }

  /** Lets so many windows of time pass. */
  release(steps: number): void {
    this.#steps += steps;
    if (!this.#isWatched) return;
    this.#isWatched = false;
    this.#onReady();
  }

  add(socket: number): boolean {
    this.#next.set(socket, this.#step);
    return this.#calls.has(socket);
  }

  remove(socket: number): void {
    this.#next.delete(socket);
  }

  take(samples: Float32Array, fields: Float64Array): number {
    const most = Math.floor(fields.length / EAR_FIELDS);
    let rows = 0;
    while (this.#step < this.#steps && rows + this.#next.size <= most) {
      for (const [socket, began] of this.#next) {
        this.#write(rows++, { socket, window: this.#step - began }, samples, fields);
      }
      this.#step++;
    }
    return rows;
  }

  onWindows(onReady: () => void): void {
    this.#onReady = onReady;
    this.#isWatched = true;
    if (this.#step < this.#steps && this.#next.size > 0) setImmediate(() => this.release(0));
  }

  close(): void {
    this.closed++;
  }

  #write(
    row: number,
    { socket, window }: { readonly socket: number; readonly window: number },
    samples: Float32Array,
    fields: Float64Array,
  ): void {
    const { caller, ours } = this.#calls.get(socket) ?? { caller: new Float32Array() };
    const callerLevel = put(samples, row * ROW_SAMPLES, caller, window);
    const oursLevel = put(samples, row * ROW_SAMPLES + WINDOW_SAMPLES, ours, window);
    const at = row * EAR_FIELDS;
    fields[at + EAR.socket] = socket;
    fields[at + EAR.endMs] = FIRST_END_MS + this.#step * WINDOW_MS;
    fields[at + EAR.callerLevel] = callerLevel;
    fields[at + EAR.oursLevel] = oursLevel;
    fields[at + EAR.dropped] = 0;
  }
}

/** Copies a window, silence after the end of the sound. Returns its dBFS. */
function put(to: Float32Array, at: number, sound: Float32Array | undefined, window: number): number {
  const start = window * WINDOW_SAMPLES;
  const part = sound?.subarray(start, start + WINDOW_SAMPLES) ?? new Float32Array();
  to.fill(0, at, at + WINDOW_SAMPLES).set(part, at);
  const energy = part.reduce((sum, sample) => sum + sample * sample, 0);
  return energy === 0 ? SILENCE_DB : Math.max(SILENCE_DB, 10 * Math.log10(energy / WINDOW_SAMPLES));
}
