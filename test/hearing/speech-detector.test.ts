import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SpeechDetector, type SpeechChange } from '../../src/hearing/speech-detector.js';

/** Changes in a row of windows of 32 ms, the first of which begins at 0. */
function changesOf(
  probabilities: readonly number[],
  sensitivity: 'high' | 'medium' | 'low' = 'high',
  { isLoud = false } = {},
): SpeechChange[] {
  const detector = new SpeechDetector(sensitivity);
  return probabilities.flatMap(
    (probability, n) => detector.window(probability, { endMs: 32 * (n + 1), isLoud }) ?? [],
  );
}

const many = (count: number, probability: number) => Array.from({ length: count }, () => probability);

test('two windows of probable speech begin it, at the start of the first', () => {
  assert.deepEqual(changesOf([0, 0, 0.6, 0.6]), [{ type: 'started', atMs: 64 }]);
  assert.deepEqual(changesOf([0, 0, 0.6, 0.1, 0.6, 0.1]), []);
});

test('one window of very probable speech begins it alone', () => {
  assert.deepEqual(changesOf([0, 0, 0.9]), [{ type: 'started', atMs: 64 }]);
});

test('a loud window before it makes one window of probable speech enough', () => {
  const loud = { isLoud: true };
  assert.deepEqual(changesOf([0.1, 0.6], 'high', loud), [{ type: 'started', atMs: 0 }]);
  assert.deepEqual(changesOf([0.1, 0.65, 0.65], 'medium', loud), []);
});

test('lower sensitivities need more windows and higher probabilities', () => {
  assert.deepEqual(changesOf(many(2, 0.99), 'medium'), []);
  assert.deepEqual(changesOf(many(3, 0.65), 'medium'), [{ type: 'started', atMs: 0 }]);
  assert.deepEqual(changesOf(many(9, 0.7), 'low'), []);
  assert.deepEqual(changesOf(many(5, 0.8), 'low'), [{ type: 'started', atMs: 0 }]);
});

test('windows above the noise floor just before belong to the speech, three at most', () => {
  assert.deepEqual(changesOf([0, 0.2, 0.3, 0.9], 'high', { isLoud: true }), [{ type: 'started', atMs: 0 }]);
  assert.deepEqual(changesOf([...many(10, 0.1), 0.9], 'high', { isLoud: true }), [
    { type: 'started', atMs: 224 },
  ]);
});

test('speech ends after 160 ms without a voice; its end is that of the last window with one', () => {
  const spoken = many(10, 0.9);
  assert.deepEqual(changesOf([...spoken, ...many(4, 0)]), [{ type: 'started', atMs: 0 }]);
  assert.deepEqual(changesOf([...spoken, ...many(5, 0)]), [
    { type: 'started', atMs: 0 },
    { type: 'stopped', atMs: 320, durationMs: 320 },
  ]);
});

test('a gap between words, and windows between the thresholds, do not end speech', () => {
  const changes = changesOf([...many(5, 0.9), ...many(4, 0), 0.4, ...many(4, 0), 0.4, ...many(5, 0)]);
  assert.deepEqual(changes.at(-1), { type: 'stopped', atMs: 480, durationMs: 480 });
  assert.equal(changes.length, 2);
});
