// Which run is next: finals before partial texts before files, and the oldest of each.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MoonshineGraphs } from '../../../src/engines/moonshine/graphs.js';
import { RunQueue, type Work } from '../../../src/engines/moonshine/run-queue.js';
import { ManualTime } from '../../fakes/manual-time.js';

/** Graphs whose runs of the encoder end when the test says so. */
function slowGraphs() {
  const running: { readonly first: number; readonly end: () => void }[] = [];
  const encoder = (features: Float32Array) =>
    new Promise<Float32Array>((resolve) => {
      running.push({ first: features[0] ?? 0, end: () => resolve(features) });
    });
  return { graphs: { encoder } as unknown as MoonshineGraphs, running };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('finals go before partial texts, these before files, and older ones before newer ones', async () => {
  const queue = new RunQueue(new ManualTime());
  const { graphs, running } = slowGraphs();
  const { signal } = new AbortController();
  const works: readonly (readonly [Work['rank'], number])[] = [
    ['file', 0],
    ['file', 1],
    ['partial', 3],
    ['partial', 2],
    ['final', 5],
    ['final', 4],
  ];
  const all = works.map(([rank, sinceMs]) =>
    queue.graphsFor(graphs, () => ({ rank, sinceMs, signal })).encoder(Float32Array.of(sinceMs)),
  );
  for (let count = 1; count <= works.length; count++) {
    await turn();
    assert.equal(running.length, count, 'one run at a time');
    running.at(-1)?.end();
  }
  await Promise.all(all);
  assert.deepEqual(
    running.map(({ first }) => first),
    [0, 4, 5, 2, 3, 1],
  );
});

test('work that is given up ends before its next run, and the others go on', async () => {
  const time = new ManualTime();
  const queue = new RunQueue(time);
  const { graphs, running } = slowGraphs();
  const giveUp = new AbortController();
  const work = (signal: AbortSignal): Work => ({ rank: 'final', sinceMs: 0, signal });
  const run = (signal: AbortSignal) =>
    queue.graphsFor(graphs, () => work(signal)).encoder(Float32Array.of(1));
  const first = run(new AbortController().signal);
  const second = run(giveUp.signal);
  const third = run(new AbortController().signal);
  await turn();
  time.advance(250);
  assert.equal(queue.oldestMs, 250);
  giveUp.abort();
  running[0]?.end();
  await first;
  await assert.rejects(second, { code: 'ABORTED' });
  await turn();
  running[1]?.end();
  await third;
  assert.deepEqual([running.length, queue.oldestMs], [2, 0]);
});

test('the age of the oldest work is that of live work, however long a file waits', async () => {
  const time = new ManualTime();
  const queue = new RunQueue(time);
  const { graphs, running } = slowGraphs();
  const { signal } = new AbortController();
  const run = (rank: Work['rank'], sinceMs: number) =>
    queue.graphsFor(graphs, () => ({ rank, sinceMs, signal })).encoder(Float32Array.of(sinceMs));
  const all = [run('file', 0), run('file', 0)];
  time.advance(400);
  assert.equal(queue.oldestMs, 0);
  all.push(run('partial', 390));
  assert.equal(queue.oldestMs, 10);
  for (let count = 1; count <= all.length; count++) {
    await turn();
    running.at(-1)?.end();
  }
  await Promise.all(all);
  assert.equal(queue.oldestMs, 0);
});
