// Listens on a UDP socket and creates flows to remote places.
//
// The listener does not learn that the other end has no listener: Linux reports ICMP errors only to
// a connected socket or through the error queue, and Node can use neither on a shared port (a second,
// connected socket would let other programs share the port). The transactions time out instead.
import { randomBytes } from 'node:crypto';
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { attempt, ParleyError } from '../../src/errors.js';
import type { Time } from '../../src/time.js';
import type { Flow, Place } from './flow.js';

interface UdpListenerOptions {
  readonly host: string;
  readonly port: number;
  readonly time: Time;
  readonly received: (bytes: Buffer, flow: UdpFlow) => void;
  /** Called when a message was handed to the system. */
  readonly sent?: ((bytes: Buffer, flow: UdpFlow) => void) | undefined;
  readonly failed: () => void;
}

// Room for a burst of a few thousand messages; the system may allow less.
const SOCKET_BYTES = 4 * 1024 * 1024;
const MAX_DATAGRAM = 65_507;

export class UdpListener {
  readonly transport = 'udp';
  readonly #options: UdpListenerOptions;
  readonly #socket: Socket;
  readonly #probe: SocketProbe;
  #local: Place | undefined;
  #closed: Promise<void> | undefined;

  constructor(options: UdpListenerOptions) {
    this.#options = options;
    const type = isIPv6(options.host) ? 'udp6' : 'udp4';
    // Skips DNS: a name would be looked up for every datagram.
    const lookup = (
      host: string,
      _: object,
      done: (error: null, address: string, family: number) => void,
    ): void => done(null, host, type === 'udp6' ? 6 : 4);
    this.#socket = createSocket({ type, ipv6Only: type === 'udp6', lookup });
    this.#probe = new SocketProbe(options.time, (bytes) => this.#sendToSelf(bytes));
    this.#socket.on('message', (bytes, info) =>
      attempt({ work: 'SIP datagram', from: info.address }, () => this.#receive(bytes, info)),
    );
    this.#socket.on('error', () => options.failed());
  }

  get local(): Place {
    return this.#local ?? { address: this.#options.host, port: this.#options.port };
  }

  get closed(): boolean {
    return this.#closed !== undefined;
  }

  open(): Promise<void> {
    const { host, port } = this.#options;
    return new Promise((resolve, reject) => {
      const refuse = (error: Error): void =>
        reject(
          new ParleyError('CONFIG_INVALID', `cannot listen on UDP ${host}:${port}: ${error.message}`, {
            cause: error,
          }),
        );
      this.#socket.once('error', refuse);
      this.#socket.bind({ address: host, port }, () => {
        this.#socket.off('error', refuse);
        const { address, port: bound } = this.#socket.address();
        this.#local = { address, port: bound };
        this.#socket.setRecvBufferSize(SOCKET_BYTES);
        this.#socket.setSendBufferSize(SOCKET_BYTES);
        resolve();
      });
    });
  }

  /** Milliseconds that a datagram currently waits before it is read. Each call sends the next probe. */
  queueDelayMs(): number {
    return this.#local === undefined || this.closed ? 0 : this.#probe.delayMs();
  }

  flowTo(remote: Place): UdpFlow {
    return new UdpFlow(this, { address: remote.address, port: remote.port });
  }

  send(bytes: Buffer, { address, port }: Place): Promise<boolean> | false {
    if (this.closed || bytes.length > MAX_DATAGRAM || port < 1) return false;
    return new Promise((resolve) => {
      this.#socket.send(bytes, port, address, (error) => resolve(error === null));
    });
  }

  sendOn(flow: UdpFlow, bytes: Buffer): Promise<boolean> | false {
    const sending = this.send(bytes, flow.remote);
    if (sending !== false) this.#options.sent?.(bytes, flow);
    return sending;
  }

  close(): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      if (this.#local === undefined) resolve();
      else this.#socket.close(() => resolve());
    });
    return this.#closed;
  }

  #sendToSelf(bytes: Buffer): void {
    const { address, port } = this.local;
    const loopback: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };
    void this.send(bytes, { address: loopback[address] ?? address, port });
  }

  #receive(bytes: Buffer, { address, port }: RemoteInfo): void {
    // Empty lines keep a NAT binding open, and a zero byte begins STUN: neither is a message.
    const first = bytes[0] ?? 0;
    if (first === 0 && this.#probe.takes(bytes)) return;
    if (first <= 0x20 && bytes.length < 32) return;
    this.#options.received(bytes, this.flowTo({ address, port }));
  }
}

/** A stateless flow that closes with its socket. */
export class UdpFlow implements Flow {
  readonly transport = 'udp';
  readonly reliable = false;
  readonly received = 0;
  readonly remote: Place;
  readonly #listener: UdpListener;

  constructor(listener: UdpListener, remote: Place) {
    this.#listener = listener;
    this.remote = remote;
  }

  get local(): Place {
    return this.#listener.local;
  }

  get closed(): boolean {
    return this.#listener.closed;
  }

  send(bytes: Buffer): Promise<boolean> | false {
    return this.#listener.sendOn(this, bytes);
  }

  /**
   * Returns a flow from the same socket to another place: a response leaves from where its request arrived.
   */
  to(remote: Place): UdpFlow {
    return this.#listener.flowTo(remote);
  }

  onClose(listener: () => void): () => void {
    if (this.closed) listener();
    return () => undefined;
  }

  close(): void {
    // The listener owns the socket.
  }

  abandon(): void {
    // There is no state to drop.
  }
}

const LOST_MS = 1000;
const BYTES = 16; // its first byte, 0, never begins a SIP message

/**
 * Measures how long datagrams wait in the socket's queue: it sends a datagram to the socket itself and takes
 * the time until it comes back. A lost probe shows that the queue is full.
 */
export class SocketProbe {
  readonly #time: Time;
  readonly #send: (bytes: Buffer) => void;
  readonly #token = Buffer.concat([Buffer.alloc(1), randomBytes(BYTES - 1)]);
  #sentMs: number | undefined;
  #lastMs = 0;

  constructor(time: Time, send: (bytes: Buffer) => void) {
    this.#time = time;
    this.#send = send;
  }

  /**
   * Delay of the last returned probe, or the age of the current one if that is longer. Sends the next probe.
   */
  delayMs(): number {
    const now = this.#time.now();
    const ageMs = this.#sentMs === undefined ? 0 : now - this.#sentMs;
    if (this.#sentMs === undefined || ageMs >= LOST_MS) {
      this.#sentMs = now;
      this.#send(this.#token);
    }
    return Math.max(this.#lastMs, ageMs);
  }

  /** True if these bytes are the returned probe. */
  takes(bytes: Buffer): boolean {
    if (bytes.length !== BYTES || !bytes.equals(this.#token)) return false;
    if (this.#sentMs !== undefined) this.#lastMs = this.#time.now() - this.#sentMs;
    this.#sentMs = undefined;
    return true;
  }
}
