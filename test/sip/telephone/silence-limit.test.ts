import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SilenceLimit } from '../../../sip/telephone/call-state.js';
import { ManualTime } from '../../fakes/manual-time.js';

function limit(ms: number) {
  const time = new ManualTime();
  let reached = 0;
  return { time, limit: new SilenceLimit(time, ms, () => reached++), reached: () => reached };
}

void test('a call in which nothing happens for the limit is told once', () => {
  const { time, reached } = limit(60_000);
  time.advance(59_999);
  assert.equal(reached(), 0);
  time.advance(120_000);
  assert.equal(reached(), 1);
});

void test('what is heard begins the limit anew', () => {
  const { time, limit: silence, reached } = limit(60_000);
  time.advance(50_000);
  silence.heard();
  time.advance(59_999);
  assert.equal(reached(), 0);
  time.advance(1);
  assert.equal(reached(), 1);
});

void test('there is no silence while anything goes on, and the limit counts from the end of the last', () => {
  const { time, limit: silence, reached } = limit(60_000);
  const [first, second] = [silence.during(), silence.during()];
  time.advance(600_000);
  first();
  first();
  time.advance(600_000);
  assert.equal(reached(), 0);
  second();
  time.advance(59_999);
  assert.equal(reached(), 0);
  time.advance(1);
  assert.equal(reached(), 1);
});

void test('without a limit and after the end no timer is left', () => {
  const none = limit(0);
  assert.equal(none.time.waiting, 0);
  const closed = limit(1000);
  closed.limit.during()();
  closed.limit.close();
  closed.limit.heard();
  assert.equal(closed.time.waiting, 0);
});
