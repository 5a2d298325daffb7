import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../fakes/properties.js';
import { PauseFinder } from '../../src/audio/pause-finder.js';

const RATE = 8000;
const VOICE = 0.4;
const HISS = 0.004; // 40 dB below the voice
const SILENCE = 0;

type Part = readonly [level: number, ms: number];

/** Samples of the given levels, with alternating signs. */
function soundOf(parts: readonly Part[]): Float32Array {
  const levels = parts.flatMap(([level, ms]) => Array<number>((ms * RATE) / 1000).fill(level));
  return Float32Array.from(levels, (level, index) => (index % 2 === 0 ? level : -level));
}

/** The pauses of the sound as [start, end] in milliseconds, found in chunks of these lengths in turn. */
function pausesOf(parts: readonly Part[], chunks: readonly number[] = [480]): (readonly [number, number])[] {
  const sound = soundOf(parts);
  const found: (readonly [number, number])[] = [];
  const finder = new PauseFinder(RATE, (startMs, endMs) => found.push([startMs, endMs]));
  for (let taken = 0, turn = 0; taken < sound.length; turn++) {
    const chunk = sound.subarray(taken, taken + (chunks[turn % chunks.length] ?? 480));
    finder.add(chunk, chunk.length);
    taken += chunk.length;
  }
  finder.end();
  return found;
}

test('a silence of 80 ms within the sound is a pause, a shorter one is not', () => {
  const parts: Part[] = [
    [VOICE, 300],
    [SILENCE, 80],
    [VOICE, 300],
    [SILENCE, 70],
    [VOICE, 300],
  ];
  assert.deepEqual(pausesOf(parts), [[300, 380]]);
});

test('silence at the beginning and at the end counts however short it is', () => {
  const parts: Part[] = [
    [SILENCE, 20],
    [VOICE, 300],
    [SILENCE, 30],
  ];
  assert.deepEqual(pausesOf(parts), [
    [0, 20],
    [320, 350],
  ]);
});

test('noise between the words is a pause if it is much quieter than the loudest sound before it', () => {
  assert.deepEqual(
    pausesOf([
      [VOICE, 300],
      [HISS, 200],
      [VOICE, 100],
    ]),
    [[300, 500]],
  );
  assert.deepEqual(
    pausesOf([
      [10 * HISS, 300],
      [HISS, 200],
      [10 * HISS, 100],
    ]),
    [],
    'of a quiet voice',
  );
});

test('only the samples that were counted are read, and silence alone is one pause', () => {
  const found: number[] = [];
  const finder = new PauseFinder(RATE, (startMs, endMs) => found.push(startMs, endMs));
  finder.add(
    soundOf([
      [SILENCE, 60],
      [VOICE, 100],
    ]),
    (60 * RATE) / 1000,
  );
  finder.end();
  assert.deepEqual(found, [0, 60]);
});

test('the pauses do not depend on how the sound is cut into chunks', () => {
  const parts: Part[] = [
    [SILENCE, 40],
    [VOICE, 155],
    [HISS, 210],
    [VOICE, 300],
    [SILENCE, 125],
  ];
  const whole = pausesOf(parts);
  assert.equal(whole.length, 3);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 480 }), { minLength: 1, maxLength: 8 }), (chunks) =>
      assert.deepEqual(pausesOf(parts, chunks), whole),
    ),
    { numRuns: 50 },
  );
});
