// The ways in which sound is sent: as a stream, whole, and as events.
import assert from 'node:assert/strict';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { ParleyError } from '../../../src/errors.js';
import type { SoundOutcome } from '../../../src/speaking/sound.js';
import { WholeSounds } from '../../../src/api/speech/audio-replies.js';
import { until } from '../../fakes/until.js';
import { errorIn, openApp, openServer } from '../app-under-test.js';

const SPEECH = '/v1/audio/speech';
const TIMING = { queueMs: 1.24, loadMs: 0, inferMs: 20, encodeMs: 3.06 };
const OUTCOME: SoundOutcome = { durationMs: 1001, sentences: [], timing: TIMING };
const TIMING_NAMES =
  'x-latency-queue-ms, x-latency-load-ms, x-latency-infer-ms, x-latency-encode-ms, x-latency-total-ms, server-timing';

interface SentEvent {
  readonly event: string;
  readonly data: Record<string, unknown>;
}

/** Every event of a body; fails where the body is not made of events only. */
function eventsIn(body: string): SentEvent[] {
  assert.ok(body.endsWith('\n\n'));
  return body
    .slice(0, -2)
    .split('\n\n')
    .map((written) => {
      const [, event = '', data = ''] = /^event: (\S+)\ndata: (.*)$/.exec(written) ?? assert.fail(written);
      return { event, data: JSON.parse(data) as Record<string, unknown> };
    });
}

/** The answer, with its trailers once its body is read. */
function asked(url: string, fields: object): Promise<{ message: IncomingMessage; body: Buffer }> {
  return new Promise((resolve, reject) => {
    const options = { method: 'POST', headers: { 'content-type': 'application/json' } };
    const client = httpRequest(`${url}${SPEECH}`, options, (message) => {
      const chunks: Buffer[] = [];
      message.on('data', (chunk: Buffer) => chunks.push(chunk));
      message.on('error', reject);
      message.on('end', () => resolve({ message, body: Buffer.concat(chunks) }));
    });
    client.on('error', reject);
    client.end(JSON.stringify({ input: 'Hello.', ...fields }));
  });
}

function assertTiming(received: Record<string, unknown>): void {
  const { 'x-latency-total-ms': total, 'server-timing': server, ...parts } = received;
  assert.deepEqual(parts, {
    'x-latency-queue-ms': '1.2',
    'x-latency-load-ms': '0',
    'x-latency-infer-ms': '20',
    'x-latency-encode-ms': '3.1',
  });
  assert.match(String(total), /^\d+(\.\d)?$/);
  assert.equal(server, `queue;dur=1.2, load;dur=0, infer;dur=20, encode;dur=3.1, total;dur=${String(total)}`);
}

function timingIn(headers: IncomingMessage['headers']): Record<string, unknown> {
  return Object.fromEntries(
    TIMING_NAMES.split(', ').flatMap((name) => (name in headers ? [[name, headers[name]]] : [])),
  );
}

test('a stream announces what it took, and tells it when it has ended', async (t) => {
  const { url, speech } = await openServer(t);
  const answering = asked(url, {});
  const stream = await speech.stream();
  stream.outcome = Promise.resolve(OUTCOME);
  stream.push('sound');
  stream.end();
  const { message, body } = await answering;
  assert.equal(body.toString(), 'sound');
  assert.equal(message.headers.trailer, TIMING_NAMES);
  assert.equal(message.headers['x-accel-buffering'], 'no');
  assert.equal(message.headers['cache-control'], 'no-cache, no-store');
  assert.deepEqual(timingIn(message.headers), {});
  assertTiming(message.trailers);
});

test('a client of HTTP/1.0 gets the sound alone: its bodies have no trailers', async (t) => {
  const { url, speech } = await openServer(t);
  speech.whole = ['sound'];
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  const payload = '{"input":"Hello."}';
  const head = `Content-Type: application/json\r\nContent-Length: ${payload.length}`;
  socket.write(`POST ${SPEECH} HTTP/1.0\r\nHost: localhost\r\n${head}\r\n\r\n${payload}`);
  let answer = '';
  for await (const chunk of socket) answer += String(chunk);
  assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/);
  assert.ok(answer.endsWith('\r\n\r\nsound'));
  assert.doesNotMatch(answer, /trailer/i);
});

test('a whole sound comes with its length and what it took', async (t) => {
  const { url, speech } = await openServer(t);
  for (const fields of [
    { stream: false },
    { non_streaming_mode: true },
    { stream: false, stream_format: 'audio' },
  ]) {
    speech.streams.length = 0;
    const answering = asked(url, fields);
    const stream = await speech.stream();
    stream.outcome = Promise.resolve(OUTCOME);
    stream.push('first, ');
    stream.push('second');
    stream.end();
    const { message, body } = await answering;
    assert.equal(body.toString(), 'first, second');
    assert.equal(message.headers['content-length'], '13');
    assert.equal(message.headers['transfer-encoding'], undefined);
    assert.equal(message.headers.trailer, undefined);
    assertTiming(timingIn(message.headers));
  }
});

test('a whole file begins with the header that states its length, made now or found', async (t) => {
  const { url, speech } = await openServer(t);
  const streamed = Buffer.from('a stream and its sound');
  const outcome = { ...OUTCOME, header: { replaced: 8, bytes: Buffer.from('a longer file') } };
  const whole = Buffer.from('a longer file and its sound');
  const fields = { response_format: 'flac', stream: false };
  const answering = asked(url, fields);
  const stream = await speech.stream();
  stream.outcome = Promise.resolve(outcome);
  stream.push(streamed.subarray(0, 10));
  stream.push(streamed.subarray(10));
  stream.end();
  const made = await answering;
  assert.ok(made.body.equals(whole));
  assert.equal(made.message.headers['content-length'], String(whole.length));
  speech.keep(streamed, 'audio/flac', outcome);
  const found = await asked(url, fields);
  assert.ok(found.body.equals(whole));
  assert.equal(found.message.headers['content-length'], String(whole.length));
  assert.equal(found.message.headers['x-cache'], 'hit');
  // A client that asks for a stream gets the same bytes as from one.
  assert.ok((await asked(url, { response_format: 'flac' })).body.equals(streamed));
  assert.ok(speech.found?.bytes.every((byte, index) => byte === streamed[index]));
});

test('a whole sound that fails midway is an ordinary error', async (t) => {
  const { url, speech } = await openServer(t);
  const answering = asked(url, { stream: false });
  const stream = await speech.stream();
  stream.push('half of');
  stream.end(new ParleyError('ENGINE_FAILED', 'detail'));
  const { message, body } = await answering;
  assert.equal(message.statusCode, 500);
  assert.equal(errorIn(body.toString()).code, 'engine_failed');
});

test('a whole sound has a bound, and the refusal names streams', async (t) => {
  const { url, speech } = await openServer(t);
  const answering = asked(url, { stream: false });
  const stream = await speech.stream();
  for (let mebibytes = 0; mebibytes <= 32; mebibytes++) stream.push(Buffer.alloc(1024 * 1024));
  const { message, body } = await answering;
  await stream.cancelled;
  assert.equal(message.statusCode, 400);
  assert.deepEqual(errorIn(body.toString()), {
    message: '"stream" must not be false for a sound of more than 33554432 bytes',
    type: 'invalid_request_error',
    param: 'stream',
    code: 'invalid_value',
  });
});

test('sounds of the cache that slow clients hold have a bound, and each counts once', () => {
  const wholes = new WholeSounds({ maxBytes: 10, maxTotalBytes: 10 });
  const [large, six, five] = [new Uint8Array(11), new Uint8Array(6), new Uint8Array(5)];
  const letGoLarge = wholes.share(large);
  assert.equal(wholes.held, 11);
  letGoLarge();
  letGoLarge();
  const first = wholes.share(six);
  const second = wholes.share(six);
  assert.equal(wholes.held, 6);
  assert.throws(() => wholes.share(five), { code: 'QUEUE_FULL' });
  first();
  assert.equal(wholes.held, 6);
  second();
  wholes.share(five);
  assert.equal(wholes.held, 5);
});

test('a found sound is refused while a client that does not read holds as much as may be held', async (t) => {
  const { url, speech } = await openServer(t);
  const found = (mebibytes: number) => ({
    contentType: 'audio/mpeg',
    bytes: new Uint8Array(mebibytes * 1024 * 1024),
    outcome: OUTCOME,
  });
  speech.found = found(200);
  const { port, hostname } = new URL(url);
  const slow = connect(Number(port), hostname);
  const body = JSON.stringify({ input: 'Hello.' });
  slow.write(
    `POST ${SPEECH} HTTP/1.1\r\nhost: ${hostname}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  await once(slow, 'readable');
  speech.found = found(57);
  const refused = await asked(url, {});
  assert.equal(refused.message.statusCode, 503);
  assert.deepEqual(errorIn(refused.body.toString()).code, 'queue_full');
  slow.destroy();
  await until(async () => (await asked(url, {})).message.statusCode === 200);
});

test('a sound that is found tells that it took nothing', async (t) => {
  const { app, speech } = await openApp(t);
  speech.keep('sound');
  const { headers } = await app.inject({ method: 'POST', url: SPEECH, payload: { input: 'Hello.' } });
  const parts = ['queue', 'load', 'infer', 'encode'].map((part) => headers[`x-latency-${part}-ms`]);
  assert.deepEqual(parts, ['0', '0', '0', '0']);
  assert.equal(
    headers['server-timing'],
    `cache;desc=hit, total;dur=${String(headers['x-latency-total-ms'])}`,
  );
});

test('events carry the sound in pieces and end with what it came to', async (t) => {
  const { url, speech } = await openServer(t);
  for (const fields of [{ stream_format: 'sse' }, { stream: true }, { stream: true, stream_format: 'sse' }]) {
    speech.streams.length = 0;
    const answering = asked(url, { input: 'Héllo', response_format: 'pcm', ...fields });
    const stream = await speech.stream();
    stream.outcome = Promise.resolve(OUTCOME);
    stream.push('first');
    stream.push('second');
    stream.end();
    const { message, body } = await answering;
    assert.match(String(message.headers['content-type']), /^text\/event-stream/);
    assert.equal(message.headers['x-pcm-sample-rate'], '24000');
    assert.equal(message.headers['x-accel-buffering'], 'no');
    assert.equal(message.headers['cache-control'], 'no-cache, no-store');
    assert.equal(message.headers.trailer, undefined);
    const [first, second, done, ...rest] = eventsIn(body.toString());
    assert.deepEqual(rest, []);
    const delta = (audio: string) => ({
      event: 'speech.audio.delta',
      data: { type: 'speech.audio.delta', audio },
    });
    assert.deepEqual([first, second], [delta('Zmlyc3Q='), delta('c2Vjb25k')]);
    assert.equal(done?.event, 'speech.audio.done');
    const { timing, ...data } = done.data as { timing: Record<string, number> };
    // Six bytes of text, and a sound of 12.5125 frames.
    assert.deepEqual(data, {
      type: 'speech.audio.done',
      usage: { input_tokens: 2, output_tokens: 13, total_tokens: 15 },
    });
    const { total_ms, ...parts } = timing;
    assert.deepEqual(parts, { queue_ms: 1.2, load_ms: 0, infer_ms: 20, encode_ms: 3.1 });
    assert.ok(total_ms !== undefined && total_ms > 0);
  }
});

test('"stream" with "stream_format" of audio is the sound itself', async (t) => {
  const { app, speech } = await openApp(t);
  speech.whole = ['sound'];
  const payload = { input: 'Hello.', stream: true, stream_format: 'audio' };
  const answer = await app.inject({ method: 'POST', url: SPEECH, payload });
  assert.equal(answer.headers['content-type'], 'audio/mpeg');
  assert.equal(answer.body, 'sound');
});

test('a rendering that is found makes events, too, in lines that every reader takes', async (t) => {
  const { app, speech } = await openApp(t);
  const sound = Buffer.from(Array.from({ length: 100_000 }, (_, index) => index % 251));
  speech.keep(sound, 'audio/mpeg', OUTCOME);
  const payload = { input: 'Hello.', stream_format: 'sse' };
  const answer = await app.inject({ method: 'POST', url: SPEECH, payload });
  assert.equal(answer.headers['x-cache'], 'hit');
  assert.ok(answer.body.split('\n').every((line) => line.length < 65_536));
  const events = eventsIn(answer.body);
  const pieces = events.slice(0, -1).map(({ data }) => Buffer.from(String(data['audio']), 'base64'));
  assert.ok(Buffer.concat(pieces).equals(sound));
  assert.equal(events.at(-1)?.event, 'speech.audio.done');
  const { total_ms: _total, ...parts } = (events.at(-1)?.data['timing'] ?? {}) as Record<string, number>;
  assert.deepEqual(parts, { queue_ms: 0, load_ms: 0, infer_ms: 0, encode_ms: 0 });
  assert.equal(speech.requests.length, 0);
});

test('a sound that breaks off midway ends with an error event, and none says that it is done', async (t) => {
  const { url, speech, logLines } = await openServer(t);
  const answering = asked(url, { stream_format: 'sse' });
  const stream = await speech.stream();
  stream.push('half of');
  stream.end(new ParleyError('TIMEOUT', 'the engine was too slow'));
  const { message, body } = await answering;
  assert.equal(message.statusCode, 200);
  const [delta, error, ...rest] = eventsIn(body.toString());
  assert.equal(delta?.event, 'speech.audio.delta');
  assert.deepEqual(error, {
    event: 'error',
    data: {
      type: 'error',
      error: { message: 'the engine was too slow', type: 'server_error', param: null, code: 'timeout' },
    },
  });
  assert.deepEqual(rest, []);
  assert.equal(logLines.filter((line) => line.includes('speech broken off')).length, 1);
});

test('what is refused before the first event is an ordinary error', async (t) => {
  const { app, speech } = await openApp(t);
  speech.refusal = new ParleyError('TEXT_EMPTY', 'nothing to say', { field: 'text' });
  const payload = { input: '…', stream_format: 'sse' };
  const answer = await app.inject({ method: 'POST', url: SPEECH, payload });
  assert.equal(answer.statusCode, 400);
  assert.match(String(answer.headers['content-type']), /^application\/json/);
  assert.equal(errorIn(answer.body).param, 'input');
});
