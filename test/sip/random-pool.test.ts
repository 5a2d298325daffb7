import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RandomPool } from '../../sip/random-pool.js';

/** Random bytes that count 1, 2, 3, …, so that a repeated byte shows. */
function counting(): { fill: (bytes: Uint8Array) => void; asked: number[] } {
  const asked: number[] = [];
  let next = 0;
  const fill = (bytes: Uint8Array): void => {
    asked.push(bytes.length);
    for (let at = 0; at < bytes.length; at++) bytes[at] = ++next % 251;
  };
  return { fill, asked };
}

test('bytes come in the order of the system, none twice, many for one asking', () => {
  const { fill, asked } = counting();
  const { bytes } = new RandomPool(fill);
  assert.deepEqual([...bytes(3)], [1, 2, 3]);
  assert.deepEqual([...bytes(2)], [4, 5]);
  for (let count = 0; count < 100; count++) bytes(30);
  assert.deepEqual(asked, [4096]);
});

test('what does not fit into the rest of the pool is taken whole from a new one', () => {
  const { fill, asked } = counting();
  const { bytes } = new RandomPool(fill);
  bytes(4090);
  assert.deepEqual(
    [...bytes(8)],
    [...Array(8).keys()].map((n) => (4096 + 1 + n) % 251),
  );
  assert.equal(asked.length, 2);
});

test('more than a pool is asked of the system itself', () => {
  const { fill, asked } = counting();
  const { bytes } = new RandomPool(fill);
  assert.equal(bytes(5000).length, 5000);
  assert.deepEqual(asked, [5000]);
});

test('what was given is the own memory of whoever asked', () => {
  const { bytes } = new RandomPool();
  const first = bytes(16);
  const copy = Buffer.from(first);
  bytes(16).fill(0);
  assert.deepEqual(first, copy);
  assert.notDeepEqual(bytes(16), first);
});
