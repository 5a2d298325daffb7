import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParleyError } from '../../../src/errors.js';
import { NO_TIME, type SoundOutcome } from '../../../src/speaking/sound.js';
import { errorIn, openApp, openServer } from '../app-under-test.js';
import { FakeStream, VOICES } from '../fake-speech.js';

const SPEECH = '/v1/text-to-speech/slt';
const WITH_TIMES = ['', '/stream', '/with-timestamps', '/stream/with-timestamps'];

interface Timed {
  audio_base64: string;
  alignment: Times | null;
  normalized_alignment: Times | null;
}

interface Times {
  characters: string[];
  character_start_times_seconds: number[];
  character_end_times_seconds: number[];
}

const OUTCOME: SoundOutcome = {
  durationMs: 560,
  sentences: [
    { text: 'A.', startMs: 0, endMs: 200, words: [] },
    { text: 'B.', startMs: 360, endMs: 560, words: [{ word: 'B', textOffset: 0, startMs: 400 }] },
  ],
  timing: NO_TIME,
};

/** A stream that knows the places of so many of its sentences. */
class PlacedStream extends FakeStream {
  known = 0;
  override outcome = Promise.resolve(OUTCOME);

  placed(): SoundOutcome['sentences'] {
    return OUTCOME.sentences.slice(0, this.known);
  }
}

function detailIn(body: string): unknown {
  return (JSON.parse(body) as { detail: unknown }).detail;
}

test('a text in a voice is answered with sound in the form that the query names', async (t) => {
  const { app, speech } = await openApp(t);
  speech.whole = ['bytes'];
  const cases = [
    [undefined, 'mp3', 44_100, 'audio/mpeg', undefined],
    ['mp3_22050_32', 'mp3', 22_050, 'audio/mpeg', undefined],
    ['mp3_24000_48', 'mp3', 24_000, 'audio/mpeg', undefined],
    ['mp3_44100_192', 'mp3', 44_100, 'audio/mpeg', undefined],
    ['pcm_8000', 'pcm', 8000, 'audio/pcm', '8000'],
    ['pcm_22050', 'pcm', 22_050, 'audio/pcm', '22050'],
    ['pcm_48000', 'pcm', 48_000, 'audio/pcm', '48000'],
    ['wav_16000', 'wav', 16_000, 'audio/wav', undefined],
    ['mp3_16000_48', 'mp3', 16_000, 'audio/mpeg', undefined],
    ['opus_48000_64', 'ogg', 48_000, 'audio/opus', undefined],
    ['ulaw_8000', 'ulaw', 8000, 'audio/basic', '8000'],
    ['alaw_8000', 'alaw', 8000, 'audio/x-alaw-basic', '8000'],
  ] as const;
  for (const url of [SPEECH, `${SPEECH}/stream`]) {
    for (const [name, container, sampleRate, contentType, received] of cases) {
      const query = name === undefined ? '' : `?output_format=${name}&optimize_streaming_latency=2`;
      const payload = { text: 'Hello.', model_id: 'eleven_turbo_v2', voice_settings: { stability: 0.5 } };
      const answer = await app.inject({ method: 'POST', url: url + query, payload });
      assert.equal(answer.statusCode, 200, name);
      assert.equal(answer.headers['content-type'], contentType);
      assert.equal(answer.headers['x-pcm-sample-rate'], received);
      assert.equal(answer.headers['x-accel-buffering'], 'no');
      assert.deepEqual(speech.requests.at(-1), {
        text: 'Hello.',
        voice: 'slt',
        container,
        sampleRate,
        speed: 1,
        client: '127.0.0.1',
      });
    }
  }
});

const VOICE_IDS = new Map([
  ['21m00Tcm4TlvDq8ikWAM', 'FR'],
  ['pNInz6obpgDQGcFmaJgB', 'vivian'],
  ['goneVoiceId', 'Gone'],
]);

test('ids of the file stand for its voices at every address that speaks', async (t) => {
  const { app, speech } = await openApp(t, { elevenLabsVoices: VOICE_IDS });
  speech.whole = ['bytes'];
  for (const path of WITH_TIMES) {
    for (const [id, voice] of [
      ...VOICE_IDS,
      ['21m00tcm4tlvdq8ikwam', '21m00tcm4tlvdq8ikwam'],
      ['slt', 'slt'],
    ]) {
      const url = `/v1/text-to-speech/${id}${path}`;
      const answer = await app.inject({ method: 'POST', url, payload: { text: 'Hello.' } });
      assert.equal(answer.statusCode, 200, answer.body);
      assert.equal(speech.requests.at(-1)?.voice, voice, url);
    }
  }
});

test('ids of the file are listed with their voices, and found alone', async (t) => {
  const { app, speech } = await openApp(t, { elevenLabsVoices: VOICE_IDS });
  speech.speaker = { voice: 'slt', language: 'en', standsIn: true };
  speech.whole = [];
  const idsAt = async (url: string) => {
    const { voices } = (await app.inject(url)).json<{ voices: { voice_id: string; name: string }[] }>();
    return voices.map(({ voice_id: id, name }) => `${id} ${name}`);
  };
  const all = ['slt slt', 'fr fr', '21m00Tcm4TlvDq8ikWAM fr', 'pNInz6obpgDQGcFmaJgB slt', 'goneVoiceId slt'];
  assert.deepEqual(await idsAt('/v1/voices'), all);
  assert.deepEqual(await idsAt('/v2/voices'), all);
  assert.deepEqual(await idsAt('/v2/voices?search=french'), [all[1], all[2]]);
  const one = await app.inject('/v1/voices/21m00Tcm4TlvDq8ikWAM');
  assert.deepEqual(
    [one.statusCode, one.json<{ voice_id: string }>().voice_id],
    [200, '21m00Tcm4TlvDq8ikWAM'],
  );
  const plain = await openApp(t);
  assert.equal((await plain.app.inject('/v1/voices/21m00Tcm4TlvDq8ikWAM')).statusCode, 404);
});

test('an id of the file whose voice was removed is listed no more', async (t) => {
  const { app, speech } = await openApp(t, { elevenLabsVoices: new Map([['goneVoiceId', 'Gone']]) });
  speech.unknown = new ParleyError('VOICE_UNKNOWN', 'no voice "Gone"', { field: 'voice' });
  assert.equal((await app.inject('/v1/voices/goneVoiceId')).statusCode, 404);
  const { voices } = (await app.inject('/v1/voices')).json<{ voices: unknown[] }>();
  assert.equal(voices.length, VOICES.length);
});

test('speed and language of the body are heeded, nulls are fields left out', async (t) => {
  const { app, speech } = await openApp(t);
  speech.whole = ['bytes'];
  for (const payload of [
    { text: 'Bonjour.', language_code: 'fr', voice_settings: { speed: 1.2 } },
    { text: 'Hello.', language_code: null, voice_settings: null, model_id: null, seed: null },
  ]) {
    const answer = await app.inject({ method: 'POST', url: SPEECH, payload });
    assert.equal(answer.statusCode, 200, answer.body);
  }
  const plain = { voice: 'slt', container: 'mp3', sampleRate: 44_100, client: '127.0.0.1' };
  assert.deepEqual(speech.requests, [
    { ...plain, text: 'Bonjour.', language: 'fr', speed: 1.2 },
    { ...plain, text: 'Hello.', speed: 1 },
  ]);
});

test('every refusal names the field as the client does, once for each kind of reader', async (t) => {
  const { app, speech } = await openApp(t);
  const cases = [
    ['', {}, 'text', 'invalid_value', /"text" must be a string/],
    [
      '',
      { text: 'x', voice_settings: { speed: 9 } },
      'voice_settings.speed',
      'invalid_value',
      /from 0.25 to 4/,
    ],
    ['', { text: 'x', voice_settings: 1 }, 'voice_settings', 'invalid_value', /must be an object/],
    ['', { text: 'x', language_code: 7 }, 'language_code', 'invalid_value', /"language_code" must be/],
    [
      '?output_format=mp3',
      { text: 'x' },
      'output_format',
      'invalid_value',
      /must be mp3_<rate>_<kbps>, .*such as "pcm_24000"$/,
    ],
    [
      '?output_format=pcm_1&output_format=pcm_2',
      { text: 'x' },
      'output_format',
      'invalid_value',
      /must be mp3_/,
    ],
  ] as const;
  for (const path of WITH_TIMES) {
    for (const [query, payload, field, code, message] of cases) {
      const answer = await app.inject({ method: 'POST', url: SPEECH + path + query, payload });
      assert.equal(answer.statusCode, 400, answer.body);
      const error = errorIn(answer.body);
      assert.deepEqual([error.param, error.code], [field, code]);
      assert.match(error.message, message);
      assert.deepEqual(detailIn(answer.body), { status: code, message: error.message });
    }
  }
  assert.equal(speech.requests.length, 0);
});

test('a voice that is not there, a busy engine and a text too long have the statuses that clients tell apart', async (t) => {
  const { app, speech } = await openApp(t);
  const cases = [
    [
      new ParleyError('VOICE_UNKNOWN', 'no voice "x"', { field: 'voice' }),
      400,
      'voice_not_found',
      'voice_id',
    ],
    [new ParleyError('TEXT_TOO_LONG', 'too long', { field: 'text' }), 400, 'text_too_long', 'text'],
    [new ParleyError('ENGINE_BUSY', 'busy', { retryAfterSeconds: 2 }), 503, 'system_busy', null],
    [new ParleyError('ENGINE_FAILED', 'secret'), 500, 'engine_failed', null],
  ] as const;
  for (const path of WITH_TIMES) {
    for (const [refusal, status, word, field] of cases) {
      speech.refusal = refusal;
      const answer = await app.inject({ method: 'POST', url: SPEECH + path, payload: { text: 'x' } });
      assert.equal(answer.statusCode, status);
      const { message, param } = errorIn(answer.body);
      assert.equal(param, field);
      assert.deepEqual(detailIn(answer.body), { status: word, message });
      assert.doesNotMatch(answer.body, /secret/);
      if (status === 503) assert.equal(answer.headers['retry-after'], '2');
    }
  }
});

test('the key may come in a header of its own; without one the answer says so in both forms', async (t) => {
  const keys = ['a'.repeat(16), 'b'.repeat(16)];
  const { app, speech } = await openApp(t, { apiKeys: keys });
  speech.whole = ['bytes'];
  const ask = (headers: Record<string, string>) =>
    app.inject({ method: 'POST', url: SPEECH, headers, payload: { text: 'Hello.' } });
  assert.equal((await ask({ 'xi-api-key': keys[1] ?? '' })).statusCode, 200);
  assert.equal((await ask({ authorization: `Bearer ${keys[0]}` })).statusCode, 200);
  assert.equal((await ask({ authorization: 'Bearer ', 'xi-api-key': keys[0] ?? '' })).statusCode, 200);
  for (const headers of [{}, { 'xi-api-key': '' }, { 'xi-api-key': 'c'.repeat(16) }]) {
    const refused = await ask(headers as Record<string, string>);
    assert.equal(refused.statusCode, 401);
    assert.equal((detailIn(refused.body) as { status: string }).status, 'invalid_api_key');
  }
  assert.equal(speech.requests.length, 3);
});

test('with timestamps, one object holds the sound and the time of each character', async (t) => {
  const { url, speech } = await openServer(t);
  const stream = new PlacedStream('audio/mpeg');
  for (const piece of ['a', 'bcde', '', 'fg']) stream.push(piece); // lengths that would pad Base64 inside
  stream.end();
  speech.next = stream;
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ text: 'A. B.' });
  const answer = await fetch(`${url}${SPEECH}/with-timestamps`, { method: 'POST', headers, body });
  assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8');
  const times = {
    characters: ['A', '.', ' ', 'B', '.'],
    character_start_times_seconds: [0, 0.1, 0.2, 0.4, 0.48],
    character_end_times_seconds: [0.1, 0.2, 0.36, 0.48, 0.56],
  };
  const expected = { alignment: times, normalized_alignment: times };
  assert.deepEqual(await answer.json(), {
    audio_base64: Buffer.from('abcdefg').toString('base64'),
    ...expected,
  });
});

test('a stream with timestamps tells each sentence as soon as its place is known, and the rest at the end', async (t) => {
  const { url, speech } = await openServer(t);
  const stream = new PlacedStream('audio/mpeg');
  speech.next = stream;
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ text: 'A. B. ' });
  const answering = fetch(`${url}${SPEECH}/stream/with-timestamps`, { method: 'POST', headers, body });
  stream.push('one');
  const answer = await answering;
  const reader = answer.body?.getReader();
  assert.ok(reader !== undefined);
  const next = async () => JSON.parse(Buffer.from((await reader.read()).value ?? []).toString()) as Timed;
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  assert.deepEqual(await next(), {
    audio_base64: base64('one'),
    alignment: null,
    normalized_alignment: null,
  });
  stream.known = 1;
  stream.push('two');
  const second = await next();
  assert.deepEqual([second.audio_base64, second.alignment?.characters], [base64('two'), ['A', '.']]);
  assert.deepEqual(second.normalized_alignment?.character_end_times_seconds, [0.1, 0.2]);
  stream.end();
  const last = await next();
  assert.equal(last.audio_base64, '');
  assert.deepEqual(last.alignment, {
    characters: [' ', 'B', '.', ' '],
    character_start_times_seconds: [0.2, 0.4, 0.48, 0.56],
    character_end_times_seconds: [0.36, 0.48, 0.56, 0.56],
  });
  assert.deepEqual(last.normalized_alignment?.characters, [' ', 'B', '.']);
  assert.equal((await reader.read()).done, true);
});

test('sound that breaks off never becomes a whole answer', async (t) => {
  const { url, speech, logLines } = await openServer(t);
  const headers = { 'content-type': 'application/json' };
  for (const path of WITH_TIMES) {
    const stream = new FakeStream('audio/mpeg');
    stream.push('half');
    speech.next = stream;
    const body = JSON.stringify({ text: 'A. B.' });
    const answer = await fetch(`${url}${SPEECH}${path}`, { method: 'POST', headers, body });
    stream.end(new ParleyError('ENGINE_FAILED', 'detail'));
    await assert.rejects(answer.text());
    await stream.cancelled;
  }
  assert.equal(logLines.filter((line) => line.includes('speech broken off')).length, WITH_TIMES.length);
});

test('what was rendered before is sent from the cache, with its times', async (t) => {
  const { app, speech } = await openApp(t);
  speech.found = { contentType: 'audio/mpeg', bytes: Buffer.alloc(30_000, 'kept'), outcome: OUTCOME };
  const payload = { text: 'A. B.' };
  const whole = await app.inject({ method: 'POST', url: SPEECH, payload });
  assert.equal(whole.headers['x-cache'], 'hit');
  assert.equal(whole.headers['content-length'], '30000');
  const timed = await app.inject({ method: 'POST', url: `${SPEECH}/with-timestamps`, payload });
  assert.equal(timed.headers['x-cache'], 'hit');
  const { audio_base64, alignment } = timed.json<Timed>();
  assert.ok(Buffer.from(audio_base64, 'base64').equals(whole.rawPayload));
  assert.equal(alignment?.characters.join(''), payload.text);
  const lines = await app.inject({ method: 'POST', url: `${SPEECH}/stream/with-timestamps`, payload });
  const parts = lines.body
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Timed);
  assert.equal(parts.length, 3);
  assert.equal(parts[0]?.alignment?.characters.join(''), payload.text);
  assert.equal(speech.requests.length, 0);
});

test('voices are listed, searched page by page, and found one by one', async (t) => {
  const { app } = await openApp(t);
  const get = async (url: string) =>
    (await app.inject({ method: 'GET', url })).json<Record<string, unknown>>();
  const slt = {
    voice_id: 'slt',
    name: 'slt',
    category: 'premade',
    description: 'American, female',
    labels: { language: 'en-US', engine: 'flite' },
  };
  const fr = {
    ...slt,
    voice_id: 'fr',
    name: 'fr',
    description: 'French',
    labels: { language: 'fr', engine: 'espeak' },
  };
  assert.deepEqual(await get('/v1/voices'), { voices: [slt, fr] });
  const end = { has_more: false, next_page_token: null };
  assert.deepEqual(await get('/v2/voices'), { voices: [slt, fr], total_count: 2, ...end });
  assert.deepEqual(await get('/v2/voices?search=FREN'), { voices: [fr], total_count: 1, ...end });
  const first = await get('/v2/voices?page_size=1');
  assert.deepEqual(first, { voices: [slt], total_count: 2, has_more: true, next_page_token: '1' });
  const second = await get('/v2/voices?page_size=1&next_page_token=1');
  assert.deepEqual(second, { voices: [fr], total_count: 2, ...end });
  assert.deepEqual(await get('/v1/voices/FR'), fr);
  for (const [url, status, field] of [
    ['/v1/voices/21m00Tcm4TlvDq8ikWAM', 404, 'voice_id'],
    ['/v2/voices?page_size=0', 400, 'page_size'],
    ['/v2/voices?page_size=101', 400, 'page_size'],
    ['/v2/voices?next_page_token=-1', 400, 'next_page_token'],
    ['/v2/voices?search=a&search=b', 400, 'search'],
  ] as const) {
    const answer = await app.inject({ method: 'GET', url });
    assert.equal(answer.statusCode, status, url);
    assert.equal(errorIn(answer.body).param, field);
    assert.notEqual(detailIn(answer.body), undefined);
  }
});

test('voices that were made here are said to be so, and are found by id and name', async (t) => {
  const { app, speech } = await openApp(t);
  const about = { engine: 'qwen3', languages: ['de'], description: 'calm' };
  speech.listed = [
    ...VOICES,
    { ...about, name: 'Zoë', made: { id: 'voice_0a', kind: 'sample' } },
    { ...about, name: 'Sailor', made: { id: 'voice_0b', kind: 'prompt' } },
  ];
  const get = async (url: string) => (await app.inject(url)).json<Record<string, unknown[]>>();
  const labels = { language: 'de', engine: 'qwen3' };
  const zoe = { voice_id: 'voice_0a', name: 'Zoë', category: 'cloned', description: 'calm', labels };
  const sailor = { ...zoe, voice_id: 'voice_0b', name: 'Sailor', category: 'generated' };
  assert.deepEqual((await get('/v1/voices'))['voices']?.slice(2), [zoe, sailor]);
  for (const name of ['voice_0a', 'VOICE_0A', 'Zoë', 'zoë', 'Zoe\u0308'])
    assert.deepEqual(await get(`/v1/voices/${encodeURIComponent(name)}`), zoe, name);
  assert.deepEqual(await get('/v1/voices/sailor'), sailor);
});
