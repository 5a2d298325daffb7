import assert from 'node:assert/strict';
import { test } from 'node:test';
import { soundShare } from './arrivals.js';

const DUE = { calls: 1, holdMs: 500, packetMs: 20 };

/** Packets of one stream, one every 20 ms but those that are missing. */
function stream(ssrc: number, count: number, missing: (at: number) => boolean = () => false) {
  const all = Array.from({ length: count }, (_, at) => ({
    ssrc,
    timestamp: 160 * at,
    sequence: at,
    bytes: 172,
    atMs: 20 * at,
  }));
  return all.filter(({ sequence }) => !missing(sequence));
}

void test('the share of sound that came is 1 for a call that is whole, however long it lasts', () => {
  assert.equal(soundShare(stream(1, 25), DUE), 1);
  assert.equal(soundShare(stream(1, 40), DUE), 1);
  const early = stream(1, 25).map((packet) => ({ ...packet, atMs: packet.atMs / 2 }));
  assert.equal(soundShare(early, DUE), 1);
});

void test('packets that are missing in a call lower the share, and so do calls without a packet', () => {
  assert.equal(
    soundShare(
      stream(1, 50, (at) => at % 5 === 1),
      { ...DUE, holdMs: 1000 },
    ),
    0.8,
  );
  assert.equal(soundShare(stream(1, 25), { ...DUE, calls: 2 }), 0.5);
  assert.equal(soundShare([...stream(1, 25), ...stream(2, 60)], { ...DUE, calls: 2 }), 1);
  assert.equal(soundShare([], DUE), 0);
});
