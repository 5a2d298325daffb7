// A coturn on loopback, with credentials that expire, for clients that may use nothing but a relay.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:net';
import { freePorts } from '../fakes/free-port.js';
import { until } from '../fakes/until.js';

const LOOPBACK = '127.0.0.1';

export class TurnServer {
  readonly port: number;
  readonly #process: ChildProcess;
  readonly #folder: string;

  private constructor(port: number, process: ChildProcess, folder: string) {
    this.port = port;
    this.#process = process;
    this.#folder = folder;
  }

  /** Resolves when it listens. */
  static async open(secret: string): Promise<TurnServer> {
    const port = await freePorts();
    const folder = mkdtempSync(join(tmpdir(), 'parley-turn-'));
    const options = {
      'listening-ip': LOOPBACK,
      'listening-port': port,
      'relay-ip': LOOPBACK,
      realm: 'parley',
      'static-auth-secret': secret,
      userdb: join(folder, 'turndb'),
      pidfile: join(folder, 'pid'),
      'log-file': join(folder, 'log'),
    };
    const flags = ['-n', '--use-auth-secret', '--allow-loopback-peers', '--no-tls', '--no-dtls', '--no-cli'];
    const words = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
    const child = spawn('turnserver', [...flags, ...words, '--simple-log'], { stdio: 'ignore', cwd: folder });
    const server = new TurnServer(port, child, folder);
    const failure = once(child, 'error').then(([error]) => Promise.reject(error as Error));
    try {
      await Promise.race([until(() => accepts(port)), failure]);
    } catch (error) {
      await server.close();
      throw error;
    }
    return server;
  }

  async close(): Promise<void> {
    const { exitCode, signalCode, pid } = this.#process;
    if (pid !== undefined && exitCode === null && signalCode === null) {
      const exit = once(this.#process, 'exit');
      this.#process.kill('SIGKILL');
      await exit;
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** True if a TCP connection can be made. */
async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, LOOPBACK);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
