// The memory of one server and what it shares with others: memory, then the
// tier behind it, then an engine.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AudioCache, type LookedUp, type RenderingTier } from '../../src/speaking/audio-cache.js';
import { NO_TIME, type Sound } from '../../src/speaking/sound.js';
import { FakeStream } from '../api/fake-speech.js';

const never = new AbortController().signal;

class FakeTier implements RenderingTier {
  readonly sounds = new Map<string, Sound>();
  readonly looks: string[] = [];
  cleared = 0;
  takes = true;
  gate: Promise<void> = Promise.resolve();

  async look(key: string): Promise<LookedUp> {
    this.looks.push(key);
    await this.gate;
    const sound = this.sounds.get(key);
    if (sound !== undefined) return { sound };
    return this.takes ? { leave: (left) => void this.sounds.set(key, left) } : {};
  }

  clear(): void {
    this.cleared++;
  }
}

function openCache(tier: FakeTier, maxBytes = 1000) {
  const started: FakeStream[] = [];
  const cache = new AudioCache({ maxEntries: 8, maxBytes }, tier);
  const start = () => {
    const stream = new FakeStream('audio/wav');
    started.push(stream);
    return Promise.resolve(stream);
  };
  /** Reads a rendering to its end; an engine that is asked says the key. */
  const say = async (key: string) => {
    const before = started.length;
    const stream = await cache.follow(key, start, never);
    for (const rendering of started.slice(before)) {
      rendering.push(key);
      rendering.end();
    }
    const parts: Uint8Array[] = [];
    for await (const chunk of stream) parts.push(chunk);
    return { ...stream, text: Buffer.concat(parts).toString() };
  };
  return { cache, started, start, say };
}

function soundOf(text: string): Sound {
  const outcome = { durationMs: 10, sentences: [], timing: NO_TIME };
  return { contentType: 'audio/mpeg', bytes: Buffer.from(text), outcome };
}

test('memory is asked first, then the tier, then an engine, and what is found is remembered', async () => {
  const tier = new FakeTier();
  const first = openCache(tier);
  const second = openCache(tier);
  const rendered = await first.say('hello');
  assert.deepEqual([rendered.cache, rendered.shared, rendered.text], ['miss', false, 'hello']);
  assert.deepEqual([...tier.sounds.keys()], ['hello']);

  const found = await second.say('hello');
  assert.deepEqual([found.cache, found.shared, found.text], ['hit', true, 'hello']);
  assert.equal((await found.outcome)?.durationMs, 0);
  assert.equal(second.started.length, 0);
  assert.ok(second.cache.find('hello') !== undefined);
  assert.deepEqual(tier.looks, ['hello', 'hello']);
  assert.deepEqual(second.cache.figures, { entries: 1, maxEntries: 8, bytes: 5, hits: 2, misses: 0 });
  assert.equal(tier.sounds.size, 1);
});

test('what came from the tier is not written there again', async () => {
  const tier = new FakeTier();
  const sound = soundOf('theirs');
  tier.sounds.set('a', sound);
  const { say } = openCache(tier);
  const said = await say('a');
  assert.deepEqual([said.text, said.contentType], ['theirs', 'audio/mpeg']);
  assert.equal(tier.sounds.get('a'), sound);
});

test('identical requests at once look once and render once', async () => {
  const tier = new FakeTier();
  let open: () => void = () => undefined;
  tier.gate = new Promise((resolve) => (open = resolve));
  const { cache, start, started } = openCache(tier);
  const streams = [cache.follow('a', start, never), cache.follow('a', start, never)];
  open();
  assert.deepEqual(
    (await Promise.all(streams)).map((stream) => stream.cache),
    ['miss', 'hit'],
  );
  assert.deepEqual([tier.looks.length, started.length], [1, 1]);
  for (const stream of await Promise.all(streams)) stream.cancel();
});

test('a request that is given up during the look starts no engine', async () => {
  const tier = new FakeTier();
  let open: () => void = () => undefined;
  tier.gate = new Promise((resolve) => (open = resolve));
  const { cache, start, started } = openCache(tier);
  const controller = new AbortController();
  const refused = assert.rejects(cache.follow('a', start, controller.signal), { code: 'ABORTED' });
  controller.abort();
  await refused;
  open();
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual([started.length, cache.figures.misses], [0, 0]);
});

test('what failed, was too large to keep, or was cleared meanwhile is not left there', async () => {
  const tier = new FakeTier();
  const { cache, start, started, say } = openCache(tier, 4);
  assert.equal((await say('too large')).text, 'too large');
  const broken = await cache.follow('b', start, never);
  const taken = assert.rejects(async () => {
    for await (const chunk of broken) void chunk;
  });
  started.at(-1)?.end(new Error('it broke') as never);
  await taken;
  const stale = await cache.follow('c', start, never);
  cache.clear();
  started.at(-1)?.push('c');
  started.at(-1)?.end();
  for await (const chunk of stale) void chunk;
  assert.deepEqual([[...tier.sounds.keys()], tier.cleared], [[], 1]);
});

test('a tier that takes nothing is no hindrance', async () => {
  const tier = new FakeTier();
  tier.takes = false;
  const { say, cache } = openCache(tier);
  assert.equal((await say('a')).text, 'a');
  assert.ok(cache.find('a') !== undefined);
});
