// Sends a flood of datagrams of every kind to one UDP port on loopback: STUN with right and wrong fragments
// and integrity, DTLS of every type and epoch, SRTP, SRTCP, random bytes, empty datagrams. A seed decides
// the content. The count, the rate and the time are bounded.
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import {
  ATTRIBUTE,
  BINDING,
  type StunAttribute,
  type StunMessage,
  writeStun,
} from '../media/stun-message.js';
import { systemTime, type Time } from '../../src/time.js';
import { randomFrom } from '../api/mutations.js';

const LOOPBACK = '127.0.0.1';
const MOST_PER_SECOND = 20_000;
const MOST_SECONDS = 300;
const MOST_SOURCES = 64;
const TURN_MS = 5;
const MOST_PER_TURN = 128; // after a stall more would only overflow the receive buffer

/** Facts of a call that is under attack. Without them every STUN message has a wrong fragment. */
export interface FloodTarget {
  /** The server's ICE user fragment. */
  readonly fragment?: string;
  /** The client's ICE user fragment. */
  readonly clientFragment?: string;
  /** The server's ICE password. With it some checks have the right integrity; none of these nominates. */
  readonly password?: string;
  /** The SSRC that SRTP and SRTCP datagrams claim in half of the cases. */
  readonly ssrc?: number;
  /** A recorded datagram of the handshake, to be replayed. */
  readonly handshake?: Uint8Array;
}

export const FLOOD_KINDS = ['stun', 'dtls', 'srtp', 'srtcp', 'random', 'empty'] as const;
export type FloodKind = (typeof FLOOD_KINDS)[number];

interface FloodOptions {
  /** A port on 127.0.0.1. */
  readonly port: number;
  readonly seed: number;
  /** Datagrams per second, up to 20,000. */
  readonly perSecond: number;
  /** Length in seconds, up to 300. */
  readonly seconds: number;
  /** All kinds by default; each has the same share. */
  readonly kinds?: readonly FloodKind[];
  /** Source ports, up to 64; 8 by default. */
  readonly sources?: number;
  /** Sends the datagrams instead of sockets of the flood, as from the address of a call. */
  readonly send?: (data: Uint8Array) => void;
  readonly target?: FloodTarget;
  readonly time?: Time;
  /** Ends the flood early. */
  readonly signal?: AbortSignal;
}

interface FloodCounts {
  readonly sent: Readonly<Record<FloodKind, number>>;
  /** Datagrams that the system refused. */
  readonly refused: number;
  /** Datagrams that came back to the sockets of the flood. */
  readonly answered: number;
}

/**
 * Resolves when the last datagram has left, or when the signal is aborted. Throws RangeError beyond a limit.
 */
export async function flood(options: FloodOptions): Promise<FloodCounts> {
  const { port, perSecond, seconds, sources = 8, time = systemTime, signal, send } = options;
  checkRange('perSecond', perSecond, 1, MOST_PER_SECOND);
  checkRange('seconds', seconds, 0, MOST_SECONDS);
  checkRange('sources', sources, 1, MOST_SOURCES);
  let answered = 0;
  const onAnswer = () => void answered++;
  const sockets = await Promise.all(Array.from({ length: sources }, () => bound(onAnswer)));
  const datagrams = new FloodDatagrams(options);
  const sent: Record<FloodKind, number> = { stun: 0, dtls: 0, srtp: 0, srtcp: 0, random: 0, empty: 0 };
  let refused = 0;
  const total = Math.round(perSecond * seconds);
  const startMs = time.now();
  for (let count = 0; count < total && signal?.aborted !== true;) {
    const due = Math.min(total, Math.ceil(((time.now() - startMs) * perSecond) / 1000));
    const end = Math.min(due, count + MOST_PER_TURN);
    const leaving: Promise<boolean>[] = [];
    for (; count < end; count++) {
      const { kind, data } = datagrams.next();
      sent[kind]++;
      const socket = sockets[count % sockets.length];
      if (send !== undefined) send(data);
      else if (socket !== undefined) leaving.push(sentTo(socket, data, port));
    }
    refused += (await Promise.all(leaving)).filter((left) => !left).length;
    const waitMs = end < due ? 0 : TURN_MS;
    if (count < total) await new Promise<void>((resolve) => time.after(waitMs, resolve));
  }
  await Promise.all(sockets.map(closed));
  return { sent, refused, answered };
}

/** The datagrams of a flood, one after another: the same ones for the same seed. */
export class FloodDatagrams {
  readonly #random: () => number;
  readonly #kinds: readonly FloodKind[];
  readonly #target: FloodTarget;

  constructor({ seed, kinds = FLOOD_KINDS, target = {} }: Pick<FloodOptions, 'seed' | 'kinds' | 'target'>) {
    this.#random = randomFrom(seed);
    this.#kinds = kinds;
    this.#target = target;
  }

  next(): { kind: FloodKind; data: Uint8Array } {
    const kind = this.#pick(this.#kinds);
    return { kind, data: this.#data(kind) };
  }

  #data(kind: FloodKind): Uint8Array {
    switch (kind) {
      case 'stun':
        return this.#stun();
      case 'dtls':
        return this.#dtls();
      case 'srtp':
        return this.#rtp([this.#below(128), 0x80 | this.#below(64)]);
      case 'srtcp':
        return this.#rtp([200 + this.#below(8)]);
      case 'random':
        return this.#bytes(1 + this.#below(1400));
      case 'empty':
        return new Uint8Array(0);
    }
  }

  #stun(): Uint8Array {
    const kind = this.#pick<StunMessage['class']>(['request', 'request', 'indication', 'success', 'error']);
    const method = this.#below(4) === 0 ? this.#below(0x1000) : BINDING;
    const { key, isRight } = this.#key();
    const message = writeStun({
      class: kind,
      method,
      transaction: this.#bytes(12),
      attributes: this.#attributes(isRight),
      key,
    });
    return this.#below(8) === 0 ? this.#damaged(message) : message;
  }

  /** A third each: the right password if it is known, a wrong one, no integrity. */
  #key(): { key: Uint8Array | undefined; isRight: boolean } {
    const choice = this.#below(3);
    if (choice === 0) return { key: undefined, isRight: false };
    const { password } = this.#target;
    const isRight = choice === 1 && password !== undefined;
    return { key: isRight ? Buffer.from(password) : this.#bytes(24), isRight };
  }

  /** A message with the right integrity has no USE-CANDIDATE, because the server would have to obey it. */
  #attributes(isRight: boolean): StunAttribute[] {
    const attributes: StunAttribute[] = [];
    const { fragment = 'unknown', clientFragment = 'other' } = this.#target;
    const wrong = this.#word(4 + this.#below(20));
    const names = [
      `${fragment}:${clientFragment}`,
      `${fragment}:${wrong}`,
      `${wrong}:${clientFragment}`,
      wrong,
    ];
    const choice = this.#below(names.length + 1);
    const name = names[choice];
    if (name !== undefined) attributes.push({ type: ATTRIBUTE.username, value: Buffer.from(name) });
    attributes.push({ type: ATTRIBUTE.priority, value: this.#bytes(4) });
    const role = this.#below(4) === 0 && !isRight ? ATTRIBUTE.iceControlled : ATTRIBUTE.iceControlling;
    attributes.push({ type: role, value: this.#bytes(8) });
    if (!isRight && this.#below(2) === 0) {
      attributes.push({ type: ATTRIBUTE.useCandidate, value: new Uint8Array(0) });
    }
    if (this.#below(8) === 0) {
      attributes.push({ type: this.#below(0x8000), value: this.#bytes(this.#below(200)) });
    }
    return attributes;
  }

  #dtls(): Uint8Array {
    const { handshake } = this.#target;
    if (handshake !== undefined && this.#below(4) === 0) {
      return this.#below(2) === 0 ? Uint8Array.from(handshake) : this.#damaged(Uint8Array.from(handshake));
    }
    const records = Array.from({ length: 1 + this.#below(3) }, () => this.#record());
    return Uint8Array.from(Buffer.concat(records));
  }

  #record(): Buffer {
    const type = this.#below(8) === 0 ? 20 + this.#below(44) : this.#pick([20, 21, 22, 23, 24]);
    const epoch = this.#pick([0, 0, 1, 1, 2, 0xffff]);
    const fragment = this.#fragment(type);
    const header = Buffer.alloc(13);
    header.writeUInt8(type, 0);
    header.writeUInt16BE(this.#pick([0xfefd, 0xfefd, 0xfeff, 0xfefc, 0x0303]), 1);
    header.writeUInt16BE(epoch, 3);
    header.writeUIntBE(this.#below(2 ** 32), 5, 6);
    // One record in eight states a wrong length.
    header.writeUInt16BE(this.#below(8) === 0 ? this.#below(0x10000) : fragment.length, 11);
    return Buffer.concat([header, fragment]);
  }

  #fragment(type: number): Uint8Array {
    if (type === 21 && this.#below(2) === 0) return Uint8Array.of(1 + this.#below(2), this.#below(120));
    if (type === 20) return Uint8Array.of(1);
    const fragment = this.#bytes(this.#below(300));
    if (type !== 22 || fragment.length < 12) return fragment;
    // A handshake message: type, length, sequence, offset and length of the fragment (RFC 6347 section
    // 4.2.2).
    const header = Buffer.alloc(12);
    header.writeUInt8(this.#pick([0, 1, 2, 3, 4, 11, 12, 13, 14, 15, 16, 20, 22]), 0);
    header.writeUIntBE(this.#below(4) === 0 ? this.#below(2 ** 24) : fragment.length - 12, 1, 3);
    header.writeUInt16BE(this.#below(8), 4);
    header.writeUIntBE(this.#below(4) === 0 ? this.#below(2 ** 24) : 0, 6, 3);
    header.writeUIntBE(fragment.length - 12, 9, 3);
    fragment.set(header);
    return fragment;
  }

  /** Random content behind a header of version 2. */
  #rtp(secondBytes: readonly number[]): Uint8Array {
    const data = this.#bytes(12 + this.#below(200));
    data[0] = 0x80 | this.#pick([0, 0, 0, 0x10, 0x20, 0x0f, 0x3f]);
    data[1] = this.#pick(secondBytes);
    const { ssrc } = this.#target;
    const at = secondBytes.length === 1 ? 4 : 8;
    if (ssrc !== undefined && this.#below(2) === 0) Buffer.from(data.buffer).writeUInt32BE(ssrc, at);
    return data;
  }

  /** Cut off, longer, or with one byte changed. */
  #damaged(data: Uint8Array): Uint8Array {
    const choice = this.#below(3);
    if (choice === 0) return data.subarray(0, this.#below(data.length));
    if (choice === 1) return Uint8Array.from([...data, ...this.#bytes(1 + this.#below(8))]);
    const copy = Uint8Array.from(data);
    copy[this.#below(copy.length)] = this.#below(256);
    return copy;
  }

  #bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.#below(256));
  }

  #word(length: number): string {
    return Buffer.from(this.#bytes(length)).toString('base64').slice(0, length);
  }

  #pick<T>(list: readonly T[]): T {
    const item = list[this.#below(list.length)];
    if (item === undefined) throw new RangeError('the list is empty');
    return item;
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }
}

function checkRange(name: string, value: number, least: number, most: number): void {
  if (!(value >= least && value <= most)) {
    throw new RangeError(`${name} must be from ${least} to ${most}, not ${value}`);
  }
}

function sentTo(socket: Socket, data: Uint8Array, port: number): Promise<boolean> {
  return new Promise((resolve) => socket.send(data, port, LOOPBACK, (error) => resolve(error === null)));
}

async function bound(onAnswer: () => void): Promise<Socket> {
  const socket = createSocket('udp4');
  socket.on('message', onAnswer);
  socket.on('error', () => undefined); // the port under attack may be closed
  socket.bind(0, LOOPBACK);
  await once(socket, 'listening');
  return socket;
}

async function closed(socket: Socket): Promise<void> {
  const end = once(socket, 'close');
  socket.close();
  await end;
}
