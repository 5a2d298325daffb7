// Compares two recordings of one sentence by their spectrum over time: the correlation of the logarithms of
// the energies in 20 mel bands, -1 to 1. Codecs for speech keep these energies, but not the waveform.
//
//   samples ─▶ 32 ms every 10 ms ─▶ FFT ─▶ energies of 20 mel bands ─▶ dB, the mean of each band removed
//
// The first recording may be earlier or later. A jitter buffer may stretch it: each half second is aligned
// anew, by up to 60 ms.
import { Fft } from '../../src/hearing/fft.js';

const RATE = 16_000;
const WINDOW = 512;
const HOP = RATE / 100;
const BANDS = 20;
const LEAST_HZ = 100;
const MOST_HZ = 7000;
/** Weaker energies count as so many dB below the loudest one. */
const FLOOR_DB = 50;
const SEGMENT = 50; // hops
const MOST_STRETCHED = 6; // hops

const mel = (hz: number) => 2595 * Math.log10(1 + hz / 700);
const hertz = (mels: number) => 700 * (10 ** (mels / 2595) - 1);

/** The first bin of each band, and the one after the last band. */
const EDGES = Array.from({ length: BANDS + 1 }, (_, n) => {
  const mels = mel(LEAST_HZ) + (n * (mel(MOST_HZ) - mel(LEAST_HZ))) / BANDS;
  return Math.round((hertz(mels) * WINDOW) / RATE);
});

type Spectrum = readonly (readonly number[])[];

/** Returns the level of each band in each hop, in dB. */
function spectrumOf(samples: Float32Array): Spectrum {
  const fft = new Fft(WINDOW);
  const hops = Math.max(0, Math.floor((samples.length - WINDOW) / HOP) + 1);
  const rows = Array.from({ length: hops }, (_, hop) => {
    const real = Float64Array.from({ length: WINDOW }, (_, n) => {
      const weight = 0.5 - 0.5 * Math.cos((2 * Math.PI * n) / WINDOW);
      return weight * (samples[hop * HOP + n] ?? 0);
    });
    const imaginary = new Float64Array(WINDOW);
    fft.transform(real, imaginary);
    return EDGES.slice(0, BANDS).map((from, band) => {
      let energy = 0;
      // The lowest bands may begin and end in one bin.
      const to = Math.max(from + 1, EDGES[band + 1] ?? 0);
      for (let bin = from; bin < to; bin++) energy += (real[bin] ?? 0) ** 2 + (imaginary[bin] ?? 0) ** 2;
      return 10 * Math.log10(energy / (to - from) + 1e-12);
    });
  });
  return centred(rows);
}

/** Raises levels to the floor, and takes the mean of its band from each. */
function centred(rows: Spectrum): Spectrum {
  const floor = Math.max(...rows.map((row) => Math.max(...row))) - FLOOR_DB;
  const raised = rows.map((row) => row.map((db) => Math.max(db, floor)));
  const means = Array.from(
    { length: BANDS },
    (_, band) => raised.reduce((sum, row) => sum + (row[band] ?? 0), 0) / raised.length,
  );
  return raised.map((row) => row.map((db, band) => db - (means[band] ?? 0)));
}

interface Products {
  both: number;
  one: number;
  other: number;
}

const correlation = ({ both, one, other }: Products) =>
  one === 0 || other === 0 ? 0 : both / Math.sqrt(one * other);

/** Correlates the hops `from` to `to` of the second sound with those that lie `shift` later in the first. */
function productsAt(one: Spectrum, other: Spectrum, from: number, to: number, shift: number): Products {
  const products = { both: 0, one: 0, other: 0 };
  for (let hop = from; hop < to; hop++) {
    for (let band = 0; band < BANDS; band++) {
      const [x, y] = [one[hop + shift]?.[band] ?? 0, other[hop]?.[band] ?? 0];
      products.both += x * y;
      products.one += x * x;
      products.other += y * y;
    }
  }
  return products;
}

function bestShift(one: Spectrum, other: Spectrum, from: number, to: number, shifts: readonly number[]) {
  const scored = shifts.map((shift) => ({ shift, products: productsAt(one, other, from, to, shift) }));
  return scored.reduce((best, next) =>
    correlation(next.products) > correlation(best.products) ? next : best,
  );
}

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n);

/** Both have 16 kHz and speech only; `heard` may begin or end up to half a second earlier or later. */
export function melLikeness(heard: Float32Array, wanted: Float32Array): number {
  const [one, other] = [spectrumOf(heard), spectrumOf(wanted)];
  const { shift } = bestShift(one, other, 0, other.length, range(-50, 50));
  const all: Products = { both: 0, one: 0, other: 0 };
  for (let from = 0; from < other.length; from += SEGMENT) {
    const to = Math.min(from + SEGMENT, other.length);
    const shifts = range(shift - MOST_STRETCHED, shift + MOST_STRETCHED);
    const { products } = bestShift(one, other, from, to, shifts);
    all.both += products.both;
    all.one += products.one;
    all.other += products.other;
  }
  return correlation(all);
}
