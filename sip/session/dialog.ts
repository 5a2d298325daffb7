// A dialog (RFC 3261, section 12): what two user agents have to remember of each
// other to go on talking. It makes the requests inside of it and judges the
// order of those that come; it sends nothing.
import type { SipRequest, SipResponse } from '../message/message.js';
import type { HeaderLine, RequestData } from '../message/serialiser.js';
import { asRequestUri, parseNameAddr, type Uri } from '../message/uri.js';

/** What an INVITE of ours was sent with; a response may repeat it wrongly. */
export interface OwnInvite {
  readonly callId: string;
  readonly tag: string;
  /** Value of From, with the tag. */
  readonly from: string;
  /** Value of To. */
  readonly to: string;
  /** The Request-URI: the remote target of a peer that gives no Contact. */
  readonly uri: Uri;
}

/** The side of the peer's that a dialog is found by. */
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

  /** Of an INVITE that came in (section 12.1.1). Undefined if it says nowhere to reach its sender. */
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
   * Of a response from 101 to 299 to an INVITE of ours (section 12.1.2). A peer of RFC 2543 sends no To tag: the remote
   * tag is then empty, and no request of ours has one. Without a usable Contact the target is the Request-URI.
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

  /** The number of our latest request. */
  get localCSeq(): number {
    return this.#localCSeq;
  }

  get remoteTarget(): Uri {
    return this.#remoteTarget;
  }

  /** URI of the peer, as From or To had it. */
  get remoteUri(): Uri | undefined {
    return parseNameAddr(this.#remote)?.uri;
  }

  get localUri(): Uri | undefined {
    return parseNameAddr(this.#local)?.uri;
  }

  /** Where requests go next: the first of the route set, or the target (section 12.2.1.1). */
  get nextHop(): Uri {
    const [first] = this.#routeSet;
    return (first === undefined ? undefined : parseNameAddr(first)?.uri) ?? this.#remoteTarget;
  }

  /**
   * A request within the dialog, with a number of its own. `headers` do not hold Route, From, To, Call-ID and CSeq.
   * CANCEL is made of its INVITE, ACK by `ack`.
   */
  request(method: string, headers: readonly HeaderLine[], body?: Buffer | string): RequestData {
    this.#localCSeq++;
    return this.#built(method, this.#localCSeq, headers, body);
  }

  /** The ACK of a 2xx: numbered as its INVITE (section 13.2.2.4). */
  ack(inviteCSeq: number, headers: readonly HeaderLine[], body?: Buffer | string): RequestData {
    return this.#built('ACK', inviteCSeq, headers, body);
  }

  /** Whether a request of the peer comes in order; what is older than the one before is answered 500 (section 12.2.2). */
  takes({ cseq, method }: SipRequest): boolean {
    if (method === 'ACK' || method === 'CANCEL') return true;
    if (this.#remoteCSeq !== undefined && cseq.number < this.#remoteCSeq) return false;
    this.#remoteCSeq = cseq.number;
    return true;
  }

  /** A target refresh: INVITE, UPDATE, or a 2xx to one of ours (section 12.2). */
  refresh(message: Pick<SipRequest, 'contact'> | Pick<SipResponse, 'contact'>): void {
    this.#remoteTarget = targetIn(message) ?? this.#remoteTarget;
  }

  /** The 2xx to the INVITE that made it: the route set is made anew of it (section 13.2.2.4); what was numbered stays. */
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
      ...(body === undefined ? {} : { body }),
    };
  }

  /** A first hop that knows no loose routing gets the request under its own name. */
  #routed(): { readonly uri: string; readonly routes: readonly string[] } {
    const [first, ...rest] = this.#routeSet;
    const hop = first === undefined ? undefined : parseNameAddr(first)?.uri;
    if (hop === undefined || hop.params.has('lr')) {
      return { uri: this.#remoteTarget.text, routes: this.#routeSet };
    }
    return { uri: hop.text, routes: [...rest, `<${this.#remoteTarget.text}>`] };
  }
}

/** The URI of Contact, where requests can be sent to it. */
function targetIn({ contact }: Pick<SipRequest, 'contact'> | Pick<SipResponse, 'contact'>): Uri | undefined {
  return contact?.uri.isSip === true ? asRequestUri(contact.uri) : undefined;
}
