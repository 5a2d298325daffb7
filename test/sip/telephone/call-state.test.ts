import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventLog, SilenceLimit } from '../../../sip/telephone/call-state.js';
import { ManualTime } from '../../fakes/manual-time.js';

void test('whoever comes back goes on behind the event that it saw last', () => {
  const events = new EventLog(() => 5);
  events.add({ type: 'state', state: 'ringing' });
  events.add({ type: 'state', state: 'connected' });
  const seen: number[] = [];
  const stop = events.follow(1, ({ id }) => seen.push(id));
  events.add({ type: 'digit', digit: '1', durationMs: 100 });
  stop();
  events.add({ type: 'digit', digit: '2', durationMs: 100 });
  assert.deepEqual(seen, [2, 3]);
});

void test('the latest thousand events are kept', () => {
  const events = new EventLog(() => 5);
  for (let n = 0; n < 1500; n++) events.add({ type: 'digit', digit: '1', durationMs: 100 });
  const seen: number[] = [];
  events.follow(0, ({ id }) => seen.push(id))();
  assert.deepEqual([seen.length, seen[0], seen.at(-1)], [1000, 501, 1500]);
});

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
  silence.restart();
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
  closed.limit.restart();
  assert.equal(closed.time.waiting, 0);
});
