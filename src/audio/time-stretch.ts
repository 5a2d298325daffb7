// Faster or slower speech at the same pitch: WSOLA (Verhelst and Roelands,
// 1993), with state.
//
//   out block k = fall * x[natural ..] + rise * x[best ..]     one hop long, the fades sum to one
//   natural     = where the block before would go on in the input
//   best        = the place within SEEK_MS of k hop speed that sounds most like x[natural ..]
//
// If `natural` is itself within that range, it is used, and the block is a plain copy. The last block, one to
// two hops long, ends with the last input, so a sound that fades out ends in silence at every speed. After
// `flush`, n inputs have become round(n / speed) outputs. Every block is made from the same inputs however
// they were cut into chunks, so a streamed stretch equals the whole one bit for bit. At speed 1 samples are
// copied.
import { ParleyError } from '../errors.js';
import { SampleWindow } from './sample-buffers.js';

export const SPEEDS: readonly [least: number, most: number] = [0.25, 4];

const HOP_MS = 15; // one fade: two periods of a low voice, short against a syllable
const SEEK_MS = 10; // to either side; together a period of 50 Hz
const COARSE_HZ = 8000; // the first search looks at this many samples and places a second
const QUIET = 1e-9; // energy that keeps a silent candidate from dividing by zero

export class TimeStretch {
  readonly speed: number;
  readonly #hop: number;
  readonly #seek: number;
  readonly #stride: number;
  readonly #stepInputs: number;
  /** [hop]; the fade out is one minus it. */
  readonly #rise: Float32Array;
  /** The inputs that a block may still look at, oldest first. */
  readonly #window: SampleWindow;
  #inputs = 0;
  #outputs = 0;
  #block = 0;
  #natural = 0;

  /**
   * @param maxChunk inputs that one `process` handles in a single pass; longer chunks are handled in several.
   */
  constructor(rate: number, speed: number, maxChunk = 1024) {
    const [least, most] = SPEEDS;
    if (!(speed >= least && speed <= most)) {
      throw new ParleyError('INVALID_FIELD', `speed must be ${least} to ${most}, not ${speed}`, {
        field: 'speed',
      });
    }
    this.speed = speed;
    this.#hop = Math.round((rate * HOP_MS) / 1000);
    this.#seek = Math.round((rate * SEEK_MS) / 1000);
    this.#stride = Math.max(1, Math.round(rate / COARSE_HZ));
    this.#stepInputs = maxChunk;
    this.#rise = Float32Array.from({ length: this.#hop }, (_, i) => 1 - fall(i, this.#hop));
    const held = Math.ceil(this.#hop * (2 + 3 * speed)) + 2 * this.#seek + 16;
    this.#window = new SampleWindow(speed === 1 ? 0 : maxChunk + held);
  }

  /** Inputs since the last reset. */
  get inputs(): number {
    return this.#inputs;
  }

  /** Outputs that `inputs` inputs come to in all, from the last reset to a flush. */
  outputsFor(inputs: number): number {
    return Math.round(inputs / this.speed);
  }

  /** Room that the output of `process` needs, in samples, for any state. */
  maxOutput(inputs: number): number {
    return this.outputsFor(inputs) + 2 * this.#hop;
  }

  /** Room that the output of `flush` needs. */
  get maxFlush(): number {
    return this.maxOutput(this.#window.samples.length);
  }

  /**
   * Takes `count` inputs and writes what they complete to `output` from `offset` on; returns how many that
   * were.
   */
  process(input: Float32Array, count: number, output: Float32Array, offset = 0): number {
    this.#checkRoom(output.length - offset, this.speed === 1 ? count : this.maxOutput(count));
    if (this.speed === 1) return this.#copy(input, count, output, offset);
    let written = 0;
    for (let at = 0; at < count; at += this.#stepInputs) {
      const step = Math.min(this.#stepInputs, count - at);
      this.#window.append(input, at, step);
      this.#inputs += step;
      while (this.#inputs >= this.#inputsNeeded()) {
        written += this.#emit(this.#ideal() + this.#seek, this.#hop, output, offset + written);
      }
    }
    return written;
  }

  /** The sound still held, up to round(inputs / speed) outputs in all. Afterwards the stream starts anew. */
  flush(output: Float32Array, offset = 0): number {
    const end = this.speed === 1 ? this.#outputs : this.outputsFor(this.#inputs);
    this.#checkRoom(output.length - offset, end - this.#outputs);
    let written = 0;
    this.#window.blankRest();
    while (end - this.#outputs >= 2 * this.#hop) {
      // Beyond the last input there is nothing: only what can go on in full is chosen.
      written += this.#emit(this.#inputs - 2 * this.#hop, this.#hop, output, offset + written);
      this.#window.blankRest();
    }
    written += this.#emitLast(end - this.#outputs, output, offset + written);
    this.reset();
    return written;
  }

  /** Forgets everything: the next input is the first one. */
  reset(): void {
    this.#window.reset();
    this.#inputs = 0;
    this.#outputs = 0;
    this.#block = 0;
    this.#natural = 0;
  }

  /** Input position of the next block by time alone. */
  #ideal(): number {
    return Math.round(this.#block * this.#hop * this.speed);
  }

  /**
   * Inputs at which every candidate and its successor are complete, with one hop of the exact length for the
   * end.
   */
  #inputsNeeded(): number {
    const heard = this.#ideal() + this.#seek + 2 * this.#hop;
    return Math.max(heard, Math.ceil((this.#block + 2) * this.#hop * this.speed) + 1);
  }

  /** Writes the last `count` outputs: from where the sound is, within a hop, to its last `count` inputs. */
  #emitLast(count: number, output: Float32Array, offset: number): number {
    const { samples, start } = this.#window;
    const from = this.#natural - start;
    const to = Math.max(start, this.#inputs - count) - start;
    const fade = Math.min(this.#hop, count);
    for (let i = 0; i < count; i++) {
      const last = samples[to + i] as number;
      if (i >= fade) output[offset + i] = last;
      else output[offset + i] = last + fall(i, fade) * ((samples[from + i] as number) - last);
    }
    return count;
  }

  /** Writes the next block, which begins at `latest` in the input at the latest. */
  #emit(latest: number, count: number, output: Float32Array, offset: number): number {
    const { samples, start } = this.#window;
    const best = this.#best(Math.max(latest, start));
    const from = this.#natural - start;
    const to = best - start;
    for (let i = 0; i < count; i++) {
      const natural = samples[from + i] as number;
      output[offset + i] = natural + (this.#rise[i] as number) * ((samples[to + i] as number) - natural);
    }
    this.#outputs += count;
    this.#block++;
    this.#natural = best + this.#hop;
    this.#window.forget(Math.min(this.#natural, this.#ideal() - this.#seek, this.#inputs - 2 * this.#hop));
    return count;
  }

  #best(latest: number): number {
    const ideal = this.#ideal();
    const last = Math.min(ideal + this.#seek, latest);
    const first = Math.min(Math.max(ideal - this.#seek, this.#window.start), last);
    if (this.#natural >= first && this.#natural <= last) return this.#natural;
    const stride = this.#stride;
    const rough = this.#search(first, last, stride);
    return this.#search(Math.max(first, rough - stride + 1), Math.min(last, rough + stride - 1), 1);
  }

  /** The place most like what would naturally follow, by normalised correlation, of every `stride`-th. */
  #search(first: number, last: number, stride: number): number {
    const { samples, start } = this.#window;
    const hop = this.#hop;
    const natural = this.#natural - start;
    let best = first;
    let highest = -Infinity;
    for (let place = first; place <= last; place += stride) {
      const found = likeness(samples, natural, place - start, hop, stride);
      if (found > highest) {
        highest = found;
        best = place;
      }
    }
    return best;
  }

  #copy(input: Float32Array, count: number, output: Float32Array, offset: number): number {
    for (let i = 0; i < count; i++) output[offset + i] = input[i] as number;
    this.#inputs += count;
    this.#outputs += count;
    return count;
  }

  #checkRoom(room: number, needed: number): void {
    if (room >= needed) return;
    throw new ParleyError('WRONG_STATE', `the output has room for ${room} samples and needs ${needed}`);
  }
}

/** Sample `i` of a fade out over `count`. */
function fall(i: number, count: number): number {
  return 0.5 + 0.5 * Math.cos((Math.PI * (i + 0.5)) / count);
}

/** Similarity of `count` samples at `b` to those at `a`, over every `stride`-th sample. */
function likeness(samples: Float32Array, a: number, b: number, count: number, stride: number): number {
  let product = 0;
  let energy = QUIET;
  for (let i = 0; i < count; i += stride) {
    const candidate = samples[b + i] as number;
    product += (samples[a + i] as number) * candidate;
    energy += candidate * candidate;
  }
  return product / Math.sqrt(energy);
}
