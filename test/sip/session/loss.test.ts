// Whole calls over a network that loses every seventh message or so.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seeded } from '../transaction/network.js';
import { NegotiatedMedia } from './negotiated-media.js';
import { CALLEE } from '../transaction/users.js';
import { type Calling, Told, TwoEnds } from './two-ends.js';

const CALLS = 200;
const LOSS = 0.15;

for (const seed of [1, 2, 3]) {
  test(`of ${CALLS} calls none fails while ${LOSS * 100} % of all messages are lost (seed ${seed})`, async () => {
    const ends = new TwoEnds({ seed });
    const random = seeded(seed);
    ends.network.loses = () => random() < LOSS;
    const called: Told[] = [];
    const refused: unknown[] = [];
    ends.act = (session) => {
      const told = new Told();
      called.push(told);
      session.ring();
      ends.network.time.after(300, () => {
        if (session.accept(new NegotiatedMedia(CALLEE, 7), told).refusal) refused.push(session.state);
      });
      // Each call is held once, by one side or the other, and ended by the other.
      ends.network.time.after(8000, () => {
        if (called.length % 2 === 0) void session.reoffer().then(({ refusal }) => refusal && refused.push(refusal));
      });
    };
    const calls: Calling[] = [];
    for (let index = 0; index < CALLS; index++) {
      ends.network.time.after(index * 10, () => calls.push(ends.call()));
    }
    ends.network.time.after(60_000, () => {
      for (const call of calls) void call.inDialog.hangUp();
    });
    await ends.network.pass(280_000, 50);
    assert.deepEqual(refused, []);
    assert.equal(calls.length, CALLS);
    assert.deepEqual(calls.filter(({ told }) => told.events.join() !== 'established,ended us').map(({ told }) => told.end), []);
    assert.deepEqual(called.filter(({ events }) => events.join() !== 'established,ended peer').map(({ end }) => end), []);
    const lost = ends.network.carried.filter((one) => one.lost).length / ends.network.carried.length;
    assert.ok(lost > 0.13 && lost < 0.17, `lost ${lost}`);
    for (const { agent, layer } of ends.all) {
      assert.deepEqual(agent.counts, { early: 0, confirmed: 0 });
      assert.deepEqual(layer.open, { server: 0, client: 0, pendingInvites: 0 });
    }
    assert.equal(ends.network.time.waiting, 0);
  });
} // prettier-ignore
