// G.722 at 64 kbit/s, back to 16 kHz sound: the way of g722.ts in reverse.
//
//   low, 6 bits  ─▶ ADPCM ─┐
//   high, 2 bits ─▶ ADPCM ─┴─▶ QMF ─▶ 16 kHz
//
// Named after the blocks of ITU-T G.722 (section 4); fixed point as there.
import { Band, HIGH_MOST_NB, LOW_MOST_NB, QM2, QM4, QMF, QMF_TAPS, RH2, RL42, WH, WL } from './g722.js';

// Quantized differences of the low band's 6 bits (table 18).
const QM6 = [
  -136, -136, -136, -136, -24808, -21904, -19008, -16704, -14984, -13512, -12280, -11192, -10232, -9360,
  -8576, -7856, -7192, -6576, -6000, -5456, -4944, -4464, -4008, -3576, -3168, -2776, -2400, -2032, -1688,
  -1360, -1040, -728, 24808, 21904, 19008, 16704, 14984, 13512, 12280, 11192, 10232, 9360, 8576, 7856, 7192,
  6576, 6000, 5456, 4944, 4464, 4008, 3576, 3168, 2776, 2400, 2032, 1688, 1360, 1040, 728, 432, 136, -432,
  -136,
];

const MOST_BAND = 16_383; // 15 bits with the sign: LIMIT
const QMF_SHIFT = 11; // the filter's gain of 4096, halved as each output has half of the taps

function limit(value: number, most: number): number {
  return value > most ? most : value < -most - 1 ? -most - 1 : value;
}

export class G722Decoder {
  readonly #low = new Band(32);
  readonly #high = new Band(8);
  readonly #history = new Int32Array(QMF_TAPS);

  /** Two samples of each byte. */
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
      output[2 * at] = limit(first >> QMF_SHIFT, 32_767);
      output[2 * at + 1] = limit(second >> QMF_SHIFT, 32_767);
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
