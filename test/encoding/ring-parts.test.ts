// Segments that share a ring: sentences that one generation speaks.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PCMU } from '../../src/codecs/codec.js';
import type { SegmentEncoded } from '../../src/encoding/line-messages.js';
import { segmentEnded, segmentStarted, TRACK_ENDED } from '../../src/encoding/marks.js';
import { encodedWhole, encoderOf, joined, loud, MemoryRing, playoutLine, RecordingQueue, resampled } from './line-fakes.js'; // prettier-ignore

const RATE = 24_000;
const FIRST = { first: true };
const LATER = { first: false };

function encodedOf(reports: readonly unknown[]): Pick<SegmentEncoded, 'index' | 'samplesIn'>[] {
  return reports.flatMap((report) => {
    if (typeof report !== 'object' || report === null || !('encoded' in report)) return [];
    const { index, samplesIn } = report.encoded as SegmentEncoded;
    return [{ index, samplesIn }];
  });
}

test('the parts of a ring are one sound, each up to its end in the ring', () => {
  const queue = new RecordingQueue();
  const line = playoutLine(PCMU, queue);
  const sound = loud(24_000);
  const ring = MemoryRing.of(sound);
  line.segment(ring, RATE, 0, false, { ...FIRST, endAt: 9_700 });
  line.segment(ring, RATE, 0, false, { ...LATER, endAt: 14_400 });
  line.segment(ring, RATE, 0, false, LATER);
  line.pump.end();
  assert.equal(line.run(), 'over');
  assert.deepEqual(queue.payloads, encodedWhole(resampled(sound, RATE, 8000), encoderOf(PCMU)));
  assert.deepEqual(encodedOf(line.reports), [
    { index: 0, samplesIn: 9_700 },
    { index: 1, samplesIn: 4_700 },
    { index: 2, samplesIn: 9_600 },
  ]);
  assert.deepEqual(queue.shape, [
    '1 frames', segmentStarted(0), '20 frames', segmentEnded(0), segmentStarted(1),
    '9 frames', segmentEnded(1), '1 frames', segmentStarted(2), '19 frames', segmentEnded(2), TRACK_ENDED,
  ]); // prettier-ignore
});

test('silence is cut before the first part and after the last, and nowhere between', () => {
  const queue = new RecordingQueue();
  const line = playoutLine(PCMU, queue, { leadInMs: 0, tailMs: 0 });
  const silence = new Float32Array(4800);
  const [one, two] = [loud(9600, 1), loud(9600, 2)];
  const ring = MemoryRing.of(joined(silence, one, silence, silence, two, silence));
  // The cut is in the middle of the pause.
  line.segment(ring, RATE, 0, false, { ...FIRST, endAt: 19_200 });
  line.segment(ring, RATE, 0, false, LATER);
  line.pump.end();
  line.run();
  const heard = joined(one, silence, silence, two);
  assert.deepEqual(queue.payloads, encodedWhole(resampled(heard, RATE, 8000), encoderOf(PCMU)));
});

test('where a part ends may be told later, and better; what was read beyond stays in it', () => {
  const line = playoutLine(PCMU, new RecordingQueue());
  const ring = new MemoryRing();
  line.segment(ring, RATE, 0, false, FIRST);
  ring.write(loud(4800));
  assert.equal(line.run(), 'waiting');
  line.pump.cut(0, 2400);
  line.segment(ring, RATE, 0, false, { ...LATER, endAt: 48_000 });
  line.segment(ring, RATE, 0, false, LATER);
  line.pump.cut(1, 9_600);
  assert.equal(line.run(), 'waiting');
  ring.write(loud(12_000));
  ring.end();
  line.pump.cut(0, 9_000); // it has ended
  line.pump.cut(7, 1); // there is none
  line.pump.end();
  assert.equal(line.run(), 'over');
  assert.deepEqual(encodedOf(line.reports), [
    { index: 0, samplesIn: 4800 },
    { index: 1, samplesIn: 4800 },
    { index: 2, samplesIn: 7200 },
  ]);
});

test('a part that its text lets wait is nobody\u2019s delay, and its sound goes on without a seam', () => {
  const queue = new RecordingQueue();
  const line = playoutLine(PCMU, queue);
  const ring = new MemoryRing();
  const sound = loud(12_100);
  line.segment(ring, RATE, 0, false, FIRST);
  ring.write(sound.subarray(0, 4_900));
  assert.equal(line.run(), 'waiting');
  assert.deepEqual(queue.rests, []);
  line.pump.pauseInput();
  assert.equal(line.run(), 'waiting');
  assert.equal(queue.rests.length, 1);
  ring.write(sound.subarray(4_900));
  ring.end();
  line.pump.end();
  assert.equal(line.run(), 'over');
  assert.equal(queue.rests.length, 1);
  assert.deepEqual(queue.payloads, encodedWhole(resampled(sound, RATE, 8000), encoderOf(PCMU)));
});

test('an error of the ring is that of the part that is read, and the others find it aborted', () => {
  const line = playoutLine(PCMU, new RecordingQueue());
  const ring = new MemoryRing();
  ring.write(loud(9600));
  ring.end('ENGINE_FAILED');
  line.segment(ring, RATE, 0, false, { ...FIRST, endAt: 4800 });
  line.segment(ring, RATE, 0, false, { ...LATER, endAt: 14_400 });
  line.segment(ring, RATE, 0, false, LATER);
  line.run();
  assert.deepEqual(encodedOf(line.reports), [{ index: 0, samplesIn: 4800 }]);
  assert.deepEqual(
    line.reports.filter((report) => typeof report === 'object' && report !== null && 'failed' in report),
    [{ failed: 1, code: 'ENGINE_FAILED' }, { failed: 2, code: 'ABORTED' }],
  ); // prettier-ignore
});
