import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../fakes/properties.js';
import { OPUS, PCMA, PCMU } from '../../src/codecs/codec.js';
import { PlayoutSink } from '../../src/encoding/frame-sink.js';
import { EncoderPipeline, PipelineScheduler } from '../../src/encoding/encoder-pipeline.js';
import { CHUNK_SAMPLES, SegmentSound } from '../../src/encoding/segment-sound.js';
import { segmentEnded, segmentStarted, TRACK_ENDED } from '../../src/encoding/marks.js';
import {
  encodedWhole,
  encoderOf,
  joined,
  loud,
  MemoryRing,
  playoutSession,
  RecordingQueue,
  resampled,
} from './encoder-fakes.js';

test('one segment becomes its resampled sound, padded to whole frames, with marks around it', () => {
  const queue = new RecordingQueue();
  const session = playoutSession(PCMU, queue);
  const sound = loud(16_000 + 100);
  session.segment(MemoryRing.of(sound), 16_000);
  session.pipeline.end();
  assert.equal(session.run(), 'over');
  assert.deepEqual(queue.payloads, encodedWhole(resampled(sound, 16_000, 8000), encoderOf(PCMU)));
  assert.deepEqual(queue.shape, ['1 frames', segmentStarted(0), '50 frames', segmentEnded(0), TRACK_ENDED]);
  assert.deepEqual(queue.ends, [queue.log.length - 1]);
  assert.deepEqual(session.reports, [
    { started: 0, firstFrame: 0, trimmedStartMs: 0 },
    {
      encoded: {
        index: 0,
        firstFrame: 0,
        frames: 51,
        samplesIn: 16_100,
        trimmedStartMs: 0,
        startMs: 0,
        endMs: 1006.25,
      },
    },
    'ended',
  ]);
});

test('segments without a pause flow on: one sound, no gap, neighbours sharing a frame', () => {
  const queue = new RecordingQueue();
  const session = playoutSession(PCMA, queue);
  const parts = [loud(8100, 1), loud(50, 2), loud(4000, 3)];
  for (const part of parts) session.segment(MemoryRing.of(part), 16_000);
  session.pipeline.end();
  session.run();
  assert.deepEqual(queue.payloads, encodedWhole(resampled(joined(...parts), 16_000, 8000), encoderOf(PCMA)));
  // 4050 samples end in frame 25, where the next 25 lie altogether and the last segment begins.
  assert.deepEqual(queue.shape, [
    '1 frames',
    segmentStarted(0),
    '25 frames',
    segmentEnded(0),
    segmentStarted(1),
    segmentEnded(1),
    segmentStarted(2),
    '12 frames',
    segmentEnded(2),
    TRACK_ENDED,
  ]);
});

test('a pause is silence of its exact length, also where the rates differ', () => {
  const queue = new RecordingQueue();
  const session = playoutSession(PCMU, queue);
  const first = loud(1610, 1);
  const second = loud(2205, 2);
  session.segment(MemoryRing.of(first), 16_000);
  session.segment(MemoryRing.of(second), 22_050, 100);
  session.pipeline.end();
  session.run();
  const whole = joined(
    resampled(first, 16_000, 8000),
    new Float32Array(800),
    resampled(second, 22_050, 8000),
  );
  assert.deepEqual(queue.payloads, encodedWhole(whole, encoderOf(PCMU)));
  assert.deepEqual(session.reports.slice(2, 4), [
    { started: 1, firstFrame: Math.floor(1605 / 160), trimmedStartMs: 0 },
    {
      encoded: {
        index: 1,
        firstFrame: 10,
        frames: 6,
        samplesIn: 2205,
        trimmedStartMs: 0,
        startMs: 200.625,
        endMs: 300.625,
      },
    },
  ]);
});

test('the pause is there before the sound that follows it, to keep the playout fed', () => {
  const queue = new RecordingQueue();
  const session = playoutSession(PCMU, queue);
  session.segment(MemoryRing.of(loud(800)), 8000);
  session.segment(new MemoryRing(), 8000, 200);
  assert.equal(session.run(), 'waiting');
  assert.equal(queue.payloads.length, 15);
});

test('a segment without sound yields its marks in order and does not pause twice', () => {
  const queue = new RecordingQueue();
  const session = playoutSession(PCMU, queue);
  session.segment(MemoryRing.of(new Float32Array(4000)), 8000, 0);
  session.segment(MemoryRing.of(loud(800)), 8000, 160);
  session.segment(MemoryRing.of(new Float32Array(4000)), 8000, 160);
  session.segment(MemoryRing.of(new Float32Array(0)), 8000, 160);
  session.segment(MemoryRing.of(loud(800)), 8000, 160);
  session.pipeline.end();
  assert.equal(session.run(), 'over');
  assert.deepEqual(queue.shape, [
    segmentStarted(0),
    segmentEnded(0),
    '1 frames',
    segmentStarted(1),
    '4 frames',
    segmentEnded(1),
    '8 frames',
    segmentStarted(2),
    segmentEnded(2),
    segmentStarted(3),
    segmentEnded(3),
    '1 frames',
    segmentStarted(4),
    '4 frames',
    segmentEnded(4),
    TRACK_ENDED,
  ]);
  const encoded = session.reports.flatMap(
    (report) => (Object(report) as { encoded?: { frames: number } }).encoded ?? [],
  );
  assert.deepEqual(
    encoded.map(({ frames }) => frames),
    [0, 5, 0, 0, 5],
  );
});

test('a session without a segment ends at once', () => {
  const queue = new RecordingQueue();
  const session = playoutSession(OPUS, queue);
  session.pipeline.end();
  assert.equal(session.run(), 'over');
  assert.deepEqual(queue.log, [TRACK_ENDED]);
  assert.deepEqual(session.reports, ['ended']);
});

test('silence around a segment is cut and the length cut in front is reported', () => {
  const queue = new RecordingQueue();
  const session = playoutSession(PCMU, queue, { leadInMs: 20, tailMs: 40 });
  const sound = loud(800);
  session.segment(MemoryRing.of(joined(new Float32Array(4000), sound, new Float32Array(8000))), 8000);
  session.pipeline.end();
  session.run();
  const whole = joined(new Float32Array(160), sound, new Float32Array(320));
  assert.deepEqual(queue.payloads, encodedWhole(whole, encoderOf(PCMU)));
  assert.deepEqual(session.reports[0], { started: 0, firstFrame: 0, trimmedStartMs: 480 });
});

test('a session whose input pauses hands over its last sample and notifies the playout', () => {
  const queue = new RecordingQueue();
  const session = playoutSession(PCMU, queue);
  session.segment(MemoryRing.of(loud(170)), 8000);
  assert.equal(session.run(), 'waiting');
  assert.deepEqual(queue.shape, ['1 frames', segmentStarted(0)]);
  assert.deepEqual(queue.rests, [], 'a segment that is late is no rest');
  session.pipeline.pauseInput();
  assert.equal(session.run(), 'waiting');
  assert.deepEqual(session.reports[1], {
    encoded: {
      index: 0,
      firstFrame: 0,
      frames: 2,
      samplesIn: 170,
      trimmedStartMs: 0,
      startMs: 0,
      endMs: 21.25,
    },
  });
  const handedOver = ['1 frames', segmentStarted(0), '1 frames', segmentEnded(0)];
  assert.deepEqual(queue.shape, handedOver);
  assert.deepEqual(queue.rests, [4]);
  assert.equal(session.run(), 'waiting');
  assert.deepEqual(queue.rests, [4], 'it is reported once');
  session.pipeline.end();
  session.run();
  assert.deepEqual(queue.shape, [...handedOver, TRACK_ENDED]);
});

test('after a rest that was heard as silence no pause is added, otherwise it is', () => {
  for (const [dry, frames] of [
    [true, 2],
    [false, 2 + 8],
  ] as const) {
    const queue = new RecordingQueue();
    queue.dry = dry;
    const session = playoutSession(PCMU, queue);
    session.segment(MemoryRing.of(loud(160)), 8000);
    session.pipeline.pauseInput();
    session.run();
    session.segment(MemoryRing.of(loud(160)), 8000, 160);
    session.pipeline.end();
    session.run();
    assert.equal(queue.payloads.length, frames);
  }
});

test('a full playout stops the reading of the ring until it has room', () => {
  const queue = new RecordingQueue(3);
  const session = playoutSession(PCMU, queue);
  const ring = MemoryRing.of(loud(80_000));
  session.segment(ring, 8000);
  assert.equal(session.run(), 'waiting');
  const held = 80_000 - ring.readable - 3 * 160;
  assert.ok(held >= 160 && held <= 160 + 480, `${held} samples held`);
  assert.equal(queue.waiting.size, 1);
  assert.equal(session.woken, false);
  queue.give(1);
  assert.equal(session.woken, true);
  session.run();
  assert.equal(queue.payloads.length, 4);
});

test('however sound and room arrive, the playout gets the same', () => {
  const script = fc.record({
    codec: fc.constantFrom(OPUS, PCMU, PCMA),
    segments: fc.array(
      fc.record({
        rate: fc.constantFrom(8000, 16_000, 22_050, 24_000),
        pieces: fc.array(fc.integer({ min: 0, max: 1500 }), { maxLength: 4 }),
        pauseMs: fc.constantFrom(0, 0, 30, 160),
        quiet: fc.boolean(),
      }),
      { maxLength: 4 },
    ),
    room: fc.integer({ min: 1, max: 4 }),
    turnFrames: fc.integer({ min: 1, max: 7 }),
  });
  fc.assert(
    fc.property(script, ({ codec, segments, room, turnFrames }) => {
      const soundOf = (index: number, samples: number, quiet: boolean) =>
        quiet ? new Float32Array(samples) : loud(samples, index + 1);
      const whole = new RecordingQueue();
      const reference = playoutSession(codec, whole);
      segments.forEach(({ rate, pieces, pauseMs, quiet }, index) => {
        const samples = pieces.reduce((sum, piece) => sum + piece, 0);
        reference.segment(MemoryRing.of(soundOf(index, samples, quiet)), rate, pauseMs);
      });
      reference.pipeline.end();
      reference.run(1000);

      const queue = new RecordingQueue(0);
      const session = playoutSession(codec, queue);
      const work = () => {
        while (session.run(turnFrames) === 'waiting' && queue.waiting.size > 0) queue.give(room);
      };
      segments.forEach(({ rate, pieces, pauseMs, quiet }, index) => {
        const ring = new MemoryRing();
        const samples = pieces.reduce((sum, piece) => sum + piece, 0);
        const sound = soundOf(index, samples, quiet);
        session.segment(ring, rate, pauseMs);
        let at = 0;
        for (const piece of pieces) {
          work();
          ring.write(sound.subarray(at, at + piece));
          at += piece;
        }
        ring.end();
      });
      session.pipeline.end();
      work();
      assert.deepEqual(queue.log, whole.log);
      assert.deepEqual(session.reports, reference.reports);
    }),
    { numRuns: 60, seed: 5 },
  );
});

test('an engine that fails ends its segment; what came before it and after it is heard', () => {
  const queue = new RecordingQueue();
  const session = playoutSession(PCMU, queue);
  const failing = new MemoryRing();
  failing.write(loud(800));
  failing.end('ENGINE_FAILED');
  session.segment(failing, 8000);
  session.segment(MemoryRing.of(loud(160)), 8000);
  session.pipeline.end();
  assert.equal(session.run(), 'over');
  assert.deepEqual(queue.shape, [
    '1 frames',
    segmentStarted(0),
    '5 frames',
    segmentStarted(1),
    segmentEnded(1),
    TRACK_ENDED,
  ]);
  assert.deepEqual(session.reports[1], { failed: 0, code: 'ENGINE_FAILED' });
});

test('an aborted ring fails its segment with ABORTED', () => {
  const session = playoutSession(PCMU, new RecordingQueue());
  const ring = new MemoryRing();
  session.segment(ring, 8000);
  session.run();
  ring.abort();
  session.run();
  assert.deepEqual(session.reports, [{ failed: 0, code: 'ABORTED' }]);
});

test('a cleared playout ends the session: rings are aborted, nothing is watched, nothing more is said', () => {
  const queue = new RecordingQueue(2);
  const session = playoutSession(PCMU, queue);
  const rings = [MemoryRing.of(loud(8000)), new MemoryRing()];
  for (const ring of rings) session.segment(ring, 8000);
  session.run();
  queue.gone = true;
  assert.equal(session.run(), 'over');
  assert.deepEqual(session.reports.at(-1), { lost: 'ABORTED' });
  assert.deepEqual(
    rings.map(({ aborted, waiting }) => [aborted, waiting.size]),
    [
      [true, 0],
      [true, 0],
    ],
  );
  assert.equal(queue.waiting.size, 0);
  const before = session.reports.length;
  session.segment(new MemoryRing(), 8000);
  session.pipeline.end();
  session.pipeline.stop();
  assert.equal(session.run(), 'over');
  assert.equal(session.reports.length, before);
});

test('a stopped session lets everything go at once, twice as well, without a report', () => {
  const queue = new RecordingQueue();
  const session = playoutSession(OPUS, queue);
  const rings = [new MemoryRing(), new MemoryRing()];
  for (const ring of rings) session.segment(ring, 16_000);
  session.run();
  assert.equal(rings[0]?.waiting.size, 1);
  session.pipeline.stop();
  session.pipeline.stop();
  assert.deepEqual(
    rings.map(({ aborted, waiting }) => [aborted, waiting.size]),
    [
      [true, 0],
      [true, 0],
    ],
  );
  assert.equal(session.run(), 'over');
  assert.deepEqual(session.reports, []);
});

test('a rate that no filter is made for loses the session by name, not the worker', () => {
  const session = playoutSession(PCMU, new RecordingQueue());
  session.segment(MemoryRing.of(loud(100)), 200_000);
  assert.equal(session.run(), 'over');
  assert.deepEqual(session.reports, [{ lost: 'INVALID_FIELD' }]);
});

test('a turn is bounded by its frames', () => {
  const queue = new RecordingQueue();
  const session = playoutSession(PCMU, queue);
  session.segment(MemoryRing.of(loud(80_000)), 8000);
  assert.equal(session.pipeline.turn(5), 'more');
  assert.equal(session.pipeline.framesPut, 5);
  assert.equal(session.pipeline.turn(2), 'more');
  assert.equal(session.pipeline.framesPut, 7);
});

/** A session of `frames` frames in a scheduler; its number is noted in `order` for every frame. */
function addSession(
  scheduler: PipelineScheduler,
  order: number[],
  number: number,
  frames: number,
): Promise<void> {
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
    const pipeline = new EncoderPipeline(sink, reports, scheduler.wake, () => 0);
    const place = { index: 0, rate: 8000, pauseBeforeMs: 0 };
    pipeline.segment(
      new SegmentSound(MemoryRing.of(loud(frames * 160)), place, {}, new Float32Array(CHUNK_SAMPLES)),
    );
    pipeline.end();
  });
}

test('twenty sessions share one thread in short turns, and none gets ahead', async () => {
  const scheduler = new PipelineScheduler(
    () => 0,
    () => undefined,
  );
  const order: number[] = [];
  await Promise.all(Array.from({ length: 20 }, (_, number) => addSession(scheduler, order, number, 60)));
  assert.equal(order.length, 20 * 60);
  assert.equal(
    new Set(order.slice(0, 40)).size,
    20,
    'each had its first frame within two frames of every session',
  );
  const done = Array.from({ length: 20 }, () => 0);
  for (const number of order) {
    done[number] = (done[number] as number) + 1;
    assert.ok(Math.max(...done) - Math.min(...done) <= 10, 'two turns apart at most');
  }
});

test('a session that starts goes before those that have a cushion', async () => {
  const scheduler = new PipelineScheduler(
    () => 0,
    () => undefined,
  );
  const order: number[] = [];
  const old = Array.from({ length: 10 }, (_, number) => addSession(scheduler, order, number, 500));
  while (order.length < 10 * 20) await new Promise(setImmediate);
  const before = order.length;
  const fresh = addSession(scheduler, order, 99, 100);
  await new Promise(setImmediate);
  const firstPass = order.slice(before);
  assert.deepEqual(firstPass.slice(0, 2), [99, 99]);
  await Promise.all([...old, fresh]);
});

test('a pass is bounded, so that messages are heard between two', async () => {
  const scheduler = new PipelineScheduler(
    () => 0,
    () => undefined,
  );
  const order: number[] = [];
  const sessions = Array.from({ length: 30 }, (_, number) => addSession(scheduler, order, number, 50));
  let before = 0;
  while (order.length < 30 * 50) {
    await new Promise(setImmediate);
    assert.ok(order.length - before <= 45, `${order.length - before} frames between two turns of the loop`);
    before = order.length;
  }
  await Promise.all(sessions);
});
