// Tells speech from other sound: the contract of models, and the energy detector that needs no file.
import { WINDOW_SAMPLES } from '../media/ears.js';
import { SILENCE_DB } from './ear-source.js';

/** The memory of a model for one call. */
export interface VoiceMemory {
  /** A pause: the sound that follows does not continue the sound before. */
  reset(): void;
  /** A window that the model does not see. */
  skip(samples: Float32Array): void;
}

/** Analyses the windows of many calls in one run. */
export interface VoiceModel<M extends VoiceMemory = VoiceMemory> {
  readonly name: 'silero' | 'energy';
  /** Windows of one run. */
  readonly mostWindows: number;
  newMemory(): M;
  /** Puts the next window of a call into the batch; copied. */
  add(memory: M, samples: Float32Array): void;
  /** Analyses the batch. Then `probability` answers, and the next `add` begins another batch. */
  run(): Promise<void>;
  /** Returns the probability of speech in the window that was added as number `index`, 0 to 1. */
  probability(index: number): number;
  close(): Promise<void>;
}

/**
 * A detector by level: speech is what is well above the noise, and does not change its sign as often as noise
 * does. It cannot tell speech from a cough or from music.
 */
export class EnergyModel implements VoiceModel<EnergyMemory> {
  readonly name = 'energy';
  readonly mostWindows = 4096;
  #probabilities: number[] = [];
  #isDone = false;

  newMemory(): EnergyMemory {
    return new EnergyMemory();
  }

  add(memory: EnergyMemory, samples: Float32Array): void {
    if (this.#isDone) this.#probabilities = [];
    this.#isDone = false;
    this.#probabilities.push(memory.probability(samples));
  }

  run(): Promise<void> {
    this.#isDone = true;
    return Promise.resolve();
  }

  probability(index: number): number {
    return this.#probabilities[index] ?? 0;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

const FLOOR_START_DB = -60;
const FLOOR_RISE_DB = 0.1; // in one window: 3 dB in a second
/** Above the noise floor: probability 0, and 1. */
const NOISE_DB = 6;
const SPEECH_DB = 18;
/** Sign changes in a sample: voiced speech is below, noise has about a half. */
const MOST_CROSSINGS = 0.35;

class EnergyMemory implements VoiceMemory {
  #floorDb = FLOOR_START_DB;

  reset(): void {
    // The noise floor belongs to the line, not to one sound.
  }

  skip(_samples: Float32Array): void {
    // The energy gate found it silent.
  }

  probability(samples: Float32Array): number {
    const db = levelOf(samples);
    this.#floorDb = db < this.#floorDb ? db : Math.min(db, this.#floorDb + FLOOR_RISE_DB);
    if (crossingsOf(samples) > MOST_CROSSINGS) return 0;
    return Math.min(1, Math.max(0, (db - this.#floorDb - NOISE_DB) / (SPEECH_DB - NOISE_DB)));
  }
}

/** dBFS of a window. */
function levelOf(samples: Float32Array): number {
  let energy = 0;
  for (const sample of samples) energy += sample * sample;
  return energy === 0 ? SILENCE_DB : Math.max(SILENCE_DB, 10 * Math.log10(energy / WINDOW_SAMPLES));
}

function crossingsOf(samples: Float32Array): number {
  let changes = 0;
  for (let n = 1; n < samples.length; n++) {
    if ((samples[n] as number) >= 0 !== (samples[n - 1] as number) >= 0) changes++;
  }
  return changes / samples.length;
}
