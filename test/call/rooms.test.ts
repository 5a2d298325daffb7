// Calls in rooms: who hears whom, when a room opens and ends, and to whom it belongs.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { samplesOf } from '../../src/call/call-music.js';
import { ParleyError } from '../../src/errors.js';
import { openCalls } from '../fakes/call-under-test.js';
import { until } from '../fakes/until.js';
import { AGENT, type JoinedCall, joinedCalls } from './joined-calls.js';

const calls = openCalls();

function open(t: TestContext, options?: Parameters<typeof joinedCalls>[2]) {
  const under = joinedCalls(t, calls, options);
  const { rooms } = under.joining;
  const join = (member: JoinedCall, settings: object = {}, request: object = {}) =>
    rooms.join('weekly', undefined, member.call.id, settings, request);
  const hearing = (member: JoinedCall) => under.joiner.mixers[0]?.member(member.leg)?.hearing;
  return { ...under, rooms, join, hearing };
}

const withCode = (code: string, field?: string) => (error: unknown) =>
  error instanceof ParleyError && error.code === code && error.field === field;

test('a room opens with its second member, and each hears the other', async (t) => {
  const { open: call, join, hearing, joiner } = open(t);
  const [a, b] = [call({ isTelephone: true }), call()];
  assert.equal((await join(a)).state, 'waiting');
  const [mixer] = joiner.mixers;
  assert.deepEqual([hearing(a), mixer?.sources.size], [{ muted: true, deaf: false }, 1], 'music');
  assert.equal(a.farEnd.suspended, 1);
  const view = await join(b);
  assert.deepEqual([view.state, view.members.map((member) => member.call)], ['open', [a.call.id, b.call.id]]);
  assert.deepEqual(
    [hearing(a), hearing(b)],
    [
      { muted: false, deaf: false },
      { muted: false, deaf: false },
    ],
  );
});

test('a room that waits for its moderator opens with that member, and ends without it', async (t) => {
  const { open: call, join, hearing, told, rooms, joining, joiner } = open(t);
  const [a, b, boss] = [call(), call(), call()];
  await join(a, {}, { start: 'moderator' });
  assert.equal((await join(b)).state, 'waiting');
  assert.equal((await join(boss, { moderator: true })).state, 'open');
  assert.deepEqual(hearing(a), { muted: false, deaf: false });
  rooms.leave('weekly', undefined, boss.call.id);
  const left = told.flatMap((event) => ('event' in event && event.type === 'room.left' ? [event.event] : []));
  assert.deepEqual(left, [
    { type: 'room.left', room: 'weekly', reason: 'left' },
    { type: 'room.left', room: 'weekly', reason: 'moderator left' },
    { type: 'room.left', room: 'weekly', reason: 'moderator left' },
  ]);
  await until(() => rooms.size === 0);
  assert.ok(joiner.isIdle && joining.size === 0);
  assert.ok(!a.call.isClosing());
});

test('a member is muted, deaf and back again', async (t) => {
  const { open: call, join, hearing, rooms } = open(t);
  const [a, b] = [call(), call()];
  await join(a, { muted: true });
  await join(b);
  assert.deepEqual(hearing(a), { muted: true, deaf: false });
  const view = rooms.change('weekly', undefined, a.call.id, { muted: false, deaf: true });
  assert.deepEqual([view.muted, view.deaf], [false, true]);
  assert.deepEqual(hearing(a), { muted: false, deaf: true });
});

test('a member on hold is out of the room and hears music; one that holds sends and hears nothing', async (t) => {
  const { open: call, join, hearing, rooms, joiner } = open(t);
  const [a, b] = [call(), call()];
  await join(a);
  await join(b);
  rooms.change('weekly', undefined, a.call.id, { hold: true });
  assert.equal(hearing(a), undefined);
  const [, music] = joiner.mixers;
  assert.deepEqual(
    [...(music?.members ?? [])].map(({ leg }) => leg),
    [a.leg],
  );
  rooms.change('weekly', undefined, a.call.id, { hold: false });
  assert.deepEqual([hearing(a), music?.isClosed], [{ muted: false, deaf: false }, true]);
  b.call.hold(true);
  assert.deepEqual(hearing(b), { muted: true, deaf: true });
  b.call.hold(false);
  assert.deepEqual(hearing(b), { muted: false, deaf: false });
});

test('a coach is heard by one member, whoever comes later, until it is taken back', async (t) => {
  const { open: call, join, rooms, joiner } = open(t);
  const [a, b, coach, late] = [call(), call(), call(), call()];
  await join(a);
  await join(b);
  await join(coach, { coach: a.call.id });
  await join(late);
  const unheard = (member: JoinedCall) => [...(joiner.mixers[0]?.member(member.leg)?.unheard ?? [])];
  assert.deepEqual([a, b, coach, late].map(unheard), [[], [coach.leg], [], [coach.leg]]);
  rooms.change('weekly', undefined, coach.call.id, { coach: undefined });
  assert.deepEqual([a, b, coach, late].map(unheard), [[], [], [], []]);
  for (const stranger of ['call-99', coach.call.id])
    assert.throws(
      () => rooms.change('weekly', undefined, coach.call.id, { coach: stranger }),
      withCode('INVALID_FIELD', 'coach'),
    );
});

test('a member whose codec changes keeps its settings and those of its coach', async (t) => {
  const { open: call, join, hearing, joiner } = open(t);
  const [a, b, coach] = [call(), call(), call()];
  await join(a);
  await join(b, { muted: true });
  await join(coach, { coach: a.call.id });
  b.sound.change({ sends: 'PCMA', receives: 'PCMA' });
  assert.deepEqual(hearing(b), { muted: true, deaf: false });
  assert.deepEqual([...(joiner.mixers[0]?.member(b.leg)?.unheard ?? [])], [coach.leg]);
  assert.equal(joiner.mixers[0]?.members.size, 3);
});

test('speakers are told, and listed', async (t) => {
  const { open: call, join, rooms, joiner, told } = open(t);
  const [a, b] = [call(), call()];
  await join(a);
  await join(b);
  const [mixer] = joiner.mixers;
  const member = mixer?.member(a.leg);
  assert.ok(mixer !== undefined && member !== undefined);
  mixer.onSpeaking?.(member, true);
  assert.deepEqual(
    rooms.get('weekly', undefined).members.map(({ speaking }) => speaking),
    [true, false],
  );
  mixer.onSpeaking?.(member, false);
  const events = told.flatMap((event) =>
    'event' in event && event.event.type === 'room.speaking' ? [[event.call, event.event.speaking]] : [],
  );
  assert.deepEqual(events, [
    [a.call.id, true],
    [a.call.id, false],
  ]);
});

test('sounds of a room play one after another, and end with it', async (t) => {
  const { open: call, join, rooms, joiner, nothingLeft } = open(t);
  const [a, b] = [call(), call()];
  await join(a, {}, { sounds: false });
  await join(b);
  const room = rooms.room('weekly', undefined);
  const sound = samplesOf({ samples: new Float32Array(16_000), sampleRate: 16_000 });
  const first = room.play(sound);
  const second = room.play(sound);
  const sources = joiner.mixers[0]?.sources;
  await until(() => sources?.size === 1);
  room.end('room ended');
  await Promise.all([first, second]);
  assert.equal(sources?.size, 0);
  await until(() => nothingLeft());
});

test('a room takes so many members and no more, each of them once', async (t) => {
  const { open: call, join, joining } = open(t);
  const [a, b, c] = [call(), call(), call()];
  await join(a, {}, { mostMembers: 2 });
  await join(b);
  await assert.rejects(join(c), withCode('ROOM_FULL'));
  await assert.rejects(join(a), withCode('CALL_STATE', 'call'));
  assert.equal(joining.size, 2);
});

test('a room of 250 members refuses the next, and nothing is left of it', async (t) => {
  const { open: call, join, rooms, nothingLeft } = open(t);
  for (let count = 0; count < 250; count++) await join(call(), {}, { sounds: false });
  await assert.rejects(join(call()), withCode('ROOM_FULL'));
  rooms.close();
  await until(() => nothingLeft());
});

test('the last member takes the room with it', async (t) => {
  const { open: call, join, rooms, nothingLeft, ends } = open(t);
  const [a, b] = [call(), call()];
  await join(a, {}, { sounds: false });
  await join(b);
  await a.call.close('far end hung up');
  assert.equal(rooms.size, 1);
  await b.call.close('far end hung up');
  await until(() => rooms.size === 0 && nothingLeft());
  assert.deepEqual(ends(), [`${a.call.id}: hung up`, `${b.call.id}: hung up`]);
});

test('two keys have rooms of the same name, and each sees its own and those of no key', async (t) => {
  const { open: call, rooms } = open(t);
  const [ours, theirs, common] = [call({ owner: 'shop' }), call({ owner: 'bank' }), call()];
  await rooms.join('weekly', 'shop', ours.call.id, {});
  await rooms.join('weekly', 'bank', theirs.call.id, {});
  await rooms.join('lobby', undefined, common.call.id, {});
  const names = (key: string) => rooms.list(key).map(({ name, members }) => [name, members[0]?.call]);
  assert.deepEqual(names('shop'), [
    ['weekly', ours.call.id],
    ['lobby', common.call.id],
  ]);
  assert.deepEqual(names('bank')[0], ['weekly', theirs.call.id]);
  assert.deepEqual(names('toys'), [['lobby', common.call.id]]);
  await assert.rejects(rooms.join('weekly', 'shop', theirs.call.id, {}), withCode('NOT_FOUND'));
  assert.throws(() => rooms.get('weekly', 'toys'), withCode('NOT_FOUND'));
});

test('a name that no room can have is refused', async (t) => {
  const { open: call, rooms, nothingLeft } = open(t);
  const { id } = call().call;
  for (const name of ['', ' a', 'a ', 'a/b', 'x'.repeat(65), 'x'.repeat(10_000), 'a\nb', '\u202E', '\u0000'])
    await assert.rejects(rooms.join(name, undefined, id, {}), withCode('INVALID_FIELD', 'name'));
  await assert.rejects(
    rooms.join('weekly', undefined, id, {}, { music: 'missing' }),
    withCode('NOT_FOUND', 'music'),
  );
  await assert.rejects(
    rooms.join('weekly', undefined, id, { coach: 'call-9' }),
    withCode('INVALID_FIELD', 'coach'),
  );
  await until(() => rooms.size === 0 && nothingLeft());
});

test('a supervisor opens no room, and keeps none open for agents', async (t) => {
  const { open: call, join, rooms, joining, nothingLeft } = open(t);
  const [a, b, s] = [call(), call(), call()];
  const state = () => rooms.get('weekly', undefined).state;
  await join(a);
  joining.supervisions.supervise(a.call.id, undefined, { call: s.call.id, mode: 'barge' });
  assert.equal(state(), 'waiting', 'one caller waits still');
  await join(b);
  assert.equal(state(), 'open');
  rooms.joinAgent('weekly', undefined, AGENT, {});
  rooms.leave('weekly', undefined, b.call.id);
  joining.supervisions.end(a.call.id, undefined);
  const members = rooms.get('weekly', undefined).members;
  const agent = members.find((one) => one.agent === AGENT)?.call ?? '';
  joining.supervisions.supervise(agent, undefined, { call: s.call.id, mode: 'barge' });
  rooms.leave('weekly', undefined, a.call.id);
  await until(() => rooms.size === 0 && nothingLeft());
  assert.ok(!s.call.isClosing());
});

test('the agents of a room count as calls of the key of the room', async (t) => {
  const {
    open: call,
    rooms,
    switchboard,
  } = open(t, {
    clientLimits: { maxCallsPerClient: 1, maxHalfOpenPerClient: 4 },
  });
  await rooms.join('weekly', 'shop', call({ owner: 'shop' }).call.id, {});
  await rooms.join('lobby', undefined, call().call.id, {});
  const { members } = rooms.joinAgent('weekly', 'shop', AGENT, {});
  assert.throws(() => rooms.joinAgent('weekly', 'shop', AGENT, {}), withCode('CLIENT_LIMIT'));
  assert.equal(rooms.get('weekly', 'shop').members.length, 2);
  for (const name of ['lobby', 'lobby']) rooms.joinAgent(name, undefined, AGENT, {});
  const agent = members.at(-1)?.call ?? '';
  rooms.leave('weekly', 'shop', agent);
  await until(() => switchboard.get(agent) === undefined);
  rooms.joinAgent('weekly', 'shop', AGENT, {});
});

test('an agent that left a room before it opened does not talk when it opens', async (t) => {
  const { open: call, join, rooms, begun, switchboard } = open(t);
  const [a, b] = [call(), call()];
  await join(a, {}, { start: 'moderator' });
  const agents = [1, 2].map(() => {
    const { members } = rooms.joinAgent('weekly', undefined, AGENT, {});
    return members.at(-1)?.call ?? '';
  });
  rooms.leave('weekly', undefined, agents[0] ?? '');
  await until(() => switchboard.get(agents[0] ?? '') === undefined);
  await join(b, { moderator: true });
  assert.deepEqual(begun, [agents[1]]);
});

test('a coach whose member has left is heard by nobody, and its settings change as before', async (t) => {
  const { open: call, join, hearing, rooms, joiner } = open(t);
  const [a, b, coach] = [call(), call(), call()];
  await join(a);
  await join(b);
  await join(coach, { coach: a.call.id });
  rooms.leave('weekly', undefined, a.call.id);
  const view = rooms.change('weekly', undefined, coach.call.id, { muted: true });
  assert.deepEqual([view.muted, view.coach], [true, a.call.id]);
  assert.deepEqual(hearing(coach), { muted: true, deaf: false });
  rooms.change('weekly', undefined, coach.call.id, { muted: false });
  const unheard = () => [...(joiner.mixers[0]?.member(b.leg)?.unheard ?? [])];
  assert.deepEqual(unheard(), [coach.leg]);
  assert.throws(
    () => rooms.change('weekly', undefined, coach.call.id, { coach: a.call.id }),
    withCode('INVALID_FIELD', 'coach'),
  );
  rooms.change('weekly', undefined, coach.call.id, { coach: undefined });
  assert.deepEqual(unheard(), []);
});
