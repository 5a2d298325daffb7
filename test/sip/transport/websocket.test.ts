import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, createServer as createNetServer } from 'node:net';
import { before, test, type TestContext } from 'node:test';
import { WebSocket } from 'ws';
import { TRANSPORT_LIMITS, TransportCounts } from '../../../sip/transport/transport-limits.js';
import { WebSocketListener } from '../../../sip/transport/websocket-listener.js';
import { ManualTime } from '../../fakes/manual-time.js';
import { rejectionsOf } from '../../fakes/rejections.js';
import { until } from '../../fakes/until.js';
import {
  answer,
  issueCertificates,
  type Issued,
  openTransports,
  options,
  sent,
} from './transports-under-test.js';

const WS = { transport: 'ws', port: 0 } as const;
const VIA = 'SIP/2.0/WS df7jal23ls0d.invalid;branch=z9hG4bK56sdasks';
const REQUEST = `OPTIONS sip:b@example.com SIP/2.0\r\nVia: ${VIA}\r\nFrom: <sip:a@b>;tag=1\r\nTo: <sip:b@b>\r\nCall-ID: 1\r\nCSeq: 1 OPTIONS\r\n\r\n`;
let issued: Issued;

before(async () => {
  issued = await issueCertificates();
});

async function browser(
  t: TestContext,
  url: string,
  protocols: string | string[] = 'sip',
): Promise<WebSocket> {
  const socket = new WebSocket(url, protocols, { ca: issued.ca });
  t.after(() => socket.terminate());
  await once(socket, 'open');
  return socket;
}

async function next(socket: WebSocket): Promise<{ text: string; isBinary: boolean }> {
  const [data, isBinary] = (await once(socket, 'message')) as [Buffer, boolean];
  return { text: data.toString(), isBinary };
}

for (const transport of ['ws', 'wss'] as const) {
  test(`a phone in a browser asks and is answered on its own socket, over ${transport}`, async (t) => {
    const tls = { ...issued.server };
    const server = await openTransports(t, [{ transport, port: 0, tls }]);
    const { port } = server.target(transport);
    const socket = await browser(t, `${transport}://127.0.0.1:${port}/any`, ['chat', 'sip']);
    assert.equal(socket.protocol, 'sip');
    for (const [index, binary] of [false, true].entries()) {
      socket.send(Buffer.from(REQUEST), { binary });
      const request = await server.nth(index);
      assert.equal(request.flow.transport, transport);
      const response = next(socket);
      assert.equal(await answer(server.transports, request), true);
      const { text, isBinary } = await response;
      assert.match(
        text,
        /^SIP\/2\.0 200 OK\r\nVia: SIP\/2\.0\/WS df7jal23ls0d\.invalid;branch=z9hG4bK56sdasks;received=127/,
      );
      assert.equal(isBinary, false);
    }
  });
}

test('a request to a browser takes the flow it came in on, and there is no way once that is gone', async (t) => {
  const server = await openTransports(t, [WS]);
  const socket = await browser(t, `ws://127.0.0.1:${server.target('ws').port}`);
  socket.send(REQUEST);
  const { flow } = await server.nth(0);
  const asked = next(socket);
  const target = { transport: 'ws', address: '127.0.0.1', port: 1, flow } as const;
  await sent(server.transports.send(target, options(server.transports)));
  assert.match((await asked).text, /^OPTIONS .*\r\nVia: SIP\/2\.0\/WS 127\.0\.0\.1:\d+;branch=z9hG4bK1\r\n/);
  socket.close();
  await until(() => flow.closed);
  assert.equal(await server.transports.send(target, options(server.transports)), 'closed');
  assert.equal(await answer(server.transports, await server.nth(0)), false);
});

test('a keep-alive is answered, and is no message', async (t) => {
  const server = await openTransports(t, [WS]);
  const socket = await browser(t, `ws://127.0.0.1:${server.target('ws').port}`);
  const pong = next(socket);
  socket.send('\r\n\r\n');
  assert.equal((await pong).text, '\r\n');
  assert.equal(server.received.length, 0);
});

test('a socket that another server upgraded is taken over', async (t) => {
  const server = await openTransports(t, []);
  const http = createServer().listen(0, '127.0.0.1');
  t.after(() => http.close());
  http.on('upgrade', (request, duplex, head) => server.transports.upgrade(request, duplex, head, true));
  await once(http, 'listening');
  const socket = await browser(t, `ws://127.0.0.1:${(http.address() as { port: number }).port}/sip`);
  socket.send(REQUEST);
  const { flow } = await server.nth(0);
  assert.equal(flow.transport, 'wss');
});

test('sockets that another server upgraded count against the limits, by the address that a proxy here states', async (t) => {
  const server = await openTransports(t, [], { limits: { connections: 3, connectionsPerAddress: 2 } });
  const http = createServer().listen(0, '127.0.0.1');
  t.after(() => http.close());
  http.on('upgrade', (request, duplex, head) => server.transports.upgrade(request, duplex, head, false));
  await once(http, 'listening');
  const url = `ws://127.0.0.1:${(http.address() as { port: number }).port}/sip`;
  const from = (address: string) => {
    const socket = new WebSocket(url, 'sip', { headers: { 'x-forwarded-for': address } });
    t.after(() => socket.terminate());
    return new Promise<string>((resolve) => {
      socket.on('open', () => resolve('open')).on('error', () => resolve('refused'));
    });
  };
  const outcomes: string[] = [];
  for (const host of [7, 7, 7, 8, 9]) outcomes.push(await from(`198.51.100.${host}`));
  assert.deepEqual(outcomes, ['open', 'open', 'refused', 'open', 'refused']);
  assert.deepEqual(
    [server.transports.connections, server.transports.counts.of('connections-refused')],
    [3, 2],
  );
});

test('an upgrade that is refused and reset leaves the server as it was, and no socket open', async (t) => {
  const server = await openTransports(t, []);
  const http = createServer().listen(0, '127.0.0.1');
  t.after(() => http.close());
  http.on('upgrade', (request, duplex, head) => server.transports.upgrade(request, duplex, head, false));
  await once(http, 'listening');
  const { port } = http.address() as { port: number };
  const open = (): Promise<number> =>
    new Promise((resolve) => http.getConnections((_, count) => resolve(count)));
  const head = [
    'GET /sip HTTP/1.1',
    'Host: x',
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    '',
    '',
  ];
  for (const leave of ['resetAndDestroy', 'stay'] as const) {
    const stranger = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => undefined);
    t.after(() => stranger.destroy());
    stranger.write(head.join('\r\n'));
    const [answer] = (await once(stranger, 'data')) as [Buffer];
    assert.match(answer.toString(), /^HTTP\/1\.1 400/);
    if (leave === 'resetAndDestroy') stranger.resetAndDestroy();
    await until(async () => (await open()) === 0);
  }
  await browser(t, `ws://127.0.0.1:${port}/sip`);
});

test('whoever does not speak SIP is refused', async (t) => {
  const server = await openTransports(t, [WS]);
  const url = `ws://127.0.0.1:${server.target('ws').port}`;
  for (const protocols of [[], ['chat']]) {
    const socket = new WebSocket(url, protocols);
    const [error] = (await once(socket, 'error')) as [Error];
    assert.match(error.message, /400/);
  }
  const plain = await fetch(url.replace('ws', 'http'));
  assert.equal(plain.status, 426);
  await until(() => server.transports.connections === 0);
});

test('a handshake that does not end is cut, and so is a socket on which nothing is said', async (t) => {
  const time = new ManualTime();
  const server = await openTransports(t, [WS], { time });
  const { address, port } = server.target('ws');
  const slow = connect(port, address)
    .on('error', () => undefined)
    .resume();
  await until(() => server.transports.handshakes === 1);
  time.advance(5000);
  await once(slow, 'close');
  const socket = await browser(t, `ws://127.0.0.1:${port}`);
  await until(() => server.transports.handshakes === 0 && server.transports.connections === 1);
  time.advance(10_000);
  await once(socket, 'close');
  const { counts } = server.transports;
  assert.deepEqual([counts.of('handshakes-slow'), counts.of('first-message-missing')], [1, 1]);
});

test('a message above the limits closes the socket', async (t) => {
  const server = await openTransports(t, [WS], { limits: { headBytes: 1000, bodyBytes: 1000 } });
  const socket = await browser(t, `ws://127.0.0.1:${server.target('ws').port}`);
  socket.send('x'.repeat(2001));
  const [code] = (await once(socket, 'close')) as [number];
  assert.equal(code, 1009);
  assert.equal(server.received.length, 0);
});

for (const handler of ['opened', 'received'] as const) {
  test(`a phone whose connection throws in "${handler}" is cut off, and the next one is heard`, async (t) => {
    const counts = new TransportCounts();
    let called = 0;
    const texts: string[] = [];
    const defect = () => {
      if (++called === 1) throw new Error('a defect');
    };
    const listener = new WebSocketListener({
      limits: TRANSPORT_LIMITS,
      time: new ManualTime(),
      counts,
      opened: handler === 'opened' ? defect : () => undefined,
      received: (bytes) => {
        if (handler === 'received') defect();
        texts.push(bytes.toString());
      },
    });
    const server = createNetServer((socket) => listener.take(socket, false, () => undefined));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => (listener.close(), server.close()));
    const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const rejections = await rejectionsOf(async () => {
      const first = new WebSocket(url, 'sip');
      first.on('error', () => undefined).once('open', () => first.send(REQUEST));
      await once(first, 'close');
      const second = await browser(t, url);
      second.send(REQUEST);
      await until(() => texts.length === 1);
    });
    assert.deepEqual(rejections.map(String), ['Defect: SIP connection: a defect']);
    assert.deepEqual(texts, [REQUEST]);
    assert.equal(counts.of('defect'), handler === 'received' ? 1 : 0);
  });
}
