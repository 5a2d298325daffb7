import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParleyError } from '../../../src/errors.js';
import { until } from '../../fakes/until.js';
import { errorIn, openApp, openServer } from '../app-under-test.js';
import { OUTCOME } from '../fake-speech.js';

const EVENTS = '/v1/audio/speech/stream';
const SAMPLES = ['/v1/audio/speech/stream/pcm', '/v1/audio/speech/pcm'];
const BODY = { input: 'One. Two.', voice: 'slt', response_format: 'mp3', stream_format: 'sse', stream: true };
const ASKED = {
  text: 'One. Two.',
  voice: 'slt',
  container: 'pcm',
  sampleRate: 24_000,
  speed: 1,
  client: '127.0.0.1',
};

function post(url: string, body: unknown): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  return fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

test('each chunk of samples is one event of base64, sent before the next one exists, and the last says so', async (t) => {
  const { url, speech } = await openServer(t);
  const answering = post(`${url}${EVENTS}`, BODY);
  const stream = await speech.stream();
  stream.push('first');
  const answer = await answering;
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('content-type'), 'text/event-stream; charset=utf-8');
  assert.match(answer.headers.get('cache-control') ?? '', /no-cache/);
  assert.equal(answer.headers.get('x-accel-buffering'), 'no');
  assert.equal(answer.headers.get('x-pcm-sample-rate'), '24000');
  const reader = answer.body?.getReader();
  assert.ok(reader !== undefined);
  const next = async () => Buffer.from((await reader.read()).value ?? []).toString();
  assert.equal(await next(), `data: ${base64('first')}\n\n`);
  stream.push('second');
  assert.equal(await next(), `data: ${base64('second')}\n\n`);
  stream.end();
  assert.equal(await next(), 'data: [DONE]\n\n');
  assert.equal((await reader.read()).done, true);
  await stream.cancelled;
  assert.deepEqual(speech.requests, [ASKED]);
});

test('what fails in the middle is an event of one line that tells no secrets, and the log has them', async (t) => {
  const { url, speech, logLines } = await openServer(t);
  const cases = [
    [
      new ParleyError('TIMEOUT', 'the sentence waited\n60 s'),
      /^data: \[ERROR\] the sentence waited 60 s\n\n$/,
    ],
    [new ParleyError('ENGINE_FAILED', 'secret'), /^data: \[ERROR\] the speech engine failed .* req_2\n\n$/],
  ] as const;
  for (const [error, event] of cases) {
    const answering = post(`${url}${EVENTS}`, BODY);
    const stream = await speech.stream();
    speech.streams.shift();
    stream.push('half');
    stream.end(error);
    const text = await (await answering).text();
    const [first = '', ...rest] = text.split(/(?<=\n\n)/);
    assert.equal(first, `data: ${base64('half')}\n\n`);
    assert.equal(rest.length, 1);
    assert.match(rest[0] ?? '', event);
  }
  assert.equal(logLines.filter((line) => line.includes('speech broken off')).length, cases.length);
  assert.ok(logLines.some((line) => line.includes('secret')));
});

test('what fails before the first sample is an ordinary error under the name the client knows', async (t) => {
  const { app, speech } = await openApp(t);
  speech.refusal = new ParleyError('TEXT_EMPTY', 'nothing to speak', { field: 'text' });
  for (const url of [EVENTS, ...SAMPLES]) {
    const refused = await app.inject({ method: 'POST', url, payload: BODY });
    assert.equal(refused.statusCode, 400, url);
    assert.equal(errorIn(refused.body).param, 'input');
    const invalid = await app.inject({ method: 'POST', url, payload: { ...BODY, speed: 9 } });
    assert.equal(errorIn(invalid.body).param, 'speed');
    const noObject = await app.inject({ method: 'POST', url, payload: ['input'] });
    assert.equal(errorIn(noObject.body).code, 'malformed');
  }
});

test('raw samples come with their nature in headers and a name for the file', async (t) => {
  const { app, speech } = await openApp(t);
  speech.whole = ['sam', 'ples'];
  for (const url of SAMPLES) {
    const { statusCode, headers, body } = await app.inject({ method: 'POST', url, payload: BODY });
    assert.equal(statusCode, 200);
    assert.equal(body, 'samples');
    assert.equal(headers['content-type'], 'audio/pcm');
    assert.equal(headers['content-disposition'], 'attachment; filename="speech.pcm"');
    const nature = ['sample-rate', 'bit-depth', 'channels'].map((name) => headers[`x-pcm-${name}`]);
    assert.deepEqual(nature, ['24000', '16', '1']);
  }
  assert.deepEqual(speech.requests, [ASKED, ASKED]);
});

test('the reply states the requested rate', async (t) => {
  const { app, speech } = await openApp(t);
  speech.whole = ['samples'];
  const payload = { ...BODY, sample_rate: 8000 };
  const { headers } = await app.inject({ method: 'POST', url: SAMPLES[0] ?? '', payload });
  assert.equal(headers['x-pcm-sample-rate'], '8000');
  assert.equal(speech.requests[0]?.sampleRate, 8000);
});

test('what was rendered before is sent from the cache: samples at once, events in pieces', async (t) => {
  const { app, speech } = await openApp(t);
  const bytes = Uint8Array.from({ length: 40_000 }, (_, at) => at % 251);
  speech.found = { contentType: 'audio/pcm', bytes, outcome: OUTCOME };
  const samples = await app.inject({ method: 'POST', url: SAMPLES[1] ?? '', payload: BODY });
  assert.equal(samples.headers['x-cache'], 'hit');
  assert.equal(samples.headers['content-length'], '40000');
  assert.ok(samples.rawPayload.equals(Buffer.from(bytes)));
  const events = await app.inject({ method: 'POST', url: EVENTS, payload: BODY });
  assert.equal(events.headers['x-cache'], 'hit');
  const data = events.body
    .split('\n\n')
    .filter(Boolean)
    .map((event) => event.slice('data: '.length));
  assert.equal(data.pop(), '[DONE]');
  const pieces = data.map((piece) => Buffer.from(piece, 'base64'));
  assert.deepEqual(
    pieces.map(({ length }) => length),
    [12_288, 12_288, 12_288, 3136],
  );
  assert.ok(Buffer.concat(pieces).equals(Buffer.from(bytes)));
  assert.equal(speech.requests.length, 0);
});

test('a client that leaves the events stops the work', async (t) => {
  const { url, speech } = await openServer(t);
  const client = new AbortController();
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify(BODY);
  const answering = fetch(`${url}${EVENTS}`, { method: 'POST', headers, body, signal: client.signal });
  const stream = await speech.stream();
  stream.push('half');
  const answer = await answering;
  client.abort();
  await assert.rejects(answer.text());
  await stream.cancelled;
});

test('a key is wanted here as everywhere', async (t) => {
  const { app, logLines } = await openApp(t, { apiKeys: ['k'.repeat(16)] });
  for (const url of [EVENTS, ...SAMPLES]) {
    assert.equal((await app.inject({ method: 'POST', url, payload: BODY })).statusCode, 401);
  }
  await until(() => logLines.length >= 3);
});
