import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventLog } from '../../../sip/telephone/call-state.js';

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
