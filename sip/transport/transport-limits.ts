// Limits what peers may cost: sizes, times and numbers of connections. ConnectionLimiter enforces the
// number of connections for all transports, and TransportCounts counts what was refused or lost.
import type { Socket } from 'node:net';
import { plainAddress } from './flow.js';

export class ConnectionLimiter {
  readonly #limits: TransportLimits;
  readonly #counts: TransportCounts;
  readonly #perAddress = new Map<string, number>();
  readonly #sockets = new Set<Socket>();
  // By remote address and port, which a TLS socket shares with its raw socket.
  readonly #handshakes = new Map<string, Socket>();

  #drained: (() => void) | undefined;

  constructor(limits: TransportLimits, counts: TransportCounts) {
    this.#limits = limits;
    this.#counts = counts;
  }

  get connections(): number {
    return this.#sockets.size;
  }

  /** TLS and WebSocket handshakes in progress. */
  get handshakes(): number {
    return this.#handshakes.size;
  }

  get full(): boolean {
    return this.#sockets.size >= this.#limits.connections;
  }

  /** Counts a raw socket until it closes, or destroys it. A proxy may have stated another address. */
  admit(
    socket: Socket,
    admitted: (address: string) => boolean,
    address = plainAddress(socket.remoteAddress ?? ''),
  ): boolean {
    const standing = this.#perAddress.get(address) ?? 0;
    if (address === '' || !admitted(address)) return this.#refuse(socket, 'strangers');
    if (this.full || standing >= this.#limits.connectionsPerAddress) {
      return this.#refuse(socket, 'connections-refused');
    }
    this.#perAddress.set(address, standing + 1);
    this.keep(socket);
    socket.once('close', () => {
      const left = (this.#perAddress.get(address) ?? 1) - 1;
      if (left === 0) this.#perAddress.delete(address);
      else this.#perAddress.set(address, left);
    });
    return true;
  }

  /** Counts an outgoing connection. */
  keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => {
      this.#sockets.delete(socket);
      if (this.#sockets.size === 0) this.#drained?.();
    });
  }

  /** Counts a handshake until `shaken` is called; destroys the socket if there are too many. */
  shake(socket: Socket): boolean {
    const { handshakes, handshakesPerAddress } = this.#limits;
    const { remoteAddress } = socket;
    let ofAddress = 0;
    for (const other of this.#handshakes.values()) if (other.remoteAddress === remoteAddress) ofAddress++;
    if (this.#handshakes.size >= handshakes || ofAddress >= handshakesPerAddress)
      return this.#refuse(socket, 'connections-refused');
    const end = endOf(socket);
    this.#handshakes.set(end, socket);
    socket.once('close', () => {
      if (this.#handshakes.get(end) === socket) this.#handshakes.delete(end);
    });
    return true;
  }

  /** False if the handshake was no longer in progress. */
  shaken(socket: Socket): boolean {
    return this.#handshakes.delete(endOf(socket));
  }

  cutHandshakes(): void {
    for (const socket of this.#handshakes.values()) socket.destroy();
  }

  /** Resolves when no connection is open. */
  drained(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#sockets.size === 0) resolve();
      else this.#drained = resolve;
    });
  }

  /** Destroys all connections. */
  destroy(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #refuse(socket: Socket, why: 'strangers' | 'connections-refused'): false {
    this.#counts.add(why);
    socket.on('error', () => undefined);
    socket.destroy();
    return false;
  }
}

function endOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress ?? ''} ${remotePort ?? 0}`;
}

export interface TransportLimits {
  /** Longest datagram in bytes; a longer one is dropped unread. */
  readonly datagramBytes: number;
  /** Longest head and body of a message on a connection, in bytes. */
  readonly headBytes: number;
  readonly bodyBytes: number;
  /** Unsent bytes above which the connection is cut. */
  readonly unsentBytes: number;
  /** Open connections, and TLS or WebSocket handshakes in progress, each in total and from one address. */
  readonly connections: number;
  readonly connectionsPerAddress: number;
  readonly handshakes: number;
  readonly handshakesPerAddress: number;
  /** Time limits in milliseconds for a TLS or WebSocket handshake, and for an outgoing connection. */
  readonly handshakeMs: number;
  readonly connectMs: number;
  /**
   * Time limits in milliseconds for the first message of a peer that connected, and for any message once
   * begun.
   */
  readonly firstMessageMs: number;
  readonly messageMs: number;
  /** Idle time in milliseconds after which a connection is closed. */
  readonly idleMs: number;
}

export const TRANSPORT_LIMITS: TransportLimits = {
  datagramBytes: 16_384,
  headBytes: 65_536,
  bodyBytes: 262_144,
  unsentBytes: 1_048_576,
  connections: 2000,
  connectionsPerAddress: 200,
  handshakes: 200,
  handshakesPerAddress: 50,
  handshakeMs: 5000,
  connectMs: 4000,
  firstMessageMs: 10_000,
  messageMs: 10_000,
  idleMs: 3_600_000,
};

/** Events counted for metrics. Names are stable. */
export type TransportCount =
  | 'connections-refused' // above a limit
  | 'handshakes-failed'
  | 'handshakes-slow'
  | 'datagram-too-large'
  | 'head-too-large'
  | 'body-too-large'
  | 'unframed' // no usable Content-Length on a connection
  | 'message-slow'
  | 'first-message-missing'
  | 'idle'
  | 'reader-slow'
  | 'unanswered' // nothing came in while a request of ours waited
  | 'defect' // the server failed at what came
  | 'strangers' // not admitted
  | 'socket-errors';

export class TransportCounts {
  readonly #counts = new Map<TransportCount, number>();

  add(name: TransportCount): void {
    this.#counts.set(name, this.of(name) + 1);
  }

  of(name: TransportCount): number {
    return this.#counts.get(name) ?? 0;
  }
}
