// Holds the state of a dialog (RFC 3261, section 12): it builds requests within the dialog and checks
// the order of received ones. It sends nothing.
import type { SipRequest, SipResponse } from '../message/message.js';
import type { HeaderLine, RequestData } from '../message/serialiser.js';
import { asRequestUri, parseNameAddr, type Uri } from '../message/uri.js';

/** Values of our INVITE; a response may repeat them wrongly. */
interface OwnInvite {
  readonly callId: string;
  readonly tag: string;
  /** Value of From, with the tag. */
  readonly from: string;
  /** Value of To. */
  readonly to: string;
  /** The Request-URI: the remote target of a peer that gives no Contact. */
  readonly uri: Uri;
}

/** Identifies a dialog. */
export interface DialogId {
  readonly callId: string;
  readonly localTag: string;
  readonly remoteTag: string;
}

interface Beginning extends DialogId {
  /** Values for From and To of our requests, tags included. */
  readonly local: string;
  readonly remote: string;
  readonly remoteTarget: Uri;
  /** Values for Route, the next hop first. */
  readonly routeSet: readonly string[];
  readonly localCSeq: number;
  readonly remoteCSeq: number | undefined;
}

export function dialogKey({ callId, localTag, remoteTag }: DialogId): string {
  return `${callId} ${localTag} ${remoteTag}`;
}

export class Dialog implements DialogId {
  readonly callId: string;
  readonly localTag: string;
  readonly remoteTag: string;
  readonly #local: string;
  readonly #remote: string;
  #routeSet: readonly string[];
  #remoteTarget: Uri;
  #localCSeq: number;
  #remoteCSeq: number | undefined;

  private constructor(beginning: Beginning) {
    this.callId = beginning.callId;
    this.localTag = beginning.localTag;
    this.remoteTag = beginning.remoteTag;
    this.#local = beginning.local;
    this.#remote = beginning.remote;
    this.#routeSet = beginning.routeSet;
    this.#remoteTarget = beginning.remoteTarget;
    this.#localCSeq = beginning.localCSeq;
    this.#remoteCSeq = beginning.remoteCSeq;
  }

  /** Creates the dialog of a received INVITE (section 12.1.1). Undefined if its Contact cannot be reached. */
  static ofServer(invite: SipRequest, localTag: string, firstCSeq: number): Dialog | undefined {
    const { callId, from, cseq } = invite;
    const remoteTarget = targetIn(invite);
    if (remoteTarget === undefined) return undefined;
    return new Dialog({
      callId,
      localTag,
      remoteTag: from.tag ?? '',
      local: `${invite.first('to') ?? ''};tag=${localTag}`,
      remote: invite.first('from') ?? '',
      remoteTarget,
      routeSet: invite.all('record-route'),
      localCSeq: firstCSeq - 1,
      remoteCSeq: cseq.number,
    });
  }

  /**
   * Creates the dialog of a response from 101 to 299 to our INVITE (section 12.1.2). A peer of RFC 2543
   * sends no To tag: the remote tag is then empty, and our requests carry none. Without a usable Contact the
   * target is the Request-URI.
   */
  static ofClient(response: SipResponse, own: OwnInvite): Dialog {
    return new Dialog({
      callId: own.callId,
      localTag: own.tag,
      remoteTag: response.toTag ?? '',
      local: own.from,
      remote: response.toValue(own.to),
      remoteTarget: targetIn(response) ?? own.uri,
      routeSet: response.all('record-route').toReversed(),
      localCSeq: response.cseq.number,
      remoteCSeq: undefined,
    });
  }

  get key(): string {
    return dialogKey(this);
  }

  /** CSeq number of our latest request. */
  get localCSeq(): number {
    return this.#localCSeq;
  }

  get remoteTarget(): Uri {
    return this.#remoteTarget;
  }

  /** URI of the peer from From or To. */
  get remoteUri(): Uri | undefined {
    return parseNameAddr(this.#remote)?.uri;
  }

  get localUri(): Uri | undefined {
    return parseNameAddr(this.#local)?.uri;
  }

  /** Next hop of requests: the first of the route set, or the remote target (section 12.2.1.1). */
  get nextHop(): Uri {
    const [first] = this.#routeSet;
    return (first === undefined ? undefined : parseNameAddr(first)?.uri) ?? this.#remoteTarget;
  }

  /**
   * Builds a request within the dialog with a new CSeq number. `headers` contain no Route, From, To, Call-ID
   * and CSeq. CANCEL is built from its INVITE, ACK by `ack`.
   */
  request(method: string, headers: readonly HeaderLine[], body?: Buffer | string): RequestData {
    this.#localCSeq++;
    return this.#built(method, this.#localCSeq, headers, body);
  }

  /** Builds the ACK of a 2xx, with the number of its INVITE (section 13.2.2.4). */
  ack(inviteCSeq: number, headers: readonly HeaderLine[], body?: Buffer | string): RequestData {
    return this.#built('ACK', inviteCSeq, headers, body);
  }

  /** True if a request of the peer is in order; an older one is answered with 500 (section 12.2.2). */
  takes({ cseq, method }: SipRequest): boolean {
    if (method === 'ACK' || method === 'CANCEL') return true;
    if (this.#remoteCSeq !== undefined && cseq.number < this.#remoteCSeq) return false;
    this.#remoteCSeq = cseq.number;
    return true;
  }

  /** Applies a target refresh: INVITE, UPDATE, or a 2xx to one of ours (section 12.2). */
  refresh(message: Pick<SipRequest, 'contact'> | Pick<SipResponse, 'contact'>): void {
    this.#remoteTarget = targetIn(message) ?? this.#remoteTarget;
  }

  /**
   * Applies the 2xx to the INVITE that created the dialog: the route set is rebuilt (section 13.2.2.4), CSeq
   * numbers stay.
   */
  confirm(response: SipResponse): void {
    this.#routeSet = response.all('record-route').toReversed();
    this.refresh(response);
  }

  #built(method: string, cseq: number, headers: readonly HeaderLine[], body?: Buffer | string): RequestData {
    const { uri, routes } = this.#routed();
    return {
      method,
      uri,
      headers: [
        ...routes.map((route): HeaderLine => ['Route', route]),
        ['From', this.#local],
        ['To', this.#remote],
        ['Call-ID', this.callId],
        ['CSeq', `${cseq} ${method}`],
        ...headers,
      ],
      body,
    };
  }

  /** A strict router as the first hop gets the request under its own URI. */
  #routed(): { readonly uri: string; readonly routes: readonly string[] } {
    const [first, ...rest] = this.#routeSet;
    const hop = first === undefined ? undefined : parseNameAddr(first)?.uri;
    if (hop === undefined || hop.params.has('lr')) {
      return { uri: this.#remoteTarget.text, routes: this.#routeSet };
    }
    return { uri: hop.text, routes: [...rest, `<${this.#remoteTarget.text}>`] };
  }
}

/** URI of Contact, if requests can be sent to it. */
function targetIn({ contact }: Pick<SipRequest, 'contact'> | Pick<SipResponse, 'contact'>): Uri | undefined {
  return contact?.uri.isSip === true ? asRequestUri(contact.uri) : undefined;
}
