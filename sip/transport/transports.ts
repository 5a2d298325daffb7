// Holds all transports of a SIP element: its listeners and open connections. It sends requests to an
// address and responses back the way their requests came.
import type { IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { clientAddress, peerAddress } from '../../src/call/client-limits.js';
import { tellDefect } from '../../src/errors.js';
import type { Time } from '../../src/time.js';
import type { MessageTap } from '../capture/taps.js';
import type { Via } from '../message/via.js';
import {
  defaultPort,
  type Flow,
  FlowTable,
  type Place,
  plainAddress,
  type TransportFailure,
  type TransportName,
} from './flow.js';
import {
  checkListener,
  type ListenerOptions,
  LOOPBACK,
  sameFamily,
  type SentBy,
  type TlsIdentity,
  viaText,
} from './listener-options.js';
import { Outbound, type Target } from './outbound.js';
import { StreamFlow } from './stream-flow.js';
import { StreamListener } from './stream-listener.js';
import {
  ConnectionLimiter,
  TRANSPORT_LIMITS,
  TransportCounts,
  type TransportLimits,
} from './transport-limits.js';
import { UdpFlow, UdpListener } from './udp-listener.js';
import { WebSocketListener } from './websocket-listener.js';

export interface TransportsOptions {
  readonly listeners: readonly ListenerOptions[];
  /** TLS identity for outgoing connections. */
  readonly client?: TlsIdentity;
  /** Peers whose connections may be reused for requests to the place in their Via (RFC 5923). */
  readonly aliases?: 'off' | 'authenticated' | 'all';
  readonly limits?: Partial<TransportLimits>;
  readonly time: Time;
  /** True if this address may send messages; others get no answer. */
  readonly admits?: (address: string, transport: TransportName) => boolean;
  readonly received: (bytes: Buffer, flow: Flow) => void;
  /** Receives a copy of every message. */
  readonly tap?: MessageTap | undefined;
}

/** Builds the bytes of a request for a flow. */
export type BytesFor = (flow: Flow) => Buffer;

export interface Sent {
  readonly flow: Flow;
  readonly bytes: Buffer;
}

interface Listening {
  readonly options: ListenerOptions;
  readonly listener: UdpListener | StreamListener;
}

const FLUSH_MS = 1000;
const LARGE_BYTES = 1300; // RFC 3261, section 18.1.1

export class Transports {
  readonly counts = new TransportCounts();
  readonly #options: TransportsOptions;
  readonly #limits: TransportLimits;
  readonly #limiter: ConnectionLimiter;
  readonly #table = new FlowTable();
  readonly #webSockets: WebSocketListener;
  readonly #outbound: Outbound;
  readonly #listening: Listening[];
  readonly #received: (bytes: Buffer, flow: Flow) => void;
  readonly #sent: ((bytes: Buffer, flow: Flow) => void) | undefined;
  #closed: Promise<void> | undefined;

  /** Throws CONFIG_INVALID if a listener's options are invalid. */
  constructor(options: TransportsOptions) {
    this.#options = options;
    this.#limits = { ...TRANSPORT_LIMITS, ...options.limits };
    this.#limiter = new ConnectionLimiter(this.#limits, this.counts);
    const { time, client: tls = {} } = options;
    const both = { limits: this.#limits, time, counts: this.counts };
    this.#received = guarded(tapped(options));
    this.#sent = sentTo(options.tap);
    const wire = { received: this.#received, sent: this.#sent };
    this.#webSockets = new WebSocketListener({ ...both, ...wire, opened: (flow) => this.#table.add(flow) });
    this.#outbound = new Outbound({
      ...both,
      table: this.#table,
      limiter: this.#limiter,
      tls,
      datagrams: (target) => this.#datagrams(target),
      from: (target) => this.#from(target),
      connected: (socket, transport) => this.#streamFlow(socket, transport, false, transport === 'tls'),
    });
    this.#listening = options.listeners.map((listener) => this.#listen(listener));
  }

  /** Number of open connections, and of handshakes in progress. */
  get connections(): number {
    return this.#limiter.connections;
  }

  get handshakes(): number {
    return this.#limiter.handshakes;
  }

  /** Longest wait of received datagrams, for LoadGauge. */
  queueDelayMs(): number {
    return Math.max(
      0,
      ...this.#listening.map(({ listener }) => ('queueDelayMs' in listener ? listener.queueDelayMs() : 0)),
    );
  }

  /** Rejects with CONFIG_INVALID, leaving nothing open, if an address cannot be bound. */
  async open(): Promise<void> {
    try {
      for (const { listener } of this.#listening) await listener.open();
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  /** Waits up to one second for sent data to be written. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** Sets the TLS identity of new connections in both directions; open ones keep theirs. */
  renew(tls: TlsIdentity): void {
    this.#outbound.renew(tls);
    for (const { listener } of this.#listening) if (listener instanceof StreamListener) listener.renew(tls);
  }

  /** Local place of a transport: the first one, or the first of the address's family. */
  local(transport: TransportName, like?: string): Place | undefined {
    return this.#find(transport, like)?.listener.local;
  }

  /** All local places. */
  get places(): readonly { readonly transport: TransportName; readonly place: Place }[] {
    return this.#listening.map(({ options, listener }) => ({
      transport: options.transport,
      place: listener.local,
    }));
  }

  /** Takes a WebSocket upgrade of another server in this process. Its connection counts like any other. */
  upgrade(request: IncomingMessage, duplex: Duplex, head: Buffer, secure: boolean): void {
    const { socket, headers } = request;
    const address = clientAddress(peerAddress(socket), headers) ?? 'unix';
    if (this.#limiter.admit(socket, () => true, plainAddress(address))) {
      this.#webSockets.upgrade(request, duplex, head, secure);
    }
  }

  /** Host and port for Via on this flow. */
  sentBy(flow: Flow): SentBy {
    const found = this.#at(flow) ?? this.#find(flow.transport, flow.remote.address);
    if (found === undefined) return this.#ownEnd(flow);
    const { advertised, host = LOOPBACK } = found.options;
    const wildcard = host === '0.0.0.0' || host === '::';
    const address = advertised?.host ?? (wildcard ? flow.local.address : found.listener.local.address);
    return { host: address, port: advertised?.port ?? found.listener.local.port };
  }

  /**
   * Address for peers on this transport, or that of UDP if the transport has no listener. For a flow, the
   * address that the flow uses is preferred, then one of the peer's family.
   */
  advertised(transport: TransportName, flow?: Flow): Place {
    const found = this.#near(transport, flow) ?? this.#near('udp', flow) ?? this.#listening[0];
    if (found === undefined) throw new Error('there is no listener');
    const { advertised } = found.options;
    const { address, port } = found.listener.local;
    return { address: advertised?.host ?? address, port: advertised?.port ?? port };
  }

  viaFor(flow: Flow, branch: string): string {
    return viaText(flow, this.sentBy(flow), branch, (this.#options.aliases ?? 'off') !== 'off');
  }

  /**
   * Sends a request. `bytesFor` builds the bytes with a Via for the flow. It is called again if the request
   * is too large for UDP and a connection is available.
   */
  send(target: Target, bytesFor: BytesFor): Promise<Sent | TransportFailure> {
    const reached = this.#outbound.reach(target);
    if (reached instanceof UdpFlow) return this.#sendDatagram(target, reached, bytesFor);
    return this.#sendOver(reached, bytesFor);
  }

  /**
   * Sends a response back on the flow of its request, or to the place in its Via (RFC 3261, section 18.2.2).
   */
  async respond(bytes: Buffer, via: Via, flow: Flow): Promise<boolean> {
    if (flow instanceof UdpFlow) {
      const place = datagramPlace(via);
      return place !== undefined && flow.to(place).send(bytes);
    }
    if (!flow.closed) return flow.send(bytes);
    const place = connectionPlace(via, flow.transport);
    if (place === undefined) return false;
    const reached = await this.#outbound.reach({ transport: flow.transport, ...place });
    return typeof reached !== 'string' && reached.send(bytes);
  }

  /** Registers the connection of a peer for requests to the place in its Via (RFC 5923). */
  alias(flow: Flow, via: Via): void {
    const { aliases = 'off' } = this.#options;
    if (aliases === 'off' || !(flow instanceof StreamFlow) || !flow.inbound || !via.params.has('alias'))
      return;
    if (aliases === 'authenticated' && !flow.authenticated) return;
    const port = via.sentBy.port ?? defaultPort(flow.transport);
    this.#table.add(flow, { address: flow.remote.address, port });
  }

  async #close(): Promise<void> {
    this.#webSockets.close();
    const listeners = this.#listening.map(({ listener }) => listener.close());
    this.#table.closeAll();
    this.#limiter.cutHandshakes();
    const cancelTimer = this.#options.time.after(FLUSH_MS, () => this.#limiter.destroy());
    await Promise.all([...listeners, this.#limiter.drained()]);
    cancelTimer();
  }

  async #sendDatagram(target: Target, flow: UdpFlow, bytesFor: BytesFor): Promise<Sent | TransportFailure> {
    const bytes = bytesFor(flow);
    const isLarge = bytes.length > LARGE_BYTES && target.udpOnly !== true;
    if (isLarge) {
      const larger = await this.#outbound.reachLarge(target);
      const sent = larger === undefined ? 'unreachable' : await this.#sendOver(larger, bytesFor);
      if (typeof sent !== 'string') return sent;
    }
    const again = isLarge ? bytesFor(flow) : bytes; // the Via must name UDP again
    return (await flow.send(again)) ? { flow, bytes: again } : 'unreachable';
  }

  async #sendOver(
    reaching: Flow | TransportFailure | Promise<Flow | TransportFailure>,
    bytesFor: BytesFor,
  ): Promise<Sent | TransportFailure> {
    const flow = await reaching;
    if (typeof flow === 'string') return flow;
    const bytes = bytesFor(flow);
    return (await flow.send(bytes)) ? { flow, bytes } : 'closed';
  }

  #listen(options: ListenerOptions): Listening {
    checkListener(options);
    const { transport, host = LOOPBACK, port, tls } = options;
    const { counts } = this;
    const failed = (): void => counts.add('socket-errors');
    if (transport === 'udp') {
      const received = (bytes: Buffer, flow: UdpFlow): void => this.#datagram(bytes, flow);
      return {
        options,
        listener: new UdpListener({
          host,
          port,
          time: this.#options.time,
          received,
          sent: this.#sent,
          failed,
        }),
      };
    }
    const listener = new StreamListener({
      host,
      port,
      counts,
      limiter: this.#limiter,
      limits: this.#limits,
      time: this.#options.time,
      tls: transport === 'tls' || transport === 'wss' ? tls : undefined,
      admits: (address) => this.#options.admits?.(address, transport) ?? true,
      accepted: (socket, authenticated) => this.#accepted(socket, transport, authenticated),
    });
    return { options, listener };
  }

  #datagram(bytes: Buffer, flow: UdpFlow): void {
    if (!(this.#options.admits?.(flow.remote.address, 'udp') ?? true)) this.counts.add('strangers');
    else if (bytes.length > this.#limits.datagramBytes) this.counts.add('datagram-too-large');
    else this.#received(bytes, flow);
  }

  #accepted(socket: Socket, transport: 'tcp' | 'tls' | 'ws' | 'wss', authenticated: boolean): void {
    if (transport === 'tcp' || transport === 'tls') {
      this.#table.add(this.#streamFlow(socket, transport, true, authenticated));
    } else if (this.#limiter.shake(socket)) {
      this.#webSockets.take(socket, transport === 'wss', () => this.#limiter.shaken(socket));
    }
  }

  #streamFlow(
    socket: Socket,
    transport: 'tcp' | 'tls',
    inbound: boolean,
    authenticated: boolean,
  ): StreamFlow {
    const { time } = this.#options;
    const flowOptions = {
      transport,
      inbound,
      authenticated,
      limits: this.#limits,
      time,
      counts: this.counts,
      received: this.#received,
      sent: this.#sent,
    };
    return new StreamFlow(socket, flowOptions);
  }

  #datagrams(target: Target): UdpFlow | undefined {
    const mayLeave = ({ options: { transport }, listener: { local } }: Listening): boolean =>
      transport === 'udp' && local.address === target.from && sameFamily(local.address, target.address);
    const { listener } = this.#listening.find(mayLeave) ?? this.#find('udp', target.address) ?? {};
    return listener instanceof UdpListener ? listener.flowTo(target) : undefined;
  }

  /**
   * Sent-by of a transport without a listener: the connection's own end (RFC 5923), or the advertised
   * address behind NAT.
   */
  #ownEnd({ transport, local, remote }: Flow): SentBy {
    const { advertised } =
      (transport === 'tls' ? this.#find('udp', remote.address)?.options : undefined) ?? {};
    return { host: advertised?.host ?? local.address, port: local.port };
  }

  /** Local address for outgoing connections: the listening address, so that a peer recognises us. */
  #from(target: Target): string | undefined {
    const ours = this.#listening.map(({ listener }) => listener.local.address);
    const usable = ours.filter((address) => sameFamily(address, target.address));
    const address = usable.find((one) => one === target.from) ?? usable[0];
    return address === '0.0.0.0' || address === '::' ? undefined : address;
  }

  /** Finds the listener of a flow by local address, because several of one family may be listened on. */
  #at({ transport, local }: Pick<Flow, 'transport' | 'local'>): Listening | undefined {
    return this.#listening.find(
      ({ options, listener }) => options.transport === transport && listener.local.address === local.address,
    );
  }

  /** Listener of a transport that suits the peer of a flow. */
  #near(transport: TransportName, flow: Flow | undefined): Listening | undefined {
    if (flow === undefined) return this.#find(transport);
    return (
      this.#at({ transport, local: flow.local }) ??
      this.#find(transport, flow.remote.address) ??
      this.#find(transport)
    );
  }

  #find(transport: TransportName, like?: string): Listening | undefined {
    return this.#listening.find(
      ({ options, listener }) =>
        options.transport === transport && (like === undefined || sameFamily(listener.local.address, like)),
    );
  }
}

/** Keeps the socket open if the handling of one message throws. */
function guarded(received: TransportsOptions['received']): TransportsOptions['received'] {
  return (bytes, flow) => {
    try {
      received(bytes, flow);
    } catch (error) {
      tellDefect(error);
    }
  };
}

function tapped({ received, tap }: TransportsOptions): (bytes: Buffer, flow: Flow) => void {
  if (tap === undefined) return received;
  return (bytes, flow) => {
    tap.message('in', bytes, flow);
    received(bytes, flow);
  };
}

function sentTo(tap: MessageTap | undefined): ((bytes: Buffer, flow: Flow) => void) | undefined {
  return tap === undefined ? undefined : (bytes, flow) => tap.message('out', bytes, flow);
}

/**
 * Destination of a response over UDP (RFC 3261, section 18.2.2, and RFC 3581); undefined if Via contains no
 * address. `maddr` is ignored: it is for multicast and would let a peer direct messages at third parties.
 */
export function datagramPlace(via: Via): Place | undefined {
  const { received, rport, sentBy } = via;
  const port = sentBy.port ?? defaultPort('udp');
  return place(received ?? sentBy.host, rport ?? port);
}

/** Destination of a new connection for a response whose flow has closed. */
export function connectionPlace(via: Via, transport: TransportName): Place | undefined {
  return place(via.received ?? via.sentBy.host, via.sentBy.port ?? defaultPort(transport));
}

function place(address: string, port: number): Place | undefined {
  return isIP(address) === 0 || port === 0 ? undefined : { address, port };
}
