import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../fakes/properties.js';
import { EngineLifecycle, type EngineNews, type Loadable } from '../../src/engines/engine-lifecycle.js';
import { ParleyError } from '../../src/errors.js';
import { ManualTime } from '../fakes/manual-time.js';

/** Loads and unloads in steps that the test ends by hand, and notes forbidden sequences. */
interface Step {
  readonly resolve: () => void;
  readonly reject: (error: ParleyError) => void;
}

class FakeLoadable implements Loadable {
  loads = 0;
  unloads = 0;
  closed = false;
  /** It can speak: between the end of a load and the begin of an unload, or its loss. */
  ready = false;
  /** Contract violations by the owner. */
  readonly breaches: string[] = [];
  loading: Step | undefined;
  unloading: Step | undefined;
  warmUp?: () => Promise<void>;

  load(): Promise<void> {
    this.loads++;
    if (this.ready) this.breaches.push('loaded twice');
    if (this.loading !== undefined) this.breaches.push('two loads at once');
    if (this.unloading !== undefined) this.breaches.push('loaded while it is unloaded');
    if (this.closed) this.breaches.push('loaded after the close');
    return new Promise((resolve, reject) => (this.loading = { resolve, reject }));
  }

  unload(): Promise<void> {
    this.unloads++;
    if (this.loading !== undefined) this.breaches.push('unloaded while it is loaded');
    if (this.unloading !== undefined) this.breaches.push('two unloads at once');
    this.ready = false;
    return new Promise((resolve, reject) => (this.unloading = { resolve, reject }));
  }

  close(): Promise<void> {
    this.closed = true;
    this.ready = false;
    this.loadFails('closed');
    this.unloadEnds();
    return Promise.resolve();
  }

  loadEnds(): void {
    const { loading } = this;
    this.loading = undefined;
    if (loading !== undefined) this.ready = true;
    loading?.resolve();
  }

  loadFails(message: string): void {
    const { loading } = this;
    this.loading = undefined;
    loading?.reject(new ParleyError('ENGINE_FAILED', message));
  }

  unloadEnds(): void {
    const { unloading } = this;
    this.unloading = undefined;
    unloading?.resolve();
  }
}

const IDLE_MS = 10_000;
const never = () => new AbortController().signal;

function open({ idleMs = IDLE_MS } = {}) {
  const time = new ManualTime(1000);
  const fake = new FakeLoadable();
  const news: EngineNews[] = [];
  const onNews = (event: EngineNews) => void news.push(event);
  const lifecycle = new EngineLifecycle(fake, { engine: 'fake', idleMs, time, onNews });
  return { time, fake, news, lifecycle };
}

/** Lets every promise that can settle do so. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Lets what a test ends by hand come to its end. */
async function after(step: () => void): Promise<void> {
  await settle();
  step();
  await settle();
}

test('the first sentence has it loaded, and those that come meanwhile wait for the same load', async () => {
  const { fake, lifecycle, time, news } = open();
  const entered = [lifecycle.enter(never()), lifecycle.enter(never()), lifecycle.load()];
  await settle();
  assert.deepEqual([fake.loads, lifecycle.loaded, lifecycle.usable], [1, false, true]);
  time.advance(700);
  fake.loadEnds();
  await Promise.all(entered);
  await lifecycle.enter(never());
  assert.deepEqual([fake.loads, lifecycle.loaded], [1, true]);
  assert.deepEqual(news, [{ what: 'loaded', ms: 700 }]);
});

test('no sentence enters before the engine has warmed up', async () => {
  const { fake, lifecycle } = open();
  let warm: () => void = () => undefined;
  fake.warmUp = () => new Promise((resolve) => (warm = resolve));
  let isIn = false;
  const entered = lifecycle.enter(never()).then(() => (isIn = true));
  await settle();
  await after(() => fake.loadEnds());
  assert.deepEqual([isIn, lifecycle.loaded], [false, false]);
  warm();
  await entered;
  assert.equal(lifecycle.loaded, true);
});

test('it is unloaded when it had nothing in hand for the idle time, counted from the last sentence', async () => {
  const { fake, lifecycle, time } = open();
  const loaded = lifecycle.load();
  await after(() => fake.loadEnds());
  await loaded;
  time.advance(IDLE_MS - 1);
  const letGo = await lifecycle.enter(never());
  const other = await lifecycle.enter(never());
  time.advance(10 * IDLE_MS);
  assert.equal(fake.unloads, 0, 'two sentences are in hand');
  letGo();
  letGo();
  time.advance(10 * IDLE_MS);
  assert.equal(fake.unloads, 0, 'one is, however often the other says that it is done');
  other();
  time.advance(IDLE_MS - 1);
  assert.deepEqual([fake.unloads, lifecycle.loaded], [0, true]);
  time.advance(1);
  assert.deepEqual([fake.unloads, lifecycle.loaded, lifecycle.usable], [1, false, true]);
});

test('an idle time of 0 keeps it loaded, with no timer at all', async () => {
  const { fake, lifecycle, time } = open({ idleMs: 0 });
  const loaded = lifecycle.load();
  await after(() => fake.loadEnds());
  await loaded;
  (await lifecycle.enter(never()))();
  assert.equal(time.waiting, 0);
});

test('a failed load delays the next one even if no sentence waits any more', async () => {
  const { fake, lifecycle, time } = open();
  const client = new AbortController();
  const entered = lifecycle.enter(client.signal);
  await settle();
  client.abort();
  await assert.rejects(entered, { code: 'ABORTED' });
  assert.equal(fake.loading !== undefined, true, 'it goes on for the next sentence');
  await after(() => fake.loadEnds());
  time.advance(IDLE_MS);
  assert.equal(fake.unloads, 1);
});

test('a sentence that comes during the unload waits for its end and for a fresh load', async () => {
  const { fake, lifecycle, time } = open();
  const loaded = lifecycle.load();
  await after(() => fake.loadEnds());
  await loaded;
  time.advance(IDLE_MS);
  const entered = lifecycle.enter(never());
  await settle();
  assert.deepEqual([fake.unloads, fake.loads], [1, 1]);
  await after(() => fake.unloadEnds());
  assert.equal(fake.loads, 2);
  fake.loadEnds();
  await entered;
  assert.deepEqual(fake.breaches, []);
});

test('an unload that is asked for waits until nothing is in hand, also for a load under way', async () => {
  const { fake, lifecycle } = open();
  const entered = lifecycle.enter(never());
  const unloaded = lifecycle.unload();
  await after(() => fake.loadEnds());
  const letGo = await entered;
  await settle();
  assert.equal(fake.unloads, 0);
  letGo();
  await settle();
  assert.equal(fake.unloads, 1);
  fake.unloadEnds();
  await unloaded;
  await lifecycle.unload();
  assert.equal(fake.unloads, 1, 'what is not loaded is not unloaded');
});

test('a failed load rejects all that waited, with the name of the engine and the time to retry', async () => {
  const { fake, lifecycle, news } = open();
  const asked = lifecycle.load();
  const entered = [lifecycle.enter(never()), lifecycle.enter(never())];
  const refused = [
    assert.rejects(asked, { code: 'ENGINE_FAILED', message: 'no such file' }),
    ...entered.map((one) =>
      assert.rejects(one, {
        code: 'ENGINE_UNAVAILABLE',
        message: 'the engine fake cannot be loaded at the moment; it is tried again',
        retryAfterSeconds: 3,
      }),
    ),
  ];
  await settle();
  await after(() => fake.loadFails('no such file'));
  fake.unloadEnds();
  await Promise.all(refused);
  assert.deepEqual([fake.unloads, lifecycle.usable, lifecycle.trouble], [1, false, 'no such file']);
  assert.deepEqual(news, [{ what: 'load failed', reason: 'no such file', againInMs: 3000 }]);
});

/** Runs into a load that fails; returns when the failure is known. */
async function fail(fake: FakeLoadable): Promise<void> {
  await settle();
  await after(() => fake.loadFails('no such file'));
  await after(() => fake.unloadEnds());
}

test('it is tried again for later requests, no more often than every three seconds', async () => {
  const { fake, lifecycle, time } = open();
  const first = lifecycle.enter(never());
  first.catch(() => undefined);
  await fail(fake);
  time.advance(2000);
  await assert.rejects(lifecycle.enter(never()), { code: 'ENGINE_UNAVAILABLE', retryAfterSeconds: 1 });
  await assert.rejects(lifecycle.load(), { code: 'ENGINE_FAILED' });
  assert.equal(fake.loads, 1);
  time.advance(1000); // tried by itself
  await fail(fake);
  assert.equal(fake.loads, 2);
  time.advance(3000); // which happens less and less often, so that this is for the request
  const entered = lifecycle.enter(never());
  await settle();
  assert.equal(fake.loads, 3);
  fake.loadEnds();
  await entered;
  assert.deepEqual([lifecycle.usable, lifecycle.trouble], [true, undefined]);
});

test('it is tried again by itself, after twice as long each time up to a minute, until it is back', async () => {
  const { fake, lifecycle, time, news } = open();
  lifecycle.load().catch(() => undefined);
  await fail(fake);
  const waits = [3, 6, 12, 24, 48, 60, 60].map((seconds) => seconds * 1000);
  for (const [n, ms] of waits.entries()) {
    time.advance(ms - 1);
    assert.equal(fake.loads, n + 1);
    time.advance(1);
    await settle();
    assert.equal(fake.loads, n + 2);
    await fail(fake);
  }
  time.advance(60_000);
  await after(() => fake.loadEnds());
  assert.deepEqual([lifecycle.usable, lifecycle.loaded], [true, true]);
  assert.equal(news.at(-1)?.what, 'loaded');
  lifecycle.lost('crashed'); // it had not been used
  assert.equal(lifecycle.trouble, 'crashed');
  assert.deepEqual(news.at(-1), { what: 'load failed', reason: 'crashed', againInMs: 3000 }, 'a new count');
});

test('an engine that is lost while it works is loaded again at once, and waiting sentences enter the new one', async () => {
  const { fake, lifecycle, news } = open();
  const entered = lifecycle.enter(never());
  await after(() => fake.loadEnds());
  const letGo = await entered;
  fake.ready = false;
  lifecycle.lost('it crashed');
  assert.equal(lifecycle.loaded, false);
  const next = lifecycle.enter(never());
  letGo();
  await settle();
  assert.equal(fake.loads, 2);
  fake.loadEnds();
  await next;
  assert.deepEqual(
    news.map(({ what }) => what),
    ['loaded', 'lost', 'loaded'],
  );
});

test('one that is lost as soon as it is loaded is not loaded over and over, but an old one is', async () => {
  const { fake, lifecycle, time } = open({ idleMs: 0 });
  const loaded = lifecycle.load();
  await after(() => fake.loadEnds());
  await loaded;
  time.advance(2999);
  fake.ready = false;
  lifecycle.lost('it crashed');
  await settle();
  assert.deepEqual([fake.loads, lifecycle.usable], [1, false]);
  time.advance(3000);
  await after(() => fake.loadEnds());
  assert.equal(lifecycle.usable, true);
  time.advance(3000);
  fake.ready = false;
  lifecycle.lost('it crashed');
  await settle();
  assert.deepEqual([fake.loads, lifecycle.usable], [3, true]);
});

test('a failed unload is reported, and does not prevent the next load', async () => {
  const { fake, lifecycle, news } = open();
  const loaded = lifecycle.load();
  await after(() => fake.loadEnds());
  await loaded;
  const unloaded = lifecycle.unload();
  await settle();
  const { unloading } = fake;
  fake.unloading = undefined;
  unloading?.reject(new ParleyError('ENGINE_FAILED', 'it is stuck'));
  await unloaded;
  assert.deepEqual(news.at(-1), { what: 'unload failed', reason: 'it is stuck' });
  const entered = lifecycle.enter(never());
  await after(() => fake.loadEnds());
  await entered;
});

test('a close ends every wait at once, and the timers; it is the same end for everybody', async () => {
  const { fake, lifecycle, time } = open();
  const waiting = lifecycle.enter(never());
  const unloaded = lifecycle.unload();
  await settle();
  const closed = lifecycle.close();
  assert.equal(lifecycle.close(), closed);
  await assert.rejects(waiting, { code: 'ABORTED' });
  await Promise.all([closed, unloaded]);
  assert.deepEqual([fake.closed, time.waiting, lifecycle.usable], [true, 0, false]);
  await assert.rejects(lifecycle.enter(never()), { code: 'WRONG_STATE' });
  await assert.rejects(lifecycle.load(), { code: 'WRONG_STATE' });
  lifecycle.lost('it ended, of course');
  await lifecycle.unload();
  await settle();
  assert.deepEqual([fake.loads, fake.unloads, fake.breaches], [1, 0, []]);
});

// Random orders of requests, ends, aborts, crashes, time and unloads: invariants hold at every moment, and
// everything ends.

const RACE_IDLE_MS = 1000;

class Race {
  readonly time = new ManualTime(5000);
  readonly fake = new FakeLoadable();
  readonly lifecycle = new EngineLifecycle(this.fake, {
    engine: 'fake',
    idleMs: RACE_IDLE_MS,
    time: this.time,
  });
  /** Sentences that went in and are not done: what may not be unloaded. */
  readonly inside: (() => void)[] = [];
  readonly waiting = new Map<Promise<unknown>, AbortController>();
  readonly unloads: Promise<void>[] = [];

  constructor() {
    const { fake } = this;
    const unload = fake.unload.bind(fake);
    fake.unload = () => {
      if (this.inside.length > 0 && fake.ready) fake.breaches.push('unloaded while a sentence is in hand');
      return unload();
    };
  }

  enter(): void {
    const client = new AbortController();
    const entered = this.lifecycle
      .enter(client.signal)
      .then((letGo) => {
        if (!this.fake.ready) this.fake.breaches.push('let in where nothing is loaded');
        this.inside.push(letGo);
      })
      .catch((error: { code: string }) => {
        if (!['ABORTED', 'ENGINE_UNAVAILABLE', 'WRONG_STATE'].includes(error.code)) throw error;
      })
      .finally(() => this.waiting.delete(entered));
    this.waiting.set(entered, client);
  }

  /** Events that may happen at any time, by name. */
  act(name: string): Promise<void> | void {
    const { fake, lifecycle, time } = this;
    if (name === 'enter') return this.enter();
    if (name === 'done') return this.inside.shift()?.();
    if (name === 'leave') return [...this.waiting.values()][0]?.abort();
    if (name === 'loaded') return fake.loadEnds();
    if (name === 'load fails') return fake.loadFails('it does not fit');
    if (name === 'unloaded') return fake.unloadEnds();
    if (name === 'unload') return void this.unloads.push(lifecycle.unload());
    if (name === 'a while') return time.advance(RACE_IDLE_MS / 2);
    if (name === 'a long time') return time.advance(60_000);
    if (name === 'settle') return settle();
    return this.crash();
  }

  /** Like everything that comes from outside, between what the promises of this thread do. */
  async crash(): Promise<void> {
    await settle();
    if (!this.fake.ready) return;
    this.fake.ready = false;
    this.lifecycle.lost('it crashed');
  }
}

const ACTIONS = [
  'enter',
  'done',
  'leave',
  'loaded',
  'load fails',
  'unloaded',
  'unload',
  'a while',
  'a long time',
  'settle',
  'crash',
] as const;

test('nothing in hand is unloaded, loads never overlap, and a close ends everything, whatever the order', async () => {
  const actions = fc.array(fc.constantFrom(...ACTIONS), { maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(actions, async (names) => {
      const race = new Race();
      for (const name of names) {
        await race.act(name);
        assert.deepEqual(race.fake.breaches, [], name);
      }
      await settle();
      await race.lifecycle.close();
      await Promise.all([...race.waiting.keys(), ...race.unloads]);
      await settle();
      assert.deepEqual([race.fake.breaches, race.time.waiting, race.waiting.size], [[], 0, 0]);
    }),
    { numRuns: 500 },
  );
});

test('after any history a later sentence enters once the engine can be loaded, and the engine is unloaded after it', async () => {
  const actions = fc.array(fc.constantFrom(...ACTIONS), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(actions, async (names) => {
      const race = new Race();
      for (const name of names) await race.act(name);
      const { fake, time, lifecycle } = race;
      await settle();
      for (const letGo of race.inside.splice(0)) letGo();
      for (const client of race.waiting.values()) client.abort();
      fake.unloadEnds();
      await settle();
      time.advance(3000); // after a failure
      race.enter();
      for (let n = 0; n < 4; n++) {
        await settle();
        fake.loadEnds();
        fake.unloadEnds();
      }
      await settle();
      assert.deepEqual([race.inside.length, lifecycle.loaded, lifecycle.usable], [1, true, true]);
      const { unloads } = fake;
      race.inside.pop()?.();
      time.advance(RACE_IDLE_MS);
      await settle();
      assert.equal(fake.unloads, unloads + 1);
      assert.deepEqual(fake.breaches, []);
      await lifecycle.close();
    }),
    { numRuns: 300 },
  );
});
