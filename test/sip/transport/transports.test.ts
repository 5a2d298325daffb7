import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, createServer, Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { parseVia } from '../../../sip/message/via.js';
import type { Flow } from '../../../sip/transport/flow.js';
import { StreamFlow } from '../../../sip/transport/stream-flow.js';
import { TRANSPORT_LIMITS, TransportCounts } from '../../../sip/transport/transport-limits.js';
import { connectionPlace, datagramPlace } from '../../../sip/transport/transports.js';
import { SocketProbe } from '../../../sip/transport/udp-listener.js';
import { freePorts } from '../../fakes/free-port.js';
import { ManualTime } from '../../fakes/manual-time.js';
import { rejectionsOf } from '../../fakes/rejections.js';
import { until } from '../../fakes/until.js';
import { answer, openTransports, options, sent } from './transports-under-test.js';

const UDP = { transport: 'udp', port: 0 } as const;
const TCP = { transport: 'tcp', port: 0 } as const;
const PING = '\r\n\r\n';

function connectTo(t: TestContext, { address, port }: { address: string; port: number }): Socket {
  const socket = connect(port, address).on('error', () => undefined);
  t.after(() => socket.destroy());
  return socket;
}

for (const [family, host] of [
  ['IPv4', '127.0.0.1'],
  ['IPv6', '::1'],
] as const) {
  for (const transport of ['udp', 'tcp'] as const) {
    test(`a request goes out and its response comes back over ${transport}, ${family}`, async (t) => {
      const server = await openTransports(t, [{ transport, host, port: 0 }]);
      const client = await openTransports(t, [{ transport, host, port: 0 }]);
      const { flow } = await sent(
        client.transports.send(server.target(transport), options(client.transports)),
      );
      const request = await server.nth(0);
      assert.ok(request.parsed.kind === 'request');
      assert.equal(request.parsed.request.via.sentBy.port, client.transports.local(transport)?.port);
      assert.equal(await answer(server.transports, request), true);
      const response = await client.nth(0);
      assert.equal(response.parsed.kind === 'response' && response.parsed.response.status, 200);
      assert.deepEqual(response.flow.remote, flow.remote);
    });
  }
}

test('over UDP a response finds its way through NAT by rport, from the port that was asked', async (t) => {
  const server = await openTransports(t, [UDP]);
  const stranger = createSocket('udp4');
  t.after(() => stranger.close());
  const via = 'SIP/2.0/UDP 192.0.2.77:9;rport;branch=z9hG4bKnat';
  const request = `OPTIONS sip:b SIP/2.0\r\nVia: ${via}\r\nFrom: <sip:a@b>;tag=1\r\nTo: <sip:b@b>\r\nCall-ID: 1\r\nCSeq: 1 OPTIONS\r\n\r\n`;
  const { port } = server.target('udp');
  stranger.send(request, port, '127.0.0.1');
  await answer(server.transports, await server.nth(0));
  const [bytes, info] = (await once(stranger, 'message')) as [Buffer, { port: number }];
  assert.equal(info.port, port);
  const own = stranger.address().port;
  assert.match(
    bytes.toString(),
    new RegExp(`192.0.2.77:9;rport=${own};branch=z9hG4bKnat;received=127.0.0.1`),
  );
});

test('a connection is used again, both ways, and one is opened where there is none', async (t) => {
  const server = await openTransports(t, [TCP]);
  const client = await openTransports(t, [TCP]);
  const target = server.target('tcp');
  const together = await Promise.all(
    [1, 2, 3].map(() => sent(client.transports.send(target, options(client.transports)))),
  );
  assert.equal(new Set(together.map(({ flow }) => flow)).size, 1);
  const { flow } = await sent(client.transports.send(target, options(client.transports)));
  assert.equal(flow, together[0]?.flow);
  await server.nth(3);
  assert.equal(server.transports.connections, 1);
  flow.close();
  await until(() => server.transports.connections === 0);
  const again = await sent(client.transports.send(target, options(client.transports)));
  assert.notEqual(again.flow, flow);
});

test('a response whose connection is gone goes over a new one to sent-by', async (t) => {
  const server = await openTransports(t, [TCP]);
  const client = await openTransports(t, [TCP]);
  const { flow } = await sent(client.transports.send(server.target('tcp'), options(client.transports)));
  const request = await server.nth(0);
  flow.close();
  await until(() => request.flow.closed);
  assert.equal(await answer(server.transports, request), true);
  const response = await client.nth(0);
  assert.equal(response.parsed.kind, 'response');
});

for (const [aliases, connections] of [
  ['all', 1],
  ['off', 2],
  ['authenticated', 2],
] as const) {
  test(`with aliases=${aliases} a request back ${connections === 1 ? 'takes the connection there is' : 'opens one'}`, async (t) => {
    const server = await openTransports(t, [TCP], { aliases });
    const client = await openTransports(t, [TCP], { aliases: 'all' });
    await sent(client.transports.send(server.target('tcp'), options(client.transports)));
    const { parsed, flow } = await server.nth(0);
    assert.ok(parsed.kind === 'request');
    assert.equal(parsed.request.via.params.has('alias'), true);
    server.transports.alias(flow, parsed.request.via);
    await sent(server.transports.send(client.target('tcp'), options(server.transports)));
    await client.nth(0);
    assert.equal(client.transports.connections, connections);
  });
}

test('a request that is too large for UDP goes over TCP, with the Via of TCP', async (t) => {
  const port = await freePorts();
  const server = await openTransports(t, [{ transport: 'udp', port }]);
  const tcp = await openTransports(t, [{ transport: 'tcp', port }]);
  const client = await openTransports(t, [UDP, TCP]);
  const { flow } = await sent(
    client.transports.send(server.target('udp'), options(client.transports, 'x'.repeat(1300))),
  );
  assert.equal(flow.transport, 'tcp');
  const { parsed } = await tcp.nth(0);
  assert.equal(parsed.kind === 'request' && parsed.request.via.transport, 'TCP');
  assert.equal(parsed.kind === 'request' && parsed.request.body.length, 1300);
  const small = await sent(client.transports.send(server.target('udp'), options(client.transports)));
  assert.equal(small.flow.transport, 'udp');
});

test('a request that is too large for UDP stays on it where its target is configured so', async (t) => {
  const port = await freePorts();
  const server = await openTransports(t, [{ transport: 'udp', port }]);
  const tcp = await openTransports(t, [{ transport: 'tcp', port }]);
  const client = await openTransports(t, [UDP, TCP]);
  const target = { ...server.target('udp'), udpOnly: true };
  const { flow } = await sent(client.transports.send(target, options(client.transports, 'x'.repeat(1300))));
  assert.deepEqual([flow.transport, tcp.transports.connections], ['udp', 0]);
  const { parsed } = await server.nth(0);
  assert.equal(parsed.kind === 'request' && parsed.request.via.transport, 'UDP');
});

test('a request that is too large for UDP goes over UDP where nobody takes TCP, and TCP is not tried again', async (t) => {
  const server = await openTransports(t, [UDP]);
  const client = await openTransports(t, [UDP, TCP]);
  for (let index = 0; index < 2; index++) {
    const { flow, bytes } = await sent(
      client.transports.send(server.target('udp'), options(client.transports, 'x'.repeat(1300))),
    );
    assert.equal(flow.transport, 'udp');
    assert.match(bytes.toString(), /^OPTIONS.*\r\nVia: SIP\/2.0\/UDP /);
    const { parsed } = await server.nth(index);
    assert.equal(parsed.kind === 'request' && parsed.request.body.length, 1300);
  }
});

test('what cannot be reached is named', async (t) => {
  const client = await openTransports(t, [UDP, TCP], { limits: { connections: 1 } });
  const port = await freePorts();
  const bytes = options(client.transports);
  const send = (transport: 'tcp' | 'udp' | 'ws', address: string, to = port) =>
    client.transports.send({ transport, address, port: to }, bytes);
  assert.equal(await send('tcp', '127.0.0.1'), 'refused');
  assert.equal(await send('udp', '::1'), 'no-listener');
  assert.equal(await send('udp', '127.0.0.1', 0), 'unreachable');
  assert.equal(await send('ws', '127.0.0.1'), 'closed');
  const server = await openTransports(t, [TCP]);
  await sent(client.transports.send(server.target('tcp'), bytes));
  assert.equal(await send('tcp', '127.0.0.1'), 'too-many');
});

test('a connection that does not come to stand in time is given up', async (t) => {
  const time = new ManualTime();
  const client = await openTransports(t, [TCP], { time });
  const sending = client.transports.send(
    { transport: 'tls', address: '127.0.0.1', port: (await deaf(t)).port },
    options(client.transports),
  );
  await until(() => time.waiting > 0);
  time.advance(4000);
  assert.equal(await sending, 'timeout');
  assert.equal(client.transports.connections, 0);
});

/** Accepts connections and says nothing: a TLS handshake with it does not end. */
async function deaf(t: TestContext): Promise<{ port: number }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => sockets.add(socket.on('error', () => undefined))).listen(
    0,
    '127.0.0.1',
  );
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return server.address() as { port: number };
}

test('two empty lines are answered with one, on connections that came in', async (t) => {
  const server = await openTransports(t, [TCP]);
  const socket = connectTo(t, server.target('tcp'));
  socket.write(PING);
  const [pong] = (await once(socket, 'data')) as [Buffer];
  assert.equal(pong.toString(), '\r\n');
});

test('a message that does not end, a peer that says nothing and one that went silent are cut, each under its name', async (t) => {
  const time = new ManualTime();
  const limits = { firstMessageMs: 1000, messageMs: 2000, idleMs: 60_000 };
  const server = await openTransports(t, [TCP], { time, limits });
  const silent = connectTo(t, server.target('tcp'));
  await until(() => server.transports.connections === 1 && time.waiting === 1);
  time.advance(1000);
  await once(silent, 'close');
  const slow = connectTo(t, server.target('tcp'));
  slow.write(PING);
  await once(slow, 'data');
  slow.write('OPTIONS sip:');
  await until(() => {
    time.advance(500);
    return slow.destroyed || slow.readableEnded;
  });
  const idle = connectTo(t, server.target('tcp'));
  idle.write(PING);
  await once(idle, 'data');
  await until(() => {
    time.advance(30_000);
    return idle.destroyed || idle.readableEnded;
  });
  const { counts } = server.transports;
  assert.deepEqual(
    [counts.of('first-message-missing'), counts.of('message-slow'), counts.of('idle')],
    [1, 1, 1],
  );
  assert.equal(time.waiting, 0);
});

test('a message that cannot be framed is handed up to be answered, and its connection closes', async (t) => {
  const server = await openTransports(t, [TCP]);
  const socket = connectTo(t, server.target('tcp'));
  socket.write(
    'OPTIONS sip:b SIP/2.0\r\nVia: SIP/2.0/TCP a;branch=z9hG4bK1\r\nCSeq: 1 OPTIONS\r\nContent-Length: -1\r\n\r\n',
  );
  const { parsed } = await server.nth(0);
  assert.equal(parsed.kind === 'refused' && parsed.refusal.status, 400);
  await once(socket.resume(), 'close');
  assert.equal(server.transports.counts.of('unframed'), 1);
});

test('heads of 64 kB and more cut the connection', async (t) => {
  const server = await openTransports(t, [TCP]);
  const socket = connectTo(t, server.target('tcp'));
  socket.write(`OPTIONS sip:b SIP/2.0\r\nSubject: ${'x'.repeat(70_000)}`);
  await once(socket.resume(), 'close');
  assert.equal(server.transports.counts.of('head-too-large'), 1);
  assert.equal(server.received.length, 0);
});

test('connections above the limits are turned away and counted, and make room when they go', async (t) => {
  const server = await openTransports(t, [TCP], { limits: { connectionsPerAddress: 2 } });
  const first = connectTo(t, server.target('tcp'));
  connectTo(t, server.target('tcp'));
  await until(() => server.transports.connections === 2);
  await once(connectTo(t, server.target('tcp')).resume(), 'close');
  assert.equal(server.transports.counts.of('connections-refused'), 1);
  first.destroy();
  await until(() => server.transports.connections === 1);
  const next = connectTo(t, server.target('tcp'));
  next.write(PING);
  await once(next, 'data');
});

test('a peer that does not read is cut off', async (t) => {
  const server = await openTransports(t, [TCP], { limits: { unsentBytes: 100_000 } });
  const socket = connectTo(t, server.target('tcp'));
  socket.pause();
  socket.write(
    options(server.transports)({
      transport: 'tcp',
      local: { address: '127.0.0.1', port: 1 },
      remote: { address: '127.0.0.1', port: 1 },
    } as never),
  );
  const { flow } = await server.nth(0);
  const block = Buffer.alloc(100_000);
  await until(() => flow.send(block) === false);
  assert.equal(server.transports.counts.of('reader-slow'), 1);
  assert.equal(flow.closed, true);
});

test('a connection that is abandoned is gone at once, with what its peer does not read', async (t) => {
  const { port } = await deaf(t);
  const client = await openTransports(t, [TCP], { limits: { unsentBytes: 50_000_000 } });
  const target = { transport: 'tcp', address: '127.0.0.1', port } as const;
  const { flow } = await sent(client.transports.send(target, options(client.transports)));
  void flow.send(Buffer.alloc(20_000_000));
  flow.abandon();
  flow.abandon();
  assert.equal(flow.closed, true);
  await until(() => client.transports.connections === 0);
  assert.equal(client.transports.counts.of('unanswered'), 1);
});

test('the system asks peers that we connected to whether they are there, and not those that came', async (t) => {
  const asked: [boolean | undefined, number | undefined][] = [];
  t.mock.method(Socket.prototype, 'setKeepAlive', function (this: Socket, enable?: boolean, ms?: number) {
    asked.push([enable, ms]);
    return this;
  });
  const server = await openTransports(t, [TCP]);
  const client = await openTransports(t, [TCP]);
  await sent(client.transports.send(server.target('tcp'), options(client.transports)));
  await server.nth(0);
  assert.deepEqual(asked, [[true, 30_000]]);
});

for (const transport of ['udp', 'tcp'] as const) {
  test(`of several addresses of ours a request leaves from the one that it is to, over ${transport}`, async (t) => {
    const server = await openTransports(t, [{ transport, port: 0 }]);
    const own = ['127.0.0.1', '127.0.0.2', '::1'].map((host) => ({ transport, host, port: 0 }));
    const client = await openTransports(t, own);
    for (const [index, [from, expected]] of [
      ['127.0.0.2', '127.0.0.2'],
      ['::1', '127.0.0.1'],
      ['192.0.2.1', '127.0.0.1'],
      [undefined, '127.0.0.1'],
    ].entries()) {
      const { flow } = await sent(
        client.transports.send(server.target(transport, { from }), options(client.transports)),
      );
      const { parsed, flow: came } = await server.nth(index);
      assert.equal(came.remote.address, expected);
      assert.equal(parsed.kind === 'request' && parsed.request.via.sentBy.host, expected);
      flow.close();
      await until(() => client.transports.connections === 0);
    }
  });
}

test('what a peer is told is the address of ours that its flow is at, else one of its family', async (t) => {
  const hosts = ['127.0.0.1', '127.0.0.2', '::1'];
  const { transports } = await openTransports(
    t,
    hosts.map((host) => ({ ...UDP, host })),
  );
  const seen = (local: string, remote: string) =>
    transports.advertised('udp', {
      transport: 'tcp',
      local: { address: local, port: 1 },
      remote: { address: remote, port: 1 },
    } as Flow).address;
  assert.equal(transports.advertised('udp').address, '127.0.0.1');
  assert.equal(seen('127.0.0.2', '127.0.0.9'), '127.0.0.2');
  assert.equal(seen('::2', '2001:db8::1'), '::1');
  assert.equal(seen('192.0.2.1', '192.0.2.9'), '127.0.0.1');
});

test('strangers hear nothing, on any transport', async (t) => {
  const server = await openTransports(t, [UDP, TCP], { admits: () => false });
  const socket = connectTo(t, server.target('tcp'));
  await once(socket.resume(), 'close');
  const client = await openTransports(t, [UDP]);
  await sent(client.transports.send(server.target('udp'), options(client.transports)));
  await until(() => server.transports.counts.of('strangers') === 2);
  assert.equal(server.received.length, 0);
});

test('listening on every address needs an address to tell peers, and nobody listens to the world by accident', async (t) => {
  await assert.rejects(openTransports(t, [{ ...UDP, host: '0.0.0.0' }]), {
    code: 'CONFIG_INVALID',
    field: 'PUBLIC_ADDRESS',
  });
  const server = await openTransports(t, [
    { ...UDP, host: '0.0.0.0', advertised: { host: '192.0.2.1', port: 5099 } },
    TCP,
  ]);
  assert.equal(server.transports.local('tcp')?.address, '127.0.0.1');
  const client = await openTransports(t, [UDP]);
  const { port } = client.target('udp');
  await sent(
    server.transports.send({ transport: 'udp', address: '127.0.0.1', port }, options(server.transports)),
  );
  const { parsed } = await client.nth(0);
  assert.ok(parsed.kind === 'request');
  assert.deepEqual(parsed.request.via.sentBy, { host: '192.0.2.1', port: 5099 });
});

test('closing leaves no connection, no timer and no port', async (t) => {
  const time = new ManualTime();
  const listeners = [UDP, { transport: 'tcp', port: await freePorts() }] as const;
  const server = await openTransports(t, listeners, { time });
  const target = server.target('tcp');
  const client = await openTransports(t, [TCP]);
  await sent(client.transports.send(target, options(client.transports)));
  await server.nth(0);
  await server.transports.close();
  await server.transports.close();
  assert.equal(server.transports.connections, 0);
  assert.equal(time.waiting, 0);
  const again = await openTransports(t, listeners);
  assert.equal(again.transports.local('tcp')?.port, target.port);
});

test('a port that is taken is told, and what was opened before is closed', async (t) => {
  const taken = await openTransports(t, [TCP]);
  const { port } = taken.target('tcp');
  await assert.rejects(openTransports(t, [UDP, { transport: 'tcp', port }]), { code: 'CONFIG_INVALID' });
});

for (const listener of [UDP, TCP]) {
  test(`a message that meets a defect is told of, and the next one over ${listener.transport} is read`, async (t) => {
    const heard: string[] = [];
    const defect = new RangeError('a defect');
    const server = await openTransports(t, [listener], {
      received: (bytes) => {
        if (heard.push(bytes.toString()) === 1) throw defect;
      },
    });
    const client = await openTransports(t, [listener]);
    const seen = await rejectionsOf(async () => {
      for (const n of [1, 2]) {
        await sent(client.transports.send(server.target(listener.transport), options(client.transports)));
        await until(() => heard.length === n);
      }
    });
    assert.deepEqual(seen, [defect]);
  });
}

const SOURCE = { address: '203.0.113.9', port: 40_000 };

function stamped(text: string) {
  const via = parseVia(text);
  assert.ok(via !== undefined);
  return via.stamped(SOURCE);
}

test('over UDP a response goes to where its request came from, at rport or at the port of sent-by, whatever maddr says', () => {
  for (const [via, address, port] of [
    ['SIP/2.0/UDP 192.0.2.1:5070;rport', '203.0.113.9', 40_000],
    ['SIP/2.0/UDP 192.0.2.1:5070', '203.0.113.9', 5070],
    ['SIP/2.0/UDP host.example.com', '203.0.113.9', 5060],
    ['SIP/2.0/UDP 203.0.113.9', '203.0.113.9', 5060],
    ['SIP/2.0/UDP 192.0.2.1:5070;maddr=198.51.100.1;rport', '203.0.113.9', 40_000],
    ['SIP/2.0/UDP 192.0.2.1:5070;maddr=host.example.com', '203.0.113.9', 5070],
  ] as const) {
    assert.deepEqual(datagramPlace(stamped(via)), { address, port }, via);
  }
});

test('a new connection for a response goes to what was received, at the port of sent-by', () => {
  for (const [via, transport, port] of [
    ['SIP/2.0/TCP 192.0.2.1:5070;rport', 'tcp', 5070],
    ['SIP/2.0/TCP 192.0.2.1', 'tcp', 5060],
    ['SIP/2.0/TLS 192.0.2.1', 'tls', 5061],
  ] as const) {
    assert.deepEqual(connectionPlace(stamped(via), transport), { address: '203.0.113.9', port }, via);
  }
});

test('the wait is that of the last probe, or of the one under way, and a lost one is sent again', () => {
  const time = new ManualTime();
  const sent: Buffer[] = [];
  const probe = new SocketProbe(time, (bytes) => sent.push(bytes));
  assert.equal(probe.delayMs(), 0);
  time.advance(30);
  assert.equal(probe.takes(Buffer.alloc(16)), false);
  assert.equal(probe.takes(sent[0] ?? Buffer.alloc(0)), true);
  assert.equal(probe.delayMs(), 30);
  time.advance(500);
  assert.equal(probe.delayMs(), 500);
  assert.equal(sent.length, 2);
  time.advance(500);
  assert.equal(probe.delayMs(), 1000);
  assert.equal(sent.length, 3);
});

for (const host of ['127.0.0.1', '::1', '0.0.0.0']) {
  test(`messages to ${host} that wait while the process is busy show in the wait`, async (t) => {
    const { transports, received } = await openTransports(t, [
      { transport: 'udp', port: 0, host, advertised: { host: '192.0.2.1' } },
    ]);
    await until(() => {
      const delayMs = transports.queueDelayMs();
      return delayMs > 0 && delayMs < 20;
    });
    transports.queueDelayMs();
    const end = performance.now() + 60;
    while (performance.now() < end);
    assert.ok(transports.queueDelayMs() >= 50);
    assert.equal(received.length, 0);
  });
}

test('where nothing is listened on over UDP there is no wait', async (t) => {
  const { transports } = await openTransports(t, []);
  assert.equal(transports.queueDelayMs(), 0);
});

test('a defect in the handling of a connection cuts that connection, and is reported and counted', async () => {
  const counts = new TransportCounts();
  const socket = new Socket();
  const flow = new StreamFlow(socket, {
    transport: 'tcp',
    inbound: true,
    authenticated: false,
    limits: TRANSPORT_LIMITS,
    time: new ManualTime(),
    counts,
    received: () => {
      throw new Error('a defect');
    },
  });
  const message = 'OPTIONS sip:b SIP/2.0\r\nContent-Length: 0\r\n\r\n';
  const rejections = await rejectionsOf(() => socket.emit('data', Buffer.from(message)));
  assert.deepEqual(rejections.map(String), ['Defect: SIP connection: a defect']);
  assert.deepEqual([flow.closed, socket.destroyed, counts.of('defect')], [true, true, 1]);
});
