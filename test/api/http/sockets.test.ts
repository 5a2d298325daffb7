import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, connect as connectPlain } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { AccessGuard } from '../../../src/api/http/access.js';
import { KeyRing } from '../../../src/api/http/api-keys.js';
import { Admission } from '../../../src/api/http/admission.js';
import type { SocketLimits } from '../../../src/api/http/socket-session.js';
import { Sockets } from '../../../src/api/http/sockets.js';
import { createLog } from '../../../src/observe/log.js';
import { Metrics } from '../../../src/observe/metrics.js';
import { ManualTime } from '../../fakes/manual-time.js';
import { rejectionsOf } from '../../fakes/rejections.js';
import { until } from '../../fakes/until.js';
import { errorIn, openServer } from '../app-under-test.js';
import { EchoDialect } from './echo-dialect.js';
import { ask, openSession } from './http2-client.js';
import { refusal, SocketClient } from './socket-client.js';
import { makePair, temporaryFolder, TlsFiles } from './tls-files.js';

const KEY = 'a key of sixteen';

interface Setup {
  readonly apiKeys?: readonly string[];
  readonly maxSockets?: number;
  readonly limits?: Partial<SocketLimits>;
  readonly keyInFirstMessage?: boolean;
}

/** Sockets on a plain Node server, with a clock that the test advances. */
async function openSockets(t: TestContext, setup: Setup = {}) {
  const { apiKeys = [], maxSockets = 8, limits = {}, keyInFirstMessage = false } = setup;
  const time = new ManualTime(1000);
  const metrics = new Metrics();
  const lines: Record<string, unknown>[] = [];
  const dialect = new EchoDialect('/v1/echo/{room}', keyInFirstMessage);
  let ids = 0;
  const sockets = new Sockets({
    dialects: [dialect],
    admission: new Admission(
      new AccessGuard({ keys: new KeyRing({ keys: apiKeys }), corsOrigins: [], host: '127.0.0.1' }),
    ),
    maxSockets,
    newId: () => String(++ids),
    metrics: metrics.sockets,
    log: createLog({
      level: 'debug',
      logText: false,
      destination: { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
    }),
    time,
    limits,
  });
  const server = createServer((_request, response) => response.end('an ordinary answer'));
  sockets.attach(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(async () => {
    await Promise.all([sockets.close(), new Promise((resolve) => server.close(resolve))]);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const line = (msg: string) => lines.find((candidate) => candidate['msg'] === msg);
  return { time, metrics, lines, line, dialect, sockets, server, url, room: `${url}/v1/echo/one` };
}

async function metric(metrics: Metrics, sample: string): Promise<string | undefined> {
  const lines = (await metrics.exposition()).split('\n');
  return lines.find((line) => line.startsWith(sample))?.slice(sample.length + 1);
}

test('a socket reaches the dialect of its path, with what stands in the path and the query', async (t) => {
  const { url, dialect, line, metrics, sockets } = await openSockets(t);
  const client = await SocketClient.open(t, `${url}/v1/echo/a%20room?model=x`);
  assert.equal(client.headers['x-request-id'], 'req_1');
  client.send('hello');
  client.send(Buffer.from([1, 2, 3]));
  await until(() => client.messages.length === 2);
  assert.deepEqual(client.messages, ['hello', Buffer.from([1, 2, 3])]);
  const { handshake, closes } = dialect.only;
  assert.deepEqual({ ...handshake.params }, { room: 'a room' });
  assert.equal(handshake.url.searchParams.get('model'), 'x');
  assert.deepEqual(
    [handshake.client, handshake.requestId, handshake.authorize('anything'), closes],
    ['127.0.0.1', 'req_1', true, 0],
  );
  assert.equal(await metric(metrics, 'parley_sockets{dialect="echo"}'), '1');

  client.socket.close(1000, 'bye');
  assert.deepEqual(await client.closed(), [1000, 'bye']);
  await until(() => sockets.size === 0);
  assert.equal(dialect.only.closes, 1);
  const { time: _time, level: _level, ...fields } = line('socket closed') ?? {};
  assert.deepEqual(fields, {
    requestId: 'req_1',
    dialect: 'echo',
    end: 'client',
    code: 1000,
    ms: 0,
    messagesIn: 2,
    messagesOut: 2,
    bytesOut: 8,
    msg: 'socket closed',
  });
  assert.equal(await metric(metrics, 'parley_sockets{dialect="echo"}'), '0');
  assert.equal(await metric(metrics, 'parley_sockets_total{dialect="echo",end="client"}'), '1');
  assert.equal(await metric(metrics, 'parley_socket_messages_total{dialect="echo",direction="in"}'), '2');
  assert.equal(await metric(metrics, 'parley_socket_messages_total{dialect="echo",direction="out"}'), '2');
});

test('what becomes no socket is answered over HTTP, with the error object and an id', async (t) => {
  const { url, room, dialect, metrics, line } = await openSockets(t);
  const cases = [
    [`${url}/v1/nothing`, {}, 'GET', 404, 'not_found'],
    [`${url}/v1/echo/`, {}, 'GET', 404, 'not_found'],
    [`${url}/v1/echo/one/more`, {}, 'GET', 404, 'not_found'],
    [`${url}/v1/echo/%ff`, {}, 'GET', 400, 'malformed'],
    [room, {}, 'POST', 405, 'method_not_allowed'],
    [room, { 'sec-websocket-version': '8' }, 'GET', 426, 'upgrade_required'],
    [room, { 'sec-websocket-key': 'short' }, 'GET', 400, 'malformed'],
    [room, { 'sec-websocket-protocol': 'a,,b' }, 'GET', 400, 'malformed'],
    [room, { host: 'evil.example' }, 'GET', 403, 'forbidden'],
    [room, { origin: 'https://evil.example' }, 'GET', 403, 'forbidden'],
  ] as const;
  for (const [address, headers, method, status, code] of cases) {
    const answer = await refusal(address, headers, method);
    assert.equal(answer.status, status, JSON.stringify([address, headers]));
    assert.deepEqual([errorIn(answer.body).code, errorIn(answer.body).param], [code, null]);
    assert.match(String(answer.headers['x-request-id']), /^req_\d+$/);
    assert.match(String(answer.headers['content-type']), /^application\/json/);
    if (status === 426) assert.equal(answer.headers['sec-websocket-version'], '13');
    if (status === 405) assert.equal(answer.headers['allow'], 'GET');
  }
  assert.equal(dialect.conversations.length, 0);
  assert.equal(await metric(metrics, 'parley_sockets_refused_total{status="404"}'), '3');
  assert.equal(line('socket refused')?.['status'], 404);
});

test('pages of this server may open sockets', async (t) => {
  const { room, url, dialect } = await openSockets(t);
  await SocketClient.open(t, room, { headers: { origin: url } });
  assert.equal(dialect.conversations.length, 1);
});

test('a key comes in either header or as a subprotocol, which is confirmed only where there is no other', async (t) => {
  const { room, dialect } = await openSockets(t, {
    apiKeys: ['another key, unused', KEY.replaceAll(' ', '-')],
  });
  const key = KEY.replaceAll(' ', '-');
  const spoken = `openai-insecure-api-key.${key}`;
  for (const [headers, protocols, confirmed] of [
    [{ authorization: `Bearer ${key}` }, [], ''],
    [{ 'xi-api-key': key }, [], ''],
    [{ authorization: 'Bearer ', 'xi-api-key': key }, [], ''],
    [{}, [spoken], spoken],
    [{ origin: 'https://elsewhere.example' }, [spoken, 'realtime'], 'realtime'],
  ] as const) {
    const client = await SocketClient.open(t, room, { headers, protocols: [...protocols] });
    assert.equal(client.socket.protocol, confirmed);
  }
  const clients = new Set(dialect.conversations.map(({ handshake }) => handshake.client));
  assert.match([...clients].join(), /^key [0-9a-f]{64}$/, 'one and the same');
  for (const headers of [
    {},
    { authorization: 'Bearer ' },
    { 'xi-api-key': 'wrong' },
    { 'sec-websocket-protocol': 'openai-insecure-api-key.wrong' },
    { authorization: 'Bearer wrong', 'xi-api-key': key },
  ]) {
    const answer = await refusal(room, headers as Record<string, string>);
    assert.deepEqual([answer.status, errorIn(answer.body).code], [401, 'invalid_api_key']);
    assert.equal(answer.headers['www-authenticate'], 'Bearer realm="parley"');
  }
});

test('a dialect may take the key from the first message, but not for ever, and not after a wrong header', async (t) => {
  const key = 'a-key-of-sixteen';
  const setup = { apiKeys: [key], keyInFirstMessage: true };
  const { room, dialect, time, sockets, line } = await openSockets(t, setup);
  assert.equal((await refusal(room, { 'xi-api-key': 'wrong' })).status, 401);

  const client = await SocketClient.open(t, room);
  const { handshake } = dialect.only;
  assert.equal(handshake.client, '127.0.0.1');
  assert.deepEqual(
    [handshake.authorize(''), handshake.authorize('wrong'), handshake.authorize(key)],
    [false, false, true],
  );
  assert.match(handshake.client, /^key [0-9a-f]{64}$/);
  assert.equal(handshake.authorize('wrong'), true, 'it is authorized already');

  const silent = await SocketClient.open(t, room);
  time.advance(2999);
  await nextTurn();
  assert.equal(silent.end, undefined);
  time.advance(1);
  assert.deepEqual(await silent.closed(), [1008, 'no valid API key came']);
  await until(() => sockets.size === 1);
  assert.equal(line('socket closed')?.['end'], 'unauthorized');
  assert.equal(client.end, undefined);
});

const OWN_KEY = 'a-key-of-sixteen';
const KEYLESS = { apiKeys: [OWN_KEY], keyInFirstMessage: true };

test('sockets whose key is still to come take no place of clients that have one', async (t) => {
  const { room, url, dialect, sockets, time } = await openSockets(t, { ...KEYLESS, maxSockets: 2 });
  const withKey = { headers: { 'xi-api-key': OWN_KEY } };
  const from = (host: number) => SocketClient.open(t, room, { localAddress: `127.0.0.${host}` });
  const keyless: SocketClient[] = [];
  for (let place = 0; place < 16; place++) keyless.push(await from(1 + Math.floor(place / 4)));
  const refused = await refusal(room, { 'x-forwarded-for': '198.51.100.1' });
  assert.deepEqual([refused.status, refused.headers['retry-after']], [503, '3']);
  assert.match(errorIn(refused.body).message, /16 WebSockets wait for their key/);
  const first = await SocketClient.open(t, room, withKey);
  first.send('hello');
  await until(() => first.messages.length === 1);

  assert.equal(dialect.conversations[0]?.handshake.authorize(OWN_KEY), true);
  await from(5);
  assert.equal((await refusal(`${url}/v1/echo/two`, { 'xi-api-key': OWN_KEY })).status, 503, 'MAX_SOCKETS');
  const late = dialect.conversations[1];
  assert.throws(() => late?.handshake.authorize(OWN_KEY), { code: 'QUEUE_FULL', message: /MAX_SOCKETS/ });
  assert.equal(late?.handshake.client, '127.0.0.1', 'it is not admitted');
  time.advance(3000);
  await until(() => sockets.size === 2);
  await from(1);
});

test('one address has few sockets whose key is still to come, also behind a proxy on this machine', async (t) => {
  const { room, sockets } = await openSockets(t, KEYLESS);
  const behind = (address: string) => ({ headers: { 'x-forwarded-for': `203.0.113.9, ${address}` } });
  for (const address of ['198.51.100.7', '2001:db8::1']) {
    for (let place = 0; place < 4; place++) await SocketClient.open(t, room, behind(address));
    const refused = await refusal(room, behind(address).headers);
    assert.deepEqual([refused.status, refused.headers['retry-after']], [429, '3']);
    assert.match(errorIn(refused.body).message, /4 WebSockets of this address wait for their key/);
  }
  assert.equal((await refusal(room, behind('2001:db8::2').headers)).status, 429, 'the same /64');
  const other = await SocketClient.open(t, room, behind('2001:db8:0:1::1'));
  other.socket.terminate();
  await until(() => sockets.size === 8);
  await SocketClient.open(t, room, behind('198.51.100.8'));
});

test('as many sockets are open as may be, and one that ends makes room', async (t) => {
  const { room, sockets } = await openSockets(t, { maxSockets: 2 });
  const first = await SocketClient.open(t, room);
  await SocketClient.open(t, room);
  const answer = await refusal(room);
  assert.equal(answer.status, 503);
  assert.equal(errorIn(answer.body).message, '2 WebSockets are open');
  assert.equal(answer.headers['retry-after'], '1');
  first.socket.close();
  await until(() => sockets.size === 1);
  await SocketClient.open(t, room);
});

test('an offer of another protocol is passed over, and the request served with its body', async (t) => {
  const { server, url } = await openSockets(t);
  server.removeAllListeners('request');
  server.on('request', (request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () =>
      response.end(JSON.stringify([request.method, request.url, request.headers, body])),
    );
  });
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  t.after(() => socket.destroy());
  let answers = '';
  socket.on('data', (chunk: Buffer) => (answers += chunk.toString()));
  const offer = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n';
  socket.write(`POST /a?b HTTP/1.1\r\nHost: x\r\n${offer}Content-Length: 11\r\n\r\nhello`);
  await nextTurn();
  socket.write(' world');
  await until(() => answers.includes('hello world'));
  const parsed = JSON.parse(/\r\n\r\n(?:[0-9a-f]+\r\n)?(\[.*\])/.exec(answers)?.[1] ?? '') as unknown;
  const headers = { host: 'x', connection: 'keep-alive', 'content-length': '11' };
  assert.deepEqual(parsed, ['POST', '/a?b', headers, 'hello world']);
  answers = '';
  socket.write('GET /next HTTP/1.1\r\nHost: x\r\n\r\n');
  await until(() => answers.includes('"/next"'));
});

const SLOW = { messages: { perSecond: 100, burst: 10 }, floodMs: 2000 };

test('what comes too fast waits, is slowed down, and loses nothing', async (t) => {
  const { room, dialect, time } = await openSockets(t, { limits: SLOW });
  const client = await SocketClient.open(t, room);
  const sent = Array.from({ length: 40 }, (_, n) => `message ${n}`);
  for (const message of sent) client.send(message);
  await until(() => dialect.only.heard.length === 10);
  await nextTurn();
  assert.equal(dialect.only.heard.length, 10);
  for (const heard of [15, 20, 25, 30, 35, 40]) {
    time.advance(50);
    await until(() => dialect.only.heard.length === heard);
    await nextTurn();
    assert.equal(dialect.only.heard.length, heard);
  }
  assert.deepEqual(dialect.only.heard, sent);
  client.send('one more');
  time.advance(1000);
  await until(() => dialect.only.heard.length === 41);
});

test('a client that is slowed down cannot write without end', async (t) => {
  const { room, dialect } = await openSockets(t, { limits: SLOW });
  const client = await SocketClient.open(t, room);
  const block = Buffer.alloc(64 * 1024);
  await until(() => {
    client.send(block);
    return client.socket.bufferedAmount > 16 * 1024 * 1024; // the connection takes no more
  });
  assert.ok(dialect.only.heard.length <= 10);
});

test('a client that keeps on is closed with the limit named', async (t) => {
  const { room, dialect, time, line } = await openSockets(t, { limits: SLOW });
  const client = await SocketClient.open(t, room);
  for (let n = 0; n < 1000; n++) client.send('again');
  await until(() => dialect.only.heard.length === 10);
  for (let ms = 0; ms < 2000; ms += 100) {
    assert.equal(client.end, undefined);
    time.advance(100);
    await nextTurn();
  }
  assert.deepEqual(await client.closed(), [1008, 'more than 100 messages a second, for 2 s']);
  await until(() => line('socket closed') !== undefined);
  assert.equal(line('socket closed')?.['end'], 'flood');
  assert.ok(dialect.only.heard.length <= 10 + 200);
  assert.equal(dialect.only.closes, 1);
});

test('bytes are limited like messages', async (t) => {
  const limits = { bytes: { perSecond: 1000, burst: 1000 }, floodMs: 2000 };
  const { room, dialect, time } = await openSockets(t, { limits });
  const client = await SocketClient.open(t, room);
  const block = Buffer.alloc(500);
  for (let n = 0; n < 20; n++) client.send(block);
  await until(() => dialect.only.heard.length === 2);
  time.advance(500);
  await until(() => dialect.only.heard.length === 3);
  time.advance(1500);
  await until(() => client.end !== undefined);
  assert.deepEqual(client.end, [1008, 'more than 1000 bytes a second, for 2 s']);
});

test('a rest ends a flood before it counts as one', async (t) => {
  const { room, dialect, time } = await openSockets(t, { limits: SLOW });
  const client = await SocketClient.open(t, room);
  let heard = 0;
  for (let round = 0; round < 5; round++) {
    for (let n = 0; n < 100; n++) client.send('burst');
    await until(() => dialect.only.heard.length >= heard + 10);
    for (let ms = 0; ms < 1000; ms += 50) {
      time.advance(50);
      await nextTurn();
    }
    await until(() => dialect.only.heard.length === (round + 1) * 100);
    heard = dialect.only.heard.length;
    time.advance(6000);
    await until(() => client.messages.length === heard);
  }
  assert.equal(client.end, undefined);
});

test('a sender waits for its peer, and goes on when it reads', async (t) => {
  const { room, dialect } = await openSockets(t);
  const client = await SocketClient.open(t, room);
  client.socket.pause();
  const { peer } = dialect.only;
  let sent = 0;
  let held = false;
  const pouring = (async () => {
    while (sent < 4000) {
      peer.send(new Uint8Array(16 * 1024));
      sent++;
      held = true;
      await peer.drained();
      held = false;
    }
  })();
  await until(() => held && sent > 10);
  await nextTurn();
  assert.ok(sent < 4000, `${sent} chunks`);
  client.socket.resume();
  await pouring;
  await until(() => client.messages.length === 4000);
});

test('a peer that takes nothing is given up, and whoever waits for it is freed', async (t) => {
  const { room, dialect, time, line, sockets } = await openSockets(t);
  const client = await SocketClient.open(t, room);
  client.socket.pause();
  const { peer } = dialect.only;
  let waiting = false;
  const pouring = (async () => {
    while (dialect.only.closes === 0) {
      peer.send(new Uint8Array(16 * 1024));
      waiting = true;
      await peer.drained();
      waiting = false;
    }
  })();
  await until(() => waiting);
  for (let round = 0; round < 20; round++) await nextTurn();
  time.advance(60_000);
  await pouring;
  await until(() => sockets.size === 0);
  assert.deepEqual([dialect.only.closes, line('socket closed')?.['end']], [1, 'stalled']);
});

test('answers that nobody reads do not fill the memory', async (t) => {
  const { room, dialect, sockets, line } = await openSockets(t);
  const client = await SocketClient.open(t, room);
  client.socket.pause();
  const { peer } = dialect.only;
  let sentBytes = 0;
  while (dialect.only.closes === 0 && sentBytes < 100 * 1024 * 1024) {
    peer.send(new Uint8Array(64 * 1024));
    sentBytes += 64 * 1024;
  }
  assert.ok(sentBytes < 20 * 1024 * 1024, `${sentBytes} bytes`);
  await until(() => sockets.size === 0);
  assert.equal(line('socket closed')?.['end'], 'stalled');
});

test('a peer that answers pings stays; one that does not is given up within a minute', async (t) => {
  const { room, dialect, time, sockets, line } = await openSockets(t);
  const living = await SocketClient.open(t, room);
  let pings = 0;
  living.socket.on('ping', () => pings++);
  await SocketClient.open(t, room, { autoPong: false });
  const pongs = () => dialect.conversations[0]?.heard.length;
  for (let round = 1; round <= 4; round++) {
    time.advance(15_000);
    await until(() => pings >= round);
    living.send('hush'); // behind the pong on the same connection
    await until(() => pongs() === round);
  }
  await until(() => sockets.size === 1);
  assert.deepEqual(
    dialect.conversations.map(({ closes }) => closes),
    [0, 1],
  );
  assert.equal(line('socket closed')?.['end'], 'dead');
});

test('a peer that vanishes ends its conversation once', async (t) => {
  const { room, dialect, sockets, line } = await openSockets(t);
  const client = await SocketClient.open(t, room);
  client.socket.terminate();
  await until(() => sockets.size === 0);
  assert.deepEqual([dialect.only.closes, line('socket closed')?.['end']], [1, 'vanished']);
  dialect.only.peer.send('to nobody');
  await dialect.only.peer.drained();
  dialect.only.peer.close(1000, 'twice');
  assert.equal(dialect.only.closes, 1);
});

test('a dialect closes with a code and a reason; one that throws costs its own socket only', async (t) => {
  const { room, dialect, sockets, lines } = await openSockets(t);
  const other = await SocketClient.open(t, room);
  const first = await SocketClient.open(t, room);
  dialect.conversations[1]?.peer.close(4000, 'é'.repeat(100));
  assert.deepEqual(await first.closed(), [4000, 'é'.repeat(61)]);
  const second = await SocketClient.open(t, room);
  second.send('throw');
  const [code, reason] = await second.closed();
  assert.deepEqual([code, /req_3/.test(reason)], [1011, true]);
  await until(() => sockets.size === 1);
  assert.deepEqual(
    lines.filter(({ msg }) => msg === 'socket closed').map(({ end }) => end),
    ['dialect', 'failed'],
  );
  other.send('still here');
  await until(() => other.messages.length === 1);
});

test('a message that is too large, or breaks the protocol, closes with the code for it', async (t) => {
  const { room, sockets, lines, dialect } = await openSockets(t);
  const large = await SocketClient.open(t, room);
  large.send(Buffer.alloc(1024 * 1024 + 1));
  assert.equal((await large.closed())[0], 1009);
  const broken = await SocketClient.open(t, room);
  (broken.socket as unknown as { _socket: { write(data: Buffer): void } })._socket.write(
    Buffer.from([0xff, 0]),
  );
  assert.equal((await broken.closed())[0], 1002);
  await until(() => sockets.size === 0);
  assert.deepEqual(
    lines.filter(({ msg }) => msg === 'socket closed').map(({ end }) => end),
    ['protocol', 'protocol'],
  );
  assert.deepEqual(
    dialect.conversations.map(({ closes }) => closes),
    [1, 1],
  );
});

test('closing says 1001 to every peer and resolves when all their work is freed', async (t) => {
  const { room, dialect, sockets, time } = await openSockets(t);
  const clients = [await SocketClient.open(t, room), await SocketClient.open(t, room)];
  const deaf = await SocketClient.open(t, room);
  deaf.socket.pause();
  let free: () => void = () => undefined;
  const [first] = dialect.conversations;
  assert.ok(first !== undefined);
  first.freed = new Promise((resolve) => (free = resolve));
  let closed = false;
  const closing = sockets.close().then(() => (closed = true));
  assert.deepEqual(
    dialect.conversations.map(({ closes }) => closes),
    [1, 1, 1],
  );
  for (const client of clients) assert.deepEqual(await client.closed(), [1001, 'the server closes']);
  assert.equal((await refusal(room)).status, 503);
  time.advance(2000); // for the peer that does not answer
  await until(() => sockets.size === 1);
  assert.equal(closed, false);
  free();
  await closing;
  assert.deepEqual([sockets.size, time.waiting], [0, 0]);
});

test('the server tells a GET without an upgrade what to ask for, and other methods keep their routes', async (t) => {
  const { url, server } = await openServer(t, { dialects: [new EchoDialect('/v1/audio/speech')] });
  const get = await fetch(`${url}/v1/audio/speech`);
  assert.deepEqual([get.status, get.headers.get('upgrade')], [426, 'websocket']);
  assert.equal(errorIn(await get.text()).code, 'upgrade_required');
  const headers = { 'content-type': 'application/json' };
  const post = await fetch(`${url}/v1/audio/speech`, { method: 'POST', headers, body: 'not JSON' });
  assert.deepEqual([post.status, errorIn(await post.text()).param], [400, null]);
  const client = await SocketClient.open(t, `${url}/v1/audio/speech`);
  assert.equal((await refusal(`${url}/v1/audio/voices`)).status, 404);
  await server.close();
  assert.deepEqual(await client.closed(), [1001, 'the server closes']);
});

const UNCHECKED = { rejectUnauthorized: false }; // the certificate is the test's own
const OFFER =
  'POST /cache/clear HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n' +
  'HTTP2-Settings: AAMAAABk\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}';

async function echoes(client: SocketClient): Promise<void> {
  client.send('hello');
  await until(() => client.messages.length === 1);
  assert.deepEqual(client.messages, ['hello']);
}

async function tlsServer(t: TestContext, dialects: EchoDialect[]) {
  const files = new TlsFiles(t);
  files.write(await makePair());
  const { tlsCert, tlsKey } = files;
  return openServer(t, { tlsCert, tlsKey, dialects });
}

test('over TLS sockets are given, and an offer of h2c is passed over', async (t) => {
  const dialect = new EchoDialect();
  const { url } = await tlsServer(t, [dialect]);
  await echoes(await SocketClient.open(t, `${url}/v1/echo/one`, UNCHECKED));
  const { port } = new URL(url);
  const socket = connectTls({
    port: Number(port),
    host: '127.0.0.1',
    ...UNCHECKED,
    ALPNProtocols: ['http/1.1'],
  });
  t.after(() => socket.destroy());
  socket.write(OFFER);
  assert.match(String((await once(socket, 'data'))[0]), /^HTTP\/1\.1 200 .*"cleared":0/s);
});

test('over the port sockets are given beside HTTP/2, and an offer of h2c is passed over', async (t) => {
  const dialect = new EchoDialect('/v1/echo');
  const { url } = await openServer(t, { dialects: [dialect] });
  await echoes(await SocketClient.open(t, `${url}/v1/echo`));
  const { port } = new URL(url);
  const socket = connectPlain({ port: Number(port), host: '127.0.0.1' });
  t.after(() => socket.destroy());
  for (let round = 0; round < 2; round++) {
    socket.write(OFFER);
    assert.match(String((await once(socket, 'data'))[0]), /^HTTP\/1\.1 200 .*"cleared":0/s);
  }
  const answer = await ask(openSession(t, url), { ':path': '/v1/echo' });
  assert.equal(answer.headers[':status'], 426, 'HTTP/2 has no such upgrade');
});

test('through the Unix socket sockets are given, whatever the host is called', async (t) => {
  const dialect = new EchoDialect('/v1/echo');
  const udsPath = join(temporaryFolder(t), 'parley.sock');
  await openServer(t, { dialects: [dialect], udsPath });
  await echoes(
    await SocketClient.open(t, `ws+unix://${udsPath}:/v1/echo`, { headers: { host: 'anything' } }),
  );
  assert.equal(dialect.only.handshake.client, 'unix');
});

test('an upgrade whose handling throws ends its connection, and the next one is taken', async (t) => {
  const { sockets, room, url } = await openSockets(t);
  const server = createServer();
  let connections = 0;
  // An upgrade that is passed over hands its connection to the server again.
  server.on('connection', () => {
    if (++connections === 2) throw new Error('a defect');
  });
  sockets.attach(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const rejections = await rejectionsOf(async () => {
    const connection = connectPlain(port, '127.0.0.1');
    const closed = once(connection.resume(), 'close');
    connection.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n');
    await closed;
  });
  assert.deepEqual(rejections.map(String), ['Defect: upgrade: a defect']);
  await SocketClient.open(t, room);
  assert.equal((await fetch(url)).status, 200);
});
