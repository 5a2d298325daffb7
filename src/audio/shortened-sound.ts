// Shortens sound that has to catch up, piece by piece: silence first, then speech.
//
//   speech  100 ms of silence  silence   40 ms of silence  speech
//   kept    kept               left out  kept              kept
//
// Silence between words is left out but for its ends, because speech fades and begins softly. Sound in which
// there is not enough silence loses single periods of its voice: a period is overlapped with the next one
// that is like it. So no part of a word is lost, and the pitch stays.

/** A sample below this magnitude is silence: -50 dBFS. */
const LEAST_SOUND = 104;
const BLOCK_MS = 20;
/** Silence that is kept after sound, and before sound. */
const TAIL_MS = 100;
const LEAD_IN_MS = 40;
/** Blocks of sound that are taken whole, in the hope of a silence. */
const PATIENT_BLOCKS = 50;
const SHORTEST_PERIOD_MS = 2.5; // 400 Hz
/** The likeness that two periods must have is less by a step for each block in which none was found. */
const MOST_LIKENESS = 0.9;
const LIKENESS_STEP = 0.05;
/** A longer period is preferred to a shorter one that is more alike by no more than this. */
const SAME_LIKENESS = 0.02;

/** True if nobody can hear any of these samples of 16 bits. */
export function isSilence(samples: Int16Array): boolean {
  return samples.every((sample) => sample < LEAST_SOUND && sample > -LEAST_SOUND);
}

export class ShortenedSound {
  readonly #perMs: number;
  readonly #blockLength: number;
  readonly #shortestPeriod: number;
  /** Milliseconds of silence until now. */
  #silentMs = 0;
  /** Silence that is left out unless sound follows. */
  #leadIn: Int16Array[] = [];
  /** Blocks of sound since it has to catch up, and since a period was left out. */
  #soundBlocks = 0;
  #wholeBlocks = 0;

  /** `rate` is in Hz. */
  constructor(rate: number) {
    this.#perMs = rate / 1000;
    this.#blockLength = Math.round(BLOCK_MS * this.#perMs);
    this.#shortestPeriod = Math.round(SHORTEST_PERIOD_MS * this.#perMs);
  }

  /** The samples, without up to `mostMs` of them. Silence at their end may come with the next ones. */
  take(samples: Int16Array, mostMs: number): Int16Array {
    let leftMs = mostMs;
    if (leftMs <= 0 && this.#leadIn.length === 0) {
      this.#restart();
      return samples;
    }
    const kept: Int16Array[] = [];
    for (let at = 0; at < samples.length; at += this.#blockLength) {
      const block = samples.subarray(at, at + this.#blockLength);
      leftMs -= this.#takeBlock(block, leftMs, kept) / this.#perMs;
    }
    if (leftMs <= 0) {
      kept.push(...this.#leadIn.splice(0));
      this.#restart();
    }
    return joined(kept);
  }

  /** Forgets the silence that it has kept back. */
  drop(): void {
    this.#leadIn = [];
    this.#restart();
  }

  #restart(): void {
    this.#silentMs = this.#soundBlocks = this.#wholeBlocks = 0;
  }

  /** Returns the number of samples that were left out. */
  #takeBlock(block: Int16Array, leftMs: number, kept: Int16Array[]): number {
    if (!isSilence(block)) return this.#takeSound(block, leftMs, kept);
    const ms = block.length / this.#perMs;
    this.#silentMs += ms;
    if (this.#silentMs <= TAIL_MS || leftMs < ms) {
      kept.push(...this.#leadIn.splice(0), block);
      return 0;
    }
    this.#leadIn.push(block);
    return this.#trimLeadIn();
  }

  /** Returns the number of samples that were left out. */
  #trimLeadIn(): number {
    let length = this.#leadIn.reduce((sum, block) => sum + block.length, 0);
    const before = length;
    while (length > LEAD_IN_MS * this.#perMs) length -= this.#leadIn.shift()?.length ?? length;
    return before - length;
  }

  #takeSound(block: Int16Array, leftMs: number, kept: Int16Array[]): number {
    this.#silentMs = 0;
    kept.push(...this.#leadIn.splice(0));
    const isWhole = leftMs <= 0 || ++this.#soundBlocks <= PATIENT_BLOCKS || this.#wholeBlocks++ === 0;
    const least = MOST_LIKENESS - LIKENESS_STEP * this.#wholeBlocks;
    const period = isWhole ? 0 : this.#periodIn(block, least);
    if (period > 0) this.#wholeBlocks = 0;
    kept.push(period > 0 ? withoutPeriod(block, period) : block);
    return period;
  }

  /** Length of the first period that is like the next one; 0 if no two are as alike as `least`. */
  #periodIn(block: Int16Array, least: number): number {
    let [best, highest] = [0, least];
    for (let period = this.#shortestPeriod; 2 * period <= block.length; period++) {
      const found = likeness(block, period);
      if (found >= highest - (best > 0 ? SAME_LIKENESS : 0)) {
        best = period;
        highest = Math.max(highest, found);
      }
    }
    return best;
  }
}

/** Similarity of the first `period` samples to the next ones, from -1 to 1. */
function likeness(block: Int16Array, period: number): number {
  let [product, first, second] = [0, 1, 1]; // samples of zeros are alike
  for (let n = 0; n < period; n++) {
    const [one, next] = [block[n] as number, block[n + period] as number];
    product += one * next;
    first += one * one;
    second += next * next;
  }
  return product / Math.sqrt(first * second);
}

/** Fades from the first period to the second one. */
function withoutPeriod(block: Int16Array, period: number): Int16Array {
  const shorter = block.slice(period);
  for (let n = 0; n < period; n++) {
    const share = (n + 0.5) / period;
    shorter[n] = Math.round((1 - share) * (block[n] as number) + share * (block[n + period] as number));
  }
  return shorter;
}

function joined(parts: readonly Int16Array[]): Int16Array {
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only;
  const whole = new Int16Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
