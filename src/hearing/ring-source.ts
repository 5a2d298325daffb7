// The sound of rings (of WebSockets and files, without a call) in windows for the voice activity detector.
// Times are those of the sound: milliseconds from the first sample that was written into the ring.
import { PcmRing } from '../audio/pcm-ring.js';
import { Resampler } from '../audio/resampler.js';
import { EAR, EAR_FIELDS, WINDOW_SAMPLES } from '../media/ears.js';
import { ROW_SAMPLES, SAMPLE_RATE, SILENCE_DB } from './ear-source.js';

const SAMPLES_PER_MS = SAMPLE_RATE / 1000;
/**
 * With more rings than these, the source looks into all of them every 16 ms instead of at each write. Clients
 * send at moments of their own. So windows of many of them are analysed in one run of the model, which costs
 * little more than a run with few, and no write has to wake this thread.
 */
const FEW_RINGS = 3;
const LOOK_MS = 16;
const MOST_WINDOWS = 4; // of one ring in one take

export class RingSource {
  readonly #rings = new Map<number, HeardRing>();
  /** Rings that may have sound to take. */
  #ready = new Set<HeardRing>();
  /** Streams whose rings have ended, until they are asked for. */
  #ended: number[] = [];
  #onReady: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** Hears a ring from the first sample on that nobody has read. */
  add(stream: number, handle: number, rate = SAMPLE_RATE): void {
    const ring = new HeardRing(stream, { handle, rate }, () => {
      this.#ready.add(ring);
      this.#callSoon();
    });
    this.#rings.set(stream, ring);
    this.#ready.add(ring);
    this.#callSoon();
  }

  /** Idempotent. */
  remove(stream: number): void {
    const ring = this.#rings.get(stream);
    if (ring === undefined) return;
    this.#rings.delete(stream);
    this.#ready.delete(ring);
    ring.close();
  }

  /** As `Ears.take`, with the number of the stream in place of the socket. */
  take(samples: Float32Array, fields: Float64Array): number {
    const most = Math.floor(fields.length / EAR_FIELDS);
    let rows = 0;
    const ready = this.#ready;
    this.#ready = new Set();
    for (const ring of ready) {
      // A client that sends faster than it speaks must not delay the others.
      const limit = Math.min(most, rows + MOST_WINDOWS);
      while (rows < limit && ring.fill()) ring.put(rows++, samples, fields);
      if (rows === limit) {
        this.#ready.add(ring);
        continue;
      }
      if (ring.isOver) this.#ended.push(ring.stream);
      else if (!this.#looks) ring.watch();
    }
    return rows;
  }

  /** The streams whose rings have ended since it was asked last; all of their windows were taken. */
  takeEnded(): number[] {
    return this.#ended.splice(0);
  }

  /** Calls back once, when there may be something to take. */
  onWindows(onReady: () => void): void {
    this.#onReady = onReady;
    const isLeft = [...this.#rings.values()].some((ring) => !ring.isOver && !ring.isWatched);
    if (this.#ready.size > 0 || isLeft) this.#callSoon();
  }

  close(): void {
    for (const stream of this.#rings.keys()) this.remove(stream);
    this.#onReady = undefined;
    clearTimeout(this.#timer);
  }

  get #looks(): boolean {
    return this.#rings.size > FEW_RINGS;
  }

  #callSoon(): void {
    if (this.#looks) this.#timer ??= setTimeout(() => this.#call(), LOOK_MS);
    else queueMicrotask(() => this.#call());
  }

  #call(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const ring of this.#rings.values()) if (!ring.isOver && !ring.isWatched) this.#ready.add(ring);
    const onReady = this.#onReady;
    this.#onReady = undefined;
    onReady?.();
  }
}

class HeardRing {
  readonly stream: number;
  readonly #ring: PcmRing;
  /** Undefined for a ring of 16 kHz. */
  readonly #converted: ConvertedRing | undefined;
  readonly #onReadable: () => void;
  readonly #window = new Float32Array(WINDOW_SAMPLES);
  #filled = 0;
  /** Samples before the window that is being filled. */
  #before: number;
  #isOver = false;
  #isWatched = false;

  /** `rate`: Hz. */
  constructor(
    stream: number,
    { handle, rate }: { readonly handle: number; readonly rate: number },
    onReadable: () => void,
  ) {
    this.stream = stream;
    this.#ring = PcmRing.attach(handle, rate);
    this.#converted = rate === SAMPLE_RATE ? undefined : new ConvertedRing(this.#ring);
    this.#onReadable = () => {
      this.#isWatched = false;
      onReadable();
    };
    const { written = 0, readable = 0 } = this.#ring.status() ?? {};
    this.#before = ((written - readable) * SAMPLE_RATE) / rate;
  }

  /** The ring has ended, and fewer samples than a window are left. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The callback will be called when there is sound. */
  get isWatched(): boolean {
    return this.#isWatched;
  }

  /** Reads on; true once the window is full. */
  fill(): boolean {
    const source = this.#converted ?? this.#ring;
    let count: number;
    do {
      count = source.read(this.#filled === 0 ? this.#window : this.#window.subarray(this.#filled));
      if (count > 0) this.#filled += count;
      if (this.#filled === WINDOW_SAMPLES) return true;
    } while (count > 0);
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
    fields[at + EAR.socket] = this.stream;
    fields[at + EAR.endMs] = this.#before / SAMPLES_PER_MS;
    fields[at + EAR.callerLevel] = levelOf(this.#window);
    fields[at + EAR.oursLevel] = SILENCE_DB;
    fields[at + EAR.dropped] = 0;
  }

  watch(): void {
    this.#isWatched = true;
    this.#ring.onReadable(this.#onReadable);
  }

  close(): void {
    this.#ring.forget(this.#onReadable);
    this.#ring.close();
  }
}

/** Reads a ring of another rate at 16 kHz. The last samples of a sound, up to 3 ms, stay in the converter. */
class ConvertedRing {
  readonly #ring: PcmRing;
  readonly #resampler: Resampler;
  readonly #input: Float32Array;
  readonly #output: Float32Array;
  /** Converted samples that were not read: from `#from` until before `#to`. */
  #from = 0;
  #to = 0;

  constructor(ring: PcmRing) {
    const chunk = Math.ceil((WINDOW_SAMPLES * ring.rate) / SAMPLE_RATE);
    this.#ring = ring;
    this.#resampler = new Resampler(ring.rate, SAMPLE_RATE, chunk);
    this.#input = new Float32Array(chunk);
    this.#output = new Float32Array(this.#resampler.maxOutput(chunk));
  }

  /** As `PcmRing.read`. */
  read(into: Float32Array): number {
    if (this.#from === this.#to) {
      const count = this.#ring.read(this.#input);
      if (count <= 0) return count;
      this.#from = 0;
      this.#to = this.#resampler.process(this.#input, count, this.#output);
    }
    const count = Math.min(into.length, this.#to - this.#from);
    into.set(this.#output.subarray(this.#from, this.#from + count));
    this.#from += count;
    return count;
  }
}

/** Mean power of a window in dBFS. */
function levelOf(window: Float32Array): number {
  let energy = 0;
  for (let n = 0; n < window.length; n++) energy += (window[n] as number) * (window[n] as number);
  return energy === 0 ? SILENCE_DB : Math.max(SILENCE_DB, 10 * Math.log10(energy / window.length));
}
