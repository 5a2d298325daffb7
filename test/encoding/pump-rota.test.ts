import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PCMU } from '../../src/codecs/codec.js';
import { LinePump } from '../../src/encoding/line-pump.js';
import { PlayoutSink } from '../../src/encoding/frame-sink.js';
import { PumpRota } from '../../src/encoding/pump-rota.js';
import { CHUNK_SAMPLES, SegmentSound } from '../../src/encoding/line-sound.js';
import { encoderOf, loud, MemoryRing, RecordingQueue } from './line-fakes.js';

/** A line of `frames` frames in a rota; its number is noted in `order` for every frame. */
function addLine(rota: PumpRota, order: number[], number: number, frames: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const queue = new RecordingQueue();
    const push = queue.push.bind(queue);
    queue.push = (generation, track, payload) => {
      order.push(number);
      return push(generation, track, payload);
    };
    const target = { generation: 1, track: 1, sampleRate: 8000 };
    const sink = new PlayoutSink(queue, target, encoderOf(PCMU), PCMU.silence(20));
    const reports = {
      started: () => undefined,
      encoded: () => undefined,
      kept: () => undefined,
      failed: (_index: number, error: Error) => reject(error),
      ended: () => resolve(),
      lost: reject,
    };
    const pump = new LinePump(sink, reports, rota.wake, () => 0);
    const place = { index: 0, rate: 8000, pauseBeforeMs: 0 };
    pump.segment(
      new SegmentSound(MemoryRing.of(loud(frames * 160)), place, {}, new Float32Array(CHUNK_SAMPLES)),
    );
    pump.end();
  });
}

test('twenty lines share one thread in short turns, and none gets ahead', async () => {
  const rota = new PumpRota();
  const order: number[] = [];
  await Promise.all(Array.from({ length: 20 }, (_, number) => addLine(rota, order, number, 60)));
  assert.equal(order.length, 20 * 60);
  assert.equal(
    new Set(order.slice(0, 40)).size,
    20,
    'each had its first frame within two frames of every line',
  );
  const done = Array.from({ length: 20 }, () => 0);
  for (const number of order) {
    done[number] = (done[number] as number) + 1;
    assert.ok(Math.max(...done) - Math.min(...done) <= 10, 'two turns apart at most');
  }
});

test('a line that starts goes before those that have a cushion', async () => {
  const rota = new PumpRota();
  const order: number[] = [];
  const old = Array.from({ length: 10 }, (_, number) => addLine(rota, order, number, 500));
  while (order.length < 10 * 20) await new Promise(setImmediate);
  const before = order.length;
  const fresh = addLine(rota, order, 99, 100);
  await new Promise(setImmediate);
  const firstPass = order.slice(before);
  assert.deepEqual(firstPass.slice(0, 2), [99, 99]);
  await Promise.all([...old, fresh]);
});

test('a pass is bounded, so that messages are heard between two', async () => {
  const rota = new PumpRota();
  const order: number[] = [];
  const lines = Array.from({ length: 30 }, (_, number) => addLine(rota, order, number, 50));
  let before = 0;
  while (order.length < 30 * 50) {
    await new Promise(setImmediate);
    assert.ok(order.length - before <= 45, `${order.length - before} frames between two turns of the loop`);
    before = order.length;
  }
  await Promise.all(lines);
});
