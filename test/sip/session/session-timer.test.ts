import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../fakes/properties.js';
import type { HeaderLine } from '../../../sip/message/serialiser.js';
import { type SessionFields, SessionTimer } from '../../../sip/session/session-timer.js';
import { ManualTime } from '../../fakes/manual-time.js';
import { CALLEE, CALLER } from '../transaction/network.js';
import { requestsTo, SeenEvents, TwoEnds } from './two-ends.js';

const TIMER = ['timer'];

function fields(
  sessionExpires?: string,
  minSe?: string,
  supported: readonly string[] = TIMER,
): SessionFields {
  return { sessionExpires, minSe, supported };
}

function timer({ wantedSeconds = 1800, leastSeconds = 90 } = {}) {
  const time = new ManualTime();
  const events: string[] = [];
  const note = (what: string) => () => events.push(`${what} at ${time.now() / 1000}`);
  const session = new SessionTimer({
    time,
    wantedSeconds,
    leastSeconds,
    onRefresh: note('refresh'),
    onExpired: note('expired'),
  });
  /** Answers as the uas and returns the fields that it wrote. */
  const answer = (request: SessionFields) => {
    const { value, refusal } = session.validate(request);
    if (value === undefined) return `${refusal?.status} ${JSON.stringify(refusal?.headers)}`;
    session.answered(value);
    return value.headers.map(([name, text]) => `${name}: ${text}`).join(', ');
  };
  return { time, events, session, answer };
}

test('an INVITE of ours asks for an interval and leaves open who refreshes', () => {
  assert.deepEqual(timer().session.requestFields(), [
    ['Supported', 'timer'],
    ['Session-Expires', '1800'],
    ['Min-SE', '90'],
  ]);
  assert.deepEqual(timer({ wantedSeconds: 0 }).session.requestFields(), [['Supported', 'timer']]);
});

for (const [what, request, written, refresher] of [
  [
    'it says who refreshes: uac',
    fields('1800;refresher=uac'),
    'Require: timer, Session-Expires: 1800;refresher=uac',
    'them',
  ],
  [
    'it says who refreshes: uas',
    fields('1800;refresher=uas'),
    'Require: timer, Session-Expires: 1800;refresher=uas',
    'us',
  ],
  ['it leaves that open', fields('1800'), 'Require: timer, Session-Expires: 1800;refresher=uac', 'them'],
  [
    'its interval is longer than ours',
    fields('3600'),
    'Require: timer, Session-Expires: 1800;refresher=uac',
    'them',
  ],
  [
    'its interval is shorter than ours',
    fields('600'),
    'Require: timer, Session-Expires: 600;refresher=uac',
    'them',
  ],
  [
    'it accepts nothing shorter than more than ours',
    fields('3600', '2400'),
    'Require: timer, Session-Expires: 2400;refresher=uac',
    'them',
  ],
  [
    'it knows timers and asks for none',
    fields(),
    'Require: timer, Session-Expires: 1800;refresher=uac',
    'them',
  ],
  [
    'it knows nothing of timers',
    fields(undefined, undefined, []),
    'Session-Expires: 1800;refresher=uas',
    'us',
  ],
  ['a proxy asks in its place', fields('600', undefined, []), 'Session-Expires: 600;refresher=uas', 'us'],
] as const) {
  test(`an INVITE is answered where ${what}`, () => {
    const { answer, session } = timer();
    assert.equal(answer(request), written);
    assert.equal(session.running?.refresher, refresher);
  });
}

test('an interval that is too short is refused with the shortest that will do', () => {
  const { answer, session } = timer({ leastSeconds: 300 });
  assert.equal(answer(fields('299')), '422 [["Min-SE","300"]]');
  assert.equal(session.running, undefined);
  assert.equal(answer(fields('300')), 'Require: timer, Session-Expires: 300;refresher=uac');
});

test('fields that are not well-formed: 400', () => {
  for (const bad of ['x', '-1', '', '1800;refresher=me', '1800 refresher=uac', '99999999999']) {
    assert.match(timer().answer(fields(bad)), /^400 /, bad);
  }
});

test('without a wish of ours, an INVITE without an interval is answered without one', () => {
  const { answer, session } = timer({ wantedSeconds: 0 });
  assert.equal(answer(fields()), '');
  assert.equal(session.running, undefined);
  assert.equal(answer(fields('3600')), 'Require: timer, Session-Expires: 3600;refresher=uac');
});

test('we refresh at half the interval, and each answer starts it anew', () => {
  const { time, events, session } = timer();
  session.accepted(fields('1800;refresher=uac'));
  time.advance(899_999);
  assert.deepEqual(events, []);
  time.advance(1);
  assert.deepEqual(events, ['refresh at 900']);
  assert.deepEqual(session.requestFields()[1], ['Session-Expires', '1800;refresher=uac']);
  session.accepted(fields('1800;refresher=uac'));
  time.advance(900_000);
  assert.deepEqual(events, ['refresh at 900', 'refresh at 1800']);
});

test('a refresh that nobody answers: the session ends 32 seconds before its time, once', () => {
  const { time, events, session } = timer();
  session.accepted(fields('1800;refresher=uac'));
  time.advance(10_000_000);
  assert.deepEqual(events, ['refresh at 900', 'expired at 1768']);
  assert.equal(time.waiting, 0);
});

test('a short session ends a third before its time', () => {
  const { time, events, answer } = timer();
  answer(fields('90;refresher=uac'));
  time.advance(10_000_000);
  assert.deepEqual(events, ['expired at 60']);
});

test("the peer's refreshes keep the session, by UPDATE or re-INVITE, and the roles stay", () => {
  const { time, events, session, answer } = timer();
  session.accepted(fields('200;refresher=uas'));
  for (let round = 0; round < 20; round++) {
    time.advance(100_000);
    assert.equal(answer(fields('200;refresher=uac')), 'Require: timer, Session-Expires: 200;refresher=uac');
  }
  assert.deepEqual(events, []);
  // One of ours in between (a hold) refreshes, too, and leaves the task to the peer.
  assert.deepEqual(session.requestFields()[1], ['Session-Expires', '200;refresher=uas']);
  time.advance(10_000_000);
  assert.deepEqual(events, ['expired at 2168']);
});

test('a re-INVITE of the peer that says nothing of roles leaves them as they are', () => {
  const { answer, session } = timer();
  session.accepted(fields('1800;refresher=uac'));
  assert.equal(answer(fields('1800')), 'Require: timer, Session-Expires: 1800;refresher=uas');
  assert.equal(session.running?.refresher, 'us');
});

test('an answer without an interval means that the session has no limit', () => {
  const { time, session } = timer();
  session.accepted(fields('1800;refresher=uac'));
  session.accepted(fields());
  assert.equal(session.running, undefined);
  assert.equal(time.waiting, 0);
});

test('after 422 we ask for what the peer wants, and not again for the same', () => {
  const { session } = timer({ wantedSeconds: 600 });
  assert.ok(session.tooShort('1000'));
  assert.deepEqual(session.requestFields().slice(1), [
    ['Session-Expires', '1000'],
    ['Min-SE', '1000'],
  ]);
  assert.equal(session.tooShort('1000'), false);
  assert.equal(session.tooShort(undefined), false);
  assert.equal(session.tooShort('x'), false);
});

test('a refresh that crossed one of the peer is tried again while there is time', () => {
  const { time, events, session } = timer();
  session.accepted(fields('1800;refresher=uac'));
  time.advance(900_000);
  session.refreshFailed();
  time.advance(434_000);
  assert.deepEqual(events, ['refresh at 900', 'refresh at 1334']);
});

test('nothing is called back after the end', () => {
  const { time, events, session } = timer();
  session.accepted(fields('1800;refresher=uac'));
  session.close();
  session.close();
  session.accepted(fields('1800;refresher=uac'));
  session.refreshFailed();
  time.advance(10_000_000);
  assert.deepEqual(events, []);
  assert.equal(time.waiting, 0);
});

test('an answer to an interval is never longer than it, nor shorter than anybody accepts', () => {
  const seconds = fc.integer({ min: 90, max: 100_000 });
  fc.assert(
    fc.property(
      seconds,
      seconds,
      seconds,
      fc.constantFrom(0, 90, 600, 1800, 7200),
      (asked, least, ours, wantedSeconds) => {
        const { session } = timer({ wantedSeconds, leastSeconds: ours });
        const { value } = session.validate(fields(String(Math.max(asked, least)), String(least)));
        if (value === undefined) return assert.ok(Math.max(asked, least) < ours);
        const got = value.running?.intervalSeconds ?? 0;
        assert.ok(got <= Math.max(asked, least) && got >= Math.min(least, 86_400));
      },
    ),
  );
});

const REFRESH_TIMER: HeaderLine = ['Supported', 'timer'];
const MINUTE = 60_000;

function talking(headers: readonly HeaderLine[], options = {}) {
  const ends = new TwoEnds(options);
  let seen = new SeenEvents();
  ends.act = (session) => (seen = ends.accept(session));
  const call = ends.call({ headers });
  return { ends, call, seen: () => seen };
}

void test('the callee refreshes at half the interval by UPDATE, and the call goes on for 30 minutes', async () => {
  const { ends, seen } = talking([REFRESH_TIMER, ['Session-Expires', '600;refresher=uas']]);
  await ends.network.pass(30 * MINUTE, 1000);
  const updates = requestsTo(ends.network, CALLEE, 'UPDATE');
  assert.equal(updates.length, 5); // at 5, 10, 15, 20 and 25 minutes; the sixth is due
  assert.match(updates[0] ?? '', /\r\nSession-Expires: 600;refresher=uac\r\n/);
  assert.match(updates[0] ?? '', /Content-Length: 0/);
  assert.deepEqual(requestsTo(ends.network, CALLER, 'UPDATE'), []);
  assert.deepEqual(seen().events, ['established']);
});

void test('the caller refreshes, and the callee answers with the same roles', async () => {
  const { ends, call, seen } = talking([REFRESH_TIMER, ['Session-Expires', '600;refresher=uac']]);
  await ends.network.pass(31 * MINUTE, 1000);
  assert.equal(requestsTo(ends.network, CALLER, 'UPDATE').length, 6);
  assert.deepEqual(requestsTo(ends.network, CALLEE, 'UPDATE'), []);
  assert.equal(call.inDialog.timer.running?.refresher, 'us');
  assert.deepEqual(seen().events, ['established']);
});

void test('a peer that has named no UPDATE is refreshed by re-INVITE', async () => {
  const allow: HeaderLine = ['Allow', 'INVITE, ACK, BYE, CANCEL'];
  const { ends, call, seen } = talking([REFRESH_TIMER, allow, ['Session-Expires', '600;refresher=uas']]);
  await ends.network.pass(6 * MINUTE, 1000);
  assert.equal(requestsTo(ends.network, CALLEE, 'INVITE').length, 1);
  assert.equal(call.inDialog.timer.running?.intervalSeconds, 600);
  assert.deepEqual(seen().events, ['established']);
});

void test('nobody refreshes: the call ends with BYE before its time', async () => {
  const { ends, call, seen } = talking([REFRESH_TIMER, ['Session-Expires', '600;refresher=uac']]);
  await ends.network.pass(MINUTE, 1000);
  call.inDialog.timer.close(); // the caller is there, but does not refresh
  await ends.network.pass(10 * MINUTE, 1000);
  assert.deepEqual(seen().end, { by: 'expired' });
  assert.equal(call.seen.end?.reason?.text, 'session timer expired');
});

void test('a refresh that gets no answer ends the call', async () => {
  const { ends, seen } = talking([REFRESH_TIMER, ['Session-Expires', '600;refresher=uas']]);
  await ends.network.pass(MINUTE, 1000);
  ends.network.loses = (text) => text.startsWith('UPDATE');
  await ends.network.pass(6 * MINUTE, 1000);
  assert.deepEqual(seen().end, { by: 'transport', status: 408 });
});

void test('a refresh that is refused for now is tried again', async () => {
  const { ends, call, seen } = talking([REFRESH_TIMER, ['Session-Expires', '600;refresher=uas']]);
  await ends.network.pass(MINUTE, 1000);
  let refusals = 0;
  const request = call.inDialog.request.bind(call.inDialog);
  call.inDialog.request = (asked, transaction) => {
    if (asked.method === 'UPDATE' && refusals++ === 0) transaction.respond({ status: 500 });
    else request(asked, transaction);
  };
  await ends.network.pass(14 * MINUTE, 1000);
  assert.ok(refusals >= 2);
  assert.deepEqual(seen().events, ['established']);
});

void test('a peer that refuses UPDATE after all gets re-INVITEs with the same description', async () => {
  const { ends, call, seen } = talking([REFRESH_TIMER, ['Session-Expires', '600;refresher=uas']]);
  await ends.network.pass(MINUTE, 1000);
  const request = call.inDialog.request.bind(call.inDialog);
  call.inDialog.request = (asked, transaction) => {
    if (asked.method === 'UPDATE') transaction.respond({ status: 501 });
    else request(asked, transaction);
  };
  await ends.network.pass(15 * MINUTE, 1000);
  assert.equal(requestsTo(ends.network, CALLEE, 'UPDATE').length, 1);
  const descriptions = requestsTo(ends.network, CALLEE, 'INVITE').map((text) =>
    text.slice(text.indexOf('\r\n\r\n')),
  );
  assert.equal(descriptions.length, 3);
  // With the version of the description: there is nothing new to read.
  assert.equal(new Set(descriptions).size, 1);
  assert.deepEqual(seen().events, ['established']);
});

void test('an interval that the peer finds too short is asked for longer', async () => {
  const { ends, call, seen } = talking([REFRESH_TIMER, ['Session-Expires', '600;refresher=uas']]);
  await ends.network.pass(MINUTE, 1000);
  let refusals = 0;
  const request = call.inDialog.request.bind(call.inDialog);
  call.inDialog.request = (asked, transaction) => {
    if (asked.method === 'UPDATE' && refusals++ === 0)
      transaction.respond({ status: 422, headers: [['Min-SE', '900']] });
    else request(asked, transaction);
  };
  await ends.network.pass(5 * MINUTE, 1000);
  assert.match(
    requestsTo(ends.network, CALLEE, 'UPDATE').at(-1) ?? '',
    /\r\nSession-Expires: 900;.*\r\nMin-SE: 900\r\n/,
  );
  assert.deepEqual(seen().events, ['established']);
});

void test('a call whose interval is too short is refused before it rings', async () => {
  const ends = new TwoEnds();
  const call = ends.call({ headers: [REFRESH_TIMER, ['Session-Expires', '60']] });
  await ends.network.pass(100);
  assert.deepEqual(call.statuses, [422]);
  assert.equal(call.responses[0]?.first('min-se'), '90');
  assert.equal(ends.invited.length, 0);
});
