// A caller's line over WebRTC with Opus.
import { DtlsCertificate } from '../../../src/media/dtls-association.js';
import { systemTime } from '../../../src/time.js';
import { LightPeer } from '../../fakes/light-peer.js';
import { readRtp, writeRtp } from '../../interop/telephone/rtp-peer.js';
import { type Line, LineCodec, type Network } from './line.js';
import type { Packet } from './recording.js';

const PAYLOAD_TYPE = 111;
const SSRC = 0xca12;
const certificate = DtlsCertificate.make();

export class WebRtcLine implements Line {
  onPacket: (packet: Packet) => void = () => undefined;
  readonly #peer: LightPeer;
  readonly #network: Network;
  readonly #codec = new LineCodec('opus');
  #sequence = 1;

  private constructor(peer: LightPeer, network: Network, take: { packet: (bytes: Buffer) => void }) {
    this.#peer = peer;
    this.#network = network;
    take.packet = (bytes) => network.down(() => this.#take(bytes));
  }

  /** Calls the agent of this name. Rejects if the call is refused. */
  static async open(url: string, agent: string, network: Network): Promise<WebRtcLine> {
    const take = { packet: (_bytes: Buffer): void => undefined };
    const onRtp = (bytes: Buffer) => take.packet(bytes);
    const peer = await LightPeer.open({ certificate, dataChannel: false, speaks: true, onRtp });
    const response = await fetch(`${url}/v1/realtime/calls?agent=${agent}`, {
      method: 'POST',
      headers: { 'content-type': 'application/sdp' },
      body: peer.offer,
    });
    const answer = await response.text();
    if (!response.ok) throw new Error(`status ${response.status}: ${answer.slice(0, 200)}`);
    const line = new WebRtcLine(peer, network, take);
    peer.accept(answer);
    await peer.ready;
    return line;
  }

  send(frame: Float32Array): void {
    const sequence = this.#sequence++;
    const payload = Buffer.from(this.#codec.encode(frame));
    const timestamp = sequence * this.#codec.ticks;
    const head = { marker: false, payloadType: PAYLOAD_TYPE, sequence, timestamp, ssrc: SSRC };
    const packet = writeRtp({ ...head, payload });
    this.#network.up(() => this.#peer.sendRtp(packet));
  }

  async close(): Promise<void> {
    this.#network.close();
    await this.#peer.close();
  }

  #take(bytes: Buffer): void {
    const packet = readRtp(bytes);
    if (packet?.payloadType !== PAYLOAD_TYPE) return;
    this.onPacket(this.#codec.decode(packet.payload, systemTime.now()));
  }
}
