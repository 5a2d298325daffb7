// Runs whole calls over a network that loses about every seventh message: between sessions, and
// outgoing calls from the sender with its locator to the sessions at both ends.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SipResponse } from '../../../sip/message/message.js';
import type { InboundSession } from '../../../sip/session/inbound-session.js';
import { OutboundSession } from '../../../sip/session/outbound-session.js';
import { UserAgent } from '../../../sip/session/user-agent.js';
import type { SentAck } from '../../../sip/transaction/outgoing-request.js';
import type { AcceptedAnswer } from '../../../sip/transaction/server-transaction.js';
import type { TransactionLayer } from '../../../sip/transaction/transaction-layer.js';
import { CALLEE, Callee, CALLER, Network, request, seeded, TARGET } from '../transaction/network.js';
import { CallingOut, HeardMedia, SeenCall } from './calling-out.js';
import { type Calling, DirectSender, NegotiatedMedia, SeenEvents, TwoEnds } from './two-ends.js';

const CALLS = 200;
const LOSS = 0.15;

for (const seed of [1, 2, 3]) {
  test(`of ${CALLS} calls none fails while ${LOSS * 100} % of all messages are lost (seed ${seed})`, async () => {
    const ends = new TwoEnds({ seed });
    const random = seeded(seed);
    ends.network.loses = () => random() < LOSS;
    const called: SeenEvents[] = [];
    const refused: unknown[] = [];
    ends.act = (session) => {
      const seen = new SeenEvents();
      called.push(seen);
      session.ring();
      ends.network.time.after(300, () => {
        if (session.accept(new NegotiatedMedia(CALLEE, 7), seen).refusal) refused.push(session.state);
      });
      // Each call is held once, by one side or the other, and ended by the other.
      ends.network.time.after(8000, () => {
        if (called.length % 2 === 0)
          void session.reoffer().then(({ refusal }) => refusal && refused.push(refusal));
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
    assert.deepEqual(
      calls.filter(({ seen }) => seen.events.join() !== 'established,ended us').map(({ seen }) => seen.end),
      [],
    );
    assert.deepEqual(
      called.filter(({ events }) => events.join() !== 'established,ended peer').map(({ end }) => end),
      [],
    );
    const lost = ends.network.carried.filter((one) => one.lost).length / ends.network.carried.length;
    assert.ok(lost > 0.13 && lost < 0.17, `lost ${lost}`);
    for (const { agent, layer } of ends.all) {
      assert.deepEqual(agent.counts, { early: 0, confirmed: 0 });
      assert.deepEqual(layer.open, { server: 0, client: 0, pendingInvites: 0 });
    }
    assert.equal(ends.network.time.waiting, 0);
  });
}

/** The far end: rings, takes each call after a while, and hangs up those to `ends`. */
function answering(out: CallingOut): { agent: UserAgent; layer: TransactionLayer } {
  const { network } = out;
  const random = seeded(99);
  const agent: UserAgent = new UserAgent({
    time: network.time,
    token: () => Math.floor(random() * 2 ** 32).toString(36),
    randomInt: (below) => Math.floor(random() * below),
    product: '',
    sessionSeconds: 0,
    leastSeconds: 90,
    admission: { admits: () => undefined },
    contactFor: () => `<sip:${CALLEE}>`,
    invited: (session: InboundSession) => {
      const hangsUp = session.request.uri.user === 'ends';
      session.ring();
      network.time.after(300, () => {
        session.accept(new HeardMedia(), { established: () => undefined, ended: () => undefined });
        if (hangsUp) network.time.after(8000, () => void session.hangUp());
      });
    },
  });
  const layer = network.layer(CALLEE, agent);
  agent.start(layer, new DirectSender(layer));
  return { agent, layer };
}

for (const seed of [1, 2, 3]) {
  test(`of ${CALLS} calls out none fails while ${LOSS * 100} % of all messages are lost (seed ${seed})`, async () => {
    const out = new CallingOut(seed);
    const { network } = out;
    const random = seeded(seed + 10);
    network.loses = () => random() < LOSS;
    const far = answering(out);
    const seenCalls: SeenCall[] = [];
    for (let index = 0; index < CALLS; index++) {
      network.time.after(index * 10, () => {
        const seen = new SeenCall();
        seenCalls.push(seen);
        const plan = out.plan({
          uri: `sip:${index % 2 === 0 ? 'ends' : 'stays'}@example.com`,
          media: new HeardMedia(),
        });
        const session = new OutboundSession({ plan, context: out.agent.context, user: seen });
        session.start();
        if (index % 2 === 1) network.time.after(12_000, () => void session.hangUp());
      });
    }
    await network.pass(160_000, 20);
    assert.equal(seenCalls.length, CALLS);
    const failed = seenCalls.filter(
      ({ events }) => !/^(180,)?established,ended (us|peer)$/.test(events.join()),
    );
    assert.deepEqual(
      failed.map(({ events }) => events),
      [],
    );
    const lost = network.carried.filter((one) => one.lost).length / network.carried.length;
    assert.ok(lost > 0.13 && lost < 0.17, `lost ${lost}`);
    for (const { open } of [out.layer, far.layer])
      assert.deepEqual(open, { server: 0, client: 0, pendingInvites: 0 });
    for (const { counts } of [out.agent, far.agent]) assert.deepEqual(counts, { early: 0, confirmed: 0 });
    assert.equal(network.time.waiting, 0);
  });
}

// Transactions set up calls over a network that loses about every seventh message.

/** INVITE, 180, 200, ACK, BYE, 200, as dialogs do it; what became of each call. */
function calls(network: Network): { outcome: Map<string, string>; layers: TransactionLayer[] } {
  const outcome = new Map<string, string>();
  const answers = new Map<string, AcceptedAnswer | undefined>();
  const callee = new Callee((transaction) => {
    const { callId, method } = transaction.request;
    if (method === 'BYE') transaction.respond({ status: answers.has(callId) ? 200 : 481 });
    else {
      transaction.respond({ status: 180 });
      network.time.after(300, () => {
        const accepted = called.accept(transaction, { status: 200 }, () => outcome.set(callId, 'no ACK'));
        answers.set(callId, accepted);
      });
    }
  });
  callee.acknowledged = ({ callId }) => answers.get(callId)?.stop();
  const called = network.layer(CALLEE, callee);
  const caller = network.layer(CALLER, new Callee());
  for (let index = 0; index < CALLS; index++)
    network.time.after(index * 10, () => call(network, caller, `call${index}`, outcome));
  return { outcome, layers: [called, caller] };
}

function call(
  network: Network,
  caller: TransactionLayer,
  callId: string,
  outcome: Map<string, string>,
): void {
  let ack: SentAck | undefined;
  const hangUp = (): void => {
    caller.send(request('BYE', callId), TARGET, {
      response: ({ status }) => outcome.set(callId, `BYE ${status}`),
      failed: ({ reason }) => outcome.set(callId, `BYE ${reason}`),
    });
  };
  caller.send(request('INVITE', callId), TARGET, {
    response: ({ status }: SipResponse) => {
      if (status < 200) return;
      if (status >= 300) outcome.set(callId, `INVITE ${status}`);
      else if (ack === undefined) {
        ack = caller.sendAck(request('ACK', callId), TARGET);
        network.time.after(5000, hangUp);
      } else ack.again();
    },
    failed: ({ reason }) => outcome.set(callId, `INVITE ${reason}`),
  });
}

for (const seed of [1, 2, 3]) {
  test(`of ${CALLS} calls of the transaction layer alone none fails while ${LOSS * 100} % of all messages are lost (seed ${seed})`, async () => {
    const network = new Network();
    const random = seeded(seed);
    network.loses = () => random() < LOSS;
    const { outcome, layers } = calls(network);
    await network.pass(110_000, 20);
    const failed = [...outcome].filter(([, what]) => what !== 'BYE 200');
    assert.deepEqual(failed, []);
    assert.equal(outcome.size, CALLS);
    const lost = network.carried.filter((one) => one.lost).length / network.carried.length;
    assert.ok(lost > 0.13 && lost < 0.17, `lost ${lost}`);
    for (const { open } of layers) assert.deepEqual(open, { server: 0, client: 0, pendingInvites: 0 });
    assert.equal(network.time.waiting, 0);
  });
}
