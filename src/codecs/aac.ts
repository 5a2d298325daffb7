// AAC-LC of one channel by FFmpeg's encoder, as a stream of ADTS frames (ISO/IEC 14496-3, 1.A.2). This is the
// only file that imports @mediabunny/aac-encoder.
//
// The package is used for its program alone. The package itself runs it in one more thread per encoder and
// answers later. The functions of the program (the package's src/bridge.c) answer at once, and one instance
// serves any number of encoders. The package ships it as a text inside the JavaScript that Emscripten
// generated, under shortened names that the same text declares.
//
// An ADTS frame describes itself, so a reader may begin at any of them and the stream has no header. The
// first unit holds the 1024 samples before the sound and comes with the second frame. ADTS can state neither
// that, nor where the sound ends within the last unit.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ParleyError } from '../errors.js';
import type { Container, FileHeader } from './container.js';

/** The sample rates of AAC that this server offers, in Hz. */
export const AAC_RATES_HZ: readonly number[] = [
  8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000,
];
export const AAC_FRAME_SAMPLES = 1024;

// Requested average rates. For one channel of speech a higher rate brings no audible gain.
const BITS_PER_SECOND: readonly (readonly [upToHz: number, bitsPerSecond: number])[] = [
  [12_000, 32_000],
  [24_000, 64_000],
  [48_000, 96_000],
];

/**
 * Encodes frame by frame. An encoder takes some 550 kB of the program's memory and is made in less than a
 * millisecond. It cannot be used again after its end.
 */
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

  /**
   * Encodes one frame, filled up with silence after `count` samples. Every unit must have been taken before.
   */
  put(samples: Float32Array, count: number): void {
    const bytes = AAC_FRAME_SAMPLES * Float32Array.BYTES_PER_ELEMENT;
    const address = this.#aac.get_encode_input_ptr(this.#live(), bytes);
    if (address === 0) throw new ParleyError('ENCODER_FAILED', 'the AAC encoder has no memory left');
    const input = new Float32Array(this.#aac.memory.buffer, address, AAC_FRAME_SAMPLES);
    for (let i = 0; i < AAC_FRAME_SAMPLES; i++) input[i] = i < count ? (samples[i] as number) : 0;
    checked(this.#aac.send_frame(this.#encoder, BigInt(this.#samples)));
    this.#samples += AAC_FRAME_SAMPLES;
  }

  /** No frame follows: the units that the encoder held back can be taken. */
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

interface Memory {
  readonly buffer: ArrayBuffer;
  /** Throws when no memory is left. */
  grow(pages: number): number;
}

/** The exported functions; an encoder is its address in the program's memory. */
interface AacProgram {
  readonly memory: Memory;
  /** 0 if no memory is left or AAC does not have the rate. */
  init_encoder(channels: number, rate: number, bitsPerSecond: number): number;
  /** The address for a frame's samples, as floats; 0 if no memory is left. */
  get_encode_input_ptr(encoder: number, bytes: number): number;
  /** Below 0 is an error. */
  send_frame(encoder: number, atSample: bigint): number;
  flush_encoder_start(encoder: number): void;
  /** Bytes of the next unit; 0 if there is none, below 0 is an error. */
  receive_packet(encoder: number): number;
  get_encoded_data(encoder: number): number;
  close_encoder(encoder: number): void;
}

const FUNCTIONS = [
  'init_encoder',
  'get_encode_input_ptr',
  'send_frame',
  'flush_encoder_start',
  'receive_packet',
  'get_encoded_data',
  'close_encoder',
] as const;

const OPENING = "binaryDecode('"; // before the text that is the program
const ESCAPED: Readonly<Record<string, number>> = { n: 0x0a, r: 0x0d, "'": 0x27, '\\': 0x5c };
const NOT_THERE = -52; // ENOSYS in Emscripten's numbering; a positive answer would be a file descriptor
const PAGE_BYTES = 65_536;

let loaded: AacProgram | undefined;

/** Loads the program once per thread. Throws ENCODER_FAILED if the package has another layout. */
export function aacProgram(): AacProgram {
  if (loaded !== undefined) return loaded;
  const require = createRequire(import.meta.url);
  const glue = join(require.resolve('@mediabunny/aac-encoder'), '../../modules/build/aac.js');
  loaded = loadAac(readFileSync(glue, 'utf8'));
  return loaded;
}

/** The program within `glue`, the JavaScript that came with it. */
export function loadAac(glue: string): AacProgram {
  const host: Readonly<Record<string, (value: number) => number>> = {
    _emscripten_resize_heap: (bytes) => grown(memory, bytes),
    __abort_js: stop,
    _proc_exit: stop,
  };
  // The program gets no files, clocks, environment or terminal, and works without them.
  const imports = named(between(glue, 'wasmImports = {', '}'), /(\w+): (\w+)/g).map(
    ([short, name]) => [short, host[name] ?? (() => NOT_THERE)] as const,
  );
  const module = new WebAssembly.Module(programIn(glue));
  const { exports } = new WebAssembly.Instance(module, { a: Object.fromEntries(imports) });
  const memory = memoryOf(glue, exports);
  start(glue, exports);
  return { memory, ...functionsOf(glue, exports) };
}

/** After an abort the program's memory is not trusted: the next encoder loads a new instance. */
function stop(): never {
  loaded = undefined;
  throw new ParleyError('ENCODER_FAILED', 'the AAC encoder gave up');
}

/** Grows the memory to `bytes`; 1 on success, 0 if no memory is left. */
function grown(memory: Memory, bytes: number): number {
  const missing = (bytes >>> 0) - memory.buffer.byteLength;
  try {
    memory.grow(Math.ceil(missing / PAGE_BYTES));
    return 1;
  } catch {
    return 0; // the program then fails to make an encoder and reports it
  }
}

type Exports = Readonly<Record<string, unknown>>;

function memoryOf(glue: string, exports: Exports): Memory {
  const [[, short] = ['', '']] = named(glue, /(wasmMemory) = wasmExports\["(\w+)"\]/g);
  const memory = exports[short] as Memory | undefined;
  if (memory?.buffer instanceof ArrayBuffer) return memory;
  throw unknownPackage();
}

/** Runs the program's constructors. */
function start(glue: string, exports: Exports): void {
  const [short = ''] =
    named(between(glue, 'function initRuntime()', '}'), /wasmExports\["(\w+)"\](\()/g)[0] ?? [];
  const construct = exports[short];
  if (typeof construct !== 'function') throw unknownPackage();
  construct();
}

function functionsOf(glue: string, exports: Exports): Omit<AacProgram, 'memory'> {
  const text = between(glue, 'function assignWasmExports(', '}');
  const shortNames = new Map(named(text, /Module\["_(\w+)"\] = wasmExports\["(\w+)"\]/g));
  const found = FUNCTIONS.map((name) => [name, exports[shortNames.get(name) ?? '']] as const);
  if (!found.every(([, value]) => typeof value === 'function')) throw unknownPackage();
  return Object.fromEntries(found) as unknown as Omit<AacProgram, 'memory'>;
}

/** Decodes the program's text: each character is a byte, and the 256th stands for 0. */
function programIn(glue: string): Uint8Array {
  const from = glue.indexOf(OPENING) + OPENING.length;
  const bytes = new Uint8Array(glue.length - from);
  let count = 0;
  for (let at = from; at < glue.length && from > OPENING.length; at++) {
    const character = glue.charAt(at);
    if (character === "'") return bytes.subarray(0, count);
    const byte = character === '\\' ? ESCAPED[glue.charAt(++at)] : character.charCodeAt(0);
    if (byte === undefined) break;
    bytes[count++] = byte;
  }
  throw unknownPackage();
}

function between(glue: string, opening: string, closing: string): string {
  const from = glue.indexOf(opening);
  const to = glue.indexOf(closing, from);
  if (from < 0 || to < 0) throw unknownPackage();
  return glue.slice(from + opening.length, to);
}

function named(text: string, pattern: RegExp): (readonly [string, string])[] {
  return Array.from(text.matchAll(pattern), ([, first = '', second = '']) => [first, second] as const);
}

function unknownPackage(): ParleyError {
  return new ParleyError(
    'ENCODER_FAILED',
    'this release of @mediabunny/aac-encoder is laid out in another way',
  );
}

/** AAC as a stream of ADTS frames without a header. */
export class AacContainer implements Container {
  readonly sampleRate: number;
  readonly frameSamples = AAC_FRAME_SAMPLES;
  readonly header = new Uint8Array(0);
  readonly #encoder: AacEncoder;
  #empty = true;

  constructor(rate: number) {
    this.#encoder = new AacEncoder(rate);
    this.sampleRate = rate;
  }

  encode(frame: Float32Array, count: number): Uint8Array {
    this.#empty = false;
    this.#encoder.put(frame, count);
    return this.#taken();
  }

  finish(): Uint8Array {
    if (this.#empty) this.#encoder.put(new Float32Array(0), 0); // a file needs at least one frame
    const taken = this.#taken();
    this.#encoder.end();
    return Buffer.concat([taken, this.#taken()]);
  }

  fileHeader(): FileHeader | undefined {
    return undefined;
  }

  close(): void {
    this.#encoder.close();
  }

  /** Wraps the finished units into ADTS frames. */
  #taken(): Uint8Array {
    const frames: Uint8Array[] = [];
    for (let unit = this.#encoder.take(); unit !== undefined; unit = this.#encoder.take()) {
      frames.push(adtsFrame(unit, this.sampleRate));
    }
    return Buffer.concat(frames);
  }
}

// A header names its rate by the index in this list.
const RATES_HZ: readonly number[] = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8000,
];
const HEADER_BYTES = 7; // without a checksum
const MAX_FRAME_BYTES = 0x1fff; // the length field has 13 bits

/** Wraps one AAC-LC unit (1024 samples, one channel) at `rate` Hz into an ADTS frame. */
export function adtsFrame(unit: Uint8Array, rate: number): Uint8Array {
  const rateIndex = RATES_HZ.indexOf(rate);
  const length = HEADER_BYTES + unit.length;
  if (rateIndex < 0 || length > MAX_FRAME_BYTES) {
    throw new ParleyError('ENCODER_FAILED', `no ADTS frame has ${length} bytes at ${rate} Hz`);
  }
  const frame = new Uint8Array(length);
  frame[0] = 0xff;
  frame[1] = 0xf1; // MPEG-4: its noise substitution is not in MPEG-2; no checksum
  frame[2] = (1 << 6) | (rateIndex << 2); // LC
  frame[3] = (1 << 6) | (length >> 11); // one channel
  frame[4] = (length >> 3) & 0xff;
  frame[5] = ((length & 7) << 5) | 0x1f; // from here on eleven ones: the rate in bits is not constant
  frame[6] = 0xfc; // one unit
  frame.set(unit, HEADER_BYTES);
  return frame;
}
