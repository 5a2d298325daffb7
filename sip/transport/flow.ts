// A way to one peer: the remote end of a UDP socket, or a connection.

export type TransportName = 'udp' | 'tcp' | 'tls' | 'ws' | 'wss';

export interface Place {
  /** IPv4, or IPv6 without brackets. */
  readonly address: string;
  readonly port: number;
}

export interface Flow {
  readonly transport: TransportName;
  readonly local: Place;
  readonly remote: Place;
  /** Whether what was sent arrives or the flow closes. */
  readonly reliable: boolean;
  readonly closed: boolean;
  /** How often something came in by it: whether the peer of a connection has said anything since. 0 if nobody counts. */
  readonly received: number;
  /** False if it cannot be sent, now or after trying. */
  send(bytes: Buffer): boolean | Promise<boolean>;
  /** Calls once the flow is closed, or at once when it is; the returned function removes the listener. */
  onClose(listener: () => void): () => void;
  /** What was sent before still arrives. */
  close(): void;
  /** Nobody is there any more: a connection is gone at once, with what its peer has not taken. */
  abandon(): void;
}

/** Why there is no way to a peer. */
export type TransportFailure =
  | 'closed' // the flow was lost before an answer came
  | 'no-listener' // nothing is configured for this transport and address family
  | 'refused' // nobody listens there
  | 'timeout' // no connection in time
  | 'tls' // the handshake failed, or the certificate is not the peer's
  | 'too-many' // as many connections are open as are allowed
  | 'unreachable'; // anything else that the system says

const DEFAULT_PORTS: Readonly<Record<TransportName, number>> = {
  udp: 5060,
  tcp: 5060,
  tls: 5061,
  ws: 80,
  wss: 443,
};

export function defaultPort(transport: TransportName): number {
  return DEFAULT_PORTS[transport];
}

/** How Via names it. */
export function viaTransport(transport: TransportName): string {
  return transport.toUpperCase();
}

/** An IPv4 address that came in IPv6 notation is one of IPv4. */
export function plainAddress(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
}
