import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { legacySocket } from '../../../src/api/legacy/legacy-socket.js';
import { ParleyError } from '../../../src/errors.js';
import { until } from '../../fakes/until.js';
import { errorIn, openApp, openServer } from '../app-under-test.js';
import { openDialect } from '../dialect-under-test.js';
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

const DONE = { event: 'done' };
const CANCELLED = { event: 'cancelled' };

test('a text comes back as its samples and the word that it is done, under either name', async () => {
  const { say, received, speech, firstSounds, time } = openDialect(legacySocket);
  say({ input: 'One is here. Two is there.', voice: 'instant', speed: 1.5, language: 'English' });
  time.advance(30);
  assert.deepEqual(await received(5), ['One is', ' here.', 'Two is ', 'there.', DONE]);
  assert.deepEqual(
    speech.requests.map(({ text, dueAtMs: _due, ...request }) => ({ text, ...request })),
    [
      { text: 'One is here.', leadMs: undefined },
      { text: 'Two is there.', leadMs: 160 },
    ].map(({ text, leadMs }) => ({
      text,
      voice: 'instant',
      speed: 1.5,
      language: 'en',
      container: 'pcm',
      sampleRate: 24_000,
      client: 'key 0',
      kind: 'interactive',
      ...(leadMs === undefined ? {} : { leadMs }),
    })),
  );
  assert.deepEqual(firstSounds, [30]);
  say({ text: 'Hi.', response_format: 'mp3', unknown: 1 });
  assert.deepEqual(await received(3), ['Hi', '.', DONE]);
  assert.equal(speech.active, 0);
});

test('fields of the HTTP body reach the speech', async () => {
  const { say, received, speech } = openDialect(legacySocket);
  say({
    input: 'Hi.',
    voice: { id: 'instant' },
    sample_rate: 8000,
    instructions: 'calm',
    temperature: 0.5,
    top_p: 0.9,
    top_k: 3,
    seed: -4,
    max_new_tokens: 100,
    trim_silence: false,
    cache: false,
    language: null,
  });
  await received(3);
  assert.deepEqual(speech.requests, [
    {
      text: 'Hi.',
      voice: 'instant',
      language: 'en',
      container: 'pcm',
      sampleRate: 8000,
      options: { instructions: 'calm', temperature: 0.5, topP: 0.9, topK: 3, seed: -4, maxNewTokens: 100 },
      trimSilence: false,
      cache: false,
      client: 'key 0',
      kind: 'interactive',
    },
  ]);
});

test('texts wait for each other up to a limit, which is named', async () => {
  const { say, received, speech, firstSounds } = openDialect(legacySocket);
  speech.held.add('One.');
  say({ input: 'One.' }, { input: 'Two.' }, { input: 'Three.' }, { input: 'Four.' });
  assert.deepEqual(await received(2), [
    {
      event: 'error',
      detail: '2 texts wait on this socket already',
      code: 'queue_full',
    },
    'On',
  ]);
  assert.deepEqual(speech.texts, ['One.']);
  speech.finish('One.');
  assert.deepEqual(await received(8), ['e.', DONE, 'Tw', 'o.', DONE, 'Thr', 'ee.', DONE]);
  assert.equal(firstSounds.length, 1, 'the others waited for each other');
});

test('a cancellation drops what waits, stops what is spoken and is answered before anything else', async () => {
  for (const cancel of [{ event: 'cancel' }, { type: 'cancel' }]) {
    const { say, received, speech, peer } = openDialect(legacySocket);
    speech.held.add('One.');
    say({ input: 'One. And so on.' }, { input: 'Two.' });
    assert.deepEqual(await received(1), ['On']);
    say(cancel, { input: 'Three.' });
    assert.equal(speech.active, 0, 'freed at once');
    assert.deepEqual(await received(4), [CANCELLED, 'Thr', 'ee.', DONE]);
    assert.deepEqual(speech.texts, ['One.', 'And so on.', 'Three.']);
    say(cancel);
    assert.deepEqual(peer.taken(), [CANCELLED], 'also where nothing is spoken');
  }
});

test('a cancellation stops within one chunk, even at a peer that does not read', async () => {
  const { say, received, speech, peer } = openDialect(legacySocket);
  peer.stall();
  say({ input: 'One is here. Two is there.' });
  assert.deepEqual(await received(1), ['One is']);
  say({ event: 'cancel' });
  assert.equal(speech.active, 0);
  peer.read();
  assert.deepEqual(await received(1), [CANCELLED]);
});

test('what is wrong with a message is said, and the next one is heard', async () => {
  const { say, conversation, peer, received } = openDialect(legacySocket);
  const cases = [
    ['{', 'malformed', /must be JSON$/],
    ['[]', 'malformed', /JSON object/],
    ['null', 'malformed', /JSON object/],
    [{}, 'invalid_value', /"input" must be a string/],
    [{ input: 7 }, 'invalid_value', /"input" must be a string/],
    [{ event: 'dance' }, 'invalid_value', /"event" must be "cancel"/],
    [{ type: 'dance', input: 'x' }, 'invalid_value', /"type" must be "cancel"/],
    [{ input: 'x'.repeat(101) }, 'text_too_long', /100 characters/],
    [{ input: 'x', model: 'unknown' }, 'model_not_found', /no such model/],
    [{ input: 'x', model: 7 }, 'invalid_value', /"model" must be a string of at most 200/],
    [{ input: 'x', voice: '' }, 'invalid_value', /"voice" must be a name of 1 to 200/],
    [{ input: 'x', voice: ['a'] }, 'invalid_value', /"voice"/],
    [{ input: 'x', speed: 5 }, 'invalid_value', /"speed" must be a number from 0.25 to 4/],
    [{ input: 'x', speed: '1' }, 'invalid_value', /"speed"/],
    [{ input: 'x', language: 'no such thing!' }, 'invalid_value', /"language" must be a tag/],
    [{ input: 'x', sample_rate: 7 }, 'invalid_value', /"sample_rate" of pcm must be 8000 to 48000/],
    [{ input: 'x', max_new_tokens: 4096 }, 'invalid_value', /"max_new_tokens" .* 1 to 2048/],
    [{ input: 'x', top_k: 1.5 }, 'invalid_value', /"top_k" must be a whole number/],
    [{ input: 'x', task_type: 'Dance' }, 'invalid_value', /"task_type" must be one of "CustomVoice"/],
    [{ input: 'x', ref_audio: 'data:,' }, 'invalid_value', /"ref_audio" .* POST \/v1\/audio\/voices/],
    [{ input: 'x', cache: 1 }, 'invalid_value', /"cache" must be true or false/],
  ] as const;
  for (const [message, code, detail] of cases) {
    say(message);
    const [answer] = peer.taken() as Record<string, string>[];
    assert.deepEqual([answer?.['event'], answer?.['code']], ['error', code], JSON.stringify(message));
    assert.match(answer?.['detail'] ?? '', detail);
  }
  conversation.message(Buffer.from('{}'));
  assert.match(String((peer.taken() as Record<string, string>[])[0]?.['detail']), /not binary/);
  say({ input: 'Hi.' });
  assert.deepEqual(await received(3), ['Hi', '.', DONE]);
});

test('what is known only when a text is spoken is said then, without the word that it is done', async () => {
  const { say, received, speech, failures, firstSounds } = openDialect(legacySocket);
  say({ input: '…' }, { input: 'x', voice: 'nobody' });
  const refusals = (await received(2)) as Record<string, string>[];
  assert.deepEqual(
    refusals.map(({ event, code }) => [event, code]),
    [
      ['error', 'text_empty'],
      ['error', 'voice_unknown'],
    ],
  );
  speech.broken.set('One is here.', new ParleyError('ENGINE_FAILED', 'a secret of the operator'));
  say({ input: 'One is here. Two is there.' });
  assert.deepEqual(await received(2), [
    'One is',
    {
      event: 'error',
      detail: 'the speech engine failed at this text; the log has more under request req_1',
      code: 'engine_failed',
    },
  ]);
  assert.deepEqual(failures, ['req_1 ENGINE_FAILED']);
  assert.equal(speech.active, 0);
  say({ input: 'Hi.' });
  assert.deepEqual(await received(3), ['Hi', '.', DONE]);
  assert.equal(firstSounds.length, 2);
});

test('a peer that vanishes frees everything, and nothing is begun any more', async () => {
  const { say, received, speech, conversation, peer } = openDialect(legacySocket);
  speech.held.add('One.');
  say({ input: 'One. And so on.' }, { input: 'Two.' });
  await received(1);
  await until(() => speech.active === 2);
  await conversation.closed();
  assert.equal(speech.active, 0);
  await nextTurn();
  assert.deepEqual([speech.texts, peer.taken()], [['One.', 'And so on.'], []]);
});

test('a whole text may be SSML, and is then one sound', async () => {
  const { say, received, speech } = openDialect(legacySocket);
  say({ input: '<speak>One. Two.</speak>' });
  say({ input: '<speak>Three.</speak>', input_format: 'text', lexicon: [{ word: 'Three', say: 'free' }] });
  await until(() => speech.requests.length >= 2);
  assert.equal(speech.requests[0]?.markup, true);
  assert.equal(speech.requests[0]?.text, '<speak>One. Two.</speak>');
  assert.equal(speech.requests[1]?.markup, undefined);
  assert.equal(speech.requests[1]?.lexicon?.size, 1);
  say({ input: 'Four.', input_format: 'html' });
  const answers: unknown[] = [];
  while (!answers.some((answer) => JSON.stringify(answer).includes('input_format')))
    answers.push(...(await received(1)));
});
