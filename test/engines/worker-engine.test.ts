import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { PcmRing } from '../../src/audio/pcm-ring.js';
import { watchedHandles } from '../../src/audio/ready.js';
import type { EngineNews } from '../../src/engines/engine-lifecycle.js';
import { type EngineLimits, WARM_UP_TEXTS, WorkerEngine } from '../../src/engines/worker-engine.js';
import type { SpeechEnd, SpeechOptions } from '../../src/engines/engine.js';
import { ManualTime } from '../fakes/manual-time.js';
import { rejectionsOf } from '../fakes/rejections.js';
import { readAll } from './read-ring.js';

const RATE = 16_000;
const never = () => new AbortController().signal;

interface Setup {
  readonly limits?: Partial<EngineLimits>;
  readonly data?: unknown;
  readonly sampling?: boolean;
  readonly warmsUp?: boolean;
}

function openEngine(t: TestContext, { limits, data, sampling = false, warmsUp = false }: Setup = {}) {
  const replaced: string[] = [];
  const news: EngineNews['what'][] = [];
  const engine = new WorkerEngine({
    capabilities: {
      clone: false,
      design: false,
      instruct: false,
      sampling,
      wordTimes: true,
      textStreaming: false,
      languages: ['en'],
    },
    voices: [{ name: 'odd', engine: 'odd', languages: ['en'], description: '' }],
    rateOf: () => RATE,
    warmsUp,
    limits: {
      maxWaiting: 8,
      renderTimeoutMs: 10_000,
      onNews: (event) => {
        news.push(event.what);
        if (event.what === 'lost') replaced.push(event.reason);
      },
      ...limits,
    },
    thread: {
      engine: 'odd',
      file: new URL('./odd-worker.js', import.meta.url),
      data,
      renderTimeoutMs: limits?.renderTimeoutMs ?? 10_000,
    },
  });
  t.after(() => engine.close());
  return { engine, replaced, news };
}

function say(engine: WorkerEngine, text: string, signal = never(), capacity = RATE) {
  const ring = PcmRing.open(RATE, capacity);
  const end: Promise<SpeechEnd> = engine.synthesize({ text, voice: 'odd', language: 'en' }, ring, signal);
  end.catch(() => undefined);
  return { ring, end };
}

/** Lets every promise that can settle do so. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

test('the sound arrives whole, with its words, and the ring ends', async (t) => {
  const { engine } = openEngine(t);
  const { ring, end } = say(engine, 'hello', never(), 64);
  const taken = await readAll(ring);
  const { timing, ...sound } = await end;
  assert.deepEqual(sound, { samples: 500, words: [{ word: 'hello', textOffset: 0, startMs: 0 }] });
  assert.ok(timing !== undefined && timing.loadMs > 0 && timing.queueMs >= 0 && timing.inferMs >= 0);
  assert.equal(taken.end, '');
  assert.deepEqual(taken.samples, new Float32Array(500).fill(0.5));
  ring.close();
  assert.equal(watchedHandles(), 0);
});

test('sound that waits for room in its ring is reported whole, with its words, before it is read', async (t) => {
  const { engine } = openEngine(t);
  const ring = PcmRing.open(8000, 64);
  const rendered = new Promise<Pick<SpeechEnd, 'samples' | 'words'>>((resolve) => {
    const request = { text: 'a long sentence', voice: 'odd', language: 'en', onRendered: resolve };
    engine.synthesize(request, ring, never()).catch(() => undefined);
  });
  const { samples, words } = await rendered;
  assert.deepEqual(
    { samples, words },
    { samples: 1500, words: [{ word: 'a long sentence', textOffset: 0, startMs: 0 }] },
  );
  ring.abort();
  ring.close();
});

test('a sentence whose ring is full holds up no other', async (t) => {
  const { engine } = openEngine(t);
  const held = say(engine, 'a long sentence that nobody reads yet', never(), 64);
  const other = say(engine, 'next');
  assert.equal((await other.end).samples, 400);
  assert.equal((await readAll(held.ring)).samples.length, 3700);
  assert.equal((await held.end).samples, 3700);
  held.ring.close();
  other.ring.close();
});

test('a sentence that fails ends its ring with the code, and the next one is spoken', async (t) => {
  const { engine, replaced } = openEngine(t);
  const failed = say(engine, 'fail');
  assert.equal((await readAll(failed.ring)).end, 'ENGINE_FAILED');
  await assert.rejects(failed.end, { code: 'ENGINE_FAILED', message: 'the engine odd failed: no such word' });
  assert.equal((await say(engine, 'next').end).samples, 400);
  assert.deepEqual(replaced, []);
});

test('a crash fails what the thread held, and a fresh thread speaks what waited', async (t) => {
  const { engine, replaced } = openEngine(t);
  const parked = say(engine, 'waits for room', never(), 64);
  const crashed = say(engine, 'crash');
  const waiting = say(engine, 'next');
  await assert.rejects(crashed.end, { code: 'ENGINE_FAILED' });
  await assert.rejects(parked.end, { code: 'ENGINE_FAILED' });
  assert.equal((await readAll(parked.ring)).end, 'ENGINE_FAILED');
  assert.equal((await waiting.end).samples, 400);
  assert.deepEqual(replaced, ['its thread ended']);
});

test('a thread that hangs is replaced after the time a sentence may take', async (t) => {
  const { engine, replaced } = openEngine(t, { limits: { renderTimeoutMs: 5000 } });
  await engine.load();
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const hung = say(engine, 'hang');
  const waiting = say(engine, 'next');
  await settle(); // the sentence is with the thread now
  t.mock.timers.tick(5000);
  await assert.rejects(hung.end, { code: 'ENGINE_FAILED', message: /a sentence took longer than 5000 ms/ });
  assert.equal((await readAll(hung.ring)).end, 'ENGINE_FAILED');
  assert.equal((await waiting.end).samples, 400);
  assert.deepEqual(replaced, ['a sentence took longer than 5000 ms']);
});

test('a slow reader is no hang', async (t) => {
  const { engine, replaced } = openEngine(t, { limits: { renderTimeoutMs: 5000 } });
  await engine.load();
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const slow = say(engine, 'slowly', never(), 64);
  assert.equal((await say(engine, 'next').end).samples, 400); // the thread has rendered both
  t.mock.timers.tick(3_600_000);
  assert.equal((await readAll(slow.ring)).samples.length, 600);
  assert.equal((await slow.end).samples, 600);
  assert.deepEqual(replaced, []);
});

test('a thread that cannot load fails each request by name, and says when to come back', async (t) => {
  const { engine, news } = openEngine(t, { data: 'crash at load', limits: { time: new ManualTime() } });
  await assert.rejects(engine.load(), { code: 'ENGINE_FAILED', message: /the voices are missing/ });
  const { ring, end } = say(engine, 'hello');
  await assert.rejects(end, { code: 'ENGINE_UNAVAILABLE', retryAfterSeconds: 3 });
  assert.equal((await readAll(ring)).end, 'ENGINE_UNAVAILABLE');
  assert.deepEqual(news, ['load failed'], 'nobody tried a second time in the same moment');
});

test('one more than may wait is refused with the limit', async (t) => {
  const { engine } = openEngine(t, { limits: { maxWaiting: 2 } });
  const accepted = ['one', 'two', 'three'].map((text) => say(engine, text));
  const refused = say(engine, 'four');
  await assert.rejects(refused.end, {
    code: 'ENGINE_BUSY',
    message: '2 sentences of class http wait for the engine odd, which is what MAX_QUEUE_DEPTH allows',
    retryAfterSeconds: 1,
  });
  assert.equal((await readAll(refused.ring)).end, 'ENGINE_BUSY');
  const ends = await Promise.all(accepted.map(({ end }) => end));
  assert.deepEqual(
    ends.map(({ samples }) => samples),
    [300, 300, 500],
  );
});

test('an abort is answered at once, wherever the sentence is', async (t) => {
  const { engine } = openEngine(t);
  await engine.load();
  const controllers = Array.from({ length: 4 }, () => new AbortController());
  const [parked, rendering, waiting, before] = controllers.map((controller, n) => {
    if (n === 3) controller.abort();
    return say(engine, 'a sentence', controller.signal, n === 0 ? 64 : RATE);
  });
  for (const controller of controllers) controller.abort();
  for (const sentence of [parked, rendering, waiting, before]) {
    await assert.rejects(sentence?.end ?? Promise.resolve(), { code: 'ABORTED' });
    assert.equal(sentence?.ring.status()?.aborted, true);
    sentence?.ring.close();
  }
  assert.equal((await say(engine, 'next').end).samples, 400);
});

test('a reader that aborts its ring ends the sentence with ABORTED', async (t) => {
  const { engine } = openEngine(t);
  const { ring, end } = say(engine, 'nobody listens', never(), 64);
  await ring.readable();
  ring.abort();
  await assert.rejects(end, { code: 'ABORTED' });
});

test('close fails what is under way, and is the same end for everybody', async (t) => {
  const { engine } = openEngine(t);
  await engine.load();
  const parked = say(engine, 'waits for room', never(), 64);
  const hung = say(engine, 'hang');
  const waiting = say(engine, 'next');
  await parked.ring.readable();
  const closed = engine.close();
  assert.equal(engine.close(), closed);
  for (const { end } of [parked, hung, waiting]) await assert.rejects(end, { code: 'ABORTED' });
  await closed;
  await assert.rejects(say(engine, 'late').end, { code: 'WRONG_STATE' });
});

test('an engine that was unloaded loads again when it is needed', async (t) => {
  const { engine, replaced } = openEngine(t);
  await engine.load();
  await engine.unload();
  assert.equal((await say(engine, 'hello').end).samples, 500);
  assert.deepEqual(replaced, []);
});

test('an engine is usable unless its last load failed, and no longer when it is closed', async (t) => {
  const loadsToFail = new Int32Array(new SharedArrayBuffer(4));
  const time = new ManualTime();
  const { engine } = openEngine(t, { data: loadsToFail, limits: { time } });
  assert.deepEqual([engine.usable, engine.loaded], [true, false], 'nothing is known against it');
  await engine.load();
  assert.deepEqual([engine.usable, engine.loaded], [true, true]);
  loadsToFail[0] = 2;
  await assert.rejects(say(engine, 'crash').end, { code: 'ENGINE_FAILED' });
  await assert.rejects(engine.load(), { code: 'ENGINE_FAILED', message: /the voices are missing/ });
  assert.deepEqual(
    [engine.usable, engine.loaded],
    [false, false],
    'the thread after the crash did not come up',
  );
  assert.match(engine.trouble ?? '', /the voices are missing/);
  time.advance(3000);
  await assert.rejects(say(engine, 'hello').end, { code: 'ENGINE_UNAVAILABLE' });
  assert.equal(engine.usable, false);
  time.advance(3000);
  assert.equal((await say(engine, 'hello').end).samples, 500);
  assert.equal(engine.usable, true, 'what was missing is there again');
  await engine.unload();
  assert.deepEqual([engine.usable, engine.loaded], [true, false], 'it loads when it is needed');
  const closed = engine.close();
  assert.equal(engine.usable, false);
  await closed;
});

test('an idle engine is unloaded, never while a sentence waits for its reader', async (t) => {
  const time = new ManualTime();
  const { engine, news } = openEngine(t, { limits: { time, idleMs: 1000 } });
  const held = say(engine, 'a sentence that nobody reads yet', never(), 64);
  await held.ring.readable();
  time.advance(3_600_000);
  assert.equal(engine.loaded, true);
  assert.equal((await readAll(held.ring)).samples.length, 3200);
  await held.end;
  time.advance(999);
  assert.equal(engine.loaded, true);
  time.advance(1);
  assert.equal(engine.loaded, false);
  const { timing } = await say(engine, 'hello').end;
  assert.equal(timing?.queueMs, 0);
  assert.deepEqual(news, ['loaded', 'unloaded', 'loaded']);
});

test('the time of the load is reported apart from the queue and the engine', async (t) => {
  const time = new ManualTime();
  const { engine } = openEngine(t, { limits: { time } });
  const first = say(engine, 'hello');
  const second = say(engine, 'there');
  await settle(); // the first one has its turn
  time.advance(700); // and waits for the thread
  assert.deepEqual((await first.end).timing, { queueMs: 0, loadMs: 700, inferMs: 0 });
  assert.deepEqual((await second.end).timing, { queueMs: 700, loadMs: 0, inferMs: 0 });
});

test('a sentence that is aborted during the load frees its slot at once', async (t) => {
  const { engine } = openEngine(t, { limits: { maxWaiting: 1 } });
  const client = new AbortController();
  const first = say(engine, 'hello', client.signal);
  const next = say(engine, 'next');
  assert.equal(engine.waiting, 1);
  client.abort();
  await assert.rejects(first.end, { code: 'ABORTED' });
  await settle();
  assert.equal(engine.loaded, false);
  assert.equal(engine.waiting, 0, 'the next one waits for the load now');
  assert.equal((await next.end).samples, 400);
});

test('a load is followed by texts of several lengths before the first sentence', async (t) => {
  const jobs = new Int32Array(new SharedArrayBuffer(4));
  const { engine } = openEngine(t, { data: { jobs }, warmsUp: true });
  const { end } = say(engine, 'hello');
  await end;
  assert.equal(jobs[0], WARM_UP_TEXTS.length + 1);
  assert.equal(watchedHandles(), 0);
});

test('an engine whose warm-up fails is not loaded', async (t) => {
  const { engine } = openEngine(t, { data: 'mute', warmsUp: true });
  await assert.rejects(engine.load(), { code: 'ENGINE_FAILED', message: /no voice at all/ });
  assert.deepEqual([engine.loaded, engine.usable], [false, false]);
});

test('the limit of tokens holds for an engine that counts in them, and a request may ask for fewer', async (t) => {
  const asked = async (sampling: boolean, options?: SpeechOptions) => {
    const { engine } = openEngine(t, { sampling, limits: { maxNewTokens: 2048 } });
    const ring = PcmRing.open(RATE, RATE);
    const request = { text: 'tokens', voice: 'odd', language: 'en', ...(options && { options }) };
    const { words } = await engine.synthesize(request, ring, never());
    ring.close();
    return words[0]?.word;
  };
  assert.equal(await asked(true), '2048');
  assert.equal(await asked(true, { maxNewTokens: 64, seed: 1 }), '64');
  assert.equal(await asked(true, { maxNewTokens: 9999 }), '2048');
  assert.equal(await asked(false), 'none');
});

test('a sentence whose callback throws fails, and the next one is spoken', async (t) => {
  const { engine, replaced } = openEngine(t);
  const ring = PcmRing.open(RATE, 64);
  const onRendered = () => {
    throw new Error('defect');
  };
  const request = { text: 'a long sentence', voice: 'odd', language: 'en', onRendered };
  const rejections = await rejectionsOf(() =>
    assert.rejects(engine.synthesize(request, ring, never()), { message: /defect/ }),
  );
  assert.deepEqual(rejections.map(String), ['Defect: sentence: defect']);
  ring.close();
  const next = say(engine, 'hello');
  await next.end;
  next.ring.close();
  assert.deepEqual(replaced, []);
});
