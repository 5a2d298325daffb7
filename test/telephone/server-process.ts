// The server as a process of its own, as users start it: its output, and how it ends.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { TestContext } from 'node:test';
import { freePorts, RTP_PORTS_OF_SERVER } from '../fakes/free-port.js';
import { kept } from '../interop/telephone/kept.js';

const START_LIMIT_MS = 60_000;
const MAIN = join(import.meta.dirname, '..', '..', 'src', 'main.js');

export class ServerProcess {
  readonly port: number;
  output = '';
  readonly #child: ChildProcess;
  /** Exit code. */
  readonly exited: Promise<number | null>;
  #isOver = false;

  /** `mostDescriptors`: the limit of open files, hard and soft. */
  constructor(port: number, environment: Readonly<Record<string, string>>, mostDescriptors?: number) {
    this.port = port;
    const own = {
      PATH: process.env['PATH'] ?? '',
      PORT: '0',
      ENGINE: 'flite',
      LOG_LEVEL: 'info',
      PRELOAD_MODEL: '0',
      SIP_PORT: `${port}`,
      ...RTP_PORTS_OF_SERVER,
    };
    const limit = mostDescriptors === undefined ? '' : `ulimit -n ${mostDescriptors}; `;
    this.#child = spawn('sh', ['-c', `${limit}exec "$0" "$1"`, process.execPath, MAIN], {
      env: { ...own, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child.stdout?.on('data', (bytes: Buffer) => (this.output += bytes.toString()));
    this.#child.stderr?.on('data', (bytes: Buffer) => (this.output += bytes.toString()));
    this.exited = once(this.#child, 'close').then(([code]) => {
      this.#isOver = true;
      return code as number | null;
    });
  }

  /** A listening server, until the test is over. */
  static async start(
    t: TestContext,
    environment: Readonly<Record<string, string>> = {},
    mostDescriptors?: number,
  ): Promise<ServerProcess> {
    const started = await kept(t, new ServerProcess(await freePorts(2), environment, mostDescriptors));
    await started.said('parley listens');
    return started;
  }

  /** A listening server, which its owner closes. */
  static async open(environment: Readonly<Record<string, string>> = {}): Promise<ServerProcess> {
    const opened = new ServerProcess(await freePorts(2), environment);
    await opened.said('parley listens');
    return opened;
  }

  /** Resolves when it has logged that; a busy machine may take its time over a start. */
  async said(words: string): Promise<void> {
    const limit = AbortSignal.timeout(START_LIMIT_MS);
    while (!this.output.includes(words)) {
      const exited = this.exited.then(() => Promise.reject(new Error(this.output)));
      await Promise.race([once(this.#child.stdout as Readable, 'data', { signal: limit }), exited]);
    }
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Its HTTP port, known once it listens. */
  get url(): string {
    return /"url":"([^"]+)"/.exec(this.output)?.[1] ?? '';
  }

  signal(name: 'SIGTERM' | 'SIGINT'): void {
    this.#child.kill(name);
  }

  async close(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.exited;
  }
}
