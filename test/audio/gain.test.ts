import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyGain } from '../../src/audio/gain.js';
import { fitTone, tone } from './tones.js';

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
