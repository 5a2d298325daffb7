import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { SampleQueue } from '../../src/audio/sample-queue.js';

test('samples come out in order through any mix of writes, reads and drops', () => {
  const step = fc.tuple(fc.constantFrom('write', 'read', 'drop'), fc.integer({ min: 0, max: 900 }));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const queue = new SampleQueue(40_000);
      const model: number[] = [];
      let next = 0;
      for (const [action, count] of steps) {
        if (action === 'write') {
          const input = Float32Array.from({ length: count }, () => next++);
          queue.write(input, count);
          model.push(...input);
        } else if (action === 'drop') {
          queue.drop(count);
          model.splice(0, count);
        } else {
          const output = new Float32Array(count + 1);
          assert.equal(queue.read(output, count, 1), Math.min(count, model.length));
          const expected = model.splice(0, count);
          assert.deepEqual([...output.subarray(1, 1 + expected.length)], expected);
        }
        assert.equal(queue.length, model.length);
      }
    }),
    { seed: 11 },
  );
});

test('writing beyond the limit is refused by name', () => {
  const queue = new SampleQueue(10);
  queue.write(new Float32Array(10), 10);
  assert.throws(() => queue.write(new Float32Array(1), 1), { code: 'QUEUE_FULL' });
  queue.drop(1);
  queue.write(new Float32Array(1), 1);
  assert.equal(queue.length, 10);
});
