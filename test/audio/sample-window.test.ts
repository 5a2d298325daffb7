import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SampleWindow } from '../../src/audio/sample-window.js';

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
