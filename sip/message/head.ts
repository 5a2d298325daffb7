// Parses the head of a message: bytes to a start line and header fields, in one pass. The parser
// continues after a fault, so that enough is known to answer the message. Fields are found by name
// regardless of case and short forms.
import { isAscii, isUtf8 } from 'node:buffer';
import { CHARACTERS } from './scanner.js';

const MOST_FIELDS = 200;
const CR = 0x0d;

export interface HeadLines {
  readonly startLine: string;
  readonly fields: readonly HeaderField[];
  /** Names the first malformed part. */
  readonly fault: string | undefined;
}

const SPACE = 0x20;
const TAB = 0x09;

/** Offsets around the first empty line: the end of the head and the beginning of the body. */
interface HeadEnd {
  readonly end: number;
  readonly body: number;
}

/**
 * Finds the first empty line; undefined if there is none. Lines may end in LF alone, as many peers write
 * them.
 */
export function headEnd(bytes: Buffer, from: number): HeadEnd | undefined {
  const crlf = bytes.indexOf('\n\r\n', from, 'latin1');
  const lf = (crlf < 0 ? bytes : bytes.subarray(0, crlf + 1)).indexOf('\n\n', from, 'latin1');
  const at = lf < 0 ? crlf : lf;
  if (at < 0) return undefined;
  return { end: at > from && bytes[at - 1] === CR ? at - 1 : at, body: at + (lf < 0 ? 3 : 2) };
}

/** Parses a head without its terminating empty line. */
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

/** Returns the end of the last continuation line of the line that ends here. */
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

interface HeaderField {
  /** Spelt as received. */
  readonly name: string;
  /** Long and lower case. */
  readonly key: string;
  /** Unfolded, without white space at its ends. */
  readonly value: string;
}

const SHORT_FORMS: ReadonlyMap<string, string> = new Map([
  ['a', 'accept-contact'],
  ['b', 'referred-by'],
  ['c', 'content-type'],
  ['d', 'request-disposition'],
  ['e', 'content-encoding'],
  ['f', 'from'],
  ['i', 'call-id'],
  ['j', 'reject-contact'],
  ['k', 'supported'],
  ['l', 'content-length'],
  ['m', 'contact'],
  ['o', 'event'],
  ['r', 'refer-to'],
  ['s', 'subject'],
  ['t', 'to'],
  ['u', 'allow-events'],
  ['v', 'via'],
  ['x', 'session-expires'],
  ['y', 'identity'],
]);

/** Fields that may hold several values in one line. In all other fields a comma is part of the value. */
// prettier-ignore
const LISTS: ReadonlySet<string> = new Set([
  'accept', 'accept-contact', 'accept-encoding', 'accept-language', 'alert-info', 'allow', 'allow-events', 'call-info',
  'contact', 'content-encoding', 'content-language', 'diversion', 'error-info', 'history-info', 'in-reply-to',
  'p-asserted-identity', 'p-preferred-identity', 'path', 'proxy-require', 'reason', 'record-route', 'reject-contact',
  'request-disposition', 'require', 'route', 'security-client', 'security-server', 'security-verify', 'service-route',
  'supported', 'unsupported', 'via', 'warning',
]);

/** Long and lower case. */
export function headerKey(name: string): string {
  const key = name.toLowerCase();
  return key.length === 1 ? (SHORT_FORMS.get(key) ?? key) : key;
}

export class HeaderFields {
  readonly list: readonly HeaderField[];

  constructor(list: readonly HeaderField[]) {
    this.list = list;
  }

  has(name: string): boolean {
    return this.first(name) !== undefined;
  }

  /** The value of the first field of this name; where it may hold several values, the first of them. */
  first(name: string): string | undefined {
    const key = headerKey(name);
    for (const field of this.list) {
      if (field.key === key) return LISTS.has(key) ? splitList(field.value)[0] : field.value;
    }
    return undefined;
  }

  /** All values of this name in order, from all lines. */
  all(name: string): string[] {
    const key = headerKey(name);
    const found = this.list.filter((field) => field.key === key);
    return found.flatMap(({ value }) => (LISTS.has(key) ? splitList(value) : [value]));
  }
}

const COMMA = 0x2c;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = 0x3c;
const CLOSE = 0x3e;

/** Splits at commas outside quotes and angle brackets. */
function splitList(value: string): string[] {
  if (!value.includes(',')) return [value];
  const parts: string[] = [];
  let start = 0;
  let inQuotes = false;
  let inBrackets = false;
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at);
    if (inQuotes) {
      if (code === BACKSLASH) at++;
      else if (code === QUOTE) inQuotes = false;
    } else if (code === QUOTE) inQuotes = true;
    else if (code === OPEN) inBrackets = true;
    else if (code === CLOSE) inBrackets = false;
    else if (code === COMMA && !inBrackets) {
      parts.push(value.slice(start, at).trim());
      start = at + 1;
    }
  }
  parts.push(value.slice(start).trim());
  return parts;
}
