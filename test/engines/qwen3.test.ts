// The native engine through the addon, on tiny checkpoints with random weights. Sound quality is not tested.
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { PcmRing } from '../../src/audio/pcm-ring.js';
import { enginesOf } from '../../src/engines/engine-setup.js';
import type { EngineNews } from '../../src/engines/engine-lifecycle.js';
import type { SynthesisRequest } from '../../src/engines/engine.js';
import type { NativeEngine, NativeEngineOptions } from '../../src/engines/native/native-engine.js';
import { openQwen3 } from '../../src/engines/qwen3/qwen3.js';
import { tagOfStated } from '../../src/speaking/language-plan.js';
import { ParleyError } from '../../src/errors.js';
import { ManualTime } from '../fakes/manual-time.js';
import { TokenSource } from '../fakes/token-source.js';
import { until } from '../fakes/until.js';
import { GOLDEN, goldenFloats } from './golden.js';
import { readable, readAll } from './read-ring.js';

const RATE = 24_000;
const FRAME = 1920;

type Changes = Partial<NativeEngineOptions['native']>;

async function openEngine(
  t: TestContext,
  model: string,
  changes: Changes = {},
  news: EngineNews[] = [],
  time?: ManualTime,
  limits: Partial<NativeEngineOptions> = {},
) {
  const engine = await openQwen3({
    native: {
      directory: join(GOLDEN, model),
      quantize: 'none',
      codecFormat: 'f32',
      threads: 1,
      cores: [],
      maxStreams: 4,
      maxNewTokens: 0,
      maxVoices: 4,
      warmUp: false,
      ...changes,
    },
    maxWaiting: 8,
    renderTimeoutMs: 20_000,
    onNews: (one) => news.push(one),
    ...(time === undefined ? {} : { time }),
    ...limits,
  });
  t.after(() => engine.close());
  return engine;
}

async function spoken(engine: NativeEngine, request: Partial<SynthesisRequest>) {
  const ring = PcmRing.open(RATE, RATE);
  try {
    const never = new AbortController().signal;
    const whole = { text: 'Hello there.', voice: '', language: 'en', ...request };
    const [{ samples }, end] = await Promise.all([readAll(ring), engine.synthesize(whole, ring, never)]);
    return { samples, end };
  } finally {
    ring.close();
  }
}

async function codeOf(work: Promise<unknown>): Promise<ParleyError> {
  return await work.then(
    () => assert.fail('it was not refused'),
    (error: unknown) => {
      assert.ok(error instanceof ParleyError, String(error));
      return error;
    },
  );
}

test('what a checkpoint offers is known before it is loaded', async (t) => {
  const engine = await openEngine(t, 'tiny-customvoice');
  assert.equal(engine.loaded, false);
  const voices = await engine.voices();
  assert.ok(voices.length > 0);
  assert.ok(voices.every(({ languages }) => languages.includes('en')));
  assert.deepEqual(
    { ...engine.capabilities, languages: [] },
    {
      clone: false,
      design: false,
      instruct: true,
      sampling: true,
      wordTimes: false,
      textStreaming: true,
      languages: [],
    },
  );
  assert.ok(engine.capabilities.languages.includes('zh'));
});

test('a sentence is spoken in whole frames, and the same seed speaks it the same', async (t) => {
  const engine = await openEngine(t, 'tiny-customvoice');
  const [voice] = await engine.voices();
  const request = { voice: voice?.name ?? '', options: { seed: 7, maxNewTokens: 12 } };
  const first = await spoken(engine, request);
  assert.ok(first.samples.length > 0);
  assert.equal(first.samples.length % FRAME, 0);
  assert.equal(first.end.samples, first.samples.length);
  assert.ok(first.samples.every((sample) => Math.abs(sample) <= 1));
  assert.deepEqual((await spoken(engine, request)).samples, first.samples);
  const other = await spoken(engine, { ...request, options: { seed: 8, maxNewTokens: 12 } });
  assert.notDeepEqual(other.samples, first.samples);
});

test('greedily it says, sample for sample, what the official implementation says', async (t) => {
  const engine = await openEngine(t, 'tiny-customvoice');
  const golden = goldenFloats('tiny-customvoice__lang_english', 'waveform');
  const text = 'Hello there, how are you today?';
  const options = { temperature: 0, maxNewTokens: 49 };
  const { samples } = await spoken(engine, { text, voice: 'vivian', language: 'en', options });
  assert.equal(samples.length, golden.length);
  const off = samples.reduce((most, sample, n) => Math.max(most, Math.abs(sample - (golden[n] ?? NaN))), 0);
  assert.ok(off <= 1e-5, `off by ${off}`);
});

test('sentences at once are each what they are alone', async (t) => {
  const engine = await openEngine(t, 'tiny-customvoice');
  const [voice] = await engine.voices();
  const request = (seed: number) => ({
    voice: voice?.name ?? '',
    options: { seed, maxNewTokens: 10 + seed },
  });
  const alone: Float32Array[] = [];
  for (let seed = 1; seed <= 6; seed++) alone.push((await spoken(engine, request(seed))).samples);
  const together = await Promise.all(alone.map((_, n) => spoken(engine, request(n + 1))));
  together.forEach(({ samples }, n) => assert.deepEqual(samples, alone[n]));
});

test('a sentence that is given up frees its place', async (t) => {
  const engine = await openEngine(t, 'tiny-customvoice', { maxStreams: 1 });
  const [voice] = await engine.voices();
  const ring = PcmRing.open(RATE, RATE);
  const giveUp = new AbortController();
  const request = {
    text: 'Hello. '.repeat(30),
    voice: voice?.name ?? '',
    language: 'en',
    options: { maxNewTokens: 2000 },
  };
  const work = codeOf(engine.synthesize(request, ring, giveUp.signal));
  await readable(ring);
  giveUp.abort();
  assert.equal((await work).code, 'ABORTED');
  ring.close();
  const next = await spoken(engine, { voice: voice?.name ?? '', options: { maxNewTokens: 4 } });
  assert.ok(next.samples.length > 0);
});

test('a voice of a recording is cloned, with and without what is said in it', async (t) => {
  const engine = await openEngine(t, 'tiny-base');
  assert.equal(engine.capabilities.clone, true);
  const samples = Float32Array.from(
    { length: 8000 },
    (_, n) => 0.3 * Math.sin((2 * Math.PI * 220 * n) / 16_000),
  );
  const sample = { kind: 'sample', hash: 'a', samples, rate: 16_000 } as const;
  const options = { seed: 1, maxNewTokens: 6 };
  const voiceOnly = await spoken(engine, { reference: sample, options });
  assert.ok(voiceOnly.samples.length > 0);
  const said = await spoken(engine, { reference: { ...sample, hash: 'b', text: 'A tone.' }, options });
  assert.notDeepEqual(said.samples, voiceOnly.samples);
  const notUsed = await spoken(engine, {
    reference: { ...sample, hash: 'c', text: 'A tone.', xVectorOnly: true },
    options,
  });
  assert.deepEqual(notUsed.samples, voiceOnly.samples);
});

test('a recording that cannot be used is refused by what is wrong with it, and the engine goes on', async (t) => {
  const engine = await openEngine(t, 'tiny-base');
  const sample = { kind: 'sample', rate: 24_000 } as const;
  for (const [hash, samples, problem] of [
    ['short', new Float32Array(10).fill(0.5), /lasts 0.000 s/],
    ['silent', new Float32Array(48_000), /silent/],
    ['odd', new Float32Array(48_000).fill(NaN), /finite|number/],
  ] as const) {
    const error = await codeOf(spoken(engine, { reference: { ...sample, hash, samples } }));
    assert.equal(error.code, 'INVALID_FIELD');
    assert.match(error.message, problem);
  }
  const samples = Float32Array.from({ length: 24_000 }, (_, n) => 0.3 * Math.sin(n / 20));
  assert.ok(
    (await spoken(engine, { reference: { ...sample, hash: 'good', samples }, options: { maxNewTokens: 4 } }))
      .samples.length > 0,
  );
});

test('a voice is designed from its description', async (t) => {
  const engine = await openEngine(t, 'tiny-voicedesign');
  assert.deepEqual(await engine.voices(), []);
  assert.equal(engine.sampleRate(''), RATE);
  const say = (prompt: string) =>
    spoken(engine, {
      reference: { kind: 'prompt', hash: prompt, prompt },
      options: { seed: 3, maxNewTokens: 8 },
    });
  assert.notDeepEqual((await say('An old man.')).samples, (await say('A child.')).samples);
});

test('a text that the model has no room for is refused, and others are spoken', async (t) => {
  const engine = await openEngine(t, 'tiny-customvoice');
  const [voice] = await engine.voices();
  const error = await codeOf(spoken(engine, { text: 'word '.repeat(40_000), voice: voice?.name ?? '' }));
  assert.equal(error.code, 'TEXT_TOO_LONG');
  assert.ok(
    (await spoken(engine, { voice: voice?.name ?? '', options: { maxNewTokens: 4 } })).samples.length > 0,
  );
});

/** Text that a test hands over piece by piece. */
class Pieces extends TokenSource {
  static of(...pieces: readonly string[]): Pieces {
    const source = new Pieces();
    for (const piece of pieces) source.push(piece);
    source.end();
    return source;
  }
}

const LONG_TEXT = 'Hello there. How are you today? We are open from nine to five.';

test('text that comes in pieces is spoken, sample for sample, as if it had come at once', async (t) => {
  const engine = await openEngine(t, 'tiny-customvoice', { maxNewTokens: 60 });
  const [voice] = await engine.voices();
  const request = { voice: voice?.name ?? '', options: { seed: 11 } };
  const [first, second, third] = [LONG_TEXT.slice(0, 12), LONG_TEXT.slice(12, 31), LONG_TEXT.slice(31)];
  const atOnce = await spoken(engine, { ...request, text: LONG_TEXT, more: Pieces.of() });
  assert.ok(atOnce.samples.length > 0);
  const inTwo = await spoken(engine, { ...request, text: first, more: Pieces.of(second + third) });
  assert.deepEqual(inTwo.samples, atOnce.samples);
  const inThree = await spoken(engine, { ...request, text: first, more: Pieces.of(second, third) });
  assert.deepEqual(inThree.samples, atOnce.samples);
});

test('with the voice of a recording it is also what a request without further text gives', async (t) => {
  const engine = await openEngine(t, 'tiny-base', { maxNewTokens: 60 });
  const samples = Float32Array.from({ length: 24_000 }, (_, n) => 0.3 * Math.sin(n / 20));
  const reference = { kind: 'sample', hash: 'voice', samples, rate: 24_000 } as const;
  const request = { reference, options: { seed: 4 } };
  const whole = await spoken(engine, { ...request, text: LONG_TEXT });
  const more = Pieces.of(LONG_TEXT.slice(12, 20), LONG_TEXT.slice(20));
  const inPieces = await spoken(engine, { ...request, text: LONG_TEXT.slice(0, 12), more });
  assert.deepEqual(inPieces.samples, whole.samples);
});

// Frames of "Hello there." that are made before more text comes, whatever is drawn: a token each.
const PARKED_AFTER = 4;

/** A synthesis whose text has not ended, and that has spoken all it can without more of it. */
async function parked(engine: NativeEngine, seed: number) {
  const [voice] = await engine.voices();
  const ring = PcmRing.open(RATE, 60 * RATE);
  const giveUp = new AbortController();
  const more = new Pieces();
  const request = { text: 'Hello there.', voice: voice?.name ?? '', language: 'en', options: { seed }, more };
  const work = engine.synthesize(request, ring, giveUp.signal);
  work.catch(() => undefined);
  await until(() => ring.status()?.written === PARKED_AFTER * FRAME);
  return { ring, giveUp, more, work };
}

test('a synthesis that waits for text speaks on when it comes, and ends when it ends', async (t) => {
  const engine = await openEngine(t, 'tiny-customvoice', { maxNewTokens: 60 });
  const whole = await spoken(engine, {
    text: 'Hello there. How are you?',
    voice: (await engine.voices())[0]?.name ?? '',
    options: { seed: 6 },
    more: Pieces.of(),
  });
  const { ring, more, work } = await parked(engine, 6);
  const before = ring.status()?.written ?? 0;
  assert.ok(before > 0 && before < whole.samples.length);
  more.push(' How are you?');
  more.end();
  const { samples } = await work;
  assert.equal(samples, whole.samples.length);
  assert.deepEqual((await readAll(ring)).samples, whole.samples);
  ring.close();
});

test('the end of the text reaches a synthesis that waits for it', async (t) => {
  const engine = await openEngine(t, 'tiny-customvoice', { maxNewTokens: 60 });
  const voice = (await engine.voices())[0]?.name ?? '';
  const whole = await spoken(engine, {
    text: 'Hello there.',
    voice,
    options: { seed: 3 },
    more: Pieces.of(),
  });
  const { ring, more, work } = await parked(engine, 3);
  more.end();
  assert.equal((await work).samples, whole.samples.length);
  assert.deepEqual((await readAll(ring)).samples, whole.samples);
  ring.close();
});

test('a synthesis that is given up, or closed, while it waits for text lets go of both', async (t) => {
  const engine = await openEngine(t, 'tiny-customvoice', { maxStreams: 1, maxNewTokens: 60 });
  const first = await parked(engine, 1);
  first.giveUp.abort();
  assert.equal((await codeOf(first.work)).code, 'ABORTED');
  assert.equal(first.ring.status()?.aborted, true);
  first.ring.close();
  await until(() => first.more.returned); // the place is free only then: there is one
  const second = await parked(engine, 2);
  await engine.close();
  assert.match((await codeOf(second.work)).code, /ENGINE_UNAVAILABLE|ABORTED/);
  await until(() => second.more.returned);
  second.ring.close();
});

test('a failure of the text is that of the synthesis, which ends', async (t) => {
  const engine = await openEngine(t, 'tiny-customvoice', { maxNewTokens: 60 });
  const voice = (await engine.voices())[0]?.name ?? '';
  async function* failing(): AsyncGenerator<string> {
    yield ' And then';
    throw new ParleyError('TIMEOUT', 'no text arrived');
  }
  assert.equal((await codeOf(spoken(engine, { voice, more: failing() }))).code, 'TIMEOUT');
});

test('no synthesis is taken for hung while it waits for text', async (t) => {
  const time = new ManualTime(); // which keeps no process alive
  const alive = setInterval(() => undefined, 1000);
  t.after(() => clearInterval(alive));
  const engine = await openEngine(t, 'tiny-customvoice', { maxNewTokens: 60 }, [], time);
  const { ring, more, work } = await parked(engine, 5);
  for (let n = 0; n < 5; n++) time.advance(20_000);
  more.push(' How are you?');
  await until(() => (ring.status()?.written ?? 0) > PARKED_AFTER * FRAME);
  more.end();
  assert.ok((await work).samples > PARKED_AFTER * FRAME);
  assert.equal(time.waiting, 0);
  ring.close();
});

test('a synthesis of which nothing comes is given up as one that took too long, and the engine goes on', async (t) => {
  const time = new ManualTime();
  const alive = setInterval(() => undefined, 1000);
  t.after(() => clearInterval(alive));
  const news: EngineNews[] = [];
  const engine = await openEngine(t, 'tiny-base', { maxNewTokens: 3 }, news, time);
  await engine.load();
  // Its voice takes far longer to make than this thread needs to say that the time is over.
  const samples = Float32Array.from({ length: 30 * RATE }, (_, n) => 0.3 * Math.sin(n / 20));
  const reference = { kind: 'sample', hash: 'long', samples, rate: RATE } as const;
  const slow = codeOf(spoken(engine, { reference }));
  await until(() => time.waiting === 1);
  time.advance(20_000);
  const { code, message } = await slow;
  assert.deepEqual([code, message], ['ENGINE_FAILED', 'a sentence took longer than 20000 ms']);
  assert.deepEqual(news.at(-1), { what: 'lost', reason: message });
  const short = { ...reference, hash: 'short', samples: samples.subarray(0, RATE) };
  assert.equal((await spoken(engine, { reference: short })).samples.length, 2 * FRAME);
  assert.equal(time.waiting, 0);
});

test('every sampling option that the interface allows gives speech', async (t) => {
  const engine = await openEngine(t, 'tiny-customvoice');
  const voice = (await engine.voices())[0]?.name ?? '';
  const said = async (options: SynthesisRequest['options']) =>
    (await spoken(engine, { voice, options: { seed: 5, maxNewTokens: 6, ...options } })).samples;
  const greedy = await said({ temperature: 0 });
  assert.equal(greedy.length, 5 * FRAME);
  for (const temperature of [1e-9, 1e-300, Number.MIN_VALUE, 0.00009]) {
    assert.deepEqual(await said({ temperature }), greedy, `temperature ${temperature}`);
  }
  assert.deepEqual(await said({ topP: 0 }), await said({ topP: 1e-6 }));
  for (const options of [
    { topP: 1e-12 },
    { topP: 1 },
    { topK: 0 },
    { topK: 1 },
    { temperature: 0.0001 },
    { temperature: 2 },
  ]) {
    assert.equal((await said(options)).length, 5 * FRAME, JSON.stringify(options));
  }
  const all = await said({ topK: 1_000_000 });
  for (const topK of [2 ** 31, 2 ** 40, Number.MAX_SAFE_INTEGER]) assert.deepEqual(await said({ topK }), all);
  for (const seed of [-Number.MAX_SAFE_INTEGER, -1, 0, Number.MAX_SAFE_INTEGER]) {
    assert.equal((await said({ seed })).length, 5 * FRAME, `seed ${seed}`);
  }
});

test('a single token asked for is a frame of sound', async (t) => {
  const engine = await openEngine(t, 'tiny-customvoice');
  const voice = (await engine.voices())[0]?.name ?? '';
  assert.equal((await spoken(engine, { voice, options: { maxNewTokens: 1 } })).samples.length, FRAME);
  const limited = await openEngine(t, 'tiny-customvoice', { maxNewTokens: 1 });
  assert.equal((await spoken(limited, { voice })).samples.length, FRAME);
});

test('a checkpoint speaks every language that it names', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-model-'));
  t.after(() => rmSync(folder, { recursive: true }));
  cpSync(join(GOLDEN, 'tiny-customvoice'), folder, { recursive: true });
  const path = join(folder, 'config.json');
  const names = { italian: 'dutch', japanese: 'Cantonese', korean: 'klingonish', french: 'Hebrew' };
  const config = Object.entries(names).reduce(
    (text, [from, to]) => text.replace(`"${from}":`, `"${to}":`),
    readFileSync(path, 'utf8'),
  );
  writeFileSync(path, config);
  const native = {
    directory: folder,
    quantize: 'none',
    codecFormat: 'f32',
    threads: 1,
    cores: [],
    maxStreams: 2,
    maxNewTokens: 0,
    maxVoices: 2,
    warmUp: false,
  } as const;
  const engines = await enginesOf({ engine: 'qwen3', maxWaiting: 8, renderTimeoutMs: 20_000, native });
  t.after(() => engines.close());
  const sounds = new Map<string, Float32Array>();
  for (const language of ['nl', 'nl-BE', 'yue', 'he', 'iw', tagOfStated('Klingonish') ?? '', 'de']) {
    const { engine, voice, language: tag } = engines.resolve({ language });
    const options = { seed: 3, maxNewTokens: 6 };
    sounds.set(language, (await spoken(engine as NativeEngine, { voice, language: tag, options })).samples);
  }
  assert.deepEqual(sounds.get('nl-BE'), sounds.get('nl'));
  assert.deepEqual(sounds.get('iw'), sounds.get('he'));
  for (const language of ['yue', 'he', 'Klingonish', 'de']) {
    assert.notDeepEqual(sounds.get(language), sounds.get('nl'), language);
  }
  assert.throws(() => engines.resolve({ language: 'it' }), { code: 'LANGUAGE_UNAVAILABLE' });
});

/** Has a voice made that takes far longer than anything that a test does meanwhile. */
function longReference() {
  const samples = Float32Array.from({ length: 30 * RATE }, (_, n) => 0.3 * Math.sin(n / 20));
  return { kind: 'sample', hash: 'long', samples, rate: RATE } as const;
}

test('the time that a synthesis waits in the engine for another is not taken for its own', async (t) => {
  const time = new ManualTime();
  const alive = setInterval(() => undefined, 1000);
  t.after(() => clearInterval(alive));
  const engine = await openEngine(t, 'tiny-base', { maxNewTokens: 3 }, [], time);
  await engine.load();
  const reference = longReference();
  const slow = codeOf(spoken(engine, { reference }));
  const brief = { ...reference, hash: 'brief', samples: reference.samples.subarray(0, RATE) };
  const next = spoken(engine, { reference: brief });
  await until(() => engine.waitingOf('http') === 1);
  time.advance(20_000);
  assert.equal((await slow).code, 'ENGINE_FAILED');
  assert.equal((await next).samples.length, 2 * FRAME);
  assert.deepEqual([engine.waiting, time.waiting], [0, 0]);
});

test('what waits in the engine counts for 503, and is answered with 504 where it waits too long', async (t) => {
  const time = new ManualTime();
  const alive = setInterval(() => undefined, 1000);
  t.after(() => clearInterval(alive));
  const engine = await openEngine(t, 'tiny-base', { maxNewTokens: 3 }, [], time, {
    maxWaiting: 1,
    maxWaitMs: 5000,
  });
  await engine.load();
  const reference = longReference();
  const slow = spoken(engine, { reference });
  const next = codeOf(spoken(engine, { reference: { ...reference, hash: 'next' } }));
  await until(() => engine.waitingOf('http') === 1);
  const refused = await codeOf(spoken(engine, { reference: { ...reference, hash: 'refused' } }));
  assert.deepEqual([refused.code, refused.retryAfterSeconds], ['ENGINE_BUSY', 1]);
  time.advance(5000);
  assert.equal((await next).code, 'TIMEOUT');
  assert.equal((await slow).samples.length, 2 * FRAME);
  assert.deepEqual([engine.waiting, time.waiting], [0, 0]);
});

test('of sentences that enter the engine together, those that wait beyond the bound are refused', async (t) => {
  const engine = await openEngine(t, 'tiny-base', { maxNewTokens: 3 }, [], undefined, { maxWaiting: 1 });
  await engine.load();
  const reference = longReference();
  const slow = spoken(engine, { reference });
  const samples = reference.samples.subarray(0, RATE);
  const others = ['one', 'two', 'three'].map((hash) =>
    spoken(engine, { reference: { ...reference, hash, samples } }),
  );
  const ends = await Promise.allSettled(others);
  const refused = ends.filter((end) => end.status === 'rejected').map(({ reason }) => reason as ParleyError);
  assert.deepEqual(
    refused.map(({ code, retryAfterSeconds }) => [code, retryAfterSeconds]),
    [
      ['ENGINE_BUSY', 1],
      ['ENGINE_BUSY', 1],
    ],
  );
  assert.equal((await slow).samples.length, 2 * FRAME);
  assert.equal(engine.waiting, 0);
});

test('it says how much text it has room for: as much as its frames, or the most that is allowed, let it', async (t) => {
  assert.equal((await openEngine(t, 'tiny-customvoice')).mostText, 750);
  assert.equal((await openEngine(t, 'tiny-customvoice', { maxNewTokens: 100 })).mostText, 50);
});

test('an engine that was unloaded loads again for the next sentence', async (t) => {
  const news: EngineNews[] = [];
  const engine = await openEngine(t, 'tiny-customvoice', {}, news);
  const [voice] = await engine.voices();
  const request = { voice: voice?.name ?? '', options: { seed: 1, maxNewTokens: 5 } };
  const before = await spoken(engine, request);
  await engine.unload();
  assert.equal(engine.loaded, false);
  assert.deepEqual((await spoken(engine, request)).samples, before.samples);
  assert.deepEqual(
    news.map(({ what }) => what),
    ['loaded', 'unloaded', 'loaded'],
  );
});

test('a close ends the sentences on their way', async (t) => {
  const engine = await openEngine(t, 'tiny-customvoice');
  const [voice] = await engine.voices();
  const ring = PcmRing.open(RATE, RATE);
  t.after(() => ring.close());
  const request = {
    text: 'Hello. '.repeat(30),
    voice: voice?.name ?? '',
    language: 'en',
    options: { maxNewTokens: 2000 },
  };
  const work = codeOf(engine.synthesize(request, ring, new AbortController().signal));
  await readable(ring);
  await engine.close();
  assert.match((await work).code, /ENGINE_UNAVAILABLE|ABORTED/);
});

test('a folder that is none, and a checkpoint that is damaged, are named at the start', async (t) => {
  const missing = await codeOf(openEngine(t, 'nowhere'));
  assert.equal(missing.code, 'ENGINE_UNAVAILABLE');
  assert.match(missing.message, /MODEL_DIR.*nowhere/);
  const folder = mkdtempSync(join(tmpdir(), 'parley-model-'));
  t.after(() => rmSync(folder, { recursive: true }));
  cpSync(join(GOLDEN, 'tiny-customvoice'), folder, { recursive: true });
  truncateSync(join(folder, 'model.safetensors'), 100_000);
  assert.match((await codeOf(openEngine(t, '', { directory: folder }))).message, /model\.safetensors/);
});

test('weights that are cut under a running engine end its sentences, not the process, and are named', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-model-'));
  t.after(() => rmSync(folder, { recursive: true }));
  cpSync(join(GOLDEN, 'tiny-customvoice'), folder, { recursive: true });
  const engine = await openEngine(t, '', { directory: folder });
  const voice = (await engine.voices())[0]?.name ?? '';
  assert.equal((await spoken(engine, { voice, options: { maxNewTokens: 3 } })).samples.length, 2 * FRAME);
  truncateSync(join(folder, 'model.safetensors'), 100_000);
  const lost = await codeOf(spoken(engine, { voice }));
  assert.equal(lost.code, 'ENGINE_LOST');
  assert.match(String((lost.cause as Error).message), /model\.safetensors: was \d+ bytes .* is 100000 now/);
  const next = await codeOf(spoken(engine, { voice }));
  assert.equal(next.code, 'ENGINE_UNAVAILABLE');
  assert.match(engine.trouble ?? '', /model\.safetensors/);
});

test('ENGINE=auto speaks with a checkpoint where there is one, in its languages, and with others besides', async (t) => {
  const native = {
    directory: join(GOLDEN, 'tiny-customvoice'),
    quantize: 'none',
    codecFormat: 'f32',
    threads: 1,
    cores: [],
    maxStreams: 2,
    maxNewTokens: 0,
    maxVoices: 2,
  } as const;
  const engines = await enginesOf({ engine: 'auto', maxWaiting: 8, renderTimeoutMs: 20_000, native });
  t.after(() => engines.close());
  assert.equal(engines.resolve({}).engine.name, 'qwen3');
  assert.equal(engines.resolve({ language: 'zh' }).engine.name, 'qwen3');
  assert.equal(engines.resolve({ voice: 'slt' }).engine.name, 'flite');
  const missing = await codeOf(enginesOf({ engine: 'qwen3', maxWaiting: 8, renderTimeoutMs: 20_000 }));
  assert.match(missing.message, /ENGINE=qwen3.*MODEL_DIR/);
});
