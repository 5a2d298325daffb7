// Loudness of samples. What would be louder than full scale is bent into it from
// a knee on, and not cut off: cut tops of waves are heard as a crackle.

const KNEE = 0.8;

/** Multiplies the first `count` samples in place. */
export function applyGain(samples: Float32Array, count: number, gain: number): void {
  if (gain === 1) return;
  for (let index = 0; index < count; index++) {
    const louder = (samples[index] ?? 0) * gain;
    samples[index] = gain > 1 ? bent(louder) : louder;
  }
}

function bent(sample: number): number {
  const size = Math.abs(sample);
  if (size <= KNEE) return sample;
  return Math.sign(sample) * (KNEE + (1 - KNEE) * Math.tanh((size - KNEE) / (1 - KNEE)));
}
