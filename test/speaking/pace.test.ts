import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { callPace, preparedPace, replyPace } from '../../src/speaking/pace.js';
import { EncoderPool } from '../../src/encoding/encoder-pool.js';
import type { Urgency } from '../../src/engines/engine.js';
import { openCall } from '../fakes/call-under-test.js';
import { ManualTime } from '../fakes/manual-time.js';
import { buzz } from '../fakes/engines.js';
import { until } from '../fakes/until.js';

let encoders: EncoderPool;

before(() => {
  encoders = new EncoderPool({ workers: 1 });
});

after(() => encoders.close());

const time = new ManualTime(10_000);

test('a call runs dry when what its playout and its rings hold has been played', () => {
  const playout = { stats: () => ({ queuedMs: 700 }) };
  const first = callPace('call-1', time, playout, () => 0);
  const progress = { begun: true, madeMs: 9000, waitingMs: 300, queuedAtMs: 1 };
  assert.deepEqual(first(progress), { class: 'call', client: 'call-1', deadlineMs: 11_000, begun: true });
  const third = callPace('call-1', time, playout, () => 2);
  assert.equal(third(progress).deadlineMs, 13_000, 'a second for each text before it');
});

test('a reply runs dry when everything made has been heard since its first byte', () => {
  const pace = replyPace('key 0', time);
  const nothing = { begun: false, madeMs: 0, waitingMs: 0, queuedAtMs: undefined };
  assert.deepEqual(pace(nothing), { class: 'http', client: 'key 0', deadlineMs: 10_000, begun: false });
  const later = { begun: true, madeMs: 2500, waitingMs: 0, queuedAtMs: 9000 };
  assert.deepEqual(pace(later), { class: 'http', client: 'key 0', deadlineMs: 11_500, begun: true });
});

test('a reply that follows others is due when they have been heard, and breaks off a text if it is refused', () => {
  const pace = replyPace('key 0', time, { kind: 'interactive', dueAtMs: 12_000 });
  const nothing = { begun: false, madeMs: 0, waitingMs: 0, queuedAtMs: undefined };
  assert.deepEqual(pace(nothing), {
    class: 'interactive',
    client: 'key 0',
    deadlineMs: 12_000,
    begun: true,
  });
  const later = { begun: true, madeMs: 2500, waitingMs: 0, queuedAtMs: 10_500 };
  assert.equal(pace(later).deadlineMs, 14_500);
  const late = replyPace('key 0', time, { dueAtMs: 9000 });
  assert.equal(late(nothing).deadlineMs, 10_000, 'what should have been there long ago is due now');
});

test('a prompt that the server prepares has no listener, and comes last', () => {
  const progress = { begun: false, madeMs: 500, waitingMs: 0, queuedAtMs: 1000 };
  assert.deepEqual(preparedPace('the server')(progress), {
    class: 'http',
    client: 'the server',
    deadlineMs: Infinity,
    begun: false,
    prepared: true,
  });
});

test('each sentence of a call says by when it is needed', async (t) => {
  const { call, engine, close } = openCall(encoders);
  t.after(close);
  const urgencies: (Urgency | undefined)[] = [];
  const synthesize = engine.synthesize.bind(engine);
  engine.synthesize = (request, out, signal) => {
    urgencies.push(request.urgency);
    return synthesize(request, out, signal);
  };
  engine.sounds.set('One.', buzz(1000, 0.5));
  call.speak('One. Two.');
  await until(() => urgencies.length === 2);
  const nowMs = 10_000; // the clock of the test stands still
  assert.deepEqual(urgencies[0], { class: 'call', client: 'call-1', deadlineMs: nowMs, begun: false });
  const second = urgencies[1];
  assert.deepEqual([second?.class, second?.begun], ['call', true]);
  // All of the first sentence lies in its ring, in the playout, or in the encoder between them.
  assert.ok(second !== undefined && second.deadlineMs >= nowMs && second.deadlineMs <= nowMs + 1000);
});
