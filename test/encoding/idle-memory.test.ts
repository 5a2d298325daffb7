// Memory that an idle server returns to the operating system.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { collectEverywhere, collectGarbage, IdleMemory, trimHeap } from '../../src/encoding/idle-memory.js';
import { ManualTime } from '../fakes/manual-time.js';

function open() {
  const time = new ManualTime();
  const server = { begun: 0, idle: true };
  const steps: string[] = [];
  const memory = new IdleMemory({
    time,
    begun: () => server.begun,
    isIdle: () => server.idle,
    collect: () => void steps.push(`collect at ${time.now()}`),
    trim: () => void steps.push(`trim at ${time.now()}`),
  });
  return { time, server, steps, memory };
}

test('after work an idle server collects garbage, then trims the heap, each once', () => {
  const { time, server, steps } = open();
  time.advance(60_000);
  assert.deepEqual(steps, []);
  server.begun = 6;
  time.advance(60_000);
  assert.deepEqual(steps, ['collect at 66000', 'trim at 69000']);
  server.begun = 7;
  time.advance(60_000);
  assert.deepEqual(steps.slice(2), ['collect at 126000', 'trim at 129000']);
});

test('nothing is done while something is spoken, a call stands, or requests keep coming', () => {
  const { time, server, steps } = open();
  server.begun = 1;
  server.idle = false;
  time.advance(60_000);
  assert.deepEqual(steps, []);
  server.idle = true;
  for (let seconds = 0; seconds < 60; seconds += 2) {
    server.begun++;
    time.advance(2000);
  }
  assert.deepEqual(steps, []);
  time.advance(3000);
  assert.deepEqual(steps, ['collect at 123000']);
  server.idle = false;
  time.advance(27_000);
  server.idle = true;
  time.advance(3000);
  assert.deepEqual(steps.slice(1), ['trim at 153000']);
});

test('a closed one leaves no timer', () => {
  const { time, memory, server, steps } = open();
  server.begun = 1;
  memory.close();
  memory.close();
  assert.equal(time.waiting, 0);
  time.advance(60_000);
  assert.deepEqual(steps, []);
});

test('a collection frees what nothing refers to, and leaves no "gc" behind', async () => {
  const sound = new WeakRef(new Uint8Array(1024 * 1024));
  await nextTurn();
  assert.equal(sound.deref()?.byteLength, 1024 * 1024);
  await nextTurn();
  await collectGarbage();
  assert.equal(sound.deref(), undefined);
  assert.equal('gc' in globalThis, false);
});

test('a collection returns the pages of the heap', async () => {
  let objects: object[] | undefined = Array.from({ length: 500_000 }, (_, n) => ({ n, text: `${n}` }));
  assert.equal(objects.length, 500_000);
  const full = process.memoryUsage().heapTotal;
  objects = undefined;
  await collectGarbage();
  const { heapTotal, heapUsed } = process.memoryUsage();
  assert.ok(full - heapTotal > 30 * 2 ** 20, `${full} to ${heapTotal}`);
  assert.ok(heapTotal < heapUsed + 8 * 2 ** 20, `${heapUsed} of ${heapTotal}`);
});

test('the workers collect with the main thread, and end as they would without', async () => {
  const script = `
    import { parentPort } from 'node:worker_threads';
    import { collectWithOthers } from ${JSON.stringify(new URL('../../src/encoding/idle-memory.js', import.meta.url))};
    collectWithOthers();
    let sound = new WeakRef(new Uint8Array(1024 * 1024));
    const look = () => {
      if (sound.deref() !== undefined) return setImmediate(look);
      parentPort.postMessage('collected');
      parentPort.close();
    };
    parentPort.on('message', look);
    setImmediate(() => parentPort.postMessage('ready'));`;
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(script)}`));
  const ended = once(worker, 'exit');
  assert.deepEqual(await once(worker, 'message'), ['ready']);
  collectEverywhere();
  worker.postMessage('look');
  assert.deepEqual(await once(worker, 'message'), ['collected']);
  assert.deepEqual(await ended, [0]);
});

test('the heap is trimmed where the C library can do that', () => {
  const report = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  assert.equal(trimHeap(), report.header.glibcVersionRuntime !== undefined);
});
