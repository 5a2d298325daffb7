// A caller's line over SIP with G.711.
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { systemTime } from '../../../src/time.js';
import { readRtp, writeRtp } from '../../interop/telephone/rtp-peer.js';
import type { Address } from '../../interop/telephone/sipp.js';
import { callFrom, hangUp, offer, type RawCall, UdpCaller } from '../../telephone/raw-caller.js';
import { type Line, LineCodec, type Network } from './line.js';
import type { Packet } from './recording.js';

const HOST = '127.0.0.1';
const PAYLOAD_TYPE = 0; // PCMU
const SSRC = 0xca11;

export class SipLine implements Line {
  onPacket: (packet: Packet) => void = () => undefined;
  readonly #caller: UdpCaller;
  readonly #call: RawCall;
  readonly #socket: Socket;
  readonly #port: number;
  readonly #network: Network;
  readonly #codec = new LineCodec('PCMU');
  #sequence = 1;

  private constructor(caller: UdpCaller, call: RawCall, socket: Socket, network: Network) {
    this.#caller = caller;
    this.#call = call;
    this.#socket = socket;
    this.#network = network;
    this.#port = Number(/^m=audio (\d+)/m.exec(call.answer)?.[1] ?? NaN);
    socket.on('message', (bytes) => network.down(() => this.#take(bytes)));
  }

  /** Calls the number. Rejects if the call is refused. */
  static async open(server: Address, number: string, network: Network): Promise<SipLine> {
    const socket = createSocket('udp4').bind(0, HOST);
    await once(socket, 'listening');
    const caller = await UdpCaller.open(server);
    const call = await callFrom(caller, {
      uri: `sip:${number}@${HOST}`,
      body: offer(HOST, socket.address().port),
    });
    return new SipLine(caller, call, socket, network);
  }

  send(frame: Float32Array): void {
    const sequence = this.#sequence++;
    const payload = Buffer.from(this.#codec.encode(frame));
    const timestamp = sequence * this.#codec.ticks;
    const packet = writeRtp({
      marker: false,
      payloadType: PAYLOAD_TYPE,
      sequence,
      timestamp,
      ssrc: SSRC,
      payload,
    });
    this.#network.up(() => this.#socket.send(packet, this.#port, HOST));
  }

  async close(): Promise<void> {
    await hangUp(this.#caller, this.#call);
    this.#network.close();
    await this.#caller.close();
    await new Promise<void>((resolve) => this.#socket.close(() => resolve()));
  }

  #take(bytes: Buffer): void {
    const packet = readRtp(bytes);
    if (packet?.payloadType !== PAYLOAD_TYPE) return;
    this.onPacket(this.#codec.decode(packet.payload, systemTime.now()));
  }
}
