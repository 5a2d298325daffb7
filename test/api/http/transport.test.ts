// Sends requests of several HTTP versions over real sockets on loopback, and checks which are answered and
// that no connection is left.
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { constants } from 'node:http2';
import type { Duplex } from 'node:stream';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { ManualTime } from '../../fakes/manual-time.js';
import { until } from '../../fakes/until.js';
import { errorIn, openServer } from '../app-under-test.js';
import { EndlessStream, OUTCOME } from '../fake-speech.js';
import { EchoDialect, handshake } from './echo-dialect.js';
import { ask, askSpeech, errorCodeOf, openSession, wire } from './http2-client.js';
import { refusal } from './socket-client.js';

test('HTTP/1.1 and HTTP/2 without TLS are answered alike on one port', async (t) => {
  const { url } = await openServer(t);
  const one = await fetch(`${url}/v1/models`);
  const two = await ask(openSession(t, url), { ':path': '/v1/models' });
  assert.equal(one.status, 200);
  assert.equal(two.headers[':status'], 200);
  assert.deepEqual(JSON.parse(two.body), await one.json());
  assert.match(String(two.headers['x-request-id']), /^req_\d+$/);
  for (const name of ['content-security-policy', 'cross-origin-resource-policy', 'x-content-type-options']) {
    assert.equal(two.headers[name], one.headers.get(name), name);
  }
});

test('a request with two Host headers is refused, whatever it asks for and whatever they say', async (t) => {
  const upgraded: string[] = [];
  const foreignSocket = { path: '/sip', upgrade: () => void upgraded.push('sip') };
  const { url } = await openServer(t, { foreignSocket, apiKeys: ['key-one-0123456789'] });
  const { host } = new URL(url);
  const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n';
  const socket = `${upgrade}Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n`;
  for (const second of [host, 'evil.example', '']) {
    for (const [target, more] of [
      ['/health', ''],
      ['/', ''],
      ['/v1/models', ''],
      ['/nothing', ''],
      ['/sip', socket],
      ['/v1/calls/call_1/socket', socket],
    ]) {
      const { socket, received } = wire(t, url);
      socket.write(
        `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nhost: ${second}\r\n${more}${more === '' ? 'Connection: close\r\n' : ''}\r\n`,
      );
      assert.match(
        await received,
        /^HTTP\/1\.1 400 [^]*"message":"a request must have one Host header, /,
        target,
      );
    }
  }
  assert.deepEqual(upgraded, []);
});

test('a WebSocket of SIP takes no query parameter', async (t) => {
  const upgraded: string[] = [];
  const foreignSocket = {
    path: '/sip',
    upgrade: ({ url = '' }: IncomingMessage, socket: Duplex) => {
      upgraded.push(url);
      socket.end('HTTP/1.1 418 taken\r\n\r\n');
    },
  };
  const { url } = await openServer(t, { foreignSocket });
  for (const query of ['call_id=rtc_1', 'call_id', 'a=1&a=2']) {
    const { status, body } = await refusal(`${url}/sip?${query}`);
    const [name] = [...new URLSearchParams(query).keys()];
    assert.deepEqual([status, errorIn(body).param], [400, name]);
  }
  assert.equal((await refusal(`${url}/sip`)).status, 418);
  assert.deepEqual(upgraded, ['/sip']);
});

test('the page and its files come over HTTP/2 as over HTTP/1.1', async (t) => {
  const { url } = await openServer(t);
  const session = openSession(t, url);
  for (const path of ['/', '/app.js']) {
    const one = await fetch(`${url}${path}`);
    const two = await ask(session, { ':path': path });
    assert.deepEqual([two.headers[':status'], two.body], [200, await one.text()], path);
    assert.equal(two.headers['content-type'], one.headers.get('content-type'));
  }
});

test('many requests at once on one connection of HTTP/2 are all answered', async (t) => {
  const { url, speech } = await openServer(t);
  speech.whole = ['RIFF', 'abcd'];
  const session = openSession(t, url);
  const headers = { ':method': 'POST', ':path': '/v1/audio/speech', 'content-type': 'application/json' };
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => ask(session, headers, '{"input":"Hello."}')),
  );
  for (const { headers, body } of answers) assert.deepEqual([headers[':status'], body], [200, 'RIFFabcd']);
});

test('a preface that comes byte by byte is HTTP/2 all the same', async (t) => {
  const { url } = await openServer(t);
  const { socket } = wire(t, url);
  socket.setNoDelay(true);
  for (const byte of 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n') {
    await new Promise<void>((resolve) => socket.write(byte, () => resolve()));
  }
  const [answer] = (await once(socket, 'data')) as [Buffer];
  assert.equal(answer[3], 4, 'the server answers with its settings frame');
});

test('a method that begins as the preface does is HTTP/1', async (t) => {
  const { url } = await openServer(t);
  const { socket, received } = wire(t, url);
  socket.end('PROPFIND /v1/models HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  const answer = await received;
  assert.match(answer, /^HTTP\/1\.1 40[45] /);
});

test('what only pretends to be HTTP/2 ends its own connection, and no other', async (t) => {
  const { url } = await openServer(t);
  for (const bytes of ['PRIVATE\r\n\r\n', `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${'\u00ff'.repeat(64)}`]) {
    const { socket, received } = wire(t, url);
    socket.write(bytes, 'latin1');
    await received;
  }
  assert.equal((await fetch(`${url}/health`)).status, 200);
});

test('a connection on which nothing is said is cut off after the time for that', async (t) => {
  const time = new ManualTime();
  const { url } = await openServer(t, { time, startMs: 5000 });
  const { received } = wire(t, url);
  await until(() => time.waiting > 0);
  time.advance(5000);
  assert.equal(await received, '');
});

test('headers that come too slowly are answered with 408', async (t) => {
  const { url } = await openServer(t, { protocolLimits: { headersMs: 50, requestMs: 50, sweepMs: 10 } });
  const { socket, received } = wire(t, url);
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n');
  const answer = await received;
  assert.match(answer, /^HTTP\/1\.1 408 Request Timeout\r\n/);
  assert.equal(errorIn(answer.slice(answer.indexOf('\r\n\r\n'))).code, 'timeout');
});

test('a body that comes too slowly is answered with 408', async (t) => {
  const time = new ManualTime();
  const { url } = await openServer(t, { time, protocolLimits: { requestMs: 1000, sweepMs: 500 } });
  const { socket, received } = wire(t, url);
  const head = 'POST /v1/audio/speech HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
  socket.write(`${head}Content-Length: 100\r\n\r\n{`);
  await until(() => time.waiting > 0);
  assert.equal((await fetch(`${url}/health`)).status, 200); // by now the server has the other one, too
  time.advance(500);
  assert.equal(socket.destroyed, false);
  time.advance(500);
  assert.match(await received, /^HTTP\/1\.1 408 Request Timeout\r\n/);
});

test('a connection of HTTP/1 is kept for longer than the pools of clients keep it', async (t) => {
  const { url } = await openServer(t);
  const answer = await fetch(`${url}/health`);
  assert.equal(answer.headers.get('keep-alive'), 'timeout=130');
});

test('more headers than a request may have are refused, not dropped', async (t) => {
  const { url } = await openServer(t);
  const headers = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`x-header-${index}`, '1']));
  const status = (count: number) =>
    new Promise((resolve, reject) => {
      const request = httpRequest(`${url}/health`, { headers: headers(count), agent: false });
      request.on('response', (response) => resolve(response.resume().statusCode)).on('error', reject);
      request.end();
    });
  assert.equal(await status(98), 200); // host and connection are two more
  assert.equal(await status(99), 431);
  assert.equal(await status(500), 431);
  await assert.rejects(ask(openSession(t, url), { ':path': '/health', ...headers(200) }));
});

test('an authority in HTTP/2 is the host that is checked, and no header of HTTP/1 passes for one', async (t) => {
  const { url } = await openServer(t);
  const session = openSession(t, url);
  const foreign = await ask(session, {
    ':path': '/health',
    ':authority': 'rebound.example',
    host: 'localhost',
  });
  assert.equal(foreign.headers[':status'], 403);
  const { socket, received } = wire(t, url);
  socket.end('GET /health HTTP/1.1\r\n:authority: localhost\r\nHost: rebound.example\r\n\r\n');
  assert.match(await received, /^HTTP\/1\.1 40[03] /);
});

test('TRACE echoes nothing, and HEAD is GET without the body', async (t) => {
  const { url } = await openServer(t);
  for (const path of ['/health', '/v1/models', '/nothing']) {
    const { socket, received } = wire(t, url);
    socket.end(`TRACE ${path} HTTP/1.1\r\nHost: localhost\r\nX-Secret: mirror\r\nConnection: close\r\n\r\n`);
    const answer = await received;
    assert.match(answer, path === '/nothing' ? /^HTTP\/1\.1 404 / : /^HTTP\/1\.1 405 /);
    assert.equal(answer.includes('mirror'), false);
  }
  const head = await fetch(`${url}/health`, { method: 'HEAD' });
  assert.equal(head.status, 200);
  assert.equal(await head.text(), '');
});

test('closing ends connections of every kind, whatever they were about', async (t) => {
  const { url, server } = await openServer(t, { dialects: [new EchoDialect()] });
  const silent = wire(t, url);
  const begun = wire(t, url);
  begun.socket.write('GET / HT');
  const preface = wire(t, url);
  preface.socket.write('PR');
  const idle = wire(t, url);
  idle.socket.write('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await once(idle.socket, 'data');
  const session = openSession(t, url);
  await ask(session, { ':path': '/health' });
  const upgraded = wire(t, url);
  upgraded.socket.write(handshake(url));
  await once(upgraded.socket, 'data');
  const gone = once(session, 'close');
  await server.close();
  const all = [silent, begun, preface, idle, upgraded];
  await Promise.all([...all.map(({ received }) => received), gone]);
  assert.match(await upgraded.received, /^HTTP\/1\.1 101 /);
  await assert.rejects(fetch(`${url}/health`));
});

test('a request that is being answered when the server closes gets its answer, in both versions', async (t) => {
  const { url, server, calls } = await openServer(t);
  let answer: (() => void) | undefined;
  const waiting = new Promise<void>((resolve) => (answer = resolve));
  let asked = 0;
  calls.hangUp = async () => {
    asked++;
    await waiting;
    return true;
  };
  const one = fetch(`${url}/v1/realtime/calls/a`, { method: 'DELETE' });
  const session = openSession(t, url);
  const two = ask(session, { ':method': 'DELETE', ':path': '/v1/realtime/calls/b' });
  await until(() => asked === 2);
  const closing = server.close();
  answer?.();
  assert.equal((await one).status, 204);
  assert.equal((await two).headers[':status'], 204);
  await closing;
});

const curl = curlWithHttp2();

test(
  'curl is streamed speech over HTTP/2 without TLS',
  { skip: !curl && 'no curl with HTTP/2 here' },
  async (t) => {
    const { url, speech } = await openServer(t);
    speech.whole = ['RIFF', 'abcd'];
    const format = ' %{http_version} %{response_code} %{content_type}';
    const json = ['-H', 'content-type: application/json', '-d', '{"input":"Hello."}'];
    const options = ['-sS', '--http2-prior-knowledge', '-w', format, ...json, `${url}/v1/audio/speech`];
    const { stdout } = await promisify(execFile)('curl', options);
    assert.equal(stdout, 'RIFFabcd 2 200 audio/mpeg');
  },
);

function curlWithHttp2(): boolean {
  try {
    return execFileSync('curl', ['--version'], { encoding: 'utf8' }).includes('HTTP2');
  } catch {
    return false;
  }
}

// The tests below ask for speech over HTTP/2, where Node's HTTP/1 server has no part.

const { NGHTTP2_CANCEL, NGHTTP2_INTERNAL_ERROR } = constants;

function messages(logLines: readonly string[]): string[] {
  return logLines.map((line) => (JSON.parse(line) as { msg: string }).msg);
}

test('speech is streamed while it is made, then what it took, without the headers that HTTP/2 forbids', async (t) => {
  const { url, speech, logLines } = await openServer(t);
  const answer = askSpeech(openSession(t, url), { input: 'Hello.' });
  const stream = await speech.stream();
  stream.push('begun');
  const [headers] = (await once(answer, 'response')) as [Record<string, unknown>];
  assert.equal(headers[':status'], 200);
  assert.equal(headers['content-type'], 'audio/mpeg');
  assert.equal(headers['connection'] ?? headers['transfer-encoding'], undefined);
  assert.equal(String((await once(answer, 'data'))[0]), 'begun');
  stream.push(' and ended');
  stream.end();
  const trailers = once(answer, 'trailers') as Promise<[Record<string, unknown>]>;
  assert.equal(String((await once(answer, 'data'))[0]), ' and ended');
  await once(answer, 'close');
  const [received] = await trailers;
  assert.match(String(received['server-timing']), /^queue;dur=0, .*total;dur=[\d.]+$/);
  assert.equal(answer.rstCode, 0);
  await until(() => messages(logLines).includes('request answered'));
});

test('what is kept is sent whole', async (t) => {
  const { url, speech } = await openServer(t);
  speech.found = { contentType: 'audio/mpeg', bytes: Buffer.alloc(300_000, 'x'), outcome: OUTCOME };
  const headers = { ':method': 'POST', ':path': '/v1/audio/speech', 'content-type': 'application/json' };
  const answer = await ask(openSession(t, url), headers, '{"input":"Hello."}');
  assert.equal(answer.headers['x-cache'], 'hit');
  assert.equal(answer.headers['content-length'], '300000');
  assert.equal(answer.body.length, 300_000);
});

test('speech that breaks off is an error of its stream, never an end, and of no other stream', async (t) => {
  const { url, speech, logLines } = await openServer(t);
  const session = openSession(t, url);
  const answer = askSpeech(session, { input: 'Hello.' });
  const broken = errorCodeOf(answer);
  let ended = false;
  answer.on('end', () => (ended = true));
  const stream = await speech.stream();
  stream.push('half');
  await once(answer, 'data');
  stream.end(new Error('the engine failed'));
  assert.equal(await broken, NGHTTP2_INTERNAL_ERROR);
  assert.equal(ended, false);
  await until(() => messages(logLines).includes('request abandoned'));
  assert.ok(messages(logLines).includes('speech broken off'));
  assert.equal((await ask(session, { ':path': '/health' })).headers[':status'], 200);
});

test('a client that cancels its stream stops the work', async (t) => {
  const { url, speech, logLines } = await openServer(t);
  const answer = askSpeech(openSession(t, url), { input: 'Hello.' });
  const stream = await speech.stream();
  stream.push('begun');
  await once(answer, 'data');
  answer.close(NGHTTP2_CANCEL);
  await stream.cancelled;
  await until(() => messages(logLines).includes('request abandoned'));
});

test('a client that reads slowly gets every byte in order', async (t) => {
  const { url, speech } = await openServer(t);
  const sentences = Array.from({ length: 100 }, (_, index) => `${index} ${'x'.repeat(20_000)};`);
  speech.whole = sentences;
  const answer = askSpeech(openSession(t, url), { input: 'Hello.' });
  let received = '';
  for await (const chunk of answer) {
    received += String(chunk);
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.equal(received, sentences.join(''));
});

test('a client that reads nothing is dropped after a while, and the work is stopped', async (t) => {
  const { url, speech } = await openServer(t, { stallMs: 100 });
  const endless = new EndlessStream();
  speech.next = endless;
  const session = openSession(t, url);
  const answer = askSpeech(session, { input: 'Hello.' });
  const broken = errorCodeOf(answer);
  await endless.cancelled;
  assert.ok(endless.takenBytes < 4 * 1024 * 1024, `${endless.takenBytes} bytes were taken`);
  answer.resume();
  assert.equal(await broken, NGHTTP2_INTERNAL_ERROR);
});

test('a body that never comes ends its stream after the time for a request', async (t) => {
  const time = new ManualTime();
  const { url } = await openServer(t, {
    time,
    protocolLimits: { requestMs: 1000, headersMs: 1000, sweepMs: 500 },
  });
  const session = openSession(t, url);
  await ask(session, { ':path': '/health' });
  const headers = { ':method': 'POST', ':path': '/v1/audio/speech', 'content-type': 'application/json' };
  const stream = session.request(headers);
  const broken = errorCodeOf(stream);
  stream.write('{"input":');
  await ask(session, { ':path': '/health' }); // by now the server has the other one, too
  time.advance(1000);
  await ask(session, { ':path': '/health' });
  assert.equal(stream.closed, false);
  time.advance(500);
  assert.equal(await broken, NGHTTP2_CANCEL);
});

test('an answer that nobody takes ends its stream after the time for that', async (t) => {
  const time = new ManualTime();
  const protocolLimits = { requestMs: 1e9, idleMs: 1e9, stallMs: 2000, sweepMs: 1000 };
  const { url, speech } = await openServer(t, { time, stallMs: 1e6, protocolLimits });
  speech.found = { contentType: 'audio/mpeg', bytes: Buffer.alloc(1_000_000), outcome: OUTCOME };
  const session = openSession(t, url);
  const answer = askSpeech(session, { input: 'Hello.' });
  const broken = errorCodeOf(answer);
  await once(answer, 'response');
  time.advance(1000); // finds it written
  time.advance(2000);
  time.advance(1000);
  answer.resume();
  assert.equal(await broken, NGHTTP2_CANCEL);
});

test('a connection without requests is ended after the time for that, and one with a request is not', async (t) => {
  const time = new ManualTime();
  const protocolLimits = { requestMs: 1e9, stallMs: 1e9, idleMs: 5000, sweepMs: 1000 };
  const { url, speech } = await openServer(t, { time, protocolLimits });
  const session = openSession(t, url);
  const busy = openSession(t, url);
  await ask(session, { ':path': '/health' });
  const answer = askSpeech(busy, { input: 'Hello.' });
  const stream = await speech.stream();
  const gone = once(session, 'close');
  time.advance(7000);
  await gone;
  stream.push('still here');
  stream.end();
  assert.equal(String((await once(answer, 'data'))[0]), 'still here');
  busy.close();
});

test('a body that is too large is refused without ending the connection', async (t) => {
  const { url } = await openServer(t);
  const session = openSession(t, url);
  const headers = { ':method': 'POST', ':path': '/v1/audio/speech', 'content-type': 'application/json' };
  const answer = await ask(session, headers, `"${'x'.repeat(1024 * 1024)}"`);
  assert.equal(answer.headers[':status'], 413);
  assert.equal(answer.headers['connection'], undefined);
  assert.equal((await ask(session, { ':path': '/health' })).headers[':status'], 200);
});

test('a flood of cancelled requests ends its connection', async (t) => {
  const { url } = await openServer(t);
  const session = openSession(t, url);
  await ask(session, { ':path': '/health' });
  const goneAway = once(session, 'goaway');
  const headers = { ':method': 'POST', ':path': '/v1/audio/speech', 'content-type': 'application/json' };
  const flood = () => {
    if (session.destroyed || session.closed) return;
    for (let i = 0; i < 50; i++) {
      const stream = session.request(headers);
      stream.on('error', () => undefined);
      stream.close(NGHTTP2_CANCEL);
    }
    setImmediate(flood);
  };
  flood();
  const [code] = (await goneAway) as [number];
  assert.notEqual(code, 0);
  assert.equal((await fetch(`${url}/health`)).status, 200);
});
