import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParleyError } from '../../../src/errors.js';
import { until } from '../../fakes/until.js';
import { errorIn, openApp, openServer } from '../app-under-test.js';
import { FakeStream, OUTCOME } from '../fake-speech.js';
import type { SoundSource } from '../../../src/speaking/sound.js';

const BATCH = '/v1/audio/speech/batch';

interface Result {
  index: number;
  status: string;
  audio_data: string | null;
  media_type: string | null;
  error: string | null;
  error_detail?: { code: string; param: string | null; message: string };
}

interface Batch {
  id: string;
  results: Result[];
  total: number;
  succeeded: number;
  failed: number;
}

function post(url: string, body: unknown, signal?: AbortSignal): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  const extra = signal === undefined ? {} : { signal };
  return fetch(`${url}${BATCH}`, { method: 'POST', headers, body: JSON.stringify(body), ...extra });
}

function soundOf({ audio_data: data }: Result): string {
  return Buffer.from(data ?? '', 'base64').toString();
}

test('an item that a stand-in speaks names its voice', async (t) => {
  const { app, speech } = await openApp(t);
  speech.whole = ['a sound'];
  speech.speaker = { voice: 'slt', language: 'en', standsIn: true };
  const payload = { items: [{ input: 'One.', voice: 'vivian' }] };
  const answer = await app.inject({ method: 'POST', url: BATCH, payload });
  assert.deepEqual(
    answer.json<{ results: { voice?: string }[] }>().results.map(({ voice }) => voice),
    ['slt'],
  );
});

test('every text comes back in its place, with what its item says and the body says for all', async (t) => {
  const { app, speech } = await openApp(t);
  speech.whole = ['a sound', ' in parts'];
  const payload = {
    voice: 'slt',
    speed: 2,
    stream: true,
    items: [
      { input: 'One.' },
      { input: 'Two.', voice: 'fr', response_format: 'pcm', speed: null },
      { input: 'Three.', sample_rate: 8000 },
    ],
  };
  const answer = await app.inject({ method: 'POST', url: BATCH, payload });
  assert.equal(answer.statusCode, 200);
  assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
  const audio_data = Buffer.from('a sound in parts').toString('base64');
  const success = { status: 'success', media_type: 'audio/wav', error: null, audio_data };
  assert.deepEqual(answer.json(), {
    id: 'speech-batch-req_1',
    results: [
      { index: 0, ...success },
      { index: 1, ...success, media_type: 'audio/pcm' },
      { index: 2, ...success },
    ],
    total: 3,
    succeeded: 3,
    failed: 0,
  });
  const all = { container: 'wav', voice: 'slt', speed: 2, sampleRate: 24_000, client: '127.0.0.1' };
  assert.deepEqual(speech.requests, [
    { ...all, text: 'One.' },
    { ...all, text: 'Two.', voice: 'fr', container: 'pcm' },
    { ...all, text: 'Three.', sampleRate: 8000 },
  ]);
});

test('an item that is wrong, refused, or fails half-way says so in its place; the others are spoken', async (t) => {
  const { url, speech, logLines } = await openServer(t);
  speech.openStream = (request) => {
    if (request.voice === 'slit') {
      return Promise.reject(new ParleyError('VOICE_UNKNOWN', 'no such voice', { field: 'voice' }));
    }
    if (request.text === '...') {
      return Promise.reject(new ParleyError('TEXT_EMPTY', 'nothing to speak', { field: 'text' }));
    }
    const stream = new FakeStream('audio/wav');
    stream.push('sound');
    stream.end(request.text === 'Half.' ? new ParleyError('ENGINE_FAILED', 'secret') : undefined);
    return Promise.resolve(stream);
  };
  const items = [
    { input: 'One.' },
    { input: 'Two.', speed: 9 },
    { input: 'Three.', voice: 'slit' },
    { input: '...' },
    { input: 'Half.' },
    {},
    { input: 'Seven.' },
  ];
  const batch = (await (await post(url, { requests: items })).json()) as Batch;
  assert.deepEqual([batch.total, batch.succeeded, batch.failed], [7, 2, 5]);
  assert.deepEqual(
    batch.results.map(({ index, status }) => [index, status]),
    items.map((_, index) => [index, index === 0 || index === 6 ? 'success' : 'error']),
  );
  const details = batch.results.map(({ error_detail: detail }) => [detail?.code, detail?.param]);
  assert.deepEqual(details, [
    [undefined, undefined],
    ['invalid_value', 'requests[1].speed'],
    ['voice_unknown', 'requests[2].voice'],
    ['text_empty', 'requests[3].input'],
    ['engine_failed', null],
    ['invalid_value', 'requests[5].input'],
    [undefined, undefined],
  ]);
  for (const { status, error, error_detail, audio_data, media_type } of batch.results) {
    if (status === 'success') continue;
    assert.equal(error, error_detail?.message);
    assert.deepEqual([audio_data, media_type], [null, null]);
  }
  assert.match(batch.results[1]?.error ?? '', /^"requests\[1\]\.speed" must be a number from 0\.25 to 4$/);
  assert.doesNotMatch(JSON.stringify(batch), /secret/);
  assert.equal(logLines.filter((line) => line.includes('speech of a batch failed')).length, 1);
});

test('a body without 1 to 32 items is refused whole, with the list named', async (t) => {
  const { app, speech } = await openApp(t);
  const cases = [
    [[], null],
    ['text', null],
    [{}, 'items'],
    [{ items: [] }, 'items'],
    [{ items: 'Hello.' }, 'items'],
    [{ requests: {} }, 'requests'],
    [{ items: Array.from({ length: 33 }, () => ({ input: 'x' })) }, 'items'],
    [{ items: [{ input: 'x' }, 'y'] }, 'items[1]'],
    [{ items: [{ input: 'x' }, null] }, 'items[1]'],
  ] as const;
  for (const [payload, field] of cases) {
    const headers = { 'content-type': 'application/json' };
    const answer = await app.inject({
      method: 'POST',
      url: BATCH,
      headers,
      payload: JSON.stringify(payload),
    });
    assert.equal(answer.statusCode, 400, JSON.stringify(payload).slice(0, 80));
    assert.equal(errorIn(answer.body).param, field);
  }
  assert.equal(speech.requests.length, 0);
});

test('four items are made at once, the next when a result is written, and results go out as they are ready', async (t) => {
  const { url, speech } = await openServer(t);
  const items = Array.from({ length: 6 }, (_, n) => ({ input: `Number ${n}.` }));
  const answering = post(url, { items });
  await until(() => speech.streams.length === 4);
  for (const [at, stream] of speech.streams.entries()) stream.push(`sound ${at}`);
  const answer = await answering; // the first sound is there: the answer begins before any item is whole
  speech.streams[2]?.end();
  speech.streams[1]?.end();
  assert.equal(speech.streams.length, 4);
  speech.streams[0]?.end();
  await until(() => speech.streams.length === 6);
  for (const stream of speech.streams) stream.end();
  const { results } = (await answer.json()) as Batch;
  assert.deepEqual(results.map(soundOf), ['sound 0', 'sound 1', 'sound 2', 'sound 3', '', '']);
});

test('a client that leaves stops every item', async (t) => {
  const { url, speech } = await openServer(t);
  const client = new AbortController();
  const answering = post(url, { items: [{ input: 'One.' }, { input: 'Two.' }] }, client.signal);
  const gone = assert.rejects(answering);
  await until(() => speech.streams.length === 2);
  const signals = speech.signals;
  client.abort();
  await gone;
  await until(() => signals.every(({ aborted }) => aborted));
  for (const stream of speech.streams) stream.end(new ParleyError('ABORTED', 'given up'));
});

test('an item with more sound than is held is refused by name, and its work stopped', async (t) => {
  const { app, speech } = await openApp(t);
  let taken = 0;
  let left = false;
  const endless: SoundSource = {
    contentType: 'audio/wav',
    outcome: Promise.resolve(undefined),
    cancel: () => undefined,
    async *[Symbol.asyncIterator]() {
      try {
        for (;;) {
          yield new Uint8Array(1024 * 1024);
          taken++;
        }
      } finally {
        left = true;
      }
    },
  };
  speech.next = endless;
  const answer = await app.inject({ method: 'POST', url: BATCH, payload: { items: [{ input: 'Long.' }] } });
  const [result] = answer.json<Batch>().results;
  assert.equal(result?.error_detail?.code, 'body_too_large');
  assert.match(result?.error ?? '', /16777216 bytes/);
  assert.equal(taken, 16);
  assert.ok(left);
});

test('what was rendered before takes no engine, and begins as a whole file', async (t) => {
  const { app, speech } = await openApp(t);
  const outcome = { ...OUTCOME, header: { replaced: 2, bytes: Buffer.from('ke') } };
  speech.found = { contentType: 'audio/wav', bytes: Buffer.from('??pt'), outcome };
  const payload = { items: [{ input: 'One.' }, { input: 'Two.' }] };
  const answer = await app.inject({ method: 'POST', url: BATCH, payload });
  assert.deepEqual(answer.json<Batch>().results.map(soundOf), ['kept', 'kept']);
  assert.equal(speech.requests.length, 0);
});

test('more than eight batches at once are refused with when to come back', async (t) => {
  const { url, speech } = await openServer(t);
  const open = Array.from({ length: 8 }, () => post(url, { items: [{ input: 'One.' }] }));
  await until(() => speech.streams.length === 8);
  const ninth = await post(url, { items: [{ input: 'One.' }] });
  assert.equal(ninth.status, 503);
  assert.equal(ninth.headers.get('retry-after'), '1');
  assert.equal(errorIn(await ninth.text()).code, 'queue_full');
  for (const stream of speech.streams) stream.end();
  for (const answer of await Promise.all(open)) await answer.json();
  speech.whole = ['sound'];
  assert.equal((await post(url, { items: [{ input: 'One.' }] })).status, 200);
});

test('items that are found took nothing of the batch', async (t) => {
  const { app, speech, logLines } = await openApp(t);
  const timing = { queueMs: 1, loadMs: 2, inferMs: 250, encodeMs: 3 };
  speech.keep('sound', 'audio/wav', { ...OUTCOME, timing });
  await app.inject({
    method: 'POST',
    url: BATCH,
    payload: { items: [{ input: 'One.' }, { input: 'Two.' }] },
  });
  const { status, queueMs, inferMs } = JSON.parse(logLines.at(-1) ?? '') as Record<string, unknown>;
  assert.deepEqual([status, queueMs, inferMs], [200, 0, 0]);
});
