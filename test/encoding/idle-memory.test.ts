// Memory that an idle server returns to the operating system.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { garbageCollector, IdleMemory, trimHeap } from '../../src/encoding/idle-memory.js';
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
  garbageCollector()();
  assert.equal(sound.deref(), undefined);
  assert.equal('gc' in globalThis, false);
});

test('the heap is trimmed where the C library can do that', () => {
  const report = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  assert.equal(trimHeap(), report.header.glibcVersionRuntime !== undefined);
});
