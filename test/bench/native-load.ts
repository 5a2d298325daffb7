// A native program that is the far end of all calls of a bench (native/bench/*_load.cc): it reads a plan of
// one line, and prints when its measured time begins and what it has measured. It is compiled when its
// sources have changed.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

const NATIVE = join(import.meta.dirname, '..', '..', '..', 'native');
const PARTS = ['srtp', 'srtp_cipher', 'hmac_sha1', 'rtp'].map((name) => join(NATIVE, 'media', `${name}.cc`));
const HEADER = join(NATIVE, 'bench', 'load_socket.h');
/** Folder of the addon's build. */
const CODECS = ['libaudio.a', 'libopus.a'].map((name) => join(NATIVE, 'build', name));

/** The keys of encrypted calls, both ways. */
export const LOAD_KEYS = {
  profile: 'AES_CM_128_HMAC_SHA1_80',
  key: new Uint8Array(16).fill(7),
  salt: new Uint8Array(14).fill(7),
} as const;

export interface LoadPlan {
  readonly settleMs: number;
  readonly measureMs: number;
  /** Called when the time that is measured begins, and when it is over. */
  readonly onMeasuring: () => void;
  readonly onMeasured?: () => void;
}

interface LoadProgram {
  /** Name in native/bench, without its ending. */
  readonly name: string;
  /** It encodes and decodes sound. */
  readonly hasCodecs?: boolean;
}

export class NativeLoad {
  readonly port: number;
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #name: string;

  private constructor(name: string, child: ChildProcess, lines: AsyncIterator<string>, port: number) {
    this.#name = name;
    this.#child = child;
    this.#lines = lines;
    this.port = port;
  }

  static async open(program: LoadProgram): Promise<NativeLoad> {
    const child = spawn(built(program), [], { stdio: ['pipe', 'pipe', 'inherit'] });
    // An iterator keeps lines that come together.
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const [, port] = await wordsOf(program.name, lines, 'port');
    return new NativeLoad(program.name, child, lines, Number(port));
  }

  /** Sends to all calls and measures. Resolves with the numbers of the result. The program ends with it. */
  async run(
    calls: readonly string[],
    { settleMs, measureMs, onMeasuring, onMeasured }: LoadPlan,
  ): Promise<number[]> {
    this.#child.stdin?.write(`${settleMs} ${measureMs} ${calls.join(' ')}\n`);
    await wordsOf(this.#name, this.#lines, 'measuring');
    onMeasuring();
    await wordsOf(this.#name, this.#lines, 'measured');
    onMeasured?.();
    const result = await wordsOf(this.#name, this.#lines, 'result');
    return result.slice(1).map(Number);
  }

  close(): void {
    this.#child.kill();
  }
}

/** The words of the next line, which begins with this one. */
async function wordsOf(name: string, lines: AsyncIterator<string>, first: string): Promise<string[]> {
  const { value: line, done } = await lines.next();
  if (done === true) throw new Error(`${name} has ended`);
  const words = line.split(' ');
  if (words[0] === first) return words;
  throw new Error(`${name} said "${line}"`);
}

/** The path of the program. */
function built({ name, hasCodecs = false }: LoadProgram): string {
  const source = join(NATIVE, 'bench', `${name}.cc`);
  const program = join(NATIVE, 'build-bench', name);
  const parts = [source, ...PARTS, ...(hasCodecs ? CODECS : [])];
  const newest = Math.max(...[...parts, HEADER].map((file) => statSync(file).mtimeMs));
  if (existsSync(program) && statSync(program).mtimeMs > newest) return program;
  mkdirSync(dirname(program), { recursive: true });
  const manner = ['-O2', '-std=c++17', '-Wall', '-Wextra', '-I', NATIVE];
  execFileSync('c++', [...manner, ...parts, '-lcrypto', '-o', program], { stdio: 'inherit' });
  return program;
}
