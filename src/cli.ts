// The command line: what the program was asked to do, and what it says to a
// person at a terminal.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { NORMALIZE_USAGE, normalizeCommand, type Terminal } from './normalize-command.js';

export const EXIT_USAGE = 64; // EX_USAGE of sysexits.h

const USAGE = `usage: parley [--host ADDRESS] [--port PORT]    starts the server
       parley --help | --version
       ${NORMALIZE_USAGE}
The README lists the environment variables; --host and --port go before HOST and PORT.
`;

type Environment = Readonly<Record<string, string | undefined>>;

/** Either the server is to be started with this environment, or the program is done and ends with this status. */
export type Asked = { readonly env: Environment } | { readonly status: number };

/** `args` are those behind the name of the program. */
export async function readCommandLine(
  args: readonly string[],
  env: Environment,
  terminal: Terminal,
): Promise<Asked> {
  const [command, ...rest] = args;
  if (command === 'normalize') return { status: await normalizeCommand(rest, terminal) };
  let options: ReturnType<typeof readOptions>;
  try {
    options = readOptions(args);
  } catch (error) {
    terminal.err(`parley: ${(error as Error).message}\n${USAGE}`);
    return { status: EXIT_USAGE };
  }
  const { help, version, host, port } = options;
  if (help === true || version === true) {
    terminal.out(help === true ? USAGE : `parley ${packageVersion()}\n`);
    return { status: 0 };
  }
  return {
    env: {
      ...env,
      ...(host === undefined ? {} : { HOST: host }),
      ...(port === undefined ? {} : { PORT: port }),
    },
  };
}

function readOptions(args: readonly string[]) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      help: { type: 'boolean', short: 'h' },
      version: { type: 'boolean' },
      host: { type: 'string' },
      port: { type: 'string' },
    },
  });
  const { host, port } = values;
  if (host?.trim() === '') throw new Error('--host must be an address, such as 127.0.0.1');
  if (port !== undefined && (!/^\d{1,5}$/.test(port) || Number(port) > 65_535)) {
    throw new Error(`--port must be a number from 0 to 65535, not "${port}"`);
  }
  return values;
}

function packageVersion(): string {
  const file = new URL('../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

/** The standard output of a server at a terminal: log lines wait until the line for people stands above them. */
export class TerminalLog {
  readonly #out: (text: string) => void;
  #held: string[] | undefined = [];

  constructor(out: (text: string) => void) {
    this.#out = out;
  }

  write(line: string): void {
    if (this.#held === undefined) this.#out(line);
    else this.#held.push(line);
  }

  ready({
    url,
    languageNotice,
  }: {
    readonly url: string;
    readonly languageNotice?: string | undefined;
  }): void {
    const notice = languageNotice === undefined ? '' : ` Note: ${languageNotice}.`;
    this.#release(`Parley is ready: ${url} (API: ${url}/docs). Ctrl-C ends it.${notice}\n`);
  }

  /** The server did not start: what was logged is all there is. */
  failed(): void {
    this.#release('');
  }

  #release(first: string): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const line of [first, ...held]) if (line !== '') this.#out(line);
  }
}
