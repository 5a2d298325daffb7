// A Redis of a test's own: on the loopback interface, without a file, gone with
// the test. Debian's redis-tools has the server under the name of a tool that it
// becomes by another first argument; the package redis-server would also run
// one as a service of the machine.
import { spawn, type ChildProcess } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { freePorts } from '../fakes/free-port.js';

const START_LIMIT_MS = 10_000;

export class RedisUnderTest {
  readonly port: number;
  readonly #args: readonly string[];
  #child: ChildProcess | undefined;

  private constructor(port: number, args: readonly string[]) {
    this.port = port;
    this.#args = args;
  }

  /**
   * One that runs. `args` of redis-server; a TLS server has `port` 0 among them and `tls-port` is set to this
   * port.
   */
  static async open(args: readonly string[] = [], tls = false): Promise<RedisUnderTest> {
    const port = await freePorts();
    const ports = tls ? ['--port', '0', '--tls-port', String(port)] : ['--port', String(port)];
    const redis = new RedisUnderTest(port, [...ports, ...args]);
    await redis.start();
    return redis;
  }

  /** Resolves when it takes connections. */
  async start(): Promise<void> {
    const quiet = ['--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', '/tmp'];
    const child = spawn(programPath(), [...quiet, ...this.#args], {
      argv0: 'redis-server',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    process.once('exit', () => child.kill('SIGKILL'));
    this.#child = child;
    await new Promise<void>((resolve, reject) => {
      let said = '';
      const limit = setTimeout(
        () => reject(new Error(`redis-server is not ready:\n${said}`)),
        START_LIMIT_MS,
      );
      child.stdout.on('data', (data: Buffer) => {
        said += data.toString();
        if (!said.includes('Ready to accept connections')) return;
        clearTimeout(limit);
        resolve();
      });
      child.once('error', reject);
      child.once('exit', (code) => reject(new Error(`redis-server ended with ${code}:\n${said}`)));
    });
  }

  /** SIGKILL ends it, SIGSTOP makes it deaf, SIGCONT lets it hear again. */
  async signal(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    if (signal !== 'SIGKILL') return;
    await gone;
    this.#child = undefined;
  }

  close(): Promise<void> {
    return this.signal('SIGKILL');
  }
}

function programPath(): string {
  for (const name of ['redis-server', 'redis-check-rdb']) {
    for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
      try {
        accessSync(join(folder, name), constants.X_OK);
        return join(folder, name);
      } catch {
        // Not in this one.
      }
    }
  }
  throw new Error('there is no redis-server; ./setup.sh full installs one');
}
