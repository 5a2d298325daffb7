import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../fakes/properties.js';
import { Trimmer, type TrimOptions } from '../../src/audio/trimmer.js';

const RATE = 1000; // one sample a millisecond
const OPTIONS: TrimOptions = { thresholdDb: -40, leadInMs: 4, tailMs: 6, maxHoldMs: 50 };
const SOUND = 0.5;
const HISS = 0.001; // -60 dBFS

function segment(...parts: readonly (readonly [value: number, samples: number])[]): Float32Array {
  return Float32Array.from(parts.flatMap(([value, samples]) => Array<number>(samples).fill(value)));
}

function trim(
  input: Float32Array,
  chunks: readonly number[] = [],
  trimmer = new Trimmer(RATE, 100, OPTIONS),
) {
  const kept: number[] = [];
  const out = new Float32Array(7);
  let taken = 0;
  const take = (length: number) => {
    const chunk = input.subarray(taken, taken + length);
    trimmer.write(chunk, chunk.length);
    taken += chunk.length;
    for (;;) {
      const count = trimmer.read(out, out.length);
      if (count === 0) break;
      kept.push(...out.subarray(0, count));
    }
  };
  chunks.forEach(take);
  while (taken < input.length) take(100);
  const { trimmedStart, sounded } = trimmer;
  trimmer.reset();
  return { kept: Float32Array.from(kept), trimmedStart, sounded };
}

test('silence around a sound is cut to the lead-in and the tail', () => {
  const { kept, trimmedStart } = trim(segment([HISS, 30], [SOUND, 10], [HISS, 30]));
  assert.deepEqual(kept, segment([HISS, 4], [SOUND, 10], [HISS, 6]));
  assert.equal(trimmedStart, 26);
});

test('silence shorter than lead-in and tail stays as it is', () => {
  const input = segment([HISS, 2], [SOUND, 10], [HISS, 3]);
  const { kept, trimmedStart } = trim(input);
  assert.deepEqual(kept, input);
  assert.equal(trimmedStart, 0);
});

test('a pause inside is kept whole, sample for sample', () => {
  const input = segment([SOUND, 3], [HISS, 20], [0, 20], [-SOUND, 3]);
  assert.deepEqual(trim(input).kept, input);
});

test('a pause is held back until sound follows, but never its tail', () => {
  const trimmer = new Trimmer(RATE, 100, OPTIONS);
  trimmer.write(segment([SOUND, 5], [HISS, 20]), 25);
  assert.equal(trimmer.readable, 11);
  trimmer.read(new Float32Array(11), 11);
  trimmer.write(segment([HISS, 10]), 10);
  assert.equal(trimmer.readable, 0);
  trimmer.write(segment([SOUND, 1]), 1);
  assert.equal(trimmer.readable, 25 - 11 + 10 + 1);
});

test('a silence longer than may be held is let through as it lasts', () => {
  const input = segment([SOUND, 5], [HISS, 95], [HISS, 60]);
  const { kept } = trim(input);
  assert.equal(kept.length, 160 - 50);
});

test('a wholly silent segment comes to nothing and says so', () => {
  const { kept, trimmedStart, sounded } = trim(segment([HISS, 500]));
  assert.equal(kept.length, 0);
  assert.equal(trimmedStart, 500);
  assert.equal(sounded, false);
});

test('an empty segment comes to nothing', () => {
  assert.deepEqual(trim(new Float32Array(0)), { kept: new Float32Array(0), trimmedStart: 0, sounded: false });
});

test('a single loud sample at either edge is sound, whatever its sign', () => {
  assert.deepEqual(trim(segment([-SOUND, 1], [0, 40])).kept, segment([-SOUND, 1], [0, 6]));
  assert.deepEqual(trim(segment([0, 40], [SOUND, 1])).kept, segment([0, 4], [SOUND, 1]));
});

test('the threshold itself is sound and what is just below is not', () => {
  assert.equal(trim(segment([0.0100001, 1])).sounded, true);
  assert.equal(trim(segment([0.0099999, 1])).sounded, false);
});

test('a trimmer that was reset treats the next segment like a new one', () => {
  const trimmer = new Trimmer(RATE, 100, OPTIONS);
  const input = segment([HISS, 30], [SOUND, 10], [HISS, 30]);
  const first = trim(input, [], trimmer);
  assert.deepEqual(trim(input, [], trimmer), first);
});

test('any chunking keeps the same samples, and memory stays within its bound', () => {
  const runs = fc.tuple(fc.constantFrom(0, HISS, -HISS, SOUND, -SOUND), fc.integer({ min: 0, max: 60 }));
  fc.assert(
    fc.property(
      fc.array(runs, { maxLength: 8 }),
      fc.array(fc.integer({ min: 0, max: 100 }), { maxLength: 8 }),
      (parts, chunks) => {
        const input = segment(...parts);
        const options = { ...OPTIONS, maxHoldMs: 10_000 };
        const whole = trim(input, [], new Trimmer(RATE, 100, options));
        assert.deepEqual(trim(input, chunks, new Trimmer(RATE, 100, options)), whole);
        trim(input, chunks);
      },
    ),
    { numRuns: 500, seed: 3 },
  );
});
