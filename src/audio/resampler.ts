// Sample rate conversion by a polyphase windowed-sinc filter, with state.
//
//   y[m] = sum over k of  h[phase + k L] x[q - k]      q = floor(m M / L) + T / 2, phase = (m M) mod L
//
// with L / M = outputRate / inputRate in lowest terms and T taps per phase. The filter's delay is
// compensated: output m is the sound at the time m / outputRate. So n inputs become exactly ceil(n L / M)
// outputs once flushed, and marks computed from counts are exact. Until the flush the last T / 2 inputs are
// held.
//
// Every output is summed in one order from the same inputs, however they were cut into chunks, so a streamed
// conversion equals the whole one bit for bit.
//
// The filters are designed once per pair of rates and shared:
//
//   h(t) = sinc(t / w) kaiser(t / (w T / 2)),   t in inputs, w = max(1, M / L)
//
// The cutoff is the lower of the two Nyquist frequencies. With 48 zero crossings and this window, sound below
// 85 % of it passes unchanged (telephone speech up to 3.4 kHz), and everything above 115 % is attenuated by
// 100 dB.
import { ParleyError } from '../errors.js';
import { SampleWindow } from './sample-buffers.js';

export class Resampler {
  readonly inputRate: number;
  readonly outputRate: number;
  readonly #filter: Polyphase;
  /** Inputs that one step takes: the room of `#window` beyond the filter's memory. */
  readonly #stepInputs: number;
  /** The last inputs, oldest first: at most T - 1 that the next output looks at, then the new ones. */
  readonly #window: SampleWindow;
  #inputs = 0;
  #outputs = 0;

  /**
   * @param maxChunk inputs that one `process` handles in a single pass; longer chunks are handled in several.
   */
  constructor(inputRate: number, outputRate: number, maxChunk = 1024) {
    this.inputRate = inputRate;
    this.outputRate = outputRate;
    this.#filter = polyphase(inputRate, outputRate);
    this.#stepInputs = maxChunk;
    // Equal rates need no filter, and so no window.
    this.#window = new SampleWindow(inputRate === outputRate ? 0 : maxChunk + this.#filter.taps);
    this.reset();
  }

  /** Inputs since the last reset. */
  get inputs(): number {
    return this.#inputs;
  }

  /** Outputs that `inputs` inputs give in all, from the last reset to a flush. */
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

  /**
   * Takes `count` inputs, writes the outputs that they complete to `output` from `offset` on, and returns
   * their number.
   */
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

  /** Writes the sound still held, up to ceil(inputs L / M) outputs in all. Afterwards a new stream begins. */
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
    if (up !== down) this.#window.reset(taps / 2 - 1); // inputs before the first one that output 0 reads
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

interface Polyphase {
  /** L and M: outputs per M inputs, in lowest terms. */
  readonly up: number;
  readonly down: number;
  /** T, a multiple of four; a phase sees T / 2 inputs on either side of its time. */
  readonly taps: number;
  /** [up, taps], each row in the order of the inputs it is multiplied with. */
  readonly coefficients: Float32Array;
  /** Phase 0 only copies its input (always so when the rate rises: the sinc is zero at every other input). */
  readonly plain: boolean;
}

const CROSSINGS = 48; // taps at the lower of the two rates
const KAISER_BETA = 10.06; // 100 dB (Kaiser: 0.1102 (A - 8.7))
const MAX_COEFFICIENTS = 1 << 18; // 1 MiB; usual pairs need a tenth
const MIN_RATE_HZ = 8000;
// Files come at any rate, speech leaves at few.
const MAX_RATE_HZ = { inputRate: 192_000, outputRate: 48_000 } as const;
const MAX_CACHED = 32; // pairs; a server meets a handful

const cache = new Map<string, Polyphase>();

/** The filter for a pair of rates: from 8 to 192 kHz, to 8 to 48 kHz. */
function polyphase(inputRate: number, outputRate: number): Polyphase {
  const key = `${inputRate}:${outputRate}`;
  let filter = cache.get(key);
  if (filter === undefined) {
    filter = design(inputRate, outputRate);
    if (cache.size < MAX_CACHED) cache.set(key, filter);
  }
  return filter;
}

function design(inputRate: number, outputRate: number): Polyphase {
  checkRate('inputRate', inputRate);
  checkRate('outputRate', outputRate);
  const divisor = greatestCommonDivisor(inputRate, outputRate);
  const up = outputRate / divisor;
  const down = inputRate / divisor;
  if (up === down) return { up, down, taps: 0, coefficients: new Float32Array(0), plain: true };
  const width = Math.max(1, down / up);
  const taps = 4 * Math.ceil((CROSSINGS * width) / 4);
  if (up * taps > MAX_COEFFICIENTS) {
    throw new ParleyError(
      'INVALID_FIELD',
      `no filter for ${inputRate} Hz to ${outputRate} Hz: the ratio is too odd`,
    );
  }
  const coefficients = new Float32Array(up * taps);
  for (let phase = 0; phase < up; phase++) {
    coefficients.set(row(phase / up, taps, width), phase * taps);
  }
  return { up, down, taps, coefficients, plain: width === 1 };
}

/** The taps for an output `fraction` of an input after the one at index T / 2 - 1. They sum to one. */
function row(fraction: number, taps: number, width: number): Float64Array {
  const half = taps / 2;
  const values = new Float64Array(taps);
  let sum = 0;
  for (let k = 0; k < taps; k++) {
    const time = k - (half - 1) - fraction;
    values[k] = sinc(time / width) * kaiser(time / half);
    sum += values[k] as number;
  }
  // Equal sums make a constant input a constant output, without a whine at the rate of the phases.
  for (let k = 0; k < taps; k++) values[k] = (values[k] as number) / sum;
  return values;
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}

function kaiser(x: number): number {
  return Math.abs(x) >= 1 ? 0 : bessel(KAISER_BETA * Math.sqrt(1 - x * x)) / bessel(KAISER_BETA);
}

/** Modified Bessel function of the first kind, order zero: sum of ((x / 2)^k / k!)^2. */
function bessel(x: number): number {
  let term = 1;
  let sum = 1;
  for (let k = 1; term > sum * 1e-17; k++) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}

function checkRate(field: keyof typeof MAX_RATE_HZ, rate: number): void {
  const most = MAX_RATE_HZ[field];
  if (Number.isInteger(rate) && rate >= MIN_RATE_HZ && rate <= most) return;
  throw new ParleyError(
    'INVALID_FIELD',
    `${field} must be whole and ${MIN_RATE_HZ} to ${most} Hz, not ${rate}`,
    {
      field,
    },
  );
}
