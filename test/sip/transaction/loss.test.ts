// Calls over a network that loses every seventh message or so.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SipResponse } from '../../../sip/message/message.js';
import type { AcceptedAnswer } from '../../../sip/transaction/server-transaction.js';
import type { SentAck } from '../../../sip/transaction/outgoing-request.js';
import type { TransactionLayer } from '../../../sip/transaction/transaction-layer.js';
import { Network, seeded } from './network.js';
import { Callee, CALLEE, CALLER, request, TARGET } from './users.js';

const CALLS = 200;
const LOSS = 0.15;

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
  for (let index = 0; index < CALLS; index++) network.time.after(index * 10, () => call(network, caller, `call${index}`, outcome));
  return { outcome, layers: [called, caller] };
} // prettier-ignore

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
  test(`of ${CALLS} calls none fails while ${LOSS * 100} % of all messages are lost (seed ${seed})`, async () => {
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
