// A program of a bench on a processor of its own, and what it uses: processor
// time of all its threads, resident memory, descriptors. Its parent's death
// ends it.
import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

const TICKS_PER_SECOND = 100; // USER_HZ
const USER_FIELD = 11; // index of utime in /proc/<pid>/stat after the name (proc(5)); stime follows
const TERM_LIMIT_MS = 5000;
const NS_PER_S = 1e9;

export class PinnedProgram {
  readonly child: ChildProcess;
  /** Resolves with its code, null after a signal. */
  readonly exited: Promise<number | null>;
  #cpuSeconds = 0;

  constructor(core: string, name: string, args: readonly string[], options: SpawnOptions = {}) {
    const pinned = ['--pdeathsig', 'KILL', '--', 'taskset', '-c', core, name, ...args];
    this.child = spawn('setpriv', pinned, { stdio: ['ignore', 'ignore', 'inherit'], ...options });
    this.exited = new Promise((resolve, reject) => {
      this.child.once('error', reject).once('exit', (code) => resolve(code));
    });
    this.exited.catch(() => undefined); // callers that await it see the error
  }

  /** Seconds of processor time so far; once it has ended, as when last asked. */
  cpuSeconds(): number {
    const stat = this.#read('stat');
    if (stat === undefined) return this.#cpuSeconds;
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [user = 0, system = 0] = fields.slice(USER_FIELD, USER_FIELD + 2).map(Number);
    this.#cpuSeconds = (user + system) / TICKS_PER_SECOND;
    return this.#cpuSeconds;
  }

  /**
   * Processor time of its main thread, and for all threads of a name, finer. Threads that have ended are not
   * in it.
   */
  threadSeconds(): ReadonlyMap<string, number> {
    const seconds = new Map<string, number>();
    for (const thread of readdirSync(`/proc/${this.child.pid}/task`)) {
      const name = thread === String(this.child.pid) ? 'main' : this.#read(`task/${thread}/comm`)?.trim();
      const onProcessor = this.#read(`task/${thread}/schedstat`)?.split(' ')[0];
      if (name === undefined || onProcessor === undefined) continue;
      seconds.set(name, (seconds.get(name) ?? 0) + Number(onProcessor) / NS_PER_S);
    }
    return seconds;
  }

  residentMb(): number {
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(this.#read('status') ?? '')?.[1] ?? NaN) / 1024;
  }

  descriptors(): number {
    return readdirSync(`/proc/${this.child.pid}/fd`).length;
  }

  async close(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    this.child.kill('SIGTERM');
    const kill = setTimeout(() => this.child.kill('SIGKILL'), TERM_LIMIT_MS);
    await this.exited.finally(() => clearTimeout(kill));
  }

  #read(name: string): string | undefined {
    try {
      const text = readFileSync(`/proc/${this.child.pid}/${name}`, 'utf8');
      return text.includes(') Z ') ? undefined : text;
    } catch {
      return undefined;
    }
  }
}
