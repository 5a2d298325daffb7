// The fast Fourier transform of a fixed length, a power of two, in place.

export class Fft {
  readonly size: number;
  readonly #cosines: Float64Array;
  readonly #sines: Float64Array;
  readonly #reversed: Uint32Array;

  constructor(size: number) {
    const bits = Math.log2(size);
    if (!Number.isInteger(bits)) throw new RangeError(`the length must be a power of two, not ${size}`);
    this.size = size;
    const half = size / 2;
    this.#cosines = Float64Array.from({ length: half }, (_, k) => Math.cos((Math.PI * k) / half));
    this.#sines = Float64Array.from({ length: half }, (_, k) => Math.sin((Math.PI * k) / half));
    this.#reversed = Uint32Array.from({ length: size }, (_, n) => reverseBits(n, bits));
  }

  /**
   * X[k] = sum of x[n] exp(-2 pi i k n / size). With both arrays swapped it is the inverse, times `size`.
   */
  transform(real: Float64Array, imaginary: Float64Array): void {
    this.#reorder(real, imaginary);
    for (let length = 1, step = this.size / 2; length < this.size; length *= 2, step /= 2) {
      this.#pass(real, imaginary, length, step);
    }
  }

  #pass(real: Float64Array, imaginary: Float64Array, length: number, step: number): void {
    const { size } = this;
    const cosines = this.#cosines;
    const sines = this.#sines;
    for (let start = 0; start < size; start += 2 * length) {
      for (let low = start, k = 0; low < start + length; low++, k += step) {
        const high = low + length;
        const c = cosines[k] as number;
        const s = sines[k] as number;
        const hr = real[high] as number;
        const hi = imaginary[high] as number;
        const tr = hr * c + hi * s;
        const ti = hi * c - hr * s;
        const lr = real[low] as number;
        const li = imaginary[low] as number;
        real[high] = lr - tr;
        imaginary[high] = li - ti;
        real[low] = lr + tr;
        imaginary[low] = li + ti;
      }
    }
  }

  #reorder(real: Float64Array, imaginary: Float64Array): void {
    const reversed = this.#reversed;
    for (let n = 0; n < this.size; n++) {
      const m = reversed[n] as number;
      if (m <= n) continue;
      const r = real[n] as number;
      const i = imaginary[n] as number;
      real[n] = real[m] as number;
      imaginary[n] = imaginary[m] as number;
      real[m] = r;
      imaginary[m] = i;
    }
  }
}

function reverseBits(value: number, bits: number): number {
  let reversed = 0;
  for (let bit = 0; bit < bits; bit++) reversed |= ((value >> bit) & 1) << (bits - 1 - bit);
  return reversed;
}
