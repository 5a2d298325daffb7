// Finds a flow for a request: an open one, or a new TCP or TLS connection within a time limit.
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import type { Time } from '../../src/time.js';
import type { Flow, FlowTable, Place, TransportFailure, TransportName } from './flow.js';
import { secureOptions, type TlsIdentity } from './listener-options.js';
import type { ConnectionLimiter, TransportLimits } from './transport-limits.js';

/** Destination of a request, as found by the locator. */
export interface Target {
  readonly transport: TransportName;
  readonly address: string;
  readonly port: number;
  /** Name required in the peer's certificate; the address by default. */
  readonly name?: string | undefined;
  /** Flow of the peer's own request, used while it is open. */
  readonly flow?: Flow | undefined;
  /** Large requests stay on UDP. */
  readonly udpOnly?: boolean | undefined;
  /** Local address to send from, if there are several. */
  readonly from?: string | undefined;
}

interface OutboundOptions {
  readonly table: FlowTable;
  readonly limiter: ConnectionLimiter;
  readonly limits: TransportLimits;
  readonly time: Time;
  readonly tls: TlsIdentity;
  /** Returns a flow of the UDP socket of the address's family. */
  readonly datagrams: (target: Target) => Flow | undefined;
  /** Returns the local address to connect from, if one of the family is listened on. */
  readonly from: (target: Target) => string | undefined;
  readonly connected: (socket: Socket, transport: 'tcp' | 'tls') => Flow;
}

const UDP_ONLY_MS = 600_000; // time during which TCP to a peer is not tried again after it failed
const UDP_ONLY_MOST = 1000;
const LARGE_CONNECT_MS = 2000; // short, because a caller waits and UDP remains

export class Outbound {
  readonly #options: OutboundOptions;
  #tls: TlsIdentity;
  readonly #connecting = new Map<string, Promise<Flow | TransportFailure>>();
  readonly #udpOnlyUntilMs = new Map<string, number>();

  constructor(options: OutboundOptions) {
    this.#options = options;
    this.#tls = options.tls;
  }

  /** Sets the TLS identity of new connections. */
  renew(tls: TlsIdentity): void {
    this.#tls = tls;
  }

  /** Returns at once if a flow is open or none is needed. */
  reach(target: Target): Flow | TransportFailure | Promise<Flow | TransportFailure> {
    const { flow, transport } = target;
    if (flow !== undefined && !flow.closed) return flow;
    switch (transport) {
      case 'udp':
        return this.#options.datagrams(target) ?? 'no-listener';
      case 'tcp':
      case 'tls':
        return this.#options.table.find(transport, target, target.name) ?? this.#connect(target, transport);
      case 'ws':
      case 'wss':
        return 'closed'; // no connection can be opened to a browser
    }
  }

  /** Returns a connection for a request that is too large for a datagram; undefined if none can be had. */
  async reachLarge(target: Target): Promise<Flow | undefined> {
    const key = `${target.address} ${target.port}`;
    const { time, table } = this.#options;
    if ((this.#udpOnlyUntilMs.get(key) ?? 0) > time.now()) return undefined;
    const found = table.find('tcp', target) ?? (await this.#connect(target, 'tcp', LARGE_CONNECT_MS));
    if (typeof found !== 'string') return found;
    if (this.#udpOnlyUntilMs.size >= UDP_ONLY_MOST) this.#udpOnlyUntilMs.clear();
    this.#udpOnlyUntilMs.set(key, time.now() + UDP_ONLY_MS);
    return undefined;
  }

  #connect(target: Target, transport: 'tcp' | 'tls', limitMs?: number): Promise<Flow | TransportFailure> {
    const key = `${transport} ${target.address} ${target.port} ${target.name ?? ''}`;
    const under = this.#connecting.get(key);
    if (under !== undefined) return under;
    const connecting = this.#open(target, transport, limitMs ?? this.#options.limits.connectMs);
    this.#connecting.set(key, connecting);
    void connecting.finally(() => this.#connecting.delete(key));
    return connecting;
  }

  async #open(target: Target, transport: 'tcp' | 'tls', limitMs: number): Promise<Flow | TransportFailure> {
    const { limiter, time, table, connected, from } = this.#options;
    const tls = this.#tls;
    if (limiter.full) return 'too-many';
    const { name, address, port } = target;
    const remote = { address, port };
    const socket = await connectStream({ transport, remote, name, from: from(target), tls, limitMs, time });
    if (typeof socket === 'string') return socket;
    limiter.keep(socket);
    const flow = connected(socket, transport);
    table.add(flow, remote, name);
    return flow;
  }
}

interface ConnectOptions {
  readonly transport: 'tcp' | 'tls';
  readonly remote: Place;
  /** Name required in the peer's certificate (RFC 5922); its address by default. */
  readonly name: string | undefined;
  /** Local address to connect from. */
  readonly from: string | undefined;
  readonly tls: TlsIdentity;
  readonly limitMs: number;
  readonly time: Time;
}

const FAILURES: Readonly<Record<string, TransportFailure>> = {
  ECONNREFUSED: 'refused',
  ECONNRESET: 'refused',
  ETIMEDOUT: 'timeout',
};

/** Resolves with a ready socket or the reason why there is none; never rejects. */
function connectStream(options: ConnectOptions): Promise<Socket | TransportFailure> {
  const { transport, limitMs, time } = options;
  return new Promise((resolve) => {
    const socket = transport === 'tls' ? tlsSocket(options) : tcpSocket(options);
    let connected = false;
    const settle = (result: Socket | TransportFailure): void => {
      cancelTimer();
      socket.off('error', onError);
      if (typeof result === 'string') {
        socket.on('error', () => undefined);
        socket.destroy();
      }
      resolve(result);
    };
    const onError = (error: NodeJS.ErrnoException): void => {
      settle(transport === 'tls' && connected ? 'tls' : (FAILURES[error.code ?? ''] ?? 'unreachable'));
    };
    const cancelTimer = time.after(limitMs, () => settle('timeout'));
    socket.on('error', onError);
    socket.once('connect', () => (connected = true));
    socket.once(transport === 'tls' ? 'secureConnect' : 'connect', () => settle(socket));
  });
}

function tcpSocket({ remote, from }: ConnectOptions): Socket {
  return connect({ host: remote.address, port: remote.port, ...local(from) });
}

function tlsSocket({ remote, name, from, tls }: ConnectOptions): TLSSocket {
  const servername = name !== undefined && isIP(name) === 0 ? { servername: name } : {};
  const place = { host: remote.address, port: remote.port, ...local(from) };
  return connectTls({ ...place, ...secureOptions(tls), ...servername });
}

function local(from: string | undefined): { localAddress?: string } {
  return from === undefined ? {} : { localAddress: from };
}
