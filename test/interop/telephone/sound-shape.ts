// Whether two recordings hold the same speech: by loudness over time, which a
// codec, a resampler and a jitter buffer leave as it is.

const QUIET = 0.01; // share of full scale: below all speech, above the noise of G.711
const WINDOW_MS = 20;

/** Root mean square of each window. */
export function loudness(samples: Float32Array, rate: number, windowMs = 100): number[] {
  const window = Math.round((rate * windowMs) / 1000);
  return Array.from({ length: Math.floor(samples.length / window) }, (_, n) => {
    const part = samples.subarray(n * window, (n + 1) * window);
    return Math.sqrt(part.reduce((sum, sample) => sum + sample * sample, 0) / window);
  });
}

/** The samples without the silence at both ends. */
export function voiced(samples: Float32Array, rate: number): Float32Array {
  const window = Math.round((rate * WINDOW_MS) / 1000);
  const loud = loudness(samples, rate, WINDOW_MS).map((level) => level > QUIET);
  const [first, last] = [loud.indexOf(true), loud.lastIndexOf(true)];
  return first < 0 ? new Float32Array() : samples.subarray(first * window, (last + 1) * window);
}

export interface Sound {
  readonly samples: Float32Array;
  /** Hz. */
  readonly rate: number;
}

interface Likeness {
  /** Correlation of loudness at the best alignment, -1 to 1. */
  readonly correlation: number;
  /** Length of what sounds, of the first less that of the second. */
  readonly longerMs: number;
  /** Loudness of the first as a share of that of the second. */
  readonly gain: number;
}

/** Compares the speech in two recordings, without the silence around it. */
export function likeness(first: Sound, second: Sound): Likeness {
  const [one, other] = [first, second].map(({ samples, rate }) => {
    const speech = voiced(samples, rate);
    return { levels: loudness(speech, rate, WINDOW_MS), ms: (1000 * speech.length) / rate };
  });
  if (one === undefined || other === undefined) throw new Error('two recordings are compared');
  const correlation = best(one.levels, other.levels);
  return { correlation, longerMs: one.ms - other.ms, gain: mean(one.levels) / mean(other.levels) };
}

/** At the best alignment within 200 ms. */
function best(one: readonly number[], other: readonly number[]): number {
  let correlation = -1;
  for (let shift = -10; shift <= 10; shift++) {
    const length = Math.max(one.length, other.length);
    const pairs = Array.from({ length }, (_, n) => [one[n] ?? 0, other[n + shift] ?? 0] as const);
    correlation = Math.max(correlation, correlationOf(pairs));
  }
  return correlation;
}

/** The same of as much of a text as was heard of it, from its beginning. */
export function likenessSoFar(heard: Sound, text: Sound): Likeness {
  const speech = voiced(heard.samples, heard.rate);
  const length = Math.round((speech.length * text.rate) / heard.rate);
  const begun = { samples: voiced(text.samples, text.rate).subarray(0, length), rate: text.rate };
  return likeness({ samples: speech, rate: heard.rate }, begun);
}

/**
 * Whether the parts, one after the other, are the beginning of a text: correlation of loudness, with the quiet taken
 * out of both, so that pauses between the parts count for nothing.
 */
export function partsLikeness(parts: readonly Sound[], text: Sound): number {
  const loud = ({ samples, rate }: Sound): number[] =>
    loudness(samples, rate, WINDOW_MS).filter((level) => level > QUIET);
  const heard = parts.flatMap(loud);
  return best(heard, loud(text).slice(0, heard.length));
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function correlationOf(pairs: readonly (readonly [number, number])[]): number {
  const [meanX, meanY] = [mean(pairs.map(([x]) => x)), mean(pairs.map(([, y]) => y))];
  let [both, squareX, squareY] = [0, 0, 0];
  for (const [x, y] of pairs) {
    both += (x - meanX) * (y - meanY);
    squareX += (x - meanX) ** 2;
    squareY += (y - meanY) ** 2;
  }
  return squareX === 0 || squareY === 0 ? 0 : both / Math.sqrt(squareX * squareY);
}
