// Connections of ours to a peer, TCP or TLS, within a limit of time.
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import type { Time } from '../../src/time.js';
import type { Place, TransportFailure } from './flow.js';
import { secureOptions, type TlsIdentity } from './tls-identity.js';

export interface ConnectOptions {
  readonly transport: 'tcp' | 'tls';
  readonly remote: Place;
  /** The name that the peer's certificate has to bear (RFC 5922); its address if there is none. */
  readonly name: string | undefined;
  /** The address to connect from. */
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

/** Resolves with a socket that is ready, or with why there is none; it does not reject. */
export function connectStream(options: ConnectOptions): Promise<Socket | TransportFailure> {
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
