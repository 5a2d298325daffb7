// A flow to whoever is to get a request: the one there is, or a new one.
import type { Time } from '../../src/time.js';
import type { Socket } from 'node:net';
import type { Flow, TransportFailure, TransportName } from './flow.js';
import type { FlowTable } from './flow-table.js';
import { connectStream } from './stream-connector.js';
import type { ConnectionGate } from './connection-gate.js';
import type { TransportLimits } from './limits.js';
import type { TlsIdentity } from './tls-identity.js';

/** Where a request goes: what the locator found. */
export interface Target {
  readonly transport: TransportName;
  readonly address: string;
  readonly port: number;
  /** The name that a certificate has to bear; without one, the address. */
  readonly name?: string | undefined;
  /** The flow that the peer came in on, which is taken while it stands. */
  readonly flow?: Flow | undefined;
  /** Nothing changes to TCP, however large it is. */
  readonly udpOnly?: boolean | undefined;
  /** The address of ours to leave from, where we listen on several. */
  readonly from?: string | undefined;
}

export interface OutboundOptions {
  readonly table: FlowTable;
  readonly gate: ConnectionGate;
  readonly limits: TransportLimits;
  readonly time: Time;
  readonly tls: TlsIdentity;
  /** From a UDP socket of the address's family. */
  readonly datagrams: (target: Target) => Flow | undefined;
  /** The address to connect from, where one of the family is listened on. */
  readonly from: (target: Target) => string | undefined;
  readonly connected: (socket: Socket, transport: 'tcp' | 'tls') => Flow;
}

const UDP_ONLY_MS = 600_000; // a peer that took no TCP is not tried again for that long
const UDP_ONLY_MOST = 1000;
const LARGE_CONNECT_MS = 2000; // while a caller waits, and UDP is left

export class Outbound {
  readonly #options: OutboundOptions;
  #tls: TlsIdentity;
  readonly #connecting = new Map<string, Promise<Flow | TransportFailure>>();
  readonly #udpOnlyUntilMs = new Map<string, number>();

  constructor(options: OutboundOptions) {
    this.#options = options;
    this.#tls = options.tls;
  }

  /** New connections are made under this identity. */
  renew(tls: TlsIdentity): void {
    this.#tls = tls;
  }

  /** At once where a flow stands or none is needed. */
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
        return 'closed'; // a browser cannot be connected to: its own flow was all there is
    }
  }

  /** A connection instead of UDP, for what is too large for a datagram; undefined if there is none to be had. */
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
    const { gate, time, table, connected, from } = this.#options;
    const tls = this.#tls;
    if (gate.full) return 'too-many';
    const { name, address, port } = target;
    const remote = { address, port };
    const socket = await connectStream({ transport, remote, name, from: from(target), tls, limitMs, time });
    if (typeof socket === 'string') return socket;
    gate.keep(socket);
    const flow = connected(socket, transport);
    table.add(flow, remote, name);
    return flow;
  }
}
