import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { test, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ATTRIBUTE, BINDING, readStun, writeStun } from '../media/stun-message.js';
import { FORGED, record } from '../media/dtls-peers.js';
import { systemTime } from '../../src/time.js';
import { connect, openServer } from './server-under-test.js';
import { WeriftClient } from './werift-client.js';

async function storm(send: (datagram: Buffer) => void): Promise<void> {
  for (const [index, datagram] of FORGED.entries()) {
    send(datagram);
    if (index % 32 === 0) await nextTurn();
  }
}

async function stranger(t: TestContext, address: string): Promise<Socket> {
  const socket = createSocket('udp4');
  t.after(() => socket.close());
  socket.bind(0, address);
  await once(socket, 'listening');
  return socket;
}

const portOf = (sdp: string) => Number(/^a=candidate:\S+ 1 udp \d+ \S+ (\d+)/m.exec(sdp)?.[1]);

async function isAlive({ client }: { client: WeriftClient }): Promise<void> {
  client.send({ type: 'clear' });
  await client.until(() => client.messages.find(({ type }) => type === 'cleared'), 'cleared message');
}

for (const setup of ['active', 'passive'] as const) {
  test(`no forged DTLS record ends a call or its set-up, when the browser is ${setup}`, async (t) => {
    const under = await openServer(t, { connectionTime: systemTime });
    const client = new WeriftClient();
    t.after(() => client.close());
    const offer = (await client.offer()).replaceAll('a=setup:actpass', `a=setup:${setup}`);
    const { id, sdp } = await under.server.open({ sdp: offer });
    const port = portOf(sdp);
    const sockets = [await stranger(t, '127.0.0.1'), await stranger(t, '127.0.0.9'), ...client.sockets];
    const forge = () =>
      storm((datagram) => {
        for (const socket of sockets) socket.send(datagram, port, '127.0.0.1');
      });
    await forge(); // before any check
    await client.accept(sdp);
    while (client.connection.dtlsTransports[0]?.state === 'new') await nextTurn();
    assert.equal(client.connection.dtlsTransports[0]?.state, 'connecting');
    await forge(); // after the check, before the handshake
    await client.until(() => client.messages.find(({ type }) => type === 'ready'), 'ready message');
    await forge(); // when connected
    await isAlive({ client });
    assert.deepEqual(under.log, ['call opened: udp']);
    assert.equal(under.switchboard.get(id)?.id, id);
  });
}

test('a request without the integrity of the call is refused and changes nothing', async (t) => {
  const under = await openServer(t);
  const { client, sdp } = await connect(t, under);
  const socket = await stranger(t, '127.0.0.1');
  const answers: number[] = [];
  socket.on('message', (data) => answers.push(readStun(data)?.class === 'error' ? 1 : 0));
  const [ufrag = '', pwd = ''] = ['ufrag', 'pwd'].map(
    (name) => new RegExp(`^a=ice-${name}:(.*)\r$`, 'm').exec(sdp)?.[1],
  );
  const attributes = (local: string) => [
    { type: ATTRIBUTE.username, value: Buffer.from(`${local}:browser`) },
    { type: ATTRIBUTE.priority, value: Buffer.from([0x7f, 0xff, 0xff, 0xff]) },
    { type: ATTRIBUTE.useCandidate, value: Buffer.alloc(0) },
    { type: ATTRIBUTE.iceControlling, value: Buffer.alloc(8) },
  ];
  const check = (local: string, key: string | undefined, kind: 'request' | 'indication' = 'request') =>
    writeStun({
      class: kind,
      method: BINDING,
      transaction: Buffer.alloc(12, 7),
      attributes: attributes(local),
      key: key === undefined ? undefined : Buffer.from(key),
    });
  const before = client.packets.length;
  for (const forged of [
    check(ufrag, undefined),
    check(ufrag, 'x'.repeat(22)),
    check('none', pwd),
    check(ufrag, pwd, 'indication'),
    Buffer.alloc(20),
  ]) {
    socket.send(forged, portOf(sdp), '127.0.0.1');
  }
  await isAlive({ client });
  await client.until(() => client.packets.length > before + 5, 'packets at the old address');
  assert.deepEqual(
    answers.filter((answer) => answer === 0),
    [],
  );
  // The same request with the password of the call moves its sound to the sender.
  socket.send(check(ufrag, pwd), portOf(sdp), '127.0.0.1');
  await new Promise<void>((resolve) => {
    socket.on('message', (data) => {
      if ((data[0] ?? 0) >> 6 === 2) resolve(); // RTP
    });
  });
});

test('an alert that the browser encrypted ends the call at once', async (t) => {
  const under = await openServer(t);
  const { client, call, sdp } = await connect(t, under);
  const dtls = client.connection.dtlsTransports[0]?.dtls as unknown as {
    cipher: { encryptPacket(packet: object): void };
    dtls: { recordSequenceNumber: number };
  };
  const [socket] = client.sockets;
  assert.ok(socket !== undefined);
  const say = (alert: string) => {
    const sequenceNumber = ++dtls.dtls.recordSequenceNumber;
    const packet = {
      recordLayerHeader: {
        contentType: 21,
        protocolVersion: { major: 254, minor: 253 },
        epoch: 1,
        sequenceNumber,
        contentLen: 2,
      },
      fragment: Buffer.from(alert, 'hex'),
    };
    dtls.cipher.encryptPacket(packet);
    const bytes = record(21, 1, packet.fragment.toString('hex'));
    bytes.writeUIntBE(sequenceNumber, 5, 6);
    socket.send(bytes, portOf(sdp), '127.0.0.1');
  };
  say('0100'); // close_notify
  assert.equal(await call.closed, 'peer closed');
});
