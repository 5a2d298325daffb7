// Reads the rules that give a call its program:
//
//   "twiml": {"url": "https://ivr.example.com/voice", "method": "POST"}
//   "program": "main"
import type { FieldReader, Fields } from '../src/config/fields.js';
import {
  DOCUMENT_URL_RULE,
  isDocumentUrl,
  MOST_DOCUMENT_URL,
  type ProgramSource,
} from '../src/config/ivr-config.js';

export const PROGRAM_KINDS = ['twiml', 'program'] as const;

/** The reason why a program cannot conduct calls here; undefined: it can. */
export type ProgramProblem = (source: ProgramSource) => string | undefined;

/** Undefined if there are mistakes, which the reader keeps. */
export function readProgramRule(
  read: FieldReader,
  route: Fields,
  at: string,
  problemOf: ProgramProblem,
): { readonly kind: 'program'; readonly source: ProgramSource } | undefined {
  const kind = PROGRAM_KINDS.find((name) => route[name] !== undefined) ?? 'program';
  const source =
    kind === 'twiml' ? documentIn(read, route[kind], `${at}.${kind}`) : programIn(read, route, at);
  if (source === undefined) return undefined;
  const problem = problemOf(source);
  return problem === undefined ? { kind: 'program', source } : read.problem(`${at}.${kind}:`, problem);
}

function programIn(read: FieldReader, route: Fields, at: string): ProgramSource | undefined {
  const name = read.text(route, 'program', at, 100);
  return name === undefined ? undefined : { kind: 'program', name };
}

function documentIn(read: FieldReader, value: unknown, at: string): ProgramSource | undefined {
  if (!read.fields(value, at, ['url', 'method'])) return undefined;
  const method = read.word(value, 'method', at, ['GET', 'POST']) ?? 'POST';
  const url = read.text(value, 'url', at, MOST_DOCUMENT_URL);
  if (url === undefined && value['url'] === undefined) return read.problem(`${at}.url`, 'is missing');
  if (url === undefined) return undefined;
  if (!isDocumentUrl(url)) return read.problem(`${at}.url`, `must be ${DOCUMENT_URL_RULE}`);
  return { kind: 'twiml', url, method };
}
