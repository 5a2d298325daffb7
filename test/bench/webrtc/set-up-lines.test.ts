import assert from 'node:assert/strict';
import { test } from 'node:test';
import { medianOf } from './set-up-lines.js';

test('rounds become one row: the median of each number, the sum of the calls, the words of the first', () => {
  const round = (calls: number, failed: number, ready: number) => ({
    server: 'Parley',
    calls,
    failed,
    'ready p50': ready,
    'audible p50': '–',
  });
  assert.deepEqual(medianOf([round(10, 0, 30), round(10, 1, 10), round(9, 0, 20)]), {
    server: 'Parley',
    calls: 29,
    failed: 1,
    'ready p50': 20,
    'audible p50': '–',
  });
});
