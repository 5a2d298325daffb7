// The head of a message, from bytes to a start line and header fields, in one
// pass. It reads on after a fault, so that enough is known to answer it.
import { isAscii, isUtf8 } from 'node:buffer';
import { type HeaderField, headerKey } from './header-fields.js';
import { CHARACTERS } from './scanner.js';

const MOST_FIELDS = 200;
const CR = 0x0d;

export interface HeadLines {
  readonly startLine: string;
  readonly fields: readonly HeaderField[];
  /** What is wrong with the first line that is not well-formed. */
  readonly fault: string | undefined;
}

const SPACE = 0x20;
const TAB = 0x09;

/** The end of the head of a message, and the beginning of its body: around the first empty line. */
export interface HeadEnd {
  readonly end: number;
  readonly body: number;
}

/** Undefined without an empty line. Lines may end in LF alone, as many peers write them. */
export function headEnd(bytes: Buffer, from: number): HeadEnd | undefined {
  const crlf = bytes.indexOf('\n\r\n', from, 'latin1');
  const lf = (crlf < 0 ? bytes : bytes.subarray(0, crlf + 1)).indexOf('\n\n', from, 'latin1');
  const at = lf < 0 ? crlf : lf;
  if (at < 0) return undefined;
  return { end: at > from && bytes[at - 1] === CR ? at - 1 : at, body: at + (lf < 0 ? 3 : 2) };
}

/** `head` ends before its empty line. */
export function headLines(head: Buffer): HeadLines {
  const text = withWholeLineEnds(decoded(head));
  const fields: HeaderField[] = [];
  let fault = /\r(?!\n)/.test(text) ? 'Line End' : undefined;
  let end = lineEnd(text, 0);
  const startLine = text.slice(0, end);
  while (end < text.length) {
    const start = end + 2;
    end = lineEnd(text, start);
    let line = text.slice(start, end);
    if (isFolded(text, end + 2)) {
      const more = foldedEnd(text, end);
      line += text.slice(end, more).replace(/\r\n[ \t]+/g, ' ');
      end = more;
    }
    if (fields.length === MOST_FIELDS)
      return { startLine, fields, fault: fault ?? 'Number of Header Fields' };
    const field = headerField(line);
    if (field === undefined) fault ??= 'Header Field';
    else fields.push(field);
  }
  return { startLine, fields, fault };
}

function decoded(head: Buffer): string {
  return isAscii(head) || !isUtf8(head) ? head.toString('latin1') : head.toString('utf8');
}

function withWholeLineEnds(text: string): string {
  return /(?<!\r)\n/.test(text) ? text.replace(/\r?\n/g, '\r\n') : text;
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\r\n', from);
  return end < 0 ? text.length : end;
}

function isFolded(text: string, start: number): boolean {
  const code = text.charCodeAt(start);
  return code === SPACE || code === TAB;
}

/** The end of the last line that continues the one that ends here. */
function foldedEnd(text: string, end: number): number {
  let last = end;
  while (last < text.length && isFolded(text, last + 2)) last = lineEnd(text, last + 2);
  return last;
}

function headerField(line: string): HeaderField | undefined {
  let at = 0;
  while (at < line.length && CHARACTERS.TOKEN[line.charCodeAt(at)] === 1) at++;
  if (at === 0) return undefined;
  const name = line.slice(0, at);
  while (line.charCodeAt(at) === SPACE || line.charCodeAt(at) === TAB) at++;
  if (line.charCodeAt(at) !== 0x3a) return undefined;
  return { name, key: headerKey(name), value: line.slice(at + 1).trim() };
}
