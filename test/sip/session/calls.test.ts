// Calls from their INVITE to their BYE.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CALLEE, CALLER } from '../transaction/users.js';
import { Told, TwoEnds } from './two-ends.js';

void test('a call is rung, accepted, acknowledged and ended by the caller', async () => {
  const ends = new TwoEnds();
  let told = new Told();
  ends.act = (session) => {
    session.ring();
    ends.network.time.after(500, () => (told = ends.accept(session)));
  };
  const call = ends.call();
  await ends.network.pass(700);
  assert.deepEqual(call.statuses, [180, 200]);
  assert.deepEqual(told.events, ['established']);
  assert.deepEqual(call.told.events, ['established']);
  assert.deepEqual(ends.called.agent.counts, { early: 0, confirmed: 1 });
  let hungUp = false;
  void call.inDialog.hangUp({ protocol: 'q.850', cause: 16, text: 'bye' }).then(() => (hungUp = true));
  await ends.network.pass(100);
  assert.equal(hungUp, true);
  assert.deepEqual(told.end, { by: 'peer', reason: { protocol: 'q.850', cause: 16, text: 'bye' } });
  assert.deepEqual(call.told.end, { by: 'us' });
  await ends.settle();
  for (const { agent, layer } of ends.all) {
    assert.deepEqual(agent.counts, { early: 0, confirmed: 0 });
    assert.deepEqual(layer.open, { server: 0, client: 0, pendingInvites: 0 });
  }
  assert.equal(ends.network.time.waiting, 0);
});

void test('a call is ended by the callee', async () => {
  const ends = new TwoEnds();
  const call = ends.call();
  await ends.network.pass(100);
  const [session] = ends.invited;
  void session?.hangUp();
  await ends.network.pass(100);
  assert.equal(session?.state, 'ended');
  assert.deepEqual(call.told.events, ['established', 'ended peer']);
  assert.equal(ends.network.sentBy(CALLER).at(-1)?.includes('200 OK'), true);
  assert.equal(ends.network.sentBy(CALLEE).at(-1)?.includes('BYE sip:192.0.2.1'), true);
  await ends.settle();
  assert.equal(ends.network.time.waiting, 0);
});
