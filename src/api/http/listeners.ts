// Listens on the TCP port, in plain or with TLS, and on a Unix socket, and hands each connection to the HTTP
// version that it uses. TLS negotiates the version. A plain connection is recognised by its first bytes, so
// that one port serves both versions. Every raw socket is tracked, whatever becomes of it, so that `destroy`
// leaves none.
import { lstat, unlink } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, isIPv6, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls';
import { type CertificateFiles, CertificateRenewal } from '../../config/certificate.js';
import type { FileWatchOptions } from '../../config/file-watch.js';
import { guarded, ParleyError } from '../../errors.js';
import type { Log } from '../../log.js';
import type { Time } from '../../time.js';
import { markUnix } from './access.js';

export type HttpVersion = 'http/1' | 'http/2';

export interface ListenerOptions {
  readonly host: string;
  /** TCP port; 0 lets the system choose. */
  readonly port: number;
  /** Makes the port use TLS. */
  readonly tls?: CertificateFiles | undefined;
  /** Path of a Unix socket to listen on in addition to the port. */
  readonly unixPath?: string | undefined;
  /** Time limit in milliseconds for the first bytes of a connection and for a TLS handshake. */
  readonly startMs: number;
  readonly time: Time;
  readonly watch?: FileWatchOptions | undefined;
  readonly log: Log;
  /** Takes over a connection. A plain one is paused. */
  readonly accepted: (socket: Socket, version: HttpVersion) => void;
}

// Like node:http: a client that has ended its side still gets its answer.
const SOCKET_OPTIONS = { allowHalfOpen: true, noDelay: true };

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there; PORT names another port, and 0 any that is free',
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
    const { startMs: limitMs, time } = options;
    const decided: ListenerOptions['accepted'] = (socket, version) =>
      guarded({ work: 'HTTP connection' }, options.accepted, () => socket.destroy())(socket, version);
    this.#options = { ...options, accepted: decided };
    this.#firstBytes = new FirstBytes({ limitMs, time, decided });
  }

  /** The number of open connections of any kind. */
  get connections(): number {
    return this.#sockets.size;
  }

  /** Resolves with the URL of the port. Rejects with CONFIG_INVALID if a listener cannot be opened. */
  async open(): Promise<string> {
    const { tls, unixPath } = this.#options;
    const server = tls === undefined ? this.#plainServer() : await this.#tlsServer(tls);
    await this.#listen(server);
    if (unixPath !== undefined) await listenUnix(this.#plainServer(markUnix), unixPath);
    const { address, port } = server.address() as AddressInfo;
    return `http${tls === undefined ? '' : 's'}://${reachable(address)}:${port}`;
  }

  /** Stops accepting. Resolves when the last connection is closed. */
  async stop(): Promise<void> {
    this.#renewal?.close();
    this.#firstBytes.close();
    await Promise.all(
      this.#servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve()))),
    );
  }

  /** Closes every connection at once. */
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
    // Without allowHalfOpen: with it, Node never frees a connection that the client ends before the handshake
    // is done.
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
      // The name may resolve to two addresses, and only one of them is wanted.
      server.listen({ host: host === 'localhost' ? '127.0.0.1' : host, port }, resolve);
    });
  }
}

/** An address at which this machine reaches the listener. */
function reachable(address: string): string {
  if (address === '0.0.0.0') return '127.0.0.1';
  if (address === '::') return '[::1]';
  return isIPv6(address) ? `[${address}]` : address;
}

/** "PRI" begins the fixed preface of HTTP/2 without TLS (RFC 9113, section 3.4) and no method of HTTP/1. */
const PREFACE = Buffer.of(0x50, 0x52, 0x49);

interface FirstBytesOptions {
  /** Time limit in milliseconds until the version is known. */
  readonly limitMs: number;
  readonly time: Time;
  /** Takes over the connection, paused and with all its bytes. */
  readonly decided: (socket: Socket, version: HttpVersion) => void;
}

/** Recognises the HTTP version of plain connections. Closes those that stay silent for too long. */
export class FirstBytes {
  readonly #options: FirstBytesOptions;
  readonly #undecided = new Set<Socket>();

  constructor(options: FirstBytesOptions) {
    this.#options = options;
  }

  /** The number of connections whose version is not known yet. */
  get waiting(): number {
    return this.#undecided.size;
  }

  take(socket: Socket): void {
    const { limitMs, time, decided } = this.#options;
    let seen: Buffer = Buffer.alloc(0);
    const drop = () => socket.destroy();
    const cancelTimer = time.after(limitMs, drop);
    const release = () => {
      cancelTimer();
      this.#undecided.delete(socket);
      socket.off('data', look).off('end', drop).off('error', drop).off('close', release);
    };
    const look = (chunk: Buffer) => {
      seen = seen.length === 0 ? chunk : Buffer.concat([seen, chunk]);
      const version = versionOf(seen);
      if (version === undefined) return;
      release();
      socket.pause();
      socket.unshift(seen);
      decided(socket, version);
    };
    this.#undecided.add(socket);
    socket.on('data', look).on('end', drop).on('error', drop).on('close', release);
  }

  /** Closes the connections whose version is not known yet. */
  close(): void {
    for (const socket of this.#undecided) socket.destroy();
  }
}

function versionOf(bytes: Buffer): HttpVersion | undefined {
  const seen = Math.min(bytes.length, PREFACE.length);
  if (PREFACE.compare(bytes, 0, seen, 0, seen) !== 0) return 'http/1';
  return seen === PREFACE.length ? 'http/2' : undefined;
}

const MASK = 0o117; // mode 0660: owner and group may connect
const ANSWER_MS = 1000;

const UNIX_REASONS: Readonly<Record<string, string>> = {
  EACCES: 'there is no such folder, or the system does not allow it', // libuv reports both as EACCES
  EADDRINUSE: 'another program listens there',
};

/**
 * Listens on a Unix socket with mode 0660. Replaces the file of a server that no longer runs. Rejects with
 * CONFIG_INVALID if another server listens there.
 */
async function listenUnix(server: Server, path: string): Promise<void> {
  try {
    await bind(server, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE')
      throw unixRefusal(path, reasonOf(error), error);
    await removeStale(path);
    await bind(server, path).catch((second: unknown) => {
      throw unixRefusal(path, reasonOf(second), second);
    });
  }
}

function bind(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (error: Error) => {
      server.off('listening', done);
      reject(error);
    };
    const done = () => {
      server.off('error', failed);
      resolve();
    };
    server.once('error', failed).once('listening', done);
    // listen() creates the file. With the mask, there is no moment at which others may connect.
    const before = process.umask(MASK);
    try {
      server.listen({ path });
    } finally {
      process.umask(before);
    }
  });
}

async function removeStale(path: string): Promise<void> {
  if (!(await lstat(path)).isSocket()) throw unixRefusal(path, 'there is a file that is no socket');
  if (await isAnswered(path)) throw unixRefusal(path, 'another program listens there');
  await unlink(path);
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path, timeout: ANSWER_MS });
    const settle = (answered: boolean) => {
      socket.destroy();
      resolve(answered);
    };
    socket.once('connect', () => settle(true));
    socket.once('timeout', () => settle(true)); // a busy server is alive
    socket.once('error', (error: NodeJS.ErrnoException) => settle(error.code !== 'ECONNREFUSED'));
  });
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return UNIX_REASONS[code ?? ''] ?? code ?? message;
}

function unixRefusal(path: string, why: string, cause?: unknown): ParleyError {
  const details = cause === undefined ? { field: 'UDS_PATH' } : { field: 'UDS_PATH', cause };
  return new ParleyError('CONFIG_INVALID', `cannot listen on UDS_PATH=${path}: ${why}`, details);
}
