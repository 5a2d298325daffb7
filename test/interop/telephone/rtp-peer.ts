// The media of a peer: a UDP socket on loopback that keeps what it hears and
// sends G.711 and telephone events at a steady pace. Its port goes into the SDP
// of the peer that does the signalling. A worker (rtp-peer-worker.ts) has the
// sockets of all peers: the pace does not depend on the thread of the test.
import { Worker } from 'node:worker_threads';
import { freePorts } from '../../fakes/free-port.js';
import type { PeerReport, PeerRequest } from './rtp-peer-worker.js';
import type { Address } from './sipp.js';

// RTP packets (RFC 3550, 5.1) and telephone events (RFC 4733, 2.3) as bytes, for
// peers of the tests: written and read without anything of the server's.

export interface RtpPacket {
  readonly marker: boolean;
  readonly payloadType: number;
  readonly sequence: number;
  readonly timestamp: number;
  readonly ssrc: number;
  readonly payload: Buffer;
}

interface TelephoneEvent {
  /** 0-9, *, #, A-D. */
  readonly digit: string;
  readonly end: boolean;
  /** Minus this many dBm0. */
  readonly volume: number;
  /** Timestamp units. */
  readonly duration: number;
}

const DIGITS = '0123456789*#ABCD';
const HEADER_BYTES = 12;

export function writeRtp(packet: RtpPacket): Buffer {
  const head = Buffer.alloc(HEADER_BYTES);
  head[0] = 0x80; // version 2
  head[1] = (packet.marker ? 0x80 : 0) | packet.payloadType;
  head.writeUInt16BE(packet.sequence & 0xffff, 2);
  head.writeUInt32BE(packet.timestamp >>> 0, 4);
  head.writeUInt32BE(packet.ssrc >>> 0, 8);
  return Buffer.concat([head, packet.payload]);
}

/**
 * Undefined for what is no RTP of version 2. Contributors, extension and padding are left out of the payload.
 */
export function readRtp(bytes: Buffer): RtpPacket | undefined {
  const [first = 0, second = 0] = bytes;
  if (bytes.length < HEADER_BYTES || first >> 6 !== 2) return undefined;
  let start = HEADER_BYTES + 4 * (first & 0x0f);
  if ((first & 0x10) !== 0) {
    if (bytes.length < start + 4) return undefined;
    start += 4 + 4 * bytes.readUInt16BE(start + 2);
  }
  const end = bytes.length - ((first & 0x20) !== 0 ? (bytes.at(-1) ?? 0) : 0);
  if (end < start) return undefined;
  return {
    marker: (second & 0x80) !== 0,
    payloadType: second & 0x7f,
    sequence: bytes.readUInt16BE(2),
    timestamp: bytes.readUInt32BE(4),
    ssrc: bytes.readUInt32BE(8),
    payload: bytes.subarray(start, end),
  };
}

/** Throws for a digit that no telephone has. */
export function writeEvent({ digit, end, volume, duration }: TelephoneEvent): Buffer {
  const event = DIGITS.indexOf(digit);
  if (event < 0 || digit.length !== 1) throw new Error(`"${digit}" is no digit of a telephone`);
  return Buffer.from([event, (end ? 0x80 : 0) | volume, duration >> 8, duration & 0xff]);
}

/** Undefined for another event than a digit. */
export function readEvent(payload: Buffer): TelephoneEvent | undefined {
  const [event = 0xff, flags = 0] = payload;
  const digit = DIGITS[event];
  if (digit === undefined || payload.length < 4) return undefined;
  return { digit, end: (flags & 0x80) !== 0, volume: flags & 0x3f, duration: payload.readUInt16BE(2) };
}

const MOST_HEARD = 200_000;

/** Workers of peers, which are no workers of the server. */
export const PEER_WORKERS = new WeakSet<Worker>();

export interface HeardPacket extends RtpPacket {
  /** Milliseconds of performance.now(). */
  readonly atMs: number;
  readonly from: Address;
}

export interface StreamOptions {
  /** PCMU by its static number, if absent. */
  readonly payloadType?: number;
  readonly law?: 'mu' | 'a';
  readonly eventType?: number;
  readonly ssrc?: number;
  readonly firstSequence?: number;
  readonly firstTimestamp?: number;
}

export interface PressOptions {
  /** 100 if absent. */
  readonly durationMs?: number;
  /**
   * Packets of the event that the network loses: so many first ones, and so many of the three end packets.
   */
  readonly loseFirst?: number;
  readonly loseEnds?: number;
  readonly marker?: boolean;
}

/** One stream of packets, 20 ms each, until it is stopped. It sends silence at first. */
class RtpStream {
  readonly #thread: PeerThread;
  readonly #id: number;

  constructor(thread: PeerThread, id: number) {
    this.#thread = thread;
    this.#id = id;
  }

  /**
   * Mono samples at 8 kHz in [-1, 1], after what is still to be sent. Resolves when the last of them was
   * sent.
   */
  play(samples: Float32Array): Promise<void> {
    return this.#thread.given(this.#id, (ticket) => ({
      op: 'play',
      stream: this.#id,
      samples: samples.slice(),
      ticket,
    }));
  }

  /** One digit (RFC 4733). Resolves when its last packet was sent. */
  press(digit: string, options: PressOptions = {}): Promise<void> {
    if (digit.length !== 1 || !DIGITS.includes(digit))
      throw new Error(`"${digit}" is no digit of a telephone`);
    return this.#thread.given(this.#id, (ticket) => ({
      op: 'press',
      stream: this.#id,
      digit,
      options,
      ticket,
    }));
  }

  /** What was not sent yet is dropped, and its promises resolve. */
  stop(): void {
    this.#thread.stop(this.#id);
  }
}

export class RtpPeer {
  readonly port: number;
  readonly heard: HeardPacket[] = [];
  /** RTCP packets that came to the port above, or to the same one. */
  rtcpHeard = 0;
  readonly #thread: PeerThread;
  readonly #id: number;
  readonly #streams = new Set<RtpStream>();
  #closed: Promise<void> | undefined;

  private constructor(thread: PeerThread, id: number, port: number) {
    this.port = port;
    this.#thread = thread;
    this.#id = id;
  }

  /** Listens on an even port and on the odd one above it. */
  static async open(host = '127.0.0.1'): Promise<RtpPeer> {
    const port = await freePorts(2);
    const thread = PeerThread.ofProcess();
    const id = thread.newId();
    const peer = new RtpPeer(thread, id, port);
    await thread.open(id, { port, host }, (report) => peer.#came(report));
    return peer;
  }

  /** Source address of the latest packet. Without an SDP, packets are sent there (RFC 4961). */
  get source(): Address | undefined {
    return this.heard.at(-1)?.from;
  }

  /** Begins to send, silence at first. */
  stream(to: Address, options: StreamOptions = {}): RtpStream {
    const id = this.#thread.newId();
    const { host, port } = to;
    this.#thread.send({ op: 'stream', peer: this.#id, stream: id, to: { host, port }, options });
    const stream = new RtpStream(this.#thread, id);
    this.#streams.add(stream);
    return stream;
  }

  /** Sends a packet, whatever it is. */
  send(packet: Buffer, { host, port }: Address): void {
    this.#thread.send({ op: 'send', peer: this.#id, packet: Uint8Array.from(packet), to: { host, port } });
  }

  close(): Promise<void> {
    for (const stream of this.#streams) stream.stop();
    this.#closed ??= this.#thread.close(this.#id);
    return this.#closed;
  }

  #came(report: Extract<PeerReport, { op: 'heard' | 'rtcp' }>): void {
    if (report.op === 'rtcp') {
      this.rtcpHeard++;
      return;
    }
    const packet = readRtp(Buffer.from(report.packet));
    if (packet === undefined || this.heard.length >= MOST_HEARD) return;
    if (packet.payloadType >= 64 && packet.payloadType < 96)
      this.rtcpHeard++; // RFC 5761, 4
    else this.heard.push({ ...packet, atMs: report.atMs - performance.timeOrigin, from: report.from });
  }
}

type Came = (report: Extract<PeerReport, { op: 'heard' | 'rtcp' }>) => void;

/** The worker of this process. It keeps the process alive while a peer is open. */
class PeerThread {
  static #ofProcess: PeerThread | undefined;

  readonly #worker = new Worker(new URL('rtp-peer-worker.js', import.meta.url));
  readonly #peers = new Map<number, Came>();
  /** By peers that open or close, and by tickets. */
  readonly #waiting = new Map<number, { resolve: () => void; reject: (error: Error) => void }>();
  /** Tickets of streams. */
  readonly #tickets = new Map<number, Set<number>>();
  #ids = 0;

  static ofProcess(): PeerThread {
    return (this.#ofProcess ??= new PeerThread());
  }

  private constructor() {
    PEER_WORKERS.add(this.#worker);
    this.#worker.on('message', (report: PeerReport) => this.#take(report));
    this.#worker.on('error', (error) => {
      throw error;
    });
    this.#worker.unref();
  }

  newId(): number {
    return ++this.#ids;
  }

  send(request: PeerRequest): void {
    this.#worker.postMessage(request);
  }

  async open(peer: number, at: Address, came: Came): Promise<void> {
    this.#peers.set(peer, came);
    this.#worker.ref();
    await this.#answer(peer, { op: 'open', peer, at });
  }

  async close(peer: number): Promise<void> {
    await this.#answer(peer, { op: 'close', peer });
    this.#peers.delete(peer);
    if (this.#peers.size === 0) this.#worker.unref();
  }

  given(stream: number, request: (ticket: number) => PeerRequest): Promise<void> {
    const ticket = this.newId();
    const tickets = this.#tickets.get(stream) ?? new Set();
    this.#tickets.set(stream, tickets.add(ticket));
    return this.#answer(ticket, request(ticket));
  }

  stop(stream: number): void {
    this.send({ op: 'stop', stream });
    for (const ticket of this.#tickets.get(stream) ?? []) this.#settle(ticket);
    this.#tickets.delete(stream);
  }

  #answer(id: number, request: PeerRequest): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.send(request);
    });
  }

  #settle(id: number): void {
    this.#waiting.get(id)?.resolve();
    this.#waiting.delete(id);
  }

  #take(report: PeerReport): void {
    switch (report.op) {
      case 'heard':
      case 'rtcp':
        return this.#peers.get(report.peer)?.(report);
      case 'done':
        return this.#settle(report.of);
      case 'refused':
        this.#waiting.get(report.of)?.reject(new Error(report.error));
        return void this.#waiting.delete(report.of);
    }
  }
}
