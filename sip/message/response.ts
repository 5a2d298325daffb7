// A response that came in, well-formed as far as a client needs it.
import type { CSeq } from './cseq.js';
import type { HeaderFields } from './header-fields.js';
import type { Mandatory } from './mandatory.js';
import { type MediaType, parseMediaType } from './media-type.js';
import { type NameAddr, parseNameAddr } from './name-addr.js';
import type { Source, Via } from './via.js';

export interface ResponseParts extends Pick<Mandatory, 'via' | 'cseq'> {
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
  /** The topmost one: that of the client whose request is answered. */
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

  /** '' where there is none. */
  get callId(): string {
    return this.first('call-id') ?? '';
  }

  /** Undefined where it is missing or not well-formed; so is `to`. */
  get from(): NameAddr | undefined {
    return parseNameAddr(this.first('from') ?? '');
  }

  get to(): NameAddr | undefined {
    return parseNameAddr(this.first('to') ?? '');
  }

  /** That of To, also where the rest of To is not well-formed; undefined where there is none or an empty one. */
  get toTag(): string | undefined {
    const { to } = this;
    if (to !== undefined) return to.tag === '' ? undefined : to.tag;
    const text = this.first('to') ?? '';
    return TAG.exec(text.slice(text.lastIndexOf('>') + 1))?.[1];
  }

  /** Value for the To of an ACK, and of requests in a dialog: what came where it is well-formed, else that of our request. */
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
