import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { PcmRing } from '../../src/audio/pcm-ring.js';
import { watchedHandles } from '../../src/audio/ready.js';
import { WorkerEngine } from '../../src/speech/engines/worker-engine.js';
import type { SpeechEnd } from '../../src/speech/engine.js';
import { readAll } from './read-ring.js';

const RATE = 16_000;
const never = () => new AbortController().signal;

interface Setup {
  readonly maxWaiting?: number;
  readonly renderTimeoutMs?: number;
  readonly data?: unknown;
}

function openEngine(t: TestContext, { maxWaiting = 8, renderTimeoutMs = 10_000, data }: Setup = {}) {
  const replaced: string[] = [];
  const engine = new WorkerEngine({
    capabilities: {
      clone: false,
      design: false,
      instruct: false,
      sampling: false,
      wordTimes: true,
      textStreaming: false,
      languages: ['en'],
    },
    voices: [{ name: 'odd', engine: 'odd', languages: ['en'], description: '' }],
    rateOf: () => RATE,
    maxWaiting,
    thread: {
      engine: 'odd',
      file: new URL('./odd-worker.js', import.meta.url),
      data,
      renderTimeoutMs,
      onReplaced: (reason) => replaced.push(reason),
    },
  });
  t.after(() => engine.close());
  return { engine, replaced };
}

function say(engine: WorkerEngine, text: string, signal = never(), capacity = RATE) {
  const ring = PcmRing.open(RATE, capacity);
  const end: Promise<SpeechEnd> = engine.synthesize({ text, voice: 'odd', language: 'en' }, ring, signal);
  end.catch(() => undefined);
  return { ring, end };
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

test('a sentence whose ring is full holds up nobody else', async (t) => {
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
  const { engine, replaced } = openEngine(t, { renderTimeoutMs: 5000 });
  await engine.load();
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const hung = say(engine, 'hang');
  const waiting = say(engine, 'next');
  await new Promise((resolve) => setImmediate(resolve)); // the sentence is with the thread now
  t.mock.timers.tick(5000);
  await assert.rejects(hung.end, { code: 'ENGINE_FAILED', message: /a sentence took longer than 5000 ms/ });
  assert.equal((await readAll(hung.ring)).end, 'ENGINE_FAILED');
  assert.equal((await waiting.end).samples, 400);
  assert.deepEqual(replaced, ['a sentence took longer than 5000 ms']);
});

test('a slow reader is no hang', async (t) => {
  const { engine, replaced } = openEngine(t, { renderTimeoutMs: 5000 });
  await engine.load();
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const slow = say(engine, 'slowly', never(), 64);
  assert.equal((await say(engine, 'next').end).samples, 400); // the thread has rendered both
  t.mock.timers.tick(3_600_000);
  assert.equal((await readAll(slow.ring)).samples.length, 600);
  assert.equal((await slow.end).samples, 600);
  assert.deepEqual(replaced, []);
});

test('a thread that cannot load fails each request and is not started over by itself', async (t) => {
  const { engine, replaced } = openEngine(t, { data: 'crash at load' });
  await assert.rejects(engine.load(), { code: 'ENGINE_FAILED', message: /the voices are missing/ });
  const { ring, end } = say(engine, 'hello');
  await assert.rejects(end, { code: 'ENGINE_FAILED' });
  assert.equal((await readAll(ring)).end, 'ENGINE_FAILED');
  assert.deepEqual(replaced, []);
});

test('one more than may wait is refused with the limit', async (t) => {
  const { engine } = openEngine(t, { maxWaiting: 2 });
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
  const { engine } = openEngine(t, { data: loadsToFail });
  assert.equal(engine.usable, true, 'nothing is known against it');
  await engine.load();
  assert.equal(engine.usable, true);
  loadsToFail[0] = 2;
  await assert.rejects(say(engine, 'crash').end, { code: 'ENGINE_FAILED' });
  await assert.rejects(engine.load(), { code: 'ENGINE_FAILED', message: /the voices are missing/ });
  assert.equal(engine.usable, false, 'the thread after the crash did not come up');
  await assert.rejects(say(engine, 'hello').end, { code: 'ENGINE_FAILED' });
  assert.equal(engine.usable, false);
  assert.equal((await say(engine, 'hello').end).samples, 500);
  assert.equal(engine.usable, true, 'what was missing is there again');
  await engine.unload();
  assert.equal(engine.usable, true, 'it loads when it is needed');
  const closed = engine.close();
  assert.equal(engine.usable, false);
  await closed;
});
