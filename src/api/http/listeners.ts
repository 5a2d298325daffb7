// Where connections come from: the port, in plain or with TLS, and a Unix
// socket. Each is handed to the version of HTTP that it speaks.
//
// Every connection is known here by its raw socket, whatever became of it
// (HTTP, a WebSocket, a handshake that never ended), so that none is left.
import { type AddressInfo, createServer, isIPv6, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls';
import type { Time } from '../../time.js';
import { ParleyError } from '../../errors.js';
import type { Log } from '../../observe/log.js';
import { type CertificateFiles, CertificateRenewal } from '../../config/certificate.js';
import type { FileWatchOptions } from '../../config/file-watch.js';
import { FirstBytes, type HttpVersion } from './first-bytes.js';
import { listenUnix } from './unix-listener.js';
import { markUnix } from './visitor.js';

export interface ListenerOptions {
  readonly host: string;
  /** TCP port; 0 lets the system choose. */
  readonly port: number;
  /** TLS instead of plain TCP on the port. */
  readonly tls?: CertificateFiles | undefined;
  /** A Unix socket besides the port. */
  readonly unixPath?: string | undefined;
  /** Milliseconds until a connection has said what it speaks, and a TLS handshake is done. */
  readonly startMs: number;
  readonly time: Time;
  readonly watch?: FileWatchOptions | undefined;
  readonly log: Log;
  /** Takes a connection over, paused where it is a plain one. */
  readonly accepted: (socket: Socket, version: HttpVersion) => void;
}

// As node:http has it: a client that ended its side still gets its answer.
const SOCKET_OPTIONS = { allowHalfOpen: true, noDelay: true };

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there',
  EADDRNOTAVAIL: 'this machine has no such address',
  EACCES: 'the system does not allow it',
  ENOTFOUND: 'there is no such name',
};

export class Listeners {
  readonly #options: ListenerOptions;
  readonly #firstBytes: FirstBytes;
  readonly #servers: Server[] = [];
  readonly #sockets = new Set<Socket>();
  #renewal: CertificateRenewal | undefined;

  constructor(options: ListenerOptions) {
    const { startMs: limitMs, time, accepted: decided } = options;
    this.#options = options;
    this.#firstBytes = new FirstBytes({ limitMs, time, decided });
  }

  /** Connections that stand, of any kind. */
  get connections(): number {
    return this.#sockets.size;
  }

  /** Resolves with the URL of the port; CONFIG_INVALID when something cannot be had. */
  async open(): Promise<string> {
    const { tls, unixPath } = this.#options;
    const server = tls === undefined ? this.#plainServer() : await this.#tlsServer(tls);
    await this.#listen(server);
    if (unixPath !== undefined) await listenUnix(this.#plainServer(markUnix), unixPath);
    const { address, port } = server.address() as AddressInfo;
    return `http${tls === undefined ? '' : 's'}://${reachable(address)}:${port}`;
  }

  /** Accepts no more; resolves when the last connection is gone. */
  async stop(): Promise<void> {
    this.#renewal?.close();
    this.#firstBytes.close();
    await Promise.all(
      this.#servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve()))),
    );
  }

  /** Cuts every connection. */
  destroy(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #plainServer(mark?: (socket: Socket) => void): Server {
    const server = createServer(SOCKET_OPTIONS, (socket) => {
      mark?.(socket);
      this.#firstBytes.take(socket);
    });
    return this.#keep(server);
  }

  async #tlsServer(files: CertificateFiles): Promise<TlsServer> {
    const { startMs: handshakeTimeout, accepted, log, watch } = this.#options;
    const ALPNProtocols = ['h2', 'http/1.1'];
    // Not half open: with that, Node keeps for good what the client ends before the handshake has ended.
    const server = createTlsServer({ noDelay: true, ALPNProtocols, handshakeTimeout }, (socket) => {
      accepted(socket, socket.alpnProtocol === 'h2' ? 'http/2' : 'http/1');
    });
    this.#renewal = new CertificateRenewal(
      files,
      ({ cert, key }) => server.setSecureContext({ cert, key }),
      log,
      watch,
    );
    await this.#renewal.open();
    return this.#keep(server);
  }

  #keep<T extends Server>(server: T): T {
    this.#servers.push(server);
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    return server;
  }

  #listen(server: Server): Promise<void> {
    const { host, port } = this.#options;
    return new Promise((resolve, reject) => {
      server.once('error', (error: NodeJS.ErrnoException) => {
        const why = REASONS[error.code ?? ''] ?? error.message;
        const message = `cannot listen on HOST=${host}, PORT=${port}: ${why}`;
        reject(new ParleyError('CONFIG_INVALID', message, { cause: error }));
      });
      // The name may stand for two addresses, and one is what was asked for.
      server.listen({ host: host === 'localhost' ? '127.0.0.1' : host, port }, resolve);
    });
  }
}

/** An address at which this machine reaches the one listened on. */
function reachable(address: string): string {
  if (address === '0.0.0.0') return '127.0.0.1';
  if (address === '::') return '[::1]';
  return isIPv6(address) ? `[${address}]` : address;
}
