// Holds received requests and responses. Instances are immutable. A request is well-formed as far as
// RFC 3261 demands it before it is processed; a response, as far as a client needs it.
import type { HeaderFields } from './head.js';
import { headerParameters, type Parameters, Scanner } from './scanner.js';
import { type NameAddr, parseNameAddr, type Uri } from './uri.js';
import type { Source, Via } from './via.js';

export interface CSeq {
  readonly number: number;
  readonly method: string;
}

export interface Mandatory {
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
export type Contacts = '*' | readonly NameAddr[];

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
