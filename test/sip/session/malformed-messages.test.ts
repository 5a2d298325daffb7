// Sends malformed and damaged messages into calls. Nothing may throw, and the call can still be ended
// and leaves nothing behind.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CALLEE, CALLER, seeded } from '../transaction/network.js';
import { type ByHand, CallingOut } from './calling-out.js';
import { type Calling, NegotiatedMedia, SeenEvents, TwoEnds } from './two-ends.js';

const VALUES = [
  '',
  ';',
  ',',
  '<',
  '"',
  '%',
  '%zz',
  '0',
  '-1',
  '99999999999999999999',
  'x y z',
  '<sip:a@b',
  '<tel:1>',
  'é',
  '\0',
];
// prettier-ignore
const JUNK_HEADERS = ['RSeq', 'RAck', 'Require', 'Refer-To', 'Replaces', 'Event', 'Reason', 'Session-Expires', 'Min-SE', 'Contact', 'Record-Route', 'Refer-Sub', 'Expires', 'Content-Type', 'Info-Package', 'Allow', 'CSeq', 'Subscription-State'];

/** A call in which every kind of request is sent, by both sides. */
async function everything(): Promise<{ ends: TwoEnds; call: Calling }> {
  const { ends, call } = await begun();
  const [session] = ends.invited;
  void session?.reoffer();
  await ends.network.pass(200);
  void call.inDialog.reoffer();
  void session?.sendDigit('5', 100);
  void call.ask('UPDATE');
  void call.ask('OPTIONS');
  void session?.refer({ uri: 'sip:carol@192.0.2.3' });
  await ends.network.pass(200);
  call.seen.asked[0]?.accept();
  await ends.network.pass(200);
  void call.inDialog.hangUp();
  await ends.network.pass(200);
  return { ends, call };
}

async function begun(): Promise<{ ends: TwoEnds; call: Calling }> {
  const ends = new TwoEnds();
  const media = new NegotiatedMedia(CALLEE, 7);
  ends.act = (session) => {
    session.user = new SeenEvents();
    session.progress(media);
    session.accept(media, new SeenEvents());
  };
  const call = ends.call();
  await ends.network.pass(50);
  void call.ask('PRACK', [['RAck', `${call.responses[0]?.first('rseq') ?? ''} 1 INVITE`]]);
  await ends.network.pass(100);
  return { ends, call };
}

function damaged(text: string, random: () => number, index: number): Buffer {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const [head = '', ...rest] = text.split('\r\n\r\n');
  // A branch of its own, so that it is no retransmission, and a number above those before.
  const lines = head
    .replace(/branch=z9hG4bK/, `branch=z9hG4bK${index}x`)
    .replace(/^CSeq: (\d+)/m, (_all, digits: string) => `CSeq: ${Number(digits) + index}`)
    .split('\r\n');
  const at = 1 + Math.floor(random() * (lines.length - 1));
  const name = (lines[at] ?? '').split(':')[0] ?? '';
  const kind = Math.floor(random() * 5);
  if (kind === 0) lines.splice(at, 1);
  else if (kind === 1) lines[at] = `${name}: ${pick(VALUES)}`;
  else if (kind === 2) lines.push(`${pick(JUNK_HEADERS)}: ${pick(VALUES)}`);
  else if (kind === 3) lines.push(lines[at] ?? '');
  const body =
    kind === 4 ? rest.join('\r\n\r\n').slice(0, Math.floor(random() * 100)) : rest.join('\r\n\r\n');
  const sized = lines.map((line) =>
    line.startsWith('Content-Length') ? `Content-Length: ${Buffer.byteLength(body)}` : line,
  );
  return Buffer.from(`${sized.join('\r\n')}\r\n\r\n${body}`);
}

for (const seed of [1, 2, 3, 4]) {
  void test(`damaged messages of every kind throw nothing and leave nothing behind (seed ${seed})`, async () => {
    const random = seeded(seed);
    const models = (await everything()).ends.network.carried.map(({ from, text }) => ({ from, text }));
    const methods = new Set(models.map(({ text }) => /^\S+/.exec(text)?.[0]));
    for (const method of ['INVITE', 'ACK', 'BYE', 'PRACK', 'UPDATE', 'INFO', 'REFER', 'NOTIFY', 'OPTIONS'])
      assert.ok(methods.has(method), method);
    const { ends, call } = await begun();
    for (let index = 1; index <= 300; index++) {
      const { from, text } = models[Math.floor(random() * models.length)] ?? assert.fail();
      if (text.startsWith('BYE') && index < 250) continue;
      ends.network.post(from, from === CALLER ? CALLEE : CALLER, damaged(text, random, index));
      await ends.network.pass(10);
      for (const session of ends.invited) {
        if (session.state === 'inviting' && random() < 0.5) session.reject(486);
      }
    }
    for (const session of ends.invited) void session.hangUp();
    void call.inDialog.hangUp();
    for (const { agent } of ends.all) for (const one of agent.context.dialogs.all) void one.bye({ by: 'us' });
    await ends.network.pass(900_000, 500);
    for (const { agent, layer } of ends.all) {
      assert.deepEqual(agent.counts, { early: 0, confirmed: 0 });
      assert.deepEqual(layer.open, { server: 0, client: 0, pendingInvites: 0 });
    }
    assert.equal(ends.network.time.waiting, 0);
  });
}

const ROUTE = [['Record-Route', `<sip:${CALLEE};lr>`]] as const;

/** A BYE of the far end, with this From tag, is answered with 200 and ends the call. */
async function endsByPeer(out: CallingOut, from: string): Promise<void> {
  const fields = [
    ['Via', `SIP/2.0/UDP ${CALLEE};branch=z9hG4bKbye`],
    ['From', from],
    ['To', out.invite.first('from') ?? ''],
    ['Call-ID', out.invite.callId],
    ['CSeq', '1 BYE'],
    ['Content-Length', '0'],
  ].map((field) => field.join(': '));
  out.post(['BYE sip:parley@192.0.2.1 SIP/2.0', ...fields, '', ''].join('\r\n'));
  await out.network.pass(50);
  assert.ok(out.network.carried.some((one) => /^SIP\/2\.0 200 OK[^]*\r\nCSeq: 1 BYE/.test(one.text)));
  assert.deepEqual(out.seen.end, { by: 'peer' });
}

void test('a 2xx without a To tag is acknowledged each time, and its call stands until BYE', async () => {
  const out = new CallingOut();
  const session = await out.call();
  await out.respond(180, { tagged: false });
  for (let times = 1; times <= 2; times++) {
    await out.respond(200, { tagged: false, tag: 'one', body: 'answer' });
    assert.equal(out.callee.acks.length, times);
  }
  assert.equal(session.state, 'confirmed');
  assert.equal(session.dialog?.remoteTag, '');
  assert.deepEqual(out.media.events, ['accept answer of ', 'settle ']);
  await out.hungUp(session);
  const [bye] = out.requests('BYE');
  assert.deepEqual([out.callee.acks[0]?.to.tag, bye?.to.tag], [undefined, undefined]);
  assert.equal(bye?.cseq.number, out.invite.cseq.number + 1);
  assert.deepEqual(out.seen.events, ['180', 'established', 'ended us']);
  await out.settled();
});

void test('a peer whose 2xx had no To tag ends the call with a From tag or without one', async () => {
  for (const from of ['<sip:bob@example.com>', '<sip:bob@example.com>;tag=late']) {
    const out = new CallingOut();
    await out.call();
    await out.respond(200, { tagged: false, body: 'answer' });
    await endsByPeer(out, from);
    await out.settled();
  }
});

void test('a 2xx without a To tag is of the only phone that rang', async () => {
  for (const from of ['<sip:bob@example.com>', '<sip:bob@example.com>;tag=one']) {
    const out = new CallingOut();
    const session = await out.call();
    await out.respond(180);
    for (let times = 1; times <= 2; times++) await out.respond(200, { tagged: false, body: 'answer' });
    assert.equal(session.dialog?.remoteTag, 'one');
    assert.deepEqual(
      out.callee.acks.map(({ to }) => to.tag),
      ['one', 'one'],
    );
    assert.deepEqual(out.seen.events, ['180', 'established']);
    await endsByPeer(out, from);
    await out.settled();
  }
});

void test('of several phones one that answers without a To tag has the call, or is let go', async () => {
  const first = new CallingOut();
  const session = await first.call();
  for (const tag of ['one', 'two']) await first.respond(180, { tag });
  await first.respond(200, { tagged: false, body: 'answer' });
  await first.respond(200, { tag: 'two', body: 'answer two' });
  assert.equal(session.dialog?.remoteTag, '');
  assert.deepEqual(
    first.requests('BYE').map(({ to }) => to.tag),
    ['two'],
  );
  await first.hungUp(session);
  await first.settled();
  const late = new CallingOut();
  await late.call();
  await late.respond(200, { tag: 'one', body: 'answer' });
  await late.respond(200, { tagged: false, body: 'answer' });
  assert.deepEqual(
    late.callee.acks.map(({ to }) => to.tag),
    ['one', undefined],
  );
  assert.deepEqual(
    late.requests('BYE').map(({ to }) => to.tag),
    [undefined],
  );
  assert.deepEqual(late.seen.events, ['established']);
});

void test('a 2xx without a usable Contact is acknowledged where the INVITE went, under its Request-URI', async () => {
  const contacts = [[], ['*'], ['<>'], ['tel:+4930123'], ['"unclosed <sip:bob@192.0.2.9>']];
  for (const values of contacts) {
    const out = new CallingOut();
    const headers = values.map((value) => ['Contact', value] as const);
    const session = await out.call();
    for (let times = 1; times <= 2; times++)
      await out.respond(200, { contact: false, headers, body: 'answer' });
    assert.equal(session.state, 'confirmed', String(values));
    assert.deepEqual(
      out.callee.acks.map(({ uri }) => uri.text),
      ['sip:bob@example.com', 'sip:bob@example.com'],
    );
    await out.hungUp(session);
    assert.deepEqual(
      out.requests('BYE').map(({ uri }) => uri.text),
      ['sip:bob@example.com'],
    );
    assert.deepEqual(out.seen.events, ['established', 'ended us']);
    await out.settled();
  }
});

void test('without a Contact requests go along the route set, and the Contact of an earlier response stays', async () => {
  const routed = new CallingOut();
  await routed.call();
  await routed.respond(200, { contact: false, headers: ROUTE, body: 'answer' });
  assert.deepEqual(
    routed.callee.acks.map(({ uri, fields }) => [uri.text, fields.first('route')]),
    [['sip:bob@example.com', `<sip:${CALLEE};lr>`]],
  );
  const rang = new CallingOut();
  await rang.call();
  await rang.respond(180);
  await rang.respond(200, { contact: false, body: 'answer' });
  assert.deepEqual(
    rang.callee.acks.map(({ uri }) => uri.text),
    [`sip:one@${CALLEE}`],
  );
});

void test('the Contact of the 2xx counts where that of the response before was missing', async () => {
  const out = new CallingOut();
  await out.call();
  await out.respond(180, { contact: false });
  await out.respond(200, {
    body: 'answer',
    contact: false,
    headers: [['Contact', '<sip:bob@8.8.4.4>']],
  });
  assert.deepEqual(out.places.asked, ['example.com', '8.8.4.4']);
});

void test('a 2xx whose Contact is a name that leads nowhere is acknowledged where the INVITE went', async () => {
  const out = new CallingOut();
  const headers = [['Contact', '<sip:bob@nowhere.example>']] as const;
  const session = await out.call();
  await out.respond(200, { contact: false, headers, body: 'answer' });
  assert.deepEqual(
    out.callee.acks.map(({ uri }) => uri.text),
    ['sip:bob@nowhere.example'],
  );
  await out.hungUp(session);
  assert.equal(out.requests('BYE').length, 1);
  await out.settled();
});

void test('a 2xx that repeats From, Call-ID or the tag of ours wrongly is acknowledged with what was sent', async () => {
  const edits: readonly ((text: string) => string)[] = [
    (text) => text.replace(/^From:.*$/m, 'From: <sip:other@example.org>'),
    (text) => text.replace(/^(From:.*;tag=).*$/m, '$1other'),
    (text) => text.replace(/^Call-ID:.*$/m, 'Call-ID: other'),
  ];
  for (const edit of edits) {
    const out = new CallingOut();
    const session = await out.call();
    await out.respond(200, { body: 'answer', edit });
    const [ack] = out.callee.acks;
    assert.deepEqual([ack?.first('from'), ack?.callId], [out.invite.first('from'), out.invite.callId]);
    await out.hungUp(session);
    assert.deepEqual(out.seen.events, ['established', 'ended us']);
    await out.settled();
  }
});

void test('a malformed 2xx without a usable description is acknowledged and ended', async () => {
  const answers: readonly ByHand[] = [
    { tagged: false },
    { contact: false },
    { tagged: false, contact: false, body: 'bad' },
    { tagged: false, body: 'bad' },
  ];
  for (const answer of answers) {
    const out = new CallingOut();
    await out.call();
    await out.respond(200, answer);
    assert.equal(out.callee.acks.length, 1);
    assert.match(out.requests('BYE')[0]?.first('reason') ?? '', /^SIP;cause=488;text="/);
    assert.deepEqual([out.seen.end?.by, out.seen.end?.status], ['us', 488]);
    assert.equal(out.media.offering, false);
    await out.settled();
  }
});

void test('a malformed 2xx that crosses the hanging up gets ACK and BYE', async () => {
  for (const answer of [{ tagged: false }, { contact: false }, { tagged: false, contact: false }]) {
    const out = new CallingOut();
    const session = await out.call();
    await out.respond(180, { tagged: false });
    const hungUp = session.hangUp();
    await out.respond(200, { ...answer, body: 'answer' });
    await out.network.pass(100);
    await hungUp;
    assert.deepEqual([out.callee.acks.length, out.requests('BYE').length], [1, 1]);
    assert.deepEqual(out.seen.events, ['180', 'ended us']);
    await out.settled();
  }
});

void test('early media is heard without a Contact, and without a To tag', async () => {
  for (const more of [{ contact: false }, { tagged: false }, { tagged: false, contact: false }]) {
    const out = new CallingOut();
    await out.call();
    await out.respond(183, { ...more, body: 'early' });
    const tag = 'tagged' in more ? '' : 'one';
    assert.deepEqual(out.media.events, [`accept early of ${tag}`]);
    await out.respond(200, { ...more, body: 'early' });
    assert.deepEqual(out.seen.events, ['183', 'established']);
    assert.equal(out.callee.acks.length, 1);
  }
});

/** To of a response whose tag is empty or cannot be read, or no To at all. */
const UNREADABLE = [
  (text: string) => text.replace(/^(To:.*)$/m, '$1;tag='),
  (text: string) => text.replace(/^(To:.*)$/m, '$1;tag=""'),
  (text: string) => text.replace(/^To:.*$/m, 'To: "Bob <sip:bob@example.com>'),
  (text: string) => text.replace(/^To:.*$/m, 'To:'),
  (text: string) => text.replace(/^To:.*\r\n/m, ''),
];

void test('a 2xx with an empty tag, or without a To that can be read, is as one without a To tag', async () => {
  for (const edit of UNREADABLE) {
    const out = new CallingOut();
    const session = await out.call();
    for (let times = 1; times <= 2; times++) {
      await out.respond(200, { tagged: false, body: 'answer', edit });
      assert.equal(out.callee.acks.length, times);
    }
    assert.deepEqual([session.state, session.dialog?.remoteTag], ['confirmed', '']);
    await out.hungUp(session);
    const to = [out.callee.acks[0], ...out.requests('BYE')].map((request) => request?.first('to'));
    assert.deepEqual(to, ['<sip:bob@example.com>', '<sip:bob@example.com>']);
    await out.settled();
  }
});

void test('a 2xx with an empty tag and without a usable description is acknowledged and ended', async () => {
  for (const edit of UNREADABLE) {
    const out = new CallingOut();
    await out.call();
    await out.respond(200, { tagged: false, body: 'bad', edit });
    assert.deepEqual([out.callee.acks.length, out.requests('BYE').length], [1, 1]);
    await out.settled();
  }
});

void test('the tag of a To that is otherwise not well-formed is the one of the dialog', async () => {
  const out = new CallingOut();
  const session = await out.call();
  await out.respond(200, { body: 'answer', edit: (text) => text.replace(/^To: </m, 'To: "Bob <') });
  assert.equal(session.dialog?.remoteTag, 'one');
  assert.deepEqual(
    out.callee.acks.map((ack) => ack.first('to')),
    ['<sip:bob@example.com>;tag=one'],
  );
});

void test('a 2xx without From or Call-ID, with them wrong, or with fields twice, is acknowledged', async () => {
  const edits: readonly ((text: string) => string)[] = [
    (text) => text.replace(/^From:.*\r\n/m, ''),
    (text) => text.replace(/^From:.*$/m, 'From: "Alice <sip:x>'),
    (text) => text.replace(/^Call-ID:.*\r\n/m, ''),
    (text) => text.replace(/^(To:.*)$/m, '$1\r\n$1'),
    (text) => text.replace(/^(CSeq:.*)$/m, '$1\r\nMax-Forwards: many\r\nExpires: 1\r\nExpires: 2'),
  ];
  for (const edit of edits) {
    const out = new CallingOut();
    const session = await out.call();
    await out.respond(200, { body: 'answer', edit });
    const [ack] = out.callee.acks;
    assert.deepEqual([ack?.first('from'), ack?.callId], [out.invite.first('from'), out.invite.callId]);
    assert.equal(session.dialog?.remoteTag, 'one');
    await out.hungUp(session);
    await out.settled();
  }
});

void test('a refusal without a To that can be read is acknowledged, and ends the call', async () => {
  for (const edit of UNREADABLE) {
    const out = new CallingOut();
    await out.call();
    await out.respond(486, { tagged: false, edit });
    assert.ok(out.network.carried.some((one) => /^ACK [^]*\r\nTo: <sip:bob@example.com>\r\n/.test(one.text)));
    assert.equal(out.seen.end?.status, 486);
    await out.settled();
  }
});
