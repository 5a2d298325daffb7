// Calls that wait: their order, their places, who takes them, and how they leave.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { ParleyError } from '../../src/errors.js';
import { openCalls } from '../fakes/call-under-test.js';
import { until } from '../fakes/until.js';
import { type JoinedCall, joinedCalls } from './joined-calls.js';

const calls = openCalls();

function open(t: TestContext) {
  const under = joinedCalls(t, calls);
  const { queues } = under.joining;
  const wait = (one: JoinedCall, request: object = {}) =>
    queues.join('support', undefined, one.call.id, request);
  const places = () => queues.get('support', undefined).waiting.map(({ call }) => call);
  const events = (one: JoinedCall) =>
    under.told.flatMap((event) =>
      'event' in event && event.call === one.call.id && event.type.startsWith('queue.')
        ? [Object.values(event.event).join(' ')]
        : [],
    );
  return { ...under, queues, wait, places, events };
}

const withCode = (code: string, field?: string) => (error: unknown) =>
  error instanceof ParleyError && error.code === code && error.field === field;

test('calls wait in the order in which they came, with music, and are told their places', async (t) => {
  const { open: call, wait, places, events, joiner, queues, time } = open(t);
  const [a, b, c] = [call({ isTelephone: true }), call(), call()];
  await wait(a);
  time.advance(1000);
  await wait(b);
  time.advance(1000);
  await wait(c);
  assert.deepEqual(places(), [a.call.id, b.call.id, c.call.id]);
  assert.equal(joiner.openMixers.length, 1, 'one for all');
  assert.deepEqual(
    [...(joiner.mixers[0]?.members ?? [])].map(({ leg }) => leg),
    [a.leg, b.leg, c.leg],
  );
  assert.equal(a.farEnd.suspended, 1);
  queues.leave('support', undefined, a.call.id);
  assert.deepEqual(places(), [b.call.id, c.call.id]);
  assert.deepEqual(events(a), ['queue.joined support 1', 'queue.left support left 2000']);
  assert.deepEqual(events(c), ['queue.joined support 3', 'queue.position support 2']);
  assert.equal(a.farEnd.suspended, 0);
});

test('a higher priority comes first, and equals keep their order', async (t) => {
  const { open: call, wait, places, events, time } = open(t);
  const [a, b, vip, vip2] = [call(), call(), call(), call()];
  for (const [one, priority] of [
    [a, 0],
    [b, 0],
    [vip, 5],
    [vip2, 5],
  ] as const) {
    await wait(one, { priority });
    time.advance(10);
  }
  assert.deepEqual(
    places(),
    [vip, vip2, a, b].map(({ call: { id } }) => id),
  );
  assert.deepEqual(events(a), [
    'queue.joined support 1',
    'queue.position support 2',
    'queue.position support 3',
  ]);
});

test('the next call is joined with the call that takes it', async (t) => {
  const { open: call, wait, places, events, queues, joiner } = open(t);
  const [a, b, agent] = [call(), call(), call()];
  await wait(a);
  await wait(b);
  const view = await queues.next('support', undefined, { call: agent.call.id });
  assert.deepEqual([view.call, view.other, view.state], [a.call.id, agent.call.id, 'connected']);
  assert.deepEqual(joiner.openRelays[0]?.legs, [a.leg, agent.leg]);
  assert.deepEqual(places(), [b.call.id]);
  assert.deepEqual(events(a).at(-1), 'queue.left support taken 0');
  await assert.rejects(
    queues.next('support', undefined, { call: agent.call.id }),
    withCode('CALL_STATE', 'call'),
  );
  assert.deepEqual(places(), [b.call.id], 'still waits');
});

test('the music goes on while a member is called, and a call that nobody answers waits at its place', async (t) => {
  const { open: call, wait, places, queues, joiner, phone, sounds, events } = open(t);
  const [a, b] = [call(), call()];
  await wait(a);
  await wait(b);
  const view = await queues.next('support', undefined, { to: '200' });
  assert.deepEqual([view.call, view.state], [a.call.id, 'ringing']);
  assert.deepEqual(places(), [b.call.id]);
  assert.equal(joiner.openMixers.length, 2);
  assert.ok(sounds.tune.samples.length > 0);
  phone.happen('call_1', { type: 'state', state: 'ended', end: { reason: 'no answer' } });
  await until(() => places().length === 2);
  assert.deepEqual(places(), [a.call.id, b.call.id]);
  assert.deepEqual(events(a), ['queue.joined support 1'], 'it never left');
});

test('a member that answers takes the call', async (t) => {
  const { open: call, wait, queues, phone, answer, events, nothingLeft } = open(t);
  const a = call();
  await wait(a);
  await queues.next('support', undefined, { to: '200' });
  const member = answer('call_1');
  phone.happen('call_1', { type: 'state', state: 'connected' });
  await until(() => queues.size === 0);
  assert.deepEqual(events(a).at(-1), 'queue.left support taken 0');
  await member.call.close('far end hung up');
  await until(() => nothingLeft());
});

test('a call that waits for too long leaves, and is hung up if that was asked for', async (t) => {
  const { open: call, wait, queues, time, events, nothingLeft } = open(t);
  const [a, b] = [call(), call()];
  await wait(a, { timeoutMs: 60_000 });
  time.advance(30_000);
  await wait(b, { after: 'hangup' });
  time.advance(30_000);
  assert.deepEqual(events(a).at(-1), 'queue.left support timeout 60000');
  assert.ok(!a.call.isClosing());
  time.advance(30_000);
  assert.equal(await b.call.closed, 'agent hung up');
  await until(() => queues.size === 0 && nothingLeft());
});

test('the place is spoken at first, and again when it changes, but not at once', async (t) => {
  const { open: call, wait, queues, time, engine } = open(t);
  const [a, b, c] = [call(), call(), call()];
  await wait(a, { announce: 'You are number {position}.' });
  await wait(b);
  await wait(c);
  const spoken = () => engine.begun;
  await until(() => spoken().length === 3);
  queues.leave('support', undefined, a.call.id);
  time.advance(21_000);
  queues.leave('support', undefined, b.call.id);
  await until(() => spoken().length === 4);
  assert.deepEqual(spoken(), [
    'You are number one.',
    'You are number two.',
    'You are number three.',
    'You are number one.',
  ]);
});

test('a queue takes so many calls and no more, and is gone with the last one', async (t) => {
  const { open: call, wait, queues, nothingLeft, ends } = open(t);
  const [a, b] = [call(), call()];
  await wait(a, { mostWaiting: 1 });
  await assert.rejects(wait(b), withCode('QUEUE_FULL'));
  await a.call.close('far end hung up');
  await until(() => queues.size === 0 && nothingLeft());
  assert.deepEqual(ends(), [`${a.call.id}: hung up`]);
  await assert.rejects(queues.next('support', undefined, { to: '1' }), withCode('NOT_FOUND'));
});

test('what cannot take a call leaves the queue as it is', async (t) => {
  const { open: call, wait, places, queues, phone } = open(t);
  const a = call();
  await wait(a);
  await assert.rejects(queues.next('support', undefined, {}), withCode('INVALID_FIELD', 'call'));
  await assert.rejects(queues.next('support', undefined, { call: 'call-9' }), withCode('NOT_FOUND'));
  await assert.rejects(
    queues.next('support', undefined, { call: a.call.id }),
    withCode('CALL_STATE', 'call'),
  );
  phone.refusal = new ParleyError('FORBIDDEN', 'to is not allowed', { field: 'to' });
  await assert.rejects(queues.next('support', undefined, { to: '+1900' }), withCode('FORBIDDEN', 'to'));
  assert.deepEqual(places(), [a.call.id]);
});

test('a call that cannot be joined waits on, or leaves if it cannot hear the music again', async (t) => {
  const { open: call, wait, queues, joiner, joining, places, events } = open(t);
  const [a, b] = [call(), call()];
  const refused = () =>
    assert.rejects(queues.next('support', undefined, { call: b.call.id }), withCode('CALL_LIMIT'));
  await wait(a, { music: 'none' });
  joiner.failure = new ParleyError('CALL_LIMIT', 'no relay is free');
  await refused();
  assert.deepEqual(places(), [a.call.id]);
  joiner.failure = undefined;
  queues.leave('support', undefined, a.call.id);
  await until(() => queues.list(undefined).length === 0);
  await wait(a);
  joiner.failure = joiner.failures.member = new ParleyError('CALL_LIMIT', 'no place is free');
  await refused();
  assert.equal(events(a).at(-1), 'queue.left support failed 0');
  assert.throws(() => queues.get('support', undefined), withCode('NOT_FOUND'), 'the queue is gone');
  assert.equal(joining.size, 0);
});

test('a rule has a call wait, and hangs it up when it is joined to nothing any more', async (t) => {
  const { open: call, joining, places, queues, time } = open(t);
  const [a, agent] = [call(), call()];
  joining.begin(a.handled, { kind: 'queue', name: 'support', request: {} }, 'hangup');
  await until(() => queues.size === 1);
  assert.deepEqual(places(), [a.call.id]);
  await queues.next('support', undefined, { call: agent.call.id });
  time.advance(2000);
  assert.ok(!a.call.isClosing(), 'it is in a bridge');
  await agent.call.close('far end hung up');
  await until(() => joining.size === 0);
  time.advance(1000);
  assert.equal(await a.call.closed, 'agent hung up');
});

test('a rule that cannot join its call hangs it up, and the log says why', async (t) => {
  const { open: call, joining, log } = open(t);
  const a = call();
  joining.begin(
    a.handled,
    { kind: 'room', name: 'weekly', settings: {}, request: { music: 'missing' } },
    'hangup',
  );
  assert.equal(await a.call.closed, 'agent hung up');
  assert.match(log.join('\n'), /call not joined .*"by":"room","code":"NOT_FOUND"/);
});

test('those who wait for a call in an empty queue are called one after the other', async (t) => {
  const { open: call, wait, queues } = open(t);
  const called: string[] = [];
  queues.onceWaiting('support', undefined, () => void called.push('first'));
  const stop = queues.onceWaiting('support', undefined, () => void called.push('second'));
  queues.onceWaiting('support', undefined, () => void called.push('third'));
  queues.onceWaiting('sales', undefined, () => void called.push('other'));
  await wait(call());
  assert.deepEqual(called, ['first']);
  stop();
  await wait(call());
  assert.deepEqual(called, ['first', 'third']);
  queues.onceWaiting('support', undefined, () => void called.push('fourth'));
  assert.deepEqual(called, ['first', 'third', 'fourth'], 'at once, as calls wait');
});

test('a call that a key has in a queue is for those of that key only', async (t) => {
  const { open: call, queues } = open(t);
  const called: string[] = [];
  queues.onceWaiting('support', 'b', () => void called.push('b'));
  queues.onceWaiting('support', 'a', () => void called.push('a'));
  await queues.join('support', 'a', call({ owner: 'a' }).call.id, {});
  assert.deepEqual(called, ['a']);
});

test('what is to be heard before the two are joined keeps the call, which waits again if that fails', async (t) => {
  const { open: call, wait, places, queues, joiner, events } = open(t);
  const [a, b, agent] = [call(), call(), call()];
  await wait(a);
  await wait(b);
  let release: () => void = () => undefined;
  const heard: string[] = [];
  const joined = queues.next('support', undefined, {
    call: agent.call.id,
    before: (waiting) => {
      heard.push(waiting.call.id);
      return new Promise((resolve) => (release = resolve));
    },
  });
  assert.deepEqual([heard, places(), joiner.openRelays.length], [[a.call.id], [b.call.id], 0]);
  release();
  assert.equal((await joined).state, 'connected');
  const refused = queues.next('support', undefined, {
    call: call().call.id,
    before: () => Promise.reject(new ParleyError('CALL_STATE', 'not yet')),
  });
  await assert.rejects(refused, withCode('CALL_STATE'));
  assert.deepEqual([places(), events(b).at(-1)], [[b.call.id], 'queue.position support 1']);
});

test('a thousand calls hear the music of a queue from four mixers, and the next one is refused', async (t) => {
  const { open: call, wait, joiner, queues, nothingLeft } = open(t);
  for (let count = 0; count < 1000; count++) await wait(call());
  assert.deepEqual(
    joiner.openMixers.map(({ members }) => members.size),
    [250, 250, 250, 250],
  );
  await assert.rejects(wait(call()), withCode('QUEUE_FULL'));
  queues.close();
  await until(() => nothingLeft());
});
