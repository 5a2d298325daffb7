// How many connections stand, and from whom: one count for every transport that has some.
import type { Socket } from 'node:net';
import { plainAddress } from './flow.js';
import type { TransportLimits } from './limits.js';
import type { TransportCounts } from './transport-counts.js';

export class ConnectionGate {
  readonly #limits: TransportLimits;
  readonly #counts: TransportCounts;
  readonly #perAddress = new Map<string, number>();
  readonly #sockets = new Set<Socket>();
  readonly #handshakes = new Map<string, Socket>(); // by the peer's end: a TLS socket and the one below share it

  #drained: (() => void) | undefined;

  constructor(limits: TransportLimits, counts: TransportCounts) {
    this.#limits = limits;
    this.#counts = counts;
  }

  get connections(): number {
    return this.#sockets.size;
  }

  /** TLS and WebSocket handshakes that are not done. */
  get handshakes(): number {
    return this.#handshakes.size;
  }

  get full(): boolean {
    return this.#sockets.size >= this.#limits.connections;
  }

  /** Takes a raw socket in until it closes, or destroys it. */
  admit(socket: Socket, admitted: (address: string) => boolean): boolean {
    const address = plainAddress(socket.remoteAddress ?? '');
    const standing = this.#perAddress.get(address) ?? 0;
    if (address === '' || !admitted(address)) return this.#turnAway(socket, 'strangers');
    if (this.full || standing >= this.#limits.connectionsPerAddress) {
      return this.#turnAway(socket, 'connections-refused');
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

  /** Counts a connection of ours. */
  keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => {
      this.#sockets.delete(socket);
      if (this.#sockets.size === 0) this.#drained?.();
    });
  }

  /** Counts a handshake until `shaken` says that it is done; destroys the socket where there are too many. */
  shake(socket: Socket): boolean {
    if (this.#handshakes.size >= this.#limits.handshakes)
      return this.#turnAway(socket, 'connections-refused');
    const end = endOf(socket);
    this.#handshakes.set(end, socket);
    socket.once('close', () => {
      if (this.#handshakes.get(end) === socket) this.#handshakes.delete(end);
    });
    return true;
  }

  /** False if it was not under way any more. */
  shaken(socket: Socket): boolean {
    return this.#handshakes.delete(endOf(socket));
  }

  cutHandshakes(): void {
    for (const socket of this.#handshakes.values()) socket.destroy();
  }

  /** Resolves when no connection stands. */
  drained(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#sockets.size === 0) resolve();
      else this.#drained = resolve;
    });
  }

  /** Cuts everything that stands. */
  destroy(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #turnAway(socket: Socket, why: 'strangers' | 'connections-refused'): false {
    this.#counts.add(why);
    socket.on('error', () => undefined);
    socket.destroy();
    return false;
  }
}

function endOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress ?? ''} ${remotePort ?? 0}`;
}
