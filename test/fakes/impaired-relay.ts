// A UDP relay on loopback that makes the network bad: it loses, delays, reorders and repeats datagrams, and
// lets no more through than a thin link. A seed decides the fate of each datagram, with one random sequence
// for each direction.
//
//   client ──▶ near socket ──up──▶ far socket of this client ──▶ server
//          ◀──             ◀─down─
//
//   datagram ─▶ bottleneck: queue, then its time on the link ─▶ lost, delayed, repeated
//
// Each client address has a far socket, as behind a NAT. `changeNetwork` replaces the far sockets, so that
// the server sees new source ports.
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { systemTime, type Time } from '../../src/time.js';
import { randomFrom } from '../api/mutations.js';

const LOOPBACK = '127.0.0.1';
const MOST_CLIENTS = 1024;
const MOST_WAITING = 20_000; // delayed datagrams of both directions
const DEFAULT_REORDER_MS = 50;
const DEFAULT_QUEUE_MS = 300;
const HEADER_BYTES = 28; // IPv4 and UDP

/** Shares are probabilities from 0 to 1. Everything is 0 by default. */
export interface Impairment {
  readonly lossShare?: number;
  /** Mean number of datagrams lost in a row (Gilbert's model). If absent, each is lost independently. */
  readonly lossRun?: number;
  /** Milliseconds for every datagram. */
  readonly delayMs?: number;
  /** Milliseconds. Each datagram is delayed by a further time, uniform from 0 to this. */
  readonly jitterMs?: number;
  /** Datagrams that are held back by a further `reorderMs`, so that later ones overtake them. */
  readonly reorderShare?: number;
  /** 50 ms by default. */
  readonly reorderMs?: number;
  /** Datagrams that arrive twice. The copy has a jitter of its own. */
  readonly duplicateShare?: number;
  /** Bit/s of the link, including IP and UDP headers. If absent, there is no limit. */
  readonly bitsPerSecond?: number;
  /**
   * Milliseconds that a datagram may wait for the link; what would wait longer is dropped. One datagram may
   * always wait. 300 ms by default.
   */
  readonly queueMs?: number;
}

/** A link of few bits: datagrams leave one after the other. */
export class Bottleneck {
  #freeAtMs = 0;

  /** Milliseconds until the datagram has passed the link; undefined if the queue is full. */
  pass(bytes: number, { bitsPerSecond, queueMs = DEFAULT_QUEUE_MS }: Impairment, nowMs: number) {
    if (bitsPerSecond === undefined) return 0;
    const ownMs = (8000 * (bytes + HEADER_BYTES)) / bitsPerSecond;
    const waitMs = Math.max(0, this.#freeAtMs - nowMs);
    if (waitMs > Math.max(queueMs, ownMs)) return undefined;
    this.#freeAtMs = nowMs + waitMs + ownMs;
    return waitMs + ownMs;
  }
}

/** Decides the fate of one datagram after another. Each decision takes five random numbers. */
export class Fates {
  impairment: Impairment;
  readonly #random: () => number;
  /** The datagram before was lost. */
  #isLosing = false;

  constructor(impairment: Impairment, random: () => number) {
    this.impairment = impairment;
    this.#random = random;
  }

  /** Milliseconds until each copy is forwarded. An empty list means that the datagram is lost. */
  next(): readonly number[] {
    const { delayMs = 0, jitterMs = 0, duplicateShare = 0 } = this.impairment;
    const { reorderShare = 0, reorderMs = DEFAULT_REORDER_MS } = this.impairment;
    // A constant number of draws keeps the fates of later datagrams independent of a changed share.
    const [lost, jitter, held, repeated, copyJitter] = [1, 2, 3, 4, 5].map(() => this.#random());
    if (this.#loses(lost ?? 0)) return [];
    const first = delayMs + (jitter ?? 0) * jitterMs + ((held ?? 0) < reorderShare ? reorderMs : 0);
    return (repeated ?? 0) < duplicateShare ? [first, delayMs + (copyJitter ?? 0) * jitterMs] : [first];
  }

  #loses(random: number): boolean {
    const { lossShare = 0, lossRun } = this.impairment;
    if (lossRun === undefined) return random < lossShare;
    const begins = lossShare / (1 - lossShare) / lossRun;
    this.#isLosing = this.#isLosing ? random >= 1 / lossRun : random < begins;
    return this.#isLosing;
  }
}

interface DirectionCounts {
  received: number;
  /** Datagrams that found the queue of the link full. */
  dropped: number;
  lost: number;
  repeated: number;
  forwarded: number;
}

interface RelayOptions {
  /** The server's port on 127.0.0.1. */
  readonly serverPort: number;
  readonly seed: number;
  /** From the client to the server. */
  readonly up?: Impairment;
  /** From the server to the client. */
  readonly down?: Impairment;
  readonly time?: Time;
  /** Called with each datagram of the server, before its fate is decided. */
  readonly onDown?: (data: Buffer) => void;
}

/** The relay's socket towards the server, for one client. */
interface Client {
  readonly port: number;
  far: Socket;
}

export class ImpairedRelay {
  /** The port that clients send to. */
  readonly port: number;
  readonly up: Fates;
  readonly down: Fates;
  readonly counts = { up: noCounts(), down: noCounts(), clientsRefused: 0, overflow: 0 };
  readonly #links = { up: new Bottleneck(), down: new Bottleneck() };
  readonly #near: Socket;
  readonly #serverPort: number;
  readonly #time: Time;
  readonly #onDown: (data: Buffer) => void;
  readonly #clients = new Map<number, Client>();
  /** Cancels the delayed datagrams. */
  readonly #waiting = new Set<() => void>();
  #closed: Promise<void> | undefined;

  private constructor(near: Socket, options: RelayOptions) {
    const { serverPort, seed, up, down, time = systemTime, onDown = () => undefined } = options;
    this.#near = near;
    this.port = near.address().port;
    this.#serverPort = serverPort;
    this.#time = time;
    this.#onDown = onDown;
    this.up = new Fates(up ?? {}, randomFrom(seed));
    this.down = new Fates(down ?? {}, randomFrom(~seed));
    near.on('message', (data, { port }) => this.#fromClient(data, port));
  }

  static async open(options: RelayOptions): Promise<ImpairedRelay> {
    return new ImpairedRelay(await bound(), options);
  }

  /** Source ports that the server sees, in the order in which clients came. */
  get farPorts(): number[] {
    return [...this.#clients.values()].map(({ far }) => far.address().port);
  }

  /** Datagrams that are delayed now. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Gives every client a new source port towards the server. Datagrams that the server sends to the old ports
   * are lost, as after a change from Wi-Fi to mobile data.
   */
  async changeNetwork(): Promise<void> {
    for (const client of this.#clients.values()) {
      const far = await bound();
      const old = client.far;
      this.#listen(client, far);
      client.far = far;
      await closed(old);
    }
  }

  /** Drops delayed datagrams and closes the sockets. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    for (const cancel of this.#waiting) cancel();
    this.#waiting.clear();
    const sockets = [this.#near, ...[...this.#clients.values()].map(({ far }) => far)];
    await Promise.all(sockets.map(closed));
  }

  #fromClient(data: Buffer, port: number): void {
    const known = this.#clients.get(port);
    if (known !== undefined)
      return this.#forward('up', data.length, () => known.far.send(data, this.#serverPort, LOOPBACK));
    if (this.#clients.size >= MOST_CLIENTS) {
      this.counts.clientsRefused++;
      return;
    }
    const far = createSocket('udp4');
    const client = { port, far };
    this.#clients.set(port, client);
    this.#listen(client, far);
    far.bind(0, LOOPBACK);
    // A send waits until the socket is bound, so the first datagrams keep their order.
    this.#fromClient(data, port);
  }

  #listen(client: Client, far: Socket): void {
    far.on('message', (data, { port }) => {
      if (port !== this.#serverPort) return;
      this.#onDown(data);
      this.#forward('down', data.length, () => this.#near.send(data, client.port, LOOPBACK));
    });
    far.on('error', () => undefined); // the server has closed its port
  }

  #forward(direction: 'up' | 'down', bytes: number, send: () => void): void {
    const counts = this.counts[direction];
    counts.received++;
    const linkMs = this.#links[direction].pass(bytes, this[direction].impairment, this.#time.now());
    if (linkMs === undefined) {
      counts.dropped++;
      return;
    }
    const copies = this[direction].next();
    if (copies.length === 0) counts.lost++;
    if (copies.length > 1) counts.repeated++;
    for (const delayMs of copies) {
      const leave = () => {
        if (this.#closed !== undefined) return;
        counts.forwarded++;
        send();
      };
      if (linkMs + delayMs <= 0) leave();
      else this.#later(linkMs + delayMs, leave);
    }
  }

  #later(delayMs: number, leave: () => void): void {
    if (this.#waiting.size >= MOST_WAITING) {
      this.counts.overflow++;
      return;
    }
    const cancel = this.#time.after(delayMs, () => {
      this.#waiting.delete(cancel);
      leave();
    });
    this.#waiting.add(cancel);
  }
}

/** The description without candidates: the other end then answers checks, and sends none past the relay. */
export function withoutCandidates(sdp: string): string {
  return sdp.replace(/^a=(?:candidate:.*|end-of-candidates)\r?\n/gm, '');
}

/**
 * The answer with one candidate: the relay's port on loopback. Every media section with a candidate has it.
 */
export function answerThrough(sdp: string, relayPort: number): string {
  const candidate = `a=candidate:1 1 udp 2130706431 ${LOOPBACK} ${relayPort} typ host\r\n`;
  return sdp
    .split(/^(?=m=)/m)
    .map((section) =>
      /^a=candidate:/m.test(section) ? `${withoutCandidates(section)}${candidate}` : section,
    )
    .join('');
}

/** The port of the first UDP candidate on this address. Throws if the description has none. */
export function candidatePort(sdp: string, address = LOOPBACK): number {
  for (const [, host, port] of sdp.matchAll(/^a=candidate:\S+ 1 udp \d+ (\S+) (\d+) typ host/gim)) {
    if (host === address) return Number(port);
  }
  throw new Error(`the description has no UDP candidate on ${address}`);
}

function noCounts(): DirectionCounts {
  return { received: 0, dropped: 0, lost: 0, repeated: 0, forwarded: 0 };
}

async function bound(): Promise<Socket> {
  const socket = createSocket('udp4');
  socket.bind(0, LOOPBACK);
  await once(socket, 'listening');
  return socket;
}

async function closed(socket: Socket): Promise<void> {
  const end = once(socket, 'close');
  socket.close();
  await end;
}
