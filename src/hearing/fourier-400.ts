// The Fourier transform of 400 complex numbers, for frames of 25 ms at 16 kHz. The length is no power of two:
// passes by 4, 4, 5 and 5, each of which writes its results in order (Stockham).

export const FOURIER_SIZE = 400;
const SIZE = FOURIER_SIZE;

const [COS_1, COS_2] = [Math.cos((2 * Math.PI) / 5), Math.cos((4 * Math.PI) / 5)];
const [SIN_1, SIN_2] = [Math.sin((2 * Math.PI) / 5), Math.sin((4 * Math.PI) / 5)];

/** One side of a pass. */
interface Numbers {
  readonly real: Float64Array;
  readonly imaginary: Float64Array;
}

function newNumbers(): Numbers {
  return { real: new Float64Array(SIZE), imaginary: new Float64Array(SIZE) };
}

export class Fourier400 {
  /** The numbers of `transform`, before and after. */
  readonly numbers = newNumbers();
  readonly #other = newNumbers();
  readonly #cosines = Float64Array.from({ length: SIZE }, (_, n) => Math.cos((2 * Math.PI * n) / SIZE));
  readonly #sines = Float64Array.from({ length: SIZE }, (_, n) => Math.sin((2 * Math.PI * n) / SIZE));

  /** X[k] = sum of x[n] exp(-2 pi i k n / 400), in place. */
  transform(): void {
    this.#passBy4(this.numbers, this.#other, 1);
    this.#passBy4(this.#other, this.numbers, 4);
    this.#passBy5(this.numbers, this.#other, 16);
    this.#passBy5(this.#other, this.numbers, 80);
  }

  /** `stride`: product of the factors before. */
  #passBy4(from: Numbers, to: Numbers, stride: number): void {
    const [x, y] = [from.real, from.imaginary];
    const step = SIZE / 4;
    for (let place = 0; place < step; place++) {
      const inner = place % stride;
      const turn = place - inner;
      const out = inner + 4 * turn;
      const [ar, ai] = [x[place] as number, y[place] as number];
      const [br, bi] = [x[place + step] as number, y[place + step] as number];
      const [cr, ci] = [x[place + 2 * step] as number, y[place + 2 * step] as number];
      const [dr, di] = [x[place + 3 * step] as number, y[place + 3 * step] as number];
      const [sumR, sumI, lessR, lessI] = [ar + cr, ai + ci, ar - cr, ai - ci];
      const [sum2R, sum2I, less2R, less2I] = [br + dr, bi + di, br - dr, bi - di];
      this.#put(to, out, sumR + sum2R, sumI + sum2I, 0);
      this.#put(to, out + stride, lessR + less2I, lessI - less2R, turn);
      this.#put(to, out + 2 * stride, sumR - sum2R, sumI - sum2I, 2 * turn);
      this.#put(to, out + 3 * stride, lessR - less2I, lessI + less2R, 3 * turn);
    }
  }

  #passBy5(from: Numbers, to: Numbers, stride: number): void {
    const [x, y] = [from.real, from.imaginary];
    const step = SIZE / 5;
    for (let place = 0; place < step; place++) {
      const inner = place % stride;
      const turn = place - inner;
      const out = inner + 5 * turn;
      const [ar, ai] = [x[place] as number, y[place] as number];
      const [br, bi] = [x[place + step] as number, y[place + step] as number];
      const [cr, ci] = [x[place + 2 * step] as number, y[place + 2 * step] as number];
      const [dr, di] = [x[place + 3 * step] as number, y[place + 3 * step] as number];
      const [er, ei] = [x[place + 4 * step] as number, y[place + 4 * step] as number];
      const [outerR, outerI, innerR, innerI] = [br + er, bi + ei, cr + dr, ci + di];
      const [r1, i1] = [ar + COS_1 * outerR + COS_2 * innerR, ai + COS_1 * outerI + COS_2 * innerI];
      const [r2, i2] = [ar + COS_2 * outerR + COS_1 * innerR, ai + COS_2 * outerI + COS_1 * innerI];
      const [u1, v1] = [SIN_1 * (br - er) + SIN_2 * (cr - dr), SIN_1 * (bi - ei) + SIN_2 * (ci - di)];
      const [u2, v2] = [SIN_2 * (br - er) - SIN_1 * (cr - dr), SIN_2 * (bi - ei) - SIN_1 * (ci - di)];
      this.#put(to, out, ar + outerR + innerR, ai + outerI + innerI, 0);
      this.#put(to, out + stride, r1 + v1, i1 - u1, turn);
      this.#put(to, out + 2 * stride, r2 + v2, i2 - u2, 2 * turn);
      this.#put(to, out + 3 * stride, r2 - v2, i2 + u2, 3 * turn);
      this.#put(to, out + 4 * stride, r1 - v1, i1 + u1, 4 * turn);
    }
  }

  /** Writes a number that is turned back by `turn` of 400 parts of the circle. */
  #put({ real, imaginary }: Numbers, at: number, r: number, i: number, turn: number): void {
    const [c, s] = [this.#cosines[turn] as number, this.#sines[turn] as number];
    real[at] = r * c + i * s;
    imaginary[at] = i * c - r * s;
  }
}
