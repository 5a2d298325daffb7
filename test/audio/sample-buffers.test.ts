import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../fakes/properties.js';
import { SampleQueue, SampleWindow } from '../../src/audio/sample-buffers.js';

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

const held = ({ samples, start, end }: SampleWindow) => [...samples.subarray(0, end - start)];

test('what is appended is found under its position in the stream, whatever was dropped before it', () => {
  const window = new SampleWindow(5);
  window.append(Float32Array.of(9, 1, 2, 3), 1, 3);
  window.forget(2);
  window.append(Float32Array.of(4, 5, 6, 7), 0, 4);
  assert.deepEqual([window.start, window.end, held(window)], [2, 7, [3, 4, 5, 6, 7]]);
  window.forget(1);
  assert.equal(window.start, 2, 'what is gone already is not dropped again');
  window.forget(100);
  assert.deepEqual([window.start, window.end], [7, 7], 'what has not come yet is not dropped');
});

test('a new stream begins with as many zeros as its filter looks back', () => {
  const window = new SampleWindow(4);
  window.append(Float32Array.of(1, 2, 3), 0, 3);
  window.reset(2);
  assert.deepEqual([window.start, window.end, held(window)], [-2, 0, [0, 0]]);
  window.reset();
  assert.ok(Object.is(window.start, 0), 'a whole number, not minus zero');
});

test('behind the last sample there is silence where a filter asks for it', () => {
  const window = new SampleWindow(4);
  window.append(Float32Array.of(1, 2, 3), 0, 3);
  window.forget(2);
  window.blankRest();
  assert.deepEqual([...window.samples], [3, 0, 0, 0]);
  window.appendZeros(1);
  assert.deepEqual([window.end, held(window)], [4, [3, 0]]);
});
