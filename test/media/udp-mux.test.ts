// Calls that share one UDP port, on real sockets.
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import type { IceCredentials } from '../../src/media/media-addon.js';
import { MediaPlane } from '../../src/media/media-plane.js';
import { UdpMux } from '../../src/media/udp-mux.js';
import { ATTRIBUTE, BINDING, readStun, writeStun } from './stun-message.js';
import { until } from '../fakes/until.js';
import { LOOPBACK, SecuredLeg } from './secured-leg.js';

function credentials(localUfrag: string): IceCredentials {
  return {
    localUfrag,
    localPwd: `the long password of ${localUfrag}`,
    remoteUfrag: 'them',
    remotePwd: 'theirs',
  };
}

function check({ localUfrag, localPwd }: IceCredentials, nominate = true): Uint8Array {
  return writeStun({
    class: 'request',
    method: BINDING,
    transaction: Uint8Array.from({ length: 12 }, () => 7),
    attributes: [
      { type: ATTRIBUTE.username, value: Buffer.from(`${localUfrag}:them`) },
      { type: ATTRIBUTE.priority, value: Uint8Array.of(0, 0, 1, 0) },
      ...(nominate ? [{ type: ATTRIBUTE.useCandidate, value: new Uint8Array(0) }] : []),
    ],
    key: Buffer.from(localPwd),
  });
}

function openMux(): UdpMux {
  return UdpMux.open({ addresses: [LOOPBACK], port: 0, dscp: 46 });
}

test('two calls of one port get their own keys and sound', async () => {
  const udpMux = openMux();
  const plane = MediaPlane.open({ clock: 'real', seed: 1 });
  const pairs = ['one1', 'two2'].map((name) => {
    const shared = new SecuredLeg({ portMin: 45_400, udpMux, plane });
    return { ice: credentials(name), shared, far: new SecuredLeg({ portMin: 45_400 }) };
  });
  for (const { ice, shared, far } of pairs) {
    assert.equal(shared.socket.port, udpMux.port);
    shared.begin({ setup: 'passive', fingerprints: [far.fingerprint], ice });
    far.socket.learn({ address: LOOPBACK, port: udpMux.port });
    assert.ok(far.socket.sendForeign(check(ice), LOOPBACK, udpMux.port));
    far.begin({ setup: 'active', fingerprints: [shared.fingerprint] });
  }
  await until(() =>
    pairs.every(({ shared, far }) => shared.socket.stats().packets > 20 && far.socket.stats().packets > 20),
  );
  for (const { shared, far } of pairs) {
    assert.deepEqual([shared.failures, far.failures], [[], []]);
    assert.deepEqual(shared.nominated, [`${LOOPBACK} ${far.socket.port} 1`]);
    assert.equal(shared.socket.stats().port, far.socket.port);
    assert.equal(shared.socket.stats().forged, 0);
    assert.ok((shared.handshake?.lastCheckMs ?? 0) > 0);
  }
  const { addresses, fragments, unknown } = udpMux.stats();
  assert.deepEqual({ addresses, fragments, unknown }, { addresses: 2, fragments: 2, unknown: 0 });
  for (const { shared, far } of pairs) {
    shared.close();
    far.close();
  }
  assert.equal(udpMux.stats().fragments, 0);
  plane.close();
  udpMux.close();
  udpMux.close();
});

test('over TCP a far end sends its checks in frames, and its call hears of a lost connection', async () => {
  const udpMux = UdpMux.open({ addresses: [LOOPBACK], port: 0, tcpPort: 0, dscp: 46 });
  const plane = MediaPlane.open({ clock: 'real', seed: 1 });
  const socket = plane.openSocket({ mux: true, udpMux });
  const ice = credentials('one1');
  socket.ice(ice);
  const told: string[] = [];
  socket.onNominated = (address, port) => told.push(`${address} ${port}`);
  socket.onPathLost = () => told.push('lost');
  const far = connect(udpMux.tcpPort ?? 0, LOOPBACK);
  await once(far, 'connect');
  const { localPort } = far;
  const request = check(ice);
  far.write(Buffer.concat([Buffer.of(0, request.length), request]));
  const [answer] = (await once(far, 'data')) as [Buffer];
  assert.equal(readStun(answer.subarray(2))?.class, 'success');
  assert.equal(answer.readUInt16BE(0), answer.length - 2);
  await until(() => told.length > 0);
  assert.equal(udpMux.stats().tcpConnections, 1);
  far.destroy();
  await until(() => told.length > 1);
  assert.deepEqual(told, [`${LOOPBACK} ${localPort}`, 'lost']);
  plane.close();
  udpMux.close();
});

test('the buffers that the system granted are stated', () => {
  const udpMux = openMux();
  const { receiveBufferBytes, sendBufferBytes, kernelDrops } = udpMux.stats();
  assert.ok(receiveBufferBytes > 100_000 && sendBufferBytes > 100_000);
  assert.equal(kernelDrops, 0);
  udpMux.close();
  assert.throws(() => udpMux.stats(), { code: 'WRONG_STATE' });
});

test('a port that another program has is refused by name', async () => {
  const socket = createSocket('udp4').bind(0, LOOPBACK);
  await once(socket, 'listening');
  const { port } = socket.address();
  const open = () => UdpMux.open({ addresses: [LOOPBACK], port, dscp: 0 });
  assert.throws(open, { code: 'CONFIG_INVALID', message: new RegExp(`the UDP port ${port} of ${LOOPBACK}`) });
  assert.throws(() => UdpMux.open({ addresses: ['localhost'], port: 0, dscp: 0 }), {
    code: 'CONFIG_INVALID',
    message: /not localhost/,
  });
  socket.close();
});

test('wrong credentials and a fragment of another call are refused by name', () => {
  const udpMux = openMux();
  const plane = MediaPlane.open({ clock: 'manual', seed: 1, startMs: 0, wallMs: 0 });
  const [one, two] = [plane.openSocket({ mux: true, udpMux }), plane.openSocket({ mux: true, udpMux })];
  one.ice(credentials('one1'));
  assert.throws(() => two.ice(credentials('one1')), { code: 'EXISTS' });
  assert.throws(() => two.ice(credentials('abc')), /localUfrag must have 4 to 256 characters/);
  assert.throws(() => two.ice({ ...credentials('two2'), localPwd: 'short' }), /localPwd must have 22 to 256/);
  assert.throws(() => two.ice(credentials('a:bcd')), /localUfrag must not contain a colon/);
  assert.throws(() => plane.openSocket({ mux: false, udpMux }), { code: 'CONFIG_INVALID' });
  one.ice(undefined);
  two.ice(credentials('one1'));
  plane.close();
  udpMux.close();
  const other = MediaPlane.open({ clock: 'manual', seed: 1, startMs: 0, wallMs: 0 });
  assert.throws(() => other.openSocket({ mux: true, udpMux }), /closed/);
  other.close();
});

test('what the checks of the far end show is reported once', async () => {
  const udpMux = openMux();
  const plane = MediaPlane.open({ clock: 'real', seed: 1 });
  const socket = plane.openSocket({ mux: true, udpMux });
  const far = createSocket('udp4').bind(0, LOOPBACK);
  await once(far, 'listening');
  let answers = 0;
  far.on('message', () => answers++);
  const told: string[] = [];
  socket.onChecked = (address, port) => told.push(`checked ${address} ${port}`);
  socket.onNominated = (address, port, component) => told.push(`nominated ${address} ${port} ${component}`);
  const send = async (ice: IceCredentials, nominate: boolean) => {
    const before = answers;
    far.send(check(ice, nominate), udpMux.port, LOOPBACK);
    await until(() => answers > before);
  };
  const ice = credentials('one1');
  socket.ice(ice);
  assert.equal(socket.lastCheckMs, undefined);
  await send(ice, false);
  await send(ice, false);
  await send(ice, true);
  await send(ice, true);
  const { port } = far.address();
  const expected = [`checked ${LOOPBACK} ${port}`, `nominated ${LOOPBACK} ${port} 1`];
  await until(() => told.length === 2);
  assert.deepEqual(told, expected);
  assert.ok((socket.lastCheckMs ?? Infinity) <= plane.nowMs);
  // A restart from the same address: DTLS may have to begin anew, media stays.
  const fresh = credentials('two2');
  socket.ice(fresh);
  await send(fresh, true);
  await until(() => told.length === 3);
  assert.deepEqual(told.slice(2), expected.slice(0, 1));
  far.close();
  plane.close();
  udpMux.close();
});
