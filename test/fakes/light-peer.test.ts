// The light peer against the whole server, over HTTP, as the bench uses it.
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { after, test, type TestContext } from 'node:test';
import { PCMU } from '../../src/codecs/codec.js';
import { readConfig } from '../../src/config/config.js';
import { Engines } from '../../src/engines/routing.js';
import { startServer } from '../../src/main.js';
import { DtlsCertificate } from '../../src/media/dtls-association.js';
import { flood } from './flood.js';
import { answerThrough, candidatePort, ImpairedRelay } from './impaired-relay.js';
import { InstantEngine } from './engines.js';
import { LightPeer, type LightPeerOptions } from './light-peer.js';
import { ManualTime } from './manual-time.js';
import { until } from './until.js';

const CONFIG = {
  PORT: '0',
  LOG_LEVEL: 'silent',
  SIP_ENABLED: '0',
  ICE_HOST_ADDRESSES: '127.0.0.1',
  WEBRTC_UDP_PORT: '0',
};
const SENTENCE = 'This is a sentence that lasts for some seconds.';

const engines = await Engines.of([new InstantEngine()]);
const server = await startServer(readConfig(CONFIG), { engines });
const certificate = DtlsCertificate.make();
after(() => (certificate.close(), server.close()));

interface Opening extends Partial<LightPeerOptions> {
  /** Makes the relay that the peer uses. */
  readonly through?: (serverPort: number) => Promise<ImpairedRelay>;
}

async function open(t: TestContext, { through, ...options }: Opening = {}) {
  const peer = await LightPeer.open({ certificate, candidates: through === undefined, ...options });
  t.after(() => peer.close());
  const response = await fetch(`${server.url}/v1/realtime/calls`, {
    method: 'POST',
    headers: { 'content-type': 'application/sdp' },
    body: peer.offer,
  });
  const answer = await response.text();
  assert.equal(response.status, 201, answer);
  const relay = await through?.(candidatePort(answer));
  t.after(() => relay?.close());
  peer.accept(relay === undefined ? answer : answerThrough(answer, relay.port));
  const id = response.headers.get('location')?.split('/').at(-1) ?? '';
  t.after(() => fetch(`${server.url}/v1/realtime/calls/${id}`, { method: 'DELETE' }));
  const call = async () => {
    await until(() => server.switchboard.get(id) !== undefined);
    const opened = server.switchboard.get(id);
    assert.ok(opened !== undefined);
    return opened;
  };
  return { peer, answer, id, call, relay };
}

test('a peer is ready with the first packet, and audible with the first that is not silence', async (t) => {
  const { peer, call } = await open(t);
  await peer.ready;
  assert.equal(peer.at.audible, undefined);
  (await call()).speak(SENTENCE);
  await peer.audible;
  const { nominated = NaN, keys = NaN, ready = NaN, audible = NaN } = peer.at;
  assert.ok(nominated <= keys && keys <= ready && ready < audible, JSON.stringify(peer.at));
  await until(() => peer.packets > 20);
  assert.equal(peer.missing, 0);
});

test('a peer takes G.711, and a call without a data channel section', async (t) => {
  const { peer, call } = await open(t, { codec: PCMU, dataChannel: false });
  const { codec } = await call();
  assert.equal(codec.name, 'PCMU');
  (await call()).speak(SENTENCE);
  await peer.audible;
});

test('consent checks go on while the call stands', async (t) => {
  const time = new ManualTime(0);
  const { peer } = await open(t, { time });
  await peer.ready;
  for (let check = 2; check <= 4; check++) {
    time.advance(2500);
    await until(() => peer.consents === check);
  }
});

test('a peer ends its call with close_notify', async (t) => {
  const { peer, call, id } = await open(t);
  await peer.ready;
  await call();
  await peer.close();
  await until(() => server.switchboard.get(id) === undefined);
});

test('a peer whose checks are lost fails, and says how many there were', async (t) => {
  const time = new ManualTime(0);
  const { peer } = await open(t, {
    time,
    through: (serverPort) => ImpairedRelay.open({ serverPort, seed: 4, up: { lossShare: 1 } }),
  });
  time.advance(20_000);
  await assert.rejects(peer.ready, /the server answered none of 8 checks/);
});

test('a peer is served through a relay that loses a twentieth of the datagrams', async (t) => {
  const bad = { lossShare: 0.05, jitterMs: 30 };
  const { peer, call, relay } = await open(t, {
    through: (serverPort) => ImpairedRelay.open({ serverPort, seed: 4, up: bad, down: bad }),
  });
  assert.ok(relay !== undefined);
  (await call()).speak(SENTENCE);
  await peer.audible;
  await until(() => relay.counts.down.received > 100 && relay.waiting === 0);
  assert.ok(relay.counts.down.lost > 0);
  assert.ok(peer.missing > 0);
});

test('a call stands through a flood of its port', async (t) => {
  const { peer, answer, id, call } = await open(t);
  await peer.ready;
  (await call()).speak(SENTENCE.repeat(3));
  await peer.audible;
  const before = peer.packets;
  const target = peer.floodTarget ?? {};
  await flood({ port: candidatePort(answer), seed: 6, perSecond: 5000, seconds: 0.5, target });
  await until(() => peer.packets > before + 25);
  assert.notEqual(server.switchboard.get(id), undefined);
  assert.equal(peer.at.ended, undefined);
});

test('datagrams that a peer is too late to read are counted', async (t) => {
  const peer = await LightPeer.open({ certificate });
  t.after(() => peer.close());
  const sender = createSocket('udp4');
  t.after(() => sender.close());
  const port = candidatePort(peer.offer);
  assert.equal(peer.unread, 0);
  const datagram = Buffer.alloc(8192);
  await Promise.all(
    Array.from(
      { length: 1000 }, // more than its buffer holds; the peer reads when all have left
      () => new Promise<void>((resolve) => sender.send(datagram, port, '127.0.0.1', () => resolve())),
    ),
  );
  assert.ok(peer.unread > 0);
});
