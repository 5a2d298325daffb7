// `parley normalize "…"`: what would be said of a text, and why, on the terminal.
//
//   parley normalize [--language TAG] [--ssml | --text] [--lexicon FILE] [--json] [TEXT]
//
// Without a text it is read from the standard input.
import { text as readAll } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { readLexiconFile } from './speaking/lexicon-file.js';
import type { TextFormat } from './speaking/text-format.js';
import { readText, type ReadText } from './speaking/text-reading.js';
import { asParleyError } from './errors.js';

const MOST_TEXT = 1_000_000; // units, as of MAX_TEXT_LENGTH at most
export const NORMALIZE_USAGE =
  'parley normalize [--language TAG] [--ssml | --text] [--lexicon FILE] [--json] [TEXT]';
const USAGE = `usage: ${NORMALIZE_USAGE}\n`;

export interface Terminal {
  readonly stdin: AsyncIterable<Uint8Array>;
  out(text: string): void;
  err(text: string): void;
}

export const TERMINAL: Terminal = {
  get stdin() {
    return process.stdin; // it is opened by being asked for
  },
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
};

/** Answers the status that the program ends with. */
export async function normalizeCommand(args: readonly string[], terminal: Terminal): Promise<number> {
  let options: ReturnType<typeof readArguments>;
  try {
    options = readArguments(args);
  } catch (error) {
    terminal.err(`parley: ${(error as Error).message}\n${USAGE}`);
    return 2;
  }
  try {
    const { words, language, format, lexiconFile, isJson } = options;
    const text = words.length > 0 ? words.join(' ') : await readAll(terminal.stdin);
    const lexicon = lexiconFile === undefined ? {} : { lexicon: readLexiconFile(lexiconFile) };
    const request = { text, format, ...lexicon, ...(language === undefined ? {} : { language }) };
    const read = readText(request, { maxTextLength: MOST_TEXT });
    terminal.out(isJson ? `${JSON.stringify(read, undefined, 2)}\n` : shown(read));
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
      json: { type: 'boolean' },
    },
  });
  if (values.ssml === true && values.text === true) throw new Error('--ssml and --text exclude each other');
  const format: TextFormat = values.ssml === true ? 'ssml' : values.text === true ? 'text' : 'auto';
  const { language, lexicon: lexiconFile, json: isJson = false } = values;
  return { words: positionals, language, format, lexiconFile, isJson };
}

/** A line a sentence, and a line each rule that fired. */
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
