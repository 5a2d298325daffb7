import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SilenceWatch } from '../../../sip/media/incoming-voice.js';
import { ManualTime } from '../../fakes/manual-time.js';

function watched(timeoutMs = 10_000) {
  const time = new ManualTime(1000);
  const last: { lastRtpMs: number | null; lastRtcpMs: number | null } = { lastRtpMs: null, lastRtcpMs: null };
  const seen: number[] = [];
  const watch = new SilenceWatch(
    time,
    timeoutMs,
    () => last,
    () => seen.push(time.now()),
  );
  return { time, last, seen, watch };
}

test('nobody is missed who was never heard', () => {
  const { time, seen, watch } = watched();
  watch.expect(true);
  time.advance(3_600_000);
  assert.deepEqual(seen, []);
  watch.close();
  assert.equal(time.waiting, 0);
});

test('silence is told to the millisecond, once, and again only after another sign of life', () => {
  const { time, last, seen, watch } = watched();
  watch.expect(true);
  time.advance(14_000);
  last.lastRtpMs = 13_500;
  time.advance(30_000);
  assert.deepEqual(seen, [23_500]);
  last.lastRtpMs = 45_000;
  time.advance(30_000);
  assert.deepEqual(seen, [23_500, 55_000]);
});

test('reports are a sign of life, but no sound that was heard', () => {
  const { time, last, seen, watch } = watched();
  watch.expect(true);
  last.lastRtcpMs = 2000;
  time.advance(60_000);
  assert.deepEqual(seen, []);
  [last.lastRtpMs, last.lastRtcpMs] = [61_000, 66_000];
  time.advance(14_999);
  assert.deepEqual(seen, []);
  time.advance(1);
  assert.deepEqual(seen, [76_000]);
});

test('while it is not to send nothing is told, and afterwards it has its whole time again', () => {
  const { time, last, seen, watch } = watched();
  watch.expect(true);
  last.lastRtpMs = 2000;
  watch.expect(false);
  time.advance(900_000);
  watch.expect(true);
  watch.expect(true);
  time.advance(9999);
  assert.deepEqual(seen, []);
  time.advance(1);
  assert.deepEqual(seen, [911_000]);
});

test('a timeout of 0 never tells', () => {
  const { time, last, seen, watch } = watched(0);
  watch.expect(true);
  last.lastRtpMs = 1000;
  time.advance(900_000);
  assert.deepEqual(seen, []);
  assert.equal(time.waiting, 0);
});
