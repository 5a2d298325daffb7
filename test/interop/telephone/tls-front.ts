// TLS in front of a peer that has none: what comes in encrypted goes on to it
// over TCP, a connection for each, and back.
import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import { pipeline } from 'node:stream/promises';
import type { Address } from './sipp.js';

interface FrontIdentity {
  readonly cert: string;
  readonly key: string;
}

export class TlsFront {
  readonly address: Address;
  readonly #server: Server;
  readonly #sockets: Set<TLSSocket>;
  #closed: Promise<void> | undefined;

  private constructor(server: Server, sockets: Set<TLSSocket>) {
    this.#server = server;
    this.#sockets = sockets;
    this.address = { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
  }

  static async open(behind: Address, { cert, key }: FrontIdentity): Promise<TlsFront> {
    const sockets = new Set<TLSSocket>();
    const server = createServer({ cert, key }, (socket) => {
      sockets.add(socket);
      const plain = connect(behind.port, behind.host);
      void pipeline(socket, plain, socket)
        .catch(() => undefined) // either side was cut
        .finally(() => {
          plain.destroy();
          socket.destroy();
          sockets.delete(socket);
        });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new TlsFront(server, sockets);
  }

  /** Connections that stand. */
  get connections(): number {
    return this.#sockets.size;
  }

  close(): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      this.#server.close(() => resolve());
      for (const socket of this.#sockets) socket.destroy();
    });
    return this.#closed;
  }
}
