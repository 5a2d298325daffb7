// Defines a flow, the way to one peer (the remote end of a UDP socket, or a connection), and the table
// that finds an open connection to a peer for a request (RFC 3261, section 18.1.1).
import { tellDefect } from '../../src/errors.js';

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
  /** True if sent bytes arrive or the flow closes. */
  readonly reliable: boolean;
  readonly closed: boolean;
  /** Number of times that bytes arrived, which shows whether the peer of a connection is alive. 0 for UDP. */
  readonly received: number;
  /** False if the bytes cannot be sent; a promise if that shows later. */
  send(bytes: Buffer): boolean | Promise<boolean>;
  /**
   * Calls the listener once the flow closes, or at once if it is closed; the returned function removes the
   * listener.
   */
  onClose(listener: () => void): () => void;
  /** Closes the flow after the bytes sent so far. */
  close(): void;
  /** The peer is considered dead: a connection is destroyed with all unsent bytes. */
  abandon(): void;
}

/** Reasons why a request cannot be sent. */
export type TransportFailure =
  | 'closed' // the flow was lost before an answer came
  | 'no-listener' // nothing is configured for this transport and address family
  | 'refused' // that port has no listener
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

/** Name of the transport in Via. */
export function viaTransport(transport: TransportName): string {
  return transport.toUpperCase();
}

/** Converts an IPv4-mapped IPv6 address to IPv4. */
export function plainAddress(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
}

/** Listeners for the end of a flow; each is called once, also if it is added late. */
export class CloseListeners {
  readonly #listeners = new Set<() => void>();
  #done = false;

  get done(): boolean {
    return this.#done;
  }

  /** The returned function removes the listener. */
  add(listener: () => void): () => void {
    if (this.#done) {
      listener();
      return () => undefined;
    }
    // Each call adds its own entry, so that one function may be added twice.
    const entry = (): void => listener();
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }

  /** The network triggers this: an error of one listener does not keep the others from being called. */
  fire(): void {
    if (this.#done) return;
    this.#done = true;
    for (const listener of this.#listeners) {
      try {
        listener();
      } catch (error) {
        tellDefect(error);
      }
    }
    this.#listeners.clear();
  }
}

export class FlowTable {
  readonly #flows = new Map<string, Flow>();
  readonly #all = new Set<Flow>();

  get size(): number {
    return this.#all.size;
  }

  /** Adds a flow under its remote end, or under another place that it reaches, until it closes. */
  add(flow: Flow, place: Place = flow.remote, name?: string): void {
    const key = keyOf(flow.transport, place, name);
    this.#flows.set(key, flow);
    this.#all.add(flow);
    flow.onClose(() => {
      this.#all.delete(flow);
      if (this.#flows.get(key) === flow) this.#flows.delete(key);
    });
  }

  /** `name` is the name that the peer's certificate was checked for, if any. */
  find(transport: TransportName, place: Place, name?: string): Flow | undefined {
    return this.#flows.get(keyOf(transport, place, name));
  }

  closeAll(): void {
    for (const flow of this.#all) flow.close();
  }
}

function keyOf(transport: TransportName, { address, port }: Place, name = ''): string {
  return `${transport} ${address} ${port} ${transport === 'tls' ? name : ''}`;
}
