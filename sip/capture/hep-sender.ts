// Copies of all SIP messages to a collector (Homer and its kin), and how each
// call sounded when it is over. Sent and forgotten: a collector that is away or
// slow costs nothing but the count of what it missed.
import { createSocket, type Socket } from 'node:dgram';
import { isIP } from 'node:net';
import { ParleyError } from '../../src/errors.js';
import type { Flow, Place } from '../transport/flow.js';
import { type HepAgent, type HepEvent, hepPacket } from './hep-packet.js';
import { callIdIn, type MessageTap, type TapDirection } from './message-tap.js';
import { type MediaReport, reportJson } from './media-report.js';

export interface HepSenderOptions {
  /** The address (not the name) and port of the collector. */
  readonly collector: Place;
  readonly agent: HepAgent;
  /** The time of day, in milliseconds since 1970. */
  readonly unixMs: () => number;
}

const MOST_UNDER_WAY = 1000; // packets that the system has not taken yet
const MOST_BYTES = 65_507;

export class HepSender implements MessageTap {
  readonly #options: HepSenderOptions;
  readonly #socket: Socket;
  #underWay = 0;
  #sent = 0;
  #dropped = 0;
  #closed: Promise<void> | undefined;

  /** Throws CONFIG_INVALID if the collector is a name. */
  constructor(options: HepSenderOptions) {
    const family = isIP(options.collector.address);
    if (family === 0) {
      throw new ParleyError('CONFIG_INVALID', 'the collector of SIP captures must be given by its IP address');
    }
    this.#options = options;
    // Addresses only: a name would be looked up for every datagram.
    const lookup = (host: string, _: object, done: (error: null, address: string, family: number) => void): void =>
      done(null, host, family);
    this.#socket = createSocket({ type: family === 6 ? 'udp6' : 'udp4', lookup });
    this.#socket.on('error', () => this.#dropped++);
    this.#socket.unref();
  } // prettier-ignore

  /** Packets that were handed to the network, and those that were not. */
  get counts(): { readonly sent: number; readonly dropped: number } {
    return { sent: this.#sent, dropped: this.#dropped };
  }

  message(direction: TapDirection, bytes: Buffer, { local, remote }: Flow, callId = callIdIn(bytes)): void {
    const [source, target] = direction === 'in' ? [remote, local] : [local, remote];
    this.#send({ content: 'sip', source, target, unixMs: this.#options.unixMs(), payload: bytes, correlation: callId });
  } // prettier-ignore

  /** How the media of a call was, between these two ends. */
  report(callId: string, local: Place, remote: Place, report: MediaReport): void {
    const payload = Buffer.from(reportJson(report));
    this.#send({ content: 'rtcp-json', source: local, target: remote, unixMs: this.#options.unixMs(), payload, correlation: callId });
  } // prettier-ignore

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
