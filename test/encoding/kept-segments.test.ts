import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../fakes/properties.js';
import { OPUS, PCMA, PCMU, type Codec } from '../../src/codecs/codec.js';
import { FrameCollector, ReadySegment, type KeptFrames } from '../../src/encoding/kept-frames.js';
import { segmentEnded, segmentStarted, TRACK_ENDED } from '../../src/encoding/marks.js';
import {
  bytesSession,
  encodedWhole,
  encoderOf,
  joined,
  loud,
  MemoryRing,
  playoutSession,
  RecordingBytes,
  RecordingQueue,
  resampled,
} from './encoder-fakes.js';

function payloadsOf(kept: KeptFrames | undefined): number[][] {
  assert.ok(kept !== undefined);
  const segment = new ReadySegment({ index: 0, pauseBeforeMs: 0 }, kept);
  const payloads: number[][] = [];
  for (let next = segment.next(); next !== undefined; next = segment.next()) payloads.push([...next]);
  return payloads;
}

/** Reports of one kind. The other kinds' order varies: it depends on how early the ring's end was known. */
function reportsOf({ reports }: { readonly reports: readonly unknown[] }, kind: string): unknown[] {
  return reports.filter((report) => typeof report === 'object' && report !== null && kind in report);
}

/** The frames kept by a session that plays this segment alone. */
function keptAlone(codec: Codec, sound: Float32Array, rate: number): KeptFrames {
  const session = playoutSession(codec, new RecordingQueue());
  session.segment(MemoryRing.of(sound), rate, 0, true);
  session.pipeline.end();
  session.run();
  const kept = session.kept.get(0);
  assert.ok(kept !== undefined);
  return kept;
}

test('the payloads of a segment come back as they went into the playout, with their sizes', () => {
  const queue = new RecordingQueue();
  const session = playoutSession(PCMU, queue);
  const sound = loud(16_100);
  session.segment(MemoryRing.of(sound), 16_000, 0, true);
  session.pipeline.end();
  assert.equal(session.run(), 'over');
  assert.deepEqual(queue.payloads, encodedWhole(resampled(sound, 16_000, 8000), encoderOf(PCMU)));
  const { packed, ...sizes } = session.kept.get(0) ?? assert.fail('nothing was kept');
  assert.deepEqual(sizes, { frames: 51, samples: 8050, samplesIn: 16_100, trimmedStartMs: 0 });
  assert.equal(packed.byteLength, 51 * (2 + 160));
  assert.deepEqual(payloadsOf(session.kept.get(0)), queue.payloads);
});

test('a segment apart begins with a frame of its own after whole frames of silence, the pause rounded up', () => {
  const queue = new RecordingQueue();
  const session = playoutSession(PCMU, queue);
  const parts = [loud(1700, 1), loud(900, 2)] as const; // 10.6 frames and 5.6
  for (const part of parts) session.segment(MemoryRing.of(part), 8000, 30, true);
  session.pipeline.end();
  session.run();
  // 30 ms before the first are two frames. 60 samples fill the 11th frame; of the 240 of the pause 180 are
  // left: two frames.
  const silence = [...PCMU.silence(20)];
  const sounds = parts.map((part) => encodedWhole(part, encoderOf(PCMU)));
  assert.deepEqual(queue.payloads, [
    silence,
    silence,
    ...(sounds[0] ?? []),
    silence,
    silence,
    ...(sounds[1] ?? []),
  ]);
  assert.deepEqual(queue.shape, [
    '3 frames',
    segmentStarted(0),
    '10 frames',
    segmentEnded(0),
    '3 frames',
    segmentStarted(1),
    '5 frames',
    segmentEnded(1),
    TRACK_ENDED,
  ]);
  assert.deepEqual(session.reports.slice(2, 4), [
    { started: 1, firstFrame: 15, trimmedStartMs: 0 },
    {
      encoded: {
        index: 1,
        firstFrame: 15,
        frames: 6,
        samplesIn: 900,
        trimmedStartMs: 0,
        startMs: 300,
        endMs: 412.5,
      },
    },
  ]);
});

test('a segment that is not kept begins with a frame of its own after a kept one, and the other way round', () => {
  const queue = new RecordingQueue();
  const session = playoutSession(PCMA, queue);
  const parts = [loud(100, 1), loud(200, 2), loud(300, 3), loud(50, 4)] as const;
  parts.forEach((part, index) => session.segment(MemoryRing.of(part), 8000, 0, index === 1));
  session.pipeline.end();
  session.run();
  const [first, second, third, fourth] = parts;
  assert.deepEqual(queue.payloads, [
    ...encodedWhole(first, encoderOf(PCMA)),
    ...encodedWhole(second, encoderOf(PCMA)),
    ...encodedWhole(joined(third, fourth), encoderOf(PCMA)), // neighbours that may share a frame do
  ]);
  assert.deepEqual([...session.kept.keys()], [1]);
});

test('kept payloads go out in the place of their segment: same frames, marks and reports', () => {
  const script = fc.record({
    codec: fc.constantFrom(OPUS, PCMU, PCMA),
    segments: fc.array(
      fc.record({
        rate: fc.constantFrom(8000, 22_050, 24_000),
        samples: fc.integer({ min: 0, max: 4000 }),
        pauseMs: fc.constantFrom(0, 30, 160),
        manner: fc.constantFrom('kept before', 'to be kept', 'plain'),
      }),
      { minLength: 1, maxLength: 5 },
    ),
    room: fc.integer({ min: 1, max: 4 }),
    turnFrames: fc.integer({ min: 1, max: 7 }),
  });
  fc.assert(
    fc.property(script, ({ codec, segments, room, turnFrames }) => {
      const rendered = new RecordingQueue();
      const reference = playoutSession(codec, rendered);
      const queue = new RecordingQueue(0);
      const session = playoutSession(codec, queue);
      segments.forEach(({ rate, samples, pauseMs, manner }, index) => {
        const sound = loud(samples, index + 1);
        reference.segment(MemoryRing.of(sound), rate, pauseMs, manner !== 'plain');
        if (manner === 'kept before') session.ready(keptAlone(codec, sound, rate), pauseMs);
        else session.segment(MemoryRing.of(sound), rate, pauseMs, manner === 'to be kept');
      });
      reference.pipeline.end();
      reference.run();
      session.pipeline.end();
      while (session.run(turnFrames) === 'waiting') queue.give(room);

      assert.deepEqual(queue.log, rendered.log);
      for (const kind of ['started', 'encoded']) {
        assert.deepEqual(reportsOf(session, kind), reportsOf(reference, kind));
      }
      assert.equal(session.reports.at(-1), 'ended');
      segments.forEach(({ manner }, index) => {
        const kept = session.kept.get(index);
        if (manner === 'to be kept')
          assert.deepEqual(payloadsOf(kept), payloadsOf(reference.kept.get(index)));
        else assert.equal(kept, undefined);
      });
    }),
    { numRuns: 80, seed: 3 },
  );
});

test('the payloads of a segment do not depend on the speech before it', () => {
  for (const codec of [OPUS, PCMU, PCMA]) {
    const sound = loud(7000, 9);
    const alone = payloadsOf(keptAlone(codec, sound, 24_000));
    const session = playoutSession(codec, new RecordingQueue());
    session.segment(MemoryRing.of(loud(5000, 1)), 24_000);
    session.segment(MemoryRing.of(loud(3001, 2)), 22_050, 160, true);
    session.segment(MemoryRing.of(sound), 24_000, 160, true);
    session.pipeline.end();
    session.run();
    assert.deepEqual(payloadsOf(session.kept.get(2)), alone, codec.name);
  }
});

test('a segment that fails or is broken off is not kept', () => {
  const queue = new RecordingQueue();
  const session = playoutSession(PCMU, queue);
  const failing = new MemoryRing();
  failing.write(loud(1700));
  failing.end('ENGINE_FAILED');
  session.segment(failing, 8000, 0, true);
  session.segment(MemoryRing.of(loud(400, 2)), 8000, 160, true);
  session.segment(MemoryRing.of(loud(80_000, 3)), 8000, 160, true);
  session.pipeline.turn(200);
  queue.gone = true;
  assert.equal(session.run(), 'over');
  assert.deepEqual([...session.kept.keys()], [1]);
  assert.deepEqual(payloadsOf(session.kept.get(1)), encodedWhole(loud(400, 2), encoderOf(PCMU)));
});

test('a segment of more than a minute is sent and not kept', () => {
  for (const [ms, isKept] of [
    [60_000, true],
    [60_020, false],
  ] as const) {
    const queue = new RecordingQueue();
    const session = playoutSession(PCMU, queue);
    session.segment(MemoryRing.of(loud(8 * ms)), 8000, 0, true);
    session.pipeline.end();
    assert.equal(session.run(100), 'over');
    assert.equal(queue.payloads.length, ms / 20);
    assert.equal(session.kept.has(0), isKept);
  }
});

test('a full playout holds kept payloads up as it does sound', () => {
  const kept = keptAlone(PCMU, loud(8000), 8000);
  const queue = new RecordingQueue(3);
  const session = playoutSession(PCMU, queue);
  session.ready(kept);
  assert.equal(session.run(), 'waiting');
  assert.deepEqual([queue.payloads.length, queue.waiting.size], [3, 1]);
  queue.give(2);
  session.run();
  assert.equal(queue.payloads.length, 5);
  session.pipeline.stop();
  assert.equal(queue.waiting.size, 0);
});

test('a rest between kept sentences adds nothing where it was heard as silence', () => {
  const kept = keptAlone(PCMU, loud(250), 8000);
  for (const [dry, frames] of [
    [true, 4],
    [false, 2 + 8 + 2],
  ] as const) {
    const queue = new RecordingQueue();
    queue.dry = dry;
    const session = playoutSession(PCMU, queue);
    session.ready(kept, 160);
    session.pipeline.pauseInput();
    session.run();
    const before = queue.payloads.length;
    session.ready(kept, 160);
    session.pipeline.end();
    session.run();
    assert.equal(queue.payloads.length - before + 2, frames);
    assert.equal(queue.rests.length, 1);
  }
});

test('payloads cannot be put into a file', () => {
  for (const give of [
    (session: ReturnType<typeof bytesSession>) => session.ready(keptAlone(PCMU, loud(800), 8000)),
    (session: ReturnType<typeof bytesSession>) => session.segment(MemoryRing.of(loud(800)), 8000, 0, true),
  ]) {
    const session = bytesSession(new RecordingBytes(), 'pcm', 8000);
    give(session);
    assert.equal(session.run(), 'over');
    assert.deepEqual(session.reports, [{ lost: 'WRONG_STATE' }]);
  }
});

test('a collector grows as needed and packs what it was given', () => {
  const collector = new FrameCollector(1000);
  const payloads = Array.from({ length: 1000 }, (_, n) => new Uint8Array((n * 37) % 1276).fill(n));
  for (const payload of payloads) assert.equal(collector.add(payload), true);
  assert.equal(collector.add(new Uint8Array(1)), false);
  const kept = { packed: collector.pack(), frames: 1000, samples: 0, samplesIn: 0, trimmedStartMs: 0 };
  assert.deepEqual(
    payloadsOf(kept),
    payloads.map((payload) => [...payload]),
  );
});
