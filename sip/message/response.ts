// A response that came in, well-formed as far as a client needs it.
import type { CSeq } from './cseq.js';
import type { HeaderFields } from './header-fields.js';
import type { Mandatory } from './mandatory.js';
import { type MediaType, parseMediaType } from './media-type.js';
import { type NameAddr, parseNameAddr } from './name-addr.js';
import type { Source, Via } from './via.js';

export interface ResponseParts extends Mandatory {
  readonly status: number;
  readonly reason: string;
  readonly fields: HeaderFields;
  readonly body: Buffer;
  readonly source: Source | undefined;
}

export class SipResponse {
  readonly status: number;
  readonly reason: string;
  readonly fields: HeaderFields;
  /** The topmost one: that of the client whose request is answered. */
  readonly via: Via;
  readonly from: NameAddr;
  readonly to: NameAddr;
  readonly callId: string;
  readonly cseq: CSeq;
  readonly body: Buffer;
  readonly source: Source | undefined;

  constructor(parts: ResponseParts) {
    this.status = parts.status;
    this.reason = parts.reason;
    this.fields = parts.fields;
    this.via = parts.via;
    this.from = parts.from;
    this.to = parts.to;
    this.callId = parts.callId;
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

  get contact(): NameAddr | undefined {
    const value = this.first('contact');
    return value === undefined || value === '*' ? undefined : parseNameAddr(value);
  }

  get contentType(): MediaType | undefined {
    const value = this.first('content-type');
    return value === undefined ? undefined : parseMediaType(value);
  }
}
