// Calls that this server has placed to itself, joined in a circle: a room, a bridge or a supervisor would
// hear itself. Both ends of such a call have one Call-ID.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { ParleyError } from '../../src/errors.js';
import { openCalls } from '../fakes/call-under-test.js';
import { until } from '../fakes/until.js';
import { type JoinedCall, joinedCalls } from './joined-calls.js';

const calls = openCalls();

function open(t: TestContext) {
  const under = joinedCalls(t, calls);
  const { rooms, bridges } = under.joining;
  const join = (room: string, member: JoinedCall) => rooms.join(room, undefined, member.call.id, {});
  const bridge = (a: JoinedCall, b: JoinedCall) => bridges.open(a.call.id, undefined, { call: b.call.id });
  let placed = 0;
  /** Both ends of a call that the server has placed to itself. */
  const ownCall = () => {
    const callId = `own-${++placed}@test`;
    return [under.open({ callId }), under.open({ callId })] as const;
  };
  return { ...under, rooms, bridges, join, bridge, ownCall };
}

const isLoop = (error: unknown) =>
  error instanceof ParleyError && error.code === 'CALL_LOOP' && error.field === 'call';

test('a room that has dialled itself does not take the other end of the call', async (t) => {
  const { join, ownCall, rooms, open: call } = open(t);
  const [placed, taken] = ownCall();
  await join('weekly', taken);
  await join('weekly', call());
  await assert.rejects(join('weekly', placed), isLoop);
  assert.equal(rooms.get('weekly', undefined).members.length, 2);
  assert.ok(!placed.call.isClosing(), 'it goes on, and may be joined to something else');
  await join('daily', placed);
});

test('two rooms are connected by one call, and not by a second one', async (t) => {
  const { join, ownCall, rooms } = open(t);
  const [first, second] = [ownCall(), ownCall()];
  await join('a', first[0]);
  await join('b', first[1]);
  await join('b', second[0]);
  await assert.rejects(join('a', second[1]), isLoop);
  rooms.leave('b', undefined, first[1].call.id);
  await join('a', second[1]);
  await assert.rejects(join('b', first[1]), isLoop);
});

test('a room that is reached through two others is a circle, too', async (t) => {
  const { join, ownCall } = open(t);
  const [ab, bc, ca] = [ownCall(), ownCall(), ownCall()];
  await join('a', ab[0]);
  await join('b', ab[1]);
  await join('b', bc[0]);
  await join('c', bc[1]);
  await join('c', ca[0]);
  await assert.rejects(join('a', ca[1]), isLoop);
});

test('a call is not bridged with its own other end, nor with one that it reaches', async (t) => {
  const { bridge, join, ownCall, bridges, joining } = open(t);
  const [first, second] = [ownCall(), ownCall()];
  await assert.rejects(bridge(first[0], first[1]), isLoop);
  assert.deepEqual([bridges.size, joining.size], [0, 0]);
  await join('a', first[0]);
  await join('a', second[0]);
  await assert.rejects(bridge(first[1], second[1]), isLoop);
  assert.deepEqual([bridges.size, joining.size], [0, 2]);
});

test('a bridge in the middle of the way counts, and no longer when it is parted', async (t) => {
  const { bridge, bridges, join, ownCall } = open(t);
  const [first, second] = [ownCall(), ownCall()];
  await bridge(first[1], second[1]);
  await join('a', first[0]);
  await assert.rejects(join('a', second[0]), isLoop);
  bridges.part(first[1].call.id, undefined);
  await until(() => bridges.size === 0);
  await join('a', second[0]);
});

test('a call is not supervised by its other end, nor by one that it reaches', async (t) => {
  const { join, ownCall, joining } = open(t);
  const [first, second] = [ownCall(), ownCall()];
  const supervise = (target: JoinedCall, by: JoinedCall) =>
    joining.supervisions.supervise(target.call.id, undefined, { call: by.call.id, mode: 'listen' });
  assert.throws(() => supervise(first[0], first[1]), isLoop);
  await join('a', first[0]);
  await join('a', second[0]);
  assert.throws(() => supervise(first[0], second[1]), isLoop);
  assert.deepEqual([joining.supervisions.size, joining.size], [0, 2]);
});

test('the other end of a call that has ended is not in the way', async (t) => {
  const { join, ownCall } = open(t);
  const [placed, taken] = ownCall();
  await join('a', taken);
  await taken.call.close('over');
  await until(() => taken.call.isClosing());
  await join('a', placed);
});
