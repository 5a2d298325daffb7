import assert from 'node:assert/strict';
import { test } from 'node:test';
import { growthOf } from './turnover-lines.js';

const row = (calls: number, threads: number, heapMb: number) => ({
  calls,
  threads,
  descriptors: 30,
  'V8 heap MB': heapMb,
  'native MB': 50,
  'RSS MB': 150,
});

test('a server is flat if no count grew and memory grew by a tenth at most since the half', () => {
  assert.deepEqual(growthOf([row(0, 16, 20), row(1000, 17, 30), row(2000, 16, 33)]), []);
  assert.deepEqual(growthOf([row(0, 16, 20), row(1000, 16, 30), row(2000, 17, 34)]), [
    'threads: 16 became 17',
    'V8 heap MB: 30 became 34',
  ]);
});
