import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type EngineSlot, Scheduler, type ReleaseSlot } from '../../src/engines/scheduler.js';
import type { SpeechClass, Urgency } from '../../src/engines/engine.js';
import { ManualTime } from '../fakes/manual-time.js';

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
    message: '3 sentences of class http wait for the engine fake, which is what MAX_QUEUE_DEPTH allows',
    retryAfterSeconds: 1,
  });
  assert.equal(scheduler.waiting, 3);
});

test('close refuses waiting and later sentences', async () => {
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

function urgency(kind: SpeechClass, client = 'x', deadlineMs = 0): Urgency {
  return { class: kind, client, deadlineMs, begun: false };
}

test('a call passes what came before it over HTTP', async () => {
  const scheduler = openScheduler();
  const log: string[] = [];
  const release = await scheduler.enter(never);
  const note = (name: string) => (next: ReleaseSlot) => {
    log.push(name);
    next();
  };
  const all = [
    scheduler.enter(never, urgency('http')).then(note('http')),
    scheduler.enter(never, urgency('interactive')).then(note('socket')),
    scheduler.enter(never, urgency('call')).then(note('call')),
  ];
  release();
  await Promise.all(all);
  assert.deepEqual(log, ['call', 'socket', 'http']);
});

test('a wait has an end, and nothing of it is left', async () => {
  const time = new ManualTime(1000);
  const scheduler = new Scheduler({ engine: 'fake', concurrency: 1, maxWaiting: 3, maxWaitMs: 500, time });
  const release = await scheduler.enter(never);
  const served = scheduler.enter(never);
  time.advance(499);
  release();
  (await served)();
  assert.deepEqual([scheduler.active, scheduler.waiting, time.waiting], [0, 0, 0]);
});

test('a sentence that waits too long is refused with TIMEOUT', async () => {
  const time = new ManualTime();
  const scheduler = new Scheduler({ engine: 'fake', concurrency: 1, maxWaiting: 3, maxWaitMs: 500, time });
  await scheduler.enter(never);
  const refused = assert.rejects(scheduler.enter(never), {
    code: 'TIMEOUT',
    message: 'the sentence waited 0.5 s for the engine fake, which is what REQUEST_TIMEOUT allows',
  });
  time.advance(500);
  await refused;
  assert.deepEqual([scheduler.waiting, time.waiting], [0, 0]);
});

test('a refusal advises to retry when the waiting sentences will have been served', async () => {
  const time = new ManualTime();
  const scheduler = new Scheduler({ engine: 'fake', concurrency: 1, maxWaiting: 2, time });
  const first = await scheduler.enter(never);
  time.advance(4000);
  first();
  for (let n = 0; n < 3; n++) void scheduler.enter(never);
  await assert.rejects(scheduler.enter(never), { code: 'ENGINE_BUSY', retryAfterSeconds: 12 });
});

test('a sentence that a client with fewer displaces is refused like one that finds the queue full', async () => {
  const scheduler = openScheduler(1, 2);
  await scheduler.enter(never);
  void scheduler.enter(never, urgency('http', 'greedy', 1));
  const displaced = scheduler.enter(never, urgency('http', 'greedy', 2));
  void scheduler.enter(never, urgency('http', 'modest', 3));
  await assert.rejects(displaced, { code: 'ENGINE_BUSY' });
  assert.equal(scheduler.waiting, 2);
});

const HTTP = urgency('http');

test('a sentence that waits within the engine counts as waiting, and against the limit of its class', async () => {
  const scheduler = openScheduler(8, 2);
  const slots = await Promise.all(Array.from({ length: 4 }, () => scheduler.enter(never, HTTP)));
  for (const slot of slots.slice(2)) slot.waits(true, assert.fail);
  assert.deepEqual([scheduler.active, scheduler.waiting, scheduler.waitingOf('http')], [4, 2, 2]);
  await assert.rejects(scheduler.enter(never, HTTP), { code: 'ENGINE_BUSY', retryAfterSeconds: 1 });
  (await scheduler.enter(never, urgency('call')))();
  (await scheduler.enter(never, { ...HTTP, begun: true }))();
  slots[2]?.waits(false, assert.fail);
  (await scheduler.enter(never, HTTP))();
  slots[3]?.(); // which waits no longer
  assert.deepEqual([scheduler.active, scheduler.waiting], [3, 0]);
});

test('of sentences that enter together, those beyond the bound of their class are refused when they wait', async () => {
  const scheduler = openScheduler(8, 2);
  const begun = { ...HTTP, begun: true };
  const slots = await Promise.all(
    [HTTP, HTTP, HTTP, HTTP, begun, urgency('call')].map((one) => scheduler.enter(never, one)),
  );
  const refused: string[] = [];
  for (const [index, slot] of slots.entries()) {
    slot.waits(true, ({ code, message }) => refused.push(`${index} ${code} ${message}`));
  }
  const why = '2 sentences of class http wait for the engine fake, which is what MAX_QUEUE_DEPTH allows';
  assert.deepEqual(refused, [`2 ENGINE_BUSY ${why}`, `3 ENGINE_BUSY ${why}`]);
  assert.deepEqual([scheduler.waitingOf('http'), scheduler.waitingOf('call')], [3, 1]);
  for (const slot of slots) slot();
  assert.deepEqual([scheduler.active, scheduler.waiting], [0, 0]);
});

test('of a class of which too many wait within the engine, the sentence that has waited least is refused', async () => {
  const time = new ManualTime();
  const scheduler = new Scheduler({ engine: 'fake', concurrency: 4, maxWaiting: 1, maxWaitMs: 60_000, time });
  const refused: string[] = [];
  const waitInside = (name: string, slot: EngineSlot) =>
    slot.waits(true, ({ code }) => refused.push(`${name} ${code}`));
  const [working, direct, call, sibling] = await Promise.all(
    [HTTP, HTTP, urgency('call'), urgency('call')].map((one) => scheduler.enter(never, one)),
  );
  const queued = scheduler.enter(never, HTTP);
  time.advance(5000);
  waitInside('call', call as EngineSlot);
  time.advance(1000);
  waitInside('direct', direct as EngineSlot);
  time.advance(1000);
  working?.();
  const patient = await queued; // it waited 7 s in the queue
  waitInside('patient', patient);
  assert.deepEqual([refused, scheduler.waitingOf('http')], [['direct ENGINE_BUSY'], 1]);
  waitInside('sibling', sibling as EngineSlot);
  assert.deepEqual(refused, ['direct ENGINE_BUSY', 'sibling ENGINE_BUSY']);
  direct?.waits(false, assert.fail);
  direct?.();
  assert.deepEqual([scheduler.waitingOf('http'), scheduler.waitingOf('call'), time.waiting], [1, 1, 2]);
  for (const slot of [patient, call, sibling]) slot?.();
  assert.deepEqual([scheduler.active, scheduler.waiting, time.waiting], [0, 0, 0]);
});

test('the time to come back is counted from what is worked on, not from what waits within the engine', async () => {
  const time = new ManualTime();
  const scheduler = new Scheduler({ engine: 'fake', concurrency: 8, maxWaiting: 2, time });
  const first = await scheduler.enter(never, HTTP);
  time.advance(5000);
  first.waits(true, assert.fail);
  time.advance(60_000);
  first.waits(false, assert.fail);
  time.advance(5000);
  first(); // ten seconds of work
  const slots = await Promise.all(Array.from({ length: 3 }, () => scheduler.enter(never, HTTP)));
  for (const slot of slots.slice(1)) slot.waits(true, assert.fail);
  await assert.rejects(scheduler.enter(never, HTTP), { code: 'ENGINE_BUSY', retryAfterSeconds: 30 });
});

test('a sentence that waits within the engine too long gives up, including its time in the queue', async () => {
  const time = new ManualTime();
  const scheduler = new Scheduler({ engine: 'fake', concurrency: 1, maxWaiting: 2, maxWaitMs: 10_000, time });
  const first = await scheduler.enter(never, HTTP);
  const second = scheduler.enter(never, HTTP);
  time.advance(4000);
  first();
  const slot = await second;
  const given: string[] = [];
  const giveUp = ({ code, message }: { code: string; message: string }) => given.push(`${code} ${message}`);
  slot.waits(true, giveUp);
  time.advance(2000);
  slot.waits(false, giveUp);
  time.advance(60_000); // it is worked on
  slot.waits(true, giveUp);
  time.advance(3999);
  assert.deepEqual(given, []);
  time.advance(1);
  assert.deepEqual(given, [
    'TIMEOUT the sentence waited 10 s for the engine fake, which is what REQUEST_TIMEOUT allows',
  ]);
  slot();
  assert.equal(time.waiting, 0);
});
