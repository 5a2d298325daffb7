import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { EncoderPool } from '../../src/encoding/encoder-pool.js';
import { WorkerLoad } from '../../src/encoding/worker-load.js';
import { ManualTime } from '../fakes/manual-time.js';

/** Samples once a second; answers the complexity after each. */
function complexities(load: WorkerLoad, busy: readonly number[], longestWaitMs = 0): number[] {
  return busy.map((share, second) => {
    load.sample({ busy: share, longestWaitMs }, 1000 * second);
    return load.complexity;
  });
}

function times(count: number, busy: number): number[] {
  return Array.from({ length: count }, () => busy);
}

test('a busy worker begins sessions with 5, 3, 1 and 0, one step a second', () => {
  assert.deepEqual(complexities(new WorkerLoad(5), [0.7, 0.71, 0.8, 0.9, 1, 1]), [5, 3, 1, 0, 0, 0]);
  assert.deepEqual(complexities(new WorkerLoad(10), [1, 1, 1, 1, 1]), [5, 3, 1, 0, 0]);
  assert.deepEqual(complexities(new WorkerLoad(2), [1, 1, 1]), [1, 0, 0]);
  assert.deepEqual(complexities(new WorkerLoad(0), [1, 1]), [0, 0]);
});

test('sessions that wait for more than 200 ms twice on end are full load, however little the worker works', () => {
  const load = new WorkerLoad(5);
  assert.equal(load.sample({ busy: 0.1, longestWaitMs: 200 }, 0), false);
  assert.equal(load.load, 0.1);
  assert.equal(load.sample({ busy: 0.1, longestWaitMs: 201 }, 1000), true);
  assert.deepEqual([load.load, load.complexity], [0.1, 3]);
  assert.equal(load.sample({ busy: 0.2, longestWaitMs: 201 }, 2000), true);
  assert.deepEqual([load.load, load.complexity], [1, 1]);
});

test('the complexity returns a step after 10 s in which the higher one would have fitted', () => {
  const load = new WorkerLoad(5);
  complexities(load, [0.9, 0.9]);
  assert.equal(load.complexity, 1);
  const after = complexities(load, times(25, 0.3));
  assert.equal(after.indexOf(3), 10);
  assert.equal(after.indexOf(5), 20);
  assert.equal(after.at(-1), 5);
});

test('it stays low while the higher one would make the worker busy again', () => {
  const load = new WorkerLoad(5);
  complexities(load, [0.9]);
  // 0.4 at complexity 3 would be 0.69 at 5.
  assert.equal(complexities(load, times(60, 0.4)).at(-1), 3);
  // A busy second begins the 10 s anew.
  assert.equal(complexities(load, [...times(9, 0.1), 0.5, ...times(9, 0.1)]).at(-1), 3);
});

/** A worker that counts as if it worked for 900 ms of every message that it gets. */
const BUSY = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort, workerData } from 'node:worker_threads';
    parentPort.on('message', (messages) => {
      if (messages.some(({ type }) => type === 'close')) return parentPort.close();
      Atomics.add(workerData.counters, 1, 900000);
      parentPort.postMessage([{ type: 'ready' }]);
    });
    parentPort.postMessage([{ type: 'ready' }]);
  `)}`,
);

test('the pool states its load, and sessions begin with the complexity of their worker', async () => {
  const time = new ManualTime(0);
  const changes: unknown[] = [];
  await using pool = new EncoderPool({
    workers: 2,
    script: BUSY,
    time,
    onComplexity: (change) => changes.push(change),
  });
  await pool.ready();
  const open = () => pool.open({ kind: 'kept', codec: 'opus', frameMs: 20 });
  assert.deepEqual([pool.load, pool.complexity, open().opus.complexity], [0, 5, 5]);
  // The worker has taken the message once it has answered; the first session is on the first worker.
  for (let loops = 0; pool.load === 0; loops++) {
    assert.ok(loops < 1000, 'the worker never worked');
    await turn();
    time.advance(1000);
  }
  assert.deepEqual([pool.load, pool.complexity], [0.45, 3]);
  assert.deepEqual(changes, [{ worker: 0, from: 5, to: 3, busy: 0.9, longestWaitMs: 0 }]);
  assert.equal(open().opus.complexity, 5, 'the other worker is idle');
  assert.equal(open().opus.complexity, 3);
});
