// Parses received requests and responses and holds them. Instances are immutable. A request is well-formed
// as far as RFC 3261 demands it before it is processed; a response, as far as a client needs it.
import { headEnd, HeaderFields, type HeadLines, headLines } from './head.js';
import { type Refusal, refusal } from './refusal.js';
import { CHARACTERS, headerParameters, isToken, Parameters, Scanner, wholeNumber } from './scanner.js';
import { hostPort, type NameAddr, parseNameAddr, parseUri, type Uri } from './uri.js';
import { parseVia, type Source, Via } from './via.js';

interface CSeq {
  readonly number: number;
  readonly method: string;
}

interface Mandatory {
  /** The topmost one. */
  readonly via: Via;
  readonly from: NameAddr;
  readonly to: NameAddr;
  readonly callId: string;
  readonly cseq: CSeq;
  /** Undefined if a peer of RFC 2543 left it out. */
  readonly maxForwards: number | undefined;
}

/** The parts of a request that its response repeats. SipRequest has them. */
export interface Answerable {
  readonly via: Via;
  readonly fields: HeaderFields;
}

interface RequestParts extends Mandatory {
  readonly method: string;
  readonly uri: Uri;
  readonly fields: HeaderFields;
  readonly body: Buffer;
  readonly contacts: Contacts;
  readonly source: Source | undefined;
}

/** `*` stands alone, in REGISTER only. */
type Contacts = '*' | readonly NameAddr[];

export class SipRequest {
  readonly method: string;
  readonly uri: Uri;
  readonly fields: HeaderFields;
  /** The topmost Via, with `received` and `rport` filled in. */
  readonly via: Via;
  readonly from: NameAddr;
  readonly to: NameAddr;
  readonly callId: string;
  readonly cseq: CSeq;
  readonly maxForwards: number | undefined;
  /** Multipart bodies are not split here. */
  readonly body: Buffer;
  readonly contacts: Contacts;
  /** Undefined if the message did not come over the network. */
  readonly source: Source | undefined;

  constructor(parts: RequestParts) {
    this.method = parts.method;
    this.uri = parts.uri;
    this.fields = parts.fields;
    this.via = parts.via;
    this.from = parts.from;
    this.to = parts.to;
    this.callId = parts.callId;
    this.cseq = parts.cseq;
    this.maxForwards = parts.maxForwards;
    this.body = parts.body;
    this.contacts = parts.contacts;
    this.source = parts.source;
  }

  /** The first value of this name, without regard to case or short form. */
  first(name: string): string | undefined {
    return this.fields.first(name);
  }

  /** All values of this name in order, also of values that share a line. */
  all(name: string): string[] {
    return this.fields.all(name);
  }

  /** The first contact; undefined if absent or `*`. */
  get contact(): NameAddr | undefined {
    return this.contacts === '*' ? undefined : this.contacts[0];
  }

  /** Undefined if there is no body or its type is malformed. */
  get contentType(): MediaType | undefined {
    const value = this.first('content-type');
    return value === undefined ? undefined : parseMediaType(value);
  }
}

interface ResponseParts extends Pick<Mandatory, 'via' | 'cseq'> {
  readonly status: number;
  readonly reason: string;
  readonly fields: HeaderFields;
  readonly body: Buffer;
  readonly source: Source | undefined;
}

const TAG = /;[ \t]*tag[ \t]*=[ \t]*([\w.!%*+`'~-]{1,512})/i;

export class SipResponse {
  readonly status: number;
  readonly reason: string;
  readonly fields: HeaderFields;
  /** The topmost Via: that of the client whose request is answered. */
  readonly via: Via;
  readonly cseq: CSeq;
  readonly body: Buffer;
  readonly source: Source | undefined;

  constructor(parts: ResponseParts) {
    this.status = parts.status;
    this.reason = parts.reason;
    this.fields = parts.fields;
    this.via = parts.via;
    this.cseq = parts.cseq;
    this.body = parts.body;
    this.source = parts.source;
  }

  first(name: string): string | undefined {
    return this.fields.first(name);
  }

  all(name: string): string[] {
    return this.fields.all(name);
  }

  /** '' if absent. */
  get callId(): string {
    return this.first('call-id') ?? '';
  }

  /** Undefined if missing or malformed; the same holds for `to`. */
  get from(): NameAddr | undefined {
    return parseNameAddr(this.first('from') ?? '');
  }

  get to(): NameAddr | undefined {
    return parseNameAddr(this.first('to') ?? '');
  }

  /** Tag of To, even if the rest of To is malformed; undefined if missing or empty. */
  get toTag(): string | undefined {
    const { to } = this;
    if (to !== undefined) return to.tag === '' ? undefined : to.tag;
    const text = this.first('to') ?? '';
    return TAG.exec(text.slice(text.lastIndexOf('>') + 1))?.[1];
  }

  /**
   * To value for the ACK and for requests within the dialog: the received value if it is well-formed, else
   * that of the sent request.
   */
  toValue(sent: string): string {
    const { to } = this;
    if (to !== undefined && to.tag !== '') return this.first('to') ?? '';
    return this.toTag === undefined ? sent : `${sent};tag=${this.toTag}`;
  }

  get contact(): NameAddr | undefined {
    const value = this.first('contact');
    return value === undefined || value === '*' ? undefined : parseNameAddr(value);
  }

  get contentType(): MediaType | undefined {
    const value = this.first('content-type');
    return value === undefined ? undefined : parseMediaType(value);
  }
}

export interface MediaType {
  /** Lower case, such as "application/sdp". */
  readonly name: string;
  readonly params: Parameters;
}

export function parseMediaType(value: string): MediaType | undefined {
  const scanner = new Scanner(value);
  const type = scanner.space().token();
  if (!scanner.space().take('/')) return undefined;
  const subtype = scanner.space().token();
  if (type === '' || subtype === '') return undefined;
  const params = headerParameters(scanner);
  return params === undefined ? undefined : { name: `${type}/${subtype}`.toLowerCase(), params };
}

/** A request, a response, a refusal that can be sent, or a reason to ignore the message. */
export type Parsed =
  | { readonly kind: 'request'; readonly request: SipRequest }
  | { readonly kind: 'response'; readonly response: SipResponse }
  | { readonly kind: 'refused'; readonly refusal: Refusal; readonly request: Answerable }
  /** The message gets no answer; the reason is counted. */
  | { readonly kind: 'ignored'; readonly reason: Ignored };

type Ignored = 'not-sip' | 'bad-response' | 'bad-ack' | 'unanswerable';

interface Whole {
  readonly lines: HeadLines;
  readonly fields: HeaderFields;
  /** Undefined if Content-Length and the received bytes disagree. */
  readonly body: Buffer | undefined;
  readonly source: Source | undefined;
}

/**
 * Parses a datagram or one message of a stream, and never throws. A message of a stream must state its
 * length.
 */
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
  const found = headEnd(bytes, start) ?? (fromStream ? undefined : unendedHead(bytes));
  const lines = headLines(bytes.subarray(start, found?.end ?? bytes.length));
  const fields = new HeaderFields(lines.fields);
  const rest = found === undefined ? undefined : bytes.subarray(found.body);
  return { lines, fields, body: rest === undefined ? undefined : bodyOf(rest, fields, fromStream), source };
}

/** Some peers leave out the empty line of a message without a body: the datagram ends the head. */
function unendedHead(bytes: Buffer): ReturnType<typeof headEnd> {
  let end = bytes.length;
  if (bytes[end - 1] === 0x0a) end--;
  if (bytes[end - 1] === 0x0d) end--;
  return { end, body: bytes.length };
}

/** Bytes beyond Content-Length are cut off (RFC 3261, section 18.3). */
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

/** Undefined if a contact is malformed. */
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

const ONCE: ReadonlySet<string> = new Set([
  'call-id',
  'content-length',
  'content-type',
  'cseq',
  'expires',
  'from',
  'max-forwards',
  'min-se',
  'refer-to',
  'replaces',
  'session-expires',
  'to',
]);
const ONCE_IN_RESPONSE: ReadonlySet<string> = new Set(['content-length', 'cseq']);

/** Reason phrase, such as "Missing Call-ID" or "Bad CSeq". */
type Fault = string;

export function mandatory(fields: HeaderFields): Mandatory | Fault {
  const repeated = repeatedField(fields, ONCE);
  if (repeated !== undefined) return `Repeated ${repeated}`;
  const via = required(fields, 'Via', parseVia);
  if (typeof via === 'string') return via;
  const from = required(fields, 'From', parseNameAddr);
  if (typeof from === 'string') return from;
  const to = required(fields, 'To', parseNameAddr);
  if (typeof to === 'string') return to;
  const cseq = required(fields, 'CSeq', parseCSeq);
  if (typeof cseq === 'string') return cseq;
  const callId = fields.first('call-id') ?? '';
  if (callId === '') return 'Missing Call-ID';
  const hops = fields.first('max-forwards');
  const maxForwards = hops === undefined ? undefined : wholeNumber(hops, 255);
  if (hops !== undefined && maxForwards === undefined) return 'Bad Max-Forwards';
  return { via, from, to, callId, cseq, maxForwards };
}

/**
 * A client matches a response by the branch of Via and by CSeq (RFC 3261, section 17.1.3). The other fields
 * are known from the request, so a response may omit, repeat or garble them.
 */
function mandatoryInResponse(fields: HeaderFields): Pick<Mandatory, 'via' | 'cseq'> | Fault {
  const repeated = repeatedField(fields, ONCE_IN_RESPONSE);
  if (repeated !== undefined) return `Repeated ${repeated}`;
  const via = required(fields, 'Via', parseVia);
  if (typeof via === 'string') return via;
  const cseq = required(fields, 'CSeq', parseCSeq);
  return typeof cseq === 'string' ? cseq : { via, cseq };
}

function required<T extends object>(
  fields: HeaderFields,
  name: string,
  parse: (value: string) => T | undefined,
): T | Fault {
  const value = fields.first(name);
  return value === undefined ? `Missing ${name}` : (parse(value) ?? `Bad ${name}`);
}

function repeatedField(fields: HeaderFields, once: ReadonlySet<string>): string | undefined {
  const seen = new Set<string>();
  for (const { key, name } of fields.list) {
    if (!once.has(key)) continue;
    if (seen.has(key)) return name;
    seen.add(key);
  }
  return undefined;
}

const MAX_CSEQ = 2 ** 31 - 1;

/** Undefined if malformed or if the number is too large (RFC 3261, section 8.1.1.5). */
export function parseCSeq(value: string): CSeq | undefined {
  const scanner = new Scanner(value);
  const number = wholeNumber(scanner.space().run(CHARACTERS.DIGIT), MAX_CSEQ);
  const beforeSpace = scanner.at;
  if (number === undefined || scanner.space().at === beforeSpace) return undefined;
  const method = scanner.token();
  return method === '' || !scanner.space().done ? undefined : { number, method };
}

const HEAD = /^\s*SIP\s*\/\s*[\w.]+\s*\/\s*([\w-]{1,32})[ \t]+/i;
const BRANCH = /;[ \t]*branch[ \t]*=[ \t]*([\w.!%*+`'~-]{1,512})/i;

/** Reads at least the beginning of a Via, which is enough to answer; undefined if that fails, too. */
function recoveredVia(value: string): Via | undefined {
  // A bare CR or LF in a quoted string would begin a line of the response.
  const whole = /[\r\n]/.test(value) ? undefined : parseVia(value);
  if (whole !== undefined) return whole;
  const head = HEAD.exec(value);
  const sentBy = head === null ? undefined : hostPort(new Scanner(value, head[0].length), true);
  if (head === null || sentBy === undefined) return undefined;
  const branch = BRANCH.exec(value)?.[1];
  const params = branch === undefined ? Parameters.none : new Parameters([['branch', branch]]);
  return new Via((head[1] ?? '').toUpperCase(), sentBy, params);
}

type StartLine =
  | { readonly kind: 'request'; readonly method: string; readonly uri: string; readonly version: string }
  | { readonly kind: 'response'; readonly status: number; readonly reason: string; readonly version: string }
  /** A malformed start line of SIP. The method is accurate enough to recognise an ACK. */
  | { readonly kind: 'bad-request'; readonly method: string }
  | { readonly kind: 'bad-response' }
  | { readonly kind: 'not-sip' };

const RESPONSE = /^SIP\/(\d+\.\d+) ([1-6]\d\d)(?: (.*))?$/is;
const REQUEST = /^([^ ]+) ([^ ]+) SIP\/(\d+\.\d+)$/i;
const REQUEST_LIKE = /^\s*([^\s]+)\s.*\sSIP\/\d+\.\d+\s*$/is;

function parseStartLine(line: string): StartLine {
  if (/^SIP\//i.test(line)) return responseLine(line);
  const match = REQUEST.exec(line);
  if (match === null) {
    const like = REQUEST_LIKE.exec(line);
    return like === null ? { kind: 'not-sip' } : { kind: 'bad-request', method: like[1] ?? '' };
  }
  const [, method = '', uri = '', version = ''] = match;
  return isToken(method) ? { kind: 'request', method, uri, version } : { kind: 'not-sip' };
}

function responseLine(line: string): StartLine {
  const match = RESPONSE.exec(line);
  if (match === null) return { kind: 'bad-response' };
  const [, version = '', status = '', reason = ''] = match;
  return { kind: 'response', status: Number(status), reason, version };
}
