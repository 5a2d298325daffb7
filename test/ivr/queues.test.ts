// The verbs enqueue and dequeue: what a caller in a queue hears and learns, who takes it, and how both go on.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { ProgramError } from '../../src/ivr/door.js';
import type { VerbResult } from '../../src/ivr/verbs.js';
import { settle } from '../agents/handled-call.js';
import { openCalls } from '../fakes/call-under-test.js';
import { until } from '../fakes/until.js';
import { dequeue, enqueue, HELD, joinedPrograms, type JoinedProgram } from './joined-programs.js';
import { gather, program, say } from './program-under-test.js';

const calls = openCalls();
const WAIT = { at: 'wait' };
const PLACE = { queue: 'sales', position: 1, waitedMs: 0, averageMs: 0, size: 1, mostWaiting: 1000 };

function open(t: TestContext) {
  const under = joinedPrograms(t, calls);
  const { queues } = under.joining;
  const waiting = () =>
    queues.size === 0 ? [] : queues.get('sales', undefined).waiting.map(({ call }) => call);
  return { ...under, queues, waiting };
}

const enqueued = (result: string, waitedMs = 0) =>
  ['after', { of: 'enqueue', queue: 'sales', result, waitedMs }] as const;
const dequeued = (status: string, other: string | undefined, durationMs = 0) =>
  ['after', { of: 'dequeue', status, other, durationMs }] as const;
const late = ({ door }: JoinedProgram): readonly VerbResult[] =>
  door.notices.flatMap((notice) => (notice.of === 'result' ? [notice.result] : []));

test('a caller waits with music, is joined with the call that takes it, and both go on when that hangs up', async (t) => {
  const { begin, waiting, joiner, time, nothingLeft } = open(t);
  const caller = await begin([enqueue()]);
  assert.deepEqual([waiting(), joiner.openMixers.length], [[caller.call.id], 1]);
  time.advance(5000);
  const agent = await begin([dequeue()]);
  assert.deepEqual(joiner.openRelays[0]?.legs, [caller.leg, agent.leg]);
  time.advance(20_000);
  await settle();
  assert.deepEqual([caller.door.results, agent.door.results], [[], []], 'not before the bridge ends');
  await agent.call.close('peer hung up');
  await settle();
  assert.deepEqual(caller.door.results, [enqueued('bridged', 5000)]);
  assert.deepEqual(caller.story(), ['enqueue', 'queue.left taken', 'bridge.ended hung up', 'pause']);
  await caller.call.close('peer hung up');
  await until(() => nothingLeft());
});

test('a caller who hangs up in the bridge leaves the agent, whose action learns how long it was', async (t) => {
  const { begin, time } = open(t);
  const caller = await begin([enqueue()]);
  const agent = await begin([dequeue()]);
  time.advance(3000);
  await caller.call.close('peer hung up');
  await settle();
  assert.deepEqual(agent.door.results, [dequeued('completed', caller.call.id, 3000)]);
  assert.deepEqual(late(caller), [enqueued('bridged')[1]]);
});

test('an agent hears ringing until a call of the queue is joined, or none has come in time', async (t) => {
  const { begin, time, dialled, joiner } = open(t);
  const programs = { whisper: program({ verb: 'pause', ms: 2000 }) };
  await begin([dequeue({ whisper: { at: 'whisper' } })]);
  assert.deepEqual(dialled.orders, ['ring back']);
  await begin([enqueue()], { programs });
  assert.deepEqual(dialled.orders, ['ring back'], 'the call of the queue hears its program');
  time.advance(2000);
  await settle();
  assert.equal(joiner.openRelays.length, 1);
  assert.deepEqual(dialled.orders, ['ring back', 'silent']);
  await begin([dequeue({ waitMs: 20_000 })]);
  time.advance(20_000);
  await settle();
  assert.deepEqual(dialled.orders, ['ring back', 'silent', 'ring back', 'silent']);
});

test('an agent waits for the first call of an empty queue', async (t) => {
  const { begin, time } = open(t);
  const agent = await begin([dequeue()]);
  const second = await begin([dequeue()]);
  time.advance(10_000);
  const caller = await begin([enqueue()]);
  await settle();
  await caller.call.close('peer hung up');
  await settle();
  assert.deepEqual([agent.door.results, second.door.results], [[dequeued('completed', caller.call.id)], []]);
});

test('a queue that stays empty is no answer, after the time-out', async (t) => {
  const { begin, time } = open(t);
  const agent = await begin([dequeue({ waitMs: 20_000 })]);
  time.advance(19_999);
  await settle();
  assert.deepEqual(agent.door.results, []);
  time.advance(1);
  await settle();
  assert.deepEqual(agent.door.results, [dequeued('no-answer', undefined)]);
});

test('the key and the time limit of the agent end the bridge, and both go on', async (t) => {
  const { begin, time } = open(t);
  for (const end of ['key', 'limit'] as const) {
    const caller = await begin([enqueue()]);
    const agent = await begin([dequeue({ endKey: '*', mostMs: 60_000 })]);
    caller.call.pressed('*');
    agent.call.pressed('1');
    await settle();
    assert.deepEqual([caller.door.results, agent.door.results], [[], []]);
    if (end === 'key') agent.call.pressed('*');
    else time.advance(60_000);
    await settle();
    const ms = end === 'key' ? 0 : 60_000;
    assert.deepEqual(agent.door.results, [dequeued('completed', caller.call.id, ms)]);
    assert.deepEqual(caller.door.results, [enqueued('bridged')]);
  }
});

test('keys of the bridge are not typed ahead', async (t) => {
  const { begin, time } = open(t);
  const caller = await begin([
    enqueue({ action: undefined }),
    gather({ mostKeys: 1, action: { at: 'after' } }),
  ]);
  const agent = await begin([dequeue()]);
  caller.call.pressed('7');
  await agent.call.close('peer hung up');
  await settle();
  assert.deepEqual(caller.door.results, []);
  caller.call.pressed('8');
  await settle();
  assert.deepEqual(caller.door.results, [
    ['after', { of: 'gather', by: 'keys', digits: '8', finishKey: undefined }],
  ]);
  time.advance(1);
});

test('the program of a wait begins anew when it ends, and learns its place', async (t) => {
  const { begin, time } = open(t);
  const programs = { wait: program({ verb: 'pause', ms: 10_000 }) };
  await begin([enqueue({ wait: 'music' })]);
  const caller = await begin([enqueue({ wait: WAIT, mostWaiting: 5 })], { programs });
  time.advance(10_000);
  await settle();
  const place = { ...PLACE, position: 2, size: 2 };
  assert.deepEqual(caller.door.results, [
    ['wait', { of: 'wait', place }],
    ['wait', { of: 'wait', place: { ...place, waitedMs: 10_000, averageMs: 10_000 } }],
  ]);
});

test('leave goes on behind enqueue, or with its action', async (t) => {
  const { begin, waiting } = open(t);
  const programs = {
    wait: program(gather({ mostKeys: 1, action: { at: 'out' } })),
    out: program({ verb: 'leave' }),
  };
  for (const action of [undefined, { at: 'after' }]) {
    const caller = await begin([enqueue({ wait: WAIT, action }), ...HELD.verbs], { programs });
    assert.equal(waiting().length, 1);
    caller.call.pressed('1');
    await settle();
    assert.equal(waiting().length, 0);
    const [, , last] = caller.door.results;
    assert.deepEqual(last, action && enqueued('leave'));
    assert.deepEqual(caller.story().slice(-2), ['queue.left left', 'pause']);
  }
});

test('hangup in the wait ends the call, and its action is told', async (t) => {
  const { begin } = open(t);
  const caller = await begin([enqueue({ wait: WAIT })], { programs: { wait: program({ verb: 'hangup' }) } });
  assert.equal(await caller.call.closed, 'agent hung up');
  assert.deepEqual([caller.door.results.length, late(caller)], [1, [enqueued('hangup')[1]]]);
});

test('a caller who hangs up leaves at once, and its action is told', async (t) => {
  const { begin, waiting, time, nothingLeft } = open(t);
  const caller = await begin([enqueue({ wait: WAIT })], { programs: { wait: HELD } });
  time.advance(7000);
  await caller.call.close('peer hung up');
  await settle();
  assert.deepEqual([waiting(), late(caller)], [[], [enqueued('hangup', 7000)[1]]]);
  await until(() => nothingLeft());
});

test('another program takes the place of a wait, and of a bridge', async (t) => {
  const { begin, waiting } = open(t);
  const caller = await begin([enqueue()]);
  caller.run.replace({ program: HELD });
  await settle();
  assert.deepEqual([waiting(), late(caller)], [[], [enqueued('redirected')[1]]]);
  const second = await begin([enqueue()]);
  const agent = await begin([dequeue()]);
  second.run.replace({ program: HELD });
  await settle();
  assert.deepEqual(late(second), [enqueued('redirected-from-bridged')[1]]);
  assert.deepEqual(agent.door.results, [dequeued('completed', second.call.id)]);
  assert.ok(!agent.call.isClosing() && !second.call.isClosing());
});

test('another program takes the place of dequeue: the bridge ends', async (t) => {
  const { begin } = open(t);
  const caller = await begin([enqueue()]);
  const agent = await begin([dequeue()]);
  agent.run.replace({ program: HELD });
  await settle();
  assert.deepEqual([caller.door.results, agent.door.results], [[enqueued('bridged')], []]);
});

test('a full queue is told, by the limit of the queue and by that of the verb', async (t) => {
  const { begin } = open(t);
  await begin([enqueue({ mostWaiting: 2 })]);
  const own = await begin([enqueue({ mostWaiting: 1 })]);
  await begin([enqueue({ mostWaiting: 9 })]);
  const full = await begin([enqueue({ mostWaiting: 9 })]);
  assert.deepEqual(own.door.results, [enqueued('queue-full')]);
  assert.deepEqual(full.door.results, [enqueued('queue-full')]);
});

test('a request that takes a call out of the queue is leave', async (t) => {
  const { begin, queues } = open(t);
  const caller = await begin([enqueue()]);
  queues.leave('sales', undefined, caller.call.id);
  await settle();
  assert.deepEqual(caller.door.results, [enqueued('leave')]);
});

test('the caller hears the program of the agent, and then the two are joined', async (t) => {
  const { begin, engine, joiner, time } = open(t);
  const programs = {
    wait: program(say('You are number one.'), ...HELD.verbs),
    whisper: program({ verb: 'pause', ms: 2000 }),
  };
  const caller = await begin([enqueue({ wait: WAIT })], { programs });
  await until(() => engine.begun.length === 1);
  time.advance(5000);
  const agent = await begin([dequeue({ whisper: { at: 'whisper' } })]);
  assert.deepEqual(caller.door.results, [
    ['wait', { of: 'wait', place: PLACE }],
    ['whisper', { of: 'whisper', queue: 'sales', waitedMs: 5000, by: agent.call.id }],
  ]);
  assert.deepEqual([joiner.openRelays.length, agent.door.results], [0, []]);
  time.advance(2000);
  await settle();
  assert.deepEqual(joiner.openRelays[0]?.legs, [caller.leg, agent.leg]);
  assert.deepEqual(caller.story(), ['enqueue', 'say', 'pause', 'queue.left taken']);
});

test('an agent who hangs up before the two are joined leaves the caller in the queue, at its place', async (t) => {
  const { begin, waiting } = open(t);
  const programs = { wait: HELD, whisper: HELD };
  const caller = await begin([enqueue({ wait: WAIT })], { programs });
  await begin([enqueue()]);
  const agent = await begin([dequeue({ whisper: { at: 'whisper' } })]);
  assert.equal(waiting().length, 1);
  await agent.call.close('peer hung up');
  await settle();
  assert.equal(waiting()[0], caller.call.id);
  assert.deepEqual(
    caller.door.results.map(([at]) => at),
    ['wait', 'whisper', 'wait'],
  );
});

test('a caller who hangs up before the two are joined leaves the agent to the next call', async (t) => {
  const { begin } = open(t);
  const programs = { whisper: HELD };
  const caller = await begin([enqueue()], { programs });
  const agent = await begin([dequeue({ whisper: { at: 'whisper' } })]);
  await caller.call.close('peer hung up');
  await settle();
  assert.deepEqual([late(caller).length, agent.door.results], [1, []]);
  const next = await begin([enqueue()], { programs: { whisper: program() } });
  await settle();
  await next.call.close('peer hung up');
  await settle();
  assert.deepEqual(agent.door.results, [dequeued('completed', next.call.id)]);
});

test('a wait whose program cannot be had is a warning, and the usual music is heard until the bridge', async (t) => {
  const { begin, sendUntil } = open(t);
  const failing = () => Promise.reject(new ProgramError({ code: '11200', message: 'status 500' }));
  const caller = await begin([enqueue({ wait: WAIT })], { programs: { wait: failing } });
  await sendUntil(() => caller.events.some(({ type }) => type === 'utterance.started'));
  assert.deepEqual(caller.story(), ['enqueue', 'warning 11200: status 500']);
  await begin([dequeue()]);
  assert.ok(caller.events.some(({ type }) => type === 'utterance.interrupted'));
});

test('music is heard in a queue without music, too, whose first call has a program', async (t) => {
  const { begin, sendUntil } = open(t);
  const first = await begin([enqueue({ wait: WAIT })], { programs: { wait: HELD } });
  const second = await begin([enqueue()]);
  await sendUntil(() => second.events.some(({ type }) => type === 'utterance.started'));
  const third = await begin([enqueue({ wait: 'silence' })]);
  await first.call.close('peer hung up');
  await begin([dequeue()]);
  assert.ok(second.events.some(({ type }) => type === 'utterance.interrupted'));
  assert.ok(!third.events.some(({ type }) => type === 'utterance.started'));
});

test('a key takes calls of its own queue only', async (t) => {
  const { begin } = open(t);
  const caller = await begin([enqueue()], { owner: 'a' });
  const agent = await begin([dequeue({ waitMs: 5000 })], { owner: 'b' });
  assert.deepEqual(agent.story(), ['dequeue']);
  const own = await begin([dequeue()], { owner: 'a' });
  await caller.call.close('peer hung up');
  await settle();
  assert.deepEqual([agent.door.results, own.door.results], [[], [dequeued('completed', caller.call.id)]]);
});
