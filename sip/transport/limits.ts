// How much a transport lets strangers cost.

export interface TransportLimits {
  /** Bytes of a datagram: a longer one is dropped unread. */
  readonly datagramBytes: number;
  /** Bytes of a message's head, and of its body, on a connection. */
  readonly headBytes: number;
  readonly bodyBytes: number;
  /** Bytes that wait to be read by the peer; beyond them the connection is cut. */
  readonly unsentBytes: number;
  /** Connections that stand, in all, from one address, and those whose TLS handshake is not done. */
  readonly connections: number;
  readonly connectionsPerAddress: number;
  readonly handshakes: number;
  /** Milliseconds for a TLS or WebSocket handshake, and for a connection of ours to stand. */
  readonly handshakeMs: number;
  readonly connectMs: number;
  /** Milliseconds until a peer that connected has said something whole, and for any message once begun. */
  readonly firstMessageMs: number;
  readonly messageMs: number;
  /** Milliseconds without a word after which a connection is closed. */
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
  handshakeMs: 5000,
  connectMs: 4000,
  firstMessageMs: 10_000,
  messageMs: 10_000,
  idleMs: 3_600_000,
};
