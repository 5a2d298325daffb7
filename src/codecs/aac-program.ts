// FFmpeg's AAC encoder as a program in this thread: the only file that touches
// @mediabunny/aac-encoder.
//
// Of the package only its program is used. The package itself runs it in one
// more thread per encoder and answers later, while the functions of the program
// (the package's src/bridge.c) answer at once, and one instance serves any
// number of encoders. It comes within the JavaScript that Emscripten made for
// it, as a text, and under shortened names, whose meaning stands there too.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ParleyError } from '../errors.js';

interface Memory {
  readonly buffer: ArrayBuffer;
  /** Throws where there is no more. */
  grow(pages: number): number;
}

/** An encoder is the address of one. */
export interface AacProgram {
  readonly memory: Memory;
  /** 0: none is left, or the rate is none of AAC. */
  init_encoder(channels: number, rate: number, bitsPerSecond: number): number;
  /** Where a frame's samples go, as floats; 0 where no memory is left. */
  get_encode_input_ptr(encoder: number, bytes: number): number;
  /** Below 0 is an error. */
  send_frame(encoder: number, atSample: bigint): number;
  flush_encoder_start(encoder: number): void;
  /** Bytes of the next unit; 0 where there is none, below 0 is an error. */
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

const OPENING = "binaryDecode('"; // of the text that is the program
const ESCAPED: Readonly<Record<string, number>> = { n: 0x0a, r: 0x0d, "'": 0x27, '\\': 0x5c };
const NOT_THERE = -52; // ENOSYS, as Emscripten counts; above 0 it would be a file
const PAGE_BYTES = 65_536;

let loaded: AacProgram | undefined;

/** Of this thread. Throws ENCODER_FAILED where the package is not the one that this is made for. */
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
  // Files, clocks, the environment: it has none, and does without. What it would write on the terminal it also answers.
  const imports = named(between(glue, 'wasmImports = {', '}'), /(\w+): (\w+)/g).map(
    ([short, name]) => [short, host[name] ?? (() => NOT_THERE)] as const,
  );
  const module = new WebAssembly.Module(programIn(glue));
  const { exports } = new WebAssembly.Instance(module, { a: Object.fromEntries(imports) });
  const memory = memoryOf(glue, exports);
  start(glue, exports);
  return { memory, ...functionsOf(glue, exports) };
}

/** Its memory is not to be trusted any more: the next encoder gets a program of its own. */
function stop(): never {
  loaded = undefined;
  throw new ParleyError('ENCODER_FAILED', 'the AAC encoder gave up');
}

/** Whether there is memory of as many bytes now. */
function grown(memory: Memory, bytes: number): number {
  const missing = (bytes >>> 0) - memory.buffer.byteLength;
  try {
    memory.grow(Math.ceil(missing / PAGE_BYTES));
    return 1;
  } catch {
    return 0; // the program says so, too: it has no encoder to give
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

/** Each character of the text is a byte, and the 256th stands for 0. */
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
