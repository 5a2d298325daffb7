// Any order of requests, ends, aborts, crashes, time and unloads: what must
// hold at every moment, and that everything comes to an end.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { EngineLifecycle, type LetGo } from '../../src/engines/engine-lifecycle.js';
import { ManualTime } from '../fakes/manual-time.js';
import { FakeLoadable } from './fake-loadable.js';

const IDLE_MS = 1000;

class Race {
  readonly time = new ManualTime(5000);
  readonly fake = new FakeLoadable();
  readonly lifecycle = new EngineLifecycle(this.fake, { engine: 'fake', idleMs: IDLE_MS, time: this.time });
  /** Sentences that went in and are not done: what may not be unloaded. */
  readonly inside: LetGo[] = [];
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

  /** By its name, what may happen at any time. */
  act(name: string): Promise<void> | void {
    const { fake, lifecycle, time } = this;
    if (name === 'enter') return this.enter();
    if (name === 'done') return this.inside.shift()?.();
    if (name === 'leave') return [...this.waiting.values()][0]?.abort();
    if (name === 'loaded') return fake.loadEnds();
    if (name === 'load fails') return fake.loadFails('it does not fit');
    if (name === 'unloaded') return fake.unloadEnds();
    if (name === 'unload') return void this.unloads.push(lifecycle.unload());
    if (name === 'a while') return time.advance(IDLE_MS / 2);
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

function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

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

test('whatever happened, who comes later is let in once it can be loaded, and it is unloaded after them', async () => {
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
      time.advance(IDLE_MS);
      await settle();
      assert.equal(fake.unloads, unloads + 1);
      assert.deepEqual(fake.breaches, []);
      await lifecycle.close();
    }),
    { numRuns: 300 },
  );
});
