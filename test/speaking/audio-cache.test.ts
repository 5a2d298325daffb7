import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../fakes/properties.js';
import { renderingKey } from '../../src/engines/rendering-key.js';
import { ParleyError } from '../../src/errors.js';
import {
  AudioCache,
  type LookedUp,
  type RenderingTier,
  SharedRendering,
} from '../../src/speaking/audio-cache.js';
import { NO_TIME, type Sound } from '../../src/speaking/sound.js';
import { FakeStream } from '../api/fake-speech.js';

const never = new AbortController().signal;

/** A source that the test feeds, and how often and with which signals it was started. */
class Source {
  readonly streams: FakeStream[] = [];
  readonly signals: AbortSignal[] = [];

  readonly start = (signal: AbortSignal): Promise<FakeStream> => {
    const stream = new FakeStream('audio/wav');
    this.streams.push(stream);
    this.signals.push(signal);
    return Promise.resolve(stream);
  };

  get last(): FakeStream {
    const stream = this.streams.at(-1);
    if (stream === undefined) throw new Error('nothing was started');
    return stream;
  }
}

async function textOf(stream: AsyncIterable<Uint8Array>): Promise<string> {
  let text = '';
  for await (const chunk of stream) text += Buffer.from(chunk).toString();
  return text;
}

async function put(cache: AudioCache, key: string, text: string): Promise<void> {
  const source = new Source();
  const stream = await cache.follow(key, source.start, never);
  source.last.push(text);
  source.last.end();
  assert.equal(await textOf(stream), text);
}

function found(cache: AudioCache, key: string): string | undefined {
  const sound = cache.find(key);
  return sound === undefined ? undefined : Buffer.from(sound.bytes).toString();
}

const open = (maxEntries = 8, maxBytes = 1000) => new AudioCache({ maxEntries, maxBytes });

test('what was rendered once is there whole', async () => {
  const cache = open();
  const source = new Source();
  const stream = await cache.follow('a', source.start, never);
  assert.equal(stream.cache, 'miss');
  assert.equal(cache.find('a'), undefined, 'not before its end');
  source.last.push('one ');
  source.last.push('two');
  source.last.end();
  assert.equal(await textOf(stream), 'one two');
  assert.equal(found(cache, 'a'), 'one two');
  assert.equal(cache.find('a')?.contentType, 'audio/wav');
  assert.deepEqual(cache.figures, { entries: 1, maxEntries: 8, bytes: 7, hits: 2, misses: 1 });
});

test('the least recently used leave first, by number and by bytes', async () => {
  const cache = open(2, 10);
  await put(cache, 'a', 'aaa');
  await put(cache, 'b', 'bbb');
  assert.equal(found(cache, 'a'), 'aaa');
  await put(cache, 'c', 'ccc');
  assert.equal(found(cache, 'b'), undefined);
  await put(cache, 'd', 'd'.repeat(8));
  assert.deepEqual(
    ['a', 'c', 'd'].map((key) => found(cache, key)),
    [undefined, undefined, 'dddddddd'],
  );
  await put(cache, 'e', 'e'.repeat(11));
  assert.equal(found(cache, 'e'), undefined, 'larger than everything together: passed through, not kept');
  assert.equal(cache.figures.bytes <= 10, true);
});

test('identical requests at once are made once, and each gets every byte', async () => {
  const cache = open();
  const source = new Source();
  const first = await cache.follow('a', source.start, never);
  const reading = first[Symbol.asyncIterator]();
  source.last.push('one ');
  assert.equal(Buffer.from((await reading.next()).value ?? []).toString(), 'one ');
  const second = await cache.follow('a', source.start, never);
  assert.equal(second.cache, 'hit');
  const whole = textOf(second);
  source.last.push('two');
  source.last.end();
  assert.equal(await whole, 'one two');
  assert.equal(Buffer.from((await reading.next()).value ?? []).toString(), 'two');
  assert.equal((await reading.next()).done, true);
  assert.equal(source.streams.length, 1);
});

test('the second reader is served to the end when the first one leaves', async () => {
  const cache = open();
  const source = new Source();
  const leaving = new AbortController();
  const first = await cache.follow('a', source.start, leaving.signal);
  const second = await cache.follow('a', source.start, never);
  const whole = textOf(second);
  leaving.abort();
  first.cancel();
  assert.equal(source.signals[0]?.aborted, false);
  source.last.push('all of it');
  source.last.end();
  assert.equal(await whole, 'all of it');
  assert.equal(found(cache, 'a'), 'all of it');
});

test('the work stops when the last reader leaves, and the next one begins anew', async () => {
  const cache = open();
  const source = new Source();
  const streams = [
    await cache.follow('a', source.start, never),
    await cache.follow('a', source.start, never),
  ];
  const readings = streams.map((stream) => assert.rejects(textOf(stream), { code: 'ABORTED' }));
  source.last.push('half');
  for (const stream of streams) stream.cancel();
  await Promise.all(readings);
  assert.equal(source.signals[0]?.aborted, true);
  await source.last.cancelled;
  assert.deepEqual([cache.figures.bytes, cache.find('a')], [0, undefined]);
  await put(cache, 'a', 'whole');
  assert.equal(found(cache, 'a'), 'whole');
});

test('a rendering that nobody follows any more holds no sound and takes none from its source', async () => {
  let kept = 0;
  let taken = 0;
  const stream = new FakeStream('audio/wav');
  const source = {
    contentType: stream.contentType,
    outcome: stream.outcome,
    cancel: () => stream.cancel(),
    async *[Symbol.asyncIterator]() {
      for await (const chunk of stream) {
        taken += chunk.byteLength;
        yield chunk;
      }
    },
  };
  const rendering = new SharedRendering(() => Promise.resolve(source), {
    keep: (bytes) => ((kept += bytes), true),
    letGo: (bytes) => void (kept -= bytes),
    ended: () => undefined,
  });
  const reader = rendering.join();
  await rendering.opened();
  stream.push('four');
  await reader[Symbol.asyncIterator]().next();
  assert.deepEqual([kept, taken, rendering.at(0)?.byteLength], [4, 4, 4]);
  reader.cancel();
  stream.push('more');
  rendering.pull();
  await stream.cancelled;
  assert.deepEqual([kept, taken, rendering.at(0)], [0, 4, undefined]);
});

test('the sound of a failed rendering counts until its last reader has left', async () => {
  const cache = open();
  const source = new Source();
  const first = await cache.follow('a', source.start, never);
  const slow = await cache.follow('a', source.start, never);
  const reading = textOf(first);
  source.last.push('eight by');
  source.last.end(new ParleyError('ENGINE_FAILED', 'it broke'));
  await assert.rejects(reading, { code: 'ENGINE_FAILED' });
  assert.equal(cache.figures.bytes, 8);
  slow.cancel();
  assert.equal(cache.figures.bytes, 0);
});

test('a sound that is evicted while somebody follows it counts until then, and nothing takes its room', async () => {
  const cache = open(8, 10);
  const source = new Source();
  const first = await cache.follow('a', source.start, never);
  const slow = await cache.follow('a', source.start, never);
  source.last.push('eight by');
  source.last.end();
  assert.equal(await textOf(first), 'eight by');
  await put(cache, 'b', 'bbb');
  assert.deepEqual([found(cache, 'a'), found(cache, 'b'), cache.figures.bytes], [undefined, undefined, 8]);
  assert.equal(await textOf(slow), 'eight by');
  assert.equal(cache.figures.bytes, 0);
  await put(cache, 'b', 'bbb');
  assert.deepEqual([found(cache, 'b'), cache.figures.bytes], ['bbb', 3]);
});

test('a request that is given up before anything was there leaves nothing', async () => {
  const cache = open();
  const controller = new AbortController();
  const signals: AbortSignal[] = [];
  const hang = (signal: AbortSignal) => {
    signals.push(signal);
    return new Promise<never>(() => undefined);
  };
  const refused = assert.rejects(cache.follow('a', hang, controller.signal), { code: 'ABORTED' });
  controller.abort();
  await refused;
  assert.equal(signals[0]?.aborted, true);
  await put(cache, 'a', 'fresh');
});

test('a failure reaches everybody who follows, and is not kept', async () => {
  const cache = open();
  const source = new Source();
  const streams = [
    await cache.follow('a', source.start, never),
    await cache.follow('a', source.start, never),
  ];
  const failed = streams.map((stream) => assert.rejects(textOf(stream), { code: 'ENGINE_FAILED' }));
  source.last.push('half');
  source.last.end(new ParleyError('ENGINE_FAILED', 'detail'));
  await Promise.all(failed);
  const busy = () => Promise.reject(new ParleyError('ENGINE_BUSY', 'busy'));
  await assert.rejects(cache.follow('b', busy, never), { code: 'ENGINE_BUSY' });
  assert.deepEqual([cache.figures.entries, cache.figures.bytes], [0, 0]);
  await put(cache, 'a', 'whole');
});

test('what is too large to keep still reaches its readers, and a late one begins anew', async () => {
  const cache = open(8, 5);
  const source = new Source();
  const streams = [
    await cache.follow('a', source.start, never),
    await cache.follow('a', source.start, never),
  ];
  const texts = streams.map(textOf);
  source.last.push('four');
  source.last.push('eight');
  const late = (async () => {
    while (cache.figures.bytes > 0 || source.streams.length === 1) {
      const stream: Awaited<ReturnType<AudioCache['follow']>> = await cache.follow('a', source.start, never);
      if (stream.cache === 'miss') return stream;
      stream.cancel();
      await new Promise((resolve) => setImmediate(resolve));
    }
    throw new Error('it joined');
  })();
  const stream = await late;
  source.streams[0]?.end();
  assert.deepEqual(await Promise.all(texts), ['foureight', 'foureight']);
  stream.cancel();
  assert.equal(cache.figures.bytes, 0);
});

test('clearing forgets what is kept and what is being made', async () => {
  const cache = open();
  await put(cache, 'a', 'old');
  const source = new Source();
  const stream = await cache.follow('b', source.start, never);
  assert.equal(cache.clear(), 1);
  source.last.push('stale');
  source.last.end();
  assert.equal(await textOf(stream), 'stale');
  assert.deepEqual([found(cache, 'a'), found(cache, 'b'), cache.figures.bytes], [undefined, undefined, 0]);
  assert.equal(cache.clear(), 0);
});

test('no sequence of renderings passes the bounds, and what is found is what was put', async () => {
  const rendering = fc.record({
    key: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
    length: fc.integer({ min: 0, max: 40 }),
    ends: fc.constantFrom('whole', 'fails', 'left'),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(rendering, { maxLength: 30 }),
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 80 }),
      async (renderings, maxEntries, maxBytes) => {
        const cache = new AudioCache({ maxEntries, maxBytes });
        for (const { key, length, ends } of renderings) {
          const text = key.repeat(length);
          const there = found(cache, key);
          if (there !== undefined) assert.match(there, new RegExp(`^${key}*$`));
          else if (ends === 'whole') await put(cache, key, text);
          else {
            const source = new Source();
            const stream = await cache.follow(key, source.start, never);
            source.last.push(text);
            if (ends === 'left') stream.cancel();
            else source.last.end(new ParleyError('ENGINE_FAILED', 'told to'));
            await assert.rejects(textOf(stream));
            assert.equal(cache.find(key), undefined);
          }
          const { entries, bytes } = cache.figures;
          assert.ok(entries <= maxEntries && bytes <= maxBytes, `${entries} entries, ${bytes} bytes`);
        }
        cache.clear();
        assert.equal(cache.figures.bytes, 0);
      },
    ),
  );
});

test('two lists of fields have the same key only where every field is the same', () => {
  assert.notEqual(renderingKey(['ab', 'c']), renderingKey(['a', 'bc']));
  assert.notEqual(renderingKey([1]), renderingKey(['1']));
  assert.notEqual(renderingKey([undefined]), renderingKey(['']));
  assert.notEqual(renderingKey(['a', undefined]), renderingKey(['a']));
  const fields = fc.array(fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(undefined)));
  fc.assert(
    fc.property(fields, fields, (a, b) => {
      const same = a.length === b.length && a.every((field, index) => Object.is(field, b[index]));
      assert.equal(renderingKey(a) === renderingKey(b), same);
    }),
  );
});

/** The tier that servers share, which is asked after memory and before an engine. */
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
