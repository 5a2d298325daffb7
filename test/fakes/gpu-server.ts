// Starts the whole server on a machine with a fake GPU: a driver and a CUDA backend that answer as real ones
// do, and fail as the test states.
//
// The program runs as a copy in a folder of its own, where it finds the fake backend beside its addon. The
// server itself is unchanged.
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { temporaryFolder } from '../api/http/tls-files.js';
import { GOLDEN } from '../engines/golden.js';

const ROOT = join(import.meta.dirname, '../../..');
const NATIVE = join(ROOT, 'native');
const RELEASE = join('native', 'build', 'Release');
const OPTIONS = ['-std=c++17', '-shared', '-fPIC', '-Wall', '-Wextra', `-I${NATIVE}`];
const START_LIMIT_MS = 60_000;
const POLL_MS = 20;

/** The hash that native/cmake/plugin.cmake computes. */
function pluginInterface(): string {
  const cmake = readFileSync(join(NATIVE, 'cmake', 'plugin.cmake'), 'utf8');
  const headers = /foreach\(header ([^)]*)\)/.exec(cmake)?.[1]?.trim().split(/\s+/) ?? [];
  assert.ok(headers.includes('kernels/kernels.h'));
  const hashOf = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex');
  return hashOf(headers.map((header) => hashOf(readFileSync(join(NATIVE, header)))).join(''));
}

const programs = new Map<string, string>();

/**
 * The folder of a copy whose backend says that it was built from these sources; one for all tests of a
 * process.
 */
function programOf(sources: string): string {
  const made = programs.get(sources);
  if (made !== undefined) return made;
  const folder = mkdtempSync(join(tmpdir(), 'parley-gpu-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  programs.set(sources, folder);
  mkdirSync(join(folder, RELEASE), { recursive: true });
  for (const room of ['src', 'sip', 'signaling']) {
    cpSync(join(ROOT, 'dist', room), join(folder, 'dist', room), { recursive: true });
  }
  const tables = join('src', 'text', 'tables');
  mkdirSync(dirname(join(folder, tables)), { recursive: true });
  for (const part of ['node_modules', 'package.json', 'public', tables, join(RELEASE, 'parley.node')]) {
    symlinkSync(join(ROOT, part), join(folder, part));
  }
  compile(folder, sources);
  return folder;
}

function compile(folder: string, sources: string): void {
  const test = join(NATIVE, 'test', 'fake_gpu');
  const identity = `-DPARLEY_PLUGIN_INTERFACE="${sources}"`;
  const build = (output: string, ...inputs: string[]) =>
    execFileSync(process.env.CXX ?? 'c++', [...OPTIONS, identity, '-o', output, ...inputs]);
  build(join(folder, 'libcuda.so.1'), join(test, 'driver.cc'));
  const kernels = ['kernels.cc', 'speech_kernels.cc'].map((name) => join(NATIVE, 'kernels', name));
  build(join(folder, RELEASE, 'parley_cuda.so'), join(test, 'backend.cc'), ...kernels);
}

interface GpuMachine {
  /** CUDA version of the driver, as 1000 * major + 10 * minor. */
  readonly cuda?: number;
  readonly gpus?: number;
  /** The machine has no driver at all. */
  readonly noDriver?: true;
  /** The backend was built from other sources than the addon. */
  readonly otherSources?: true;
  readonly environment?: Readonly<Record<string, string>>;
  readonly matter?: Matter;
}

/** See native/test/fake_gpu/backend.cc. */
type Matter = 'well' | 'lost' | 'full' | 'taken' | 'dead';

type LogLine = Readonly<Record<string, unknown>>;

export class GpuServer {
  readonly log: LogLine[] = [];
  readonly #program: string;
  /** Its own, for what it keeps. */
  readonly #folder: string;
  readonly #child: ChildProcess;
  readonly #exited: Promise<number | null>;
  #errors = '';

  private constructor({ program, folder }: { program: string; folder: string }, machine: GpuMachine) {
    this.#program = program;
    this.#folder = folder;
    this.#child = spawn(process.execPath, [join(program, 'dist', 'src', 'main.js')], {
      cwd: folder,
      env: this.#environment(machine),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const { stdout, stderr } = this.#child;
    assert.ok(stdout !== null && stderr !== null);
    stderr.on('data', (chunk: Buffer) => (this.#errors += chunk.toString()));
    createInterface(stdout).on('line', (line) => this.log.push(JSON.parse(line) as LogLine));
    this.#exited = new Promise((resolve) => this.#child.once('close', resolve));
  }

  /** A server that may come up, or may not. */
  static start(t: TestContext, machine: GpuMachine = {}): GpuServer {
    const program = programOf(machine.otherSources === true ? 'others' : pluginInterface());
    const folder = temporaryFolder(t);
    const server = new GpuServer({ program, folder }, machine);
    t.after(() => server.stop());
    return server;
  }

  #environment({ cuda, gpus, noDriver, environment = {}, matter = 'well' }: GpuMachine): NodeJS.ProcessEnv {
    this.becomes(matter);
    return {
      PATH: process.env.PATH,
      HOME: this.#folder,
      PORT: '0',
      SIP_ENABLED: '0',
      DEVICE: 'cuda',
      MODEL_DIR: join(GOLDEN, 'tiny-customvoice'),
      ICE_HOST_ADDRESSES: '127.0.0.1',
      PARLEY_FAKE_GPU: this.#matterFile,
      ...(noDriver === true ? {} : { LD_LIBRARY_PATH: this.#program }),
      ...(cuda === undefined ? {} : { PARLEY_FAKE_CUDA: String(cuda) }),
      ...(gpus === undefined ? {} : { PARLEY_FAKE_GPUS: String(gpus) }),
      ...environment,
    };
  }

  get #matterFile(): string {
    return join(this.#folder, 'matter');
  }

  /** Sets the state of its GPU from now on. */
  becomes(matter: Matter): void {
    writeFileSync(this.#matterFile, matter);
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** The URL on which it listens. */
  async url(): Promise<string> {
    const line = await this.logged('parley listens');
    return String(line.url);
  }

  /**
   * The first line of its log with this message; where an engine is named, of that one: others load beside
   * it.
   */
  async logged(message: string, of?: string): Promise<LogLine> {
    const isIt = ({ msg, engine }: LogLine) => msg === message && (of === undefined || engine === of);
    return await this.until(`"${message}" in its log`, () => this.log.find(isIt));
  }

  /** Exit code and output of a server that exits without a signal from the test. */
  async ended(): Promise<{ readonly code: number | null; readonly said: string }> {
    const code = await this.#exited;
    return { code, said: this.#errors + this.log.map((line) => JSON.stringify(line)).join('\n') };
  }

  async health(): Promise<{ readonly code: number; readonly body: LogLine }> {
    const answer = await fetch(`${await this.url()}/health`);
    return { code: answer.status, body: (await answer.json()) as LogLine };
  }

  async metric(name: string): Promise<string | undefined> {
    const text = await (await fetch(`${await this.url()}/metrics`)).text();
    return text.split('\n').find((line) => line.startsWith(`${name} `));
  }

  async say(body: object): Promise<Response> {
    return await fetch(`${await this.url()}/v1/audio/speech`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'parley', response_format: 'pcm', ...body }),
    });
  }

  /** Looks again and again until `found` gives something; fails where the server has ended. */
  async until<T>(what: string, found: () => Promise<T | undefined> | T | undefined): Promise<T> {
    const lastMs = performance.now() + START_LIMIT_MS;
    while (performance.now() < lastMs) {
      const value = await found();
      if (value !== undefined) return value;
      if (this.#child.exitCode !== null) assert.fail(`no ${what}: ${(await this.ended()).said}`);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    return assert.fail(`no ${what} within ${START_LIMIT_MS} ms`);
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGTERM');
    this.#child.kill('SIGTERM'); // without waiting for calls
    await this.#exited;
  }
}
