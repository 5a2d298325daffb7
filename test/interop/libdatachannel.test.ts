// The whole server with libdatachannel (node-datachannel) at the other end: ICE, DTLS, SRTP and SCTP of
// another maker, in either role of DTLS.
import assert from 'node:assert/strict';
import { after, before, test, type TestContext } from 'node:test';
import datachannel, { type DataChannel, type PeerConnection, type Track } from 'node-datachannel';
import { frameDecoder } from '../../src/codecs/frame-decoder.js';
import { readConfig } from '../../src/config/config.js';
import { startServer, type Server } from '../../src/main.js';
import { until } from '../fakes/until.js';

const TEXT = 'Good morning, and thank you for calling.';
const LOOPBACK = '127.0.0.1';
const CODECS = { opus: 111, PCMU: 0 } as const;
const RTP_HEADER_BYTES = 12;
const RTCP_TYPES = [192, 223] as const; // second byte, RFC 5761 section 4
const AUDIBLE = 1000; // of 32,767
const PACKETS = 50; // a second

let server: Server;
before(async () => {
  server = await startServer(
    readConfig({
      PORT: '0',
      SIP_ENABLED: '0',
      LOG_LEVEL: 'silent',
      ENGINE: 'flite',
      ICE_HOST_ADDRESSES: LOOPBACK,
    }),
  );
});
after(async () => {
  await server.close();
  datachannel.cleanup();
});

type Message = Record<string, unknown> & { type: string };

class Peer {
  readonly messages: Message[] = [];
  readonly sequences: number[] = [];
  readonly payloadTypes = new Set<number>();
  peak = 0;
  /** libdatachannel takes a track that nobody holds out of the description. */
  readonly #track: Track;
  readonly #channel: DataChannel;
  readonly #connection: PeerConnection;
  readonly #decoder: ReturnType<typeof frameDecoder>;

  constructor(codec: keyof typeof CODECS) {
    this.#decoder = frameDecoder(codec);
    this.#connection = new datachannel.PeerConnection('peer', { iceServers: [], bindAddress: LOOPBACK });
    const audio = new datachannel.Audio('0', 'RecvOnly');
    if (codec === 'opus') audio.addOpusCodec(CODECS[codec]);
    else audio.addAudioCodec(CODECS[codec], codec);
    this.#track = this.#connection.addTrack(audio);
    this.#track.onMessage((packet) => this.#receive(packet));
    this.#channel = this.#connection.createDataChannel('parley'); // makes the offer
    this.#channel.onMessage((data) => {
      if (typeof data === 'string') this.messages.push(JSON.parse(data) as Message);
    });
  }

  async offer(): Promise<string> {
    await until(() => this.#connection.gatheringState() === 'complete');
    return this.#connection.localDescription()?.sdp ?? '';
  }

  accept(answer: string): void {
    this.#connection.setRemoteDescription(answer, 'answer');
  }

  say(message: object): void {
    this.#channel.sendMessage(JSON.stringify(message));
  }

  /** The first message of this type. */
  async message(type: string): Promise<Message> {
    await until(() => this.messages.some((message) => message.type === type));
    return this.messages.find((message) => message.type === type) ?? { type: '' };
  }

  close(): void {
    this.#track.close();
    this.#connection.close();
  }

  #receive(packet: Buffer): void {
    const [, second = 0] = packet;
    if (second >= RTCP_TYPES[0] && second <= RTCP_TYPES[1]) return;
    this.payloadTypes.add(second & 0x7f);
    this.sequences.push(packet.readUInt16BE(2));
    for (const sample of this.#decoder.decode(packet.subarray(RTP_HEADER_BYTES))) {
      this.peak = Math.max(this.peak, Math.abs(sample));
    }
  }
}

async function call(t: TestContext, peer: Peer, setup: 'active' | 'passive') {
  t.after(() => peer.close());
  const response = await fetch(`${server.url}/v1/realtime/calls`, {
    method: 'POST',
    headers: { 'content-type': 'application/sdp' },
    body: (await peer.offer()).replaceAll('a=setup:actpass', `a=setup:${setup}`),
  });
  const answer = await response.text();
  assert.equal(response.status, 201, answer);
  peer.accept(answer);
  return response.headers.get('location')?.split('/').at(-1) ?? '';
}

for (const codec of ['opus', 'PCMU'] as const) {
  for (const setup of ['active', 'passive'] as const) {
    test(`libdatachannel, ${setup}, hears in ${codec} what it asks for, and hangs up`, async (t) => {
      const peer = new Peer(codec);
      const id = await call(t, peer, setup);
      const ready = await peer.message('ready');
      assert.deepEqual([ready['call'], ready['codec']], [id, codec]);
      peer.say({ type: 'text', token: TEXT, last: true });
      const spoken = await peer.message('utterance.spoken');
      assert.equal(spoken['text'], TEXT);
      await until(() => peer.sequences.length > PACKETS && peer.peak > AUDIBLE);
      assert.deepEqual([...peer.payloadTypes], [CODECS[codec]]);
      const [first = 0] = peer.sequences;
      assert.deepEqual(
        peer.sequences,
        peer.sequences.map((_, n) => (first + n) & 0xffff),
      );
      const opened = server.switchboard.get(id);
      assert.ok(opened !== undefined);
      peer.close();
      assert.equal(await opened.closed, 'peer closed');
    });
  }
}
