import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { test } from 'node:test';
import { ParleyError } from '../../../src/errors.js';
import { until } from '../../fakes/until.js';
import { errorIn, openApp, openServer } from '../app-under-test.js';
import { OFFER } from '../calls/fake-exchange.js';
import { FakeTranscriber } from '../fake-transcriber.js';
import { EndlessStream, FakeStream, OUTCOME, VOICES } from '../fake-speech.js';

const SPEECH = '/v1/audio/speech';

function post(url: string, body: unknown, signal?: AbortSignal): Promise<Response> {
  return fetch(`${url}${SPEECH}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });
}

async function textOf(read: Promise<{ value?: Uint8Array | undefined }>): Promise<string> {
  return Buffer.from((await read).value ?? []).toString();
}

const client = '127.0.0.1'; // address of injected requests

test('the first sentence reaches the client before the second one exists', async (t) => {
  const { url, speech } = await openServer(t);
  const answering = post(url, { model: 'tts-1', voice: 'slt', input: 'One. Two.' });
  const stream = await speech.stream();
  stream.push('first sentence');
  const answer = await answering;
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('content-type'), 'audio/mpeg');
  assert.equal(answer.headers.get('transfer-encoding'), 'chunked');
  const reader = answer.body?.getReader();
  assert.ok(reader);
  assert.equal(await textOf(reader.read()), 'first sentence');
  stream.push('second sentence');
  assert.equal(await textOf(reader.read()), 'second sentence');
  stream.end();
  assert.equal((await reader.read()).done, true);
  await stream.cancelled;
});

test('raw samples say in headers what they are, and the request reaches the service as it was meant', async (t) => {
  const { app, speech } = await openApp(t);
  speech.whole = ['samples'];
  const answer = await app.inject({
    method: 'POST',
    url: SPEECH,
    payload: {
      model: 'any',
      voice: { id: 'fr' },
      input: 'Bonjour.',
      response_format: 'pcm',
      speed: 1,
      language: 'fr-CA',
      stream_format: 'audio',
      instructions: 'None',
      unknown_field: { ignored: true },
    },
  });
  assert.equal(answer.statusCode, 200);
  assert.equal(answer.body, 'samples');
  assert.equal(answer.headers['content-type'], 'audio/pcm');
  assert.equal(answer.headers['x-pcm-sample-rate'], '24000');
  assert.match(String(answer.headers['x-request-id']), /^req_/);
  assert.deepEqual(speech.requests, [
    {
      text: 'Bonjour.',
      voice: 'fr',
      language: 'fr-CA',
      container: 'pcm',
      sampleRate: 24_000,
      speed: 1,
      client,
    },
  ]);
});

test("where nothing is chosen the answer is an MP3 in the server's voice", async (t) => {
  const { app, speech } = await openApp(t);
  speech.whole = ['RIFF'];
  for (const payload of [
    { input: 'Hello.' },
    { input: 'Hello.', language: 'auto' },
    { input: 'Hello.', voice: null, speed: null, response_format: null },
  ]) {
    await app.inject({ method: 'POST', url: SPEECH, payload });
  }
  const plain = { text: 'Hello.', container: 'mp3', sampleRate: 24_000, speed: 1, client };
  assert.deepEqual(speech.requests, [plain, plain, plain]);
});

test('every format is asked for by its name and answered under its type, raw ones with what they hold', async (t) => {
  const { app, speech } = await openApp(t);
  speech.whole = ['bytes'];
  const cases = [
    ['mp3', 'mp3', 44_100, 'audio/mpeg', undefined],
    ['opus', 'ogg', 48_000, 'audio/opus', undefined],
    ['ogg', 'ogg', 16_000, 'audio/ogg', undefined],
    ['aac', 'aac', 44_100, 'audio/aac', undefined],
    ['flac', 'flac', 8000, 'audio/flac', undefined],
    ['wav', 'wav', 22_050, 'audio/wav', undefined],
    ['pcm', 'pcm', 16_000, 'audio/pcm', ['16000', '1', '16', 's16le']],
    ['ulaw_8000', 'ulaw', 8000, 'audio/basic', ['8000', '1', '8', 'mulaw']],
    ['alaw_8000', 'alaw', 8000, 'audio/x-alaw-basic', ['8000', '1', '8', 'alaw']],
  ] as const;
  for (const [response_format, container, sample_rate, contentType, raw] of cases) {
    const payload = { input: 'Hello.', response_format, sample_rate, speed: 1.5 };
    const { headers } = await app.inject({ method: 'POST', url: SPEECH, payload });
    assert.equal(headers['content-type'], contentType);
    const received = ['sample-rate', 'channels', 'bit-depth', 'format'].map(
      (name) => headers[`x-pcm-${name}`],
    );
    assert.deepEqual(received, raw ?? Array.from({ length: 4 }, () => undefined));
    assert.deepEqual(speech.requests.at(-1), {
      text: 'Hello.',
      container,
      sampleRate: sample_rate,
      speed: 1.5,
      client: '127.0.0.1',
    });
  }
});

test('a field with a value that is not allowed is named, with what is allowed', async (t) => {
  const { app, speech } = await openApp(t);
  const cases: [Record<string, unknown>, string, RegExp][] = [
    [{}, 'input', /must be a string/],
    [{ input: 7 }, 'input', /must be a string/],
    [{ input: 'x', response_format: 'vox' }, 'response_format', /one of "mp3", .*"alaw_8000"$/],
    [{ input: 'x', response_format: ['mp3'] }, 'response_format', /one of "mp3"/],
    [{ input: 'x', speed: 0.2 }, 'speed', /from 0.25 to 4/],
    [{ input: 'x', speed: 4.01 }, 'speed', /from 0.25 to 4/],
    [{ input: 'x', speed: '2' }, 'speed', /from 0.25 to 4/],
    [{ input: 'x', response_format: 'wav', sample_rate: 7999 }, 'sample_rate', /8000 to 48000/],
    [{ input: 'x', response_format: 'pcm', sample_rate: 48_025 }, 'sample_rate', /8000 to 48000/],
    [{ input: 'x', response_format: 'opus', sample_rate: 44_101 }, 'sample_rate', /steps of 25/],
    [{ input: 'x', response_format: 'aac', sample_rate: 96_000 }, 'sample_rate', /from 8000 to 48000/],
    [{ input: 'x', response_format: 'aac', sample_rate: 10_000 }, 'sample_rate', /aac must be 8000, 11025, /],
    [{ input: 'x', sample_rate: 10_000 }, 'sample_rate', /mp3 must be 8000, 11025, /],
    [{ input: 'x', response_format: 'ulaw_8000', sample_rate: 16_000 }, 'sample_rate', /must be 8000 /],
    [{ input: 'x', stream_format: 'mp3' }, 'stream_format', /must be one of "audio", "sse"$/],
    [{ input: 'x', voice: 3 }, 'voice', /1 to 200 characters/],
    [{ input: 'x', voice: { id: '' } }, 'voice.id', /1 to 200 characters/],
    [{ input: 'x', model: 'm'.repeat(201) }, 'model', /1 to 200 characters/],
    [{ input: 'x', language: 'Klingon!' }, 'language', /such as "en"/],
  ];
  for (const [payload, field, message] of cases) {
    const answer = await app.inject({ method: 'POST', url: SPEECH, payload });
    assert.equal(answer.statusCode, 400, JSON.stringify(payload));
    const error = errorIn(answer.body);
    assert.equal(error.param, field);
    assert.equal(error.code, 'invalid_value');
    assert.match(error.message, message);
  }
  assert.equal(speech.requests.length, 0);
});

test('what the service refuses before the first byte is an ordinary error under the name the client knows', async (t) => {
  const { app, speech } = await openApp(t);
  speech.refusal = new ParleyError('TEXT_TOO_LONG', 'longer than 4096', { field: 'text' });
  const long = await app.inject({ method: 'POST', url: SPEECH, payload: { input: 'x' } });
  assert.equal(long.statusCode, 400);
  assert.deepEqual(errorIn(long.body), {
    message: 'longer than 4096',
    type: 'invalid_request_error',
    param: 'input',
    code: 'text_too_long',
  });
  speech.refusal = new ParleyError('ENGINE_BUSY', 'busy');
  const busy = await app.inject({ method: 'POST', url: SPEECH, payload: { input: 'x' } });
  assert.equal(busy.statusCode, 503);
  assert.equal(busy.headers['retry-after'], '1');
  assert.equal(busy.headers['content-type'], 'application/json; charset=utf-8');
});

test('speech that fails before its first byte is an error, not an empty sound', async (t) => {
  const { url, speech } = await openServer(t);
  const answering = post(url, { input: 'Hello.' });
  (await speech.stream()).end(new ParleyError('ENGINE_FAILED', 'detail'));
  const answer = await answering;
  assert.equal(answer.status, 500);
  assert.equal(errorIn(await answer.text()).code, 'engine_failed');
});

test('speech that fails midway breaks the connection and never ends it cleanly', async (t) => {
  const { url, speech, logLines } = await openServer(t);
  const answering = post(url, { input: 'Hello.' });
  const stream = await speech.stream();
  stream.push('half of');
  const reader = (await answering).body?.getReader();
  assert.ok(reader);
  assert.equal(await textOf(reader.read()), 'half of');
  stream.end(new ParleyError('ENGINE_FAILED', 'detail'));
  await assert.rejects(reader.read());
  await stream.cancelled;
  assert.equal(logLines.filter((line) => line.includes('speech broken off')).length, 1);
});

test('a full queue is a 503 that says when to come back, in seconds and in milliseconds', async (t) => {
  const { app, speech } = await openApp(t);
  speech.refusal = new ParleyError('ENGINE_BUSY', 'all places are taken', { retryAfterSeconds: 2.5 });
  const answer = await app.inject({ method: 'POST', url: SPEECH, payload: { input: 'x' } });
  assert.equal(answer.statusCode, 503);
  assert.equal(answer.headers['retry-after'], '3');
  assert.equal(answer.headers['retry-after-ms'], '2500');
  assert.equal(errorIn(answer.body).code, 'engine_busy');
});

test('a text without sound in time is answered with 504, and its work is stopped', async (t) => {
  const { url, speech, logLines } = await openServer(t, { requestTimeoutMs: 50 });
  const answer = await post(url, { input: 'Hello.' });
  await (
    await speech.stream()
  ).cancelled;
  assert.equal(answer.status, 504);
  assert.deepEqual(errorIn(await answer.text()), {
    message: 'there was no sound within 0.05 s',
    type: 'server_error',
    param: null,
    code: 'timeout',
  });
  assert.equal(answer.headers.get('x-should-retry'), 'false');
  assert.equal(logLines.filter((line) => line.includes('broken off')).length, 0);
});

test('a text that has begun in time may take longer', async (t) => {
  const { url, speech } = await openServer(t, { requestTimeoutMs: 50 });
  const answering = post(url, { input: 'Hello.' });
  const stream = await speech.stream();
  stream.push('begun');
  const answer = await answering;
  const late = new Promise((resolve) => setTimeout(resolve, 60)); // outlives the limit, which must not matter
  await late;
  stream.push(' and ended');
  stream.end();
  assert.equal(await answer.text(), 'begun and ended');
});

test('clients are distinguished by key, and by address if there is none', async (t) => {
  const keys = ['a'.repeat(16), 'b'.repeat(16)];
  const { app, speech } = await openApp(t, { apiKeys: keys });
  speech.whole = ['RIFF'];
  for (const key of keys) {
    const headers = { authorization: `Bearer ${key}` };
    await app.inject({ method: 'POST', url: SPEECH, headers, payload: { input: 'Hello.' } });
  }
  const clients = speech.requests.map((request) => request.client);
  assert.equal(new Set(clients).size, 2);
  for (const client of clients) assert.match(client ?? '', /^key [0-9a-f]{64}$/);
});

test('a client that leaves stops the work, before the first byte and after it', async (t) => {
  const { url, speech } = await openServer(t);
  const early = new AbortController();
  const refused = assert.rejects(post(url, { input: 'Hello.' }, early.signal));
  const first = await speech.stream();
  early.abort();
  await refused;
  await first.cancelled;

  speech.streams.length = 0;
  const late = new AbortController();
  const answering = post(url, { input: 'Hello.' }, late.signal);
  const second = await speech.stream();
  second.push('begun');
  await (await answering).body?.getReader().read();
  late.abort();
  await second.cancelled;
});

test('a client that is gone before its text is looked at has none spoken', async (t) => {
  const leave = new AbortController();
  let lookedAt = false;
  const { app, speech } = await openApp(t, {}, (before) => {
    before.addHook('preHandler', (_request, { raw }, done) => {
      raw.once('close', () => setImmediate(done));
      leave.abort();
    });
    before.addHook('onError', (_request, _reply, _error, done) => {
      lookedAt = true;
      done();
    });
  });
  await assert.rejects(post(await app.listen({ port: 0 }), { input: 'Hello.' }, leave.signal));
  await until(() => lookedAt || speech.requests.length > 0);
  app.server.closeAllConnections();
  assert.deepEqual(speech.requests, []);
});

test('a client that reads nothing holds up its own stream, and is dropped after a while', async (t) => {
  const { url, speech } = await openServer(t, { stallMs: 200 });
  const endless = new EndlessStream();
  speech.next = endless;
  const body = '{"input":"Hello."}';
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => undefined); // the reset that ends it
  socket.pause();
  socket.write(
    `POST ${SPEECH} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${body.length}\r\n\r\n${body}`,
  );
  await endless.cancelled;
  // Allows for kernel buffers on both sides; an endless text would produce far more.
  assert.ok(endless.takenBytes < 64 * 1024 * 1024, `${endless.takenBytes} bytes were taken`);
  socket.destroy();
});

test('a client that reads slowly gets every byte in order', async (t) => {
  const { url, speech } = await openServer(t);
  const sentences = Array.from({ length: 200 }, (_, index) => `${index} ${'x'.repeat(20_000)};`);
  speech.whole = sentences;
  const received = await new Promise<string>((resolve, reject) => {
    const client = httpRequest(`${url}${SPEECH}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
    });
    client.on('error', reject);
    client.on('response', (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString();
        response.pause();
        setImmediate(() => response.resume());
      });
      response.on('end', () => resolve(text));
    });
    client.end('{"input":"Hello."}');
  });
  assert.equal(received, sentences.join(''));
});

test('more texts at once than the limit are refused with advice to come back', async (t) => {
  const { url, speech } = await openServer(t, { maxReplies: 1 });
  const answering = post(url, { input: 'One.' });
  const stream = await speech.stream();
  const refused = await post(url, { input: 'Two.' });
  assert.equal(refused.status, 503);
  assert.equal(refused.headers.get('retry-after'), '1');
  assert.equal(errorIn(await refused.text()).code, 'queue_full');
  stream.push('one');
  stream.end();
  assert.equal(await (await answering).text(), 'one');
});

test('closing the server breaks open streams off, waits for their work, and may be asked twice', async (t) => {
  const { url, server, speech } = await openServer(t);
  const answering = post(url, { input: 'Hello.' });
  const stream = await speech.stream();
  stream.push('begun');
  const reader = (await answering).body?.getReader();
  await reader?.read();
  const closing = server.close();
  assert.equal(server.close(), closing);
  await closing;
  await stream.cancelled;
  await assert.rejects(reader?.read() ?? Promise.resolve());
  await assert.rejects(fetch(`${url}/health`));
});

test('closing waits for an answer that is being made, and for no connection that asked nothing', async (t) => {
  const { url, server, calls } = await openServer(t);
  let answerNow!: () => void;
  calls.ready = new Promise((resolve) => (answerNow = resolve));
  const idle = connect(Number(new URL(url).port), '127.0.0.1');
  const idleClosed = new Promise((resolve) => idle.on('close', resolve));
  const asking = fetch(`${url}/v1/realtime/calls`, {
    method: 'POST',
    headers: { 'content-type': 'application/sdp' },
    body: OFFER,
  });
  while (calls.offers.length === 0) await fetch(`${url}/health`);
  const closing = server.close();
  answerNow();
  assert.equal((await asking).status, 201);
  await closing;
  await idleClosed;
});

test('the lists of voices and models have the forms that clients read', async (t) => {
  const { app } = await openApp(t);
  const voices = (await app.inject('/v1/audio/voices')).json<{ voices: { id: string }[]; data: unknown[] }>();
  assert.deepEqual(
    voices.voices.map(({ id }) => id),
    VOICES.map(({ name }) => name),
  );
  assert.deepEqual(voices.voices[0], {
    id: 'slt',
    name: 'slt',
    engine: 'flite',
    languages: ['en-US'],
    description: 'American, female',
  });
  assert.deepEqual(voices.data, voices.voices);
  const models = (await app.inject('/v1/models')).json<{ object: string; data: { id: string }[] }>();
  assert.equal(models.object, 'list');
  assert.equal(models.data[0]?.id, 'parley');
  const model = (await app.inject('/v1/models/parley')).json<{ object: string; sample_rate: number }>();
  assert.equal(model.object, 'model');
  assert.equal(model.sample_rate, 24_000);
  for (const name of ['tts-1', 'tts-1-hd', 'gpt-4o-mini-tts', 'gpt-4o-mini-tts-2025-12-15']) {
    const named = await app.inject(`/v1/models/${name}`);
    assert.equal(named.statusCode, 200);
    assert.deepEqual(named.json(), { ...model, id: name });
  }
  for (const name of ['gpt-4o', 'tts-2', 'whisper-1'])
    assert.equal((await app.inject(`/v1/models/${name}`)).statusCode, 404, name);
  const short = (await app.inject('/v1/audio/models')).json<unknown>();
  assert.deepEqual(short, { models: [{ id: 'parley', name: 'parley' }] });
});

test('the model tells licence, credit and size of the published weights that speak and hear', async (t) => {
  const german = {
    name: 'pocket-de',
    language: 'de',
    licence: 'CC BY 4.0',
    credit: 'Pocket TTS by Kyutai',
    link: 'https://creativecommons.org/licenses/by/4.0/',
    bytes: 245_029_196,
  };
  const english = {
    ...german,
    name: 'moonshine-small-en',
    language: 'en',
    licence: 'MIT',
    credit: 'Moonshine',
  };
  const weights = { voice: [german], recogniser: [english] };
  const transcriber = new FakeTranscriber();
  const transcription = { transcriber, translator: undefined, maxBytes: 1000, maxRequests: 1 };
  const { app } = await openApp(t, { weights, transcription });
  const list = (await app.inject('/v1/models')).json<{ data: { id: string; weights?: unknown }[] }>();
  assert.deepEqual(
    list.data.map(({ id, weights: listed }) => [id, listed]),
    [
      ['parley', [german]],
      ['fake-asr', [english]],
    ],
  );
  assert.deepEqual((await app.inject('/v1/models/tts-1')).json<{ weights: unknown }>().weights, [german]);
  const without = (await openApp(t)).app;
  assert.equal('weights' in (await without.inject('/v1/models/parley')).json<object>(), false);
});

test('the time to the first sound over HTTP is counted apart from that of calls', async (t) => {
  const { app, speech, metrics } = await openApp(t);
  speech.whole = ['RIFF'];
  await app.inject({ method: 'POST', url: SPEECH, payload: { input: 'Hello.' } });
  const text = await metrics.exposition();
  assert.match(text, /parley_time_to_first_audio_seconds_count\{protocol="http",door="http"\} 1/);
  assert.match(
    text,
    /parley_http_requests_total\{method="POST",route="\/v1\/audio\/speech",status="200"\} 1/,
  );
});

test('a rendering that is there is sent whole, with its length, and no work is begun', async (t) => {
  const { url, speech } = await openServer(t);
  for (const length of [1000, 3_000_000]) {
    speech.found = { contentType: 'audio/wav', bytes: new Uint8Array(length).fill(7), outcome: OUTCOME };
    const answer = await post(url, { input: 'Hello.', response_format: 'wav' });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('x-cache'), 'hit');
    assert.equal(answer.headers.get('content-type'), 'audio/wav');
    assert.equal(answer.headers.get('content-length'), String(length));
    const bytes = new Uint8Array(await answer.arrayBuffer());
    assert.equal(bytes.length, length);
    assert.ok(bytes.every((byte) => byte === 7));
  }
  assert.equal(speech.requests.length, 0);
});

test('a client that takes nothing of a whole rendering is dropped after a while', async (t) => {
  const { url, speech, logLines } = await openServer(t, { stallMs: 200 });
  speech.found = { contentType: 'audio/wav', bytes: new Uint8Array(64 * 1024 * 1024), outcome: OUTCOME };
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => undefined); // the reset that ends it
  socket.pause();
  const body = '{"input":"Hello."}';
  socket.write(
    `POST ${SPEECH} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${body.length}\r\n\r\n${body}`,
  );
  // The line about a request comes when its connection is done with it.
  await until(() => logLines.some((line) => line.includes(`"route":"${SPEECH}"`)));
  socket.destroy();
});

test('a cache that was asked in vain says so, and one that was not asked says nothing', async (t) => {
  const { app, speech } = await openApp(t);
  const xCache = async (stream: FakeStream & { cache?: 'hit' | 'miss' }) => {
    stream.push('RIFF');
    stream.end();
    speech.next = stream;
    const answer = await app.inject({ method: 'POST', url: SPEECH, payload: { input: 'Hello.' } });
    return answer.headers['x-cache'];
  };
  assert.equal(await xCache(Object.assign(new FakeStream('audio/wav'), { cache: 'miss' as const })), 'miss');
  assert.equal(await xCache(new FakeStream('audio/wav')), undefined);
});

test('a request may ask for a fresh rendering, in words that are checked', async (t) => {
  const { app, speech } = await openApp(t);
  speech.whole = ['RIFF'];
  await app.inject({ method: 'POST', url: SPEECH, payload: { input: 'Hello.', cache: false } });
  assert.equal(speech.requests[0]?.cache, false);
  const refused = await app.inject({ method: 'POST', url: SPEECH, payload: { input: 'x', cache: 'no' } });
  assert.equal(refused.statusCode, 400);
  assert.equal(errorIn(refused.body).param, 'cache');
});

test('clearing the cache says how many renderings went, and wants a key where keys are wanted', async (t) => {
  const { app, speech } = await openApp(t);
  speech.cleared = 3;
  const answer = await app.inject({ method: 'POST', url: '/cache/clear' });
  assert.deepEqual([answer.statusCode, answer.json()], [200, { cleared: 3 }]);
  const locked = await openApp(t, { apiKeys: ['k'.repeat(16)] });
  assert.equal((await locked.app.inject({ method: 'POST', url: '/cache/clear' })).statusCode, 401);
});

test('a rendering that is kept is named as the request names it', async (t) => {
  const { url, speech } = await openServer(t);
  speech.found = { contentType: 'audio/ogg', bytes: new Uint8Array(10), outcome: OUTCOME };
  const answer = await post(url, { input: 'Hello.', response_format: 'opus' });
  assert.equal(answer.headers.get('content-type'), 'audio/opus');
});

test('the voices are a list of names where a client asks for the older form', async (t) => {
  const { app } = await openApp(t);
  for (const flag of ['true', 'True', '1']) {
    assert.deepEqual(
      (await app.inject(`/v1/audio/voices?legacy=${flag}`)).json(),
      { voices: ['slt', 'fr'] },
      flag,
    );
  }
  for (const query of ['', '?legacy=false', '?legacy=0']) {
    assert.equal('data' in (await app.inject(`/v1/audio/voices${query}`)).json<object>(), true, query);
  }
  assert.equal((await app.inject('/v1/audio/voices?legacy=perhaps')).statusCode, 400);
});

test('the models are those of ElevenLabs for a client that sends its header, and of OpenAI for all others', async (t) => {
  const { app, speech } = await openApp(t);
  speech.listed = [...speech.listed, { name: 'odd', engine: 'x', languages: ['not a tag'], description: '' }];
  const answer = await app.inject({ url: '/v1/models', headers: { 'xi-api-key': 'any' } });
  const [model, ...others] = answer.json<Record<string, unknown>[]>();
  assert.deepEqual(others, []);
  assert.deepEqual([model?.['model_id'], model?.['can_do_text_to_speech']], ['parley', true]);
  assert.equal(model?.['maximum_text_length_per_request'], 4096);
  assert.deepEqual(model?.['languages'], [
    { language_id: 'en-US', name: 'American English' },
    { language_id: 'fr', name: 'French' },
    { language_id: 'not a tag', name: 'not a tag' },
  ]);
  assert.equal((await app.inject('/v1/models')).json<{ object: string }>().object, 'list');
});
