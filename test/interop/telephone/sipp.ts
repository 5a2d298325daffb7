// SIPp as a peer: one scenario file against an address, or waiting for calls,
// with what it counted and what went over the wire.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePorts, isHeld } from '../../fakes/free-port.js';
import { Program, ScratchFolder } from './program.js';

const SCENARIOS = join(
  import.meta.dirname,
  '..',
  '..',
  '..',
  '..',
  'test',
  'interop',
  'telephone',
  'scenarios',
);
const SERVICE = 'parley';
const START_LIMIT_MS = 5000;
const SPARE_MS = 5000; // beyond its own time limit, before a run counts as hung
const TAIL_CHARACTERS = 6000;

export interface Address {
  readonly host: string;
  readonly port: number;
}

export interface SippOptions {
  /** udp, if absent. */
  readonly transport?: 'udp' | 'tcp';
  /** Values of the scenario's `[name]`s. */
  readonly keys?: Readonly<Record<string, string | number>>;
  /** Calls altogether, and that many beginning in a second, and open at once; 1, 10 and 100 if absent. */
  readonly calls?: number;
  readonly perSecond?: number;
  readonly atOnce?: number;
  /** Digest credentials: those that the scenario sends, or those that it requires. */
  readonly credentials?: { readonly user: string; readonly password: string };
  /** Milliseconds of a pause that states none. */
  readonly holdMs?: number;
  /** User part of the Request-URI, `[service]`. */
  readonly service?: string;
  /** Lines of the injected file, one a call in turn: `[field0]`, `[field1]`, ... */
  readonly rows?: readonly (readonly string[])[];
  /** Listening port; a free port if absent. */
  readonly port?: number;
  /** Seconds until the run is broken off and fails; 20 if absent. */
  readonly limitS?: number;
}

interface SippResult {
  readonly successful: number;
  readonly failed: number;
  readonly retransmissions: number;
  /** Requests and answers that belonged to no call. */
  readonly strays: number;
  /** Counters of failures that are not zero, under SIPp's own names. */
  readonly reasons: Readonly<Record<string, number>>;
  readonly exitCode: number | null;
}

export class Sipp {
  /** Local address, for sending and listening. */
  readonly address: Address;
  readonly #scenario: string;
  readonly #folder: ScratchFolder;
  readonly #program: Program;
  readonly #limitMs: number;
  #result: Promise<SippResult> | undefined;
  #closed: Promise<void> | undefined;

  private constructor(port: number, scenario: string, options: SippOptions, to: Address | undefined) {
    this.address = { host: '127.0.0.1', port };
    this.#scenario = scenario;
    this.#folder = new ScratchFolder();
    this.#limitMs = (options.limitS ?? 20) * 1000;
    const place = to === undefined ? undefined : `${to.host}:${to.port}`;
    // The digest's URI must be the Request-URI (RFC 7616, section 3.4.6). SIPp leaves out the user.
    const digestUri = ['-auth_uri', `${options.service ?? SERVICE}@${place ?? ''}`];
    this.#program = new Program('sipp', [
      ...(place === undefined ? [] : [place, ...(options.credentials === undefined ? [] : digestUri)]),
      ...sippArguments(scenario, port, options, this.#folder),
    ]);
  }

  /** Begins calls to `to`. */
  static async call(to: Address, scenario: string, options: SippOptions = {}): Promise<Sipp> {
    return new Sipp(await freePorts(2), scenario, options, to);
  }

  /**
   * Resolves once it listens for calls. `to` is where requests of its own go, in scenarios that have any
   * outside a dialog.
   */
  static async answer(scenario: string, options: SippOptions = {}, to?: Address): Promise<Sipp> {
    const sipp = new Sipp(options.port ?? (await freePorts(2)), scenario, options, to);
    try {
      const { transport = 'udp' } = options;
      await sipp.#program.until('listen', START_LIMIT_MS, () => isHeld(transport, sipp.address.port));
      return sipp;
    } catch (error) {
      await sipp.close();
      throw error;
    }
  }

  /** SIPp's counts; resolves when it has ended. */
  result(): Promise<SippResult> {
    this.#result ??= this.#ended();
    return this.#result;
  }

  /**
   * As `result`, but rejects with its error log and the last messages unless every call went as the scenario
   * says.
   */
  async succeeded(): Promise<SippResult> {
    const result = await this.result();
    if (result.failed > 0 || result.successful === 0 || result.exitCode !== 0) throw this.failure(result);
    return result;
  }

  /** Everything that went over the wire, as SIPp wrote it down. */
  messages(): string {
    return this.#read('messages');
  }

  /** An error that describes a failed run, with SIPp's logs and messages. */
  failure(result?: SippResult): Error {
    const parts = [
      `SIPp ${this.#scenario}: ${JSON.stringify(result ?? 'is still running')}`,
      this.#read('errors').slice(-TAIL_CHARACTERS),
      this.messages().slice(-TAIL_CHARACTERS),
      result === undefined || result.exitCode === 0 ? '' : this.#program.tail(),
    ];
    return new Error(parts.filter((part) => part !== '').join('\n'));
  }

  close(): Promise<void> {
    this.#closed ??= this.#program.close().then(() => this.#folder.remove());
    return this.#closed;
  }

  async #ended(): Promise<SippResult> {
    let timer: NodeJS.Timeout | undefined;
    const overdue = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(this.failure()), this.#limitMs + SPARE_MS);
    });
    const { code } = await Promise.race([this.#program.exited, overdue]).finally(() => clearTimeout(timer));
    return { ...readStatistics(this.#read('statistics')), exitCode: code };
  }

  #read(name: string): string {
    const path = this.#folder.at(name);
    return existsSync(path) ? readFileSync(path, 'utf8') : '';
  }
}

function sippArguments(
  scenario: string,
  port: number,
  options: SippOptions,
  folder: ScratchFolder,
): string[] {
  const { transport = 'udp', keys = {}, calls = 1, perSecond = 10, atOnce = 100 } = options;
  const { holdMs = 200, service = SERVICE, rows, limitS = 20, credentials } = options;
  if (rows !== undefined) writeRows(folder.at('rows'), rows);
  return [
    ['-sf', join(SCENARIOS, `${scenario}.xml`), '-i', '127.0.0.1', '-p', `${port}`, '-cp', `${port + 1}`],
    ['-t', transport === 'udp' ? 'u1' : 't1', '-m', `${calls}`, '-r', `${perSecond}`, '-l', `${atOnce}`],
    ['-d', `${holdMs}`, '-s', service, '-timeout', `${limitS}s`, '-timeout_error', '-nostdin'],
    ['-trace_err', '-error_file', folder.at('errors'), '-trace_msg', '-message_file', folder.at('messages')],
    ['-trace_stat', '-stf', folder.at('statistics'), '-fd', '1'],
    credentials === undefined ? [] : ['-au', credentials.user, '-ap', credentials.password],
    Object.entries({ ...credentials, ...keys }).flatMap(([name, value]) => ['-key', name, `${value}`]),
    rows === undefined ? [] : ['-inf', folder.at('rows')],
  ].flat();
}

function writeRows(path: string, rows: readonly (readonly string[])[]): void {
  writeFileSync(path, ['SEQUENTIAL', ...rows.map((row) => row.join(';')), ''].join('\n'));
}

/** The last line of SIPp's statistics; nothing counted where it wrote none. */
export function readStatistics(text: string): Omit<SippResult, 'exitCode'> {
  const lines = text.trim().split('\n');
  const names = (lines[0] ?? '').split(';');
  const values = (lines.length > 1 ? (lines.at(-1) ?? '') : '').split(';');
  const count = (name: string): number => Number(values[names.indexOf(`${name}(C)`)] ?? 0);
  const reasons = names
    .map((name) => /^(Failed\w+)\(C\)$/.exec(name)?.[1] ?? '')
    .filter((name) => name !== '' && name !== 'FailedCall' && count(name) > 0);
  return {
    successful: count('SuccessfulCall'),
    failed: count('FailedCall'),
    retransmissions: count('Retransmissions'),
    strays: count('OutOfCallMsgs'),
    reasons: Object.fromEntries(reasons.map((name) => [name, count(name)])),
  };
}
