// Sounds of callers, 16 kHz mono: speech by flite, noises by a script, and what a line makes of them.
import { FliteProgram } from '../../src/engines/flite/flite-program.js';
import { SAMPLE_RATE } from '../../src/hearing/ear-source.js';
import { Fft } from '../../src/hearing/fft.js';

const flite = FliteProgram.load();

/** Spoken by a 16 kHz voice of flite, at a level of -21 dBFS. */
export async function speech(text: string, voice: 'slt' | 'awb' | 'rms' = 'slt'): Promise<Float32Array> {
  const { samples } = (await flite).speak(text, voice);
  return atLevel(
    Float32Array.from(samples, (sample) => sample / 32_768),
    -21,
  );
}

export function silence(ms: number): Float32Array {
  return new Float32Array(Math.round((ms * SAMPLE_RATE) / 1000));
}

/** One after the other. */
export function joined(...sounds: readonly Float32Array[]): Float32Array {
  const all = new Float32Array(sounds.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const sound of sounds) {
    all.set(sound, at);
    at += sound.length;
  }
  return all;
}

/** All at once; as long as the longest. */
export function mixed(...sounds: readonly Float32Array[]): Float32Array {
  const all = new Float32Array(Math.max(...sounds.map(({ length }) => length)));
  for (const sound of sounds) for (const [n, sample] of sound.entries()) all[n] = (all[n] ?? 0) + sample;
  return all;
}

export function repeated(sound: Float32Array, times: number): Float32Array {
  return joined(...Array.from({ length: times }, () => sound));
}

export function amplified(sound: Float32Array, db: number): Float32Array {
  return sound.map((sample) => sample * 10 ** (db / 20));
}

/** The sound later, and as long as before. */
export function delayed(sound: Float32Array, ms: number): Float32Array {
  return joined(silence(ms), sound).subarray(0, sound.length);
}

/** The sound slower by so many parts in a million, and as long as before: a clock that drifts. */
export function stretched(sound: Float32Array, ppm: number): Float32Array {
  return sound.map((_, n) => {
    const place = n / (1 + ppm / 1e6);
    const whole = Math.floor(place);
    const [before = 0, after = 0] = [sound[whole], sound[whole + 1]];
    return before + (place - whole) * (after - before);
  });
}

/** Filtered by a linear-phase response of 256 samples (a delay of 8 ms) with the gain of each frequency. */
export function filtered(sound: Float32Array, gainDb: (hz: number) => number): Float32Array {
  const fft = new Fft(256);
  const [real, imaginary] = [new Float64Array(fft.size), new Float64Array(fft.size)];
  for (let k = 0; k <= fft.size / 2; k++) {
    // Turned by half the length, so that the response lies around its middle.
    const gain = (k % 2 === 0 ? 1 : -1) * 10 ** (gainDb((k * SAMPLE_RATE) / fft.size) / 20);
    real[k] = gain;
    real[(fft.size - k) % fft.size] = gain;
  }
  fft.transform(imaginary, real); // swapped: the inverse
  const hann = (n: number) => Math.sin((Math.PI * n) / fft.size) ** 2;
  return convolved(
    sound,
    Float32Array.from(real, (sample, n) => (hann(n) * sample) / fft.size),
  );
}

/** Soft clipping by a loudspeaker that is driven too hard. */
export function overdriven(sound: Float32Array, drive: number): Float32Array {
  return sound.map((sample) => Math.tanh(drive * sample) / drive);
}

/** As G.711 (mu-law) transmits it. */
export function companded(sound: Float32Array): Float32Array {
  return sound.map((sample) => {
    const size = Math.log1p(255 * Math.min(1, Math.abs(sample))) / Math.log(256);
    const stepped = Math.round(size * 128) / 128;
    return Math.sign(sample) * ((256 ** stepped - 1) / 255);
  });
}

/** White noise from a seed, at a level. */
export function noise(ms: number, db: number, seed = 1): Float32Array {
  const next = random(seed);
  return atLevel(
    silence(ms).map(() => next() - 0.5),
    db,
  );
}

/** A cough: an explosive burst of low noise, then a shorter second one. 350 ms. */
export function cough(db: number, seed = 2): Float32Array {
  const burst = (ms: number, decayMs: number, n: number) =>
    shaped(lowPassed(noise(ms, -10, seed + n), 0.35), (t) => Math.min(1, t / 4) * Math.exp(-t / decayMs));
  return atLevel(joined(burst(180, 45, 0), silence(40), burst(130, 35, 1)), db);
}

/** A breath into the microphone: noise that swells and fades. 600 ms. */
export function breath(db: number, seed = 3): Float32Array {
  const ms = 600;
  return atLevel(
    shaped(lowPassed(noise(ms, -10, seed), 0.6), (t) => Math.sin((Math.PI * t) / ms) ** 2),
    db,
  );
}

/** Key presses: short clicks, each with a quieter one of its release, at uneven times. */
export function keyboard(ms: number, db: number, seed = 4): Float32Array {
  const next = random(seed);
  const all = silence(ms);
  for (let atMs = 30; atMs < ms - 120; atMs += 90 + 120 * next()) {
    for (const [offsetMs, gain] of [
      [0, 1],
      [60 + 20 * next(), 0.5],
    ] as const) {
      const click = shaped(noise(12, -10, Math.round(1e6 * next())), (t) => gain * Math.exp(-t / 2));
      const start = Math.round(((atMs + offsetMs) * SAMPLE_RATE) / 1000);
      for (const [n, sample] of click.entries()) all[start + n] = (all[start + n] ?? 0) + sample;
    }
  }
  return atLevel(all, db);
}

/**
 * Returns the sound as a microphone beside its loudspeaker hears it: half of the energy comes directly, half
 * from the room after 2 ms, as noise that falls by 60 dB in `decayMs`.
 */
export function inRoom(sound: Float32Array, decayMs: number, seed = 5): Float32Array {
  const tail = shaped(noise(decayMs * 1.2, -10, seed), (t) => (t < 2 ? 0 : Math.exp((-6.9 * t) / decayMs)));
  const energy = tail.reduce((sum, sample) => sum + sample * sample, 0);
  const response = tail.map((sample) => sample * Math.sqrt(0.5 / energy));
  response[0] = Math.sqrt(0.5);
  return convolved(sound, response);
}

/** Convolves by overlap-add, for responses of up to a second. */
function convolved(sound: Float32Array, response: Float32Array): Float32Array {
  const fft = new Fft(32_768);
  const [hr, hi] = [new Float64Array(fft.size), new Float64Array(fft.size)];
  hr.set(response);
  fft.transform(hr, hi);
  const all = new Float32Array(sound.length);
  const step = fft.size - response.length + 1;
  for (let at = 0; at < sound.length; at += step) {
    const [real, imaginary] = [new Float64Array(fft.size), new Float64Array(fft.size)];
    real.set(sound.subarray(at, at + step));
    fft.transform(real, imaginary);
    for (let k = 0; k < fft.size; k++) {
      const [a, b, c, d] = [real[k] ?? 0, imaginary[k] ?? 0, hr[k] ?? 0, hi[k] ?? 0];
      real[k] = a * c - b * d;
      imaginary[k] = a * d + b * c;
    }
    fft.transform(imaginary, real); // swapped: the inverse
    for (let n = 0; n < fft.size && at + n < all.length; n++) {
      all[at + n] = (all[at + n] ?? 0) + (real[n] ?? 0) / fft.size;
    }
  }
  return all;
}

/** The level of the loud part: of the 32 ms windows within 20 dB of the loudest. */
export function atLevel(sound: Float32Array, db: number): Float32Array {
  const powers: number[] = [];
  for (let at = 0; at < sound.length; at += 512) {
    const window = sound.subarray(at, at + 512);
    powers.push(window.reduce((sum, sample) => sum + sample * sample, 0) / window.length);
  }
  const loudest = powers.reduce((most, power) => Math.max(most, power), 0);
  const loud = powers.filter((power) => power > loudest / 100);
  const mean = loud.reduce((sum, power) => sum + power, 0) / loud.length;
  const gain = Math.sqrt(10 ** (db / 10) / mean);
  return sound.map((sample) => Math.max(-1, Math.min(1, gain * sample)));
}

function shaped(sound: Float32Array, envelope: (ms: number) => number): Float32Array {
  return sound.map((sample, n) => sample * envelope((1000 * n) / SAMPLE_RATE));
}

function lowPassed(sound: Float32Array, share: number): Float32Array {
  let last = 0;
  return sound.map((sample) => (last += share * (sample - last)));
}

/** Numbers from 0 to 1, the same for the same seed (xorshift). */
export function random(seed: number): () => number {
  let state = seed * 2_654_435_761 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
