// Offers within a call: holding and resuming by either side, offers that cross,
// offers that fail, and offers that are asked for.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SipRequest } from '../../../sip/message/message.js';
import { responseBytes, type HeaderLine } from '../../../sip/message/serialiser.js';
import type { InboundSession } from '../../../sip/session/inbound-session.js';
import { CALLEE, CALLER } from '../transaction/network.js';
import { type Calling, NegotiatedMedia, requestsTo, SeenEvents, TwoEnds } from './two-ends.js';

const SDP: HeaderLine = ['Content-Type', 'application/sdp'];

interface Talk {
  readonly ends: TwoEnds;
  readonly call: Calling;
  readonly session: InboundSession;
  readonly media: NegotiatedMedia;
  readonly seen: SeenEvents;
}

async function talking(headers: readonly HeaderLine[] = []): Promise<Talk> {
  const ends = new TwoEnds();
  const media = new NegotiatedMedia(CALLEE, 7);
  let seen = new SeenEvents();
  ends.act = (session) => (seen = ends.accept(session, media));
  const call = ends.call({ headers });
  await ends.network.pass(100);
  const [session] = ends.invited;
  assert.ok(session);
  return { ends, call, session, media, seen };
}

void test('either side holds and resumes by re-INVITE', async () => {
  const { ends, call, session, media } = await talking();
  media.wantedDirection = 'sendonly';
  const held = session.reoffer();
  await ends.network.pass(100);
  assert.equal((await held).refusal, undefined);
  assert.deepEqual([media.direction, call.media.direction], ['sendonly', 'recvonly']);
  media.wantedDirection = 'sendrecv';
  call.media.wantedDirection = 'inactive';
  const theirs = call.inDialog.reoffer();
  await ends.network.pass(100);
  assert.equal((await theirs).refusal, undefined);
  assert.deepEqual([media.direction, call.media.direction], ['inactive', 'inactive']);
  assert.equal(session.state, 'confirmed');
});

void test('a re-INVITE asks for no reliable provisional responses, which nobody would acknowledge', async () => {
  const { ends, session } = await talking();
  const reoffered = session.reoffer();
  await ends.network.pass(100);
  assert.equal((await reoffered).refusal, undefined);
  const [invite = ''] = requestsTo(ends.network, CALLEE, 'INVITE');
  assert.match(invite, /\r\nSupported: timer, replaces, norefersub\r\n/);
  assert.doesNotMatch(invite, /100rel/);
});

void test('offers that are asked for while another is under way are one', async () => {
  const { ends, session } = await talking();
  const all = [session.reoffer(), session.reoffer(), session.reoffer()];
  await ends.network.pass(200);
  assert.deepEqual(
    (await Promise.all(all)).map(({ refusal }) => refusal),
    [undefined, undefined, undefined],
  );
  assert.equal(requestsTo(ends.network, CALLEE, 'INVITE').length, 2);
});

void test('re-INVITEs that cross are both refused with 491 and both succeed later, the callee first', async () => {
  const { ends, call, session } = await talking();
  const both = [session.reoffer(), call.inDialog.reoffer()];
  const startMs = ends.network.time.now();
  await ends.network.pass(10_000);
  assert.deepEqual(
    (await Promise.all(both)).map(({ refusal }) => refusal),
    [undefined, undefined],
  );
  const again = (from: string) =>
    ends.network.carried
      .filter((one) => one.from === from && one.text.startsWith('INVITE') && one.atMs > startMs)
      .map(({ atMs }) => atMs - startMs);
  const [ofCallee = 0] = again(CALLEE);
  const [ofCaller = 0] = again(CALLER);
  assert.ok(ofCallee <= 2030, `${ofCallee}`);
  assert.ok(ofCaller >= 2100 && ofCaller <= 4030, `${ofCaller}`);
});

void test('a re-INVITE that is refused with 488 leaves the call as it was', async () => {
  const { ends, call, session, media } = await talking();
  call.inDialog.media = new NegotiatedMedia(CALLER, 5, { codecs: [] });
  media.wantedDirection = 'inactive';
  const refused = session.reoffer();
  await ends.network.pass(200);
  assert.equal((await refused).refusal?.status, 488);
  assert.equal(media.offering, false);
  assert.equal(media.direction, 'sendrecv');
  assert.equal(session.state, 'confirmed');
  call.inDialog.media = call.media;
  const next = session.reoffer();
  await ends.network.pass(200);
  assert.equal((await next).refusal, undefined);
});

void test('a re-INVITE into a dialog that the peer has forgotten ends the call', async () => {
  const { ends, call, session, seen } = await talking();
  call.inDialog.end({ by: 'us' });
  const refused = session.reoffer();
  await ends.network.pass(200);
  assert.equal((await refused).refusal?.status, 481);
  assert.deepEqual(seen.end, { by: 'peer', status: 481 });
});

void test('a re-INVITE that nobody answers ends the call after 64 T1', async () => {
  const { ends, session, seen } = await talking();
  ends.network.loses = (text) => text.startsWith('INVITE');
  const refused = session.reoffer();
  await ends.network.pass(33_000, 100);
  assert.equal((await refused).refusal?.status, 408);
  assert.deepEqual(seen.end, { by: 'transport', status: 408 });
});

/** Our re-INVITE is under way, and the peer has only said that it has it. */
async function unanswered(status: number) {
  const talk = await talking();
  const { ends, call, session } = talk;
  ends.network.carriesTrying = true;
  let invite: SipRequest | undefined;
  const { request } = ends.calling.agent;
  ends.calling.agent.request = (asked, transaction) => {
    if (asked.method !== 'INVITE') return request.call(ends.calling.agent, asked, transaction);
    invite = asked;
    transaction.user = { cancelled: () => transaction.respond({ status: 487 }) };
    transaction.respond({ status, headers: [call.inDialog.channel.contact] });
  };
  const startMs = ends.network.time.now();
  let atMs: number | undefined;
  const reoffered = session.reoffer();
  void reoffered.then(() => (atMs = ends.network.time.now() - startMs));
  await ends.network.pass(100);
  assert.ok(invite);
  const settledMs = () => atMs;
  return { ...talk, reoffered, invite, settledMs };
}

void test('a re-INVITE that a peer only says it has is taken back after 64 T1, and the call goes on', async () => {
  const { ends, reoffered, media, session, settledMs } = await unanswered(100);
  await ends.network.pass(31_800, 100);
  assert.equal(settledMs(), undefined);
  await ends.network.pass(200);
  assert.equal((await reoffered).refusal?.status, 487);
  assert.equal(media.offering, false);
  assert.equal(session.state, 'confirmed');
  assert.equal(requestsTo(ends.network, CALLEE, 'CANCEL').length, 1);
});

void test('a re-INVITE that somebody at the peer is asked about is waited for three minutes', async () => {
  const { ends, reoffered, media, settledMs } = await unanswered(180);
  await ends.network.pass(179_800, 100);
  assert.equal(settledMs(), undefined);
  await ends.network.pass(200);
  assert.equal((await reoffered).refusal?.status, 487);
  assert.equal(media.offering, false);
});

void test('a re-INVITE whose peer has fallen silent, to CANCEL too, ends the call', async () => {
  const { ends, reoffered, seen, settledMs } = await unanswered(100);
  ends.network.loses = (_text, from) => from === CALLER;
  await ends.network.pass(63_800, 100);
  assert.equal(settledMs(), undefined);
  await ends.network.pass(300, 100);
  assert.equal((await reoffered).refusal?.status, 408);
  assert.deepEqual(seen.end, { by: 'transport', status: 408 });
  await ends.settle(70_000);
  assert.equal(ends.called.layer.open.client, 0);
});

void test('an answer that crosses the CANCEL of a re-INVITE is taken', async () => {
  const { ends, reoffered, call, media, session, invite } = await unanswered(100);
  const answer = call.media.answer(invite.body).value ?? '';
  const headers = [call.inDialog.channel.contact, SDP];
  await ends.network.pass(31_880, 10);
  ends.network.post(CALLER, CALLEE, responseBytes(invite, { status: 200, toTag: '', headers, body: answer }));
  await ends.network.pass(200);
  assert.equal((await reoffered).refusal, undefined);
  assert.equal(media.offering, false);
  assert.equal(session.state, 'confirmed');
});

void test('a call that ends while its re-INVITE waits leaves nobody waiting', async () => {
  for (const by of ['peer', 'us'] as const) {
    const { ends, reoffered, media, session, call, settledMs } = await unanswered(100);
    if (by === 'us') void session.hangUp();
    else void call.inDialog.hangUp();
    await ends.network.pass(50);
    assert.ok(settledMs() !== undefined);
    assert.equal((await reoffered).refusal?.status, 481);
    assert.equal(media.offering, false);
    assert.equal(requestsTo(ends.network, CALLEE, 'CANCEL').length, 1);
    await ends.settle(110_000);
    assert.equal(ends.network.time.waiting, 0);
  }
});

void test('an INVITE that asks for our offer gets it, and its ACK answers it', async () => {
  const { ends, call, media } = await talking();
  let answer: string | undefined;
  call.inDialog.channel.invite(
    { headers: [call.inDialog.channel.contact] },
    {
      provisional: () => undefined,
      accepted: (response) => {
        call.media.wantedDirection = 'inactive';
        answer ??= call.media.answer(response.body).value;
        call.inDialog.acknowledge(response, () => ({ headers: [SDP], body: answer ?? '' }));
      },
      refused: () => assert.fail('refused'),
    },
  );
  await ends.network.pass(200);
  assert.ok(answer);
  assert.equal(media.direction, 'inactive');
  assert.equal(media.offering, false);
});

void test('an INVITE that asks for our offer and answers it with nothing leaves the call as it was', async () => {
  const { ends, call, media, session } = await talking();
  call.inDialog.channel.invite(
    { headers: [] },
    {
      provisional: () => undefined,
      accepted: (response) => call.inDialog.acknowledge(response),
      refused: () => assert.fail('refused'),
    },
  );
  await ends.network.pass(30);
  const meanwhile = session.reoffer(); // waits for the ACK
  await ends.network.pass(300);
  assert.equal((await meanwhile).refusal, undefined);
  assert.equal(media.offering, false);
  assert.equal(session.state, 'confirmed');
});

void test('UPDATE with an offer is answered, without one it only refreshes', async () => {
  const { ends, call, media, session } = await talking();
  call.media.wantedDirection = 'sendonly';
  const offered = call.ask('UPDATE', [SDP, ['Contact', '<sip:192.0.2.77>']], call.media.offer().value);
  await ends.network.pass(100);
  assert.equal((await offered).status, 200);
  assert.equal((await offered).first('content-type'), 'application/sdp');
  assert.equal(media.direction, 'recvonly');
  const plain = call.ask('UPDATE', [['Contact', `<sip:${CALLER}>`]]);
  await ends.network.pass(100);
  assert.equal((await plain).status, 200);
  assert.equal((await plain).body.length, 0);
  assert.equal(session.state, 'confirmed');
});

void test('a target refresh sends what follows to the new Contact', async () => {
  const { ends, call, session } = await talking();
  ends.network.sink('192.0.2.77');
  const moved = call.ask('UPDATE', [['Contact', '<sip:192.0.2.77>']]);
  await ends.network.pass(100);
  assert.equal((await moved).status, 200);
  void session.hangUp();
  await ends.network.pass(100);
  assert.match(requestsTo(ends.network, CALLEE, 'BYE')[0] ?? '', /^BYE sip:192\.0\.2\.77 /);
});

void test('an interval that is too short is refused and changes nothing', async () => {
  const { ends, call, media } = await talking();
  call.media.wantedDirection = 'inactive';
  const asked = call.ask(
    'UPDATE',
    [SDP, ['Supported', 'timer'], ['Session-Expires', '60']],
    call.media.offer().value,
  );
  await ends.network.pass(100);
  assert.equal((await asked).status, 422);
  assert.equal((await asked).first('min-se'), '90');
  assert.equal(media.direction, 'sendrecv');
});

void test('a re-INVITE with the number of an older request is refused with 500', async () => {
  const { ends, call } = await talking();
  const text = requestsTo(ends.network, CALLER, 'ACK')[0] ?? '';
  const old = text
    .replace('ACK sip', 'INFO sip')
    .replace('1 ACK', '0 INFO')
    .replace(/branch=[^\r;]*/, 'branch=z9hG4bKold');
  ends.network.post(CALLER, CALLEE, Buffer.from(old));
  await ends.network.pass(100);
  assert.match(ends.network.carried.at(-1)?.text ?? '', /^SIP\/2\.0 500 /);
  assert.equal(call.seen.end, undefined);
});

void test('what does not come to an end within 64 T1 ends with the call', async () => {
  const { ends, call, session } = await talking();
  ends.network.loses = (_text, from) => from === CALLER;
  const reoffered = session.reoffer();
  await ends.network.pass(1000);
  const left = session.hangUp();
  await ends.network.pass(70_000, 100);
  assert.ok((await reoffered).refusal);
  await left;
  call.inDialog.end({ by: 'us' });
  await ends.settle(70_000);
  assert.deepEqual(ends.called.agent.counts, { early: 0, confirmed: 0 });
  assert.equal(ends.network.time.waiting, 0);
});
