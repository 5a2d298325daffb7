// Decodes one sound file into mono, within the limits of its use: at REFERENCE_RATE, or for the library at
// the rate of the file. Decoding stops as soon as the sound is too long.
import { Resampler } from '../audio/resampler.js';
import { SampleQueue } from '../audio/sample-buffers.js';
import { mixDown, soundFileReader, type SoundFileReader } from '../codecs/sound-file.js';
import { DECODED_KINDS, endOfTag, findSound, isDecoded, nameOfKind } from '../codecs/sound-kind.js';
import { asParleyError, ParleyError } from '../errors.js';
import { REFERENCE_RATE, type SoundUse } from './reference-audio.js';

/** Returns mono at REFERENCE_RATE. Rejects with AUDIO_INVALID. */
export async function decodeReference(
  bytes: Uint8Array,
  use: Exclude<SoundUse, 'library'> = 'voice',
): Promise<Float32Array<ArrayBuffer>> {
  return (await decodeSound(bytes, use)).samples;
}

/** Returns mono. Rejects with AUDIO_INVALID. */
export async function decodeSound(
  bytes: Uint8Array,
  use: SoundUse,
): Promise<{ readonly samples: Float32Array<ArrayBuffer>; readonly sampleRate: number }> {
  const behindTag = bytes.subarray(endOfTag(bytes));
  const found = findSound(behindTag);
  if (found === undefined)
    throw invalid(`the file is no audio that is known here; ${DECODED_KINDS} are taken`);
  const { kind, start } = found;
  if (!isDecoded(kind))
    throw invalid(`the audio is not usable: it is ${nameOfKind(kind)}; ${DECODED_KINDS} are taken`);
  const sound = new ReferenceSound(use);
  await readAll(
    soundFileReader(kind, (channels, rate) => sound.add(channels, rate)),
    behindTag.subarray(start),
  );
  return { samples: sound.finish(), sampleRate: sound.rate };
}

const WRITE_BYTES = 65_536;

/** Frees the reader. Rejects as it does. */
export async function readAll(reader: SoundFileReader, bytes: Uint8Array): Promise<void> {
  try {
    for (let at = 0; at < bytes.length; at += WRITE_BYTES) {
      await reader.write(bytes.subarray(at, at + WRITE_BYTES));
    }
    await reader.end();
  } finally {
    reader.free();
  }
}

function invalid(message: string, cause?: unknown): ParleyError {
  return new ParleyError('AUDIO_INVALID', message, { cause });
}

interface UseRules {
  readonly minSeconds: number;
  readonly maxSeconds: number;
  /** Frames that are louder than silence. */
  readonly minHeard: number;
  /** Beginning of the error message. */
  readonly refusal: string;
}

/** Limits by use: half a second of sound above silence is the least for a voice. */
const RULES: Readonly<Record<SoundUse, UseRules>> = {
  voice: { minSeconds: 1, maxSeconds: 60, minHeard: 25, refusal: 'no voice can be made of this audio' },
  play: { minSeconds: 0.02, maxSeconds: 300, minHeard: 0, refusal: 'this audio cannot be played' },
  library: { minSeconds: 0.02, maxSeconds: 600, minHeard: 0, refusal: 'this sound cannot be used' },
};

const SILENCE = 10 ** (-50 / 20); // below it is the noise of an open input
const FRAME = REFERENCE_RATE / 50; // 20 ms

/** Hz: sounds of the library keep these, so that the end of a sound joins its beginning. */
const KEPT_RATES: readonly number[] = [8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000];

/** Collects decoded samples as mono, within the limits of their use. */
export class ReferenceSound {
  readonly #rules: UseRules;
  readonly #keepsRate: boolean;
  /** It grows with the sound: most sounds are far shorter than the longest. */
  readonly #samples: SampleQueue;
  /** Hz of the file; undefined before its first samples. */
  #fileRate: number | undefined;
  #resampler: Resampler | undefined;

  constructor(use: SoundUse = 'voice') {
    this.#rules = RULES[use];
    this.#keepsRate = use === 'library';
    const most = this.#keepsRate ? Math.max(...KEPT_RATES) : REFERENCE_RATE;
    this.#samples = new SampleQueue(most * this.#rules.maxSeconds);
  }

  /** Hz of the collected samples. */
  get rate(): number {
    const rate = this.#fileRate;
    return this.#keepsRate && rate !== undefined && KEPT_RATES.includes(rate) ? rate : REFERENCE_RATE;
  }

  /** Adds samples; every channel has as many as the first. Throws AUDIO_INVALID. */
  add(channels: readonly Float32Array[], rate: number): void {
    this.#withRefusal(() => this.#add(channels, rate));
  }

  /** The whole sound. Throws AUDIO_INVALID if it does not suit its use. */
  finish(): Float32Array<ArrayBuffer> {
    return this.#withRefusal(() => this.#finish());
  }

  #add(channels: readonly Float32Array[], rate: number): void {
    const count = channels[0]?.length ?? 0;
    if (count === 0) return;
    this.#fileRate ??= rate;
    if (this.#fileRate !== rate) throw invalid('its sample rate changes on the way');
    const mono = mixed(channels, count);
    if (this.#keepsRate && this.rate === rate) return this.#keep(mono);
    const resampler = (this.#resampler ??= resamplerFrom(rate));
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
    const count = this.#samples.length;
    const seconds = count / this.rate;
    if (seconds < minSeconds) {
      throw invalid(`it lasts ${seconds.toFixed(2)} s; ${minSeconds} to ${maxSeconds} s are taken`);
    }
    const samples = new Float32Array(count);
    this.#samples.read(samples, count);
    const scaled = withinFullScale(samples);
    if (minHeard > 0 && framesHeard(scaled) < minHeard) {
      const heard = (minHeard * FRAME) / REFERENCE_RATE;
      throw invalid(`it is silent, or all but; ${heard} s of sound are needed at least`);
    }
    return scaled;
  }

  #keep(output: Float32Array): void {
    const { minSeconds, maxSeconds } = this.#rules;
    if (this.#samples.length + output.length > maxSeconds * this.rate) {
      throw invalid(`it is longer than ${maxSeconds} s; ${minSeconds} to ${maxSeconds} s are taken`);
    }
    this.#samples.write(output, output.length);
  }

  /** Prefixes errors with the use of the sound. */
  #withRefusal<T>(work: () => T): T {
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

/**
 * Scales samples into [-1, 1]: float files have any scale, and the resampler overshoots slightly at peaks.
 */
function withinFullScale(samples: Float32Array<ArrayBuffer>): Float32Array<ArrayBuffer> {
  const peak = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
  if (peak <= 1) return samples;
  if (!Number.isFinite(peak)) throw invalid('some of its samples are too large');
  // Rounding to 32 bits may leave the peak slightly above 1.
  return samples.map((sample) => Math.max(-1, Math.min(1, sample / peak)));
}

/** Number of frames louder than silence, without their DC offset. */
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
  const mono = mixDown(channels, new Float32Array(count));
  if (!mono.every((sample) => Number.isFinite(sample))) throw invalid('some of its samples are no numbers');
  return mono;
}
