// Speech and its limits over HTTP/2, where Node's HTTP/1 server has no part.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { constants } from 'node:http2';
import { test } from 'node:test';
import { ManualTime } from '../../fakes/manual-time.js';
import { until } from '../../fakes/until.js';
import { openServer } from '../app-under-test.js';
import { ask, askSpeech, errorCodeOf, openSession } from './http2-client.js';
import { EndlessStream, OUTCOME } from '../fake-speech.js';

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
