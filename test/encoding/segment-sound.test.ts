// Segments at their own speed and loudness, and segments that share a ring: sentences that one generation
// speaks.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PCMU } from '../../src/codecs/codec.js';
import type { SegmentEncoded } from '../../src/encoding/encoder-messages.js';
import { applyGain } from '../../src/encoding/segment-sound.js';
import { segmentEnded, segmentStarted, TRACK_ENDED } from '../../src/encoding/marks.js';
import { fitTone, rms, tone } from '../audio/tones.js';
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

const RATE = 16_000;

interface Segment {
  readonly sound: Float32Array;
  readonly pauseMs?: number;
  readonly speed?: number;
  readonly gain?: number;
}

function rendered(segments: readonly Segment[], sessionSpeed = 1): Float32Array {
  const ring = new RecordingBytes();
  const session = bytesSession(ring, 'pcm', RATE, undefined, sessionSpeed);
  for (const { sound, pauseMs = 0, ...options } of segments) {
    session.segment(MemoryRing.of(sound), RATE, pauseMs, false, undefined, options);
  }
  session.pipeline.end();
  assert.equal(session.run(), 'over');
  return Float32Array.from(new Int16Array(Uint8Array.from(ring.bytes).buffer), (sample) => sample / 32_768);
}

test('a segment may be softer than its neighbours, to the sample', () => {
  const [first, second] = [loud(1600, 1), loud(1600, 2)];
  const sound = rendered([{ sound: first }, { sound: second, gain: 0.25 }, { sound: first }]);
  assert.equal(sound.length, 4800);
  const level = (from: number) => rms(sound.subarray(from + 100, from + 1500));
  assert.ok(Math.abs(level(1600) / rms(second.subarray(100, 1500)) - 0.25) < 0.01);
  assert.ok(Math.abs(level(3200) / level(0) - 1) < 0.01);
});

test('silence is trimmed by the level at which it was spoken, however loud it is played', () => {
  const sound = joined(new Float32Array(RATE).fill(0.001), tone(300, RATE, RATE, 0.5));
  assert.equal(rendered([{ sound, gain: 4 }]).length, rendered([{ sound }]).length);
});

test('a segment may be faster or slower than its neighbours, and lasts accordingly', () => {
  const sound = tone(200, RATE, RATE, 0.5);
  assert.equal(rendered([{ sound, speed: 2 }]).length, RATE / 2);
  assert.equal(rendered([{ sound, speed: 0.5 }]).length, RATE * 2);
  assert.equal(rendered([{ sound }, { sound, speed: 2 }, { sound }]).length, RATE * 2.5);
});

test('the neighbours of a faster segment are the same to the sample', () => {
  const [first, last] = [loud(3200, 1), loud(3200, 2)];
  const plain = rendered([{ sound: first }]);
  const sound = rendered([
    { sound: first },
    { sound: tone(200, RATE, RATE, 0.5), speed: 2, pauseMs: 50 },
    { sound: last, pauseMs: 50 },
  ]);
  assert.deepEqual(sound.subarray(0, 3200), plain);
  assert.deepEqual(sound.subarray(-3200), rendered([{ sound: last }]));
});

test("the speed of a segment comes on top of the session's, within what the stretch can do", () => {
  const sound = tone(200, RATE, RATE, 0.5);
  assert.equal(rendered([{ sound, speed: 2 }], 1.5).length, Math.round(RATE / 3));
  assert.equal(rendered([{ sound, speed: 4 }], 2).length, RATE / 4);
  assert.equal(rendered([{ sound, speed: 0.5 }], 2).length, RATE);
});

test('a pause before a faster segment is as long as it is before any other', () => {
  const sound = tone(200, RATE, RATE, 0.5);
  const [with_, without] = [
    rendered([{ sound }, { sound, speed: 2, pauseMs: 500 }]),
    rendered([{ sound }, { sound, speed: 2 }]),
  ];
  assert.equal(with_.length - without.length, RATE / 2);
});

test('a segment without sound of its own ends a session with its pause', () => {
  const sound = rendered([{ sound: loud(1600) }, { sound: new Float32Array(0), pauseMs: 250 }]);
  assert.equal(sound.length, 1600 + 4000);
  assert.ok(sound.subarray(1600).every((sample) => sample === 0));
});

test('a kept segment is kept as it sounds: at its speed and loudness', () => {
  const queue = new RecordingQueue();
  const session = playoutSession(PCMU, queue);
  const sound = tone(200, RATE, RATE, 0.5);
  session.segment(MemoryRing.of(sound), RATE, 0, true, undefined, { speed: 2, gain: 0.5 });
  session.pipeline.end();
  session.run();
  const kept = session.kept.get(0);
  assert.equal(kept?.frames, 25);
  assert.equal(kept.samples, resampled(sound, RATE, 8000).length / 2);
});

function after(gain: number, ...samples: number[]): number[] {
  const changed = Float32Array.from(samples);
  applyGain(changed, changed.length, gain);
  return [...changed];
}

test('a gain up to one is a factor of every sample', () => {
  assert.deepEqual(after(0.5, 1, -0.5, 0), [0.5, -0.25, 0]);
  assert.deepEqual(after(0, 1, -0.5), [0, -0]);
  assert.deepEqual(after(1, 0.3), [Math.fround(0.3)]);
});

test('a gain above one is a factor of what stays well below full scale', () => {
  assert.deepEqual(after(2, 0.25, -0.125), [0.5, -0.25]);
});

test('samples above full scale are compressed below it, and louder stays louder', () => {
  const [a = 0, b = 0, c = 0, d = 0] = after(4, 0.2, 0.25, 0.3, 1);
  assert.ok(a >= 0.8 - 1e-6 && a < b && b < c && c <= d && d <= 1);
  assert.deepEqual(after(4, -0.3), [-c]);
});

test('only as many samples as are stated are changed', () => {
  const samples = Float32Array.of(1, 1);
  applyGain(samples, 1, 0.5);
  assert.deepEqual([...samples], [0.5, 1]);
});

test('a tone that is made louder within full scale stays a pure tone', () => {
  const samples = tone(440, 16_000, 1600, 0.3);
  applyGain(samples, samples.length, 2);
  const { amplitude, snrDb } = fitTone(samples, 440, 16_000);
  assert.ok(Math.abs(amplitude - 0.6) < 1e-4);
  assert.ok(snrDb > 100);
});

const RING_RATE = 24_000;
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
  const session = playoutSession(PCMU, queue);
  const sound = loud(24_000);
  const ring = MemoryRing.of(sound);
  session.segment(ring, RING_RATE, 0, false, { ...FIRST, endAt: 9_700 });
  session.segment(ring, RING_RATE, 0, false, { ...LATER, endAt: 14_400 });
  session.segment(ring, RING_RATE, 0, false, LATER);
  session.pipeline.end();
  assert.equal(session.run(), 'over');
  assert.deepEqual(queue.payloads, encodedWhole(resampled(sound, RING_RATE, 8000), encoderOf(PCMU)));
  assert.deepEqual(encodedOf(session.reports), [
    { index: 0, samplesIn: 9_700 },
    { index: 1, samplesIn: 4_700 },
    { index: 2, samplesIn: 9_600 },
  ]);
  assert.deepEqual(queue.shape, [
    '1 frames',
    segmentStarted(0),
    '20 frames',
    segmentEnded(0),
    segmentStarted(1),
    '9 frames',
    segmentEnded(1),
    '1 frames',
    segmentStarted(2),
    '19 frames',
    segmentEnded(2),
    TRACK_ENDED,
  ]);
});

test('silence is cut before the first part and after the last, and nowhere between', () => {
  const queue = new RecordingQueue();
  const session = playoutSession(PCMU, queue, { leadInMs: 0, tailMs: 0 });
  const silence = new Float32Array(4800);
  const [one, two] = [loud(9600, 1), loud(9600, 2)];
  const ring = MemoryRing.of(joined(silence, one, silence, silence, two, silence));
  // The cut is in the middle of the pause.
  session.segment(ring, RING_RATE, 0, false, { ...FIRST, endAt: 19_200 });
  session.segment(ring, RING_RATE, 0, false, LATER);
  session.pipeline.end();
  session.run();
  const heard = joined(one, silence, silence, two);
  assert.deepEqual(queue.payloads, encodedWhole(resampled(heard, RING_RATE, 8000), encoderOf(PCMU)));
});

test('the end of a part may be set and corrected later; samples read beyond it stay in the part', () => {
  const session = playoutSession(PCMU, new RecordingQueue());
  const ring = new MemoryRing();
  session.segment(ring, RING_RATE, 0, false, FIRST);
  ring.write(loud(4800));
  assert.equal(session.run(), 'waiting');
  session.pipeline.cut(0, 2400);
  session.segment(ring, RING_RATE, 0, false, { ...LATER, endAt: 48_000 });
  session.segment(ring, RING_RATE, 0, false, LATER);
  session.pipeline.cut(1, 9_600);
  assert.equal(session.run(), 'waiting');
  ring.write(loud(12_000));
  ring.end();
  session.pipeline.cut(0, 9_000); // it has ended
  session.pipeline.cut(7, 1); // there is none
  session.pipeline.end();
  assert.equal(session.run(), 'over');
  assert.deepEqual(encodedOf(session.reports), [
    { index: 0, samplesIn: 4800 },
    { index: 1, samplesIn: 4800 },
    { index: 2, samplesIn: 7200 },
  ]);
});

test('a part whose text pauses causes no underrun, and its sound goes on without a seam', () => {
  const queue = new RecordingQueue();
  const session = playoutSession(PCMU, queue);
  const ring = new MemoryRing();
  const sound = loud(12_100);
  session.segment(ring, RING_RATE, 0, false, FIRST);
  ring.write(sound.subarray(0, 4_900));
  assert.equal(session.run(), 'waiting');
  assert.deepEqual(queue.rests, []);
  session.pipeline.pauseInput();
  assert.equal(session.run(), 'waiting');
  assert.equal(queue.rests.length, 1);
  ring.write(sound.subarray(4_900));
  ring.end();
  session.pipeline.end();
  assert.equal(session.run(), 'over');
  assert.equal(queue.rests.length, 1);
  assert.deepEqual(queue.payloads, encodedWhole(resampled(sound, RING_RATE, 8000), encoderOf(PCMU)));
});

test('an error of the ring is that of the part that is read, and the others find it aborted', () => {
  const session = playoutSession(PCMU, new RecordingQueue());
  const ring = new MemoryRing();
  ring.write(loud(9600));
  ring.end('ENGINE_FAILED');
  session.segment(ring, RING_RATE, 0, false, { ...FIRST, endAt: 4800 });
  session.segment(ring, RING_RATE, 0, false, { ...LATER, endAt: 14_400 });
  session.segment(ring, RING_RATE, 0, false, LATER);
  session.run();
  assert.deepEqual(encodedOf(session.reports), [{ index: 0, samplesIn: 4800 }]);
  assert.deepEqual(
    session.reports.filter((report) => typeof report === 'object' && report !== null && 'failed' in report),
    [
      { failed: 1, code: 'ENGINE_FAILED' },
      { failed: 2, code: 'ABORTED' },
    ],
  );
});
