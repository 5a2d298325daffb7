// A UDP socket: datagrams in, and flows to whoever is written to.
//
// That nobody listens at the other end is not known here: Linux tells a socket
// of ICMP errors only where it is connected to one peer or reads its error queue,
// and Node can do neither on the port that everybody is served from (a second,
// connected socket on it would let other programs share it). Transactions run out.
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import type { Time } from '../../src/time.js';
import { ParleyError } from '../../src/errors.js';
import type { Flow, Place } from './flow.js';
import { SocketProbe } from './socket-probe.js';

export interface UdpListenerOptions {
  readonly host: string;
  readonly port: number;
  readonly time: Time;
  readonly received: (bytes: Buffer, flow: UdpFlow) => void;
  /** A message was handed to the system. */
  readonly sent?: ((bytes: Buffer, flow: UdpFlow) => void) | undefined;
  readonly failed: () => void;
}

const SOCKET_BYTES = 4 * 1024 * 1024; // a burst of some thousand messages; the system may allow less
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
    // Addresses only: a name would be looked up for every datagram.
    const lookup = (
      host: string,
      _: object,
      done: (error: null, address: string, family: number) => void,
    ): void => done(null, host, type === 'udp6' ? 6 : 4);
    this.#socket = createSocket({ type, ipv6Only: type === 'udp6', lookup });
    this.#probe = new SocketProbe(options.time, (bytes) => this.#sendToSelf(bytes));
    this.#socket.on('message', (bytes, info) => this.#receive(bytes, info));
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

  /** How long what arrives waits before it is read, in milliseconds. To be asked at intervals: each time sends the next probe. */
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
    // Empty lines keep a NAT open, and a zero begins STUN: neither is a message.
    const first = bytes[0] ?? 0;
    if (first === 0 && this.#probe.takes(bytes)) return;
    if (first <= 0x20 && bytes.length < 32) return;
    this.#options.received(bytes, this.flowTo({ address, port }));
  }
}

/** Nothing is kept for it: it closes with the socket. */
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

  /** From the same socket to another place: a response goes where Via says, from where the request came in. */
  to(remote: Place): UdpFlow {
    return this.#listener.flowTo(remote);
  }

  onClose(listener: () => void): () => void {
    if (this.closed) listener();
    return () => undefined;
  }

  close(): void {
    // The socket is the listener's.
  }

  abandon(): void {
    // Nothing is kept.
  }
}
