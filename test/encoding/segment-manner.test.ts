import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PCMU } from '../../src/codecs/codec.js';
import { applyGain } from '../../src/encoding/line-sound.js';
import { fitTone, rms, tone } from '../audio/tones.js';
import {
  bytesLine,
  joined,
  loud,
  MemoryRing,
  playoutLine,
  RecordingBytes,
  RecordingQueue,
  resampled,
} from './line-fakes.js';

const RATE = 16_000;

interface Segment {
  readonly sound: Float32Array;
  readonly pauseMs?: number;
  readonly speed?: number;
  readonly gain?: number;
}

function rendered(segments: readonly Segment[], lineSpeed = 1): Float32Array {
  const ring = new RecordingBytes();
  const line = bytesLine(ring, 'pcm', RATE, undefined, lineSpeed);
  for (const { sound, pauseMs = 0, ...manner } of segments) {
    line.segment(MemoryRing.of(sound), RATE, pauseMs, false, undefined, manner);
  }
  line.pump.end();
  assert.equal(line.run(), 'over');
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

test('what stands beside a faster segment is the same to the sample', () => {
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

test("the speed of a segment comes on top of the line's, within what the stretch can do", () => {
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

test('a segment without sound of its own ends a line with its pause', () => {
  const sound = rendered([{ sound: loud(1600) }, { sound: new Float32Array(0), pauseMs: 250 }]);
  assert.equal(sound.length, 1600 + 4000);
  assert.ok(sound.subarray(1600).every((sample) => sample === 0));
});

test('a kept segment is kept as it sounds: at its speed and loudness', () => {
  const queue = new RecordingQueue();
  const line = playoutLine(PCMU, queue);
  const sound = tone(200, RATE, RATE, 0.5);
  line.segment(MemoryRing.of(sound), RATE, 0, true, undefined, { speed: 2, gain: 0.5 });
  line.pump.end();
  line.run();
  const kept = line.kept.get(0);
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

test('what would pass full scale comes near it and never reaches it, and louder stays louder', () => {
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
