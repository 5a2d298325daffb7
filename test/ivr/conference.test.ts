// The verb conference: who hears whom, what is heard before, how the call leaves, and what is told.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Notice } from '../../src/ivr/verbs.js';
import { settle } from '../agents/handled-call.js';
import { openCalls } from '../fakes/call-under-test.js';
import { until } from '../fakes/until.js';
import { conference, HELD, joinedPrograms, type JoinedProgram } from './joined-programs.js';
import { program, say } from './program-under-test.js';

const calls = openCalls();
const AFTER = { at: 'after' };

function open(t: TestContext) {
  const under = joinedPrograms(t, calls);
  const { rooms } = under.joining;
  const view = () => rooms.get('first floor', undefined);
  const hearing = (one: JoinedProgram) => under.joiner.mixers[0]?.member(one.leg)?.hearing;
  return { ...under, rooms, view, hearing };
}

const told = (notices: readonly Notice[]) =>
  notices.flatMap((notice) =>
    notice.of === 'conference'
      ? [`${notice.number} ${notice.happening} ${notice.member?.call ?? ''}`.trim()]
      : [],
  );

test('two calls hear each other, and each goes on with its action when it leaves', async (t) => {
  const { begin, rooms, view, hearing } = open(t);
  const a = await begin([conference({ action: AFTER })]);
  assert.equal(view().state, 'waiting');
  const b = await begin([conference({ action: AFTER })]);
  assert.equal(view().state, 'open');
  assert.deepEqual([hearing(a)?.muted, hearing(b)?.muted], [false, false]);
  rooms.leave('first floor', undefined, a.call.id);
  await settle();
  assert.deepEqual(a.door.results, [['after', { of: 'conference' }]]);
  assert.deepEqual(a.story(), ['conference', 'room.left left', 'pause']);
  assert.deepEqual(b.door.results, []);
  await a.call.close('test');
  await b.call.close('test');
});

test('a room waits for a member that opens it, and ends when one leaves that ends it', async (t) => {
  const { begin, view, rooms, nothingLeft } = open(t);
  const a = await begin([conference({ opens: false, action: AFTER })]);
  const b = await begin([conference({ opens: false, isMuted: true })], {});
  assert.equal(view().state, 'waiting');
  const boss = await begin([conference({ ends: true, label: 'boss' })]);
  assert.deepEqual(
    [view().state, view().members.map(({ muted, label }) => `${muted} ${label}`)],
    ['open', ['false undefined', 'true undefined', 'false boss']],
  );
  await boss.call.close('peer hung up');
  await settle();
  assert.equal(rooms.size, 0);
  assert.deepEqual(a.door.results, [['after', { of: 'conference' }]]);
  assert.equal(await b.call.closed, 'agent hung up', 'no verb was left');
  await a.call.close('test');
  await until(() => nothingLeft());
});

test('the key ends the stay, other keys and keys from before do not', async (t) => {
  const { begin, view, time } = open(t);
  const a = await begin([{ verb: 'pause', ms: 1000 }, conference({ endKey: '*', action: AFTER })]);
  const b = await begin([conference()]);
  a.call.pressed('*');
  time.advance(1000);
  await settle();
  assert.equal(view().members.length, 2);
  a.call.pressed('5');
  await settle();
  assert.deepEqual(a.door.results, []);
  a.call.pressed('*');
  await settle();
  assert.deepEqual(a.door.results, [['after', { of: 'conference' }]]);
  assert.deepEqual(
    view().members.map(({ call }) => call),
    [b.call.id],
  );
});

test('the time limit ends the stay', async (t) => {
  const { begin, view, time } = open(t);
  const a = await begin([conference({ mostMs: 60_000, action: AFTER })]);
  await begin([conference()]);
  time.advance(59_999);
  await settle();
  assert.equal(view().members.length, 2);
  time.advance(1);
  await settle();
  assert.deepEqual(a.door.results, [['after', { of: 'conference' }]]);
});

test('the program of a wait is heard until the room opens, and its end is silence', async (t) => {
  const { begin, engine, view, sendUntil } = open(t);
  const programs = { wait: program(say('Please wait.'), say('Thank you for your patience.')) };
  const a = await begin([conference({ wait: { at: 'wait' } })], { programs });
  await until(() => engine.begun.length > 0);
  assert.deepEqual(a.door.results, [['wait', { of: 'wait', place: undefined }]]);
  const interrupted = () => a.events.filter(({ type }) => type === 'utterance.interrupted').length;
  await sendUntil(() => a.events.some(({ type }) => type === 'utterance.started'));
  await begin([conference()]);
  assert.deepEqual([view().state, interrupted()], ['open', 1]);
  await settle();
  assert.ok(!a.story().includes('warning'));
});

test('a wait whose program cannot be had is a warning, and the usual music is heard', async (t) => {
  const { begin, sendUntil } = open(t);
  const a = await begin([conference({ wait: { at: 'wait' } })], {
    programs: {
      wait: program({ verb: 'play', sound: 'none', times: 1 }, { verb: 'redirect', to: { at: 'wait' } }),
    },
  });
  await until(() => a.story().some((one) => one.startsWith('warning : a loop')));
  await sendUntil(() => a.events.some(({ type }) => type === 'utterance.started'));
  await begin([conference()]);
  assert.ok(a.events.some(({ type }) => type === 'utterance.interrupted'));
});

test('music is heard in a room without music, too, until the room opens', async (t) => {
  const { begin, sendUntil } = open(t);
  const first = await begin([conference({ opens: false, wait: 'silence' })]);
  const second = await begin([conference({ opens: false, wait: 'music' })]);
  await sendUntil(() => second.events.some(({ type }) => type === 'utterance.started'));
  await begin([conference()]);
  assert.ok(second.events.some(({ type }) => type === 'utterance.interrupted'));
  assert.ok(!first.events.some(({ type }) => type === 'utterance.started'));
});

test('a coach is heard by one member only, named by its label or its call', async (t) => {
  const { begin, joiner } = open(t);
  const customer = await begin([conference()]);
  const agent = await begin([conference({ label: 'agent' })]);
  const boss = await begin([conference({ coach: 'agent' })]);
  const second = await begin([conference({ coach: `name of ${customer.call.id}` })]);
  const unheard = (one: JoinedProgram) => [...(joiner.mixers[0]?.member(one.leg)?.unheard ?? [])];
  assert.deepEqual(unheard(customer), [boss.leg]);
  assert.deepEqual(unheard(agent), [second.leg]);
});

test('a coach without its member does not join, and the next verb follows', async (t) => {
  const { begin, rooms } = open(t);
  const boss = await begin([conference({ coach: 'agent' }), HELD.verbs[0] ?? assert.fail()]);
  assert.equal(rooms.size, 0);
  assert.deepEqual(boss.story(), [
    'conference',
    'warning code of coach: "coach" must be a member of the conference: its call, or its label',
    'pause',
  ]);
});

test('a label that is taken and a room that is full are warnings, and the next verb follows', async (t) => {
  const { begin, view } = open(t);
  const pause = HELD.verbs[0] ?? assert.fail();
  await begin([conference({ label: 'anna' })]);
  await begin([conference({ label: 'bert' })]);
  const same = await begin([conference({ label: 'anna' }), pause]);
  const late = await begin([conference({ mostMembers: 2 }), pause]);
  assert.deepEqual(same.story(), [
    'conference',
    'warning code of label: another member of the room has this label',
    'pause',
  ]);
  assert.deepEqual(late.story(), ['conference', 'warning : the room has 2 members already', 'pause']);
  assert.equal(view().members.length, 2);
});

test('another program takes the place of the conference: the call leaves, and the others stay', async (t) => {
  const { begin, view } = open(t);
  const a = await begin([conference({ action: AFTER })]);
  const b = await begin([conference()]);
  a.run.replace({ program: HELD });
  await settle();
  assert.deepEqual(
    view().members.map(({ call }) => call),
    [b.call.id],
  );
  assert.deepEqual([a.door.results, a.story()], [[], ['conference', 'room.left left', 'pause']]);
});

test('rooms of two keys with one name are two rooms', async (t) => {
  const { begin, rooms } = open(t);
  await begin([conference()], { owner: 'a' });
  await begin([conference()], { owner: 'b' });
  assert.deepEqual(
    [rooms.size, rooms.get('first floor', 'a').state, rooms.get('first floor', 'b').state],
    [2, 'waiting', 'waiting'],
  );
});

test('the callback of the first member is told of all, in order, even after that member has left', async (t) => {
  const { begin, rooms, nothingLeft } = open(t);
  const events = ['start', 'end', 'join', 'leave', 'mute'] as const;
  const a = await begin([conference({ callback: { at: 'told' }, events })]);
  const b = await begin([conference({ callback: { at: 'other' }, events, label: 'bert' })]);
  rooms.change('first floor', undefined, b.call.id, { muted: true });
  rooms.change('first floor', undefined, b.call.id, { muted: false });
  rooms.change('first floor', undefined, b.call.id, { hold: true });
  await a.call.close('peer hung up');
  await b.call.close('peer hung up');
  await until(() => nothingLeft());
  const [one, two] = [a.call.id, b.call.id];
  assert.deepEqual(told(a.door.notices), [
    `1 join ${one}`,
    `2 join ${two}`,
    '3 start',
    `4 mute ${two}`,
    `5 unmute ${two}`,
    `6 leave ${one}`,
    `7 leave ${two}`,
    '8 end',
  ]);
  assert.deepEqual(b.door.notices, []);
  const end = a.door.notices.at(-1);
  assert.ok(end?.of === 'conference');
  assert.deepEqual([end.reason, end.by, end.at], ['room ended', two, 1_010_000]);
});

test('a recording of the mix is told by the callback of the first member, and one that cannot be is a warning', async (t) => {
  const { begin, rooms } = open(t);
  const a = await begin([conference({ isRecorded: true, recordingCallback: { at: 'recorded' } })]);
  assert.deepEqual(a.story(), ['conference'], 'the room is not open yet');
  await begin([conference({ isRecorded: true, recordingCallback: { at: 'other' } })]);
  assert.deepEqual(a.story(), ['conference', 'warning : this server records no calls']);
  const room = rooms.room('first floor', undefined);
  const size = { durationMs: 2000, bytes: 10 };
  room.recorded({ type: 'recording.started', name: 'a.wav', format: 'wav' });
  room.recorded({ type: 'recording.paused', name: 'a.wav' });
  room.recorded({ type: 'recording.stopped', name: 'a.wav', reason: 'call-ended', ...size });
  const mix = { of: 'recording', recording: 'a.wav', channels: 2, source: 'conference', track: 'both' };
  const head = { ...mix, room: 'first floor', startedMs: 1_010_000 };
  assert.deepEqual(a.door.notices, [
    { ...head, status: 'in-progress', durationMs: 0 },
    { ...head, status: 'completed', durationMs: 2000 },
  ]);
});
