import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BusyShare } from '../../src/engines/qwen3/qwen3.js';

test('a share is that of the last seconds, however often it is asked for', () => {
  const share = new BusyShare();
  assert.equal(share.at(1000, 300), 0);
  assert.equal(share.at(3000, 1300), 0.5);
  for (let ms = 3000; ms <= 11_000; ms += 100) share.at(ms, 1300 + (ms - 3000));
  assert.equal(share.at(11_000, 9300), 1);
  for (let ms = 11_000; ms <= 23_000; ms += 100) share.at(ms, 9300);
  assert.equal(share.at(23_000, 9300), 0);
});

test('asked once a minute it is that of the minute', () => {
  const share = new BusyShare();
  share.at(0, 0);
  assert.equal(share.at(60_000, 15_000), 0.25);
  assert.equal(share.at(120_000, 60_000), 0.75);
});

test('an engine that is loaded anew counts from nothing', () => {
  const share = new BusyShare();
  share.at(0, 0);
  share.at(10_000, 9000);
  assert.equal(share.at(11_000, 100), 0);
  assert.equal(share.at(12_000, 600), 0.5);
});

test('no share is more than all', () => {
  const share = new BusyShare();
  share.at(0, 0);
  assert.equal(share.at(100, 130), 1); // a round that began before is told when it ends
});
