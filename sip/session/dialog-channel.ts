// The way out of a dialog: makes its requests and sends them to where the peer
// is now, and keeps what the peer says of itself.
import ipaddr from 'ipaddr.js';
import type { Time } from '../../src/time.js';
import type {
  Acknowledgement,
  InviteUser,
  Journey,
  SendOutcome,
  SentInvite,
} from '../client/request-sender.js';
import type { SipRequest, SipResponse } from '../message/message.js';
import type { HeaderLine } from '../message/serialiser.js';
import type { Uri } from '../message/uri.js';
import type { Flow } from '../transport/flow.js';
import { PeerCapabilities } from './capabilities.js';
import type { Dialog } from './dialog.js';
import type { SessionContext } from './session-context.js';

export interface RequestContent {
  readonly headers: readonly HeaderLine[];
  readonly body?: string;
}

/** What the ACK of a 2xx carries. */
export interface AckContent extends RequestContent {
  /** Of its INVITE; for nobody but whom they were made for. */
  readonly credentials?: readonly HeaderLine[];
}

const MOST_ACKS = 8; // a 2xx may still come again when the next INVITE is done

export class DialogChannel {
  readonly dialog: Dialog;
  readonly context: SessionContext;
  readonly peer = new PeerCapabilities();
  /** Our Contact. */
  readonly contact: HeaderLine;
  /** Told whenever the peer is to be reached over another flow. */
  onFlow: (flow: Flow | undefined) => void = () => undefined;
  readonly #way: Omit<Journey, 'nextHop' | 'flow'>;
  #flow: Flow | undefined;
  /** By the number of the INVITE. */
  readonly #acks = new Map<number, Acknowledgement>();

  constructor(dialog: Dialog, journey: Omit<Journey, 'nextHop'>, contact: string, context: SessionContext) {
    this.dialog = dialog;
    this.context = context;
    this.contact = ['Contact', contact];
    const { flow, ...way } = journey;
    this.#way = way;
    this.#flow = flow;
  }

  /** An INVITE or UPDATE of the peer was accepted: it may be elsewhere from now on (RFC 3261, section 12.2.2). */
  refreshed(request: SipRequest, flow: Flow): void {
    this.peer.note(request);
    if (request.contact === undefined) return;
    this.dialog.refresh(request);
    this.moveTo(wayBack(request, flow));
  }

  /** Any request of the peer: one whose WebSocket was lost has come back on this one. */
  heard(flow: Flow): void {
    if (this.#flow?.closed === true && isWebSocket(this.#flow) && isWebSocket(flow)) this.moveTo(flow);
  }

  /** The same by a 2xx to ours: the flow stays, which has just carried it. */
  answered(response: SipResponse): void {
    this.peer.note(response);
    this.dialog.refresh(response);
  }

  /** By the 2xx to our INVITE, which went over `sentOver`: the flow of an earlier response may lead elsewhere. */
  confirmed(response: SipResponse, sentOver: Flow | undefined): void {
    this.dialog.confirm(response);
    const says = response.contact !== undefined || response.first('record-route') !== undefined;
    if (says && sentOver !== undefined) this.moveTo(wayBack(response, sentOver));
  }

  /** Any request but INVITE and ACK. Never rejects. `cseq` hears the number of each try. */
  send(method: string, content: RequestContent, cseq?: (number: number) => void): Promise<SendOutcome> {
    const { context, dialog } = this;
    const make = (more: readonly HeaderLine[]) => {
      const headers = [...more, ...context.userAgent, ...content.headers];
      const data = dialog.request(method, headers, content.body);
      cseq?.(dialog.localCSeq);
      return data;
    };
    return context.send(method, make, this.#journey());
  }

  invite(content: RequestContent, user: InviteUser): SentInvite {
    const make = (more: readonly HeaderLine[]) =>
      this.dialog.request('INVITE', [...more, ...this.context.userAgent, ...content.headers], content.body);
    return this.context.sender.invite(make, this.#journey(), user);
  }

  /** The ACK of a 2xx, and the same one again when that comes again: nothing is made anew for it. */
  acknowledge(response: SipResponse, content: () => AckContent): void {
    const { number } = response.cseq;
    const sent = this.#acks.get(number);
    if (sent !== undefined) return sent.again();
    const { headers, body, credentials } = content();
    const data = this.dialog.ack(number, [...this.context.userAgent, ...headers], body);
    this.#acks.set(
      number,
      this.context.sender.ack(data, () => this.#journey(), credentials),
    );
    const [oldest] = this.#acks.keys();
    if (this.#acks.size > MOST_ACKS && oldest !== undefined) this.#acks.delete(oldest);
  }

  hasAcknowledged({ cseq }: SipResponse): boolean {
    return this.#acks.has(cseq.number);
  }

  /** Where the peer is reached from now on. */
  moveTo(flow: Flow | undefined): void {
    this.#flow = flow;
    this.onFlow(flow);
  }

  #journey(): Journey {
    return {
      ...this.#way,
      nextHop: this.dialog.nextHop,
      ...(this.#flow === undefined ? {} : { flow: this.#flow }),
    };
  }
}

// Tells when a browser's phone cannot be reached any more. Nobody can connect to
// a browser (RFC 7118, section 5): the WebSocket that it came in on is the only
// way to it, and once that is closed the phone has to come back by itself, with a
// request within the dialog on another one.

export class FlowWatch {
  readonly #time: Time;
  readonly #patienceMs: number;
  readonly #lost: () => void;
  #cancelTimer = () => {};

  /** `lost` is told once, `patienceMs` after the flow was closed, unless another one is followed by then. */
  constructor(time: Time, patienceMs: number, lost: () => void) {
    this.#time = time;
    this.#patienceMs = patienceMs;
    this.#lost = lost;
  }

  /** This one from now on; any but a WebSocket is of no concern. */
  follow(flow: Flow | undefined): void {
    this.close();
    if (flow === undefined || !isWebSocket(flow)) return;
    let cancelWait = () => {};
    const stopListening = flow.onClose(() => {
      cancelWait = this.#time.after(this.#patienceMs, this.#lost);
    });
    this.#cancelTimer = () => {
      stopListening();
      cancelWait();
    };
  }

  /** Idempotent. */
  close(): void {
    this.#cancelTimer();
    this.#cancelTimer = () => {};
  }
}

function isWebSocket({ transport }: Flow): boolean {
  return transport === 'ws' || transport === 'wss';
}

// Where the requests of ours within a call go when its peer cannot be reached
// under the Contact that it gave.
//
// The flow of the peer's own request is taken where that was a connection: it
// stands, and often there is no other way in. Over UDP it is taken where the
// Contact is an address that nobody outside can reach (private, loopback,
// link-local or the like) and not the one that the packet came from, and no
// proxy has recorded itself: then a NAT stands between, and the packet's source
// is where it lets us in. With Record-Route the proxy knows the way, and
// everything else goes to the Contact.

/** The flow for requests to the sender of this message, or undefined if its Contact is to be located. */
export function wayBack(message: SipRequest | SipResponse, flow: Flow): Flow | undefined {
  if (flow.reliable) return flow;
  if (message.first('record-route') !== undefined) return undefined;
  const target = message.contact?.uri;
  if (target?.isSip !== true) return flow; // there is no other place to send to
  return isUnreachable(target, flow.remote.address) ? flow : undefined;
}

function isUnreachable({ host }: Uri, source: string): boolean {
  if (host === source) return false;
  if (!ipaddr.isValid(host)) return /(?:^|\.)(?:invalid|local|localhost)$/.test(host);
  return ipaddr.process(host).range() !== 'unicast' && plain(host) !== plain(source);
}

function plain(address: string): string {
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : address;
}
