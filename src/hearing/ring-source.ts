// The sound of rings (of WebSockets, without a call) in windows for the voice activity detector. Times are
// those of the sound: milliseconds from the first sample that was written into the ring.
import { PcmRing } from '../audio/pcm-ring.js';
import { EAR, EAR_FIELDS, WINDOW_SAMPLES } from '../media/ears.js';
import { ROW_SAMPLES, SAMPLE_RATE, SILENCE_DB } from './ear-source.js';

const SAMPLES_PER_MS = SAMPLE_RATE / 1000;

export class RingSource {
  readonly #rings = new Map<number, HeardRing>();
  /** Rings that may have sound to take. */
  readonly #ready = new Set<HeardRing>();
  /** Lines whose rings have ended, until they are asked for. */
  #ended: number[] = [];
  #onReady: (() => void) | undefined;

  /** Hears a ring of 16 kHz from the first sample on that nobody has read. */
  add(line: number, handle: number): void {
    const ring = new HeardRing(line, handle, () => {
      this.#ready.add(ring);
      this.#call();
    });
    this.#rings.set(line, ring);
    this.#ready.add(ring);
    this.#call();
  }

  /** Idempotent. */
  remove(line: number): void {
    const ring = this.#rings.get(line);
    if (ring === undefined) return;
    this.#rings.delete(line);
    this.#ready.delete(ring);
    ring.close();
  }

  /** As `Ears.take`, with the number of the line in place of the socket. */
  take(samples: Float32Array, fields: Float64Array): number {
    const most = Math.floor(fields.length / EAR_FIELDS);
    let rows = 0;
    for (const ring of this.#ready) {
      // Few rings have more than one window: a client sends its sound as it comes.
      while (rows < most && ring.fill()) ring.put(rows++, samples, fields);
      if (rows === most) break;
      this.#ready.delete(ring);
      if (ring.isOver) this.#ended.push(ring.line);
      else ring.watch();
    }
    return rows;
  }

  /** The lines whose rings have ended since it was asked last; all of their windows were taken. */
  takeEnded(): number[] {
    return this.#ended.splice(0);
  }

  /** Calls back once, when there may be something to take. */
  onWindows(onReady: () => void): void {
    this.#onReady = onReady;
    if (this.#ready.size > 0) queueMicrotask(() => this.#call());
  }

  close(): void {
    for (const line of this.#rings.keys()) this.remove(line);
    this.#onReady = undefined;
  }

  #call(): void {
    const onReady = this.#onReady;
    this.#onReady = undefined;
    onReady?.();
  }
}

class HeardRing {
  readonly line: number;
  readonly #ring: PcmRing;
  readonly #onReadable: () => void;
  readonly #window = new Float32Array(WINDOW_SAMPLES);
  #filled = 0;
  /** Samples before the window that is being filled. */
  #before: number;
  #isOver = false;

  constructor(line: number, handle: number, onReadable: () => void) {
    this.line = line;
    this.#ring = PcmRing.attach(handle, SAMPLE_RATE);
    this.#onReadable = onReadable;
    const { written = 0, readable = 0 } = this.#ring.status() ?? {};
    this.#before = written - readable;
  }

  /** The ring has ended, and fewer samples than a window are left. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Reads on; true once the window is full. */
  fill(): boolean {
    const count = this.#ring.read(this.#filled === 0 ? this.#window : this.#window.subarray(this.#filled));
    if (count > 0) this.#filled += count;
    if (this.#filled === WINDOW_SAMPLES) return true;
    const { ended = true, readable = 0 } = this.#ring.status() ?? {};
    this.#isOver = count < 0 || (ended && readable === 0);
    return false;
  }

  put(row: number, samples: Float32Array, fields: Float64Array): void {
    const start = row * ROW_SAMPLES;
    samples.set(this.#window, start);
    samples.fill(0, start + WINDOW_SAMPLES, start + ROW_SAMPLES);
    this.#before += WINDOW_SAMPLES;
    this.#filled = 0;
    const at = row * EAR_FIELDS;
    fields[at + EAR.socket] = this.line;
    fields[at + EAR.endMs] = this.#before / SAMPLES_PER_MS;
    fields[at + EAR.callerLevel] = levelOf(this.#window);
    fields[at + EAR.oursLevel] = SILENCE_DB;
    fields[at + EAR.dropped] = 0;
  }

  watch(): void {
    this.#ring.onReadable(this.#onReadable);
  }

  close(): void {
    this.#ring.forget(this.#onReadable);
    this.#ring.close();
  }
}

/** Mean power of a window in dBFS. */
function levelOf(window: Float32Array): number {
  let energy = 0;
  for (let n = 0; n < window.length; n++) energy += (window[n] as number) * (window[n] as number);
  return energy === 0 ? SILENCE_DB : Math.max(SILENCE_DB, 10 * Math.log10(energy / window.length));
}
