// From the bytes of one message to a request, a response, a refusal that can
// be sent, or a reason to say nothing. No input makes it throw.
import { wholeNumber } from './cseq.js';
import { headEnd, type HeadLines, headLines } from './head-lines.js';
import { HeaderFields } from './header-fields.js';
import { type Mandatory, mandatory, mandatoryInResponse } from './mandatory.js';
import { type Answerable, type Refusal, refusal } from './refusal.js';
import { parseNameAddr } from './name-addr.js';
import { type Contacts, SipRequest } from './request.js';
import { SipResponse } from './response.js';
import { parseStartLine } from './start-line.js';
import { parseUri, type Uri } from './uri.js';
import { recoveredVia } from './recovered-via.js';
import type { Source } from './via.js';

export type Parsed =
  | { readonly kind: 'request'; readonly request: SipRequest }
  | { readonly kind: 'response'; readonly response: SipResponse }
  | { readonly kind: 'refused'; readonly refusal: Refusal; readonly request: Answerable }
  /** Nothing can or may be said to it; the reason is for counting. */
  | { readonly kind: 'ignored'; readonly reason: Ignored };

export type Ignored = 'not-sip' | 'bad-response' | 'bad-ack' | 'unanswerable';

interface Whole {
  readonly lines: HeadLines;
  readonly fields: HeaderFields;
  /** Undefined where Content-Length and what came do not agree. */
  readonly body: Buffer | undefined;
  readonly source: Source | undefined;
}

/** `bytes` is a datagram, or a message that a framer cut out of a stream, where it has to state its length. */
export function parseMessage(bytes: Buffer, source?: Source, fromStream = false): Parsed {
  const whole = split(bytes, source, fromStream);
  const start = parseStartLine(whole.lines.startLine);
  switch (start.kind) {
    case 'request':
      return requestOf(whole, start.method, start.uri, start.version);
    case 'bad-request':
      return refused(whole, start.method, 400, 'Bad Request-Line');
    case 'response':
      return responseOf(whole, start.status, start.reason, start.version);
    case 'bad-response':
      return { kind: 'ignored', reason: 'bad-response' };
    case 'not-sip':
      return { kind: 'ignored', reason: 'not-sip' };
  }
}

function split(bytes: Buffer, source: Source | undefined, fromStream: boolean): Whole {
  let start = 0;
  while (bytes[start] === 0x0a || (bytes[start] === 0x0d && bytes[start + 1] === 0x0a)) start++;
  const found = headEnd(bytes, start);
  const lines = headLines(bytes.subarray(start, found?.end ?? bytes.length));
  const fields = new HeaderFields(lines.fields);
  const rest = found === undefined ? undefined : bytes.subarray(found.body);
  return { lines, fields, body: rest === undefined ? undefined : bodyOf(rest, fields, fromStream), source };
}

/** What is longer than it says is cut (RFC 3261, section 18.3). */
function bodyOf(rest: Buffer, fields: HeaderFields, fromStream: boolean): Buffer | undefined {
  const stated = fields.first('content-length');
  if (stated === undefined) return fromStream ? undefined : rest;
  const length = wholeNumber(stated, rest.length);
  return length === undefined ? undefined : rest.subarray(0, length);
}

function requestOf(whole: Whole, method: string, uriText: string, version: string): Parsed {
  const { fields, body, source } = whole;
  if (version !== '2.0') return refused(whole, method, 505, 'Version Not Supported');
  const values = mandatory(fields);
  const uri = parseUri(uriText);
  const fault = requestFault(whole, method, uri, values);
  const contacts = contactsOf(fields);
  if (fault !== undefined || typeof values === 'string' || uri === undefined || body === undefined) {
    return refused(whole, method, 400, fault ?? 'Bad Request');
  }
  if (contacts === undefined) return refused(whole, method, 400, 'Bad Contact');
  const via = source === undefined ? values.via : values.via.stamped(source);
  const parts = { ...values, via, method, uri, fields, body, contacts, source };
  return { kind: 'request', request: new SipRequest(parts) };
}

/** Undefined where one of them is not well-formed. */
function contactsOf(fields: HeaderFields): Contacts | undefined {
  const values = fields.all('contact');
  if (values[0] === '*' && values.length === 1) return '*';
  const contacts = values.flatMap((value) => parseNameAddr(value) ?? []);
  return contacts.length === values.length ? contacts : undefined;
}

function requestFault(whole: Whole, method: string, uri: Uri | undefined, values: Mandatory | string) {
  if (whole.lines.fault !== undefined) return `Bad ${whole.lines.fault}`;
  if (typeof values === 'string') return values;
  if (whole.body === undefined) return 'Bad Content-Length';
  if (uri === undefined || uri.headers.length > 0) return 'Bad Request-URI';
  if (values.cseq.method !== method) return 'CSeq Method Does Not Match';
  return undefined;
}

function refused(whole: Whole, method: string, status: number, reason: string): Parsed {
  if (method === 'ACK') return { kind: 'ignored', reason: 'bad-ack' };
  const { fields, source } = whole;
  const via = recoveredVia(fields.first('via') ?? '');
  if (via === undefined || !fields.has('cseq')) return { kind: 'ignored', reason: 'unanswerable' };
  const request = { via: source === undefined ? via : via.stamped(source), fields };
  return { kind: 'refused', refusal: refusal(status, reason), request };
}

function responseOf(whole: Whole, status: number, reason: string, version: string): Parsed {
  const { fields, body, source, lines } = whole;
  const values = mandatoryInResponse(fields);
  if (typeof values === 'string' || version !== '2.0' || lines.fault !== undefined || body === undefined) {
    return { kind: 'ignored', reason: 'bad-response' };
  }
  return { kind: 'response', response: new SipResponse({ ...values, status, reason, fields, body, source }) };
}
