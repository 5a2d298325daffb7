// A caller that is answered when the far end of its bridge answers.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { RingingCaller } from '../../src/call/bridges.js';
import type { HandledCall } from '../../src/call/call-handler.js';
import { ParleyError } from '../../src/errors.js';
import { openCalls } from '../fakes/call-under-test.js';
import { until } from '../fakes/until.js';
import { joinedCalls } from './joined-calls.js';

const calls = openCalls();
const PATH = { hops: 4, history: ['<sip:100@here>;index=1'] };

/** A caller whose call opens when its media does. */
function ringing(t: TestContext, request: object = {}, after: 'stay' | 'hangup' = 'hangup') {
  const under = joinedCalls(t, calls);
  const asked: string[] = [];
  let [audible, talking]: ((handled: HandledCall) => void)[] = [];
  let leave: () => void = () => undefined;
  const over = new Promise<void>((resolve) => (leave = resolve));
  const caller: RingingCaller = {
    id: 'caller',
    path: PATH,
    over,
    ring: () => void asked.push('ring'),
    openEarly: () => void asked.push('early'),
    answer: () => void asked.push('answer'),
    onceAudible: (action) => (audible = action),
    onceTalking: (action) => (talking = action),
    refuse: (why) => {
      asked.push(why instanceof ParleyError ? why.code : `${why.reason} ${why.status ?? ''}`.trim());
      leave();
    },
  };
  under.joining.ring(caller, { to: '+49170', ...request }, after);
  /** The caller can hear. */
  const hears = () => {
    const a = under.answer('caller');
    audible?.(a.handled);
    return a;
  };
  const talks = ({ handled }: { handled: HandledCall }) => talking?.(handled);
  const placed = () => until(() => audible !== undefined);
  const state = (now: 'ringing' | 'connected') => under.phone.happen('call_1', { type: 'state', state: now });
  const ended = (status?: number) =>
    under.phone.happen('call_1', {
      type: 'state',
      state: 'ended',
      end: status === undefined ? { reason: 'peer hung up' } : { reason: 'rejected', status },
    });
  return { ...under, asked, leave, hears, talks, placed, state, ended };
}

test('a caller rings as its far end rings, is answered with it, and both hear each other', async (t) => {
  const { asked, placed, state, answer, hears, talks, joiner, joining, ends, phone } = ringing(t);
  await placed();
  assert.deepEqual(asked, []);
  assert.deepEqual(phone.requests, [{ to: '+49170', path: PATH }]);
  state('ringing');
  assert.deepEqual(asked, ['ring']);
  const b = answer('call_1');
  state('connected');
  assert.deepEqual(asked, ['ring', 'early', 'answer']);
  const a = hears();
  assert.deepEqual(
    joiner.openRelays[0]?.open,
    { 'a-to-b': false, 'b-to-a': true },
    'the first word is heard',
  );
  talks(a);
  assert.deepEqual(joiner.openRelays[0]?.legs, [a.leg, b.leg]);
  assert.deepEqual(joiner.openRelays[0]?.open, { 'a-to-b': true, 'b-to-a': true });
  assert.equal(joining.bridges.of('caller')?.state, 'connected');
  await b.call.close('far end hung up');
  await until(() => ends().length === 2);
});

test('a caller hears early media as soon as its own media is open, and ring-back until then', async (t) => {
  const { asked, placed, answer, hears, joiner, ended, ends, nothingLeft } = ringing(t);
  await placed();
  const a = hears();
  assert.deepEqual(
    [...(joiner.openMixers[0]?.members ?? [])].map(({ leg }) => leg),
    [a.leg],
  );
  const b = answer('call_1');
  assert.deepEqual([asked, joiner.openRelays[0]?.legs], [['early'], [a.leg, b.leg]]);
  await b.call.close('rejected');
  ended(486);
  await until(() => ends().length === 1);
  assert.deepEqual([asked, ends()], [['early', 'rejected 486'], ['caller: busy']]);
  assert.ok(nothingLeft());
});

test('a far end that answers at once is no early media', async (t) => {
  const { asked, placed, answer, state, hears, joiner, phone } = ringing(t);
  await placed();
  phone.views.set('call_1', { ...phone.get('call_1'), answeredAt: 1 });
  answer('call_1');
  state('connected');
  assert.deepEqual(asked, ['answer']);
  hears();
  assert.deepEqual(joiner.openRelays[0]?.open, { 'a-to-b': false, 'b-to-a': true });
});

test('without early media the sound of the far end is kept until its answer', async (t) => {
  const { asked, placed, answer, state, hears, joiner } = ringing(t, { earlyMedia: false });
  await placed();
  state('ringing');
  answer('call_1');
  hears();
  assert.deepEqual([asked, joiner.openRelays.length], [['ring'], 0]);
  state('connected');
  assert.deepEqual(asked, ['ring', 'answer']);
});

test('a caller whose far end refuses, or leaves before the caller talks, is refused', async (t) => {
  const refused = ringing(t);
  await refused.placed();
  refused.ended(603);
  assert.deepEqual(refused.asked, ['rejected 603']);
  const left = ringing(t);
  await left.placed();
  left.answer('call_1');
  left.state('connected');
  left.hears();
  left.ended();
  assert.deepEqual(left.asked, ['early', 'answer', 'peer hung up']);
});

test('a caller whose far end does not answer in time is refused before the far end confirms its end', async (t) => {
  for (const [request, ms] of [
    [{ ringTimeoutMs: 20_000 }, 20_000],
    [{}, 60_000],
  ] as const) {
    const { asked, placed, state, time, phone, nothingLeft } = ringing(t, request);
    await placed();
    state('ringing');
    time.advance(ms - 1);
    assert.deepEqual(asked, ['ring']);
    time.advance(1);
    assert.deepEqual(asked, ['ring', 'no answer']);
    await until(() => phone.asked.length > 0);
    assert.deepEqual(phone.asked, [['hangUp', 'call_1']]);
    assert.ok(nothingLeft());
  }
});

test('a caller that leaves takes the call to its far end back', async (t) => {
  const { placed, state, leave, phone, nothingLeft } = ringing(t);
  await placed();
  state('ringing');
  leave();
  await until(() => phone.asked.length > 0);
  assert.deepEqual(phone.asked, [['hangUp', 'call_1']]);
  assert.ok(nothingLeft());
});

test('a caller whose far end may not be called, or whose music is missing, is refused', async (t) => {
  const { phone, asked } = ringing(t, { music: 'missing' });
  await until(() => asked.length > 0);
  assert.deepEqual([asked, phone.requests], [['NOT_FOUND'], []]);
  const under = joinedCalls(t, calls);
  under.phone.refusal = new ParleyError('FORBIDDEN', 'to is not allowed', { field: 'to' });
  const codes: string[] = [];
  const nothing = () => undefined;
  const refuse: RingingCaller['refuse'] = (why) => void codes.push((why as ParleyError).code);
  const quiet = {
    ring: nothing,
    openEarly: nothing,
    answer: nothing,
    onceAudible: nothing,
    onceTalking: nothing,
  };
  await under.joining.bridges.ring(
    { id: 'caller', path: PATH, over: Promise.resolve(), ...quiet, refuse },
    { to: '1' },
    nothing,
  );
  assert.deepEqual(codes, ['FORBIDDEN']);
});

test('a caller is hung up a second after its bridge, or stays as the rule says', async (t) => {
  for (const after of ['hangup', 'stay'] as const) {
    const { placed, answer, state, hears, talks, ends, time } = ringing(t, {}, after);
    await placed();
    const b = answer('call_1');
    state('connected');
    const a = hears();
    talks(a);
    await b.call.close('far end hung up');
    await until(() => ends().length === 2);
    time.advance(1000);
    assert.equal(a.call.isClosing(), after === 'hangup');
  }
});
