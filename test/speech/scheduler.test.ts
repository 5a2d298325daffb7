import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Scheduler, type ReleaseSlot } from '../../src/speech/scheduler.js';

const never = new AbortController().signal;

function openScheduler(concurrency = 1, maxWaiting = 3): Scheduler {
  return new Scheduler({ engine: 'fake', concurrency, maxWaiting });
}

/** Enters and notes when the turn has come. */
function enter(scheduler: Scheduler, log: string[], name: string, signal = never): Promise<ReleaseSlot> {
  const slot = scheduler.enter(signal);
  slot.then(
    () => log.push(name),
    (error: { code: string }) => log.push(`${name}: ${error.code}`),
  );
  return slot;
}

/** Lets every promise that can settle do so. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

test('turns come in the order of arrival, as many at once as the engine serves', async () => {
  const scheduler = openScheduler(2, 8);
  const log: string[] = [];
  const slots = ['a', 'b', 'c', 'd'].map((name) => enter(scheduler, log, name));
  await settle();
  assert.deepEqual([log, scheduler.active, scheduler.waiting], [['a', 'b'], 2, 2]);
  (await slots[1])?.();
  await settle();
  assert.deepEqual(log, ['a', 'b', 'c']);
  (await slots[0])?.();
  (await slots[2])?.();
  await settle();
  assert.deepEqual([log, scheduler.active, scheduler.waiting], [['a', 'b', 'c', 'd'], 1, 0]);
});

test('a slot given back twice frees one place', async () => {
  const scheduler = openScheduler();
  const log: string[] = [];
  const release = await scheduler.enter(never);
  void enter(scheduler, log, 'b');
  void enter(scheduler, log, 'c');
  release();
  release();
  await settle();
  assert.deepEqual([log, scheduler.active], [['b'], 1]);
});

test('an abort leaves the queue at once and lets the others move up', async () => {
  const scheduler = openScheduler(1, 2);
  const log: string[] = [];
  const release = await scheduler.enter(never);
  const controller = new AbortController();
  enter(scheduler, log, 'b', controller.signal).catch(() => undefined);
  void enter(scheduler, log, 'c');
  controller.abort();
  assert.equal(scheduler.waiting, 1);
  void enter(scheduler, log, 'd');
  release();
  await settle();
  assert.deepEqual(log, ['b: ABORTED', 'c']);
  await assert.rejects(scheduler.enter(controller.signal), { code: 'ABORTED' });
});

test('a full queue refuses with its limit', async () => {
  const scheduler = openScheduler(1, 3);
  for (let n = 0; n < 4; n++) void scheduler.enter(never);
  await assert.rejects(scheduler.enter(never), {
    code: 'ENGINE_BUSY',
    message: '3 sentences are waiting for the engine fake, which is its limit',
    retryAfterSeconds: 1,
  });
  assert.equal(scheduler.waiting, 3);
});

test('close refuses those who wait and those who come', async () => {
  const scheduler = openScheduler();
  const release = await scheduler.enter(never);
  const waiting = scheduler.enter(never);
  scheduler.close();
  scheduler.close();
  await assert.rejects(waiting, { code: 'ABORTED' });
  await assert.rejects(scheduler.enter(never), { code: 'WRONG_STATE' });
  release();
  assert.equal(scheduler.active, 0);
});
