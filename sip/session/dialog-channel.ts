// Builds and sends the requests within a dialog and keeps track of where the peer is reached: by its
// Contact, or by the flow of its own messages. FlowWatch reports a lost WebSocket.
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
  readonly body?: string | undefined;
}

/** Content of the ACK of a 2xx. */
export interface AckContent extends RequestContent {
  /** Credentials of its INVITE, for their own peer only. */
  readonly credentials?: readonly HeaderLine[];
}

const MOST_ACKS = 8; // a 2xx may be retransmitted after the next INVITE is done

export class DialogChannel {
  readonly dialog: Dialog;
  readonly context: SessionContext;
  readonly peer = new PeerCapabilities();
  /** Our Contact field. */
  readonly contact: HeaderLine;
  /** Called when the flow to the peer changes. */
  onFlow: (flow: Flow | undefined) => void = () => undefined;
  readonly #way: Omit<Journey, 'nextHop' | 'flow'>;
  #flow: Flow | undefined;
  /** Keyed by the CSeq number of the INVITE. */
  readonly #acks = new Map<number, Acknowledgement>();

  constructor(dialog: Dialog, journey: Omit<Journey, 'nextHop'>, contact: string, context: SessionContext) {
    this.dialog = dialog;
    this.context = context;
    this.contact = ['Contact', contact];
    const { flow, ...way } = journey;
    this.#way = way;
    this.#flow = flow;
  }

  /** An INVITE or UPDATE of the peer was accepted, which may change its target (RFC 3261, section 12.2.2). */
  refreshed(request: SipRequest, flow: Flow): void {
    this.peer.note(request);
    if (request.contact === undefined) return;
    this.dialog.refresh(request);
    this.moveTo(wayBack(request, flow));
  }

  /** A request of the peer arrived: a peer whose WebSocket was lost may be back on this one. */
  heard(flow: Flow): void {
    if (this.#flow?.closed === true && isWebSocket(this.#flow) && isWebSocket(flow)) this.moveTo(flow);
  }

  /** A 2xx to a request of ours may change the peer's target; the flow stays. */
  answered(response: SipResponse): void {
    this.peer.note(response);
    this.dialog.refresh(response);
  }

  /**
   * Takes target and flow from the 2xx to our INVITE, which was sent over `sentOver`; an earlier response
   * may have set another flow.
   */
  confirmed(response: SipResponse, sentOver: Flow | undefined): void {
    this.dialog.confirm(response);
    const says = response.contact !== undefined || response.first('record-route') !== undefined;
    if (says && sentOver !== undefined) this.moveTo(wayBack(response, sentOver));
  }

  /** Sends any request but INVITE and ACK. Never rejects. `cseq` receives the number of each attempt. */
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

  /** Sends the ACK of a 2xx, and the same ACK for its retransmissions. */
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

  /** Sets the flow to the peer. */
  moveTo(flow: Flow | undefined): void {
    this.#flow = flow;
    this.onFlow(flow);
  }

  #journey(): Journey {
    return { ...this.#way, nextHop: this.dialog.nextHop, flow: this.#flow };
  }
}

/**
 * Detects that a browser phone is unreachable. No connection can be opened to a browser (RFC 7118, section
 * 5): once its WebSocket is closed, the phone has to come back with a request within the dialog on another
 * one.
 */
export class FlowWatch {
  readonly #time: Time;
  readonly #patienceMs: number;
  readonly #lost: () => void;
  #cancelTimer = () => {};

  /**
   * `lost` is called once, `patienceMs` after the flow was closed, unless another flow is followed by then.
   */
  constructor(time: Time, patienceMs: number, lost: () => void) {
    this.#time = time;
    this.#patienceMs = patienceMs;
    this.#lost = lost;
  }

  /** Follows this flow; other transports than WebSockets are ignored. */
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

/**
 * Returns the flow for requests to the sender of this message, or undefined if its Contact is to be
 * resolved. A connection is always reused: it is open, and often there is no other way in. A UDP flow is
 * used if no proxy has recorded itself and the Contact is an address that is unreachable from outside
 * (private, loopback or link-local) and differs from the packet's source: then a NAT is in between.
 */
export function wayBack(message: SipRequest | SipResponse, flow: Flow): Flow | undefined {
  if (flow.reliable) return flow;
  if (message.first('record-route') !== undefined) return undefined;
  const target = message.contact?.uri;
  if (target?.isSip !== true) return flow; // there is no other destination
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
