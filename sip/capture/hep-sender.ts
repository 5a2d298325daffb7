// Sends copies of all SIP messages and a quality report of each call to a collector (Homer and
// similar) as HEP version 3 packets. Packets that cannot be sent are only counted.
import { createSocket, type Socket } from 'node:dgram';
import { isIP } from 'node:net';
import { ParleyError } from '../../src/errors.js';
import type { Flow, Place } from '../transport/flow.js';
import { addressBytes } from './ip-datagram.js';
import { callIdIn, type MediaReport, type MessageTap, reportJson, type TapDirection } from './taps.js';

interface HepSenderOptions {
  /** IP address and port of the collector. */
  readonly collector: Place;
  readonly agent: HepAgent;
  /** Wall clock in milliseconds since 1970. */
  readonly unixMs: () => number;
}

const MOST_UNDER_WAY = 1000; // packets that the system has not accepted yet
const MOST_BYTES = 65_507;

export class HepSender implements MessageTap {
  readonly #options: HepSenderOptions;
  readonly #socket: Socket;
  #underWay = 0;
  #sent = 0;
  #dropped = 0;
  #closed: Promise<void> | undefined;

  /** Throws CONFIG_INVALID if the collector is not an IP address. */
  constructor(options: HepSenderOptions) {
    const family = isIP(options.collector.address);
    if (family === 0) {
      throw new ParleyError(
        'CONFIG_INVALID',
        'the collector of SIP captures must be given by its IP address',
      );
    }
    this.#options = options;
    // Skips DNS: a name would be looked up for every datagram.
    const lookup = (
      host: string,
      _: object,
      done: (error: null, address: string, family: number) => void,
    ): void => done(null, host, family);
    this.#socket = createSocket({ type: family === 6 ? 'udp6' : 'udp4', lookup });
    this.#socket.on('error', () => this.#dropped++);
    this.#socket.unref();
  }

  /** Numbers of packets sent and dropped. */
  get counts(): { readonly sent: number; readonly dropped: number } {
    return { sent: this.#sent, dropped: this.#dropped };
  }

  message(direction: TapDirection, bytes: Buffer, { local, remote }: Flow, callId = callIdIn(bytes)): void {
    const [source, target] = direction === 'in' ? [remote, local] : [local, remote];
    this.#send({
      content: 'sip',
      source,
      target,
      unixMs: this.#options.unixMs(),
      payload: bytes,
      correlation: callId,
    });
  }

  /** Sends the quality report of a call's media between these two ends. */
  report(callId: string, local: Place, remote: Place, report: MediaReport): void {
    const payload = Buffer.from(reportJson(report));
    this.#send({
      content: 'rtcp-json',
      source: local,
      target: remote,
      unixMs: this.#options.unixMs(),
      payload,
      correlation: callId,
    });
  }

  close(): Promise<void> {
    this.#closed ??= new Promise((resolve) => this.#socket.close(() => resolve()));
    return this.#closed;
  }

  #send(event: HepEvent): void {
    const packet = hepPacket(event, this.#options.agent);
    const isTooMuch = this.#closed !== undefined || this.#underWay >= MOST_UNDER_WAY;
    if (packet === undefined || packet.length > MOST_BYTES || isTooMuch) {
      this.#dropped++;
      return;
    }
    const { address, port } = this.#options.collector;
    this.#underWay++;
    this.#socket.send(packet, port, address, (error) => {
      this.#underWay--;
      if (error === null) this.#sent++;
      else this.#dropped++;
    });
  }
}

type HepContent = 'sip' | 'rtcp-json';

interface HepEvent {
  readonly content: HepContent;
  readonly source: Place;
  readonly target: Place;
  /** Milliseconds since 1970. */
  readonly unixMs: number;
  readonly payload: Buffer;
  /** Correlates packets of several protocols: the Call-ID. */
  readonly correlation?: string | undefined;
}

interface HepAgent {
  /** Number of this server at the collector. */
  readonly captureId: number;
  readonly authKey?: string | undefined;
}

const MAGIC = Buffer.from('HEP3');
const HEAD_BYTES = 6;
const CHUNK_HEAD_BYTES = 6;
const AF_INET = 2;
const AF_INET6 = 10;
const UDP = 17;
const CONTENT: Readonly<Record<HepContent, number>> = { sip: 1, 'rtcp-json': 5 };

/** Types of generic chunks (vendor 0). */
// prettier-ignore
const CHUNK = {
  family: 1, protocol: 2, source4: 3, target4: 4, source6: 5, target6: 6, sourcePort: 7, targetPort: 8, seconds: 9,
  microseconds: 10, content: 11, captureId: 12, authKey: 14, payload: 15, correlation: 17,
} as const;

/** Undefined if the event is too long for one packet. */
function hepPacket(event: HepEvent, { captureId, authKey }: HepAgent): Buffer | undefined {
  const { family, source, target } = addressBytes(event.source, event.target);
  const seconds = Math.floor(event.unixMs / 1000);
  const isFour = family === 4;
  const chunks = [
    chunk(CHUNK.family, uint(isFour ? AF_INET : AF_INET6, 1)),
    chunk(CHUNK.protocol, uint(UDP, 1)),
    chunk(isFour ? CHUNK.source4 : CHUNK.source6, source),
    chunk(isFour ? CHUNK.target4 : CHUNK.target6, target),
    chunk(CHUNK.sourcePort, uint(event.source.port, 2)),
    chunk(CHUNK.targetPort, uint(event.target.port, 2)),
    chunk(CHUNK.seconds, uint(seconds, 4)),
    chunk(CHUNK.microseconds, uint(Math.floor((event.unixMs - seconds * 1000) * 1000), 4)),
    chunk(CHUNK.content, uint(CONTENT[event.content], 1)),
    chunk(CHUNK.captureId, uint(captureId, 4)),
    ...(authKey === undefined ? [] : [chunk(CHUNK.authKey, Buffer.from(authKey))]),
    ...(event.correlation === undefined ? [] : [chunk(CHUNK.correlation, Buffer.from(event.correlation))]),
    chunk(CHUNK.payload, event.payload),
  ];
  const length = chunks.reduce((sum, part) => sum + part.length, HEAD_BYTES);
  return length > 0xffff ? undefined : Buffer.concat([MAGIC, uint(length, 2), ...chunks]);
}

function chunk(type: number, content: Buffer): Buffer {
  const length = Math.min(CHUNK_HEAD_BYTES + content.length, 0xffff);
  return Buffer.concat([uint(0, 2), uint(type, 2), uint(length, 2), content]);
}

function uint(value: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntBE(value, 0, bytes);
  return buffer;
}
