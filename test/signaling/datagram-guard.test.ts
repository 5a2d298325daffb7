import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { test, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RTCDtlsTransport } from 'werift';
import { isSoundSctp } from '../../signaling/datagram-guard.js';
import { dtlsOf, iceOf, members, type Members, method, socketsOf } from '../../signaling/werift-internals.js';
import { ATTRIBUTE, BINDING, writeStun } from '../../src/media/stun-message.js';
import { FORGED, record } from '../media/dtls-peers.js';
import { connect, openServer, startedTransports } from './server-under-test.js';
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

const serverOf = (transports: readonly RTCDtlsTransport[]) =>
  transports.find(({ iceTransport }) => iceTransport.role === 'controlled');

const ownSockets = ({ connection }: WeriftClient) => socketsOf(iceOf(dtlsOf(connection)));

for (const setup of ['active', 'passive'] as const) {
  test(`no forged DTLS record ends a call or its set-up, when the browser is ${setup}`, async (t) => {
    const transports = startedTransports(t);
    const under = await openServer(t);
    const client = new WeriftClient();
    t.after(() => client.close());
    const offer = (await client.offer()).replaceAll('a=setup:actpass', `a=setup:${setup}`);
    const { id, sdp } = await under.server.open({ sdp: offer });
    const port = portOf(sdp);
    const sockets = [await stranger(t, '127.0.0.1'), await stranger(t, '127.0.0.9'), ...ownSockets(client)];
    const forge = () =>
      storm((datagram) => {
        for (const socket of sockets) socket.send(datagram, port, '127.0.0.1');
      });
    await forge(); // before any check
    await client.accept(sdp);
    while (serverOf(transports) === undefined) await nextTurn();
    assert.equal(serverOf(transports)?.state, 'connecting');
    await forge(); // after the check, before the handshake
    await client.until(() => client.messages.find(({ type }) => type === 'ready'), 'ready message');
    await forge(); // when connected
    await isAlive({ client });
    assert.deepEqual(under.log, ['call opened: udp']);
    assert.equal(under.switchboard.get(id)?.id, id);
  });
}

test('a request without the integrity of the call is not answered and changes nothing', async (t) => {
  const transports = startedTransports(t);
  const under = await openServer(t);
  const { client, sdp } = await connect(t, under);
  const server = serverOf(transports);
  assert.ok(server !== undefined);
  const ice = server.iceTransport.connection as unknown as Members & { checkList: unknown[] };
  const before = ice.checkList.length;
  const [socket, other] = [await stranger(t, '127.0.0.1'), await stranger(t, '127.0.0.1')];
  const answers: string[] = [];
  for (const [name, from] of [
    ['forged', socket],
    ['sealed', other],
  ] as const) {
    from.on('message', () => answers.push(name));
  }
  const [local, remote] = [String(ice['localUsername']), String(ice['remoteUsername'])];
  const attributes = (ufrag: string) => [
    { type: ATTRIBUTE.username, value: Buffer.from(`${ufrag}:${remote}`) },
    { type: ATTRIBUTE.priority, value: Buffer.from([0, 0, 0, 1]) },
    { type: ATTRIBUTE.iceControlled, value: Buffer.alloc(8) },
  ];
  const check = (ufrag: string, key: string | undefined, kind: 'request' | 'indication' = 'request') =>
    writeStun({
      class: kind,
      method: BINDING,
      transaction: Buffer.alloc(12, 7),
      attributes: attributes(ufrag),
      key: key === undefined ? undefined : Buffer.from(key),
    });
  const password = String(ice['localPassword']);
  for (const forged of [
    check(local, undefined),
    check(local, 'x'.repeat(22)),
    check('none', password),
    check(local, password, 'indication'),
    Buffer.alloc(20),
  ]) {
    socket.send(forged, portOf(sdp), '127.0.0.1');
  }
  await isAlive({ client });
  assert.deepEqual([ice.checkList.length, ice['iceControlling'], answers], [before, false, []]);
  const sealed = { ...attributes(local)[0] } as never;
  other.send(
    writeStun({
      class: 'request',
      method: BINDING,
      transaction: Buffer.alloc(12, 8),
      attributes: [sealed, attributes(local)[1] as never],
      key: Buffer.from(password),
    }),
    portOf(sdp),
    '127.0.0.1',
  );
  await once(other, 'message');
  assert.deepEqual([ice.checkList.length, answers[0]], [before + 1, 'sealed']);
});

test('an alert that the browser encrypted ends the call at once', async (t) => {
  const under = await openServer(t);
  const { client, call, sdp } = await connect(t, under);
  const dtls = members(dtlsOf(client.connection)['dtls'], 'RTCDtlsTransport.dtls');
  const encrypt = method(members(dtls['cipher'], 'cipher'), 'encryptPacket', 'cipher');
  const [socket] = ownSockets(client);
  assert.ok(socket !== undefined);
  const say = (alert: string, sequenceNumber: number) => {
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
    encrypt(packet);
    const bytes = record(21, 1, packet.fragment.toString('hex'));
    bytes.writeUIntBE(sequenceNumber, 5, 6);
    socket.send(bytes, portOf(sdp), '127.0.0.1');
  };
  say('0164', 5000); // no_renegotiation, a warning
  await isAlive({ client });
  say('0100', 5001);
  assert.equal(await call.closed, 'peer closed');
});

/** A packet of these chunks behind a header of twelve bytes. */
function packet(...chunks: string[]): Buffer {
  return Buffer.from(`138813881234567800000000${chunks.join('')}`, 'hex');
}

const DATA = '0003001500000001000100000000003361626364' + '65000000';
const HEARTBEAT = '04000014' + '0001000c0102030405060708' + 'c0000004';

test('what SCTP stacks send is sound', () => {
  for (const chunks of [
    [],
    [DATA],
    [DATA, HEARTBEAT],
    [DATA.slice(0, -6)], // the padding of the last chunk left out
    ['01000020000000010001000000ff00ff00000001' + '80080006c0820000' + 'c0000004'],
    ['03000010000000010010000000000000'],
    ['0300001c000000010010000000020001' + '00020003' + '00050005' + '00000001'],
    ['82000010' + '0010000c0000000100000001'],
    ['0b000004'],
  ]) {
    assert.equal(isSoundSctp(packet(...chunks)), true, chunks.join(' '));
  }
});

test('lengths that lead nowhere or out of the packet are refused', () => {
  for (const chunks of [
    ['00030000'], // would be read for ever
    ['00030003'],
    [DATA, '00000000'],
    ['0003002000000001'],
    ['04000008' + '00010000'], // a parameter without length
    ['04000008' + '00010005'],
    ['01000018000000010001000000ff00ff00000001' + '80080000'],
    ['82000008' + '000d0000'],
    ['06000008' + '000c0002'],
    ['0b0000'],
    ['ff'],
  ]) {
    assert.equal(isSoundSctp(packet(...chunks)), false, chunks.join(' '));
  }
  assert.equal(isSoundSctp(packet().subarray(0, 11)), false);
});

test('acknowledgements of what cannot have been sent are refused', () => {
  const head = '0000000100100000';
  for (const chunks of [
    ['0300000c0000000100100000'], // no counts
    [`03000010${head}00010000`], // one gap block stated, none there
    [`03000010${head}00000001`],
    [`03000014${head}00010000` + '00000001'], // gaps begin at 1
    [`03000014${head}00010000` + '00020001'],
    [`03000014${head}00010000` + '0002ffff'],
    [`03000018${head}00020000` + '00020004' + '00040005'],
  ]) {
    assert.equal(isSoundSctp(packet(...chunks)), false, chunks.join(' '));
  }
});
