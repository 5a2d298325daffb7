// The parent's side of the telephone bench's server.
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePorts } from '../../fakes/free-port.js';
import type { Address } from '../../interop/telephone/sipp.js';
import type { PhoneFigures, ToPhoneServer } from './phone-server.js';
import { ScratchFolder } from '../../interop/telephone/program.js';
import { PinnedProgram } from './pinned-program.js';

const SCRIPT = fileURLToPath(new URL('./phone-server.js', import.meta.url));
export const SERVER_CORE = '0';
export const LOAD_CORE = '1';

/** Number whose calls the server answers without speaking. */
export const SILENT = 'silent';
const ROUTES = { routes: [{ to: SILENT, wait: {} }] };
const LOOK_MS = 250;
const SETTLE_LIMIT_MS = 30_000;

/** Some three seconds of the instant engine. */
const SHORT_GREETING = 'Your order has shipped. It arrives on Tuesday.';
/** More than two minutes: longer than a call of any run. */
export const LONG_GREETING = Array.from(
  { length: 30 },
  (_, n) => `This is sentence number ${n} of what every caller hears from the beginning on.`,
).join(' ');
const ENVIRONMENT = {
  PORT: '0',
  LOG_LEVEL: 'warn',
  MAX_CALLS: '20000',
  SIP_RATE: '100000',
  SIP_CODECS: 'PCMU',
  RTP_PORT_MIN: '2048',
  RTP_PORT_MAX: '32767',
  RTP_PORT_DRAIN: '1',
  VOICES_DIR: '/nonexistent/voices',
};

export interface BenchPhoneOptions {
  /** Speech that costs nothing to make, or the embedded engine's. */
  readonly engine?: 'instant' | 'flite';
  readonly environment?: Readonly<Record<string, string>>;
  /** For node, such as --cpu-prof. */
  readonly nodeOptions?: readonly string[];
}

export class BenchPhone {
  readonly address: Address;
  readonly program: PinnedProgram;

  readonly #folder: ScratchFolder;

  private constructor(port: number, program: PinnedProgram, folder: ScratchFolder) {
    this.address = { host: '127.0.0.1', port };
    this.program = program;
    this.#folder = folder;
  }

  static async start(options: BenchPhoneOptions = {}): Promise<BenchPhone> {
    const { engine = 'instant', environment, nodeOptions = [] } = options;
    const port = await freePorts();
    const folder = new ScratchFolder();
    const routes = folder.at('routes.json');
    writeFileSync(routes, JSON.stringify(ROUTES));
    const own = {
      ...ENVIRONMENT,
      SIP_ROUTES: routes,
      SIP_PORT: `${port}`,
      GREETING: SHORT_GREETING,
      ...environment,
    };
    const program = new PinnedProgram(SERVER_CORE, process.execPath, [...nodeOptions, SCRIPT, engine], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      env: { ...process.env, ...own },
    });
    await told(program);
    return new BenchPhone(port, program, folder);
  }

  /** Figures count from here; room for so many packets' times. */
  begin(mostPackets = 1): void {
    this.#say({ type: 'begin', mostPackets });
  }

  async figures(): Promise<PhoneFigures> {
    const answer = told(this.program);
    this.#say({ type: 'figures' });
    return (await answer) as PhoneFigures;
  }

  /** Waits until overload control refuses no calls because of earlier load. */
  async settled(): Promise<void> {
    for (let waitedMs = 0; (await this.figures()).refusedShare > 0; waitedMs += LOOK_MS) {
      if (waitedMs > SETTLE_LIMIT_MS) throw new Error('the server went on refusing calls');
      await sleep(LOOK_MS);
    }
  }

  /** Collects garbage where node was started with --expose-gc. */
  collect(): void {
    this.#say({ type: 'collect' });
  }

  async close(): Promise<void> {
    this.program.child.disconnect();
    await this.program.exited;
    this.#folder.remove();
  }

  #say(message: ToPhoneServer): void {
    this.program.child.send(message);
  }
}

/** The child's next message; rejects if the child exits first. */
async function told({ child, exited }: PinnedProgram): Promise<unknown> {
  const ended = exited.then((code) => Promise.reject(new Error(`the server ended with ${code}`)));
  const [message] = (await Promise.race([once(child, 'message'), ended])) as [unknown];
  return message;
}
