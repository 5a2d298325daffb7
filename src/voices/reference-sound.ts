// What becomes of a file while it is decoded: one channel, one rate, and no
// more of it than it is wanted for: to make a voice of, or to be played.
import { Resampler } from '../audio/resampler.js';
import { asParleyError, ParleyError } from '../errors.js';

/** Hz; what the models that take samples take. */
export const REFERENCE_RATE = 24_000;

/** What a sound is decoded for. */
export type SoundUse = 'voice' | 'play';

interface UseRules {
  readonly minSeconds: number;
  readonly maxSeconds: number;
  /** Frames that are louder than silence. */
  readonly minHeard: number;
  /** Begins what is said of a sound that is refused. */
  readonly refusal: string;
}

/** Of less than half a second no voice can be made. */
const RULES: Readonly<Record<SoundUse, UseRules>> = {
  voice: { minSeconds: 1, maxSeconds: 60, minHeard: 25, refusal: 'no voice can be made of this audio' },
  play: { minSeconds: 0.02, maxSeconds: 300, minHeard: 0, refusal: 'this audio cannot be played' },
};

const SILENCE = 10 ** (-50 / 20); // below it is the noise of an open input
const FRAME = REFERENCE_RATE / 50; // 20 ms

export class ReferenceSound {
  readonly #rules: UseRules;
  readonly #samples: Float32Array;
  #filled = 0;
  #resampler: Resampler | undefined;

  constructor(use: SoundUse = 'voice') {
    this.#rules = RULES[use];
    this.#samples = new Float32Array(REFERENCE_RATE * this.#rules.maxSeconds);
  }

  /** More of it, as many samples of every channel as the first has. Throws AUDIO_INVALID. */
  add(channels: readonly Float32Array[], rate: number): void {
    this.#judged(() => this.#add(channels, rate));
  }

  /** All of it. Throws AUDIO_INVALID where it is not fit for its use. */
  finish(): Float32Array<ArrayBuffer> {
    return this.#judged(() => this.#finish());
  }

  #add(channels: readonly Float32Array[], rate: number): void {
    const count = channels[0]?.length ?? 0;
    if (count === 0) return;
    const resampler = this.#resamplerFor(rate);
    const mono = mixed(channels, count);
    const output = new Float32Array(resampler.maxOutput(count));
    this.#keep(output.subarray(0, resampler.process(mono, count, output)));
  }

  #finish(): Float32Array<ArrayBuffer> {
    const { minSeconds, maxSeconds, minHeard } = this.#rules;
    const resampler = this.#resampler;
    if (resampler !== undefined) {
      const rest = new Float32Array(resampler.maxFlush);
      this.#keep(rest.subarray(0, resampler.flush(rest)));
    }
    const seconds = this.#filled / REFERENCE_RATE;
    if (seconds < minSeconds) {
      throw invalid(`it lasts ${seconds.toFixed(2)} s; ${minSeconds} to ${maxSeconds} s are taken`);
    }
    const samples = withinFullScale(this.#samples.slice(0, this.#filled));
    if (minHeard > 0 && framesHeard(samples) < minHeard) {
      const heard = (minHeard * FRAME) / REFERENCE_RATE;
      throw invalid(`it is silent, or all but; ${heard} s of sound are needed at least`);
    }
    return samples;
  }

  #resamplerFor(rate: number): Resampler {
    this.#resampler ??= resamplerFrom(rate);
    if (this.#resampler.inputRate !== rate) throw invalid('its sample rate changes on the way');
    return this.#resampler;
  }

  #keep(output: Float32Array): void {
    if (this.#filled + output.length > this.#samples.length) {
      const { minSeconds, maxSeconds } = this.#rules;
      throw invalid(`it is longer than ${maxSeconds} s; ${minSeconds} to ${maxSeconds} s are taken`);
    }
    this.#samples.set(output, this.#filled);
    this.#filled += output.length;
  }

  /** What is wrong with it is said together with what it was wanted for. */
  #judged<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      const { code, message } = asParleyError(error, 'AUDIO_INVALID');
      throw new ParleyError(code, `${this.#rules.refusal}: ${message}`, { cause: error });
    }
  }
}

function resamplerFrom(rate: number): Resampler {
  try {
    return new Resampler(rate, REFERENCE_RATE);
  } catch (error) {
    throw invalid(
      `its sample rate of ${rate} Hz is not read: ${asParleyError(error, 'AUDIO_INVALID').message}`,
    );
  }
}

/** Files of floats may be of any scale, and the filter overshoots a little where the sound is at its loudest. */
function withinFullScale(samples: Float32Array<ArrayBuffer>): Float32Array<ArrayBuffer> {
  const peak = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
  if (peak <= 1) return samples;
  if (!Number.isFinite(peak)) throw invalid('some of its samples are too large');
  // Rounded to 32 bits the loudest may come out a little above.
  return samples.map((sample) => Math.max(-1, Math.min(1, sample / peak)));
}

/** Frames that are louder than silence, whatever constant voltage lies under them. */
function framesHeard(samples: Float32Array): number {
  let heard = 0;
  for (let at = 0; at + FRAME <= samples.length; at += FRAME) {
    const frame = samples.subarray(at, at + FRAME);
    const mean = frame.reduce((sum, sample) => sum + sample, 0) / FRAME;
    const power = frame.reduce((sum, sample) => sum + (sample - mean) ** 2, 0) / FRAME;
    if (Math.sqrt(power) > SILENCE) heard++;
  }
  return heard;
}

function mixed(channels: readonly Float32Array[], count: number): Float32Array {
  const mono = new Float32Array(count);
  for (const channel of channels) {
    for (let i = 0; i < count; i++) mono[i] = (mono[i] as number) + (channel[i] ?? 0) / channels.length;
  }
  if (!mono.every((sample) => Number.isFinite(sample))) throw invalid('some of its samples are no numbers');
  return mono;
}

function invalid(what: string): ParleyError {
  return new ParleyError('AUDIO_INVALID', what);
}
