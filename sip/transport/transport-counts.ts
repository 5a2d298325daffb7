// What the transports turned away or lost, for metrics. Names are stable.

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
