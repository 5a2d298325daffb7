// Sends floods and broken frames of HTTP/2 over real sockets on loopback: each costs its own client, and no
// other.
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { constants, type ServerHttp2Session } from 'node:http2';
import { connect } from 'node:net';
import { test, type TestContext } from 'node:test';
import { Http2Sessions } from '../../../src/api/http/http2-sessions.js';
import { PROTOCOL_LIMITS } from '../../../src/api/http/protocols.js';
import { ManualTime } from '../../fakes/manual-time.js';
import { rejectionsOf } from '../../fakes/rejections.js';
import { until } from '../../fakes/until.js';
import { openServer } from '../app-under-test.js';
import {
  ask,
  askSpeech,
  errorCodeOf,
  fields,
  frame,
  goAways,
  GREETING,
  openSession,
  wire,
} from './http2-client.js';

const { NGHTTP2_CANCEL } = constants;

const DATA = 0;
const SETTINGS = 4;
const PING = 6;
const CONTINUATION = 9;

const HEADERS = 1;
const RST_STREAM = 3;
const ENDS = 5; // END_STREAM and END_HEADERS
const CANCEL = Buffer.of(0, 0, 0, 8);
const ENHANCE_YOUR_CALM = 11;

function requestFields(method: string, ...more: (readonly [string, string])[]): Buffer {
  return fields(
    [':method', method],
    [':scheme', 'http'],
    [':path', '/v1/models'],
    [':authority', 'localhost'],
    ...more,
  );
}

const GET = requestFields('GET');
const EMPTY_POST = requestFields('POST', ['content-length', '1']);

/** A request, and what makes either side reset it at once. */
const RESETS: Readonly<Record<string, (stream: number) => Buffer>> = {
  'requests that the client cancels': (stream) =>
    Buffer.concat([frame(HEADERS, ENDS, stream, GET), frame(RST_STREAM, 0, stream, CANCEL)]),
  'requests that the client resets without an error': (stream) =>
    Buffer.concat([frame(HEADERS, 4, stream, EMPTY_POST), frame(RST_STREAM, 0, stream, Buffer.alloc(4))]),
  'bodies that are longer than announced': (stream) =>
    Buffer.concat([frame(HEADERS, 4, stream, EMPTY_POST), frame(DATA, 1, stream, Buffer.from('xyz'))]),
  'window updates of nothing': (stream) =>
    Buffer.concat([frame(HEADERS, 4, stream, EMPTY_POST), frame(8, 0, stream, Buffer.alloc(4))]),
};

/** Sends what `make` makes for `count` streams; resolves with what came back until the server closed. */
async function flood(
  t: TestContext,
  url: string,
  { make, count, localAddress }: { make: (stream: number) => Buffer; count: number; localAddress?: string },
): Promise<Buffer> {
  const socket = connect({
    port: Number(new URL(url).port),
    host: '127.0.0.1',
    ...(localAddress && { localAddress }),
  });
  t.after(() => socket.destroy());
  const received: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => received.push(chunk)).on('error', () => undefined);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  const drained = () => new Promise((resolve) => socket.once('drain', resolve));
  socket.write(GREETING);
  for (let sent = 0; sent < count && !socket.destroyed; sent += 500) {
    const streams = Array.from({ length: Math.min(500, count - sent) }, (_, index) =>
      make(2 * (sent + index) + 1),
    );
    if (!socket.write(Buffer.concat(streams))) await Promise.race([drained(), closed]);
  }
  await closed;
  return Buffer.concat(received);
}

for (const [what, make] of Object.entries(RESETS)) {
  test(`a flood of ${what} ends its connections, and others are answered`, async (t) => {
    const { url, logLines } = await openServer(t);
    const floods = Array.from({ length: 4 }, () => flood(t, url, { make, count: 100_000 }));
    const answers = [
      ask(openSession(t, url.replace('127.0.0.1', 'localhost')), { ':path': '/health' }),
      fetch(`${url}/health`),
    ];
    await Promise.allSettled(answers);
    await Promise.all(floods);
    assert.equal((await fetch(`${url}/health`)).status, 200);
    // Each reached the application: at most the burst of the address, and what was open besides.
    const served = logLines.filter((line) => line.includes('"/v1/models"')).length;
    assert.ok(served < 1000, `${served} requests`);
  });
}

test('a connection above the limit of resets gets GOAWAY with ENHANCE_YOUR_CALM', async (t) => {
  const time = new ManualTime(1000);
  const resets = { perSecond: 1, burst: 10 };
  const { url } = await openServer(t, { time, protocolLimits: { resets } });
  const make = RESETS['requests that the client cancels'] ?? assert.fail();
  assert.ok(goAways(await flood(t, url, { make, count: 11 })).includes(ENHANCE_YOUR_CALM));
});

test('a connection above the limit of requests gets GOAWAY, and its address for a second', async (t) => {
  const time = new ManualTime(1000);
  const { url } = await openServer(t, { time, protocolLimits: { streams: { perSecond: 10, burst: 20 } } });
  const session = openSession(t, url);
  const away = once(session, 'goaway');
  for (let count = 0; count < 20; count++) await ask(session, { ':path': '/health' });
  session.request({ ':path': '/health' }).on('error', () => undefined);
  assert.equal(((await away) as [number])[0], ENHANCE_YOUR_CALM);
  const second = openSession(t, url);
  assert.equal(((await once(second, 'goaway')) as [number])[0], ENHANCE_YOUR_CALM);
  assert.equal((await fetch(`${url}/health`)).status, 200, 'HTTP/1.1');
  time.advance(1001);
  assert.equal((await ask(openSession(t, url), { ':path': '/health' })).headers[':status'], 200);
});

test('all connections of an address share twice the limit, and no other address pays for them', async (t) => {
  const time = new ManualTime(1000);
  const { url } = await openServer(t, { time, protocolLimits: { streams: { perSecond: 10, burst: 20 } } });
  const from = (localAddress: string) =>
    openSession(t, url, {
      createConnection: () => connect({ port: Number(new URL(url).port), host: '127.0.0.1', localAddress }),
    });
  const sessions = [from('127.0.0.2'), from('127.0.0.2'), from('127.0.0.2')];
  for (const [index, count] of [
    [0, 20],
    [1, 20],
  ] as const)
    for (let sent = 0; sent < count; sent++)
      await ask(sessions[index] ?? assert.fail(), { ':path': '/health' });
  const third = sessions[2] ?? assert.fail();
  const away = once(third, 'goaway');
  third.request({ ':path': '/health' }).on('error', () => undefined);
  assert.equal(((await away) as [number])[0], ENHANCE_YOUR_CALM);
  assert.equal((await ask(from('127.0.0.3'), { ':path': '/health' })).headers[':status'], 200);
});

const FORWARDED = ['x-forwarded-for', 'x-real-ip', 'forwarded'] as const;

function forwardedFrom(address: string, name: (typeof FORWARDED)[number] = 'x-forwarded-for') {
  const value = { 'x-forwarded-for': `192.0.2.1, ${address}`, forwarded: `for=${address}` }[name as string];
  return { ':path': '/health', [name]: value ?? address };
}

test('behind a proxy on this machine only the requests of the address that resets too many are reset', async (t) => {
  const time = new ManualTime(1000);
  const resets = { perSecond: 1, burst: 10 };
  const { url, speech } = await openServer(t, { time, protocolLimits: { resets } });
  const proxy = openSession(t, url);
  const goneAway: number[] = [];
  proxy.on('goaway', (code: number) => void goneAway.push(code));
  const answer = askSpeech(proxy, { input: 'Hello.' });
  const stream = await speech.stream();
  const codes: number[] = [];
  for (let count = 0; count < 21; count++) {
    const speech = { ':method': 'POST', ':path': '/v1/audio/speech', 'content-type': 'application/json' };
    const request = proxy.request({ ...forwardedFrom('203.0.113.66'), ...speech });
    const code = errorCodeOf(request);
    request.write('x');
    await ask(proxy, forwardedFrom('203.0.113.7')); // by now the server has the request, too
    request.close(NGHTTP2_CANCEL);
    codes.push(await code);
  }
  assert.equal(codes.at(-1), NGHTTP2_CANCEL);
  await ask(proxy, forwardedFrom('203.0.113.7'));
  assert.equal(await errorCodeOf(proxy.request(forwardedFrom('203.0.113.66'))), ENHANCE_YOUR_CALM);
  const second = openSession(t, url);
  assert.equal(await errorCodeOf(second.request(forwardedFrom('203.0.113.66'))), ENHANCE_YOUR_CALM);
  assert.equal((await ask(second, forwardedFrom('203.0.113.7'))).headers[':status'], 200);
  stream.push('still here');
  stream.end();
  assert.equal(String((await once(answer, 'data'))[0]), 'still here');
  time.advance(1001);
  assert.equal((await ask(proxy, forwardedFrom('203.0.113.66'))).headers[':status'], 200);
  assert.deepEqual(goneAway, []);
});

for (const name of FORWARDED) {
  test(`behind a proxy that states the client in ${name}, only its requests above the limit are reset`, async (t) => {
    const time = new ManualTime(1000);
    const streams = { perSecond: 10, burst: 20 };
    const { url } = await openServer(t, { time, protocolLimits: { streams } });
    const proxy = openSession(t, url);
    for (let count = 0; count < 40; count++) await ask(proxy, forwardedFrom('203.0.113.5', name));
    assert.equal(await errorCodeOf(proxy.request(forwardedFrom('203.0.113.5', name))), ENHANCE_YOUR_CALM);
    assert.equal((await ask(proxy, forwardedFrom('203.0.113.100', name))).headers[':status'], 200);
  });
}

test('requests that a client behind a proxy resets in the bytes that began them count, too', async (t) => {
  const time = new ManualTime(1000);
  const { url } = await openServer(t, { time, protocolLimits: { resets: { perSecond: 1, burst: 10 } } });
  const { socket } = wire(t, url);
  const headers = requestFields('GET', ['x-forwarded-for', '203.0.113.66']);
  const make = (stream: number) =>
    Buffer.concat([frame(HEADERS, ENDS, stream, headers), frame(RST_STREAM, 0, stream, CANCEL)]);
  socket.write(Buffer.concat([GREETING, ...Array.from({ length: 30 }, (_, index) => make(2 * index + 1))]));
  const proxy = openSession(t, url);
  await until(async () => (await codeOrStatus(proxy)) === ENHANCE_YOUR_CALM);
  assert.equal(socket.destroyed, false);
});

/** Code of the error of a request from the client, or the status of its answer. */
async function codeOrStatus(proxy: ReturnType<typeof openSession>): Promise<number> {
  const request = proxy.request(forwardedFrom('203.0.113.66'));
  const code = errorCodeOf(request);
  let status = 0;
  request.on('response', (answered) => (status = Number(answered[':status']))).resume();
  return (await code) || status;
}

const POST = frame(
  HEADERS,
  4,
  1,
  fields(
    [':method', 'POST'],
    [':scheme', 'http'],
    [':path', '/v1/audio/speech'],
    [':authority', 'localhost'],
    ['content-type', 'application/json'],
  ),
);

/** Frames that cost the server work and ask for nothing, and what must come before them. */
const FLOODS: Readonly<Record<string, readonly [repeated: Buffer, before?: Buffer]>> = {
  pings: [frame(PING, 0, 0, Buffer.alloc(8))],
  settings: [frame(SETTINGS, 0, 0)],
  'empty data': [frame(DATA, 0, 1), POST],
  'continuations of headers': [frame(CONTINUATION, 0, 1), frame(HEADERS, 1, 1, requestFields('GET'))],
};

for (const [what, [repeated, before = Buffer.alloc(0)]] of Object.entries(FLOODS)) {
  test(`a flood of ${what} ends its connection, and none of another client`, async (t) => {
    const { url } = await openServer(t);
    const other = openSession(t, url);
    await ask(other, { ':path': '/health' });
    let isClosed = false;
    const { socket, received } = wire(t, url);
    void received.then(() => (isClosed = true));
    socket.write(Buffer.concat([GREETING, before]));
    // Few at a time, as a client that reads every answer would.
    for (let sent = 0; sent < 100_000 && !isClosed; sent += 100) {
      socket.write(Buffer.concat(Array.from({ length: 100 }, () => repeated)));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await received;
    assert.equal((await ask(other, { ':path': '/health' })).headers[':status'], 200);
  });
}

const HALF_HEADERS = frame(HEADERS, ENDS, 1, GET).subarray(0, 20);
const OPEN_HEADERS = frame(HEADERS, 1, 1, GET);

for (const [what, bytes] of [
  ['half a preface', GREETING.subarray(0, 16)],
  ['a preface without its last byte', GREETING.subarray(0, 23)],
  ['a preface without settings', GREETING.subarray(0, 24)],
  ['half of its settings', GREETING.subarray(0, 30)],
  ['its settings and half of the headers of a request', Buffer.concat([GREETING, HALF_HEADERS])],
  ['its settings and headers without their end', Buffer.concat([GREETING, OPEN_HEADERS])],
] as const) {
  test(`a connection that sends ${what} is closed after the time for headers`, async (t) => {
    const time = new ManualTime(1000);
    const { url } = await openServer(t, { time, protocolLimits: { headersMs: 15_000, sweepMs: 5000 } });
    const { socket, received } = wire(t, url);
    socket.write(bytes);
    // The server has seen the beginning once its own settings are there.
    await once(socket, 'data');
    const greeted = openSession(t, url);
    await ask(greeted, { ':path': '/health' });
    time.advance(15_000);
    assert.equal(socket.destroyed, false);
    time.advance(5001);
    await received;
    assert.equal((await ask(greeted, { ':path': '/health' })).headers[':status'], 200);
  });
}

for (const [what, bytes] of [
  ['its settings and nothing else', GREETING],
  ['its settings and half of the head of a frame', Buffer.concat([GREETING, HALF_HEADERS.subarray(0, 5)])],
] as const) {
  test(`a connection that sends ${what} is closed after a minute`, async (t) => {
    const time = new ManualTime(1000);
    const { url } = await openServer(t, { time });
    const { socket, received } = wire(t, url);
    let isClosed = false;
    void received.then(() => (isClosed = true));
    socket.write(bytes);
    await once(socket, 'data');
    await ask(openSession(t, url), { ':path': '/health' }); // by now the server has read the greeting
    time.advance(60_000);
    await ask(openSession(t, url), { ':path': '/health' });
    assert.equal(isClosed, false);
    time.advance(5001);
    await received;
  });
}

const POST_SPEECH = Buffer.concat([
  frame(HEADERS, 4, 3, POST.subarray(9)),
  frame(DATA, 1, 3, Buffer.from('{"input":"Hello."}')),
]);

/** A connection with a request that is being answered, and one that was. */
async function usedConnection(t: TestContext) {
  const time = new ManualTime(1000);
  const { url, speech } = await openServer(t, { time });
  const { socket, received } = wire(t, url);
  let isClosed = false;
  void received.then(() => (isClosed = true));
  socket.write(Buffer.concat([GREETING, frame(HEADERS, ENDS, 1, GET), POST_SPEECH]));
  await speech.stream();
  return { time, url, socket, received, closed: () => isClosed };
}

test('headers that do not end close a connection that has had requests, and has one', async (t) => {
  const { time, url, socket, received, closed } = await usedConnection(t);
  time.advance(5000);
  socket.write(frame(HEADERS, 1, 5, GET));
  for (let seconds = 5; seconds < 20; seconds += 5) {
    await fetch(`${url}/health`); // by now the server has the bytes, too
    time.advance(5000);
    assert.equal(closed(), false);
    // Each continuation brings a field, and none ends the headers.
    socket.write(frame(CONTINUATION, 0, 5, fields([`x-${seconds}`, 'value'])));
  }
  time.advance(5001);
  await received;
});

test('headers that the server refuses are none without an end', async (t) => {
  const time = new ManualTime(1000);
  const { url, speech } = await openServer(t, { time });
  const session = openSession(t, url);
  const answer = askSpeech(session, { input: 'Hello.' });
  const stream = await speech.stream();
  const tooMany = Object.fromEntries(Array.from({ length: 150 }, (_, n) => [`x-${n}`, '1']));
  assert.notEqual(await errorCodeOf(session.request({ ':path': '/health', ...tooMany })), 0);
  for (let seconds = 0; seconds < 60; seconds += 5) {
    time.advance(5000);
    await new Promise((resolve) => session.ping(resolve)); // the server's own ping came before this answer
    await ask(openSession(t, url), { ':path': '/health' });
  }
  stream.push('still here');
  stream.end();
  assert.equal(String((await once(answer, 'data'))[0]), 'still here');
});

test('a connection whose check of the time limits throws is closed, and the others are still checked', async (t) => {
  const time = new ManualTime(1000);
  const sessions = new Http2Sessions(PROTOCOL_LIMITS, time);
  t.after(() => sessions.destroy());
  const [broken, idle] = [new FakeConnection(), new FakeConnection()];
  for (const connection of [broken, idle]) sessions.add(connection as unknown as ServerHttp2Session);
  broken.isBroken = true;
  for (const connection of [broken, idle]) connection.emit('remoteSettings');
  const rejections = await rejectionsOf(() => time.advance(65_000));
  assert.deepEqual(rejections.map(String), ['Defect: HTTP connection: a defect']);
  assert.deepEqual([broken.ended, idle.ended], [['destroy'], ['close']]);
});

/** A connection whose headers have begun and seem not to end: no ping is answered. */
function begunConnection(t: TestContext) {
  const time = new ManualTime(1000);
  const sessions = new Http2Sessions(PROTOCOL_LIMITS, time);
  t.after(() => sessions.destroy());
  const connection = new FakeConnection();
  sessions.add(connection as unknown as ServerHttp2Session);
  connection.emit('remoteSettings');
  const begun = { lastProcStreamID: 3, effectiveRecvDataLength: 5000, remoteWindowSize: 60_000 };
  connection.frames = begun;
  time.advance(10_000);
  return { time, connection, begun };
}

for (const [what, change] of [
  ['data comes', { effectiveRecvDataLength: 5001 }],
  ['the client makes room for data', { remoteWindowSize: 60_001 }],
] as const) {
  test(`headers have ended once ${what} behind them, although no ping is answered`, (t) => {
    const { time, connection, begun } = begunConnection(t);
    connection.frames = { ...begun, ...change };
    time.advance(45_000);
    assert.deepEqual([connection.ended, connection.pings.length], [[], 1]);
  });
}

test('data that was taken and data that was sent do not end headers', (t) => {
  const { time, connection, begun } = begunConnection(t);
  connection.frames = { ...begun, effectiveRecvDataLength: 0, remoteWindowSize: 0 };
  time.advance(15_000);
  assert.deepEqual(connection.ended, ['destroy']);
});

test('a ping that could not be sent is sent again, and its answer ends the headers', (t) => {
  const { time, connection } = begunConnection(t);
  connection.pings[0]?.(new Error('too many pings'));
  time.advance(5000);
  assert.equal(connection.pings.length, 2);
  connection.pings[1]?.(null);
  time.advance(40_000);
  assert.deepEqual([connection.ended, connection.pings.length], [[], 2]);
});

/** A connection without a network, which notes how it was ended. */
class FakeConnection extends EventEmitter {
  readonly socket = { remoteAddress: '192.0.2.1' };
  readonly ended: string[] = [];
  /** Asked for and not answered. */
  readonly pings: ((error: Error | null) => void)[] = [];
  isBroken = false;
  frames = {};

  get state() {
    if (this.isBroken) throw new Error('a defect');
    return this.frames;
  }

  ping(answered: (error: Error | null) => void): void {
    this.pings.push(answered);
  }

  close(): void {
    this.#end('close');
  }

  destroy(): void {
    this.#end('destroy');
  }

  #end(how: string): void {
    this.ended.push(how);
    this.emit('close');
  }
}
