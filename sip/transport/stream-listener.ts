// Listens for TCP or TLS connections and hands on sockets that are ready to be read.
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type Server as TlsServer, type TLSSocket } from 'node:tls';
import type { Time } from '../../src/time.js';
import { guarded, ParleyError } from '../../src/errors.js';
import type { ConnectionLimiter, TransportCounts, TransportLimits } from './transport-limits.js';
import type { Place } from './flow.js';
import { secureOptions, type TlsIdentity } from './listener-options.js';

interface StreamListenerOptions {
  readonly host: string;
  readonly port: number;
  readonly tls?: TlsIdentity | undefined;
  readonly limiter: ConnectionLimiter;
  readonly limits: TransportLimits;
  readonly time: Time;
  readonly counts: TransportCounts;
  /** True if an address may connect. */
  readonly admits: (address: string) => boolean;
  readonly accepted: (socket: Socket, authenticated: boolean) => void;
}

export class StreamListener {
  readonly #options: StreamListenerOptions;
  readonly #server: Server | TlsServer;
  #local: Place | undefined;
  #closed: Promise<void> | undefined;

  constructor(options: StreamListenerOptions) {
    this.#options = options;
    this.#server = options.tls === undefined ? this.#plain() : this.#secure(options.tls);
  }

  get local(): Place {
    return this.#local ?? { address: this.#options.host, port: this.#options.port };
  }

  open(): Promise<void> {
    const { host, port, tls } = this.#options;
    return new Promise((resolve, reject) => {
      // After listening has begun, an error concerns one connection.
      this.#server.on('error', (error) => {
        if (this.#local !== undefined) return this.#options.counts.add('socket-errors');
        const message = `cannot listen on ${tls === undefined ? 'TCP' : 'TLS'} ${host}:${port}: ${error.message}`;
        reject(new ParleyError('CONFIG_INVALID', message, { cause: error }));
      });
      this.#server.listen({ host, port, ipv6Only: host.includes(':') }, () => {
        const { address, port: bound } = this.#server.address() as AddressInfo;
        this.#local = { address, port: bound };
        resolve();
      });
    });
  }

  /** Sets the certificate of new handshakes; open connections keep theirs. */
  renew(tls: TlsIdentity): void {
    if ('setSecureContext' in this.#server) this.#server.setSecureContext(secureOptions(tls));
  }

  /** Stops accepting. Resolves when the last connection is gone. */
  close(): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      if (this.#server.listening) this.#server.close(() => resolve());
      else resolve();
    });
    return this.#closed;
  }

  #plain(): Server {
    const { limiter, admits } = this.#options;
    return createServer((socket) => {
      if (limiter.admit(socket, admits)) this.#accept(socket, false);
    });
  }

  #secure(tls: TlsIdentity): TlsServer {
    const { limiter, admits, limits, counts } = this.#options;
    const requestCert = tls.clientCertificates === 'required';
    const more = { requestCert, rejectUnauthorized: requestCert, handshakeTimeout: limits.handshakeMs };
    const server = createTlsServer({ ...secureOptions(tls), ...more });
    // The raw socket is admitted first; its handshake is limited in time and number.
    server.prependListener('connection', (socket: Socket) => {
      if (limiter.admit(socket, admits) && limiter.shake(socket)) this.#limitHandshake(socket);
    });
    server.on('secureConnection', (socket: TLSSocket) => {
      limiter.shaken(socket);
      this.#accept(socket, requestCert && socket.authorized);
    });
    server.on('tlsClientError', (_, socket) => {
      counts.add('handshakes-failed');
      socket.destroy();
    });
    return server;
  }

  #accept(socket: Socket, authenticated: boolean): void {
    const accepted = () => this.#options.accepted(socket, authenticated);
    guarded({ work: 'SIP connection' }, accepted, () => socket.destroy())();
  }

  #limitHandshake(socket: Socket): void {
    const { limiter, limits, counts, time } = this.#options;
    const cancelTimer = time.after(limits.handshakeMs, () => {
      if (!limiter.shaken(socket)) return;
      counts.add('handshakes-slow');
      socket.destroy();
    });
    socket.once('close', cancelTimer);
  }
}
