// Supervisors: who hears whom in each mode, in an agent's call, a bridge and a room, and how it ends.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { SuperviseMode } from '../../src/call/call-events.js';
import { ParleyError } from '../../src/errors.js';
import { openCalls } from '../fakes/call-under-test.js';
import type { FakeMixer } from '../fakes/fake-joiner.js';
import { until } from '../fakes/until.js';
import { type JoinedCall, joinedCalls } from './joined-calls.js';

const calls = openCalls();

function open(t: TestContext) {
  const under = joinedCalls(t, calls);
  const { supervisions, bridges } = under.joining;
  const supervise = (one: JoinedCall, by: JoinedCall, mode: SuperviseMode, key?: string) =>
    supervisions.supervise(one.call.id, key, { call: by.call.id, mode });
  const bridged = async () => {
    const [a, b] = [under.open(), under.open()];
    await bridges.open(a.call.id, undefined, { call: b.call.id });
    return [a, b] as const;
  };
  const inRoom = async () => {
    const members = [under.open(), under.open(), under.open()] as const;
    for (const { call } of members)
      await under.joining.rooms.join('weekly', undefined, call.id, {}, { sounds: true });
    return members;
  };
  /** An agent of this server talks in the call. Returns what it is told. */
  const conduct = ({ call }: JoinedCall) => {
    const notes: string[] = [];
    under.openCalls.conductedBy(call.id, 'the agent "sales"');
    under.openCalls.talksIn(call.id, {
      typed: () => undefined,
      silence: (by) => (notes.push(`silent for ${by}`), (note) => void notes.push(note ?? 'speaks')),
    });
    return notes;
  };
  const events = (one: JoinedCall) =>
    under.told.flatMap((event) =>
      'event' in event && event.call === one.call.id && event.type.startsWith('supervise.')
        ? [Object.values(event.event).join(' ')]
        : [],
    );
  return { ...under, supervisions, supervise, bridged, inRoom, conduct, events };
}

const refusedAs = (code: string, words: RegExp, field?: string) => (error: unknown) => {
  assert.ok(error instanceof ParleyError);
  assert.deepEqual([error.code, error.field], [code, field]);
  assert.match(error.message, words);
  return true;
};

/** True if the first call hears the second one in the mixer. */
function hears(mixer: FakeMixer | undefined, listener: JoinedCall, speaker: JoinedCall): boolean {
  const [to, from] = [mixer?.member(listener.leg), mixer?.member(speaker.leg)];
  assert.ok(to !== undefined && from !== undefined, 'both are in the mixer');
  return to.hearing.deaf !== true && from.hearing.muted !== true && !to.unheard.has(speaker.leg);
}

test('a supervisor who listens hears a ring of both sides, and nobody hears it', (t) => {
  const { open: call, supervise, joiner, events, supervisions, nothingLeft } = open(t);
  const [a, s] = [call(), call({ isTelephone: true })];
  const told: string[] = [];
  a.call.observe(({ type }) => void told.push(type));
  assert.deepEqual(supervise(a, s, 'listen'), {
    call: a.call.id,
    supervisor: s.call.id,
    mode: 'listen',
  });
  const [mixer] = joiner.openMixers;
  assert.deepEqual(
    [...(mixer?.members ?? [])].map(({ leg, hearing }) => [leg, hearing]),
    [[s.leg, { muted: true }]],
    'the supervised call is in no mixer',
  );
  assert.equal(mixer?.sources.size, 1);
  assert.equal(s.farEnd.suspended, 1, 'a listener may be silent for long');
  supervisions.end(a.call.id, undefined);
  assert.ok(nothingLeft());
  assert.equal(s.farEnd.suspended, 0);
  assert.deepEqual(events(a), [
    `supervise.started ${s.call.id} listen`,
    `supervise.ended ${s.call.id} ended`,
  ]);
  assert.deepEqual(events(s), [
    `supervise.started ${a.call.id} listen`,
    `supervise.ended ${a.call.id} ended`,
  ]);
  assert.deepEqual(told, [], 'the far end of the supervised call is told nothing');
  assert.throws(() => supervisions.end(a.call.id, undefined), refusedAs('NOT_FOUND', /nobody supervises/));
});

test('a listener follows both calls to their next ports', (t) => {
  const { open: call, supervise, joiner } = open(t);
  const [a, s] = [call(), call()];
  supervise(a, s, 'listen');
  const [mixer] = joiner.openMixers;
  const [before] = mixer?.sources ?? [];
  a.sound.change({ sends: 'PCMA', receives: 'PCMA' });
  s.sound.change({ sends: 'PCMA', receives: 'PCMA' });
  assert.equal(mixer?.sources.size, 1);
  assert.ok(mixer?.sources.has(before as never) === false, 'another ring');
  assert.deepEqual(
    [...(mixer?.members ?? [])].map(({ leg }) => leg),
    [s.leg],
  );
});

test('a listener leaves a bridge as it is, and goes on when it ends', async (t) => {
  const { supervise, open: call, bridged, joiner, joining, events } = open(t);
  const [a] = await bridged();
  const s = call();
  supervise(a, s, 'listen');
  assert.equal(joining.bridges.of(a.call.id)?.mode, 'relay');
  joining.bridges.part(a.call.id, undefined);
  assert.deepEqual([joiner.openRelays.length, joiner.openMixers.length], [0, 1]);
  assert.equal(events(a).length, 1);
});

test('in a bridge a whisper is heard by the side that is supervised only, and barge by both', async (t) => {
  const { supervise, open: call, bridged, joiner, joining, supervisions } = open(t);
  const [a, b] = await bridged();
  const s = call();
  const heard = () => {
    const [mixer] = joiner.openMixers;
    return [
      hears(mixer, b, s),
      hears(mixer, a, s),
      hears(mixer, a, b),
      hears(mixer, s, a),
      hears(mixer, s, b),
    ];
  };
  supervise(b, s, 'whisper');
  assert.deepEqual([joiner.openRelays.length, joining.bridges.of(a.call.id)?.mode], [0, 'mixed']);
  assert.deepEqual(heard(), [true, false, true, true, true]);
  supervise(b, s, 'barge');
  assert.deepEqual(heard(), [true, true, true, true, true]);
  supervise(b, s, 'take_over');
  assert.deepEqual(heard(), [true, true, false, true, true], 'the other side hears the supervisor only');
  supervisions.end(b.call.id, undefined);
  assert.deepEqual([joiner.openRelays.length, joiner.openMixers.length], [1, 0], 'relayed again');
});

test('the supervisor of a bridge leaves with it', async (t) => {
  const { supervise, open: call, bridged, joining, events, nothingLeft } = open(t);
  const [a, b] = await bridged();
  const s = call();
  supervise(a, s, 'barge');
  await b.call.close('far end hung up');
  await until(() => events(s).length === 2);
  assert.equal(events(s)[1], `supervise.ended ${a.call.id} parted`);
  assert.ok(nothingLeft() && joining.supervisions.size === 0);
  assert.ok(!a.call.isClosing() && !s.call.isClosing());
});

test('in a room a supervisor coaches, speaks to all, or takes the place of a member', async (t) => {
  const { supervise, open: call, inRoom, joiner, joining, supervisions } = open(t);
  const [a, b] = await inRoom();
  const s = call();
  const [room] = joiner.openMixers;
  const chimes = () => room?.sources.size;
  const before = chimes();
  const muted = () =>
    joining.rooms.get('weekly', undefined).members.find((one) => one.call === a.call.id)?.muted;
  supervise(a, s, 'whisper');
  assert.deepEqual([hears(room, a, s), hears(room, b, s), hears(room, s, b)], [true, false, true]);
  supervise(a, s, 'barge');
  assert.deepEqual([hears(room, a, s), hears(room, b, s), muted()], [true, true, false]);
  supervise(a, s, 'take_over');
  assert.deepEqual([hears(room, b, s), hears(room, b, a), muted()], [true, false, true]);
  supervisions.end(a.call.id, undefined);
  assert.deepEqual([hears(room, b, a), muted(), room?.member(s.leg)], [true, false, undefined]);
  assert.equal(chimes(), before, 'no sound tells that a supervisor comes or leaves');
});

test('a member that was muted before a take-over is muted after it', async (t) => {
  const { supervise, open: call, inRoom, joining, supervisions } = open(t);
  const [a] = await inRoom();
  joining.rooms.change('weekly', undefined, a.call.id, { muted: true });
  supervise(a, call(), 'take_over');
  supervisions.end(a.call.id, undefined);
  assert.equal(joining.rooms.get('weekly', undefined).members[0]?.muted, true);
});

test('what an application mutes or unmutes during a take-over holds after it', async (t) => {
  const { supervise, open: call, inRoom, joiner, joining, supervisions } = open(t);
  const [a, b] = await inRoom();
  const [room] = joiner.openMixers;
  for (const muted of [true, false]) {
    supervise(a, call(), 'take_over');
    const changed = joining.rooms.change('weekly', undefined, a.call.id, { muted });
    assert.deepEqual([changed.muted, hears(room, b, a)], [true, false], 'the supervisor speaks in its place');
    supervisions.end(a.call.id, undefined);
    assert.deepEqual(
      [joining.rooms.get('weekly', undefined).members[0]?.muted, hears(room, b, a)],
      [muted, !muted],
    );
  }
});

test('a coach whose member has left is taken over, and given back', async (t) => {
  const { supervise, open: call, inRoom, joining, supervisions } = open(t);
  const [a, b] = await inRoom();
  joining.rooms.change('weekly', undefined, a.call.id, { coach: b.call.id });
  joining.rooms.leave('weekly', undefined, b.call.id);
  const muted = () => joining.rooms.get('weekly', undefined).members[0]?.muted;
  supervise(a, call(), 'take_over');
  assert.equal(muted(), true);
  supervisions.end(a.call.id, undefined);
  assert.equal(muted(), false);
  assert.equal(joining.rooms.get('weekly', undefined).members.length, 2);
});

test('a member that was taken over is heard again when the supervisor hangs up or is removed', async (t) => {
  const { supervise, open: call, inRoom, joiner, joining, events } = open(t);
  const [a, b] = await inRoom();
  const [room] = joiner.openMixers;
  const { rooms } = joining;
  for (const [reason, end] of [
    ['hung up', (s: JoinedCall) => s.call.close('far end hung up')],
    ['parted', (s: JoinedCall) => rooms.leave('weekly', undefined, s.call.id)],
  ] as const) {
    const s = call();
    supervise(a, s, 'take_over');
    assert.equal(hears(room, b, a), false);
    await end(s);
    await until(() => events(s).length === 2);
    assert.deepEqual(events(s)[1], `supervise.ended ${a.call.id} ${reason}`);
    assert.equal(rooms.get('weekly', undefined).members[0]?.muted, false, reason);
    assert.equal(hears(room, b, a), true, reason);
  }
  assert.equal(joining.size, 3);
});

test('a member that hangs up ends its supervision as such, even if it was the last one', async (t) => {
  const { supervise, open: call, joining, events, nothingLeft } = open(t);
  const [a, s] = [call(), call()];
  await joining.rooms.join('weekly', undefined, a.call.id, {});
  supervise(a, s, 'barge');
  await a.call.close('far end hung up');
  await until(() => events(s).length === 2);
  assert.equal(events(s)[1], `supervise.ended ${a.call.id} hung up`);
  await until(() => nothingLeft());
});

test('a take-over that fails leaves the room as it was', async (t) => {
  const { supervise, open: call, inRoom, joiner, joining, supervisions } = open(t);
  const [a, b] = await inRoom();
  const s = call();
  const [room] = joiner.openMixers;
  const member = room?.member(a.leg);
  assert.ok(member !== undefined);
  const set = member.set.bind(member);
  member.set = () => {
    member.set = set;
    throw new ParleyError('CALL_CLOSED', 'the member has left');
  };
  assert.throws(() => supervise(a, s, 'take_over'), refusedAs('CALL_CLOSED', /has left/));
  assert.equal(room?.member(s.leg), undefined);
  assert.deepEqual(
    [joining.rooms.get('weekly', undefined).members.length, joining.size, supervisions.size],
    [3, 3, 0],
  );
  assert.equal(hears(room, b, a), true);
});

test('the supervisor of a member leaves a room with it', async (t) => {
  const { supervise, open: call, inRoom, joining, events } = open(t);
  const [a] = await inRoom();
  const s = call();
  supervise(a, s, 'barge');
  joining.rooms.leave('weekly', undefined, a.call.id);
  assert.equal(events(s)[1], `supervise.ended ${a.call.id} parted`);
  assert.equal(joining.rooms.get('weekly', undefined).members.length, 2);
  assert.equal(joining.size, 2);
});

test('an agent falls silent while a supervisor has its call, and gets it back', (t) => {
  const { supervise, open: call, conduct, joiner, supervisions, nothingLeft } = open(t);
  const [a, s] = [call(), call()];
  const notes = conduct(a);
  supervise(a, s, 'take_over');
  const [mixer] = joiner.openMixers;
  assert.deepEqual([hears(mixer, a, s), hears(mixer, s, a)], [true, true]);
  assert.deepEqual(notes, ['silent for others']);
  supervisions.end(a.call.id, undefined);
  assert.equal(notes.length, 2);
  assert.match(notes[1] ?? '', /supervisor has talked with the caller/);
  assert.ok(nothingLeft());
});

test("a supervisor who barges into an agent's call ends its voice by speaking", async (t) => {
  const { supervise, open: call, conduct, joiner } = open(t);
  const [a, s] = [call(), call()];
  const notes = conduct(a);
  supervise(a, s, 'barge');
  const [mixer] = joiner.openMixers;
  assert.deepEqual([hears(mixer, a, s), hears(mixer, s, a), notes], [true, true, []]);
  const said = a.call.speak('Our shop is open from nine to five.');
  mixer?.onSpeaking?.(mixer.member(a.leg) as never, true);
  assert.equal(said.state === 'interrupted', false, 'the caller is no supervisor');
  mixer?.onSpeaking?.(mixer.member(s.leg) as never, true);
  assert.equal((await said.ended).end, 'interrupted');
});

test('an agent of this server hears no whisper, and an application cannot be silenced', (t) => {
  const { supervise, open: call, openCalls: book, joiner, joining, nothingLeft } = open(t);
  const [a, s] = [call(), call()];
  assert.throws(
    () => supervise(a, s, 'whisper'),
    refusedAs('CALL_STATE', /needs a call in a bridge or a room/, 'mode'),
  );
  book.conductedBy(a.call.id, 'an application');
  assert.throws(
    () => supervise(a, s, 'take_over'),
    refusedAs('CALL_STATE', /only an agent of this server can be silenced/, 'mode'),
  );
  assert.ok(nothingLeft());
  supervise(a, s, 'barge');
  assert.throws(() => supervise(a, s, 'whisper'), refusedAs('CALL_STATE', /needs a call/, 'mode'));
  assert.equal(joining.supervisions.size, 1, 'a mode that is refused changes nothing');
  assert.equal(joiner.openMixers[0]?.members.size, 2);
});

test('a supervised call in which a supervisor speaks cannot be joined to anything else', async (t) => {
  const { supervise, open: call, joining } = open(t);
  const [a, b, s] = [call(), call(), call()];
  supervise(a, s, 'barge');
  const asked = joining.bridges.open(b.call.id, undefined, { call: a.call.id });
  await assert.rejects(asked, refusedAs('CALL_STATE', /is in the supervision by/, 'call'));
});

test('calls that cannot be supervised are refused by name, and nothing is left', async (t) => {
  const { supervise, open: call, bridged, nothingLeft, joiner, joining } = open(t);
  const [a, s, other] = [call(), call(), call()];
  const refuse = (act: () => unknown, ...as: Parameters<typeof refusedAs>) =>
    assert.throws(act, refusedAs(...as));
  refuse(() => supervise(a, a, 'listen'), 'INVALID_FIELD', /cannot supervise itself/, 'call');
  supervise(a, s, 'listen');
  refuse(() => supervise(a, other, 'listen'), 'CALL_STATE', /supervises this call already/);
  refuse(() => supervise(other, s, 'listen'), 'CALL_STATE', /is in the supervision of/, 'call');
  refuse(() => supervise(s, other, 'listen'), 'CALL_STATE', /supervises another one/);
  refuse(() => supervise(s, a, 'listen'), 'CALL_STATE', /supervises another one/);
  joining.supervisions.end(a.call.id, undefined);
  joiner.failure = new ParleyError('CALL_LIMIT', 'no mixer is free');
  for (const mode of ['listen', 'barge'] as const)
    refuse(() => supervise(a, s, mode), 'CALL_LIMIT', /no mixer/);
  assert.ok(nothingLeft());
  joiner.failure = undefined;
  const closing = other.call.close('far end hung up');
  refuse(() => supervise(a, other, 'listen'), 'CALL_STATE', /is ending/, 'call');
  await closing;
  const [b] = await bridged();
  refuse(() => supervise(a, b, 'listen'), 'CALL_STATE', /is in a bridge/, 'call');
});

test('a key supervises its own calls and those of no key, with its own calls', (t) => {
  const { supervise, open: call, supervisions } = open(t);
  const [ours, theirs, common] = [call({ owner: 'shop' }), call({ owner: 'bank' }), call()];
  const unknown = refusedAs('NOT_FOUND', /no open call/);
  assert.throws(() => supervise(theirs, ours, 'listen', 'shop'), unknown);
  assert.throws(() => supervise(ours, theirs, 'listen', 'shop'), unknown);
  supervise(common, ours, 'listen', 'shop');
  assert.throws(() => supervisions.end(ours.call.id, 'bank'), unknown);
  supervisions.end(common.call.id, 'admin');
});

test('a supervision ends with either call, and the other one goes on', async (t) => {
  const { supervise, open: call, conduct, events, nothingLeft } = open(t);
  for (const who of ['caller', 'supervisor'] as const) {
    const [a, s] = [call(), call()];
    const notes = conduct(a);
    supervise(a, s, 'take_over');
    const [gone, stays] = who === 'caller' ? [a, s] : [s, a];
    await gone.call.close('far end hung up');
    await until(() => events(stays).length === 2);
    assert.match(events(stays)[1] ?? '', / hung up$/);
    assert.ok(!stays.call.isClosing() && nothingLeft());
    if (who === 'supervisor') assert.equal(notes.length, 2, 'the agent has its call back');
  }
});

const NO_MIXER = new ParleyError('CALL_LIMIT', 'no mixer is free');

test('a bridge goes on when its supervisor cannot be mixed, at once or on a later port', async (t) => {
  const { supervise, open: call, bridged, joiner, joining, events } = open(t);
  const [a] = await bridged();
  const s = call();
  const relays = () => [joining.bridges.of(a.call.id)?.mode, joiner.openRelays.length, joining.size];
  joiner.failures.mixer = NO_MIXER;
  assert.throws(() => supervise(a, s, 'barge'), refusedAs('CALL_LIMIT', /no mixer/));
  assert.deepEqual([...relays(), joining.supervisions.size], ['relay', 1, 2, 0]);
  joiner.failures.mixer = undefined;
  supervise(a, s, 'barge');
  joiner.failures.mixer = NO_MIXER;
  s.sound.change({ sends: 'PCMA', receives: 'PCMA' });
  assert.equal(events(s).at(-1), `supervise.ended ${a.call.id} failed`);
  assert.deepEqual([...relays(), joining.supervisions.size], ['relay', 1, 2, 0]);
  assert.ok(!s.call.isClosing());
});

test('a change of the mode that is refused leaves the supervisor in the mode before', async (t) => {
  const { supervise, open: call, bridged, joiner, joining, events, supervisions } = open(t);
  const [a, b] = await bridged();
  const [s, other, waiting, listener] = [call(), call(), call(), call()];
  supervise(b, other, 'barge');
  supervise(a, s, 'listen');
  assert.throws(() => supervise(a, s, 'barge'), refusedAs('CALL_STATE', /supervised already/));
  assert.deepEqual(events(s), [`supervise.started ${a.call.id} listen`]);
  assert.deepEqual(joiner.openMixers.at(-1)?.member(s.leg)?.hearing, { muted: true });
  await joining.queues.join('line', undefined, waiting.call.id, {});
  supervise(waiting, listener, 'listen');
  const mixer = joiner.openMixers.at(-1);
  const joins = () => supervise(waiting, listener, 'barge');
  assert.throws(joins, refusedAs('CALL_STATE', /is in a queue/));
  assert.deepEqual([joiner.openMixers.at(-1), supervisions.size], [mixer, 3], 'the sound has no gap');
});

test('a call of no key is supervised only by a key that may hear whom it talks with', async (t) => {
  const { supervise, open: call, joining, supervisions } = open(t);
  const [ours, common, member, theirs, own] = [
    call({ owner: 'shop' }),
    call(),
    call(),
    call({ owner: 'bank' }),
    call({ owner: 'shop' }),
  ];
  await joining.bridges.open(ours.call.id, 'shop', { call: common.call.id });
  await joining.rooms.join('weekly', 'shop', member.call.id, {});
  for (const target of [common, member])
    for (const mode of ['listen', 'whisper', 'barge', 'take_over'] as const) {
      const foreign = () => supervise(target, theirs, mode, 'bank');
      assert.throws(foreign, refusedAs('NOT_FOUND', /no open call/), mode);
      supervise(target, own, mode, 'shop');
      supervisions.end(target.call.id, 'shop');
    }
});

test('a refusal does not name calls and rooms of another key', async (t) => {
  const { supervise, open: call, joining } = open(t);
  const [ours, desk] = [call({ owner: 'shop' }), call({ owner: 'shop' })];
  const [common, joined, guest] = [call(), call(), call()];
  const theirs = call({ owner: 'bank' });
  supervise(common, ours, 'barge', 'shop');
  await joining.bridges.open(desk.call.id, 'shop', { call: joined.call.id });
  await joining.rooms.join('weekly', 'shop', guest.call.id, {});
  const hidden = (error: unknown) => {
    assert.ok(error instanceof ParleyError && error.code === 'CALL_STATE');
    for (const secret of [ours.call.id, desk.call.id, 'weekly']) assert.ok(!error.message.includes(secret));
    return true;
  };
  assert.throws(() => supervise(common, theirs, 'listen', 'bank'), hidden);
  for (const { call: busy } of [common, joined, guest])
    await assert.rejects(joining.bridges.open(theirs.call.id, 'bank', { call: busy.id }), hidden);
});

test('a supervisor who holds sends its music to nobody, and hears nobody', async (t) => {
  const { supervise, open: call, bridged, joiner, conduct } = open(t);
  const [[a], agents, s, other] = [await bridged(), call(), call(), call()];
  conduct(agents);
  supervise(a, s, 'take_over');
  other.call.hold(true);
  supervise(agents, other, 'barge');
  const [bridge, shared] = joiner.openMixers;
  const heard = () =>
    [bridge?.member(s.leg), shared?.member(other.leg)].map((member) => {
      const { muted = false, deaf = false } = member?.hearing ?? {};
      return [muted, deaf];
    });
  const [held, talks] = [
    [true, true],
    [false, false],
  ];
  assert.deepEqual(heard(), [talks, held]);
  s.call.hold(true);
  other.call.hold(false);
  assert.deepEqual(heard(), [held, talks]);
  s.call.hold(false);
  assert.deepEqual(heard(), [talks, talks]);
  assert.equal(joiner.openMixers[0], bridge, 'the bridge is not joined again');
});

test('a listener whose sound cannot be opened is not followed any more', (t) => {
  const { supervise, open: call, joiner } = open(t);
  const [a, s] = [call(), call()];
  joiner.failures.source = new ParleyError('QUEUE_FULL', 'no source is free');
  assert.throws(() => supervise(a, s, 'listen'), refusedAs('QUEUE_FULL', /no source/));
  s.sound.change({ sends: 'PCMA', receives: 'PCMA' });
  assert.equal(joiner.mixers[0]?.members.size, 0);
  let calls = 0;
  const fails = () => {
    calls++;
    throw new Error('not followed');
  };
  assert.throws(() => a.call.follow(fails), /not followed/);
  a.sound.change({ sends: 'PCMA', receives: 'PCMA' });
  assert.equal(calls, 1);
});

test('a listener hears on when the ring of the call has overflowed', async (t) => {
  const { supervise, open: call, joiner, supervisions, events } = open(t);
  const [a, b, s, other] = [call(), call(), call(), call()];
  supervise(a, s, 'listen');
  const [mixer] = joiner.openMixers;
  const [slow] = mixer?.sources ?? [];
  mixer?.sourceEnds(slow);
  assert.deepEqual([mixer?.sources.size, mixer?.sources.has(slow as never)], [1, false]);
  joiner.failures.source = new ParleyError('QUEUE_FULL', 'no source is free');
  mixer?.sourceEnds([...(mixer.sources ?? [])][0]);
  assert.equal(events(s).at(-1), `supervise.ended ${a.call.id} failed`);
  joiner.failures.source = undefined;
  supervise(b, other, 'listen');
  const closed = b.call.close('far end hung up');
  const [last] = joiner.openMixers;
  last?.sourceEnds([...last.sources][0]);
  await closed;
  await until(() => supervisions.size === 0);
  assert.equal(events(other).at(-1), `supervise.ended ${b.call.id} hung up`);
});
