import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { ByteRing, PcmRing } from '../../src/audio/pcm-ring.js';
import { watchedHandles } from '../../src/audio/ready.js';
import { ParleyError } from '../../src/errors.js';
import type { PeerJob } from './ring-peer.js';
import { until } from '../fakes/until.js';
import { rejectionsOf } from '../fakes/rejections.js';

const RATE = 16_000;
const COUNT = 100_000;

function samples(...values: number[]): Float32Array {
  return Float32Array.from(values);
}

function startPeer(job: PeerJob): Worker {
  return new Worker(new URL('./ring-peer.js', import.meta.url), { workerData: job });
}

async function messageFrom(peer: Worker): Promise<unknown> {
  const [message] = (await once(peer, 'message')) as [unknown];
  return message;
}

async function endPeer(peer: Worker): Promise<void> {
  const exited = once(peer, 'exit');
  peer.postMessage('end');
  await exited;
}

test('samples come out in order, and a full ring takes what fits', () => {
  const ring = PcmRing.open(RATE, 16);
  assert.equal(ring.write(Float32Array.from({ length: 20 }, (_, i) => i)), 16);
  assert.equal(ring.write(samples(1)), 0);
  const block = new Float32Array(10);
  assert.equal(ring.read(block), 10);
  assert.deepEqual([...block], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  assert.deepEqual(ring.status(), {
    readable: 6,
    writable: 10,
    written: 16,
    ended: false,
    aborted: false,
    error: '',
  });
  ring.close();
});

test('an end with an error reaches the reader after the data', () => {
  const ring = PcmRing.open(RATE, 16);
  ring.write(samples(1, 2));
  ring.end('ENGINE_FAILED');
  assert.equal(ring.write(samples(3)), -1);
  assert.equal(ring.status()?.readable, 2);
  assert.equal(ring.read(new Float32Array(8)), 2);
  assert.equal(ring.read(new Float32Array(8)), 0);
  assert.deepEqual([ring.status()?.ended, ring.status()?.error], [true, 'ENGINE_FAILED']);
  ring.close();
});

test('a closed ring answers as gone, also to those who attached to it', async () => {
  const ring = PcmRing.open(RATE, 16);
  const other = PcmRing.attach(ring.handle, RATE);
  other.close();
  assert.equal(ring.write(samples(1)), 1);
  ring.close();
  ring.close();
  for (const end of [ring, other, PcmRing.attach(12_345, RATE), PcmRing.attach(-1, RATE)]) {
    assert.equal(end.write(samples(1)), -1);
    assert.equal(end.read(new Float32Array(1)), -1);
    assert.equal(end.status(), null);
    end.end();
    end.abort();
    await end.readable();
    await end.writable();
  }
  assert.equal(PcmRing.open(RATE, 16).handle === ring.handle, false);
});

test('wrong arguments are named', () => {
  assert.throws(() => PcmRing.open(RATE, 1), /RangeError: capacityBytes must be from 64 to 2\^30/);
  assert.throws(() => ByteRing.open(Number.NaN), RangeError);
  const ring = ByteRing.open<Float32Array>(64);
  assert.throws(() => ring.write(new Uint16Array(2) as unknown as Float32Array), /TypeError: data must be/);
  ring.close();
});

test('a waiting writer goes on when half of the ring is free, a waiting reader at the first sample', async () => {
  const ring = PcmRing.open(RATE, 16);
  const block = new Float32Array(4);
  const calls: string[] = [];
  ring.onReadable(() => calls.push('readable'));
  assert.deepEqual(calls, []);
  const written = ring.writeAll(Float32Array.from({ length: 40 }, (_, i) => i)).then(() => ring.end());
  const seen: number[] = [];
  while (ring.status()?.ended !== true || (ring.status()?.readable ?? 0) > 0) {
    const taken = ring.read(block);
    seen.push(...block.subarray(0, taken));
    // The notifier of a thread keeps nothing alive; a test must.
    await new Promise((resolve) => setImmediate(resolve));
  }
  await written;
  assert.deepEqual(calls, ['readable']);
  assert.deepEqual(
    seen,
    Array.from({ length: 40 }, (_, i) => i),
  );
  ring.close();
  assert.equal(watchedHandles(), 0);
});

test('a callback taken back is not called', async () => {
  const ring = PcmRing.open(RATE, 16);
  let calls = 0;
  const callback = () => calls++;
  ring.onReadable(callback);
  ring.forget(callback);
  ring.write(samples(1));
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(calls, 0);
  ring.close();
});

test('writeAll ends with ABORTED when the signal or the reader aborts', async () => {
  const ring = PcmRing.open(RATE, 16);
  const controller = new AbortController();
  const bySignal = ring.writeAll(new Float32Array(40), controller.signal);
  controller.abort();
  await assert.rejects(bySignal, { code: 'ABORTED' });
  const byReader = ring.writeAll(new Float32Array(40));
  ring.abort();
  ring.close();
  await assert.rejects(byReader, (error) => error instanceof ParleyError && error.code === 'ABORTED');
});

test('a worker reads what the main thread writes', async () => {
  const ring = PcmRing.open(RATE, 1000);
  const peer = startPeer({ kind: 'read-all', handle: ring.handle, count: 0 });
  const result = messageFrom(peer);
  for (let at = 0; at < COUNT; at += 500) {
    await ring.writeAll(Float32Array.from({ length: 500 }, (_, i) => at + i));
  }
  ring.end('TIMEOUT');
  assert.deepEqual(await result, { count: COUNT, wrong: 0, error: 'TIMEOUT' });
  await endPeer(peer);
  ring.close();
});

test('the main thread reads what a worker writes', async () => {
  const ring = PcmRing.open(RATE, 1000);
  const peer = startPeer({ kind: 'write', handle: ring.handle, count: COUNT });
  const result = messageFrom(peer);
  const block = new Float32Array(700);
  let seen = 0;
  while (seen < COUNT) {
    const taken = ring.read(block);
    for (const sample of block.subarray(0, taken)) assert.equal(sample, seen++);
    if (taken === 0) await ring.readable();
  }
  assert.equal(await result, 'written');
  assert.equal(ring.status()?.ended, true);
  await endPeer(peer);
  ring.close();
});

for (const end of ['abort', 'close'] as const) {
  for (const kind of ['wait-to-read', 'wait-to-write'] as const) {
    test(`${end} wakes a worker that does ${kind}`, async () => {
      const ring = PcmRing.open(RATE, 100);
      const peer = startPeer({ kind, handle: ring.handle, count: 100 });
      assert.equal(await messageFrom(peer), 'waiting');
      ring[end]();
      assert.equal(await messageFrom(peer), 'woken');
      await endPeer(peer);
      ring.close();
    });
  }
}

test('a worker that ends while it waits leaves the ring usable by the next', async () => {
  const ring = PcmRing.open(RATE, 1000);
  for (let round = 0; round < 5; round++) {
    const gone = startPeer({ kind: 'wait-to-read', handle: ring.handle, count: 0 });
    assert.equal(await messageFrom(gone), 'waiting');
    await gone.terminate();
    ring.write(samples(0)); // rings the bell of a thread that has ended
    ring.read(new Float32Array(1));
  }
  const peer = startPeer({ kind: 'read-all', handle: ring.handle, count: 0 });
  await ring.writeAll(samples(0, 1, 2));
  ring.end();
  assert.deepEqual(await messageFrom(peer), { count: 3, wrong: 0, error: '' });
  await endPeer(peer);
  ring.close();
});

test('workers may be ended in the middle of heavy traffic', async () => {
  for (let round = 0; round < 8; round++) {
    const ring = PcmRing.open(RATE, 256);
    const writer = startPeer({ kind: 'write', handle: ring.handle, count: 10_000_000 });
    const reader = startPeer({ kind: 'read-all', handle: ring.handle, count: 0 });
    // A bell of this thread too, so that both workers ring it while they end.
    while ((ring.status()?.written ?? 0) < 5000 * (round + 1))
      await new Promise((resolve) => setImmediate(resolve));
    await Promise.all([writer.terminate(), reader.terminate()]);
    ring.close();
  }
});

test('a callback that throws keeps no other of its ring, or of another ring, from being called', async () => {
  const [ring, other] = [PcmRing.open(RATE, 16), PcmRing.open(RATE, 16)];
  const called: string[] = [];
  ring.onReadable(() => {
    throw new Error('defect');
  });
  ring.onReadable(() => called.push('ring'));
  other.onReadable(() => called.push('other'));
  const rejections = await rejectionsOf(async () => {
    ring.write(samples(1));
    other.write(samples(1));
    await until(() => called.length === 2);
  });
  assert.deepEqual([called.sort(), rejections.map(String)], [['other', 'ring'], ['Defect: ring: defect']]);
  ring.close();
  other.close();
});
