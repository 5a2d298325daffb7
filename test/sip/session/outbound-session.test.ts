import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DigestClient } from '../../../sip/auth/digest-client.js';
import { knownPeer } from '../../../sip/auth/digest.js';
import { PeerAccount } from '../../../sip/client/peer-account.js';
import { AddressList } from '../../../sip/guard/address-list.js';
import type { OutboundSessionOptions } from '../../../sip/session/outbound-session.js';
import { uriOf } from '../client/places.js';
import { Callee, CALLEE } from '../transaction/network.js';
import { CallingOut } from './calling-out.js';

const STRANGER = '8.8.4.4'; // a public address; private ones are reached over the flow
const RELIABLE = (rseq: number) => ({
  headers: [
    ['Require', '100rel'],
    ['RSeq', String(rseq)],
  ] as const,
});

test('a call is offered, rings, is answered and ended', async () => {
  const out = new CallingOut();
  const session = await out.call({
    plan: out.plan({ headers: [['X-Tenant', 'acme']], routes: [`<sip:${CALLEE};lr>`] }),
  });
  const { invite } = out;
  assert.equal(session.state, 'inviting');
  assert.equal(invite.uri.text, 'sip:bob@example.com');
  assert.equal(invite.from.displayName, 'Alice');
  assert.equal(invite.body.toString(), 'offer 1');
  assert.deepEqual(
    ['x-tenant', 'user-agent', 'session-expires', 'supported', 'route', 'contact'].map((name) =>
      invite.first(name),
    ),
    ['acme', 'Parley', '1800', '100rel', `<sip:${CALLEE};lr>`, '<sip:parley@192.0.2.1>'],
  );
  await out.respond(180);
  assert.equal(session.state, 'early');
  await out.respond(200, { body: 'answer' });
  assert.equal(session.state, 'confirmed');
  assert.deepEqual(out.media.events, ['accept answer of one', 'settle one']);
  assert.equal(out.callee.acks.length, 1);
  assert.equal(out.callee.acks[0]?.uri.text, `sip:one@${CALLEE}`);
  await out.hungUp(session, { protocol: 'q.850', cause: 16, text: undefined });
  assert.equal(out.requests('BYE')[0]?.first('reason'), 'Q.850;cause=16');
  assert.deepEqual(out.seen.events, ['180', 'established', 'ended us']);
  await out.settled();
});

test('an ACK is sent again for each 2xx that comes again', async () => {
  const out = new CallingOut();
  await out.call();
  for (let times = 1; times <= 3; times++) {
    await out.respond(200, { body: 'answer' });
    assert.equal(out.callee.acks.length, times);
  }
  assert.deepEqual(out.seen.events, ['established']);
});

test('the route set of a call is that of its 2xx, and its numbers go on', async () => {
  const out = new CallingOut();
  const session = await out.call();
  await out.respond(180, RELIABLE(1));
  await out.respond(200, {
    body: 'answer',
    headers: [['Record-Route', `<sip:second.${CALLEE};lr>, <sip:${CALLEE};lr>`]],
  });
  void session.hangUp();
  await out.network.pass(100);
  const [bye] = out.requests('BYE');
  assert.deepEqual(bye?.all('route'), [`<sip:${CALLEE};lr>`, `<sip:second.${CALLEE};lr>`]);
  assert.equal(bye?.cseq.number, out.invite.cseq.number + 2);
});

test('of several phones that ring the first to answer has the call, and the others get ACK and BYE', async () => {
  const out = new CallingOut();
  const session = await out.call();
  await out.respond(183, { tag: 'one', body: 'early one' });
  await out.respond(180, { tag: 'two' });
  await out.respond(200, { tag: 'two', body: 'answer two' });
  await out.respond(200, { tag: 'three', body: 'answer three' });
  await out.respond(200, { tag: 'one', body: 'early one' });
  await out.respond(200, { tag: 'one', body: 'early one' });
  assert.equal(session.dialog?.remoteTag, 'two');
  assert.deepEqual(out.media.events, ['accept early one of one', 'accept answer two of two', 'settle two']);
  const tags = (of: readonly { to: { tag: string | undefined } }[]) => of.map(({ to }) => to.tag);
  assert.deepEqual(tags(out.callee.acks), ['two', 'three', 'one', 'one']);
  assert.deepEqual(tags(out.requests('BYE')), ['three', 'one']);
  assert.deepEqual(out.seen.events, ['183', '180', 'established']);
  await out.hungUp(session);
  await out.settled();
});

test('a phone that only rang is forgotten after a while', async () => {
  const out = new CallingOut();
  await out.call();
  await out.respond(180, { tag: 'two' });
  await out.respond(200, { tag: 'one', body: 'answer' });
  assert.deepEqual(out.agent.counts, { early: 1, confirmed: 1 });
  await out.network.pass(33_000, 100);
  assert.deepEqual(out.agent.counts, { early: 0, confirmed: 1 });
});

test('reliable responses are acknowledged in their order, once, and give the answer', async () => {
  const out = new CallingOut();
  await out.call();
  const { number } = out.invite.cseq;
  await out.respond(183, { ...RELIABLE(7), body: 'answer' });
  await out.respond(183, { ...RELIABLE(7), body: 'answer' });
  await out.respond(180, RELIABLE(9));
  await out.respond(180, RELIABLE(8));
  assert.deepEqual(
    out.requests('PRACK').map((one) => one.first('rack')),
    [`7 ${number} INVITE`, `8 ${number} INVITE`],
  );
  assert.deepEqual(out.seen.events, ['183', '180']);
  await out.respond(200, { body: 'another answer' });
  assert.deepEqual(out.media.events, ['accept answer of one', 'settle one']);
  assert.deepEqual(out.seen.events, ['183', '180', 'established']);
});

test('UPDATE of the peer within an early dialog is answered', async () => {
  const out = new CallingOut();
  await out.call();
  await out.respond(183, { ...RELIABLE(1), body: 'answer' });
  const fields = [
    ['Via', `SIP/2.0/UDP ${CALLEE};branch=z9hG4bKupdate`],
    ['From', '<sip:bob@example.com>;tag=one'],
    ['To', out.invite.first('from') ?? ''],
    ['Call-ID', out.invite.callId],
    ['CSeq', '1 UPDATE'],
    ['Contact', `<sip:moved@${CALLEE}>`],
    ['Content-Type', 'application/sdp'],
    ['Content-Length', '5'],
  ].map((field) => field.join(': '));
  const bytes = Buffer.from(['UPDATE sip:parley@192.0.2.1 SIP/2.0', ...fields, '', 'other'].join('\r\n'));
  out.network.post(CALLEE, '192.0.2.1', bytes);
  await out.network.pass(50);
  assert.match(out.network.carried.at(-1)?.text ?? '', /^SIP\/2\.0 200 OK[^]*our answer$/);
  await out.respond(200);
  assert.equal(out.callee.acks[0]?.uri.text, `sip:one@${CALLEE}`);
});

test('without an offer in the INVITE the peer makes it, in a 2xx or a reliable response', async () => {
  const late = new CallingOut();
  await late.call({ plan: late.plan({ lateOffer: true }) });
  assert.equal(late.invite.body.length, 0);
  await late.respond(200, { body: 'their offer' });
  assert.equal(late.callee.acks[0]?.body.toString(), 'our answer');
  assert.deepEqual(late.media.events, ['answer their offer', 'settle one']);
  const early = new CallingOut();
  await early.call({ plan: early.plan({ lateOffer: true }) });
  await early.respond(183, { ...RELIABLE(1), body: 'their offer' });
  assert.equal(early.requests('PRACK')[0]?.body.toString(), 'our answer');
  await early.respond(200);
  assert.equal(early.callee.acks[0]?.body.length, 0);
  assert.deepEqual(early.seen.events, ['183', 'established']);
});

test('a 2xx without an answer, or with one that cannot be followed, is acknowledged and ended', async () => {
  for (const [lateOffer, body] of [
    [false, undefined],
    [false, 'bad'],
    [true, undefined],
    [true, 'bad'],
  ] as const) {
    const out = new CallingOut();
    await out.call({ plan: out.plan({ lateOffer }) });
    await out.respond(200, body === undefined ? {} : { body });
    assert.equal(out.callee.acks.length, 1);
    assert.match(out.requests('BYE')[0]?.first('reason') ?? '', /^SIP;cause=488;text="/);
    assert.deepEqual(out.seen.events, ['ended us']);
    assert.equal(out.seen.end?.status, 488);
    assert.equal(out.media.offering, false);
    await out.settled();
  }
});

test('an answer in a reliable response that cannot be followed takes the call back', async () => {
  const out = new CallingOut();
  out.act = (transaction) => {
    transaction.user = { cancelled: () => transaction.respond({ status: 487 }) };
    if (transaction.request.method !== 'INVITE') transaction.respond({ status: 200 });
  };
  await out.call();
  await out.respond(183, { ...RELIABLE(1), body: 'bad' });
  await out.network.pass(100);
  assert.equal(out.requests('PRACK').length, 1);
  assert.deepEqual(out.seen.events, ['ended us']);
  await out.settled();
});

/** A far end that rings and takes CANCEL. */
function ringing(out: CallingOut): void {
  out.act = (transaction) => {
    transaction.user = { cancelled: () => transaction.respond({ status: 487 }) };
    transaction.respond({ status: transaction.request.method === 'INVITE' ? 180 : 200 });
  };
}

test('a call that rings too long is taken back', async () => {
  const out = new CallingOut();
  ringing(out);
  await out.call({ ringTimeoutMs: 5000 });
  await out.network.pass(4900);
  assert.deepEqual(out.seen.events, ['180']);
  await out.network.pass(200);
  assert.deepEqual(out.seen.end, { by: 'unanswered', status: 408 });
  assert.equal(out.media.offering, false);
  await out.settled();
});

test('hanging up takes a call back that rings, and resolves when it is over', async () => {
  const out = new CallingOut();
  ringing(out);
  const session = await out.call();
  await out.network.pass(100);
  const hangingUp = [session.hangUp(), session.hangUp()];
  await out.network.pass(100);
  await Promise.all(hangingUp);
  assert.deepEqual(out.seen.events, ['180', 'ended us']);
  await out.settled();
});

test('hanging up before anybody is found ends the call', async () => {
  const out = new CallingOut();
  out.places.silent = true;
  const session = await out.call();
  await out.hungUp(session);
  assert.deepEqual(out.seen.events, ['ended us']);
  assert.equal(out.callee.transactions.length, 0);
  await out.settled();
});

test('an answer that crosses the hanging up gets ACK and BYE', async () => {
  const out = new CallingOut();
  const session = await out.call();
  await out.respond(180);
  const hungUp = session.hangUp();
  await out.respond(200, { body: 'answer' });
  await out.network.pass(100);
  await hungUp;
  assert.equal(out.callee.acks.length, 1);
  assert.equal(out.requests('BYE').length, 1);
  assert.deepEqual(out.seen.events, ['180', 'ended us']);
  await out.settled();
});

test('hanging up what nobody ever answers is over after 64 T1', async () => {
  const out = new CallingOut();
  out.act = () => undefined;
  out.network.loses = () => true;
  const session = await out.call();
  let over = false;
  void session.hangUp().then(() => (over = true));
  await out.network.pass(31_900, 50);
  assert.equal(over, false);
  await out.network.pass(200);
  assert.equal(over, true);
  assert.deepEqual(out.seen.end, { by: 'us' });
});

test('the peer ends a call, and is told of as the one who did', async () => {
  const out = new CallingOut();
  const session = await out.call();
  await out.respond(200, { body: 'answer' });
  out.post(bye(out));
  await out.network.pass(50);
  assert.equal(session.state, 'ended');
  assert.deepEqual(out.seen.end, { by: 'peer', reason: { protocol: 'q.850', cause: 16, text: undefined } });
  await out.settled();
});

function bye(out: CallingOut): string {
  return [
    'BYE sip:parley@192.0.2.1 SIP/2.0',
    `Via: SIP/2.0/UDP ${CALLEE};branch=z9hG4bKbye`,
    `From: <sip:bob@example.com>;tag=one`,
    `To: ${out.invite.first('from') ?? ''}`,
    `Call-ID: ${out.invite.callId}`,
    'CSeq: 9 BYE',
    'Reason: Q.850;cause=16',
    '',
    '',
  ].join('\r\n');
}

test('a BYE that is faster than the 2xx before it ends the call all the same', async () => {
  const out = new CallingOut();
  const session = await out.call();
  await out.respond(180);
  out.post(bye(out));
  await out.network.pass(50);
  await out.respond(200, { body: 'answer' });
  assert.equal(session.state, 'ended');
  assert.equal(out.callee.acks.length, 1);
  assert.deepEqual(out.seen.events, ['180', 'ended peer']);
  await out.settled();
});

test('a phone that answers after the call is over gets ACK and BYE', async () => {
  const out = new CallingOut();
  const session = await out.call();
  await out.respond(180, { tag: 'two' });
  await out.respond(200, { tag: 'one', body: 'answer' });
  await out.hungUp(session);
  assert.deepEqual(out.agent.counts, { early: 0, confirmed: 0 });
  await out.respond(200, { tag: 'two', body: 'answer' });
  await out.network.pass(100);
  assert.deepEqual(
    out.requests('BYE').map(({ to }) => to.tag),
    ['one', 'two'],
  );
  assert.deepEqual(out.seen.events, ['180', 'established', 'ended us']);
  await out.settled();
});

test('a refusal reaches the user with its cause and what it says', async () => {
  const out = new CallingOut();
  out.act = (transaction) =>
    transaction.respond({
      status: 486,
      headers: [
        ['Reason', 'SIP;cause=486, Q.850;cause=17;text="User busy"'],
        ['Warning', '399 example.com "on another \\"line\\""'],
      ],
    });
  await out.call();
  await out.network.pass(100);
  assert.deepEqual(out.seen.end, {
    by: 'rejected',
    status: 486,
    reason: { protocol: 'q.850', cause: 17, text: 'User busy' },
    text: 'on another "line"',
  });
  assert.deepEqual(out.media.events, ['withdraw']);
  await out.settled();
});

test('a call that nobody answers, and one that reaches nobody, have their names', async () => {
  const silent = new CallingOut();
  silent.act = () => undefined;
  silent.network.loses = () => true;
  await silent.call();
  await silent.network.pass(32_100, 100);
  assert.deepEqual(silent.seen.end, { by: 'unanswered', status: 408 });
  const nowhere = new CallingOut();
  nowhere.network.failure = 'unreachable';
  await nowhere.call();
  assert.deepEqual(nowhere.seen.end, { by: 'transport', status: 503 });
});

test('a session interval that is too small is raised as the peer asks, within bounds', async () => {
  const out = new CallingOut();
  const asked: (string | undefined)[] = [];
  out.act = (transaction) => {
    asked.push(transaction.request.first('session-expires'));
    transaction.respond({ status: 422, headers: [['Min-SE', String(1800 + asked.length * 100)]] });
  };
  await out.call();
  await out.network.pass(200);
  assert.deepEqual(asked, ['1800', '1900', '2000', '2100']);
  assert.equal(out.seen.end?.status, 422);
  const callIds = new Set(out.requests('INVITE').map(({ callId }) => callId));
  assert.equal(callIds.size, 1);
});

test('redirections are not followed, unless somebody says how, and five at most', async () => {
  const contacts = [
    '<sip:later@example.com>;q=0.2',
    '<sip:first@example.com>;q=0.9',
    '<tel:+49>',
    '<sip:bob@example.com?a=b>',
  ].join(', ');
  const plain = new CallingOut();
  plain.act = (transaction) => transaction.respond({ status: 302, headers: [['Contact', contacts]] });
  await plain.call();
  assert.equal(plain.seen.end?.status, 302);
  const out = new CallingOut();
  let more = 0;
  out.act = (transaction) =>
    transaction.respond({
      status: 302,
      headers: [['Contact', `${contacts}, <sip:more${++more}@example.com>;q=0.1`]],
    });
  await out.call({ ways: { redirected: (uri) => out.plan({ uri: uri.text, journey: { nextHop: uri } }) } });
  await out.network.pass(500);
  const called = out.requests('INVITE').map(({ uri }) => uri.user);
  assert.deepEqual(called, ['bob', 'first', 'later', 'more1', 'more2', 'more3']);
  assert.equal(out.seen.end?.status, 302);
  await out.settled();
});

test('another way is taken after a refusal, under a new Call-ID and with a new offer', async () => {
  const out = new CallingOut();
  const asked: [boolean][] = [];
  let refusals = 0;
  out.act = (transaction) => {
    if (++refusals === 1) transaction.respond({ status: 500 });
  };
  const session = await out.call({
    ways: {
      next: (_outcome, rang) => {
        asked.push([rang]);
        return out.plan({ uri: 'sip:other@example.com' });
      },
    },
  });
  await out.network.pass(50);
  const [first, second] = out.requests('INVITE');
  assert.notEqual(first?.callId, second?.callId);
  assert.equal(second?.uri.text, 'sip:other@example.com');
  assert.equal(second?.body.toString(), 'offer 2');
  assert.deepEqual(asked, [[false]]);
  await out.respond(200, { body: 'answer' });
  assert.equal(session.state, 'confirmed');
});

/** Places the call by a trunk whose account is asked for by 407. */
function byTrunk(out: CallingOut): Partial<OutboundSessionOptions> {
  const account = { username: 'a', secret: { password: 'b' }, realms: ['example.com'] };
  const digest = new DigestClient(knownPeer('trunk'), account, (count) => new Uint8Array(count));
  out.act = (transaction) => {
    const { request } = transaction;
    if (request.first('proxy-authorization') === undefined) transaction.respond(CHALLENGE);
    else if (request.method !== 'INVITE') transaction.respond({ status: 200 });
  };
  const peer = new PeerAccount({ digest, listed: new AddressList([]), secureOnly: false });
  return {
    plan: out.plan({ journey: { nextHop: uriOf('sip:example.com'), account: peer, leadsToPeer: true } }),
  };
}

const CHALLENGE = {
  status: 407,
  headers: [['Proxy-Authenticate', 'Digest realm="example.com", nonce="n", qop="auth"']],
} as const;

test('the ACK bears the credentials of its INVITE', async () => {
  const out = new CallingOut();
  await out.call(byTrunk(out));
  await out.network.pass(50);
  await out.respond(200, { body: 'answer' });
  const credentials = out.invite.first('proxy-authorization');
  assert.ok(credentials !== undefined);
  assert.equal(out.callee.acks[0]?.first('proxy-authorization'), credentials);
  assert.deepEqual(out.seen.events, ['established']);
});

test('a far end that names another host gets no credentials there, in ACK, BYE or after its challenge', async () => {
  const out = new CallingOut();
  const stranger = new Callee((transaction) => transaction.respond(CHALLENGE));
  out.network.layer(STRANGER, stranger);
  const session = await out.call(byTrunk(out));
  await out.network.pass(50);
  await out.respond(200, { body: 'answer', contact: false, headers: [['Contact', `<sip:far@${STRANGER}>`]] });
  const reoffered = session.reoffer();
  await out.network.pass(100);
  assert.equal((await reoffered).refusal?.status, 407);
  await out.hungUp(session);
  assert.deepEqual(
    stranger.acks.map((ack) => ack.first('proxy-authorization')),
    [undefined],
  );
  const shown = stranger.transactions.map(({ request }) => [
    request.method,
    request.first('proxy-authorization'),
  ]);
  assert.deepEqual(shown, [
    ['INVITE', undefined],
    ['BYE', undefined],
  ]);
});

test('a far end that moves elsewhere within the call takes no credentials along', async () => {
  const out = new CallingOut();
  const stranger = new Callee((transaction) => transaction.respond({ status: 200 }));
  out.network.layer(STRANGER, stranger);
  const session = await out.call(byTrunk(out));
  await out.network.pass(50);
  await out.respond(200, { body: 'answer' });
  const fields = [
    ['Via', `SIP/2.0/UDP ${CALLEE};branch=z9hG4bKmoves`],
    ['From', '<sip:bob@example.com>;tag=one'],
    ['To', out.invite.first('from') ?? ''],
    ['Call-ID', out.invite.callId],
    ['CSeq', '1 UPDATE'],
    ['Contact', `<sip:far@${STRANGER}>`],
    ['Content-Length', '0'],
  ].map((field) => field.join(': '));
  out.post(['UPDATE sip:parley@192.0.2.1 SIP/2.0', ...fields, '', ''].join('\r\n'));
  await out.network.pass(50);
  await out.hungUp(session);
  assert.deepEqual(
    stranger.transactions.map(({ request }) => [request.method, request.first('proxy-authorization')]),
    [['BYE', undefined]],
  );
});

test('the session is refreshed at half of the interval that was agreed', async () => {
  const out = new CallingOut();
  await out.call();
  await out.respond(200, {
    body: 'answer',
    headers: [
      ['Session-Expires', '120;refresher=uac'],
      ['Allow', 'UPDATE'],
    ],
  });
  await out.network.pass(61_000, 100);
  assert.equal(out.requests('UPDATE').length, 1);
});
