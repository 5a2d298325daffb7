// Calls by SIPp at a rate, with the time of each call's set-up.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePorts } from '../../fakes/free-port.js';
import { ScratchFolder } from '../../interop/telephone/program.js';
import { readStatistics, type Address } from '../../interop/telephone/sipp.js';
import { LOAD_CORE } from './bench-phone.js';
import { PinnedProgram } from './pinned-program.js';

const SCENARIO = join(import.meta.dirname, '..', '..', '..', '..', 'test', 'bench', 'telephone', 'call.xml');
const WATCH_MS = 100;
const MOST_AT_ONCE = 50_000; // more than there are: SIPp begins calls when they are due, however many stand

interface SippLoadOptions {
  readonly to: Address;
  readonly sinkPort: number;
  readonly calls: number;
  readonly perSecond: number;
  readonly holdMs: number;
  /** Called user: SILENT for no speech, any other for the greeting. */
  readonly service?: string;
  /** Calls that stand at once; without a limit they begin when they are due. */
  readonly atOnce?: number;
}

export interface SippCounts {
  /** Calls that were answered and went to their end. */
  readonly done: number;
  readonly refused: number;
  readonly failed: number;
  readonly retransmissions: number;
  readonly reasons: Readonly<Record<string, number>>;
  /** Milliseconds from INVITE to 200. */
  readonly setUpMs: readonly number[];
  readonly cpuSeconds: number;
  readonly seconds: number;
}

export class SippLoad {
  readonly ended: Promise<SippCounts>;
  readonly #program: PinnedProgram;
  readonly #folder: ScratchFolder;
  readonly #startMs = performance.now();

  private constructor(program: PinnedProgram, folder: ScratchFolder) {
    this.#program = program;
    this.#folder = folder;
    this.ended = this.#end();
  }

  static async start(options: SippLoadOptions): Promise<SippLoad> {
    const { to, sinkPort, calls, perSecond, holdMs, service = 'bench', atOnce = MOST_AT_ONCE } = options;
    const [folder, port, control] = [new ScratchFolder(), await freePorts(), await freePorts()];
    const limitS = Math.ceil(calls / perSecond + holdMs / 1000) + 60;
    const args = [
      [`${to.host}:${to.port}`, '-sf', SCENARIO, '-i', '127.0.0.1', '-p', `${port}`, '-cp', `${control}`],
      ['-m', `${calls}`, '-r', `${perSecond}`, '-l', `${atOnce}`, '-d', `${holdMs}`, '-s', service],
      ['-key', 'sink_port', `${sinkPort}`, '-t', 'u1', '-nostdin', '-timer_resol', '1'],
      ['-timeout', `${limitS}s`, '-timeout_error', '-buff_size', '4194304'],
      ['-trace_stat', '-stf', folder.at('statistics'), '-fd', '1', '-trace_rtt', '-rtt_freq', '1'],
    ];
    const program = new PinnedProgram(LOAD_CORE, 'sipp', args.flat(), {
      cwd: folder.path,
      env: { ...process.env, TERM: 'dumb' },
      stdio: ['ignore', 'ignore', 'ignore'],
    });
    return new SippLoad(program, folder);
  }

  cpuSeconds(): number {
    return this.#program.cpuSeconds();
  }

  /** Ends it in the midst of its calls, which the far end is not told; `ended` has what was counted. */
  async kill(): Promise<void> {
    this.#program.child.kill('SIGKILL');
    await this.ended;
  }

  async #end(): Promise<SippCounts> {
    const watch = setInterval(() => this.#program.cpuSeconds(), WATCH_MS);
    const code = await this.#program.exited.finally(() => clearInterval(watch));
    const seconds = (performance.now() - this.#startMs) / 1000;
    if (code !== 0 && code !== 1 && code !== null) throw new Error(`SIPp ended with ${code}`);
    const statistics = readFileSync(this.#folder.at('statistics'), 'utf8');
    const { successful, failed, retransmissions, reasons } = readStatistics(statistics);
    const refused = counter(statistics, 'refused');
    const setUpMs = this.#responseTimes();
    const cpuSeconds = this.#program.cpuSeconds();
    this.#folder.remove();
    return {
      done: successful - refused,
      refused,
      failed,
      retransmissions,
      reasons,
      setUpMs,
      cpuSeconds,
      seconds,
    };
  }

  /** Lines of `date;milliseconds;name`. */
  #responseTimes(): number[] {
    const name = readdirSync(this.#folder.path).find((file) => file.endsWith('_rtt.csv'));
    if (name === undefined) return [];
    const lines = readFileSync(this.#folder.at(name), 'utf8').trim().split('\n').slice(1);
    return lines.map((line) => Number(line.split(';')[1]));
  }
}

/** SIPp's counters of scenarios stand under their names. */
function counter(statistics: string, name: string): number {
  const lines = statistics.trim().split('\n');
  const at = (lines[0] ?? '').split(';').indexOf(`${name}(C)`);
  return Number((lines.at(-1) ?? '').split(';')[at] ?? 0);
}
