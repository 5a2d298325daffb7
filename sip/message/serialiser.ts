// Writes SIP messages from plain data. Content-Length is always written here.
import { ParleyError } from '../../src/errors.js';
import type { Answerable } from './message.js';
import { reasonPhrase } from './refusal.js';
import { isToken } from './scanner.js';
import { parseNameAddr } from './uri.js';

export type HeaderLine = readonly [name: string, value: string];

export interface RequestData {
  readonly method: string;
  readonly uri: string;
  /** Sent in this order. The serialiser adds Via, Content-Length and, if missing, Max-Forwards: 70. */
  readonly headers: readonly HeaderLine[];
  readonly body?: Buffer | string | undefined;
}

export interface ResponseData {
  readonly status: number;
  readonly reason?: string;
  readonly headers?: readonly HeaderLine[];
  readonly body?: Buffer | string | undefined;
  /** Set if To has no tag. */
  readonly toTag?: string;
}

/** Throws INVALID_FIELD if a part would break out of its line: a mistake of this server, not of a peer. */
export function requestBytes(request: RequestData, via: string): Buffer {
  const { method, uri, headers } = request;
  if (!isToken(method)) throw refused('method', method);
  if (/[\s<>]/.test(uri)) throw refused('uri', uri);
  let head = `${method} ${uri} SIP/2.0\r\nVia: ${via}\r\n`;
  let hops = false;
  for (const [name, value] of headers) {
    head += line(name, value);
    hops ||= name === 'Max-Forwards';
  }
  return bytes(hops ? head : `${head}Max-Forwards: 70\r\n`, request.body);
}

/** Via values of a response: far more than proxies of a call, far fewer than header fields that we read. */
const MOST_VIAS = 100;

/** The response to this request (RFC 3261, section 8.2.6.2). */
export function responseBytes(request: Answerable, response: ResponseData): Buffer {
  const { status, reason = reasonPhrase(status), headers = [], body, toTag } = response;
  if (!isOneLine(reason)) throw refused('reason', reason);
  let head = `SIP/2.0 ${status} ${reason}\r\nVia: ${request.via.toString()}\r\n`;
  for (const via of request.fields.all('via').slice(1, MOST_VIAS)) {
    // Other Via values of a malformed request are not echoed.
    if (isOneLine(via) && /^SIP[ \t]*\//i.test(via)) head += `Via: ${via}\r\n`;
  }
  head += echoed(request, 'From');
  const to = request.fields.first('to');
  if (to !== undefined && isOneLine(to)) head += `To: ${toTag === undefined ? to : tagged(to, toTag)}\r\n`;
  head += echoed(request, 'Call-ID') + echoed(request, 'CSeq');
  if (status === 100) head += echoed(request, 'Timestamp');
  for (const [name, value] of headers) head += line(name, value);
  return bytes(head, body);
}

function echoed({ fields }: Answerable, name: string): string {
  const value = fields.first(name);
  return value === undefined || !isOneLine(value) ? '' : `${name}: ${value}\r\n`;
}

/** A value of a malformed request may hold a bare CR or LF, which would begin a new line in the response. */
function isOneLine(value: string): boolean {
  return !/[\r\n]/.test(value);
}

/** Adds the tag if the value has none and is well-formed. */
function tagged(to: string, tag: string): string {
  const address = parseNameAddr(to);
  return address === undefined || address.tag !== undefined ? to : `${to};tag=${tag}`;
}

function bytes(head: string, body: Buffer | string = ''): Buffer {
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
  const start = `${head}Content-Length: ${length}\r\n\r\n`;
  return typeof body === 'string' ? Buffer.from(start + body) : Buffer.concat([Buffer.from(start), body]);
}

function line(name: string, value: string): string {
  if (!isToken(name) || !isOneLine(value)) throw refused('headers', `${name}: ${value}`);
  return `${name}: ${value}\r\n`;
}

function refused(field: string, value: string): ParleyError {
  const shown = JSON.stringify(value.slice(0, 40));
  return new ParleyError('INVALID_FIELD', `${field} cannot be sent in a SIP message: ${shown}`, { field });
}

/**
 * Copies the Record-Route values of a request, in order and one per line, into its response (RFC 3261,
 * section 12.1.1).
 */
export function recordRoutesOf({ fields }: Pick<Answerable, 'fields'>): HeaderLine[] {
  return fields.all('record-route').map((value) => ['Record-Route', value]);
}
