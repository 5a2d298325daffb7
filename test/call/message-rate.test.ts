import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MessageRate } from '../../src/call/message-rate.js';

test('a burst passes, then messages at the rate', () => {
  const rate = new MessageRate({ perSecond: 10, burst: 3 }, 1000);
  assert.deepEqual(
    [1, 2, 3, 4].map(() => rate.admits(1000)),
    [true, true, true, false],
  );
  assert.equal(rate.waitMs(1000), 100);
  assert.equal(rate.admits(1099), false);
  assert.equal(rate.admits(1100), true);
  assert.equal(rate.waitMs(1130), 70);
});

test('a rest fills it to the burst and no further', () => {
  const rate = new MessageRate({ perSecond: 1000, burst: 2 }, 0);
  assert.deepEqual(
    [1, 2, 3].map(() => rate.admits(60_000)),
    [true, true, false],
  );
});

test('a message counts what it costs; one above every burst waits for a full bucket and leaves a debt', () => {
  const rate = new MessageRate({ perSecond: 100, burst: 50 }, 0);
  assert.equal(rate.admits(0, 40), true);
  assert.equal(rate.waitMs(0, 30), 200);
  assert.equal(rate.admits(0, 10), true);
  assert.equal(rate.waitMs(0, 150), 500);
  assert.equal(rate.admits(500, 150), true);
  assert.equal(rate.waitMs(500), 1010);
});

test('whoever waits as long as told is admitted, at any rate', () => {
  for (const perSecond of [3, 7, 333, 1e6 / 3]) {
    const rate = new MessageRate({ perSecond, burst: 1 }, 0);
    for (let nowMs = 0, n = 0; n < 1000; n++) {
      nowMs += rate.waitMs(nowMs);
      assert.equal(rate.admits(nowMs), true);
    }
  }
});
