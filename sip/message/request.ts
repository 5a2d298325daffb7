// A request that came in, well-formed as far as RFC 3261 wants it so before
// anything is done with it. Never changed afterwards.
import type { CSeq } from './cseq.js';
import type { HeaderFields } from './header-fields.js';
import type { Mandatory } from './mandatory.js';
import { type MediaType, parseMediaType } from './media-type.js';
import type { NameAddr } from './name-addr.js';
import type { Uri } from './uri.js';
import type { Source, Via } from './via.js';

export interface RequestParts extends Mandatory {
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
  /** The topmost one, with what was seen of its sender filled in. */
  readonly via: Via;
  readonly from: NameAddr;
  readonly to: NameAddr;
  readonly callId: string;
  readonly cseq: CSeq;
  readonly maxForwards: number | undefined;
  /** Multipart bodies are not taken apart here. */
  readonly body: Buffer;
  readonly contacts: Contacts;
  /** Undefined where it did not come over the network. */
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

  /** All values of this name in order; those that share a line are apart. */
  all(name: string): string[] {
    return this.fields.all(name);
  }

  /** The first contact; undefined where there is none, or it is `*`. */
  get contact(): NameAddr | undefined {
    return this.contacts === '*' ? undefined : this.contacts[0];
  }

  /** Undefined where there is no body, or its type is not well-formed. */
  get contentType(): MediaType | undefined {
    const value = this.first('content-type');
    return value === undefined ? undefined : parseMediaType(value);
  }
}
