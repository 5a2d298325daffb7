// Transfers: the peer sent elsewhere, and we by it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HeaderLine } from '../../../sip/message/serialiser.js';
import { CALLEE, CALLER } from '../transaction/network.js';
import { requestsTo, SeenEvents, TwoEnds } from './two-ends.js';

const TARGET = 'sip:carol@192.0.2.3';
const SIPFRAG: HeaderLine = ['Content-Type', 'message/sipfrag'];
const DIALOG = { callId: 'other', toTag: 'a', fromTag: 'b;c', earlyOnly: false };

async function talking() {
  const ends = new TwoEnds();
  let seen = new SeenEvents();
  ends.act = (session) => (seen = ends.accept(session));
  const call = ends.call();
  await ends.network.pass(100);
  const [session] = ends.invited;
  assert.ok(session);
  return { ends, call, session, seen };
}

void test('a transfer is told status by status, to the last one', async () => {
  const { ends, call, session } = await talking();
  const statuses: number[] = [];
  const outcome = session.refer({ uri: TARGET, replaces: DIALOG }, (status) => statuses.push(status));
  await ends.network.pass(100);
  const [asked] = call.seen.asked;
  assert.equal(asked?.target.text.startsWith(TARGET), true);
  assert.deepEqual(asked?.replaces, { ...DIALOG, fromTag: 'b' }); // no tag includes the semicolon
  assert.equal(asked?.referredBy, `<sip:bob@${CALLEE}>`);
  asked?.accept();
  await ends.network.pass(100);
  asked?.notify(180);
  await ends.network.pass(100);
  asked?.notify(200);
  asked?.notify(486); // nothing comes after the last one
  await ends.network.pass(100);
  assert.deepEqual(statuses, [100, 180, 200]);
  assert.deepEqual(await outcome, { value: 200 });
  const [refer = ''] = requestsTo(ends.network, CALLEE, 'REFER');
  assert.match(
    refer,
    /\r\nRefer-To: <sip:carol@192\.0\.2\.3\?Replaces=other%3Bto-tag%3Da%3Bfrom-tag%3Db%3Bc>\r\n/,
  );
  const notifies = requestsTo(ends.network, CALLER, 'NOTIFY');
  assert.match(
    notifies[0] ?? '',
    /\r\nEvent: refer\r\nSubscription-State: active;expires=300\r\n[^]*SIP\/2\.0 100 Trying\r\n$/,
  );
  assert.match(notifies.at(-1) ?? '', /\r\nSubscription-State: terminated;reason=noresource\r\n/);
});

void test('a transfer that is refused says with what', async () => {
  const { ends, call, session } = await talking();
  const outcome = session.refer({ uri: TARGET });
  await ends.network.pass(100);
  assert.equal((await session.refer({ uri: TARGET })).refusal?.status, 491);
  call.seen.asked[0]?.refuse(603);
  await ends.network.pass(100);
  assert.equal((await outcome).refusal?.status, 603);
  assert.equal((await session.refer({ uri: 'nowhere' })).refusal?.status, 400);
});

void test('a transfer that nobody decides on is declined before its request runs out', async () => {
  const { ends, session } = await talking();
  const outcome = session.refer({ uri: TARGET });
  await ends.network.pass(26_000, 100);
  assert.equal((await outcome).refusal?.status, 603);
});

void test('a peer that accepts a transfer and tells nothing of it is not waited for longer than 64 T1', async () => {
  const { ends, call, session } = await talking();
  ends.network.loses = (text) => text.startsWith('NOTIFY');
  const outcome = session.refer({ uri: TARGET });
  await ends.network.pass(100);
  call.seen.asked[0]?.accept();
  await ends.network.pass(33_000, 100);
  assert.equal((await outcome).refusal?.status, 408);
});

void test('the outcome of a transfer is heard after the call has ended', async () => {
  const { ends, call, session, seen } = await talking();
  const outcome = session.refer({ uri: TARGET });
  await ends.network.pass(100);
  call.seen.asked[0]?.accept();
  await ends.network.pass(100);
  void session.hangUp();
  await ends.network.pass(100);
  assert.deepEqual(seen.events, ['established', 'ended us']);
  call.seen.asked[0]?.notify(200);
  await ends.network.pass(100);
  assert.deepEqual(await outcome, { value: 200 });
  await ends.settle(110_000);
  for (const { agent } of ends.all) assert.deepEqual(agent.counts, { early: 0, confirmed: 0 });
  assert.equal(ends.network.time.waiting, 0);
});

void test('a transfer is under way: a second REFER is refused, and one of nobody that listens is declined', async () => {
  const { ends, call, seen } = await talking();
  const first = call.ask('REFER', [['Refer-To', `<${TARGET}>`]]);
  const second = call.ask('REFER', [['Refer-To', `<${TARGET}>`]]);
  await ends.network.pass(50);
  assert.equal((await second).status, 491);
  seen.asked[0]?.accept();
  await ends.network.pass(50);
  assert.equal((await first).status, 202);
  const [session] = ends.invited;
  assert.ok(session);
  seen.asked[0]?.notify(486);
  await ends.network.pass(100);
  session.user = { established: () => undefined, ended: () => undefined };
  const third = call.ask('REFER', [['Refer-To', `<${TARGET}>`]]);
  await ends.network.pass(50);
  assert.equal((await third).status, 603);
});

void test('a peer that wants no NOTIFYs gets none', async () => {
  const { ends, call, seen } = await talking();
  const asked = call.ask('REFER', [
    ['Refer-To', TARGET],
    ['Refer-Sub', 'false'],
    ['Require', 'norefersub'],
  ]);
  await ends.network.pass(50);
  seen.asked[0]?.accept();
  seen.asked[0]?.notify(200);
  await ends.network.pass(200);
  assert.equal((await asked).status, 200);
  assert.equal((await asked).first('refer-sub'), 'false');
  assert.deepEqual(requestsTo(ends.network, CALLEE, 'NOTIFY'), []);
});

void test('a transfer that nobody is told of is one all the same: until it has come to something there is no second', async () => {
  const { ends, call, seen } = await talking();
  const quiet: HeaderLine[] = [
    ['Refer-To', TARGET],
    ['Refer-Sub', 'false'],
  ];
  const refer = async (): Promise<number> => {
    const asked = call.ask('REFER', quiet);
    await ends.network.pass(50);
    return (await asked).status;
  };
  const first = call.ask('REFER', quiet);
  await ends.network.pass(50);
  seen.asked[0]?.accept();
  await ends.network.pass(50);
  assert.equal((await first).status, 200);
  assert.equal(await refer(), 491);
  seen.asked[0]?.notify(180);
  assert.equal(await refer(), 491);
  seen.asked[0]?.notify(486);
  const second = call.ask('REFER', quiet);
  await ends.network.pass(50);
  assert.equal(seen.asked.length, 2);
  seen.asked[1]?.accept();
  await ends.network.pass(50);
  assert.equal((await second).status, 200);
  // Nothing is to be told any more, so the dialog does not outlive the call for it.
  void ends.invited[0]?.hangUp();
  await ends.settle(110_000);
  for (const { agent } of ends.all) assert.deepEqual(agent.counts, { early: 0, confirmed: 0 });
  assert.equal(ends.network.time.waiting, 0);
});

for (const [what, status, headers] of [
  ['nowhere', 400, []],
  [
    'to two places',
    400,
    [
      ['Refer-To', TARGET],
      ['Refer-To', TARGET],
    ],
  ],
  ['to what is no URI', 400, [['Refer-To', '<<>']]],
  ['to a web page', 416, [['Refer-To', '<http://example.com>']]],
  ['to a BYE', 501, [['Refer-To', `<${TARGET};method=BYE>`]]],
  ['in the place of half a dialog', 400, [['Refer-To', `<${TARGET}?Replaces=x>`]]],
] as const) {
  void test(`a transfer ${what} is answered with ${status}`, async () => {
    const { ends, call, seen } = await talking();
    const asked = call.ask('REFER', headers);
    await ends.network.pass(50);
    assert.equal((await asked).status, status);
    assert.deepEqual(seen.asked, []);
  });
}

void test('NOTIFY without a subscription is refused, and so is one that is of another', async () => {
  const { ends, call, session } = await talking();
  const notify = (event: string, type = SIPFRAG) =>
    call.ask('NOTIFY', [['Event', event], ['Subscription-State', 'active'], type], 'SIP/2.0 183 On\r\n');
  const none = notify('refer');
  await ends.network.pass(50);
  assert.equal((await none).status, 481);
  const seen: number[] = [];
  void session.refer({ uri: TARGET }, (status) => seen.push(status));
  await ends.network.pass(50);
  call.seen.asked[0]?.accept();
  await ends.network.pass(50);
  const answers = ['refer;id=99', 'reference', 'refer'].map((event) => notify(event));
  const typed = notify('refer', ['Content-Type', 'application/sdp']);
  await ends.network.pass(50);
  assert.deepEqual(
    (await Promise.all(answers)).map(({ status }) => status),
    [481, 481, 200],
  );
  assert.equal((await typed).status, 415);
  assert.deepEqual(seen, [100, 183]);
});

void test('a subscription that the peer ends without a final status has the last one as its outcome', async () => {
  const { ends, call, session } = await talking();
  const outcome = session.refer({ uri: TARGET });
  await ends.network.pass(50);
  call.seen.asked[0]?.accept();
  await ends.network.pass(50);
  const over = call.ask('NOTIFY', [
    ['Event', 'refer'],
    ['Subscription-State', 'terminated;reason=giveup'],
  ]);
  await ends.network.pass(50);
  assert.equal((await over).status, 200);
  assert.deepEqual(await outcome, { value: 100 });
});
