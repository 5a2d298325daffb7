// The speech engine whose voices are made by servers: what they are sent, and each way in which they fail.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { PcmRing } from '../../src/audio/pcm-ring.js';
import type { SpeechEnd, SynthesisRequest } from '../../src/engines/engine.js';
import { OpenAiSpeech, type OpenAiSpeechOptions } from '../../src/engines/openai/openai-speech.js';
import { ServerPool } from '../../src/engines/openai/server-pool.js';
import { ManualTime } from '../fakes/manual-time.js';
import { until } from '../fakes/until.js';
import { readAll } from './read-ring.js';
import { SpeechServerUnderTest } from './speech-server.js';

const TIMEOUT_MS = 5000;
const REQUEST: SynthesisRequest = { text: 'Good morning.', voice: 'anna', language: 'de' };

async function open(t: TestContext, count = 1, options: Partial<OpenAiSpeechOptions> = {}) {
  const servers = await Promise.all(Array.from({ length: count }, () => SpeechServerUnderTest.open(t)));
  const time = new ManualTime();
  const pool = new ServerPool(
    servers.map(({ baseUrl }) => ({ baseUrl, apiKey: 'a-key' })),
    time,
  );
  const engine = new OpenAiSpeech({
    pool,
    model: 'a-model',
    dialect: 'openai',
    voices: [{ name: 'anna', remote: 'vivian' }],
    languages: ['en', 'de'],
    timeoutMs: TIMEOUT_MS,
    time,
    ...options,
  });
  t.after(() => engine.close());
  const [first, second = first] = servers;
  assert.ok(first !== undefined && second !== undefined);
  return { engine, time, pool, first, second };
}

interface Spoken {
  readonly end: Promise<SpeechEnd>;
  readonly sound: ReturnType<typeof readAll>;
  readonly abort: AbortController;
}

function speak(t: TestContext, engine: OpenAiSpeech, request = REQUEST): Spoken {
  const ring = PcmRing.open(24_000, 24_000);
  t.after(() => ring.close());
  const abort = new AbortController();
  const end = engine.synthesize(request, ring, abort.signal);
  end.catch(() => undefined);
  return { end, sound: readAll(ring), abort };
}

test('a server is asked with its own name of the voice, and its samples are the sound', async (t) => {
  const { engine, first } = await open(t);
  const options = { instructions: 'Speak softly.' };
  const { end, sound } = speak(t, engine, { ...REQUEST, options });
  const asked = await first.request();
  assert.deepEqual(asked.body, {
    model: 'a-model',
    voice: 'vivian',
    input: 'Good morning.',
    instructions: 'Speak softly.',
    response_format: 'pcm',
  });
  assert.equal(asked.authorization, 'Bearer a-key');
  asked.begin().samples(16_384, -32_768).samples(1).end();
  assert.deepEqual((await end).samples, 3);
  const { samples, end: ringEnd } = await sound;
  assert.deepEqual([[...samples], ringEnd], [[0.5, -1, 1 / 32_768], '']);
  assert.deepEqual([engine.loaded, engine.usable, engine.trouble], [true, true, undefined]);
});

test('servers of vLLM-Omni and Parley are told the language, and that sound is wanted as it is made', async (t) => {
  const { engine, first } = await open(t, 1, { dialect: 'vllm' });
  const { end } = speak(t, engine);
  const asked = await first.request();
  const { language, stream, stream_format: form } = asked.body;
  assert.deepEqual([language, stream, form], ['German', true, 'audio']);
  asked.begin().samples(1).end();
  await end;
});

test('samples that are cut between two packets are whole', async (t) => {
  const { engine, first } = await open(t);
  const { end, sound } = speak(t, engine);
  const { response } = (await first.request()).begin();
  for (const byte of [0x00, 0x40, 0x00, 0xc0]) {
    await new Promise((resolve) => response.write(Buffer.of(byte), resolve));
    await new Promise((resolve) => setImmediate(resolve));
  }
  response.end();
  await end;
  assert.deepEqual([...(await sound).samples], [0.5, -0.5]);
});

for (const [what, fail] of [
  ['cannot be reached', (server: SpeechServerUnderTest) => Promise.resolve(server.close())],
  ['breaks off before its answer', async (server: SpeechServerUnderTest) => (await server.request()).cut()],
  [
    'breaks off before its first sample',
    async (server: SpeechServerUnderTest) => (await server.request()).begin().cut(),
  ],
  [
    'is busy',
    async (server: SpeechServerUnderTest) => (await server.request()).refuse(429, { 'retry-after': '60' }),
  ],
  ['has failed', async (server: SpeechServerUnderTest) => (await server.request()).refuse(500)],
] as const) {
  test(`where a server ${what}, another one speaks the whole sentence at once`, async (t) => {
    const { engine, time, first, second } = await open(t, 2);
    const failing = fail(first);
    const { end, sound } = speak(t, engine);
    await failing;
    (await second.request()).begin().samples(7, 8).end();
    assert.equal((await end).samples, 2);
    assert.equal((await sound).end, '');
    assert.equal(time.now(), 0);
    assert.equal(engine.usable, true);
  });
}

test('a server that never answers is given up in its time, and another one speaks', async (t) => {
  const { engine, time, first, second } = await open(t, 2);
  const { end } = speak(t, engine);
  const asked = await first.request();
  time.advance(TIMEOUT_MS);
  (await second.request()).begin().samples(1).end();
  await end;
  await until(() => asked.isLeft);
});

test('a server that breaks off after its first sample has lost the sentence, which is not spoken twice', async (t) => {
  const { engine, first, second } = await open(t, 2);
  const { end, sound } = speak(t, engine);
  const asked = (await first.request()).begin().samples(7);
  await new Promise((resolve) => asked.response.write(Buffer.alloc(0), resolve));
  setImmediate(() => asked.cut());
  await assert.rejects(end, { code: 'ENGINE_UNAVAILABLE' });
  assert.equal((await sound).end, 'ENGINE_UNAVAILABLE');
  assert.equal(second.asked.length, 0);
});

/** Lets time pass until the sentence is over. */
async function pass({ end }: Spoken, time: ManualTime): Promise<void> {
  let isOver = false;
  const over = () => void (isOver = true);
  void end.then(over, over);
  await until(() => {
    if (!isOver) time.advance(500);
    return isOver;
  });
}

test('a server that stalls in the middle is given up in its time', async (t) => {
  const { engine, time, first } = await open(t);
  const spoken = speak(t, engine);
  const asked = (await first.request()).begin().samples(7);
  await pass(spoken, time);
  await assert.rejects(spoken.end, { code: 'TIMEOUT' });
  assert.equal((await spoken.sound).end, 'TIMEOUT');
  await until(() => asked.isLeft);
});

const WHOLE: SynthesisRequest = { ...REQUEST, whole: true };

test('where a server breaks off in a sentence that is taken whole, another one speaks it from its beginning', async (t) => {
  const { engine, time, first, second } = await open(t, 2);
  const { end, sound } = speak(t, engine, WHOLE);
  (await first.request()).begin().samples(7, 7, 7).cut();
  (await second.request()).begin().samples(16_384).samples(-32_768).end();
  assert.equal((await end).samples, 2);
  const { samples, end: ringEnd } = await sound;
  assert.deepEqual([[...samples], ringEnd], [[0.5, -1], '']);
  assert.deepEqual([time.now(), engine.usable, engine.trouble], [0, true, undefined]);
});

test('where a server stalls in a sentence that is taken whole, another one speaks it from its beginning', async (t) => {
  const { engine, time, first, second } = await open(t, 2);
  const spoken = speak(t, engine, WHOLE);
  const asked = (await first.request()).begin().samples(7);
  await until(() => {
    if (second.asked.length === 0) time.advance(500);
    return second.asked.length > 0;
  });
  await until(() => asked.isLeft);
  (await second.request()).begin().samples(16_384).end();
  assert.equal((await spoken.end).samples, 1);
  assert.deepEqual([...(await spoken.sound).samples], [0.5]);
});

test('a sentence that is taken whole is asked for three times of a lone server that breaks off', async (t) => {
  const { engine, time, first } = await open(t);
  const spoken = speak(t, engine, WHOLE);
  const over = pass(spoken, time);
  for (let n = 0; n < 3; n++) (await first.request(n)).begin().samples(7).cut();
  await over;
  await assert.rejects(spoken.end, { code: 'ENGINE_UNAVAILABLE' });
  const { samples, end } = await spoken.sound;
  assert.deepEqual([samples.length, end, first.asked.length], [0, 'ENGINE_UNAVAILABLE', 3]);
});

test('a sentence of more than a minute is passed on as it comes, even if it is taken whole', async (t) => {
  const { engine, first, second } = await open(t, 2);
  const { end, sound } = speak(t, engine, WHOLE);
  const asked = (await first.request()).begin();
  asked.response.write(Buffer.alloc(61 * 24_000 * 2));
  await until(() => asked.response.writableLength === 0);
  setImmediate(() => asked.cut());
  await assert.rejects(end, { code: 'ENGINE_UNAVAILABLE' });
  const { samples, end: ringEnd } = await sound;
  assert.ok(samples.length >= 60 * 24_000, `${samples.length} samples`);
  assert.deepEqual([ringEnd, second.asked.length], ['ENGINE_UNAVAILABLE', 0]);
});

for (const [what, answer, message] of [
  ['lies about its rate', 'audio/pcm;rate=16000', /sends sound at 16000 Hz, not at 24000/],
  ['sends a file', 'audio/wav', /answers with audio\/wav in place of PCM/],
  ['sends text', 'application/json', /answers with application\/json/],
] as const) {
  test(`a server that ${what} is named, and not asked again`, async (t) => {
    const { engine, first } = await open(t);
    const { end } = speak(t, engine);
    (await first.request()).begin(answer).samples(1).end();
    await assert.rejects(end, { code: 'ENGINE_FAILED', message });
    assert.match(engine.trouble ?? '', message);
    assert.equal(first.asked.length, 1);
  });
}

test('half of a sample at the end, and no sound at all, are failures', async (t) => {
  const { engine, first } = await open(t);
  const half = speak(t, engine);
  (await first.request()).begin().response.end(Buffer.of(1, 2, 3));
  await assert.rejects(half.end, { message: /in the middle of a sample/ });
  const none = speak(t, engine);
  (await first.request(1)).begin().end();
  await assert.rejects(none.end, { message: /sent no sound/ });
});

for (const status of [400, 401, 403, 404]) {
  test(`a server that answers ${status} where another one speaks is left alone`, async (t) => {
    const { engine, time, first, second } = await open(t, 2);
    const one = speak(t, engine);
    (await first.request()).refuse(status);
    (await second.request()).begin().samples(1).end();
    assert.equal((await one.end).samples, 1);
    for (let n = 1; n < 4; n++) {
      const { end } = speak(t, engine);
      (await second.request(n)).begin().samples(1).end();
      await end;
    }
    assert.deepEqual([first.asked.length, engine.usable, time.now()], [1, true, 0]);
    time.advance(30_000);
    const later = speak(t, engine);
    (await first.request(1)).begin().samples(1).end();
    await later.end;
  });
}

test('a request that every server refuses puts none of them aside', async (t) => {
  const { engine, first, second } = await open(t, 2);
  for (let n = 0; n < 2; n++) {
    const { end } = speak(t, engine);
    await until(() => first.asked.length + second.asked.length === 2 * n + 1);
    (first.asked[n] ?? second.asked[n])?.refuse(400);
    await until(() => first.asked.length + second.asked.length === 2 * n + 2);
    for (const server of [first, second]) {
      const asked = server.asked[n];
      if (asked?.response.writableEnded === false) asked.refuse(400);
    }
    await assert.rejects(end, { code: 'ENGINE_FAILED' });
  }
  assert.deepEqual([first.asked.length, second.asked.length, engine.usable], [2, 2, true]);
});

test('a key that one server refuses does not end the use of the others', async (t) => {
  const { engine, first, second } = await open(t, 2);
  const { end } = speak(t, engine);
  (await first.request()).refuse(401);
  (await second.request()).begin().samples(1).end();
  await end;
  assert.deepEqual([engine.usable, engine.trouble], [true, undefined]);
});

test('a refused key ends the use of the engine, and is not sent again', async (t) => {
  const { engine, first } = await open(t);
  const { end } = speak(t, engine);
  (await first.request()).refuse(401);
  await assert.rejects(end, { code: 'ENGINE_UNAVAILABLE', field: 'TTS_API_KEY' });
  assert.deepEqual([engine.usable, first.asked.length], [false, 1]);
});

test('a sentence that is given up ends its request', async (t) => {
  const { engine, first } = await open(t);
  const { end, sound, abort } = speak(t, engine);
  const asked = (await first.request()).begin().samples(1);
  abort.abort();
  await assert.rejects(end, { code: 'ABORTED' });
  assert.equal((await sound).end, 'aborted');
  await until(() => asked.isLeft);
  assert.equal(engine.trouble, undefined);
});

test('while every server is away the engine is passed over, and tried again after a pause', async (t) => {
  const { engine, time, first, second } = await open(t, 2);
  first.close();
  second.close();
  const spoken = speak(t, engine);
  await pass(spoken, time);
  await assert.rejects(spoken.end, { code: 'ENGINE_UNAVAILABLE', message: /cannot be reached/ });
  assert.equal(engine.usable, false);
  time.advance(30_000);
  assert.equal(engine.usable, true);
});

test('a server is asked for its models at the start, and one that is away may come later', async (t) => {
  const { engine, first } = await open(t);
  await engine.load();
  assert.equal(engine.loaded, true);
  first.close();
  const news: string[] = [];
  const away = await open(t, 1, { onNews: ({ what }) => void news.push(what) });
  away.first.close();
  await away.engine.load();
  assert.deepEqual([away.engine.loaded, news], [false, ['load failed']]);
  assert.match(away.engine.trouble ?? '', /the speech server cannot be reached/);
});
