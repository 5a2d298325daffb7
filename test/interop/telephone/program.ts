// A program of somebody else's that a test starts, reads and ends: by its own
// process group, within a bound, and never outliving the test (its parent's
// death kills it, too).
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const KEPT_CHARACTERS = 200_000; // program output kept
const TAIL_CHARACTERS = 4000; // in a failure's message
const TERM_LIMIT_MS = 3000; // a program that has not ended by then is killed

interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

interface ProgramOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

interface Watcher {
  readonly pattern: RegExp;
  readonly found: (match: RegExpExecArray) => void;
}

export class Program {
  /** When its streams are closed, too. Rejects where it could not be started. */
  readonly exited: Promise<Exit>;
  readonly #name: string;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #watchers = new Set<Watcher>();
  #output = '';
  #closed: Promise<void> | undefined;

  constructor(name: string, args: readonly string[], { cwd, env }: ProgramOptions = {}) {
    this.#name = name;
    this.#child = spawn('setpriv', ['--pdeathsig', 'KILL', '--', name, ...args], {
      cwd,
      detached: true, // leads a group: those that it forks can be ended with it
      env: { ...process.env, TERM: 'dumb', ...env },
    });
    this.#child.stdin.on('error', () => undefined); // it may have closed its input
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => this.#heard(text));
    }
    this.exited = new Promise((resolve, reject) => {
      this.#child.once('error', reject);
      this.#child.once('close', (code, signal) => resolve({ code, signal }));
    });
    this.exited.catch(() => undefined); // callers that await it see the error
  }

  /** The latest output of both streams together. */
  get output(): string {
    return this.#output;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** One line to its standard input. */
  write(line: string): void {
    this.#child.stdin.write(`${line}\n`);
  }

  /**
   * Resolves once what it printed, before or after the call, matches; rejects with its last lines when it
   * ends or the time is over.
   */
  prints(pattern: RegExp, withinMs: number): Promise<RegExpExecArray> {
    const already = pattern.exec(this.#output);
    if (already !== null) return Promise.resolve(already);
    return this.#within(`print ${pattern}`, withinMs, (found) => {
      const watcher = { pattern, found };
      this.#watchers.add(watcher);
      return () => this.#watchers.delete(watcher);
    });
  }

  /** Resolves once the condition holds, looked at every 20 ms; rejects as `prints` does. */
  async until(what: string, withinMs: number, condition: () => boolean): Promise<void> {
    if (condition()) return;
    await this.#within<void>(what, withinMs, (found) => {
      const timer = setInterval(() => condition() && found(), 20);
      return () => clearInterval(timer);
    });
  }

  /** The last lines that it printed, for a failure's message. */
  tail(): string {
    return this.#output.slice(-TAIL_CHARACTERS);
  }

  /** Ends it: politely, then not. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#child.kill('SIGTERM');
    const kill = setTimeout(() => this.#killGroup(), TERM_LIMIT_MS);
    await this.exited.catch(() => undefined);
    clearTimeout(kill);
  }

  /** Kills the process group. A surviving child process would keep the output open, and `exited` pending. */
  #killGroup(): void {
    const { pid } = this.#child;
    try {
      if (pid !== undefined) process.kill(-pid, 'SIGKILL');
    } catch {
      // the last of the group has just ended
    }
  }

  #heard(text: string): void {
    this.#output = (this.#output + text).slice(-KEPT_CHARACTERS);
    for (const { pattern, found } of this.#watchers) {
      const match = pattern.exec(this.#output);
      if (match !== null) found(match);
    }
  }

  #within<T>(what: string, withinMs: number, watch: (found: (value: T) => void) => () => void): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const fail = (why: string) => {
        stop();
        reject(new Error(`${this.#name} did not ${what}: ${why}\n${this.tail()}`));
      };
      const timer = setTimeout(() => fail(`${withinMs} ms are over`), withinMs);
      const onEnd = () => fail('it ended');
      this.#child.once('close', onEnd);
      const unwatch = watch((value) => {
        stop();
        resolve(value);
      });
      const stop = () => {
        unwatch();
        clearTimeout(timer);
        this.#child.off('close', onEnd);
      };
      this.exited.then(onEnd, (error: Error) => fail(error.message));
    });
  }
}

/** A folder of its own for what a program reads and writes. */
export class ScratchFolder {
  readonly path: string = mkdtempSync(join(tmpdir(), 'parley-telephone-'));

  at(name: string): string {
    return join(this.path, name);
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
