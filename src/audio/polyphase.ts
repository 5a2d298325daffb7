// The filters of the resampler: designed once per pair of rates and shared.
//
//   h(t) = sinc(t / w) kaiser(t / (w T / 2)),   t in inputs, w = max(1, M / L)
//
// The cut is at the lower of the two Nyquist frequencies. With 48 zero
// crossings and this window the sound below 85 % of it passes unchanged
// (telephone speech up to 3.4 kHz), and everything above 115 % is 100 dB down.
import { ParleyError } from '../errors.js';

export interface Polyphase {
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
const MAX_COEFFICIENTS = 1 << 18; // 1 MiB; usual pairs need 1/10 of it
const MIN_RATE_HZ = 8000;
const MAX_RATE_HZ = { inputRate: 192_000, outputRate: 48_000 } as const; // files come at any rate, speech leaves at few
const MAX_CACHED = 32; // pairs; a server meets a handful

const cache = new Map<string, Polyphase>();

/** The filter for a pair of rates: from 8 to 192 kHz, to 8 to 48 kHz. */
export function polyphase(inputRate: number, outputRate: number): Polyphase {
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
