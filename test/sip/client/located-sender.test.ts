import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DigestClient } from '../../../sip/auth/digest-client.js';
import { knownPeer } from '../../../sip/auth/digest.js';
import { PeerAccount } from '../../../sip/client/peer-account.js';
import { LocatedSender } from '../../../sip/client/located-sender.js';
import type { InviteUser, Journey, RequestMaker, SendOutcome } from '../../../sip/client/request-sender.js';
import { AddressList } from '../../../sip/guard/address-list.js';
import type { ServerTransaction } from '../../../sip/transaction/server-transaction.js';
import { Callee, CALLER, Network } from '../transaction/network.js';
import { Places, uriOf } from './places.js';

const [ONE, TWO, THREE] = ['192.0.2.11', '192.0.2.12', '192.0.2.13'];
type Act = (transaction: ServerTransaction) => void;
const answers =
  (status: number, headers: [string, string][] = []): Act =>
  (transaction) =>
    transaction.respond({ status, headers });

function open(acts: Readonly<Record<string, Act>> = {}, addresses = [ONE, TWO, THREE]) {
  const network = new Network();
  const places = new Places({ 'example.com': addresses });
  const layer = network.layer(CALLER, new Callee());
  const sender = new LocatedSender({ layer, locator: places, time: network.time });
  const callees = new Map(Object.entries(acts).map(([address, act]) => [address, new Callee(act)]));
  for (const [address, callee] of callees) network.layer(address, callee);
  for (const address of addresses) if (!callees.has(address)) network.sink(address);
  const sentTo = () => network.carried.filter(({ from }) => from === CALLER).length;
  return { network, places, layer, sender, callees, sentTo };
}

function maker(method: string, callId = 'call'): RequestMaker {
  let cseq = 0;
  return (more) => ({
    method,
    uri: 'sip:bob@example.com',
    headers: [
      ['From', `<sip:alice@${CALLER}>;tag=${callId}`],
      ['To', '<sip:bob@example.com>'],
      ['Call-ID', callId],
      ['CSeq', `${++cseq} ${method}`],
      ['Contact', `<sip:alice@${CALLER}>`],
      ...more,
    ],
  });
}

const TO_EXAMPLE: Journey = { nextHop: uriOf('sip:example.com') };

function heard(): { events: string[]; user: InviteUser } {
  const events: string[] = [];
  const named = (outcome: SendOutcome): string =>
    'failure' in outcome
      ? `${outcome.failure.reason} ${outcome.failure.status}`
      : `refused ${outcome.response.status}`;
  const user: InviteUser = {
    provisional: ({ status }) => events.push(String(status)),
    accepted: ({ status, toTag }) => events.push(`${status} ${toTag === undefined ? '' : 'tagged'}`.trim()),
    refused: (outcome) => events.push(named(outcome)),
  };
  return { events, user };
}

async function settledOf(sending: Promise<SendOutcome>, network: Network, ms: number): Promise<string> {
  let text = 'pending';
  void sending.then((outcome) => {
    text =
      'failure' in outcome
        ? `${outcome.failure.reason} ${outcome.failure.status}`
        : String(outcome.response.status);
  });
  await network.pass(ms, 50);
  return text;
}

test('the first target that answers is the last one tried, and tells the way it was reached', async () => {
  const { network, sender, callees } = open({ [ONE]: answers(200), [TWO]: answers(200) });
  const sending = sender.send(maker('OPTIONS'), TO_EXAMPLE);
  assert.equal(await settledOf(sending, network, 100), '200');
  const outcome = await sending;
  assert.equal('response' in outcome && outcome.flow?.remote.address, ONE);
  assert.deepEqual(callees.get(TWO)?.events, []);
});

test('503 and what cannot be reached lead to the next target, and its answer counts', async () => {
  const { network, sender, callees } = open({ [ONE]: answers(503), [THREE]: answers(404) });
  network.failureAt = (address) => (address === TWO ? 'refused' : undefined);
  assert.equal(await settledOf(sender.send(maker('OPTIONS'), TO_EXAMPLE), network, 200), '404');
  assert.deepEqual(callees.get(THREE)?.transactions[0]?.request.cseq, { number: 3, method: 'OPTIONS' });
});

test('a target that is silent for 64 T1 is followed by the next', async () => {
  const { network, sender } = open({ [TWO]: answers(200) });
  assert.equal(await settledOf(sender.send(maker('OPTIONS'), TO_EXAMPLE), network, 31_900), 'pending');
  assert.equal(await settledOf(sender.send(maker('OPTIONS'), TO_EXAMPLE), network, 200), 'pending');
  assert.equal(await settledOf(sender.send(maker('OPTIONS', 'second'), TO_EXAMPLE), network, 200), '200');
});

test('who said 503 is passed over as long as Retry-After says, and tried last of all', async () => {
  const busy = answers(503, [['Retry-After', '60 (maintenance);duration=10']]);
  const { network, sender, callees } = open({ [ONE]: busy, [TWO]: answers(200) }, [ONE, TWO]);
  const counts = () => [ONE, TWO].map((address) => callees.get(address)?.transactions.length);
  const send = () => settledOf(sender.send(maker('OPTIONS'), TO_EXAMPLE), network, 100);
  assert.equal(await send(), '200');
  assert.deepEqual(counts(), [1, 1]);
  assert.equal(await send(), '200');
  assert.deepEqual(counts(), [1, 2]);
  network.failureAt = (address) => (address === TWO ? 'unreachable' : undefined);
  assert.equal(await send(), '503');
  assert.deepEqual(counts(), [2, 2]);
  network.failureAt = () => undefined;
  await network.pass(61_000, 500);
  assert.equal(await send(), '200');
  assert.deepEqual(counts(), [3, 3]);
});

test('a target that serves again is first again', async () => {
  let busy = true;
  const recovering: Act = (transaction) =>
    transaction.respond({ status: busy ? 503 : 200, headers: [['Retry-After', '250']] });
  const { network, sender, callees } = open({ [ONE]: recovering, [TWO]: answers(200) }, [ONE, TWO]);
  const send = () => settledOf(sender.send(maker('OPTIONS'), TO_EXAMPLE), network, 100);
  await send();
  busy = false;
  network.failureAt = (address) => (address === TWO ? 'unreachable' : undefined);
  assert.equal(await send(), '200');
  network.failureAt = () => undefined;
  await network.pass(31_000, 500);
  await send();
  assert.equal(callees.get(TWO)?.transactions.length, 1);
});

test('a target whose connection closes under a request is tried once more, and is not passed over for that', async () => {
  const { network, sender, places, callees } = open({ [ONE]: answers(200), [TWO]: answers(200) }, [ONE, TWO]);
  places.transport = 'tcp';
  let resets = 1;
  network.failureAt = (address) => (address === ONE && resets-- > 0 ? 'closed' : undefined);
  const send = (callId: string) => settledOf(sender.send(maker('OPTIONS', callId), TO_EXAMPLE), network, 100);
  const counts = () => [ONE, TWO].map((address) => callees.get(address)?.transactions.length);
  assert.equal(await send('one'), '200');
  assert.deepEqual(counts(), [1, 0]);
  assert.equal(await send('two'), '200');
  assert.deepEqual(counts(), [2, 0]);
  resets = 2;
  assert.equal(await send('three'), '200');
  assert.deepEqual(counts(), [2, 1], 'what closes each connection is passed over');
  resets = 0;
  assert.equal(await send('four'), '200');
  assert.deepEqual(counts(), [2, 2]);
});

test('where the flow of the peer closes under a request, its place is connected to, if its name leads there', async () => {
  for (const how of ['send', 'ack', 'invite'] as const) {
    const { network, sender, places, callees } = open({ [ONE]: answers(200) }, [ONE]);
    places.transport = 'tcp';
    const journey = { ...TO_EXAMPLE, flow: network.flow(CALLER, ONE, 'tcp') };
    const tried: unknown[] = [];
    network.failureAt = (address) => (tried.push(address) === 1 ? 'closed' : undefined);
    const { user } = heard();
    if (how === 'ack') sender.ack(maker('ACK')([]), () => journey);
    else if (how === 'invite') sender.invite(maker('INVITE'), journey, user);
    else void sender.send(maker('BYE'), journey);
    await network.pass(100);
    assert.deepEqual(tried, [ONE, ONE]);
    assert.equal((how === 'ack' ? callees.get(ONE)?.acks : callees.get(ONE)?.transactions)?.length, 1);
    assert.equal(await settledOf(sender.send(maker('OPTIONS', 'next'), TO_EXAMPLE), network, 100), '200');
  }
});

test('no more than four targets are tried', async () => {
  const addresses = Array.from({ length: 9 }, (_, index) => `192.0.2.${20 + index}`);
  const { network, sender } = open({}, addresses);
  const tried: string[] = [];
  network.failureAt = (address) => {
    tried.push(address);
    return 'refused';
  };
  assert.equal(await settledOf(sender.send(maker('OPTIONS'), TO_EXAMPLE), network, 10), 'refused 503');
  assert.deepEqual(tried, addresses.slice(0, 4));
});

test('a name server that is silent is waited for ten seconds', async () => {
  const { network, sender, places } = open();
  places.silent = true;
  const sending = sender.send(maker('OPTIONS'), TO_EXAMPLE);
  assert.equal(await settledOf(sending, network, 9900), 'pending');
  assert.equal(await settledOf(sending, network, 200), 'unreachable 503');
  assert.equal(network.time.waiting, 0);
});

test('the flow that the peer came in on is taken first, and its name is asked for only when it does not serve', async () => {
  const { network, sender, places } = open({ [ONE]: answers(200), [TWO]: answers(200) });
  const flow = network.flow(CALLER, TWO);
  assert.equal(await settledOf(sender.send(maker('BYE'), { ...TO_EXAMPLE, flow }), network, 100), '200');
  assert.deepEqual(places.asked, []);
  const gone = { ...flow, closed: true };
  assert.equal(
    await settledOf(sender.send(maker('BYE'), { ...TO_EXAMPLE, flow: gone }), network, 100),
    '200',
  );
  assert.deepEqual(places.asked, ['example.com']);
});

function account(realms = ['example.com'], listed: readonly string[] = []): PeerAccount {
  const alice = { username: 'alice', secret: { password: 'secret' }, realms };
  const digest = new DigestClient(knownPeer('trunk'), alice, (count) => new Uint8Array(count).fill(7));
  return new PeerAccount({ digest, listed: new AddressList(listed), secureOnly: false });
}

/** To the account's own peer, as a trunk sends. */
function asTrunk(with_ = account()): Journey {
  return { ...TO_EXAMPLE, account: with_, leadsToPeer: true };
}

/** Accepts requests whose credentials satisfy `lets`; challenges all others. */
function asking(lets: (authorization: string) => boolean, more = ''): Act {
  let nonces = 0;
  return (transaction) => {
    const authorization = transaction.request.first('authorization') ?? '';
    if (lets(authorization)) transaction.respond({ status: 200 });
    else
      transaction.respond({
        status: 401,
        headers: [
          ['WWW-Authenticate', `Digest realm="example.com", qop="auth", nonce="n${++nonces}"${more}`],
        ],
      });
  };
}

test('a challenge is answered with a new CSeq, and the next request knows the nonce already', async () => {
  const { network, sender, callees } = open({ [ONE]: asking((text) => text.includes('nonce="n1"')) });
  const journey = asTrunk();
  assert.equal(await settledOf(sender.send(maker('REGISTER'), journey), network, 100), '200');
  assert.equal(await settledOf(sender.send(maker('REGISTER', 'second'), journey), network, 100), '200');
  const sent = callees
    .get(ONE)
    ?.transactions.map(({ request }) => [
      request.cseq.number,
      /nc=\d+/.exec(request.first('authorization') ?? '')?.[0],
    ]);
  assert.deepEqual(sent, [
    [1, undefined],
    [2, 'nc=00000001'],
    [1, 'nc=00000002'],
  ]);
});

test('a wrong password is sent once; without an account, or of a realm that is none of ours, a challenge stands', async () => {
  for (const [with_, requests] of [
    [account(), 2],
    [undefined, 1],
    [account(['other']), 1],
  ] as const) {
    const { network, sender, callees } = open({ [ONE]: asking(() => false) });
    const journey = with_ === undefined ? TO_EXAMPLE : asTrunk(with_);
    assert.equal(await settledOf(sender.send(maker('REGISTER'), journey), network, 200), '401');
    assert.equal(callees.get(ONE)?.events.length, requests);
  }
});

test('a server that calls every nonce stale is answered a few times and no more', async () => {
  const { network, sender, callees } = open({ [ONE]: asking(() => false, ', stale=true') });
  assert.equal(await settledOf(sender.send(maker('REGISTER'), asTrunk()), network, 500), '401');
  assert.equal(callees.get(ONE)?.events.length, 4);
});

test('a server that asks for another realm each time is answered three times', async () => {
  let realms = 0;
  const { network, sender, callees } = open({
    [ONE]: (transaction) =>
      transaction.respond({
        status: 401,
        headers: [['WWW-Authenticate', `Digest realm="${++realms}", nonce="n"`]],
      }),
  });
  const journey = asTrunk(account(['1', '2', '3', '4', '5', '6']));
  assert.equal(await settledOf(sender.send(maker('REGISTER'), journey), network, 500), '401');
  assert.equal(callees.get(ONE)?.transactions.length, 4);
});

test('a challenge to what was taken back is not answered', async () => {
  const { network, sender, callees } = open({
    [ONE]: (transaction) => {
      transaction.user = { cancelled: () => asking(() => false)(transaction) };
      transaction.respond({ status: 180 });
    },
  });
  const { events, user } = heard();
  const invite = sender.invite(maker('INVITE'), asTrunk(), user);
  await network.pass(50);
  invite.cancel();
  await network.pass(100);
  assert.deepEqual(events, ['180', 'refused 401']);
  assert.equal(callees.get(ONE)?.transactions.length, 1);
});

test('of 20 requests sent together none takes the challenge of another for its own refusal', async () => {
  const { network, sender } = open({ [ONE]: asking((text) => text !== '') });
  const journey = asTrunk();
  const sent = Array.from({ length: 20 }, (_, index) =>
    sender.send(maker('OPTIONS', `call${index}`), journey),
  );
  await network.pass(200);
  const statuses = (await Promise.all(sent)).map((one) => ('response' in one ? one.response.status : 0));
  assert.deepEqual(
    statuses,
    Array.from({ length: 20 }, () => 200),
  );
});

test('within a call the account is for its own peer: a stranger is shown nothing, unasked or asked', async () => {
  const { network, sender, callees } = open({
    [ONE]: asking((text) => text !== ''),
    [TWO]: asking(() => false),
  });
  const trunk = account();
  const within = (address: string): Journey => ({ nextHop: uriOf(`sip:far@${address}`), account: trunk });
  const send = (method: string, journey: Journey) =>
    settledOf(sender.send(maker(method), journey), network, 100);
  assert.equal(await send('OPTIONS', within(ONE)), '401', 'it was not found there yet');
  assert.equal(await send('REGISTER', asTrunk(trunk)), '200');
  assert.equal(await send('BYE', within(TWO)), '401');
  assert.equal(await send('BYE', within(ONE)), '200');
  const shown = (address: string) =>
    callees.get(address)?.transactions.map(({ request }) => request.first('authorization') !== undefined);
  assert.deepEqual(shown(ONE), [false, false, true, true]);
  assert.deepEqual(shown(TWO), [false]);
});

test('the next target of a request of the account is its peer too, and an address that is configured is', async () => {
  const { network, sender, callees } = open({
    [ONE]: answers(503),
    [TWO]: asking((text) => text !== ''),
    [THREE]: asking((text) => text !== ''),
  });
  const trunk = account(undefined, [THREE]);
  const send = (journey: Journey) => settledOf(sender.send(maker('OPTIONS'), journey), network, 200);
  assert.equal(await send(asTrunk(trunk)), '200');
  assert.equal(await send({ nextHop: uriOf(`sip:far@${THREE}`), account: trunk }), '200');
  assert.equal(
    callees.get(THREE)?.transactions[0]?.request.first('authorization')?.includes('nonce="n1"'),
    true,
  );
});

test('a peer that was found over TLS is shown nothing in plain text', () => {
  const trunk = account(undefined, ['198.51.100.1']);
  trunk.found({ transport: 'tls', address: ONE });
  trunk.found({ transport: 'udp', address: TWO });
  const met = (address: string) =>
    (['tls', 'udp'] as const).map((transport) => trunk.isAt({ transport, address }));
  assert.deepEqual([ONE, TWO, THREE, '198.51.100.1'].map(met), [
    [true, false],
    [true, true],
    [false, false],
    [true, true],
  ]);
});

test('the places of an account are remembered within bounds', () => {
  const trunk = account();
  for (let index = 0; index < 200; index++) trunk.found({ transport: 'udp', address: `198.51.100.${index}` });
  const known = Array.from({ length: 200 }, (_, index) =>
    trunk.isAt({ transport: 'udp', address: `198.51.100.${index}` }),
  );
  assert.deepEqual([known.filter(Boolean).length, known.at(-1)], [64, true]);
});

test('an ACK shows the credentials of its INVITE to the peer of the account alone', async () => {
  const { network, sender, callees } = open({ [ONE]: answers(200), [TWO]: answers(200) });
  const trunk = account();
  trunk.found({ transport: 'udp', address: ONE });
  for (const address of [ONE, TWO]) {
    const journey = { nextHop: uriOf(`sip:far@${address}`), account: trunk };
    sender.ack(maker('ACK')([]), () => journey, [['Authorization', 'Digest x']]);
  }
  await network.pass(50);
  assert.deepEqual(
    [ONE, TWO].map((address) => callees.get(address)?.acks[0]?.first('authorization')),
    ['Digest x', undefined],
  );
});

test('an INVITE goes on to the next target, and tells every 2xx', async () => {
  const accepting: Act = (transaction) => {
    transaction.respond({ status: 180 });
    transaction.respond({ status: 200 });
  };
  const { network, sender } = open({ [ONE]: answers(503), [TWO]: accepting });
  const { events, user } = heard();
  const invite = sender.invite(maker('INVITE'), TO_EXAMPLE, user);
  await network.pass(100);
  assert.deepEqual(events, ['180', '200 tagged']);
  assert.equal(invite.flow?.remote.address, TWO);
});

test('a challenged INVITE bears credentials, and says which, for its ACK', async () => {
  const { network, sender } = open({ [ONE]: asking((text) => text !== '') });
  const { events, user } = heard();
  const invite = sender.invite(maker('INVITE'), asTrunk(), user);
  await network.pass(100);
  assert.deepEqual(events, ['200 tagged']);
  assert.match(invite.credentials?.[0]?.[1] ?? '', /^Digest username="alice"/);
});

test('a refusal ends an INVITE', async () => {
  const { network, sender, callees } = open({ [ONE]: answers(486), [TWO]: answers(200) });
  const { events, user } = heard();
  sender.invite(maker('INVITE'), TO_EXAMPLE, user);
  await network.pass(100);
  assert.deepEqual(events, ['refused 486']);
  assert.deepEqual(callees.get(TWO)?.events, []);
});

test('an INVITE is taken back before there is a target, between tries, and while it rings', async () => {
  const silent = open();
  silent.places.silent = true;
  const before = heard();
  silent.sender.invite(maker('INVITE'), TO_EXAMPLE, before.user).cancel();
  await silent.network.pass(10);
  assert.deepEqual(before.events, ['cancelled 487']);
  assert.equal(silent.sentTo(), 0);
  assert.equal(silent.network.time.waiting, 0);

  const between = open({ [TWO]: answers(200) });
  between.network.failureAt = (address) => (address === ONE ? 'refused' : undefined);
  const after = heard();
  const second = between.sender.invite(maker('INVITE'), TO_EXAMPLE, after.user);
  between.network.failureAt = () => {
    second.cancel();
    return 'refused';
  };
  await between.network.pass(100);
  assert.deepEqual(after.events, ['refused 503']);
  assert.equal(between.sentTo(), 0);

  const ringing = open({
    [ONE]: (transaction) => {
      transaction.user = { cancelled: () => transaction.respond({ status: 487 }) };
      transaction.respond({ status: 180 });
    },
  });
  const last = heard();
  const third = ringing.sender.invite(maker('INVITE'), TO_EXAMPLE, last.user);
  await ringing.network.pass(100);
  third.cancel();
  await ringing.network.pass(100);
  assert.deepEqual(last.events, ['180', 'refused 487']);
});

test('an ACK goes to the first target that serves, again and again as asked', async () => {
  const { network, sender, callees, sentTo } = open({ [ONE]: answers(200) });
  const ack = sender.ack(maker('ACK')([]), () => TO_EXAMPLE);
  await network.pass(50);
  ack.again();
  await network.pass(50);
  assert.equal(callees.get(ONE)?.acks.length, 2);
  sender.ack(maker('ACK')([]), () => ({ nextHop: uriOf('tel:+49') })).again();
  await network.pass(50);
  assert.equal(sentTo(), 2);
});

test('an ACK that cannot go to one target goes to the next, and comes to the first last', async () => {
  const { network, sender, callees } = open({ [ONE]: answers(200), [TWO]: answers(200) });
  network.failureAt = (address) => (address === ONE ? 'refused' : undefined);
  sender.ack(maker('ACK')([]), () => TO_EXAMPLE);
  await network.pass(50);
  sender.ack(maker('ACK')([]), () => TO_EXAMPLE);
  await network.pass(50);
  assert.deepEqual(
    [ONE, TWO].map((address) => callees.get(address)?.acks.length),
    [0, 2],
  );
});

test('an ACK that nobody could be found for is sent when its 2xx comes again', async () => {
  const { network, sender, callees } = open({ [ONE]: answers(200) }, [ONE]);
  network.failureAt = () => 'unreachable';
  const ack = sender.ack(maker('ACK')([]), () => TO_EXAMPLE);
  await network.pass(50);
  assert.equal(callees.get(ONE)?.acks.length, 0);
  network.failureAt = () => undefined;
  ack.again();
  await network.pass(50);
  assert.deepEqual(
    callees.get(ONE)?.acks.map(({ cseq }) => cseq.number),
    [1],
  );
});

test('an ACK whose connection has closed goes again by the way that there is then', async () => {
  const { network, sender, callees } = open({ [ONE]: answers(200), [TWO]: answers(200) });
  const flow = { ...network.flow(CALLER, TWO, 'tcp') };
  const ack = sender.ack(maker('ACK')([]), () => ({ ...TO_EXAMPLE, flow }));
  await network.pass(50);
  assert.equal(callees.get(TWO)?.acks.length, 1);
  Object.assign(flow, { closed: true });
  ack.again();
  ack.again(); // while a way is looked for
  await network.pass(50);
  assert.deepEqual(
    [ONE, TWO].map((address) => callees.get(address)?.acks.length),
    [1, 1],
  );
});
