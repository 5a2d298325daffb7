// MP3 by LAME: the only file that touches wasm-media-encoders.
//
// Of the package only its program is used, mp3.wasm. One instance per thread
// serves every encoder, each by a reference into its memory; the package's own
// wrapper would load the program once per encoder, and only asynchronously.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { ParleyError } from '../errors.js';

/** Hz of MPEG-1, MPEG-2 and MPEG-2.5, the only ones there are. */
export const MP3_RATES_HZ: readonly number[] = [
  8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000,
];

/** Samples that LAME puts before the sound at every rate (lame_get_encoder_delay); a decoder adds 529. */
export const MP3_DELAY_SAMPLES = 576;

// Constant rates, for one channel of speech: nothing audible is gained above.
const BITS_PER_SECOND: readonly (readonly [upToHz: number, kbps: number])[] = [
  [12_000, 32],
  [24_000, 64],
  [48_000, 96],
];

/** The constant rate of a stream of `rate` Hz, in kb/s. */
export function mp3Kbps(rate: number): number {
  const [, kbps = 64] = BITS_PER_SECOND.find(([upToHz]) => rate <= upToHz) ?? [];
  return kbps;
}

interface LameProgram {
  readonly memory: WebAssembly.Memory;
  _initialize(): void;
  malloc(bytes: number): number;
  free(address: number): void;
  enc_init(parameters: number): number;
  enc_free(encoder: number): void;
  /** Address of an array of one address of samples per channel. */
  enc_get_pcm(encoder: number, samples: number): number;
  enc_encode(encoder: number, samples: number): number;
  enc_flush(encoder: number): number;
  enc_get_out_buf(encoder: number): number;
}

let loaded: LameProgram | undefined;

function program(): LameProgram {
  loaded ??= load();
  return loaded;
}

function load(): LameProgram {
  const file = createRequire(import.meta.url).resolve('wasm-media-encoders/wasm/mp3');
  const exit = (code: number): never => {
    loaded = undefined; // its memory is not to be trusted any more
    throw new ParleyError('ENCODER_FAILED', `the MP3 encoder ended with ${code}`);
  };
  const instance = new WebAssembly.Instance(new WebAssembly.Module(readFileSync(file)), {
    wasi_snapshot_preview1: { proc_exit: exit },
    env: { emscripten_notify_memory_growth: () => undefined },
  });
  const lame = instance.exports as unknown as LameProgram;
  lame._initialize();
  return lame;
}

export class Mp3Encoder {
  readonly #lame: LameProgram;
  #encoder: number;

  constructor(rate: number) {
    if (!MP3_RATES_HZ.includes(rate)) {
      throw new ParleyError('INVALID_FIELD', `MP3 has ${MP3_RATES_HZ.join(', ')} Hz, not ${rate}`, {
        field: 'rate',
      });
    }
    this.#lame = program();
    this.#encoder = open(this.#lame, rate);
  }

  /** The frames that these samples complete, maybe none; valid until the next call of any encoder. */
  encode(samples: Float32Array, count: number): Uint8Array {
    const lame = this.#lame;
    const channels = lame.enc_get_pcm(this.#live(), count);
    if (channels === 0) throw new ParleyError('ENCODER_FAILED', 'the MP3 encoder has no memory left');
    const [address = 0] = new Uint32Array(lame.memory.buffer, channels, 1);
    const input = new Float32Array(lame.memory.buffer, address, count);
    for (let i = 0; i < count; i++) input[i] = samples[i] as number;
    return this.#output(lame.enc_encode(this.#encoder, count));
  }

  /** The last frames. */
  finish(): Uint8Array {
    return this.#output(this.#lame.enc_flush(this.#live()));
  }

  /** Frees its memory; idempotent. */
  close(): void {
    if (this.#encoder !== 0) this.#lame.enc_free(this.#encoder);
    this.#encoder = 0;
  }

  #live(): number {
    if (this.#encoder === 0) throw new ParleyError('WRONG_STATE', 'the MP3 encoder is closed');
    return this.#encoder;
  }

  #output(bytes: number): Uint8Array {
    if (bytes < 0) throw new ParleyError('ENCODER_FAILED', `the MP3 encoder failed with ${bytes}`);
    return new Uint8Array(this.#lame.memory.buffer, this.#lame.enc_get_out_buf(this.#encoder), bytes);
  }
}

/** The parameters that the program reads: channels, rate in, kb/s, quality of a variable rate, rate out. */
function open(lame: LameProgram, rate: number): number {
  const address = lame.malloc(5 * 4);
  if (address === 0) throw new ParleyError('ENCODER_FAILED', 'the MP3 encoder has no memory left');
  try {
    const view = new DataView(lame.memory.buffer, address, 5 * 4);
    view.setUint32(0, 1, true);
    view.setUint32(4, rate, true);
    view.setInt32(8, mp3Kbps(rate), true);
    view.setFloat32(12, -1, true); // the rate is constant
    view.setInt32(16, rate, true);
    const encoder = lame.enc_init(address);
    if (encoder === 0) throw new ParleyError('ENCODER_FAILED', `the MP3 encoder refuses ${rate} Hz`);
    return encoder;
  } finally {
    lame.free(address);
  }
}
