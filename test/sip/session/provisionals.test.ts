// Provisional responses, repeated until PRACK where they have to arrive.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HeaderLine } from '../../../sip/message/serialiser.js';
import type { InboundSession } from '../../../sip/session/inbound-session.js';
import { descriptionIn } from '../../../sip/message/body.js';
import { CALLEE } from '../transaction/network.js';
import { type Calling, NegotiatedMedia, SeenEvents, TwoEnds } from './two-ends.js';

const REQUIRED: readonly HeaderLine[] = [['Require', '100rel']];
const UNKNOWN: readonly HeaderLine[] = [['Supported', 'timer']];
const SDP: HeaderLine = ['Content-Type', 'application/sdp'];

/** PRACK of the latest response, or of the one with this number. */
async function prack(ends: TwoEnds, call: Calling, body?: string, number?: string) {
  const rseq = number ?? call.responses.at(-1)?.first('rseq') ?? '';
  const asked = call.ask('PRACK', [['RAck', `${rseq} 1 INVITE`], ...(body === undefined ? [] : [SDP])], body);
  await ends.network.pass(50);
  return asked;
}

function ringing(
  act: (session: InboundSession, media: NegotiatedMedia) => void,
  headers?: readonly HeaderLine[],
  late = false,
) {
  const ends = new TwoEnds();
  const media = new NegotiatedMedia(CALLEE, 7);
  const seen = new SeenEvents();
  ends.act = (session) => {
    session.user = seen;
    act(session, media);
  };
  const call = ends.call({ late, ...(headers === undefined ? {} : { headers }) });
  return { ends, media, seen, call };
}

void test('183 has the answer and is repeated until PRACK; the 200 then has none', async () => {
  const { ends, media, seen, call } = ringing((session, its) => session.progress(its));
  await ends.network.pass(4000);
  assert.equal(media.isConfirmed, false);
  assert.deepEqual(call.statuses, [183, 183, 183, 183]); // 0, 500, 1500, 3500
  assert.equal(new Set(call.responses.map((response) => response.first('rseq'))).size, 1);
  assert.deepEqual(call.responses[0]?.all('require'), ['100rel']);
  assert.ok(descriptionIn(call.responses[0] ?? assert.fail()));
  assert.equal((await prack(ends, call)).status, 200);
  assert.equal(media.isConfirmed, true);
  assert.deepEqual(media.acks, ['PRACK']);
  await ends.network.pass(8000);
  assert.equal(call.statuses.length, 4);
  ends.invited[0]?.accept(media, seen);
  await ends.network.pass(100);
  assert.equal(call.statuses.at(-1), 200);
  assert.equal(call.responses.at(-1)?.body.length, 0);
  assert.deepEqual(seen.events, ['established']);
  assert.deepEqual(media.acks, ['PRACK', 'ACK']);
});

void test('a call that is accepted before PRACK gets its 200 after it', async () => {
  const { ends, media, seen, call } = ringing((session, its) => session.progress(its));
  await ends.network.pass(100);
  ends.invited[0]?.accept(media, seen);
  await ends.network.pass(100);
  assert.deepEqual(call.statuses, [183]);
  await prack(ends, call);
  await ends.network.pass(100);
  assert.deepEqual(call.statuses, [183, 200]);
  assert.equal(ends.invited[0]?.state, 'confirmed');
});

void test('a PRACK that is lost is sent again, and one that comes twice is answered once as known', async () => {
  const { ends, call } = ringing((session, its) => session.progress(its));
  await ends.network.pass(50);
  let lost = 0;
  ends.network.loses = (text) => text.startsWith('PRACK') && lost++ === 0;
  const asked = call.ask('PRACK', [['RAck', `${call.responses[0]?.first('rseq') ?? ''} 1 INVITE`]]);
  await ends.network.pass(1000);
  assert.equal((await asked).status, 200);
  assert.equal((await prack(ends, call)).status, 481);
});

void test('without PRACK the call is refused after 64 T1', async () => {
  const { ends, seen, call } = ringing((session, its) => session.progress(its));
  await ends.network.pass(33_000, 100);
  assert.equal(call.statuses.at(-1), 504);
  assert.deepEqual(seen.end, { by: 'unacknowledged', status: 504 });
  await ends.settle(110_000);
  assert.equal(ends.network.time.waiting, 0);
});

void test('where the peer insists, 180 is reliable too, and the next one waits for the PRACK before', async () => {
  const act = (session: InboundSession, media: NegotiatedMedia) => {
    session.ring();
    session.progress(media);
  };
  const { ends, seen, media, call } = ringing(act, REQUIRED);
  await ends.network.pass(100);
  assert.deepEqual(call.statuses, [180]);
  const first = Number(call.responses[0]?.first('rseq'));
  assert.equal((await prack(ends, call, undefined, String(first + 1))).status, 481);
  await prack(ends, call);
  assert.deepEqual(call.statuses, [180, 183]);
  assert.equal(Number(call.responses[1]?.first('rseq')), first + 1);
  assert.equal((await prack(ends, call)).status, 200);
  ends.invited[0]?.accept(media, seen);
  await ends.network.pass(100);
  assert.equal(call.statuses.at(-1), 200);
});

void test('a peer that knows nothing of PRACK gets 183 once, and the same answer in the 200', async () => {
  const { ends, seen, media, call } = ringing((session, its) => session.progress(its), UNKNOWN);
  await ends.network.pass(3000);
  assert.deepEqual(call.statuses, [183]);
  assert.equal(call.responses[0]?.first('rseq'), undefined);
  ends.invited[0]?.accept(media, seen);
  await ends.network.pass(100);
  assert.equal(call.responses[1]?.body.toString(), call.responses[0]?.body.toString());
});

void test('an INVITE without an offer gets ours in the 183, and PRACK has the answer', async () => {
  const { ends, seen, media, call } = ringing((session, its) => session.progress(its), undefined, true);
  await ends.network.pass(100);
  const offer = descriptionIn(call.responses[0] ?? assert.fail()) ?? assert.fail();
  const answer = call.media.answer(offer).value;
  assert.equal((await prack(ends, call, answer)).status, 200);
  assert.equal(media.agreed, true);
  ends.invited[0]?.accept(media, seen);
  await ends.network.pass(100);
  assert.equal(call.responses.at(-1)?.body.length, 0);
  assert.deepEqual(seen.events, ['established']);
});

void test('an answer in PRACK that cannot be used refuses the call', async () => {
  const { ends, seen, call } = ringing((session, its) => session.progress(its), undefined, true);
  await ends.network.pass(100);
  assert.equal((await prack(ends, call, 'v=1\r\n')).status, 200);
  assert.ok([400, 488].includes(call.statuses.at(-1) ?? 0));
  assert.equal(seen.end?.by, 'us');
});

void test('an offer in PRACK is answered in its 200', async () => {
  const { ends, call } = ringing((session, its) => session.progress(its));
  await ends.network.pass(100);
  const answer = descriptionIn(call.responses[0] ?? assert.fail()) ?? assert.fail();
  assert.equal(call.media.accept(answer).refusal, undefined);
  call.media.wantedDirection = 'sendonly';
  const pracked = await prack(ends, call, call.media.offer().value);
  assert.equal(pracked.status, 200);
  assert.match(pracked.body.toString(), /a=recvonly/);
});

void test('UPDATE with an offer is answered early, and 500 where the first offer was not answered yet', async () => {
  const { ends, media, call } = ringing((session) => session.ring());
  await ends.network.pass(100);
  const early = call.ask('UPDATE', [SDP], new NegotiatedMedia('192.0.2.9', 3).offer().value);
  await ends.network.pass(100);
  assert.equal((await early).status, 500);
  assert.match((await early).first('retry-after') ?? '', /^(?:\d|10)$/);
  ends.invited[0]?.progress(media);
  await ends.network.pass(50);
  await prack(ends, call);
  call.media.accept(descriptionIn(call.responses.at(-1) ?? assert.fail()) ?? assert.fail());
  call.media.wantedDirection = 'inactive';
  const reoffered = call.inDialog.reoffer();
  await ends.network.pass(100);
  assert.equal((await reoffered).refusal, undefined);
  assert.equal(media.direction, 'inactive');
});
