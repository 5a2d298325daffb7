// AAC-LC of one channel by FFmpeg's encoder, frame by frame.
//
// An encoder is some 550 kB of the program's memory and is made in less than a
// millisecond. It is not used again: after its end it takes nothing more.
import { ParleyError } from '../errors.js';
import { aacProgram, type AacProgram } from './aac-program.js';

/** Hz that AAC has within those of this server. */
export const AAC_RATES_HZ: readonly number[] = [
  8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000,
];
export const AAC_FRAME_SAMPLES = 1024;

// For one channel of speech: nothing audible is gained above. What is asked for is an average.
const BITS_PER_SECOND: readonly (readonly [upToHz: number, bitsPerSecond: number])[] = [
  [12_000, 32_000],
  [24_000, 64_000],
  [48_000, 96_000],
];

export class AacEncoder {
  readonly #aac: AacProgram;
  #encoder: number;
  #samples = 0;

  constructor(rate: number) {
    const [, bitsPerSecond = 0] = BITS_PER_SECOND.find(([upToHz]) => rate <= upToHz) ?? [];
    if (!AAC_RATES_HZ.includes(rate)) {
      throw new ParleyError('INVALID_FIELD', `AAC has ${AAC_RATES_HZ.join(', ')} Hz, not ${rate}`, {
        field: 'rate',
      });
    }
    this.#aac = aacProgram();
    this.#encoder = this.#aac.init_encoder(1, rate, bitsPerSecond);
    if (this.#encoder === 0) throw new ParleyError('ENCODER_FAILED', `the AAC encoder refuses ${rate} Hz`);
  }

  /** A frame; what `count` leaves of it is silence. Every unit must have been taken before. */
  put(samples: Float32Array, count: number): void {
    const bytes = AAC_FRAME_SAMPLES * Float32Array.BYTES_PER_ELEMENT;
    const address = this.#aac.get_encode_input_ptr(this.#live(), bytes);
    if (address === 0) throw new ParleyError('ENCODER_FAILED', 'the AAC encoder has no memory left');
    const input = new Float32Array(this.#aac.memory.buffer, address, AAC_FRAME_SAMPLES);
    for (let i = 0; i < AAC_FRAME_SAMPLES; i++) input[i] = i < count ? (samples[i] as number) : 0;
    checked(this.#aac.send_frame(this.#encoder, BigInt(this.#samples)));
    this.#samples += AAC_FRAME_SAMPLES;
  }

  /** No frame follows: what is held back can be taken. */
  end(): void {
    this.#aac.flush_encoder_start(this.#live());
  }

  /** The next unit, if one is there; valid until the next call of any encoder. */
  take(): Uint8Array | undefined {
    const bytes = checked(this.#aac.receive_packet(this.#live()));
    if (bytes === 0) return undefined;
    return new Uint8Array(this.#aac.memory.buffer, this.#aac.get_encoded_data(this.#encoder), bytes);
  }

  /** Frees its memory; idempotent. */
  close(): void {
    if (this.#encoder !== 0) this.#aac.close_encoder(this.#encoder);
    this.#encoder = 0;
  }

  #live(): number {
    if (this.#encoder === 0) throw new ParleyError('WRONG_STATE', 'the AAC encoder is closed');
    return this.#encoder;
  }
}

function checked(result: number): number {
  if (result < 0) throw new ParleyError('ENCODER_FAILED', `the AAC encoder failed with ${result}`);
  return result;
}
