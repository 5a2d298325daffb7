// Messages from plain data to bytes. Content-Length is always written here.
import { ParleyError } from '../../src/errors.js';
import { type Answerable, reasonPhrase } from './refusal.js';
import { isToken } from './scanner.js';
import { parseNameAddr } from './name-addr.js';

export type HeaderLine = readonly [name: string, value: string];

export interface RequestData {
  readonly method: string;
  readonly uri: string;
  /** In the order they are sent in. Via, Max-Forwards (70 where it is missing) and Content-Length are not the caller's. */
  readonly headers: readonly HeaderLine[];
  readonly body?: Buffer | string;
}

export interface ResponseData {
  readonly status: number;
  readonly reason?: string;
  readonly headers?: readonly HeaderLine[];
  readonly body?: Buffer | string;
  /** Set where To came without a tag. */
  readonly toTag?: string;
}

/** INVALID_FIELD where a part would break out of its line: that is a mistake of ours, not of a peer. */
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

/** The response to this request (RFC 3261, section 8.2.6.2). */
export function responseBytes(request: Answerable, response: ResponseData): Buffer {
  const { status, reason = reasonPhrase(status), headers = [], body, toTag } = response;
  if (!isOneLine(reason)) throw refused('reason', reason);
  let head = `SIP/2.0 ${status} ${reason}\r\nVia: ${request.via.toString()}\r\n`;
  for (const via of request.fields.all('via').slice(1)) {
    if (isOneLine(via) && /^SIP[ \t]*\//i.test(via)) head += `Via: ${via}\r\n`; // of a refused request, others are rubbish
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

/** Of a request that is refused, a value may hold half a line end: it would begin a line of the response. */
function isOneLine(value: string): boolean {
  return !/[\r\n]/.test(value);
}

/** With the tag, where there is none and the value is well-formed. */
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
