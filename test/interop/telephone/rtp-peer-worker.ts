// The sockets of the media peers of a test, and what sends at a steady pace: a thread of its own, which the
// server under test and the test do not delay. See rtp-peer.ts.
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { parentPort } from 'node:worker_threads';
import { A_LAW, MU_LAW } from '../../../src/codecs/g711.js';
import { type PressOptions, type RtpPacket, type StreamOptions, writeEvent, writeRtp } from './rtp-peer.js';
import type { Address } from './sipp.js';

/** Ids are those of the thread that asks. `ticket` is answered when everything was sent. */
export type PeerRequest =
  | { op: 'open'; peer: number; at: Address }
  | { op: 'close'; peer: number }
  | { op: 'send'; peer: number; packet: Uint8Array; to: Address }
  | { op: 'stream'; peer: number; stream: number; to: Address; options: StreamOptions }
  | { op: 'play'; stream: number; samples: Float32Array; ticket: number }
  | { op: 'press'; stream: number; digit: string; options: PressOptions; ticket: number }
  | { op: 'stop'; stream: number };

export type PeerReport =
  /** `atMs`: milliseconds since 1970, as of performance. */
  | { op: 'heard'; peer: number; packet: Uint8Array; atMs: number; from: Address }
  /** Something came to the upper port. */
  | { op: 'rtcp'; peer: number }
  /** `of`: the ticket, or the peer that was opened or closed. */
  | { op: 'done'; of: number }
  | { op: 'refused'; of: number; error: string };

const FRAME_MS = 20;
const FRAME_TICKS = 160;
const END_PACKETS = 3; // RFC 4733, 2.5.1.4
const VOLUME = 10; // -10 dBm0

const report = (message: PeerReport) => parentPort?.postMessage(message);

interface Slot {
  readonly packets: readonly (Omit<RtpPacket, 'sequence' | 'ssrc'> & { readonly isLost: boolean })[];
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
  #drained: number[] = [];

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
   * Mono samples at 8 kHz in [-1, 1], after what is still to be sent. The ticket is answered when the
   * last of them was sent.
   */
  play(samples: Float32Array, ticket: number): void {
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
    this.#drained.push(ticket);
  }

  /** One digit (RFC 4733). The ticket is answered when its last packet was sent. */
  press(
    digit: string,
    { durationMs = 100, loseFirst = 0, loseEnds = 0, marker = false }: PressOptions,
    ticket: number,
  ): void {
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
    this.#drained.push(ticket);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  /** Sends what is due; due times count from the start, so that a late timer makes nothing slow. */
  #tick(): void {
    while (performance.now() >= this.#startedAtMs + this.#slot * FRAME_MS) {
      this.#sendSlot(this.#queue.shift());
      this.#slot++;
      if (this.#queue.length === 0) for (const of of this.#drained.splice(0)) report({ op: 'done', of });
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

const peers = new Map<number, readonly [Socket, Socket]>();
const streams = new Map<number, RtpStream>();

async function open(peer: number, { port, host }: Address): Promise<void> {
  const bound = async (at: number): Promise<Socket> => {
    const socket = createSocket('udp4').bind(at, host);
    await once(socket, 'listening');
    return socket;
  };
  const sockets = [await bound(port), await bound(port + 1)] as const;
  sockets[0].on('message', (bytes, { address, port: fromPort }) => {
    const atMs = performance.timeOrigin + performance.now();
    report({
      op: 'heard',
      peer,
      packet: Uint8Array.from(bytes),
      atMs,
      from: { host: address, port: fromPort },
    });
  });
  sockets[1].on('message', () => report({ op: 'rtcp', peer }));
  peers.set(peer, sockets);
}

async function close(peer: number): Promise<void> {
  const sockets = peers.get(peer) ?? [];
  peers.delete(peer);
  await Promise.all(sockets.map((socket) => new Promise<void>((resolve) => socket.close(resolve))));
}

function answer(of: number, work: Promise<void>): void {
  work.then(
    () => report({ op: 'done', of }),
    (error: unknown) => report({ op: 'refused', of, error: String(error) }),
  );
}

/** Packets to a peer that was closed meanwhile are lost. */
function send(peer: number, packet: Uint8Array, { port, host }: Address): void {
  peers.get(peer)?.[0].send(packet, port, host);
}

function obey(request: PeerRequest): void {
  switch (request.op) {
    case 'open':
      return answer(request.peer, open(request.peer, request.at));
    case 'close':
      return answer(request.peer, close(request.peer));
    case 'send':
      return send(request.peer, request.packet, request.to);
    case 'stream': {
      const { peer, stream, to, options } = request;
      return void streams.set(stream, new RtpStream((bytes) => send(peer, bytes, to), options));
    }
    case 'play':
      return streams.get(request.stream)?.play(request.samples, request.ticket);
    case 'press':
      return streams.get(request.stream)?.press(request.digit, request.options, request.ticket);
    case 'stop':
      streams.get(request.stream)?.stop();
      return void streams.delete(request.stream);
  }
}

parentPort?.on('message', obey);
