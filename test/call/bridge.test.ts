// Two calls that are joined: what flows between them, through holds, moves, keys and ends.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { ParleyError } from '../../src/errors.js';
import { openCalls } from '../fakes/call-under-test.js';
import { until } from '../fakes/until.js';
import { joinedCalls } from './joined-calls.js';

const calls = openCalls();
const open = (t: TestContext) => joinedCalls(t, calls);

function refusedAs(code: string, words: RegExp, field?: string) {
  return (error: unknown) => {
    assert.ok(error instanceof ParleyError);
    assert.deepEqual([error.code, error.field], [code, field]);
    assert.match(error.message, words);
    return true;
  };
}

async function bridged(t: TestContext, request: object = {}) {
  const under = open(t);
  const [a, b] = [under.open({ isTelephone: true }), under.open({ isTelephone: true })];
  const view = await under.joining.bridges.open(a.call.id, undefined, { call: b.call.id, ...request });
  return { ...under, a, b, view };
}

test('two calls of one codec are relayed both ways, and both are told', async (t) => {
  const { joiner, a, b, view, told } = await bridged(t);
  assert.deepEqual(view, { call: a.call.id, other: b.call.id, state: 'connected', mode: 'relay' });
  assert.deepEqual(joiner.openRelays[0]?.legs, [a.leg, b.leg]);
  assert.deepEqual(joiner.openRelays[0]?.open, { 'a-to-b': true, 'b-to-a': true });
  assert.deepEqual(
    told.map((event) => ('event' in event ? [event.call, event.event] : [])),
    [
      [a.call.id, { type: 'bridge.started', other: b.call.id }],
      [b.call.id, { type: 'bridge.started', other: a.call.id }],
    ],
  );
  assert.deepEqual([a.farEnd.suspended, b.farEnd.suspended], [1, 1]);
});

test('calls of two codecs are mixed, and so are those that our voice speaks over', async (t) => {
  const under = open(t);
  const [a, b] = [under.open(), under.open({ sends: 'PCMA', receives: 'PCMA' })];
  const view = await under.joining.bridges.open(a.call.id, undefined, { call: b.call.id });
  assert.equal(view.mode, 'mixed');
  const [mixer] = under.joiner.openMixers;
  assert.deepEqual(
    [mixer?.member(a.leg)?.hearing, mixer?.member(b.leg)?.hearing],
    [{ muted: false }, { muted: false }],
  );
  const over = await bridged(t, { voice: 'ducked' });
  assert.equal(over.view.mode, 'mixed');
  assert.deepEqual(
    [...(over.joiner.openMixers[0]?.members ?? [])].map(({ voice }) => voice),
    ['ducked', 'ducked'],
  );
});

test('a side whose codec changes is joined again, and the other side keeps its port', async (t) => {
  const { joiner, joining, a, b } = await bridged(t);
  a.sound.change({ sends: 'PCMA', receives: 'PCMA' });
  assert.deepEqual([joiner.openRelays.length, joiner.openMixers.length], [0, 1]);
  assert.deepEqual(
    [...(joiner.openMixers[0]?.members ?? [])].map(({ leg }) => leg),
    [a.leg, b.leg],
  );
  b.sound.change({ sends: 'PCMA', receives: 'PCMA' });
  assert.deepEqual([joiner.openRelays[0]?.legs, joiner.openMixers.length], [[a.leg, b.leg], 0]);
  assert.equal(joining.bridges.of(b.call.id)?.mode, 'relay');
});

test('while one side holds, the other one hears music, and nothing flows between the two', async (t) => {
  const { joiner, a, b } = await bridged(t);
  a.call.hold(true);
  assert.equal(joiner.openRelays.length, 0);
  const [music] = joiner.openMixers;
  assert.deepEqual(
    [...(music?.members ?? [])].map(({ leg, hearing }) => [leg, hearing]),
    [[b.leg, { muted: true }]],
  );
  assert.equal(music?.sources.size, 1);
  b.call.hold(true);
  assert.ok(joiner.isIdle, 'both hold');
  a.call.hold(false);
  assert.deepEqual(
    joiner.openMixers.map(({ members }) => [...members].map(({ leg }) => leg)),
    [[a.leg]],
  );
  b.call.hold(false);
  assert.deepEqual([joiner.openRelays.length, joiner.openMixers.length], [1, 0]);
});

test('without music a hold is silence', async (t) => {
  const { joiner, a } = await bridged(t, { music: 'none' });
  a.call.hold(true);
  assert.ok(joiner.isIdle);
});

test('keys go to the other side, and the end key ends the bridge', async (t) => {
  const { a, b, ends, nothingLeft } = await bridged(t, { endKey: '*' });
  a.call.pressed('5');
  b.call.pressed('#');
  assert.deepEqual([a.farEnd.pressed, b.farEnd.pressed], [['#'], ['5']]);
  b.call.pressed('*');
  await until(() => ends().length === 2);
  assert.deepEqual(ends(), [`${a.call.id}: key`, `${b.call.id}: key`]);
  assert.deepEqual(a.farEnd.pressed, ['#'], 'the end key is kept');
  assert.ok(nothingLeft());
  assert.deepEqual([a.farEnd.suspended, b.farEnd.suspended], [0, 0]);
});

test('keys that are kept go nowhere, and a side that takes none hears their sound', async (t) => {
  const kept = await bridged(t, { keys: 'keep' });
  kept.a.call.pressed('5');
  assert.deepEqual(kept.b.farEnd.pressed, []);
  const { a, b } = await bridged(t);
  b.farEnd.isDeafToKeys = true;
  const played: string[] = [];
  b.call.observe(({ type }) => void played.push(type));
  a.call.pressed('5');
  await until(() => b.call.stats().queuedMs > 0);
});

test('a side that hangs up ends the bridge, and the other one goes on or is hung up', async (t) => {
  const { a, b, ends, nothingLeft } = await bridged(t);
  await b.call.close('far end hung up');
  await until(() => ends().length === 2);
  assert.deepEqual(ends(), [`${a.call.id}: hung up`, `${b.call.id}: hung up`]);
  assert.ok(nothingLeft());
  assert.ok(!a.call.isClosing());
  const both = await bridged(t, { after: 'hangup' });
  await both.b.call.close('far end hung up');
  assert.equal(await both.a.call.closed, 'agent hung up');
});

test('a request parts two calls, which may be joined again', async (t) => {
  const { joining, a, b, ends, nothingLeft } = await bridged(t, { after: 'hangup' });
  joining.bridges.part(b.call.id, undefined);
  await until(() => ends().length === 2);
  assert.ok(nothingLeft());
  assert.ok(!a.call.isClosing() && !b.call.isClosing());
  assert.throws(() => joining.bridges.part(a.call.id, undefined), refusedAs('NOT_FOUND', /in no bridge/));
  await joining.bridges.open(b.call.id, undefined, { call: a.call.id });
});

test('a call is joined neither to itself, nor twice, nor to one that is ending', async (t) => {
  const under = await bridged(t);
  const { joining, a, b, joiner } = under;
  const { bridges } = joining;
  const c = under.open();
  const ask = (id: string, request: object) => bridges.open(id, undefined, request);
  await assert.rejects(ask(c.call.id, { call: c.call.id }), refusedAs('INVALID_FIELD', /to itself/, 'call'));
  await assert.rejects(
    ask(c.call.id, { call: b.call.id }),
    refusedAs('CALL_STATE', /is in a bridge with/, 'call'),
  );
  await assert.rejects(ask(a.call.id, { call: c.call.id }), refusedAs('CALL_STATE', /is in a bridge with/));
  await assert.rejects(ask(c.call.id, {}), refusedAs('INVALID_FIELD', /either "call" or "to"/, 'call'));
  await assert.rejects(ask(c.call.id, { call: 'call-9' }), refusedAs('NOT_FOUND', /no open call/));
  await assert.rejects(
    ask(c.call.id, { call: a.call.id, music: 'missing' }),
    refusedAs('NOT_FOUND', /no sound/, 'music'),
  );
  const d = under.open();
  const closed = d.call.close('far end hung up');
  await assert.rejects(ask(c.call.id, { call: d.call.id }), refusedAs('CALL_STATE', /is ending/, 'call'));
  await closed;
  assert.equal(joiner.relays.length, 1);
  assert.equal(joining.size, 2);
});

test('a key joins its own calls and those of no key, and no others', async (t) => {
  const under = open(t);
  const { bridges } = under.joining;
  const [ours, theirs, common] = [under.open({ owner: 'shop' }), under.open({ owner: 'bank' }), under.open()];
  const unknown = refusedAs('NOT_FOUND', /no open call/);
  await assert.rejects(bridges.open(ours.call.id, 'shop', { call: theirs.call.id }), unknown);
  await assert.rejects(bridges.open(theirs.call.id, 'shop', { call: ours.call.id }), unknown);
  await bridges.open(ours.call.id, 'shop', { call: common.call.id });
  assert.throws(() => bridges.part(ours.call.id, 'bank'), unknown);
  bridges.part(ours.call.id, 'admin');
});

test('a failure of the media ends the bridge, and both calls go on', async (t) => {
  const { joiner, a, b, ends } = await bridged(t);
  joiner.failure = new ParleyError('CALL_LIMIT', 'no relay is free');
  a.call.hold(true);
  await until(() => ends().length === 2);
  assert.deepEqual(ends(), [`${a.call.id}: failed`, `${b.call.id}: failed`]);
  assert.ok(!a.call.isClosing() && !b.call.isClosing());
});

test('two calls that cannot be joined are refused by the reason, and no bridge is told of', async (t) => {
  const { open: call, joiner, joining, told, nothingLeft } = open(t);
  const [a, b] = [call(), call()];
  joiner.failure = new ParleyError('CALL_LIMIT', 'no relay is free');
  const asked = joining.bridges.open(a.call.id, undefined, { call: b.call.id, music: 'none' });
  await assert.rejects(asked, refusedAs('CALL_LIMIT', /no relay is free/));
  assert.deepEqual(told, []);
  assert.ok(nothingLeft() && !a.call.isClosing() && !b.call.isClosing());
  joiner.failure = undefined;
  await joining.bridges.open(a.call.id, undefined, { call: b.call.id });
  assert.equal(joining.bridges.of(a.call.id)?.state, 'connected');
});

async function dialled(t: TestContext, request: object = {}) {
  const under = open(t);
  const a = under.open({ isTelephone: true, owner: 'shop' });
  const asked = { to: '+49170', ringTimeoutMs: 20_000, ...request };
  const view = await under.joining.bridges.open(a.call.id, 'admin', asked);
  return { ...under, a, view };
}

async function leaving(t: TestContext, statuses: readonly [number, number]) {
  const under = open(t);
  const [a, b] = [under.open({ isTelephone: true }), under.open({ isTelephone: true })];
  [a.farEnd.transferStatus, b.farEnd.transferStatus] = statuses;
  const request = { call: b.call.id, leavePath: true };
  await under.joining.bridges.open(a.call.id, undefined, request);
  return { ...under, a, b };
}

test('a far end is asked to call the other one in our place, and the bridge ends with its transfer', async (t) => {
  const { a, b, ends, nothingLeft } = await leaving(t, [200, 200]);
  await until(() => ends().length === 2);
  assert.deepEqual([a.farEnd.transfers, b.farEnd.transfers], [[{ call: b.call.id }], []]);
  assert.deepEqual(ends(), [`${a.call.id}: transferred`, `${b.call.id}: transferred`]);
  assert.ok(nothingLeft());
});

test('where a far end refuses to be transferred the other one is asked, and the bridge may stay', async (t) => {
  const other = await leaving(t, [603, 200]);
  await until(() => other.ends().length === 2);
  assert.deepEqual(other.b.farEnd.transfers, [{ call: other.a.call.id }]);
  const { a, b, ends, joining, time } = await leaving(t, [405, 603]);
  await until(() => b.farEnd.transfers.length === 1);
  assert.deepEqual([ends(), joining.bridges.of(a.call.id)?.mode], [[], 'relay']);
  await b.call.close('far end hung up');
  await until(() => ends().length === 2);
  assert.deepEqual([ends()[0], time.waiting], [`${a.call.id}: hung up`, 0]);
});

test('a far end that was replaced hangs up before the other one reports its transfer', async (t) => {
  const under = open(t);
  const [a, b] = [under.open({ isTelephone: true }), under.open({ isTelephone: true })];
  let report: () => void = () => undefined;
  const leg = a.handled.leg as { transfer: NonNullable<typeof a.handled.leg>['transfer'] };
  leg.transfer = () => new Promise((resolve) => (report = () => resolve({ accepted: true, status: 200 })));
  await under.joining.bridges.open(a.call.id, undefined, { call: b.call.id, leavePath: true });
  await b.call.close('far end hung up');
  await until(() => under.joining.size === 0);
  assert.deepEqual(under.ends(), []);
  report();
  await until(() => under.ends().length === 2);
  assert.deepEqual(under.ends()[0], `${a.call.id}: transferred`);
});

test('a far end that reports nothing after the other one has hung up was not transferred', async (t) => {
  const under = open(t);
  const [a, b] = [under.open({ isTelephone: true }), under.open({ isTelephone: true })];
  const leg = a.handled.leg as { transfer: NonNullable<typeof a.handled.leg>['transfer'] };
  leg.transfer = () => new Promise(() => undefined);
  await under.joining.bridges.open(a.call.id, undefined, { call: b.call.id, leavePath: true });
  await b.call.close('far end hung up');
  await until(() => under.time.waiting > 0);
  under.time.advance(2000);
  await until(() => under.ends().length === 2);
  assert.deepEqual(under.ends()[0], `${a.call.id}: hung up`);
});

test('calls of other protocols than SIP stay in the path', async (t) => {
  const under = open(t);
  const [a, b] = [under.open({ isTelephone: true }), under.open()];
  await under.joining.bridges.open(a.call.id, undefined, { call: b.call.id, leavePath: true });
  assert.deepEqual([a.farEnd.transfers, under.joining.bridges.of(b.call.id)?.state], [[], 'connected']);
});

test('a call that is placed rings back, is heard early, and is joined with its answer', async (t) => {
  const { a, view, placed, joiner, phone, answer, joining } = await dialled(t);
  assert.deepEqual(view, { call: a.call.id, other: 'call_1', state: 'ringing', mode: undefined });
  assert.deepEqual(placed(), [{ to: '+49170', ringTimeoutMs: 20_000, owner: 'shop' }]);
  assert.deepEqual(
    joiner.openMixers.map(({ members }) => [...members].map(({ leg }) => leg)),
    [[a.leg]],
  );
  const b = answer('call_1', 'shop');
  assert.deepEqual(
    [joiner.openRelays[0]?.legs, joiner.openRelays[0]?.open],
    [[a.leg, b.leg], { 'a-to-b': false, 'b-to-a': true }],
  );
  phone.happen('call_1', { type: 'state', state: 'connected' });
  await until(() => joining.bridges.of(a.call.id)?.state === 'connected');
  assert.deepEqual(
    joiner.openRelays.map(({ open: flow }) => flow),
    [{ 'a-to-b': true, 'b-to-a': true }],
  );
});

test('without early media the caller hears ring-back until the answer', async (t) => {
  const { joiner, phone, answer, joining, a } = await dialled(t, { earlyMedia: false });
  answer('call_1', 'shop');
  assert.deepEqual([joiner.openRelays.length, joiner.openMixers.length], [0, 1]);
  phone.happen('call_1', { type: 'state', state: 'connected' });
  await until(() => joining.bridges.of(a.call.id)?.state === 'connected');
  assert.deepEqual([joiner.openRelays.length, joiner.openMixers.length], [1, 0]);
});

test('a call that is not answered ends the bridge with its reason, and the first call goes on', async (t) => {
  for (const [end, reason] of [
    [{ reason: 'rejected', status: 486 }, 'busy'],
    [{ reason: 'rejected', status: 603 }, 'rejected'],
    [{ reason: 'no answer' }, 'no answer'],
    [{ reason: 'failed' }, 'failed'],
  ] as const) {
    const { a, phone, ends, nothingLeft, told } = await dialled(t);
    phone.happen('call_1', { type: 'state', state: 'ended', end });
    await until(() => ends().length === 1);
    assert.deepEqual(ends(), [`${a.call.id}: ${reason}`]);
    assert.deepEqual('event' in (told[0] ?? {}) ? (told[0] as { event: object }).event : undefined, {
      type: 'bridge.ended',
      other: 'call_1',
      reason,
    });
    assert.ok(nothingLeft());
    assert.ok(!a.call.isClosing());
  }
});

test('a call that is not answered in time ends the bridge before its far end confirms that', async (t) => {
  const { a, time, phone, ends, nothingLeft } = await dialled(t);
  time.advance(19_999);
  assert.deepEqual(phone.asked, []);
  time.advance(1);
  await until(() => ends().length === 1);
  assert.deepEqual(ends(), [`${a.call.id}: no answer`]);
  assert.deepEqual(phone.asked, [['hangUp', 'call_1']]);
  assert.ok(nothingLeft() && !a.call.isClosing());
});

test('a bridge that was answered goes on after the ring timeout', async (t) => {
  const { a, time, phone, answer, joining } = await dialled(t);
  answer('call_1', 'shop');
  phone.happen('call_1', { type: 'state', state: 'connected' });
  await until(() => joining.bridges.of(a.call.id)?.state === 'connected');
  assert.equal(time.waiting, 0);
});

test('a call that was heard before it is refused ends the bridge with the reason of the refusal', async (t) => {
  const { a, phone, answer, ends, joiner } = await dialled(t);
  const b = answer('call_1', 'shop');
  await b.call.close('rejected');
  assert.deepEqual([joiner.isIdle, ends()], [true, []]);
  a.call.hold(true);
  phone.happen('call_1', { type: 'state', state: 'ended', end: { reason: 'rejected', status: 486 } });
  await until(() => ends().length === 1);
  assert.deepEqual(ends(), [`${a.call.id}: busy`]);
});

test('a call that was placed is hung up with its bridge, and stays when a request parts the two', async (t) => {
  for (const isParted of [false, true]) {
    const { a, phone, answer, joining, ends } = await dialled(t);
    const b = answer('call_1', 'shop');
    phone.happen('call_1', { type: 'state', state: 'connected' });
    await until(() => joining.bridges.of(a.call.id)?.state === 'connected');
    if (isParted) joining.bridges.part(b.call.id, 'shop');
    else await a.call.close('far end hung up');
    await until(() => ends().length === 2);
    assert.equal(
      phone.asked.some(([name]) => name === 'hangUp'),
      !isParted,
    );
  }
});

test('a caller that leaves while it rings takes the call back', async (t) => {
  const { a, phone, ends } = await dialled(t);
  await a.call.close('far end hung up');
  await until(() => ends().length === 1);
  assert.deepEqual(phone.asked, [['hangUp', 'call_1']]);
});

test('a destination that is not allowed leaves the call as it was', async (t) => {
  const under = open(t);
  const a = under.open();
  under.phone.refusal = new ParleyError('FORBIDDEN', 'to is not allowed', { field: 'to' });
  const asked = under.joining.bridges.open(a.call.id, undefined, { to: '+1900', after: 'hangup' });
  await assert.rejects(asked, refusedAs('FORBIDDEN', /not allowed/, 'to'));
  assert.ok(under.nothingLeft());
  assert.ok(!a.call.isClosing());
});
