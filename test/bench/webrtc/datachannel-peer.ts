// A peer played by libdatachannel (node-datachannel): ICE, DTLS, SRTP and SCTP of another maker. It asks for
// its speech over the data channel, as a browser page does.
import datachannel, { type DataChannel, type PeerConnection, type Track } from 'node-datachannel';
import { OPUS } from '../../../src/codecs/codec.js';
import { systemTime } from '../../../src/time.js';
import type { BenchPeer } from './client-messages.js';

const PAYLOAD_TYPE = 111;
const RTP_HEADER_BYTES = 12;
const LOOPBACK = '127.0.0.1';
const SILENCE = Buffer.from(OPUS.silence(OPUS.frameMs));

export class DatachannelPeer implements BenchPeer {
  readonly offer: string;
  readonly at: { ready?: number; audible?: number; ended?: number } = {};
  /** Resolves with the message `ready` on the data channel. */
  readonly ready: Promise<void>;
  readonly audible: Promise<void>;
  packets = 0;
  readonly missing = 0;
  readonly longestGapMs = 0;
  readonly #connection: PeerConnection;
  /** libdatachannel takes a track that nobody holds out of the description. */
  readonly #track: Track;
  #settle!: { ready: () => void; audible: () => void; reject: (error: Error) => void };

  private constructor(connection: PeerConnection, track: Track, channel: DataChannel, text: string) {
    this.#connection = connection;
    this.#track = track;
    track.onMessage((packet) => this.#receive(packet));
    this.offer = '';
    const rejections: ((error: Error) => void)[] = [];
    const settle = { ready: () => undefined as void, audible: () => undefined as void };
    this.ready = new Promise((resolve, reject) => ((settle.ready = resolve), rejections.push(reject)));
    this.audible = new Promise((resolve, reject) => ((settle.audible = resolve), rejections.push(reject)));
    this.ready.catch(() => undefined);
    this.audible.catch(() => undefined);
    this.#settle = { ...settle, reject: (error) => rejections.forEach((reject) => reject(error)) };
    channel.onMessage((data) => {
      if (this.at.ready !== undefined || typeof data !== 'string') return;
      if ((JSON.parse(data) as { type: string }).type !== 'ready') return;
      this.at.ready = systemTime.now();
      this.#settle.ready();
      channel.sendMessage(JSON.stringify({ type: 'text', token: text, last: true }));
    });
    connection.onStateChange((state) => {
      if (state !== 'failed' && state !== 'closed' && state !== 'disconnected') return;
      this.at.ended ??= systemTime.now();
      this.#settle.reject(new Error(`libdatachannel: ${state}`));
    });
  }

  /** `text` is sent as soon as the server is ready. */
  static async open(text: string): Promise<DatachannelPeer> {
    const connection = new datachannel.PeerConnection('bench', { iceServers: [], bindAddress: LOOPBACK });
    const gathered = new Promise<void>((resolve) => {
      connection.onGatheringStateChange((state) => {
        if (state === 'complete') resolve();
      });
    });
    const audio = new datachannel.Audio('0', 'RecvOnly');
    audio.addOpusCodec(PAYLOAD_TYPE);
    const track = connection.addTrack(audio);
    // The first data channel makes the offer.
    const peer = new DatachannelPeer(connection, track, connection.createDataChannel('parley'), text);
    await gathered;
    return Object.assign(peer, { offer: connection.localDescription()?.sdp ?? '' });
  }

  accept(answer: string): void {
    this.#connection.setRemoteDescription(answer, 'answer');
  }

  async close(): Promise<void> {
    this.#track.close();
    this.#connection.close();
  }

  #receive(packet: Buffer): void {
    const isRtcp = (packet[1] ?? 0) >= 192 && (packet[1] ?? 0) <= 223;
    if (isRtcp) return;
    this.packets++;
    if (this.at.audible !== undefined || SILENCE.equals(packet.subarray(RTP_HEADER_BYTES))) return;
    this.at.audible = systemTime.now();
    this.#settle.audible();
  }
}
