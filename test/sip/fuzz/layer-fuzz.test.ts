// The whole of the transactions under fire: nothing that comes in throws, what
// is kept has its limits, and after the longest timer nothing is kept at all.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SipRequest } from '../../../sip/message/message.js';
import { requestBytes } from '../../../sip/message/serialiser.js';
import type { ClientTransaction } from '../../../sip/transaction/client-transaction.js';
import type { ServerTransaction } from '../../../sip/transaction/server-transaction.js';
import { TransactionLayer, type TransactionUser } from '../../../sip/transaction/transaction-layer.js';
import type { Wire } from '../../../sip/transaction/outgoing-request.js';
import type { Flow, TransportName } from '../../../sip/transport/flow.js';
import { ManualTime } from '../../fakes/manual-time.js';
import { Heard, request, settled, TARGET } from '../transaction/network.js';
import { below, damaged, fuzz, oneOf, type Random, strangersMessage } from './made-messages.js';

const LIMITS = { server: 200, pendingInvites: 20, client: 200, retryAfterSeconds: 5 };
const OVER_MS = 64 * 500 * 3; // longer than any timer of a transaction, one after the other

function flow(transport: TransportName, host: number): Flow {
  return {
    transport,
    reliable: transport !== 'udp',
    closed: false,
    local: { address: '192.0.2.1', port: 5060 },
    remote: { address: `198.51.100.${host}`, port: 5060 },
    send: () => true,
    onClose: () => () => undefined,
    close: () => undefined,
    received: 0,
    abandon: () => undefined,
  };
}

/** A layer whose wire carries nothing anywhere, and whose user answers one way or another, or late. */
class Besieged implements TransactionUser {
  readonly time = new ManualTime();
  readonly sent: Buffer[] = [];
  readonly unanswered: ServerTransaction[] = [];
  readonly layer: TransactionLayer;
  random: Random = () => 0;
  #tokens = 0;

  constructor() {
    const wire: Wire = {
      send: (target, bytesFor) => {
        const to = target.flow ?? flow('udp', 9);
        return Promise.resolve(
          this.random() < 0.1 ? 'refused' : { flow: to, bytes: this.#keep(bytesFor(to)) },
        );
      },
      respond: (bytes) => {
        this.#keep(bytes);
        return Promise.resolve(this.random() < 0.95);
      },
      viaFor: (to, branch) => `SIP/2.0/${to.transport.toUpperCase()} 192.0.2.1;branch=${branch}`,
    };
    const token = (): string => `t${++this.#tokens}`;
    this.layer = new TransactionLayer({ wire, user: this, time: this.time, token, limits: LIMITS });
  }

  request(_request: SipRequest, transaction: ServerTransaction): void {
    const kind = this.random();
    if (kind < 0.3) this.unanswered.push(transaction);
    else if (kind < 0.4) transaction.respond({ status: 180 });
    if (kind >= 0.3) this.#answer(transaction);
  }

  acknowledged(): void {}

  answerAll(): void {
    for (const transaction of this.unanswered.splice(0)) this.#answer(transaction);
  }

  #answer(transaction: ServerTransaction): void {
    const status = oneOf([200, 202, 302, 404, 486, 503], this.random);
    const accepted = this.random() < 0.5 && status === 200;
    if (accepted) this.layer.accept(transaction, { status }, () => undefined);
    if (!transaction.answered) transaction.respond({ status });
  }

  #keep(bytes: Buffer): Buffer {
    if (this.sent.length > 300) this.sent.shift();
    this.sent.push(bytes);
    return bytes;
  }
}

/** A response to something that was sent, or a request that was sent come back, damaged or not. */
function echo(sent: readonly Buffer[], random: Random): Buffer {
  const text = oneOf(sent, random).toString('latin1');
  const status = oneOf([100, 180, 200, 401, 486, 503], random);
  const reply =
    text.startsWith('SIP') || random() < 0.2 ? text : text.replace(/^[^\r]*/, `SIP/2.0 ${status} Answer`);
  return Buffer.from(random() < 0.5 ? reply : damaged(reply, random), 'latin1');
}

function wholeInvite(id: string): Buffer {
  return requestBytes(request('INVITE', id), `SIP/2.0/UDP 198.51.100.1;branch=z9hG4bK${id}`);
}

test('a layer under fire throws nothing, keeps to its limits, and forgets everything in the end', async (t) => {
  const siege = new Besieged();
  const { layer, time, sent } = siege;
  const heard = new Heard();
  const invites: ClientTransaction[] = [];
  for (let wave = 0; wave < 40; wave++) {
    const attempt = (random: Random, show: (input: Buffer) => void): void => {
      siege.random = random;
      const from = flow(oneOf(['udp', 'tcp', 'ws'], random), below(250, random));
      const kind = random();
      const id = `c${below(1e6, random)}`;
      if (kind < 0.02) invites.push(layer.send(request('INVITE', id), TARGET, heard));
      else if (kind < 0.05) layer.send(request(oneOf(['OPTIONS', 'BYE'], random), id), TARGET, heard);
      const bytes =
        kind < 0.4 && sent.length > 0
          ? echo(sent, random)
          : kind < 0.5
            ? wholeInvite(id)
            : strangersMessage(random);
      show(bytes);
      layer.received(bytes, from);
      if (random() < 0.1) layer.received(bytes, from);
      if (random() < 0.02) time.advance(below(4000, random));
      const { server, client, pendingInvites } = layer.open;
      assert.ok(server <= LIMITS.server * 1.25 && pendingInvites <= server, JSON.stringify(layer.open));
      assert.ok(client <= LIMITS.client * 2, `${client} clients`); // a CANCEL each
    };
    fuzz(t, 500, attempt, wave * 500);
    await settled();
    if (wave % 4 === 3) siege.answerAll();
  }
  siege.answerAll();
  for (const invite of invites) invite.cancel(); // calls that ring would ring until then
  for (let round = 0; round < 4; round++) {
    time.advance(OVER_MS);
    await settled();
    siege.answerAll();
  }
  assert.deepEqual(layer.open, { server: 0, client: 0, pendingInvites: 0 });
  assert.ok(layer.countOf('requests') > 1000 && layer.countOf('responses') > 1000);
  assert.ok(layer.countOf('overload') > 0, 'it was never full');
  layer.close();
  assert.equal(time.waiting, 0);
});
