// G.722 at 64 kbit/s: 16 kHz sound, one byte for two samples.
//
//   16 kHz ─▶ QMF ─┬─ low band ─▶ ADPCM, 6 bits ─┐
//                  └─ high band ▶ ADPCM, 2 bits ─┴─▶ high << 6 | low
//
// The decoder goes the same way in reverse. Names are those of the blocks of ITU-T G.722 (sections 3, 4 and
// 6.2). All arithmetic is its 16-bit fixed point, so the encoder's bytes equal those of every other encoder.
/** Halves of the 24 coefficients, which are symmetric (table 11). */
const QMF = [3, -11, 12, 32, -210, 951, 3876, -805, 362, -156, 53, -11];
const QMF_TAPS = 24;
const QMF_SHIFT = 14; // the filter's gain of 4096, the sum of two halves, and 15 bits of input

// Low band: decision levels, codes by sign, and the adaptation's values for each code (tables 14 to 20).
const Q6 = [
  0, 35, 72, 110, 150, 190, 233, 276, 323, 370, 422, 473, 530, 587, 650, 714, 786, 858, 940, 1023, 1121, 1219,
  1339, 1458, 1612, 1765, 1980, 2195, 2557, 2919,
];
const CODES_NEGATIVE = [0, 63, 62, ...countdown(31, 4)];
const CODES_POSITIVE = [0, ...countdown(61, 32)];
const QM4 = [
  0, -20456, -12896, -8968, -6288, -4240, -2584, -1200, 20456, 12896, 8968, 6288, 4240, 2584, 1200, 0,
];
const RL42 = [0, 7, 6, 5, 4, 3, 2, 1, 7, 6, 5, 4, 3, 2, 1, 0];
const WL = [-60, -30, 58, 172, 334, 538, 1198, 3042];
const LOW_MOST_NB = 18_432;

// High band.
const HIGH_DECISION = 564;
const QM2 = [-7408, -1616, 7408, 1616];
const RH2 = [2, 1, 2, 1];
const WH = [0, -214, 798];
const HIGH_MOST_NB = 22_528;

/** Powers of two between 2048 and 4096, 32 to the octave (table 17). */
const ILB = [
  2048, 2093, 2139, 2186, 2233, 2282, 2332, 2383, 2435, 2489, 2543, 2599, 2656, 2714, 2774, 2834, 2896, 2960,
  3025, 3091, 3158, 3228, 3298, 3371, 3444, 3520, 3597, 3676, 3756, 3838, 3922, 4008,
];

const MOST_POLE_2 = 12_288;
const ZEROS = 6;

function countdown(from: number, to: number): number[] {
  return Array.from({ length: from - to + 1 }, (_, n) => from - n);
}

function saturate(value: number): number {
  return value > 32_767 ? 32_767 : value < -32_768 ? -32_768 : value;
}

/** The predictor and scale of one band: blocks 2 to 4. */
class Band {
  /** Signal estimate; the next difference is taken from it. */
  s = 0;
  /** Quantizer scale. */
  det: number;
  /** Logarithm of the scale. */
  #nb = 0;
  readonly #firstDet: number;
  #sz = 0;
  /** Reconstructed and partially reconstructed signals, poles, differences and zeros; index 0 is now. */
  readonly #r = new Int32Array(3);
  readonly #p = new Int32Array(3);
  readonly #a = new Int32Array(3);
  readonly #d = new Int32Array(ZEROS + 1);
  readonly #b = new Int32Array(ZEROS + 1);

  constructor(firstDet: number) {
    this.#firstDet = firstDet;
    this.det = firstDet;
  }

  reset(): void {
    this.s = this.#sz = this.#nb = 0;
    this.det = this.#firstDet;
    for (const memory of [this.#r, this.#p, this.#a, this.#d, this.#b]) memory.fill(0);
  }

  /** LOGSCL and SCALEL, or LOGSCH and SCALEH: `shift` is 8 for the low band, 10 for the high one. */
  scale(weight: number, mostNb: number, shift: number): void {
    const nb = ((this.#nb * 127) >> 7) + weight;
    this.#nb = nb < 0 ? 0 : nb > mostNb ? mostNb : nb;
    const fraction = ILB[(this.#nb >> 6) & 31] as number;
    const down = shift - (this.#nb >> 11);
    this.det = (down < 0 ? fraction << -down : fraction >> down) << 2;
  }

  /** Block 4: the quantized difference goes in, the next estimate comes out. */
  predict(difference: number): void {
    const r = this.#r;
    const p = this.#p;
    this.#d[0] = difference;
    r[0] = saturate(this.s + difference);
    p[0] = saturate(this.#sz + difference);
    this.#adaptPoles();
    this.#adaptZeros(difference);
    for (let i = ZEROS; i > 0; i--) this.#d[i] = this.#d[i - 1] as number;
    for (let i = 2; i > 0; i--) {
      r[i] = r[i - 1] as number;
      p[i] = p[i - 1] as number;
    }
    this.s = saturate(this.#poles() + this.#zeros());
  }

  /** UPPOL2 and UPPOL1. */
  #adaptPoles(): void {
    const a = this.#a;
    const [p0 = 0, p1 = 0, p2 = 0] = this.#p;
    const a1 = a[1] as number;
    const doubled = saturate(a1 << 2);
    let pole2 = p0 < 0 === p1 < 0 ? Math.min(-doubled, 32_767) : doubled;
    pole2 = (p0 < 0 === p2 < 0 ? 128 : -128) + (pole2 >> 7) + (((a[2] as number) * 32_512) >> 15);
    pole2 = Math.max(-MOST_POLE_2, Math.min(MOST_POLE_2, pole2));
    const most = saturate(15_360 - pole2);
    const pole1 = saturate((p0 < 0 === p1 < 0 ? 192 : -192) + ((a1 * 32_640) >> 15));
    a[1] = Math.max(-most, Math.min(most, pole1));
    a[2] = pole2;
  }

  /** UPZERO. */
  #adaptZeros(difference: number): void {
    const step = difference === 0 ? 0 : 128;
    for (let i = 1; i <= ZEROS; i++) {
      const same = (this.#d[i] as number) < 0 === difference < 0;
      this.#b[i] = saturate((same ? step : -step) + (((this.#b[i] as number) * 32_640) >> 15));
    }
  }

  /** FILTEP. */
  #poles(): number {
    const first = ((this.#a[1] as number) * saturate((this.#r[1] as number) << 1)) >> 15;
    const second = ((this.#a[2] as number) * saturate((this.#r[2] as number) << 1)) >> 15;
    return saturate(first + second);
  }

  /** FILTEZ. */
  #zeros(): number {
    let sum = 0;
    for (let i = ZEROS; i > 0; i--) {
      sum += ((this.#b[i] as number) * saturate((this.#d[i] as number) << 1)) >> 15;
    }
    return (this.#sz = saturate(sum));
  }
}

export class G722Coder {
  readonly #low = new Band(32);
  readonly #high = new Band(8);
  readonly #history = new Int32Array(QMF_TAPS);

  /** Encodes `count` samples, an even number, into `count / 2` bytes. */
  encode(samples: Int16Array, count: number, output: Uint8Array): void {
    const history = this.#history;
    for (let at = 0; at < count; at += 2) {
      history.copyWithin(0, 2);
      history[QMF_TAPS - 2] = samples[at] as number;
      history[QMF_TAPS - 1] = samples[at + 1] as number;
      let even = 0;
      let odd = 0;
      for (let i = 0; i < QMF_TAPS / 2; i++) {
        even += (history[2 * i] as number) * (QMF[i] as number);
        odd += (history[2 * i + 1] as number) * (QMF[QMF_TAPS / 2 - 1 - i] as number);
      }
      const low = this.#encodeLow((even + odd) >> QMF_SHIFT);
      const high = this.#encodeHigh((odd - even) >> QMF_SHIFT);
      output[at >> 1] = (high << 6) | low;
    }
  }

  reset(): void {
    this.#low.reset();
    this.#high.reset();
    this.#history.fill(0);
  }

  /** QUANTL, INVQAL and the adaptation. */
  #encodeLow(sample: number): number {
    const band = this.#low;
    const difference = saturate(sample - band.s);
    const magnitude = difference >= 0 ? difference : -(difference + 1);
    let level = 1;
    while (level < Q6.length && magnitude >= ((Q6[level] as number) * band.det) >> 12) level++;
    const code = (difference < 0 ? CODES_NEGATIVE : CODES_POSITIVE)[level] as number;
    const rough = code >> 2; // the predictor uses four of the six bits, so that two may be stolen on the way
    const quantized = (band.det * (QM4[rough] as number)) >> 15;
    band.scale(WL[RL42[rough] as number] as number, LOW_MOST_NB, 8);
    band.predict(quantized);
    return code;
  }

  /** QUANTH, INVQAH and the adaptation. */
  #encodeHigh(sample: number): number {
    const band = this.#high;
    const difference = saturate(sample - band.s);
    const magnitude = difference >= 0 ? difference : -(difference + 1);
    const loud = magnitude >= (HIGH_DECISION * band.det) >> 12;
    const code = difference < 0 ? (loud ? 0 : 1) : loud ? 2 : 3;
    const quantized = (band.det * (QM2[code] as number)) >> 15;
    band.scale(WH[RH2[code] as number] as number, HIGH_MOST_NB, 10);
    band.predict(quantized);
    return code;
  }
}

// Quantized differences of the low band's 6 bits (table 18).
const QM6 = [
  -136, -136, -136, -136, -24808, -21904, -19008, -16704, -14984, -13512, -12280, -11192, -10232, -9360,
  -8576, -7856, -7192, -6576, -6000, -5456, -4944, -4464, -4008, -3576, -3168, -2776, -2400, -2032, -1688,
  -1360, -1040, -728, 24808, 21904, 19008, 16704, 14984, 13512, 12280, 11192, 10232, 9360, 8576, 7856, 7192,
  6576, 6000, 5456, 4944, 4464, 4008, 3576, 3168, 2776, 2400, 2032, 1688, 1360, 1040, 728, 432, 136, -432,
  -136,
];

const MOST_BAND = 16_383; // 15 bits with the sign: LIMIT
const SYNTHESIS_SHIFT = 11; // the filter's gain of 4096, halved as each output has half of the taps

function limit(value: number, most: number): number {
  return value > most ? most : value < -most - 1 ? -most - 1 : value;
}

export class G722Decoder {
  readonly #low = new Band(32);
  readonly #high = new Band(8);
  readonly #history = new Int32Array(QMF_TAPS);

  /** Decodes each byte into two samples. */
  decode(payload: Uint8Array, output: Int16Array): void {
    const history = this.#history;
    for (let at = 0; at < payload.length; at++) {
      const code = payload[at] as number;
      const low = this.#decodeLow(code & 0x3f);
      const high = this.#decodeHigh(code >> 6);
      history.copyWithin(0, 2);
      history[QMF_TAPS - 2] = low + high;
      history[QMF_TAPS - 1] = low - high;
      let first = 0;
      let second = 0;
      for (let i = 0; i < QMF_TAPS / 2; i++) {
        second += (history[2 * i] as number) * (QMF[i] as number);
        first += (history[2 * i + 1] as number) * (QMF[QMF_TAPS / 2 - 1 - i] as number);
      }
      output[2 * at] = limit(first >> SYNTHESIS_SHIFT, 32_767);
      output[2 * at + 1] = limit(second >> SYNTHESIS_SHIFT, 32_767);
    }
  }

  reset(): void {
    this.#low.reset();
    this.#high.reset();
    this.#history.fill(0);
  }

  /** INVQBL and RECONS; the predictor follows the four upper bits, as the coder's does. */
  #decodeLow(code: number): number {
    const band = this.#low;
    const sample = limit(band.s + ((band.det * (QM6[code] as number)) >> 15), MOST_BAND);
    const rough = code >> 2;
    const quantized = (band.det * (QM4[rough] as number)) >> 15;
    band.scale(WL[RL42[rough] as number] as number, LOW_MOST_NB, 8);
    band.predict(quantized);
    return sample;
  }

  #decodeHigh(code: number): number {
    const band = this.#high;
    const quantized = (band.det * (QM2[code] as number)) >> 15;
    const sample = limit(band.s + quantized, MOST_BAND);
    band.scale(WH[RH2[code] as number] as number, HIGH_MOST_NB, 10);
    band.predict(quantized);
    return sample;
  }
}
