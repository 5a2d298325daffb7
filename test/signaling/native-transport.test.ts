import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { test, type TestContext } from 'node:test';
import { RTCPeerConnection } from 'werift';
import {
  descriptor,
  dtlsOf,
  iceOf,
  pathOf,
  socketsOf,
  srtpKeysOf,
} from '../../signaling/werift-internals.js';
import type { IceInternals } from '../../signaling/werift-internals.js';
import { connect, openServer, startedTransports } from './server-under-test.js';
import { WeriftClient } from './werift-client.js';

/** A connected call and the ICE connection of its server side. */
async function connected(t: TestContext) {
  const transports = startedTransports(t);
  const under = await openServer(t);
  const { call, client, id } = await connect(t, under);
  const server = transports.find(({ iceTransport }) => iceTransport.role === 'controlled');
  assert.ok(server !== undefined);
  const ice = server.iceTransport.connection as unknown as IceInternals;
  return { under, call, client, id, ice };
}

async function receiver(t: TestContext) {
  const socket = createSocket('udp4');
  t.after(() => socket.close());
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { socket, port: socket.address().port };
}

const sequenceOf = (packet: Uint8Array) => Buffer.from(packet).readUInt16BE(2);

test('the native stream follows the nominated pair to another address', async (t) => {
  const { under, client, ice } = await connected(t);
  await client.until(() => client.packets.length > 2, 'packets');
  const { socket, port } = await receiver(t);
  const { protocol } = ice.nominated as { protocol: unknown };
  ice.nominated = { protocol, remoteAddr: ['127.0.0.1', port] };
  const [first] = (await once(socket, 'message')) as [Buffer];
  const last = client.packets.at(-1);
  assert.ok(last !== undefined);
  assert.equal(sequenceOf(first), last.sequence + 1);
  assert.ok(under.log.includes('path changed: udp'));
});

test('a path without a socket of ours is carried by JavaScript, counted and named', async (t) => {
  const { under, call, ice } = await connected(t);
  const carried: Uint8Array[] = [];
  const relayed = new Promise<void>((resolve) => {
    const sendData = (data: Uint8Array) => {
      carried.push(data);
      if (carried.length === 5) resolve();
      return Promise.resolve();
    };
    ice.nominated = {
      id: 'relay',
      protocol: { type: 'turn', sendData },
      remoteAddr: ['192.0.2.1', 9],
      packetsSent: 0,
      bytesSent: 0,
    };
  });
  await relayed;
  const sequences = carried.map(sequenceOf);
  assert.deepEqual(
    sequences,
    sequences.map((_, index) => (sequences[0] ?? 0) + index),
  );
  assert.ok(call.stats().carried >= 5);
  assert.ok(under.log.includes('path changed: carried by JavaScript: turn'));
});

test('ICE over TCP works, and its call says who carries the packets', async (t) => {
  const under = await openServer(t, { tcp: true });
  const client = new WeriftClient('opus', { tcp: true });
  t.after(() => client.close());
  const withoutUdp = (sdp: string) => sdp.replaceAll(/^a=candidate:\S+ 1 udp .*\r\n/gm, '');
  const { id, sdp } = await under.server.open({ sdp: withoutUdp(await client.offer()) });
  await client.accept(withoutUdp(sdp));
  await client.until(() => client.packets.length >= 10, 'ten packets');
  assert.equal(under.log[0], 'call opened: carried by JavaScript: tcp');
  const { carried = 0 } = under.switchboard.get(id)?.stats() ?? {};
  assert.ok(carried >= 10);
});

test('a pair whose socket cannot be written ends the call with a reason', async (t) => {
  const { under, call, ice } = await connected(t);
  ice.nominated = { protocol: { type: 'stun', transport: {} }, remoteAddr: ['127.0.0.1', 9] };
  assert.equal(await call.closed, 'transport failed');
  assert.match(
    under.log.join('\n'),
    /TRANSPORT_UNSUPPORTED: werift has no UDP socket in StunProtocol\.transport/,
  );
});

test('the socket is let go before it closes', async (t) => {
  const { under, ice, id } = await connected(t);
  const [socket] = socketsOf(ice);
  assert.ok(socket !== undefined);
  let streams: number | undefined;
  socket.once('close', () => (streams = under.plane.stats().streams));
  await under.server.hangUp(id);
  assert.equal(streams, 0);
});

test('every internal that is missing is named', async (t) => {
  const peer = new RTCPeerConnection({ iceServers: [], bundlePolicy: 'max-bundle' });
  t.after(() => peer.close());
  assert.throws(() => dtlsOf(peer), /has no RTCPeerConnection\.dtlsTransports\[0\]/);
  peer.addTransceiver('audio', { direction: 'sendonly' });
  const dtls = dtlsOf(peer);
  assert.throws(() => srtpKeysOf(dtls), /has no RTCDtlsTransport\.srtp,/);
  const iceTransport = dtls['iceTransport'];
  const ice = iceOf(dtls);
  for (const [broken, message] of [
    [{}, /has no RTCDtlsTransport\.iceTransport,/],
    [{ iceTransport: {} }, /has no RTCIceTransport\.connection,/],
    [{ iceTransport: { connection: {} } }, /has no method Connection\.send,/],
    [
      { iceTransport: { connection: { send: () => 0 } } },
      /keeps no property Connection\.nominated of its own,/,
    ],
  ] as const) {
    assert.throws(() => iceOf(broken as never), message);
  }
  assert.equal(iceOf({ iceTransport } as never), ice);
  assert.throws(() => socketsOf({} as never), /has no Connection\.protocols,/);
  for (const [srtp, message] of [
    [{}, /has no SrtpSession\.config,/],
    [{ config: {} }, /has no SrtpSession\.config\.keys,/],
    [{ config: { keys: {} } }, /has no number SrtpSession\.config\.profile,/],
    [{ config: { keys: {}, profile: 1 } }, /keeps no keys of a known profile/],
  ] as const) {
    assert.throws(() => srtpKeysOf({ srtp } as never), message);
  }
  assert.throws(() => pathOf({}), /has no CandidatePair\.protocol,/);
  assert.throws(() => pathOf({ protocol: { type: 'stun' } }), /has no CandidatePair\.remoteAddr,/);
  const unbound = createSocket('udp4');
  t.after(() => unbound.close());
  assert.throws(() => descriptor(unbound), /TRANSPORT|has no/);
});

test('a descriptor is found without the warning of DEP0112', async (t) => {
  const { socket } = await receiver(t);
  const warnings: Error[] = [];
  const note = (warning: Error) => void warnings.push(warning);
  process.on('warning', note);
  t.after(() => process.off('warning', note));
  assert.ok(descriptor(socket) > 2);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(warnings, []);
});
