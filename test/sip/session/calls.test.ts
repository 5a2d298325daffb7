// Calls from their INVITE to their BYE, and the ways that they end without one.
import assert from 'node:assert/strict';
import { randomBytes, randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { test } from 'node:test';
import { DigestClient } from '../../../sip/auth/digest-client.js';
import { knownPeer } from '../../../sip/auth/digest.js';
import { LocatedSender } from '../../../sip/client/located-sender.js';
import { PeerAccount } from '../../../sip/client/peer-account.js';
import { AddressList } from '../../../sip/guard/address-list.js';
import { parseMessage } from '../../../sip/message/message.js';
import { requestBytes } from '../../../sip/message/serialiser.js';
import { UserAgent } from '../../../sip/session/user-agent.js';
import { TransactionLayer } from '../../../sip/transaction/transaction-layer.js';
import { Transports } from '../../../sip/transport/transports.js';
import { systemTime as time } from '../../../src/time.js';
import { Places } from '../client/places.js';
import { CALLEE, Callee, CALLER } from '../transaction/network.js';
import { HeardMedia } from './calling-out.js';
import { inviteOf, NegotiatedMedia, requestsTo, SeenEvents, TwoEnds } from './two-ends.js';

/** Nothing is left of any call. */
async function assertDone(ends: TwoEnds): Promise<void> {
  await ends.settle(110_000);
  for (const { agent, layer } of ends.all) {
    assert.deepEqual(agent.counts, { early: 0, confirmed: 0 });
    assert.deepEqual(layer.open, { server: 0, client: 0, pendingInvites: 0 });
  }
  assert.equal(ends.network.time.waiting, 0);
}

void test('a call is rung, accepted, acknowledged and ended by the caller', async () => {
  const ends = new TwoEnds();
  let seen = new SeenEvents();
  ends.act = (session) => {
    session.ring();
    ends.network.time.after(500, () => (seen = ends.accept(session)));
  };
  const call = ends.call();
  await ends.network.pass(700);
  assert.deepEqual(call.statuses, [180, 200]);
  assert.deepEqual(seen.events, ['established']);
  assert.deepEqual(call.seen.events, ['established']);
  assert.deepEqual(ends.called.agent.counts, { early: 0, confirmed: 1 });
  let hungUp = false;
  void call.inDialog.hangUp({ protocol: 'q.850', cause: 16, text: 'bye' }).then(() => (hungUp = true));
  await ends.network.pass(100);
  assert.equal(hungUp, true);
  assert.deepEqual(seen.end, { by: 'peer', reason: { protocol: 'q.850', cause: 16, text: 'bye' } });
  assert.deepEqual(call.seen.end, { by: 'us' });
  await assertDone(ends);
});

void test('a call is ended by the callee', async () => {
  const ends = new TwoEnds();
  const call = ends.call();
  await ends.network.pass(100);
  const [session] = ends.invited;
  void session?.hangUp();
  await ends.network.pass(100);
  assert.equal(session?.state, 'ended');
  assert.deepEqual(call.seen.events, ['established', 'ended peer']);
  assert.equal(ends.network.sentBy(CALLER).at(-1)?.includes('200 OK'), true);
  assert.equal(ends.network.sentBy(CALLEE).at(-1)?.includes('BYE sip:192.0.2.1'), true);
  await assertDone(ends);
});

void test('both hang up at once, and both BYEs are answered with 200', async () => {
  const ends = new TwoEnds();
  const call = ends.call();
  await ends.network.pass(100);
  void ends.invited[0]?.hangUp();
  void call.inDialog.hangUp();
  await ends.network.pass(100);
  const last = (address: string): string[] =>
    ends.network
      .sentBy(address)
      .slice(-2)
      .map((line) => line.replace(/^\d+ /, ''));
  assert.deepEqual(last(CALLER).sort(), ['BYE sip:192.0.2.2 SIP/2.0', 'SIP/2.0 200 OK']);
  assert.deepEqual(last(CALLEE).sort(), ['BYE sip:192.0.2.1 SIP/2.0', 'SIP/2.0 200 OK']);
  assert.deepEqual(call.seen.events, ['established', 'ended us']);
});

void test('responses say who answers, what it knows, and which proxies recorded themselves', async () => {
  const ends = new TwoEnds({ called: { product: 'Parley' } });
  ends.act = (session) => {
    session.ring();
    ends.accept(session);
  };
  const call = ends.call({ headers: [['Record-Route', `<sip:${CALLER};lr>, <sip:192.0.2.2;lr>`]] });
  await ends.network.pass(100);
  for (const response of call.responses) {
    assert.deepEqual(response.all('record-route'), [`<sip:${CALLER};lr>`, '<sip:192.0.2.2;lr>']);
    assert.equal(response.first('contact'), `<sip:${CALLEE}>`);
    assert.ok(response.all('allow').includes('UPDATE'));
    assert.equal(response.first('server'), 'Parley');
  }
  assert.deepEqual(call.responses.at(-1)?.all('supported'), ['100rel', 'timer', 'replaces', 'norefersub']);
  void ends.invited[0]?.hangUp();
  await ends.network.pass(100);
  assert.match(requestsTo(ends.network, CALLEE, 'BYE')[0] ?? '', /\r\nUser-Agent: Parley\r\n/);
});

void test('a call that the caller takes back is answered 487 and told with its reason', async () => {
  const ends = new TwoEnds();
  const seen = new SeenEvents();
  ends.act = (session) => {
    session.user = seen;
    session.ring();
  };
  const call = ends.call();
  await ends.network.pass(100);
  call.transaction.cancel();
  await ends.network.pass(100);
  assert.deepEqual(call.statuses, [180, 487]);
  assert.deepEqual(seen.events, ['ended cancelled']);
  assert.equal(ends.invited[0]?.accept(new NegotiatedMedia(CALLEE, 7), seen).refusal?.status, 481);
  await assertDone(ends);
});

void test('CANCEL that crosses the 200 changes nothing', async () => {
  const ends = new TwoEnds();
  let seen = new SeenEvents();
  ends.act = (session) => {
    session.ring();
    ends.network.time.after(100, () => (seen = ends.accept(session)));
  };
  const call = ends.call();
  await ends.network.pass(110); // the 200 leaves at 110
  call.transaction.cancel();
  await ends.network.pass(200);
  assert.deepEqual(call.statuses, [180, 200]);
  assert.deepEqual(seen.events, ['established']);
  assert.ok(ends.network.sentBy(CALLER).some((line) => line.includes('CANCEL')));
  void call.inDialog.hangUp();
  await assertDone(ends);
});

void test('a rejected call ends with what was said, and BYE in an early dialog takes the call back', async () => {
  const ends = new TwoEnds();
  const seen = new SeenEvents();
  ends.act = (session) => {
    session.user = seen;
    session.reject(486, {
      reason: { protocol: 'q.850', cause: 17, text: 'busy' },
      headers: [['Retry-After', '5']],
    });
  };
  const call = ends.call();
  await ends.network.pass(100);
  assert.equal(call.responses.at(-1)?.first('reason'), 'Q.850;cause=17;text="busy"');
  assert.equal(call.responses.at(-1)?.first('retry-after'), '5');
  assert.deepEqual(seen.end, {
    by: 'us',
    status: 486,
    reason: { protocol: 'q.850', cause: 17, text: 'busy' },
  });
  ends.act = (session) => session.ring();
  const second = ends.call();
  await ends.network.pass(100);
  assert.equal((await Promise.all([second.ask('BYE'), ends.network.pass(100)]))[0].status, 200);
  assert.deepEqual(second.statuses, [180, 487]);
  assert.equal(ends.invited[1]?.state, 'ended');
});

void test('a call that nobody accepts is repeated every minute and refused in the end', async () => {
  const ends = new TwoEnds();
  const seen = new SeenEvents();
  ends.act = (session) => {
    session.user = seen;
    session.ring();
  };
  const call = ends.call();
  await ends.network.pass(200_000, 1000);
  assert.deepEqual(call.statuses, [180, 180, 180, 480]);
  assert.deepEqual(seen.end, { by: 'unanswered', status: 480 });
  const expiring = ends.call({ headers: [['Expires', '20']] });
  await ends.network.pass(30_000, 1000);
  assert.deepEqual(expiring.statuses, [180, 487]);
});

void test('a call whose ACK never comes is ended with BYE after 64 T1', async () => {
  const ends = new TwoEnds();
  ends.network.loses = (text) => text.startsWith('ACK');
  let seen = new SeenEvents();
  ends.act = (session) => (seen = ends.accept(session));
  const call = ends.call();
  await ends.network.pass(31_000, 100);
  assert.deepEqual(seen.events, []);
  await ends.network.pass(2000);
  assert.deepEqual(seen.end, { by: 'unacknowledged' });
  assert.deepEqual(call.seen.end?.by, 'peer');
  assert.deepEqual(call.seen.end?.reason, { protocol: 'sip', cause: 408, text: 'no ACK' });
});

void test('a lost ACK comes again with the next 200, and a call hung up meanwhile waits with its BYE', async () => {
  const ends = new TwoEnds();
  let lost = 0;
  ends.network.loses = (text) => text.startsWith('ACK') && lost++ < 2;
  let seen = new SeenEvents();
  ends.act = (session) => (seen = ends.accept(session));
  const call = ends.call();
  await ends.network.pass(100);
  void ends.invited[0]?.hangUp();
  await ends.network.pass(800);
  assert.deepEqual(requestsTo(ends.network, CALLEE, 'BYE'), []);
  assert.deepEqual(seen.events, ['ended us']);
  await ends.network.pass(2000);
  assert.equal(requestsTo(ends.network, CALLER, 'ACK').length, 3);
  assert.equal(new Set(requestsTo(ends.network, CALLER, 'ACK')).size, 1);
  assert.equal(requestsTo(ends.network, CALLEE, 'BYE').length, 1);
  assert.deepEqual(call.seen.events, ['established', 'ended peer']);
  await assertDone(ends);
});

void test('a BYE that waits for its ACK is not sent once the peer has left by itself', async () => {
  const ends = new TwoEnds();
  ends.network.loses = (text) => text.startsWith('ACK');
  const call = ends.call();
  await ends.network.pass(100);
  let left = false;
  void ends.invited[0]?.hangUp().then(() => (left = true));
  void call.inDialog.hangUp();
  await ends.network.pass(100);
  assert.equal(left, true);
  assert.deepEqual(requestsTo(ends.network, CALLEE, 'BYE'), []);
  assert.deepEqual(call.seen.events, ['established', 'ended us']);
  await assertDone(ends);
});

void test('an INVITE without an offer gets ours in the 200, and its ACK has the answer', async () => {
  const ends = new TwoEnds();
  const media = new NegotiatedMedia(CALLEE, 7);
  let seen = new SeenEvents();
  ends.act = (session) => (seen = ends.accept(session, media));
  const call = ends.call({ late: true });
  await ends.network.pass(100);
  assert.deepEqual(seen.events, ['established']);
  assert.equal(media.agreed, true);
  assert.equal(call.media.agreed, true);
});

for (const [what, answer] of [
  ['has none', undefined],
  ['cannot be used', 'v=1\r\n'],
] as const) {
  void test(`a call whose ACK owes an answer and ${what} is ended`, async () => {
    const ends = new TwoEnds();
    let seen = new SeenEvents();
    ends.act = (session) => (seen = ends.accept(session));
    const call = ends.call({ late: true, answers: () => answer });
    await ends.network.pass(200);
    assert.equal(seen.end?.by, 'us');
    assert.equal(call.seen.end?.reason?.text, 'no usable answer in ACK');
    await assertDone(ends);
  });
}

void test('an offer that the media cannot answer refuses the call', async () => {
  const ends = new TwoEnds();
  const seen = new SeenEvents();
  let status: number | undefined;
  ends.act = (session) => {
    session.user = seen;
    status = session.accept(new NegotiatedMedia(CALLEE, 7, { codecs: ['G722'] }), seen).refusal?.status;
  };
  const call = ends.call({
    body: 'v=0\r\no=- 1 1 IN IP4 192.0.2.1\r\ns=-\r\nc=IN IP4 192.0.2.1\r\nt=0 0\r\nm=audio 4000 RTP/AVP 18\r\n',
  });
  await ends.network.pass(100);
  assert.equal(status, 488);
  assert.deepEqual(call.statuses, [488]);
  assert.deepEqual(seen.end, { by: 'us', status: 488 });
});

const MULTIPART = [['Content-Type', 'multipart/mixed;boundary="b 1"']] as const;

/** Parts with the header lines that they have besides. */
function partsOf(...parts: readonly (readonly [body: string, ...header: string[]])[]): string {
  const written = parts.map(([body, ...header]) => ['--b 1', ...header, '', body, ''].join('\r\n'));
  return `${written.join('')}--b 1--\r\n`;
}

const OFFER = new NegotiatedMedia(CALLER, 9).offer().value ?? '';
const DESCRIPTION = [OFFER, 'Content-Type: application/sdp'] as const;
const SIGNAL = 'Content-Disposition: signal';

for (const [what, status, parts] of [
  [
    'beside one that may be ignored',
    200,
    [['x', 'c: application/isup', `${SIGNAL};handling=optional`], DESCRIPTION],
  ],
  ['beside one that we do not know', 200, [['x', 'Content-Type: application/isup', SIGNAL], DESCRIPTION]],
  [
    'beside one that must be understood',
    415,
    [['x', 'Content-Type: application/isup', `${SIGNAL};handling=required`], DESCRIPTION],
  ],
  [
    'behind one for early media, which is no offer',
    200,
    [
      ['v=0', 'Content-Type: application/sdp', 'Content-Disposition: early-session;handling=optional'],
      DESCRIPTION,
    ],
  ],
  [
    'in base64',
    200,
    [
      [
        Buffer.from(OFFER).toString('base64'),
        'Content-Type: application/sdp',
        'Content-Transfer-Encoding: base64',
      ],
    ],
  ],
] as const) {
  void test(`a call whose description is a part ${what} is answered with ${status}`, async () => {
    const ends = new TwoEnds();
    const call = ends.call({ body: partsOf(...parts), headers: MULTIPART });
    await ends.network.pass(100);
    assert.deepEqual(call.statuses, [status]);
    assert.equal(ends.invited.length, status === 200 ? 1 : 0);
    if (status === 200) assert.match(call.responses[0]?.body.toString() ?? '', /^v=0/);
    else assert.equal(call.responses[0]?.first('accept'), 'application/sdp');
  });
}

void test('a multipart body that cannot be taken apart is answered with 400, unless it may be ignored', async () => {
  const ends = new TwoEnds();
  const broken = ends.call({ body: '--b 1\r\nContent-Type: application/sdp\r\n', headers: MULTIPART });
  const optional = ends.call({
    body: '--b 1\r\n',
    headers: [...MULTIPART, ['Content-Disposition', 'render;handling=optional']],
  });
  await ends.network.pass(100);
  assert.deepEqual([broken.statuses, optional.statuses], [[400], [200]]);
});

void test('within a call, an offer beside a part that must be understood is refused and changes nothing', async () => {
  for (const method of ['INVITE', 'UPDATE']) {
    const ends = new TwoEnds();
    const media = new NegotiatedMedia(CALLEE, 7);
    ends.act = (session) => void ends.accept(session, media);
    const call = ends.call();
    await ends.network.pass(100);
    call.media.wantedDirection = 'inactive';
    const offer = call.media.offer().value ?? '';
    const body = partsOf(
      [offer, 'Content-Type: application/sdp'],
      ['x', 'Content-Type: application/isup', `${SIGNAL};handling=required`],
    );
    const asked = call.ask(method, [call.inDialog.channel.contact, ...MULTIPART], body);
    await ends.network.pass(100);
    assert.equal((await asked).status, 415);
    assert.equal(media.direction, 'sendrecv');
  }
});

void test('an answer in a response or an ACK is taken from beside what would be refused in a request', async () => {
  const ends = new TwoEnds();
  const media = new NegotiatedMedia(CALLEE, 7);
  ends.act = (session) => void ends.accept(session, media);
  const call = ends.call({
    late: true,
    headers: [],
    answers: (offer) =>
      partsOf([call.media.answer(offer).value ?? '', 'Content-Type: application/sdp'], ['x', 'c: a/b']),
    ackType: MULTIPART[0][1],
  });
  await ends.network.pass(100);
  assert.equal(media.agreed, true);
});

for (const [how, authenticated] of [
  ['by its ACK', false],
  ['by the password of its INVITE', true],
] as const) {
  void test(`a caller over UDP shows ${how} that it gets what is sent to it`, async () => {
    const admission = { admits: () => undefined, authenticated: () => authenticated };
    const ends = new TwoEnds({ called: { admission } });
    const media = new NegotiatedMedia(CALLEE, 7);
    const confirmed: boolean[] = [];
    let peer = '';
    ends.act = (session) => {
      peer = session.peer.address;
      session.progress(media, { reliably: false });
      ends.accept(session, media);
      confirmed.push(media.isConfirmed);
    };
    ends.call();
    await ends.network.pass(100);
    assert.deepEqual([...confirmed, media.isConfirmed], [authenticated, true]);
    assert.equal(media.proven, authenticated ? peer : undefined);
    assert.deepEqual(media.acks, ['ACK']);
  });
}

// A trunk challenges our requests within the calls that it brought.

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
}

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

// A server at two addresses of one family writes from the address that was called, over real sockets.

const SECOND = '127.0.0.2';

test('a call to the second address is ended from the second address', async (t) => {
  const transports = new Transports({
    listeners: ['127.0.0.1', SECOND].map((host) => ({ transport: 'udp', host, port: 0 }) as const),
    time,
    received: (bytes, flow) => layer.received(bytes, flow),
  });
  const token = () => randomBytes(9).toString('hex');
  const agent = new UserAgent({
    time,
    token,
    randomInt,
    product: '',
    sessionSeconds: 0,
    leastSeconds: 90,
    admission: { admits: () => undefined },
    contactFor: (flow) => `<sip:${flow.local.address}:${flow.local.port}>`,
    invited: (session) => {
      session.accept(new HeardMedia(), new SeenEvents());
      void session.hangUp();
    },
  });
  const layer = new TransactionLayer({ wire: transports, user: agent, time, token });
  const phone = createSocket('udp4').bind(0, '127.0.0.1');
  await once(phone, 'listening');
  const { port } = phone.address();
  const places = Object.assign(new Places(), { port });
  agent.start(layer, new LocatedSender({ layer, locator: places, time }));
  await transports.open();
  t.after(async () => {
    phone.close();
    layer.close();
    await transports.close();
  });
  const at = transports.places.find(({ place }) => place.address === SECOND)?.place ?? assert.fail();
  const own = `<sip:alice@127.0.0.1:${port}>`;
  const data = inviteOf(
    'call',
    [
      ['Contact', own],
      ['Content-Type', 'application/sdp'],
    ],
    'offer',
  );
  const ack = { ...data, method: 'ACK', body: '' };
  const came: [string, string][] = [];
  const ended = new Promise<void>((resolve) => {
    phone.on('message', (bytes, { address }) => {
      const parsed = parseMessage(bytes);
      if (parsed.kind === 'response') {
        came.push([String(parsed.response.status), address]);
        if (parsed.response.status < 200) return;
        const to = parsed.response.first('to') ?? '';
        const headers = ack.headers.map(
          ([name, value]) => [name, name === 'To' ? to : value.replace(/INVITE$/, 'ACK')] as const,
        );
        phone.send(
          requestBytes({ ...ack, headers }, `SIP/2.0/UDP 127.0.0.1:${port};branch=z9hG4bK2`),
          at.port,
          SECOND,
        );
      } else if (parsed.kind === 'request') {
        came.push([parsed.request.method, address]);
        resolve();
      }
    });
  });
  phone.send(requestBytes(data, `SIP/2.0/UDP 127.0.0.1:${port};rport;branch=z9hG4bK1`), at.port, SECOND);
  await ended;
  assert.deepEqual(came, [
    ['100', SECOND],
    ['200', SECOND],
    ['BYE', SECOND],
  ]);
});
