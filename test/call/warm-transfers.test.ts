// Warm transfers: the caller hears music while a person is called and told a summary, and is then connected
// or back where it was.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { AnsweredBy } from '../../src/call/answer-detector.js';
import type { WarmTransferRequest } from '../../src/call/warm-transfers.js';
import { ParleyError } from '../../src/errors.js';
import { openCalls } from '../fakes/call-under-test.js';
import { until } from '../fakes/until.js';
import { type JoinedCall, joinedCalls } from './joined-calls.js';

const calls = openCalls();
const SUMMARY = { text: 'Ms Novak asks for a refund.', voice: 'slt' };
const OTHER = 'call_1';

const refusedAs = (code: string, words: RegExp, field?: string) => (error: unknown) => {
  assert.ok(error instanceof ParleyError);
  assert.deepEqual([error.code, error.field], [code, field]);
  assert.match(error.message, words);
  return true;
};

function open(t: TestContext) {
  const under = joinedCalls(t, calls);
  const { phone, joining, joiner } = under;
  const start = (one: JoinedCall, request: Partial<WarmTransferRequest> = {}, key?: string) =>
    joining.warmTransfers.start(one.call.id, key, { to: '+49170', summary: SUMMARY, ...request });
  const events = (one: JoinedCall) =>
    under.told.flatMap((event) =>
      'event' in event && event.call === one.call.id && event.type.startsWith('warm_transfer.')
        ? [Object.values(event.event).join(' ')]
        : [],
    );
  const notes: string[] = [];
  const conduct = ({ call }: JoinedCall) => {
    under.openCalls.conductedBy(call.id, 'the agent "sales"');
    under.openCalls.talksIn(call.id, {
      typed: () => undefined,
      silence: (by) => (notes.push(`silent for ${by}`), (note) => void notes.push(note ?? 'speaks')),
    });
  };
  /** The person picks up, and is a call that talks. */
  const picksUp = (): JoinedCall => {
    const person = under.answer(OTHER);
    phone.happen(OTHER, { type: 'state', state: 'connected' });
    return person;
  };
  const isFound = (by: AnsweredBy, early = false) =>
    phone.happen(OTHER, {
      type: 'speech',
      event: { type: 'answer.detected', by, ms: 900, basis: 'speech', ...(early ? { early: true } : {}) },
    });
  const presses = (digit: string) => phone.happen(OTHER, { type: 'digit', digit, durationMs: 100 });
  const ends = (end: object) => phone.happen(OTHER, { type: 'state', state: 'ended', end } as never);
  const music = () => joiner.openMixers.map(({ members }) => [...members].map(({ leg }) => leg));
  const isHungUp = () => phone.asked.some(([name, id]) => name === 'hangUp' && id === OTHER);
  return {
    ...under,
    start,
    events,
    notes,
    conduct,
    picksUp,
    isFound,
    presses,
    endsWith: ends,
    music,
    isHungUp,
  };
}

/** The person has heard the summary, as far as the engine of the test has sound for it. */
async function hearsSummary(person: JoinedCall): Promise<void> {
  const { call } = person;
  await until(() => call.stats().queuedMs > 0);
}

async function ringing(t: TestContext, request: Partial<WarmTransferRequest> = {}) {
  const under = open(t);
  const a = under.open({ isTelephone: true, owner: 'shop' });
  under.conduct(a);
  const view = await under.start(a, request, 'shop');
  return { ...under, a, view };
}

test('the caller hears music while the person is called, with the key and the limits of the call', async (t) => {
  const { a, view, placed, music, notes, events } = await ringing(t, {
    ringTimeoutMs: 20_000,
    trunk: 'main',
    from: 'sip:shop@example.org',
  });
  assert.deepEqual(view, { call: a.call.id, other: OTHER, state: 'ringing' });
  assert.deepEqual(placed(), [
    {
      to: '+49170',
      from: 'sip:shop@example.org',
      trunk: 'main',
      ringTimeoutMs: 20_000,
      owner: 'shop',
      detect: { screening: SUMMARY },
    },
  ]);
  assert.deepEqual([music(), notes], [[[a.leg]], ['silent for others']]);
  assert.equal(a.farEnd.suspended, 1);
  assert.deepEqual(events(a), [`warm_transfer.started ${OTHER}`]);
});

test('a person who answers is told the summary, and is connected when it was heard', async (t) => {
  const { a, picksUp, isFound, music, joiner, joining, events, notes, sendUntil } = await ringing(t);
  const person = picksUp();
  assert.deepEqual(music(), [[a.leg]], 'nothing is said before it is known who answered');
  isFound('human');
  await sendUntil(() => joining.bridges.of(a.call.id)?.state === 'connected');
  assert.deepEqual([joiner.openRelays[0]?.legs, joiner.openMixers.length], [[a.leg, person.leg], 0]);
  assert.deepEqual(events(a), [
    `warm_transfer.started ${OTHER}`,
    `warm_transfer.answered ${OTHER} human`,
    `warm_transfer.connected ${OTHER}`,
  ]);
  assert.deepEqual(notes, ['silent for others'], 'the agent stays silent');
});

test('the caller is hung up with the person, or stays with its agent', async (t) => {
  for (const after of ['hangup', 'stay'] as const) {
    const under = await ringing(t, { after, summary: undefined });
    const person = under.picksUp();
    under.isFound('human');
    await until(() => under.joining.bridges.of(under.a.call.id)?.state === 'connected');
    await person.call.close('far end hung up');
    await until(() => under.joiner.isIdle);
    if (after === 'hangup') assert.equal(await under.a.call.closed, 'agent hung up');
    await until(() => under.notes.length === (after === 'stay' ? 2 : 1));
    if (after === 'stay') assert.match(under.notes[1] ?? '', /colleague has left/);
    assert.equal(under.a.call.isClosing(), after === 'hangup');
  }
});

test('a caller who cannot be joined with the person is back, and is not hung up', async (t) => {
  const { a, picksUp, isFound, joiner, ends, events, told, notes, isHungUp, nothingLeft } = await ringing(t, {
    summary: undefined,
  });
  picksUp();
  joiner.failure = new ParleyError('CALL_LIMIT', 'no relay is free');
  isFound('human');
  await until(() => notes.length === 2);
  assert.match(notes[1] ?? '', /failed \(failed\): the caller is back/);
  assert.deepEqual(events(a), [
    `warm_transfer.started ${OTHER}`,
    `warm_transfer.answered ${OTHER} human`,
    `warm_transfer.failed ${OTHER} failed`,
  ]);
  assert.deepEqual(ends(), [`${a.call.id}: failed`], 'no bridge is told of');
  assert.ok(told.every(({ type }) => !type.startsWith('bridge.')));
  assert.ok(isHungUp() && !a.call.isClosing());
  assert.ok(nothingLeft());
});

test('a caller who leaves a person hangs that call up', async (t) => {
  const { a, picksUp, isFound, joining, isHungUp } = await ringing(t, { summary: undefined });
  picksUp();
  isFound('human');
  await until(() => joining.bridges.of(a.call.id)?.state === 'connected');
  await a.call.close('far end hung up');
  await until(isHungUp);
});

test('a call that is not answered gives the caller back, with the reason', async (t) => {
  for (const [end, reason] of [
    [{ reason: 'rejected', status: 486 }, 'busy'],
    [{ reason: 'rejected', status: 603 }, 'rejected'],
    [{ reason: 'no answer' }, 'no answer'],
    [{ reason: 'failed' }, 'failed'],
  ] as const) {
    const { a, endsWith, events, notes, nothingLeft } = await ringing(t);
    endsWith(end);
    assert.equal(events(a).at(-1), `warm_transfer.failed ${OTHER} ${reason}`);
    assert.ok(nothingLeft() && !a.call.isClosing());
    assert.ok(notes[1]?.includes(`(${reason})`), notes[1]);
    assert.equal(a.farEnd.suspended, 0);
  }
});

test('a person who does not answer in time gives the caller back before that call confirms its end', async (t) => {
  for (const [request, ms] of [
    [{ ringTimeoutMs: 20_000 }, 20_000],
    [{}, 60_000],
  ] as const) {
    const { a, time, events, notes, isHungUp, nothingLeft } = await ringing(t, request);
    time.advance(ms - 1);
    assert.equal(notes.length, 1);
    time.advance(1);
    assert.equal(events(a).at(-1), `warm_transfer.failed ${OTHER} no answer`);
    assert.match(notes[1] ?? '', /\(no answer\)/);
    assert.ok(isHungUp() && nothingLeft() && !a.call.isClosing());
  }
});

test('a person who has answered may talk longer than the ring timeout', async (t) => {
  const { a, picksUp, time, events } = await ringing(t, { ringTimeoutMs: 20_000 });
  picksUp();
  time.advance(20_000);
  assert.deepEqual(events(a), [`warm_transfer.started ${OTHER}`]);
});

test('machines, faxes and tones get no summary, and the caller is back', async (t) => {
  for (const [by, reason] of [
    ['machine', 'voicemail'],
    ['machine_beep', 'voicemail'],
    ['machine_silence', 'voicemail'],
    ['fax', 'failed'],
    ['tone', 'failed'],
  ] as const) {
    const { a, picksUp, isFound, events, nothingLeft, isHungUp } = await ringing(t);
    const person = picksUp();
    isFound(by);
    assert.equal(events(a).at(-1), `warm_transfer.failed ${OTHER} ${reason}`);
    assert.ok(nothingLeft() && isHungUp());
    assert.equal(person.call.stats().queuedMs, 0);
  }
});

test('a greeting that turns out to be a machine gives the caller back in the middle of the summary', async (t) => {
  const { a, picksUp, isFound, events, isHungUp } = await ringing(t);
  const person = picksUp();
  isFound('human');
  await hearsSummary(person);
  isFound('machine_beep');
  assert.equal(events(a).at(-1), `warm_transfer.failed ${OTHER} voicemail`);
  assert.ok(isHungUp());
});

test('a screening service gets the summary from the detector, and a person behind it the call', async (t) => {
  const nobody = await ringing(t);
  nobody.picksUp();
  nobody.isFound('screening');
  nobody.isFound('unknown');
  assert.equal(nobody.events(nobody.a).at(-1), `warm_transfer.failed ${OTHER} voicemail`);
  const { a, picksUp, isFound, joining } = await ringing(t, { summary: undefined });
  picksUp();
  isFound('screening');
  isFound('human');
  await until(() => joining.bridges.of(a.call.id)?.state === 'connected');
});

test('who answers and says nothing is told the summary too, and early results decide nothing', async (t) => {
  const { a, picksUp, isFound, events } = await ringing(t);
  isFound('announcement', true);
  const person = picksUp();
  isFound('silence');
  await hearsSummary(person);
  assert.equal(events(a).at(-1), `warm_transfer.answered ${OTHER} silence`);
});

test('the person refuses by a key or by hanging up', async (t) => {
  for (const declines of ['*', 'hangs up'] as const) {
    const { a, picksUp, isFound, presses, endsWith, events, nothingLeft } = await ringing(t);
    picksUp();
    isFound('human');
    if (declines === '*') presses('*');
    else endsWith({ reason: 'peer hung up' });
    assert.equal(events(a).at(-1), `warm_transfer.failed ${OTHER} declined`);
    assert.ok(nothingLeft());
  }
});

test('with an accept key nobody is connected without it', async (t) => {
  const { a, picksUp, isFound, joining, time, events, sendUntil, nothingLeft } = await ringing(t, {
    acceptKey: '1',
  });
  picksUp();
  const waiting = time.waiting;
  isFound('human');
  await sendUntil(() => time.waiting > waiting);
  assert.equal(joining.bridges.of(a.call.id), undefined);
  time.advance(20_000);
  assert.equal(events(a).at(-1), `warm_transfer.failed ${OTHER} no answer`);
  assert.ok(nothingLeft());
});

test('the accept key ends the summary and connects at once', async (t) => {
  const { a, picksUp, isFound, presses, joining } = await ringing(t, { acceptKey: '1' });
  const person = picksUp();
  isFound('human');
  await hearsSummary(person);
  presses('7');
  assert.equal(joining.bridges.of(a.call.id), undefined);
  presses('1');
  assert.equal(joining.bridges.of(a.call.id)?.state, 'connected');
  assert.equal(person.call.stats().queuedMs, 0);
});

test('a person of whom nothing is known after three minutes does not keep the caller', async (t) => {
  const { a, picksUp, time, events, nothingLeft } = await ringing(t);
  picksUp();
  time.advance(180_000);
  assert.equal(events(a).at(-1), `warm_transfer.failed ${OTHER} no answer`);
  assert.ok(nothingLeft());
});

test('a request takes the caller back, and a caller who hangs up takes the call back', async (t) => {
  const { a, joining, events, notes, isHungUp, nothingLeft } = await ringing(t);
  joining.warmTransfers.cancel(a.call.id, 'shop');
  assert.equal(events(a).at(-1), `warm_transfer.failed ${OTHER} application cancelled`);
  assert.match(notes[1] ?? '', /failed \(an application cancelled it\): the caller is back/);
  assert.ok(isHungUp() && nothingLeft());
  assert.throws(
    () => joining.warmTransfers.cancel(a.call.id, 'shop'),
    refusedAs('NOT_FOUND', /no warm transfer/),
  );
  const left = await ringing(t);
  await left.a.call.close('far end hung up');
  await until(() => left.isHungUp());
  assert.equal(left.events(left.a).at(-1), `warm_transfer.failed ${OTHER} hung up`);
  assert.deepEqual(left.notes, ['silent for others'], 'nobody is left to speak to');
});

test('a caller who leaves while the call is placed takes it back', async (t) => {
  const { phone, open: call, start, isHungUp, nothingLeft } = open(t);
  let place: () => void = () => undefined;
  phone.ready = new Promise((resolve) => (place = resolve));
  const a = call();
  const asked = start(a);
  await until(() => phone.requests.length === 1);
  await a.call.close('far end hung up');
  place();
  await assert.rejects(
    asked,
    refusedAs('CALL_STATE', /^the caller of call call-1 hung up while the person's call was being placed$/),
  );
  assert.ok(isHungUp() && nothingLeft());
});

test('a call that has ended before it is followed is followed no longer', async (t) => {
  const { phone, open: call, start, events, nothingLeft } = open(t);
  const place = phone.place.bind(phone);
  phone.place = async (request) => {
    const view = await place(request);
    phone.happen(view.id, { type: 'state', state: 'ended', end: { reason: 'rejected', status: 486 } });
    return view;
  };
  const a = call();
  await start(a);
  assert.equal(events(a).at(-1), `warm_transfer.failed ${OTHER} busy`);
  assert.equal(phone.watching(OTHER), 0);
  assert.ok(nothingLeft());
});

test('a transfer that is taken back while the call is placed leaves the agent alone', async (t) => {
  const { phone, open: call, start, conduct, notes, events, joining, isHungUp, nothingLeft } = open(t);
  let place: () => void = () => undefined;
  phone.ready = new Promise((resolve) => (place = resolve));
  const a = call();
  conduct(a);
  const asked = start(a);
  await until(() => phone.requests.length === 1);
  assert.deepEqual(notes, [], 'the agent speaks until the call is on its way');
  joining.warmTransfers.cancel(a.call.id, undefined);
  place();
  const words =
    /^an application cancelled the warm transfer of call call-1 while the person's call was being/;
  await assert.rejects(asked, refusedAs('CALL_STATE', words));
  assert.deepEqual([notes, events(a)], [[], ['warm_transfer.failed application cancelled']]);
  assert.ok(isHungUp() && nothingLeft());
});

test('what is refused leaves the call and its agent as they were', async (t) => {
  const { open: call, start, phone, conduct, notes, nothingLeft, joining, joiner, events } = open(t);
  const a = call({ owner: 'shop' });
  conduct(a);
  const unknown = refusedAs('NOT_FOUND', /no open call/);
  await assert.rejects(start(a, {}, 'bank'), unknown);
  assert.throws(() => joining.warmTransfers.cancel(a.call.id, 'bank'), unknown);
  await assert.rejects(start(a, { music: 'missing' }), refusedAs('NOT_FOUND', /no sound/, 'music'));
  const keys = { acceptKey: '*' };
  await assert.rejects(start(a, keys), refusedAs('INVALID_FIELD', /must differ/, 'accept_key'));
  const long = { summary: { text: 'x'.repeat(1001) } };
  await assert.rejects(start(a, long), refusedAs('TEXT_TOO_LONG', /1000/, 'summary'));
  joiner.failure = new ParleyError('CALL_LIMIT', 'no mixer is free');
  await assert.rejects(start(a), refusedAs('CALL_LIMIT', /no mixer/));
  joiner.failure = undefined;
  phone.refusal = new ParleyError('FORBIDDEN', 'to is not allowed', { field: 'to' });
  await assert.rejects(start(a), refusedAs('FORBIDDEN', /not allowed/, 'to'));
  assert.deepEqual(notes, [], 'the agent was not interrupted');
  assert.ok(nothingLeft() && !a.call.isClosing());
  assert.deepEqual(events(a), []);
  phone.refusal = undefined;
  const b = call();
  await joining.bridges.open(a.call.id, undefined, { call: b.call.id });
  await assert.rejects(start(a), refusedAs('CALL_STATE', /is in a bridge/));
});

test('an agent that asks itself gets the outcome, and no note', async (t) => {
  const { open: call, conduct, notes, joining, endsWith, phone } = open(t);
  const a = call();
  conduct(a);
  const outcome = joining.warmTransfers.byAgent(a.handled, { to: '200' });
  await until(() => phone.followers.get(OTHER)?.size === 1);
  endsWith({ reason: 'no answer' });
  assert.equal(await outcome, 'no answer');
  assert.deepEqual(notes, ['silent for own', 'speaks']);
});

test('a server that closes gives the callers back', async (t) => {
  const { a, joining, events, nothingLeft } = await ringing(t);
  joining.close();
  assert.equal(events(a).at(-1), `warm_transfer.failed ${OTHER} server closing`);
  assert.ok(nothingLeft());
  await assert.rejects(
    joining.warmTransfers.start(a.call.id, undefined, { to: '1' }),
    refusedAs('CALL_CLOSED', /closing/),
  );
});
