// The media of a peer: a UDP socket on loopback that keeps what it hears and
// sends G.711 and telephone events at a steady pace. Its port goes into the SDP
// of the peer that does the signalling.
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { A_LAW, MU_LAW } from '../../../src/codecs/g711.js';
import { freePorts } from './free-port.js';
import type { Address } from './sipp.js';

// RTP packets (RFC 3550, 5.1) and telephone events (RFC 4733, 2.3) as bytes, for
// peers of the tests: written and read without anything of the server's.

interface RtpPacket {
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

function writeEvent({ digit, end, volume, duration }: TelephoneEvent): Buffer {
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

const FRAME_MS = 20;
const FRAME_TICKS = 160;
const MOST_HEARD = 200_000;
const END_PACKETS = 3; // RFC 4733, 2.5.1.4
const VOLUME = 10; // -10 dBm0

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

interface PressOptions {
  /** 100 if absent. */
  readonly durationMs?: number;
  /**
   * Packets of the event that the network loses: so many first ones, and so many of the three end packets.
   */
  readonly loseFirst?: number;
  readonly loseEnds?: number;
  readonly marker?: boolean;
}

interface Slot {
  readonly packets: readonly (Omit<RtpPacket, 'sequence' | 'ssrc'> & { readonly isLost: boolean })[];
}

export class RtpPeer {
  readonly port: number;
  readonly heard: HeardPacket[] = [];
  /** RTCP packets that came to the port above, or to the same one. */
  rtcpHeard = 0;
  readonly #sockets: readonly [Socket, Socket];
  readonly #streams = new Set<RtpStream>();
  #closed: Promise<void> | undefined;

  private constructor(port: number, sockets: readonly [Socket, Socket]) {
    this.port = port;
    this.#sockets = sockets;
    sockets[0].on('message', (bytes, { address, port: fromPort }) => {
      const packet = readRtp(bytes);
      if (packet === undefined || this.heard.length >= MOST_HEARD) return;
      if (packet.payloadType >= 64 && packet.payloadType < 96)
        this.rtcpHeard++; // RFC 5761, 4
      else this.heard.push({ ...packet, atMs: performance.now(), from: { host: address, port: fromPort } });
    });
    sockets[1].on('message', () => this.rtcpHeard++);
  }

  /** Listens on an even port and on the odd one above it. */
  static async open(host = '127.0.0.1'): Promise<RtpPeer> {
    const port = await freePorts(2);
    const open = async (at: number): Promise<Socket> => {
      const socket = createSocket('udp4').bind(at, host);
      await once(socket, 'listening');
      return socket;
    };
    return new RtpPeer(port, [await open(port), await open(port + 1)]);
  }

  /** Source address of the latest packet. Without an SDP, packets are sent there (RFC 4961). */
  get source(): Address | undefined {
    return this.heard.at(-1)?.from;
  }

  /** Begins to send, silence at first. */
  stream(to: Address, options: StreamOptions = {}): RtpStream {
    const stream = new RtpStream((bytes) => this.#sockets[0].send(bytes, to.port, to.host), options);
    this.#streams.add(stream);
    return stream;
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    for (const stream of this.#streams) stream.stop();
    await Promise.all(this.#sockets.map((socket) => new Promise<void>((resolve) => socket.close(resolve))));
  }
}

/** One stream of packets, 20 ms each, until it is stopped. */
class RtpStream {
  readonly #send: (bytes: Buffer) => void;
  readonly #options: Required<StreamOptions>;
  readonly #queue: Slot[] = [];
  #sequence: number;
  #slot = 0;
  readonly #startedAtMs = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #drained: (() => void)[] = [];

  constructor(send: (bytes: Buffer) => void, options: StreamOptions) {
    this.#send = send;
    const {
      law = 'mu',
      eventType = 101,
      ssrc = 0x5eed,
      firstSequence = 65_530,
      firstTimestamp = 2 ** 32 - 800,
    } = options;
    const { payloadType = law === 'mu' ? 0 : 8 } = options;
    this.#options = { law, payloadType, eventType, ssrc, firstSequence, firstTimestamp };
    this.#sequence = firstSequence;
    this.#tick();
  }

  /**
   * Mono samples at 8 kHz in [-1, 1], after what is still to be sent. Resolves when the last of them was
   * sent.
   */
  play(samples: Float32Array): Promise<void> {
    const { law, payloadType } = this.#options;
    const codes = law === 'mu' ? MU_LAW : A_LAW;
    for (let at = 0; at < samples.length; at += FRAME_TICKS) {
      const payload = Buffer.alloc(FRAME_TICKS, codes[32_768]);
      samples.subarray(at, at + FRAME_TICKS).forEach((sample, n) => {
        const value = Math.max(-32_768, Math.min(32_767, Math.round(sample * 32_767)));
        payload[n] = codes[value + 32_768] ?? 0;
      });
      this.#queue.push({
        packets: [{ marker: at === 0, payloadType, timestamp: 0, payload, isLost: false }],
      });
    }
    return this.#whenDrained();
  }

  /** One digit (RFC 4733). Resolves when its last packet was sent. */
  press(
    digit: string,
    { durationMs = 100, loseFirst = 0, loseEnds = 0, marker = false }: PressOptions = {},
  ): Promise<void> {
    const { eventType } = this.#options;
    const slots = Math.max(1, Math.round(durationMs / FRAME_MS));
    const packet = (slot: number, n: number) => ({
      marker: marker && n === 0,
      payloadType: eventType,
      timestamp: -slot * FRAME_TICKS, // all of them that of the first
      payload: writeEvent({
        digit,
        end: n >= slots,
        volume: VOLUME,
        duration: Math.min(n + 1, slots) * FRAME_TICKS,
      }),
      isLost: n < loseFirst || n >= slots + END_PACKETS - loseEnds,
    });
    for (let n = 0; n < slots; n++) this.#queue.push({ packets: [packet(n, n)] });
    const ends = Array.from({ length: END_PACKETS }, (_, n) => packet(slots, slots + n));
    this.#queue.push({ packets: ends });
    return this.#whenDrained();
  }

  stop(): void {
    clearTimeout(this.#timer);
    for (const resolve of this.#drained.splice(0)) resolve();
  }

  #whenDrained(): Promise<void> {
    return new Promise((resolve) => this.#drained.push(resolve));
  }

  /** Sends what is due; due times count from the start, so that a late timer makes nothing slow. */
  #tick(): void {
    while (performance.now() >= this.#startedAtMs + this.#slot * FRAME_MS) {
      this.#sendSlot(this.#queue.shift());
      this.#slot++;
      if (this.#queue.length === 0) for (const resolve of this.#drained.splice(0)) resolve();
    }
    const waitMs = this.#startedAtMs + this.#slot * FRAME_MS - performance.now();
    this.#timer = setTimeout(() => this.#tick(), Math.max(0, waitMs));
  }

  #sendSlot(slot: Slot | undefined): void {
    const { law, payloadType, ssrc, firstTimestamp } = this.#options;
    const silence = (law === 'mu' ? MU_LAW : A_LAW)[32_768];
    const quiet = {
      marker: false,
      payloadType,
      timestamp: 0,
      payload: Buffer.alloc(FRAME_TICKS, silence),
      isLost: false,
    };
    for (const { isLost, ...packet } of slot?.packets ?? [quiet]) {
      const timestamp = firstTimestamp + this.#slot * FRAME_TICKS + packet.timestamp;
      const sequence = this.#sequence++;
      if (!isLost) this.#send(writeRtp({ ...packet, sequence, timestamp, ssrc }));
    }
  }
}
