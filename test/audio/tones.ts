// Test signals, and the figures by which a conversion is judged.

export function tone(hz: number, rate: number, samples: number, amplitude = 0.5, phase = 0): Float32Array {
  const step = (2 * Math.PI * hz) / rate;
  return Float32Array.from({ length: samples }, (_, n) => amplitude * Math.sin(step * n + phase));
}

/** Deterministic noise in [-amplitude, amplitude) (xorshift32). */
export function noise(samples: number, amplitude = 0.5, seed = 1): Float32Array {
  let state = seed | 0 || 1;
  return Float32Array.from({ length: samples }, () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (amplitude * state) / 2 ** 31;
  });
}

/** Something like speech: a buzz whose level and pitch move, pauses between words, and breath. */
export function voiceLike(rate: number, seconds: number): Float32Array {
  const samples = Math.round(rate * seconds);
  const breath = noise(samples, 0.01);
  const harmonics = Math.min(25, Math.floor(rate / 2 / 160));
  let phase = 0;
  return Float32Array.from({ length: samples }, (_, n) => {
    const time = n / rate;
    phase += (2 * Math.PI * (125 + 30 * Math.sin(5 * time))) / rate;
    let sum = 0;
    for (let k = 1; k <= harmonics; k++) sum += Math.sin(k * phase) / k;
    const level = Math.max(0, Math.sin(9 * time) * 0.8 + 0.2);
    return 0.2 * sum * level + (breath[n] as number) * (0.2 + level);
  });
}

export function decibels(ratio: number): number {
  return 20 * Math.log10(ratio);
}

export function rms(samples: Float32Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return Math.sqrt(sum / samples.length);
}

/**
 * The least-squares sine of frequency `hz` in `samples`: its amplitude, its phase, and the level of all the
 * rest relative to it in dB. Solved with the exact two-by-two normal equations, so any length will do.
 */
export function fitTone(samples: Float32Array, hz: number, rate: number, firstSample = 0) {
  const step = (2 * Math.PI * hz) / rate;
  let ss = 0;
  let cc = 0;
  let sc = 0;
  let sy = 0;
  let cy = 0;
  samples.forEach((y, n) => {
    const s = Math.sin(step * (n + firstSample));
    const c = Math.cos(step * (n + firstSample));
    ss += s * s;
    cc += c * c;
    sc += s * c;
    sy += s * y;
    cy += c * y;
  });
  const determinant = ss * cc - sc * sc;
  const a = (sy * cc - cy * sc) / determinant;
  const b = (cy * ss - sy * sc) / determinant;
  let rest = 0;
  samples.forEach((y, n) => {
    const error = y - a * Math.sin(step * (n + firstSample)) - b * Math.cos(step * (n + firstSample));
    rest += error * error;
  });
  const amplitude = Math.hypot(a, b);
  const snrDb = -decibels(Math.sqrt(rest / samples.length) / (amplitude / Math.SQRT2));
  return { amplitude, phase: Math.atan2(b, a), snrDb };
}
