// A child process of the bench webrtc on a processor of its own, which answers one question after another.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PinnedProgram } from '../telephone/pinned-program.js';

export const SERVER_CORE = '0';
export const CLIENT_CORE = '1';

const TICKS_PER_SECOND = 100; // USER_HZ
const IDLE_FIELDS = [4, 5]; // idle and iowait in a line of /proc/stat (proc(5))
const GUEST_FIELDS = 9; // guest time and what follows is in the fields before

/** Seconds since boot in which a processor was busy with anything. */
export function busySeconds(core: string): number {
  const lines = readFileSync('/proc/stat', 'utf8').split('\n');
  const fields = lines.find((line) => line.startsWith(`cpu${core} `))?.split(' ') ?? [];
  const busy = fields.slice(0, GUEST_FIELDS).filter((_, field) => field > 0 && !IDLE_FIELDS.includes(field));
  return busy.reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND;
}

interface ProgramOptions {
  readonly core: string;
  /** The compiled file, beside this one. */
  readonly file: string;
  readonly args?: readonly string[];
  readonly nodeOptions?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

export class BenchProgram {
  readonly program: PinnedProgram;
  /** The program's first message. */
  readonly started: object;
  #last: Promise<unknown> = Promise.resolve();

  private constructor(program: PinnedProgram, started: object) {
    this.program = program;
    this.started = started;
  }

  /** Resolves when the program has sent its first message. */
  static async start(options: ProgramOptions): Promise<BenchProgram> {
    const { core, file, args = [], nodeOptions = [], environment } = options;
    const script = fileURLToPath(new URL(file, import.meta.url));
    const program = new PinnedProgram(core, process.execPath, [...nodeOptions, script, ...args], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      env: { ...process.env, ...environment },
    });
    return new BenchProgram(program, await messageOf(program));
  }

  /** Sends a message and resolves with the answer. Questions are asked in turn. */
  ask<Answer extends object>(message: object): Promise<Answer> {
    const asked = this.#last.then(async () => {
      const answer = messageOf(this.program);
      this.program.child.send(message);
      return (await answer) as Answer;
    });
    this.#last = asked.catch(() => undefined);
    return asked;
  }

  async close(): Promise<void> {
    if (this.program.child.connected) this.program.child.disconnect();
    await this.program.exited;
  }
}

/** The next message; rejects if the program exits first. */
async function messageOf({ child, exited }: PinnedProgram): Promise<object> {
  const ended = exited.then((code) =>
    Promise.reject(new Error(`${child.spawnargs.at(-1)} ended with ${code}`)),
  );
  ended.catch(() => undefined);
  const [message] = (await Promise.race([once(child, 'message'), ended])) as [object];
  return message;
}
