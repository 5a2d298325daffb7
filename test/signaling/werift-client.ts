// A browser played by werift: listens, may speak, has one data channel, and counts what reaches it.
import assert from 'node:assert/strict';
import type { Socket } from 'node:dgram';
import { MediaStreamTrack, RTCPeerConnection, RTCRtpCodecParameters, type RTCDataChannel } from 'werift';

interface ReceivedPacket {
  readonly ssrc: number;
  readonly payloadType: number;
  readonly sequence: number;
  readonly timestamp: number;
  readonly marker: boolean;
  readonly payload: Uint8Array;
}

interface ReceivedReport {
  readonly type: number;
  readonly ssrc: number;
  readonly cname: string | undefined;
  readonly packets: number | undefined;
}

type Members = Record<PropertyKey, unknown>;

const WAIT_MS = 10_000;

export class WeriftClient {
  readonly connection: RTCPeerConnection;
  readonly channel: RTCDataChannel;
  readonly packets: ReceivedPacket[] = [];
  readonly reports: ReceivedReport[] = [];
  readonly messages: Record<string, unknown>[] = [];
  readonly #waiting = new Set<() => void>();
  readonly #track = new MediaStreamTrack({ kind: 'audio' });

  constructor(codec = 'opus', { tcp = false, label = 'parley', opensChannel = true, speaks = false } = {}) {
    const opus = codec === 'opus';
    this.connection = new RTCPeerConnection({
      codecs: {
        audio: [
          new RTCRtpCodecParameters({
            mimeType: `audio/${codec}`,
            clockRate: opus ? 48_000 : 8000,
            channels: opus ? 2 : 1,
            payloadType: opus ? 111 : codec === 'PCMU' ? 0 : 8,
          }),
        ],
        video: [],
      },
      headerExtensions: { audio: [], video: [] },
      iceServers: [],
      iceUseIpv4: false,
      iceUseIpv6: false,
      iceAdditionalHostAddresses: ['127.0.0.1'],
      iceUseTcp: tcp,
      bundlePolicy: 'max-bundle',
    });
    if (speaks) this.connection.addTransceiver(this.#track, { direction: 'sendrecv' });
    else this.connection.addTransceiver('audio', { direction: 'recvonly' });
    // A negotiated channel is in the offer, and is not opened with a message.
    const negotiated = opensChannel ? {} : { negotiated: true, id: 5 };
    this.channel = this.connection.createDataChannel(label, negotiated);
    this.channel.onMessage.subscribe((data) => {
      this.messages.push(JSON.parse(String(data)) as Record<string, unknown>);
      this.#wake();
    });
    this.channel.stateChanged.subscribe(() => this.#wake());
    const [dtls] = this.connection.dtlsTransports;
    assert.ok(dtls !== undefined);
    dtls.onRtp.subscribe(({ header, payload }) => {
      const { ssrc, payloadType, sequenceNumber: sequence, timestamp, marker } = header;
      this.packets.push({ ssrc, payloadType, sequence, timestamp, marker, payload });
      this.#wake();
    });
    dtls.onRtcp.subscribe((report) => {
      const read = report as unknown as Members & { type: number; ssrc: number };
      const [chunk] = (read['chunks'] ?? []) as { source: number; items: { text: string }[] }[];
      const sender = read['senderInfo'] as { packetCount: number } | undefined;
      this.reports.push({
        type: read.type,
        ssrc: chunk?.source ?? read.ssrc,
        cname: chunk?.items[0]?.text,
        packets: sender?.packetCount,
      });
      this.#wake();
    });
    dtls.onStateChange.subscribe((state) => {
      if (state === 'connected') this.#mendRecordNumbers();
    });
    // No servers outside the machine are contacted.
    (dtls.iceTransport.connection as unknown as Members)['stunServer'] = undefined;
  }

  // werift 0.24.4 counts its records anew after the handshake: one of them would have the number of its
  // Finished message, and the server would drop it as a replay.
  #mendRecordNumbers(): void {
    const dtls = this.connection.dtlsTransports[0]?.dtls as unknown as {
      dtls: { recordSequenceNumber: number };
    };
    dtls.dtls.recordSequenceNumber = Math.max(dtls.dtls.recordSequenceNumber, 64);
  }

  /** Its own UDP sockets. */
  get sockets(): readonly Socket[] {
    const ice = this.connection.dtlsTransports[0]?.iceTransport.connection as unknown as {
      protocols: readonly { transport: { socket: Socket } }[];
    };
    return ice.protocols.map(({ transport }) => transport.socket);
  }

  async offer(): Promise<string> {
    await this.connection.setLocalDescription(await this.connection.createOffer());
    return this.connection.localDescription?.sdp ?? '';
  }

  accept(answer: string): Promise<void> {
    return this.connection.setRemoteDescription({ type: 'answer', sdp: answer });
  }

  /** Sends a packet of its sound, under its own SSRC, if it `speaks`. */
  sendRtp(packet: Buffer): void {
    this.#track.writeRtp(packet);
  }

  send(message: object): void {
    this.channel.send(JSON.stringify(message));
  }

  /** Looks at every arrival until `found` gives something. */
  until<T>(found: () => T | undefined | false, what: string): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(look);
        reject(new Error(`no ${what} within ${WAIT_MS} ms`));
      }, WAIT_MS);
      const look = () => {
        const value = found();
        if (value === undefined || value === false) return;
        clearTimeout(timer);
        this.#waiting.delete(look);
        resolve(value);
      };
      this.#waiting.add(look);
      look();
    });
  }

  #wake(): void {
    for (const look of this.#waiting) look();
  }

  close(): Promise<void> {
    return this.connection.close();
  }
}
