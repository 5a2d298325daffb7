// The rival of the native plane: the best that a JavaScript timer can do.
//
// Due times are absolute (counted from the first, so that a late timer does not
// slow the stream) and spread over the period; one timer serves all streams.
import { createCipheriv, createHmac } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import type { Schedule } from './arrivals.js';
import type { StreamPlan } from './stream-plan.js';

// The packets of the JavaScript sender: RTP protected by AES_CM_128_HMAC_SHA1_80
// (RFC 3711) with node:crypto, byte for byte what the native plane sends.

interface StreamKeys {
  readonly key: Buffer; // master key, 16 bytes
  readonly salt: Buffer; // master salt, 14 bytes
}

export interface RtpHeader {
  readonly marker: boolean;
  readonly payloadType: number;
  readonly sequence: number;
  readonly timestamp: number;
  readonly ssrc: number;
}

const HEADER_BYTES = 12;
const TAG_BYTES = 10;

export class SrtpPacketWriter {
  readonly #cipherKey: Buffer;
  readonly #authKey: Buffer;
  readonly #cipherSalt: Buffer;

  constructor({ key, salt }: StreamKeys) {
    // Key derivation with labels 0, 1 and 2 (RFC 3711 section 4.3.1).
    this.#cipherKey = derive(key, salt, 0, 16);
    this.#authKey = derive(key, salt, 1, 20);
    this.#cipherSalt = derive(key, salt, 2, 14);
  }

  /** `index` counts all packets of the stream: rollover counter and sequence number. */
  write(header: RtpHeader, payload: Buffer, index: number): Buffer {
    const head = Buffer.allocUnsafe(HEADER_BYTES);
    head[0] = 0x80;
    head[1] = (header.marker ? 0x80 : 0) | header.payloadType;
    head.writeUInt16BE(header.sequence, 2);
    head.writeUInt32BE(header.timestamp, 4);
    head.writeUInt32BE(header.ssrc, 8);
    const cipher = createCipheriv('aes-128-ctr', this.#cipherKey, this.#counter(header.ssrc, index));
    const body = cipher.update(payload);
    const rollover = Buffer.allocUnsafe(4);
    rollover.writeUInt32BE(Math.floor(index / 0x10000));
    const tag = createHmac('sha1', this.#authKey).update(head).update(body).update(rollover).digest();
    return Buffer.concat([head, body, tag.subarray(0, TAG_BYTES)]);
  }

  /** The initial counter: salt, SSRC and index shifted to their places (RFC 3711 section 4.1.1). */
  #counter(ssrc: number, index: number): Buffer {
    const counter = Buffer.alloc(16);
    this.#cipherSalt.copy(counter);
    counter.writeUInt32BE((counter.readUInt32BE(4) ^ ssrc) >>> 0, 4);
    const place = Buffer.alloc(6);
    place.writeUIntBE(index, 0, 6);
    for (let at = 0; at < 6; at++) counter[8 + at] = (counter[8 + at] ?? 0) ^ (place[at] ?? 0);
    return counter;
  }
}

function derive(key: Buffer, salt: Buffer, label: number, bytes: number): Buffer {
  const counter = Buffer.alloc(16);
  salt.copy(counter);
  counter[7] = (counter[7] ?? 0) ^ label;
  return createCipheriv('aes-128-ctr', key, counter).update(Buffer.alloc(bytes));
}

const now = (): number => Number(process.hrtime.bigint()) / 1e6;

const MOST_PER_TURN = 500; // packets; then the event loop gets its turn, however late the sender is

interface JsStream {
  readonly plan: StreamPlan;
  readonly socket: Socket;
  readonly writer: SrtpPacketWriter;
  readonly firstDueMs: number;
  sent: number;
}

export class JsSender {
  readonly #streams: JsStream[] = []; // in the order of their due times within the period
  #timer: NodeJS.Timeout | undefined;
  #next = 0; // index of the stream that is due next

  static async open(plans: readonly StreamPlan[], port: number): Promise<JsSender> {
    const sender = new JsSender();
    const startMs = now() + 100;
    for (const [index, plan] of plans.entries()) {
      const socket = createSocket('udp4');
      await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
      await new Promise<void>((resolve) => socket.connect(port, '127.0.0.1', resolve));
      sender.#streams.push({
        plan,
        socket,
        writer: new SrtpPacketWriter(plan),
        firstDueMs: startMs + (index * plan.frameMs) / plans.length,
        sent: 0,
      });
    }
    sender.#sleep();
    return sender;
  }

  schedules(): Schedule[] {
    return this.#streams.map(({ plan, firstDueMs }) => ({
      ssrc: plan.ssrc,
      timestamp: plan.timestamp,
      dueMs: firstDueMs,
    }));
  }

  packets(): number {
    return this.#streams.reduce((sum, { sent }) => sum + sent, 0);
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const { socket } of this.#streams) socket.close();
  }

  #sleep(): void {
    const stream = this.#streams[this.#next];
    if (stream === undefined) return;
    this.#timer = setTimeout(() => this.#wake(), Math.max(0, dueMs(stream) - now()));
  }

  #wake(): void {
    for (let turn = 0; turn < MOST_PER_TURN; turn++) {
      const stream = this.#streams[this.#next];
      if (stream === undefined || dueMs(stream) > now()) break;
      send(stream);
      this.#next = (this.#next + 1) % this.#streams.length;
    }
    this.#sleep();
  }
}

function dueMs({ firstDueMs, plan, sent }: JsStream): number {
  return firstDueMs + sent * plan.frameMs;
}

function send(stream: JsStream): void {
  const { plan, sent } = stream;
  const header = {
    marker: sent === 0,
    payloadType: plan.payloadType,
    sequence: (plan.sequence + sent) & 0xffff,
    timestamp: (plan.timestamp + sent * plan.ticksPerFrame) >>> 0,
    ssrc: plan.ssrc,
  };
  stream.socket.send(stream.writer.write(header, plan.payload, plan.sequence + sent));
  stream.sent++;
}
