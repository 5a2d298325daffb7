// Members decide for a room by coming and leaving, and observers of the room are told.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { samplesOf } from '../../src/call/call-music.js';
import type { RoomEvent } from '../../src/call/room.js';
import { ParleyError } from '../../src/errors.js';
import { openCalls } from '../fakes/call-under-test.js';
import { until } from '../fakes/until.js';
import { type JoinedCall, joinedCalls } from './joined-calls.js';

const calls = openCalls();

function open(t: TestContext) {
  const under = joinedCalls(t, calls);
  const { rooms } = under.joining;
  const join = (member: JoinedCall, settings: object = {}, request: object = {}) =>
    rooms.join('first floor', undefined, member.call.id, settings, request);
  const observed = () => {
    const events: RoomEvent[] = [];
    rooms.room('first floor', undefined).observe((event) => void events.push(event));
    return events;
  };
  /** Sounds that are in the mixer of the room, apart from its music. */
  const sounds = () => under.joiner.mixers[0]?.sources.size ?? 0;
  return { ...under, rooms, join, observed, sounds };
}

const QUIET = { sounds: false, music: 'none' };

test('a room opens with two members of whom one opens it', async (t) => {
  const { open: call, join, rooms } = open(t);
  const [a, b, boss] = [call(), call(), call()];
  await join(a, { opens: false }, QUIET);
  assert.equal((await join(b, { opens: false })).state, 'waiting');
  assert.equal((await join(boss)).state, 'open');
  rooms.leave('first floor', undefined, boss.call.id);
  assert.equal(rooms.get('first floor', undefined).state, 'open', 'and stays open');
});

test('a member that opens the room waits alone for another one', async (t) => {
  const { open: call, join } = open(t);
  assert.equal((await join(call(), {}, QUIET)).state, 'waiting');
  assert.equal((await join(call(), { opens: false })).state, 'open');
});

test('a room ends when a member leaves that ends it, and tells which', async (t) => {
  const { open: call, join, observed, nothingLeft } = open(t);
  const [a, boss, other] = [call(), call(), call()];
  await join(a, {}, QUIET);
  await join(boss, { ends: true });
  await join(other, { ends: true });
  const events = observed();
  await boss.call.close('peer hung up');
  assert.deepEqual(
    events.map((event) => ('member' in event ? `${event.type} ${event.member.call}` : event.type)),
    [`left ${boss.call.id}`, `left ${a.call.id}`, `left ${other.call.id}`, 'ended'],
  );
  assert.deepEqual(events.at(-1), { type: 'ended', reason: 'moderator left', by: boss.call.id });
  await until(() => nothingLeft());
});

test('the last member that leaves ends the room', async (t) => {
  const { open: call, join, observed, rooms } = open(t);
  const a = call();
  await join(a, {}, QUIET);
  const events = observed();
  rooms.leave('first floor', undefined, a.call.id);
  assert.deepEqual(events.at(-1), { type: 'ended', reason: 'room ended', by: a.call.id });
});

test('two members cannot have the same label', async (t) => {
  const { open: call, join, rooms, joining } = open(t);
  const a = call();
  await join(a, { label: 'anna' }, QUIET);
  const taken = (error: unknown) =>
    error instanceof ParleyError && error.code === 'EXISTS' && error.field === 'label';
  await assert.rejects(join(call(), { label: 'anna' }), taken);
  assert.equal(joining.size, 1);
  await join(call(), { label: 'bert' });
  rooms.leave('first floor', undefined, a.call.id);
  const view = await join(call(), { label: 'anna' });
  assert.deepEqual(
    view.members.map(({ label }) => label),
    ['bert', 'anna'],
  );
});

for (const [chimes, entry, exit] of [
  ['both', 1, 1],
  ['entry', 1, 0],
  ['exit', 0, 1],
  ['none', 0, 0],
] as const)
  test(`a member with the chimes "${chimes}" is heard ${entry} times coming and ${exit} times leaving`, async (t) => {
    const { open: call, join, rooms, sounds } = open(t);
    await join(call(), { chimes: 'none' }, { music: 'none' });
    await join(call(), { chimes: 'none' });
    assert.equal(sounds(), 0);
    const c = call();
    await join(c, { chimes });
    assert.equal(sounds(), entry);
    rooms.leave('first floor', undefined, c.call.id);
    assert.equal(sounds(), entry + exit);
  });

test('observers are told of members, changes, speech and sounds, until they stop', async (t) => {
  const { open: call, join, rooms, joiner } = open(t);
  const [a, b] = [call(), call()];
  await join(a, {}, QUIET);
  const room = rooms.room('first floor', undefined);
  const events: RoomEvent[] = [];
  const stop = room.observe((event) => void events.push(event));
  await join(b);
  rooms.change('first floor', undefined, b.call.id, { muted: true });
  const [mixer = assert.fail()] = joiner.mixers;
  mixer.onSpeaking?.(mixer.member(a.leg) ?? assert.fail(), true);
  const played = room.play(samplesOf({ samples: new Float32Array(160), sampleRate: 16_000 }));
  await until(() => mixer.sources.size === 1);
  mixer.sourceEnds([...mixer.sources][0]);
  await played;
  await until(() => events.length === 5);
  assert.deepEqual(
    events.map((event) => {
      if (event.type === 'changed') return `${event.type} ${event.before.muted} ${event.member.muted}`;
      if (event.type === 'played') return `${event.type} ${event.isWhole}`;
      return 'member' in event ? `${event.type} ${event.member.call} ${event.member.speaking}` : event.type;
    }),
    [
      `joined ${b.call.id} false`,
      'opened',
      'changed false true',
      `speaking ${a.call.id} true`,
      'played true',
    ],
  );
  stop();
  room.end('room ended');
  assert.equal(events.length, 5);
});

test('a supervisor comes and leaves without an event', async (t) => {
  const { open: call, join, rooms, joining, observed } = open(t);
  const [a, b, boss] = [call(), call(), call()];
  await join(a, {}, QUIET);
  await join(b);
  const events = observed();
  joining.supervisions.supervise(a.call.id, undefined, { call: boss.call.id, mode: 'barge' });
  assert.equal(rooms.get('first floor', undefined).members.length, 3);
  await boss.call.close('peer hung up');
  assert.deepEqual(events, []);
});
