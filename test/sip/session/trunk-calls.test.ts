// Calls that came in by a trunk: challenges to what we ask within them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DigestClient } from '../../../sip/auth/digest-client.js';
import { knownPeer } from '../../../sip/auth/digest.js';
import { LocatedSender } from '../../../sip/client/located-sender.js';
import { PeerAccount } from '../../../sip/client/peer-account.js';
import { AddressList } from '../../../sip/guard/address-list.js';
import { Places } from '../client/places.js';
import { Callee, CALLEE, CALLER } from '../transaction/users.js';
import { requestsTo, TwoEnds } from './two-ends.js';

const STRANGER = '8.8.4.4'; // a public address; private ones are reached over the flow
const CHALLENGE = {
  status: 401,
  headers: [['WWW-Authenticate', 'Digest realm="carrier", nonce="n", qop="auth"']],
} as const;

function open() {
  const asked: [string | undefined, string][] = [];
  const account = { username: 'a', secret: { password: 'b' }, realms: ['carrier'] };
  const digest = new DigestClient(knownPeer('trunk'), account, (count) => new Uint8Array(count));
  const peer = new PeerAccount({ digest, listed: new AddressList([CALLER]), secureOnly: false });
  const ends = new TwoEnds({
    called: {
      journeyFor: ({ uri }, { remote }) => {
        asked.push([uri.user, remote.address]);
        return remote.address === CALLER ? { account: peer } : undefined;
      },
    },
  });
  const { agent, layer } = ends.called;
  agent.start(layer, new LocatedSender({ layer, locator: new Places(), time: ends.network.time }));
  return { ends, asked };
} // prettier-ignore

void test('a challenge to a request within a call that a trunk brought is answered with its account', async () => {
  const { ends, asked } = open();
  ends.call();
  await ends.network.pass(100);
  const { agent } = ends.calling;
  const { request } = agent;
  agent.request = (one, transaction) => {
    if (one.first('authorization') === undefined) transaction.respond(CHALLENGE);
    else request.call(agent, one, transaction);
  };
  void ends.invited[0]?.hangUp();
  await ends.network.pass(100);
  assert.deepEqual(asked, [['bob', CALLER]]);
  const byes = requestsTo(ends.network, CALLEE, 'BYE');
  assert.equal(byes.length, 2);
  assert.match(byes[1] ?? '', /\r\nAuthorization: Digest username="a", realm="carrier"/);
  assert.match(ends.network.carried.at(-1)?.text ?? '', /^SIP\/2\.0 200 /);
});

void test('a caller by the trunk that names another host gets nothing of its account there', async () => {
  const { ends } = open();
  const stranger = new Callee((transaction) => transaction.respond(CHALLENGE));
  ends.network.layer(STRANGER, stranger);
  ends.call({ headers: [['Contact', `<sip:alice@${STRANGER}>`]] });
  await ends.network.pass(100);
  void ends.invited[0]?.hangUp();
  await ends.network.pass(100);
  const shown = stranger.transactions.map(({ request }) => [request.method, request.first('authorization')]);
  assert.deepEqual(shown, [['BYE', undefined]]);
});
