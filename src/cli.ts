// Parses the command line, runs its commands, and writes what a person at a terminal reads.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { asParleyError } from './errors.js';
import { IVR_USAGE, ivrCommand } from './ivr-command.js';
import { MODELS_USAGE, modelsCommand } from './models/models-command.js';
import { type CommandOutput, PULL_HELP, PULL_USAGE, pullCommand } from './models/pull-command.js';
import { readInput, SPEAK_USAGE, speakCommand, type Terminal } from './speak-command.js';
import { withLexicon } from './speaking/lexicon-file.js';
import { tablesOfFolder } from './speaking/text-tables.js';
import { stated } from './stated.js';
import { askAtTerminal, isFreePort, openBrowser, ownAddresses } from './talk/desktop.js';
import { TALK_USAGE, talkCommand, type TalkSurroundings } from './talk/talk-command.js';
import { systemTime } from './time.js';
import type { TextFormat } from './speaking/text-source.js';
import { readText, type ReadText } from './speaking/text-reading.js';

const MOST_TEXT = 1_000_000; // units, as of MAX_TEXT_LENGTH at most
const NORMALIZE_USAGE =
  'parley normalize [--language TAG] [--ssml | --text] [--lexicon FILE] [--tables FOLDER] [--json] [TEXT]';
const NORMALIZE_HELP = `usage: ${NORMALIZE_USAGE}\n`;

export const TERMINAL: Terminal = {
  get stdin() {
    return process.stdin; // the first access opens it
  },
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
};

const EXIT_USAGE = 64; // EX_USAGE of sysexits.h

const USAGE = `usage: parley [--host ADDRESS] [--port PORT]    starts the server
       parley --help | --version
       ${NORMALIZE_USAGE}
       ${SPEAK_USAGE}
       ${TALK_USAGE}
       ${PULL_USAGE}
       ${MODELS_USAGE}
       ${IVR_USAGE}
For a machine without a GPU, parley pull light fetches pocket-en (a voice), moonshine-small-en (a recogniser) and
turn-en (ends of turns), all for English. parley pull --help lists the models for other languages.
The page public/docs/configuration.md lists the environment variables; --host and --port override HOST and PORT.
`;

type Environment = Readonly<Record<string, string | undefined>>;

const COMMAND_USAGE: Readonly<Record<string, string>> = {
  ivr: IVR_USAGE,
  normalize: NORMALIZE_USAGE,
  speak: SPEAK_USAGE,
  models: MODELS_USAGE,
  pull: PULL_HELP,
  talk: TALK_USAGE,
};

/**
 * `env`: start the server with this environment, and call `opened` when it listens. `status`: the program is
 * done and exits with this status.
 */
type Asked =
  | { readonly env: Environment; readonly opened?: (url: string) => Promise<void> }
  | { readonly status: number };

/** `args` follow the name of the program. */
export async function readCommandLine(
  args: readonly string[],
  env: Environment,
  terminal: Terminal,
): Promise<Asked> {
  const [command, ...rest] = args;
  const usage = COMMAND_USAGE[command ?? ''];
  if (usage !== undefined && rest.some((one) => one === '--help' || one === '-h')) {
    terminal.out(`usage: ${usage}\n`);
    return { status: 0 };
  }
  if (command === 'normalize') return { status: await normalizeCommand(rest, terminal, env) };
  if (command === 'speak') return { status: await speakCommand(rest, env, terminal) };
  if (command === 'ivr') return { status: await ivrCommand(rest, terminal) };
  if (command === 'models') return { status: await modelsCommand(rest, env, outputOf(terminal)) };
  if (command === 'pull') return { status: await pulled(rest, env, outputOf(terminal)) };
  if (command === 'talk') return await talkCommand(rest, env, surroundingsOf(env, terminal));
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
  return { env: { ...env, ...stated({ HOST: host, PORT: port }) } };
}

/** The first Ctrl-C ends a pull and keeps its partial files. The second one ends the program at once. */
async function pulled(args: readonly string[], env: Environment, output: CommandOutput): Promise<number> {
  const interruption = new AbortController();
  const interrupt = () => interruption.abort();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, interrupt);
  const { signal } = interruption;
  try {
    return await pullCommand(args, env, output, { time: systemTime, signal });
  } finally {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.removeListener(name, interrupt);
  }
}

/** The machine, its person and its terminal, for a conversation. */
function surroundingsOf(env: Environment, terminal: Terminal): TalkSurroundings {
  const isAtTerminal = process.stdin.isTTY && process.stdout.isTTY;
  const output = { ...outputOf(terminal), out: () => undefined }; // the conversation tells what comes next
  return {
    fetch: globalThis.fetch,
    time: systemTime,
    out: (text) => terminal.out(text),
    err: (text) => terminal.err(text),
    ask: isAtTerminal
      ? async (question) => await askAtTerminal(question, process.stdin, process.stdout)
      : undefined,
    pull: async (name) => await pulled([name], env, output),
    openBrowser: async (url) => await openBrowser(url, { env, time: systemTime }),
    isFreePort,
    ownAddresses: ownAddresses(),
  };
}

function outputOf(terminal: Terminal): CommandOutput {
  return {
    columns: process.stderr.isTTY ? process.stderr.columns : undefined,
    out: (text: string) => terminal.out(text),
    err: (text: string) => terminal.err(text),
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

interface Advice {
  /** How to get other languages, if the engines speak English only. */
  readonly languages?: string | undefined;
  /** Fetches a neural voice, if the engines have none. */
  readonly voiceCommand?: string | undefined;
}

/**
 * Standard output of a server at a terminal. It holds log lines back until the line for people is written
 * above them.
 */
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

  ready({ url, advice }: { readonly url: string; readonly advice: Advice }): void {
    const { languages, voiceCommand } = advice;
    const notice = languages === undefined ? '' : ` Note: ${languages}.`;
    const voice = voiceCommand === undefined ? '' : ` A neural voice comes with: ${voiceCommand}`;
    this.#release(`Parley is ready: ${url} (API: ${url}/docs). Ctrl-C ends it.${notice}${voice}\n`);
  }

  /** Writes the log lines of a server that did not start. */
  failed(): void {
    this.#release('');
  }

  #release(first: string): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const line of [first, ...held]) if (line !== '') this.#out(line);
  }
}

/**
 * Shows how a text would be spoken, and which rules apply; without TEXT it reads standard input. Resolves
 * with the exit status.
 */
export async function normalizeCommand(
  args: readonly string[],
  terminal: Terminal,
  env: Environment = {},
): Promise<number> {
  let options: ReturnType<typeof readArguments>;
  try {
    options = readArguments(args);
  } catch (error) {
    terminal.err(`parley: ${(error as Error).message}\n${NORMALIZE_HELP}`);
    return 2;
  }
  try {
    const { words, language, format, lexiconFile, isJson } = options;
    const text = words.length > 0 ? words.join(' ') : await readInput(terminal.stdin, MOST_TEXT);
    const { lexicon } = withLexicon({ lexiconFile });
    const request = { text, format, language, lexicon };
    const folder = options.tablesDir ?? env['TEXT_TABLES_DIR'];
    const tables = folder === undefined || folder === '' ? undefined : await tablesOfFolder(folder);
    const read = readText(request, { maxTextLength: MOST_TEXT, tables });
    terminal.out(isJson ? `${JSON.stringify(normalization(read), undefined, 2)}\n` : shown(read));
    return 0;
  } catch (error) {
    terminal.err(`parley: ${asParleyError(error, 'MALFORMED').message}\n`);
    return 1;
  }
}

function readArguments(args: readonly string[]) {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      language: { type: 'string', short: 'l' },
      ssml: { type: 'boolean' },
      text: { type: 'boolean' },
      lexicon: { type: 'string' },
      tables: { type: 'string' },
      json: { type: 'boolean' },
    },
  });
  if (values.ssml === true && values.text === true) throw new Error('--ssml and --text exclude each other');
  const format: TextFormat = values.ssml === true ? 'ssml' : values.text === true ? 'text' : 'auto';
  const { language, lexicon: lexiconFile, tables: tablesDir, json: isJson = false } = values;
  return { words: positionals, language, format, lexiconFile, tablesDir, isJson };
}

/** The JSON of --json. Its field names are public: they do not follow those of the code. */
function normalization({ sentences, endPauseMs, unheeded }: ReadText): object {
  return {
    sentences: sentences.map(({ style, pauseBeforeMs, ...one }) => {
      const manner = style && {
        rate: style.rate,
        gain: style.gain,
        language: style.language,
        voice: style.voice,
      };
      if (one.kind === 'bleep') return { kind: one.kind, ms: one.ms, manner, pauseBeforeMs };
      const { kind, written, spoken, language, place, rules, marksBefore, marksAfter } = one;
      return {
        kind,
        written,
        spoken,
        language,
        place: { start: place.start, end: place.end },
        rules: rules.map((fired) => ({
          rule: fired.rule,
          written: fired.written,
          spoken: fired.spoken,
          place: { start: fired.place.start, end: fired.place.end },
        })),
        manner,
        pauseBeforeMs,
        marksBefore,
        marksAfter,
      };
    }),
    endPauseMs,
    unheeded: unheeded.map(({ what, line, column }) => ({ what, line, column })),
  };
}

/** One line for each sentence, and one for each rule that applied to it. */
function shown({ sentences, endPauseMs, unheeded }: ReadText): string {
  const lines = sentences.flatMap((one) => {
    const pause = one.pauseBeforeMs === undefined ? [] : [`    (${one.pauseBeforeMs} ms of silence)`];
    if (one.kind === 'bleep') return [...pause, `    (a tone of ${one.ms} ms)`];
    const rules = one.rules.map(
      ({ rule, written, spoken, place }) =>
        `    ${`${place.start}–${place.end}`.padEnd(10)} ${rule.padEnd(13)} ${JSON.stringify(written)} → ${JSON.stringify(spoken)}`,
    );
    return [...pause, `${one.language}  ${one.spoken}`, ...rules];
  });
  if (endPauseMs > 0) lines.push(`    (${endPauseMs} ms of silence)`);
  for (const { what, line, column } of unheeded)
    lines.push(`    line ${line}, column ${column}: ${what} has no effect`);
  return `${lines.join('\n')}\n`;
}
