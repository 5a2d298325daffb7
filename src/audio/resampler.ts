// Sample rate conversion by a polyphase windowed-sinc filter, with state.
//
//   y[m] = sum over k of  h[phase + k L] x[q - k]      q = floor(m M / L) + T / 2, phase = (m M) mod L
//
// with L / M = outputRate / inputRate in lowest terms and T taps a phase. The
// filter's delay is compensated: output m is the sound of the time m / outputRate,
// so n inputs become exactly ceil(n L / M) outputs once flushed, and marks
// computed from counts are right. Until then the last T / 2 inputs are held.
//
// Every output is summed in one order from the same inputs, however they were
// cut into chunks, so a streamed conversion equals the whole one bit for bit.
import { ParleyError } from '../errors.js';
import { polyphase, type Polyphase } from './polyphase.js';
import { SampleWindow } from './sample-window.js';

export class Resampler {
  readonly inputRate: number;
  readonly outputRate: number;
  readonly #filter: Polyphase;
  /** Inputs taken by one step: what `#window` holds beyond the filter's memory. */
  readonly #stepInputs: number;
  /** The last inputs, oldest first: at most T - 1 that the next output looks at, then the new ones. */
  readonly #window: SampleWindow;
  #inputs = 0;
  #outputs = 0;

  /** @param maxChunk inputs that one `process` handles in a single pass; longer chunks are handled in several. */
  constructor(inputRate: number, outputRate: number, maxChunk = 1024) {
    this.inputRate = inputRate;
    this.outputRate = outputRate;
    this.#filter = polyphase(inputRate, outputRate);
    this.#stepInputs = maxChunk;
    this.#window = new SampleWindow(maxChunk + this.#filter.taps);
    this.reset();
  }

  /** Inputs since the last reset. */
  get inputs(): number {
    return this.#inputs;
  }

  /** Outputs that `inputs` inputs come to in all, from the last reset to a flush. */
  outputsFor(inputs: number): number {
    return Math.ceil((inputs * this.#filter.up) / this.#filter.down);
  }

  /** Room that the output of `process` needs, in samples, for any state. */
  maxOutput(inputs: number): number {
    return this.outputsFor(inputs) + 1;
  }

  /** Room that the output of `flush` needs. */
  get maxFlush(): number {
    return this.maxOutput(this.#filter.taps / 2);
  }

  /** Takes `count` inputs and writes what they complete to `output` from `offset` on; returns how many that were. */
  process(input: Float32Array, count: number, output: Float32Array, offset = 0): number {
    this.#checkRoom(output.length - offset, this.maxOutput(count));
    if (this.#filter.up === this.#filter.down) return this.#copy(input, count, output, offset);
    let written = 0;
    for (let at = 0; at < count; at += this.#stepInputs) {
      const step = Math.min(this.#stepInputs, count - at);
      this.#window.append(input, at, step);
      this.#inputs += step;
      written += this.#filterAll(output, offset + written, this.#outputsReady());
    }
    return written;
  }

  /** The sound still held, up to ceil(inputs L / M) outputs in all. Afterwards the stream starts anew. */
  flush(output: Float32Array, offset = 0): number {
    this.#checkRoom(output.length - offset, this.maxFlush);
    const held = this.outputsFor(this.#inputs) - this.#outputs;
    let written = 0;
    while (written < held) {
      this.#window.appendZeros(Math.min(this.#stepInputs, this.#filter.taps));
      const until = Math.min(this.#outputsReady(), this.#outputs + held - written);
      written += this.#filterAll(output, offset + written, until);
    }
    this.reset();
    return written;
  }

  /** Forgets everything: the next input is the first one. */
  reset(): void {
    const { taps, up, down } = this.#filter;
    this.#inputs = 0;
    this.#outputs = 0;
    if (up !== down) this.#window.reset(taps / 2 - 1); // what output 0 looks at before the first input
  }

  /** Outputs whose inputs are all there: floor(m M / L) + T / 2 < inputs. */
  #outputsReady(): number {
    return Math.max(this.#outputs, this.outputsFor(this.#window.end - this.#filter.taps / 2));
  }

  #filterAll(output: Float32Array, offset: number, until: number): number {
    const { taps, up, down, coefficients, plain } = this.#filter;
    const { samples: window, start: windowStart } = this.#window;
    const first = this.#outputs;
    const half = taps / 2;
    // Position of output m in units of 1 / (L inputRate): whole inputs and phase, stepped without dividing.
    let whole = Math.floor((first * down) / up);
    let phase = first * down - whole * up;
    const wholeStep = Math.floor(down / up);
    const phaseStep = down - wholeStep * up;
    for (let m = first; m < until; m++) {
      const start = whole + half - taps + 1 - windowStart;
      output[offset++] =
        phase === 0 && plain
          ? (window[start + half - 1] as number)
          : dot(window, start, coefficients, phase * taps, taps);
      whole += wholeStep;
      phase += phaseStep;
      if (phase >= up) {
        phase -= up;
        whole++;
      }
    }
    this.#outputs = until;
    this.#window.forget(whole + half - taps + 1); // no later output looks at what is before
    return until - first;
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

/** Four sums, because one addition after the other would wait for the processor's adder. */
function dot(
  window: Float32Array,
  start: number,
  coefficients: Float32Array,
  at: number,
  taps: number,
): number {
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  for (let k = 0; k < taps; k += 4) {
    a += (window[start + k] as number) * (coefficients[at + k] as number);
    b += (window[start + k + 1] as number) * (coefficients[at + k + 1] as number);
    c += (window[start + k + 2] as number) * (coefficients[at + k + 2] as number);
    d += (window[start + k + 3] as number) * (coefficients[at + k + 3] as number);
  }
  return a + b + (c + d);
}
