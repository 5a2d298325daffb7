import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SocketStats } from '../../src/media/media-addon.js';
import { mosOf, ratingOf, remoteReception } from '../../src/media/quality.js';

const GOOD = { codec: 'PCMU', frameMs: 20, rttMs: 20, jitterMs: 1, loss: 0 } as const;

test('the score of a rating is that of G.107, annex B', () => {
  for (const [rating, mos] of [
    [0, 1],
    [50, 2.58],
    [60, 3.1],
    [70, 3.6],
    [80, 4.02],
    [90, 4.34],
    [93.2, 4.41],
    [100, 4.5],
  ]) {
    assert.ok(Math.abs(mosOf(rating ?? 0) - (mos ?? 0)) < 0.01, `R ${rating}: ${mosOf(rating ?? 0)}`);
  }
});

test('an undisturbed call is as good as a telephone call can be', () => {
  assert.ok(ratingOf(GOOD) > 92);
  assert.ok(ratingOf({ ...GOOD, rttMs: null }) > 91);
});

test('loss, delay and jitter each make it worse, and none makes it better than nothing', () => {
  const worse = [
    { ...GOOD, loss: 0.01 },
    { ...GOOD, loss: 0.05 },
    { ...GOOD, loss: 0.2 },
    { ...GOOD, loss: 0.2, rttMs: 300 },
    { ...GOOD, loss: 0.2, rttMs: 300, jitterMs: 60 },
    { ...GOOD, loss: 1, rttMs: 5000, jitterMs: 500 },
  ].map(ratingOf);
  assert.deepEqual(
    worse,
    worse.toSorted((a, b) => b - a),
  );
  assert.equal(new Set(worse).size, worse.length);
  assert.equal(worse.at(-1), 0);
  // 5 % random loss of G.711 with concealment: Ie,eff = 95 * 5 / 30.1.
  assert.ok(Math.abs(ratingOf(GOOD) - (worse[1] ?? 0) - 15.78) < 0.01);
});

const REPORTED = {
  remoteReports: 2,
  remoteLost: 50,
  remoteFractionLost: 0.1,
  remoteJitterMs: 4,
  rttMs: 30,
} as SocketStats;
const SENT = { codec: 'opus', frameMs: 20, packets: 1000 } as const;

test('what the far end reported becomes loss of the whole call and of the last interval, with a score', () => {
  const { mos, ...rest } = remoteReception(REPORTED, SENT) ?? assert.fail('no reception');
  assert.deepEqual(rest, { reports: 2, loss: 0.05, recentLoss: 0.1, jitterMs: 4, rttMs: 30 });
  const rating = ratingOf({ codec: 'opus', frameMs: 20, rttMs: 30, jitterMs: 4, loss: 0.05 });
  assert.equal(mos, mosOf(rating));
});

test('without a report there is no reception, and loss stays between none and all', () => {
  assert.equal(remoteReception({ ...REPORTED, remoteReports: 0 }, SENT), undefined);
  const lossOf = (remoteLost: number, packets: number) =>
    remoteReception({ ...REPORTED, remoteLost }, { ...SENT, packets })?.loss;
  assert.deepEqual([lossOf(-3, 100), lossOf(200, 100), lossOf(5, 0)], [0, 1, 0]);
});
