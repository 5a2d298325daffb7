// Replays a folder of TwiML documents: each is parsed as the answer of an application would be, and a table
// shows what the parser says about it. No verb is performed.
import { type Dirent, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { answerProgram } from '../../../src/api/twiml/twiml-door.js';
import { NOT_WELL_FORMED } from '../../../src/api/twiml/twiml-errors.js';
import { ProgramError, type Warning } from '../../../src/ivr/door.js';
import type { Verb } from '../../../src/ivr/verbs.js';

/** The documents come from somewhere, so that their relative URLs have a base. */
const BASE = 'https://replay.example.com/';
const NAME = /\.(?:twiml|xml)$/;
export const USAGE = 'usage: npm run test:snippets -- DIR\nDIR has TwiML documents: *.twiml, *.xml\n';

const STATUS = { allParse: 0, oneDoesNotParse: 1, noDocument: 2 } as const;

export interface ReplayedDocument {
  /** Path within the folder. */
  readonly name: string;
  readonly verbs: readonly Verb[];
  readonly warnings: readonly Warning[];
  /** Undefined: the document parses. */
  readonly error: Warning | undefined;
}

interface Output {
  out(text: string): void;
  err(text: string): void;
}

/** Returns the exit status. A document that is not well-formed is shown, and is no failure of the parser. */
export function replayCommand(args: readonly string[], terminal: Output): number {
  const [folder, ...more] = args;
  if (folder === undefined || more.length > 0) {
    terminal.err(USAGE);
    return STATUS.noDocument;
  }
  let documents: readonly ReplayedDocument[];
  try {
    documents = replayed(folder);
  } catch (error) {
    terminal.err(`DIR cannot be read: ${(error as Error).message}\n`);
    return STATUS.noDocument;
  }
  if (documents.length === 0) {
    terminal.err(`${folder} has no document: the name of one ends with .twiml or .xml\n`);
    return STATUS.noDocument;
  }
  terminal.out(tableOf(documents));
  const isFailure = documents.some(({ error }) => error !== undefined && error.code !== NOT_WELL_FORMED);
  return isFailure ? STATUS.oneDoesNotParse : STATUS.allParse;
}

/** The documents in a folder and the folders below it, by name. Links are not followed. */
export function replayed(folder: string): readonly ReplayedDocument[] {
  const entries: Dirent[] = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && NAME.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()
    .map((path) => replay(relative(folder, path), readFileSync(path)));
}

function replay(name: string, body: Buffer): ReplayedDocument {
  const url = new URL(encodeURI(name), BASE).href;
  try {
    const program = answerProgram({ url, contentType: 'text/xml', charset: undefined, body });
    return { name, ...program, error: undefined };
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error;
    return { name, verbs: [], warnings: [], error: error.warning };
  }
}

function tableOf(documents: readonly ReplayedDocument[]): string {
  const parsing = documents.filter(({ error }) => error === undefined);
  const quiet = parsing.filter(({ warnings }) => warnings.length === 0);
  const counts = aligned([
    ['documents', String(documents.length)],
    ['parse', String(parsing.length)],
    ['without a warning', String(quiet.length)],
  ]);
  const rows = documents.flatMap(({ name, warnings, error }) => [
    ...warnings.map((warning) => [name, 'warning', ...cellsOf(warning)]),
    ...(error === undefined ? [] : [[name, 'error', ...cellsOf(error)]]),
  ]);
  if (rows.length === 0) return counts;
  return `${counts}\n${aligned([['document', 'kind', 'line', 'column', 'number', 'message'], ...rows])}`;
}

function cellsOf({ line, column, code, message }: Warning): readonly string[] {
  return [String(line ?? '-'), String(column ?? '-'), code ?? '-', message];
}

/** Lines of columns that stand below each other. */
function aligned(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  return rows
    .map((row) => `${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ')}`.trimEnd())
    .map((line) => `${line}\n`)
    .join('');
}
