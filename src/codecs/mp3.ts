// MP3 files by LAME, encoded while they stream. This is the only file that imports wasm-media-encoders.
//
// The package is used for its program alone, mp3.wasm. One instance per thread serves every encoder, and an
// encoder is an address in the program's memory. The package's own wrapper would load the program once per
// encoder, and only asynchronously.
//
// A streamed file is frames and nothing else. A whole file begins with an Info frame: a frame of silence that
// states in place of its sound how many frames and bytes follow (Xing's header), and how many samples at both
// ends are not part of the sound (LAME's extension). Players that read it begin and end exactly. Others play
// one more frame of silence.
//
//   frame header │ side information │ "Info" flags frames bytes seek table quality │ "LAME3.100" … delay, padding … CRC
//         4             9 or 17         4      4     4      4       100       4                36
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { ParleyError } from '../errors.js';
import { pieceSamples, type Container, type FileHeader } from './container.js';

/** The sample rates of MPEG-1, MPEG-2 and MPEG-2.5, in Hz. */
export const MP3_RATES_HZ: readonly number[] = [
  8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000,
];

/** Samples that LAME puts before the sound at every rate (lame_get_encoder_delay); a decoder adds 529. */
const MP3_DELAY_SAMPLES = 576;

// Constant rates. For one channel of speech a higher rate brings no audible gain.
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

const HEADER_BYTES = 4;
const XING_BYTES = 120;
const LAME_BYTES = 36;
const ALL_FIELDS = 0x0f; // frames, bytes, seek table, quality
const SEEK_POINTS = 100;
const CONSTANT_RATE = 0x01; // revision 0 of the extension, method 1
const SOURCE_RATES: readonly (readonly [upToHz: number, code: number])[] = [
  [32_000, 0],
  [44_100, 1],
  [48_000, 2],
];

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
    loaded = undefined; // after an abort the program's memory is not trusted
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

  /**
   * Returns the frames that these samples complete, possibly none; valid until the next call of any encoder.
   */
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

export class Mp3Container implements Container {
  readonly sampleRate: number;
  readonly frameSamples: number;
  readonly header = new Uint8Array(0);
  readonly #encoder: Mp3Encoder;
  readonly #firstHeader = new Uint8Array(HEADER_BYTES);
  #samples = 0;
  #bytes = 0;
  #crc = 0;

  constructor(rate: number) {
    this.#encoder = new Mp3Encoder(rate);
    this.sampleRate = rate;
    this.frameSamples = pieceSamples(rate);
  }

  encode(frame: Float32Array, count: number): Uint8Array {
    this.#samples += count;
    return this.#counted(this.#encoder.encode(frame, count));
  }

  finish(): Uint8Array {
    return this.#counted(this.#encoder.finish());
  }

  fileHeader(): FileHeader | undefined {
    if (this.#bytes === 0) return undefined;
    const bytes = mp3InfoFrame({
      rate: this.sampleRate,
      kbps: mp3Kbps(this.sampleRate),
      firstHeader: this.#firstHeader,
      samples: this.#samples,
      delay: MP3_DELAY_SAMPLES,
      bytes: this.#bytes,
      crc: this.#crc,
    });
    return { replaced: 0, bytes };
  }

  close(): void {
    this.#encoder.close();
  }

  #counted(bytes: Uint8Array): Uint8Array {
    const missing = HEADER_BYTES - this.#bytes;
    if (missing > 0) this.#firstHeader.set(bytes.subarray(0, missing), this.#bytes);
    this.#bytes += bytes.length;
    this.#crc = mp3Crc(bytes, this.#crc);
    return bytes;
  }
}

interface Mp3Totals {
  /** Hz. */
  readonly rate: number;
  readonly kbps: number;
  /** The header of the stream's first frame. */
  readonly firstHeader: Uint8Array;
  /** Samples of the sound itself. */
  readonly samples: number;
  /** Samples that the encoder put before the sound; a decoder adds its own. */
  readonly delay: number;
  /** Length of all frames. */
  readonly bytes: number;
  /** `mp3Crc` of all frames. */
  readonly crc: number;
}

/** Samples of a frame: MPEG-1 frames are twice as long as those of MPEG-2 and 2.5. */
function mp3FrameSamples(rate: number): number {
  return rate >= 32_000 ? 1152 : 576;
}

/** Builds the Info frame of one channel at a constant rate. */
function mp3InfoFrame({ rate, kbps, firstHeader, samples, delay, bytes, crc }: Mp3Totals): Uint8Array {
  const frameSamples = mp3FrameSamples(rate);
  // 1 kb/s is 125 bytes a second; frames are rounded up and down in turn.
  const bytesPerFrame = (frameSamples * kbps * 125) / rate;
  const frames = Math.round(bytes / bytesPerFrame);
  const padding = frames * frameSamples - delay - samples;
  const frame = new Uint8Array(Math.floor(bytesPerFrame));
  const view = new DataView(frame.buffer);
  frame.set(firstHeader.subarray(0, HEADER_BYTES));
  frame[1] = (frame[1] as number) | 0x01; // no checksum behind the header
  frame[2] = (frame[2] as number) & ~0x02; // no byte more than the rate makes
  const xing = HEADER_BYTES + (rate >= 32_000 ? 17 : 9);
  putText(frame, xing, 'Info');
  view.setUint32(xing + 4, ALL_FIELDS);
  view.setUint32(xing + 8, frames);
  view.setUint32(xing + 12, bytes + frame.length);
  for (let i = 0; i < SEEK_POINTS; i++) frame[xing + 16 + i] = Math.floor((i * 256) / SEEK_POINTS);
  const lame = xing + XING_BYTES;
  putText(frame, lame, 'LAME3.100');
  frame[lame + 9] = CONSTANT_RATE;
  view.setUint32(lame + 20, ((kbps << 24) | (delay << 12) | padding) >>> 0);
  const [, source = 3] = SOURCE_RATES.find(([upToHz]) => rate <= upToHz) ?? [];
  frame[lame + 24] = source << 6;
  view.setUint32(lame + 28, bytes + frame.length);
  view.setUint16(lame + 32, crc);
  const end = lame + LAME_BYTES - 2;
  view.setUint16(end, mp3Crc(frame.subarray(0, end)));
  return frame;
}

const CRC = Uint16Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit++) rest = (rest & 1) === 0 ? rest >>> 1 : (rest >>> 1) ^ 0xa001;
  return rest;
});

/** The CRC-16 of LAME's extension (0x8005, lowest bit first), continued from `crc`. */
function mp3Crc(bytes: Uint8Array, crc = 0): number {
  let rest = crc;
  for (const byte of bytes) rest = (rest >>> 8) ^ (CRC[(rest ^ byte) & 0xff] as number);
  return rest;
}

function putText(bytes: Uint8Array, at: number, text: string): void {
  for (let i = 0; i < text.length; i++) bytes[at + i] = text.charCodeAt(i);
}
