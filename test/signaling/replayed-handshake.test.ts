// Somebody has recorded the DTLS handshake of a call and sends its datagrams again.
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { after, test, type TestContext } from 'node:test';
import { DtlsCertificate } from '../../src/media/dtls-association.js';
import { systemTime } from '../../src/time.js';
import { candidatePort } from '../fakes/impaired-relay.js';
import { LightPeer, type LightPeerOptions } from '../fakes/light-peer.js';
import { until } from '../fakes/until.js';
import { openServer } from './server-under-test.js';

type Under = Awaited<ReturnType<typeof openServer>>;

const FIRST_OF_DTLS = 20; // first byte, RFC 7983 section 7
const LAST_OF_DTLS = 63;
const PACKETS = 10;

const certificate = DtlsCertificate.make();
after(() => certificate.close());

const isDtls = ([first = 0]: Uint8Array) => first >= FIRST_OF_DTLS && first <= LAST_OF_DTLS;

async function open(t: TestContext, { server }: Under, sends: LightPeerOptions['sends'] & object) {
  const peer = await LightPeer.open({ certificate, sends });
  t.after(() => peer.close());
  const { id, sdp } = await server.open({ sdp: peer.offer });
  return { peer, id, sdp, port: candidatePort(sdp) };
}

/** A call that is set up, with what its client sent for its handshake. */
async function recorded(t: TestContext, under: Under) {
  const handshake: Uint8Array[] = [];
  const call = await open(t, under, (data) => {
    if (isDtls(data)) handshake.push(Uint8Array.from(data));
    return true;
  });
  call.peer.accept(call.sdp);
  await call.peer.ready;
  assert.ok(handshake.length > 1);
  return { ...call, handshake };
}

/** An address that has passed no check. */
async function stranger(t: TestContext) {
  const socket = createSocket('udp4');
  t.after(() => socket.close());
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const answers: Buffer[] = [];
  socket.on('message', (data) => answers.push(data));
  return { answers, send: (data: Uint8Array, port: number) => socket.send(data, port, '127.0.0.1') };
}

async function assertHeard(...peers: readonly LightPeer[]): Promise<void> {
  const before = peers.map(({ packets }) => packets);
  await until(() => peers.every(({ packets }, n) => packets > (before[n] ?? 0) + PACKETS));
  for (const { missing, disordered, at } of peers) {
    assert.deepEqual([missing, disordered, at.ended], [0, 0, undefined]);
  }
}

test('a handshake succeeds although each of its datagrams comes three times and from another address', async (t) => {
  const under = await openServer(t, { connectionTime: systemTime });
  const call = await open(t, under, (data) => {
    if (!isDtls(data)) return true;
    other.send(data, call.port);
    call.peer.forge(data);
    call.peer.forge(data);
    return true;
  });
  const other = await stranger(t);
  call.peer.accept(call.sdp);
  await call.peer.ready;
  await assertHeard(call.peer);
  assert.deepEqual([other.answers.length, under.log], [0, ['call opened: udp']]);
});

test('a recorded handshake that comes again, in any order and from anywhere, changes nothing', async (t) => {
  const under = await openServer(t, { connectionTime: systemTime });
  const [one, two] = [await recorded(t, under), await recorded(t, under)];
  const other = await stranger(t);
  const { handshake } = one;
  for (let round = 0; round < 10; round++) {
    for (const data of [...handshake, ...handshake.toReversed()]) {
      one.peer.forge(data);
      two.peer.forge(data);
      other.send(data, one.port);
    }
  }
  await assertHeard(one.peer, two.peer);
  assert.deepEqual([other.answers.length, under.log.length], [0, 2]);
  // The association is the one from before: its client can end it.
  const call = under.switchboard.get(one.id);
  await one.peer.close();
  assert.equal(await call?.closed, 'peer closed');
  await assertHeard(two.peer);
});

test('a recorded handshake sets up no other call, whose offer was copied too', async (t) => {
  const under = await openServer(t);
  const victim = await recorded(t, under);
  let sent = 0;
  const thief = await open(t, under, (data) => {
    if (!isDtls(data)) return true;
    for (const copy of victim.handshake) thief.peer.forge(copy);
    sent++;
    return false;
  });
  thief.peer.accept(thief.sdp);
  await until(() => sent > 0);
  await assertHeard(victim.peer);
  under.time.advance(20_000); // the set-up time
  await under.logged(/^transport failed/);
  assert.equal(thief.peer.packets, 0);
  assert.equal(under.plane.stats().streams, 1);
  await assertHeard(victim.peer);
});
