// Requests that the user agent answers itself, and the sessions and users that receive all others.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refusal } from '../../../sip/message/refusal.js';
import type { HeaderLine, RequestData } from '../../../sip/message/serialiser.js';
import type { SipResponse } from '../../../sip/message/message.js';
import type { InboundSession } from '../../../sip/session/inbound-session.js';
import { CALLEE, CALLER, request, TARGET } from '../transaction/network.js';
import { Calling, inviteOf, NegotiatedMedia, requestsTo, SeenEvents, TwoEnds } from './two-ends.js';

/** The response to a request by hand. */
async function answered(ends: TwoEnds, data: RequestData): Promise<SipResponse> {
  let found: SipResponse | undefined;
  ends.calling.layer.send(data, TARGET, {
    response: (response) => {
      if (response.status >= 200) found = response;
    },
    failed: ({ reason }) => assert.fail(reason),
  });
  await ends.network.pass(300);
  assert.ok(found, 'no response came');
  return found;
}

function asked(method: string, headers: readonly HeaderLine[] = [], callId = 'x'): RequestData {
  const data = request(method, callId);
  const own = new Set(headers.map(([name]) => name));
  return { ...data, headers: [...data.headers.filter(([name]) => !own.has(name)), ...headers] };
}

void test('OPTIONS is answered with everything that is understood here', async () => {
  const ends = new TwoEnds();
  const response = await answered(ends, asked('OPTIONS'));
  assert.equal(response.status, 200);
  assert.deepEqual(response.all('allow'), [
    'INVITE',
    'ACK',
    'BYE',
    'CANCEL',
    'OPTIONS',
    'INFO',
    'UPDATE',
    'PRACK',
    'REFER',
    'NOTIFY',
  ]);
  assert.deepEqual(response.all('supported'), ['100rel', 'timer', 'replaces', 'norefersub']);
  assert.ok(response.all('accept').includes('application/sdp'));
  assert.equal(response.first('allow-events'), 'refer');
  assert.equal(response.first('contact'), `<sip:${CALLEE}>`);
});

for (const [what, status, data] of [
  ['BYE without a dialog', 481, asked('BYE')],
  ['INVITE of an unknown dialog', 481, asked('INVITE', [['To', '<sip:bob@192.0.2.2>;tag=gone']])],
  ['UPDATE of an unknown dialog', 481, asked('UPDATE', [['To', '<sip:bob@192.0.2.2>;tag=gone']])],
  ['INFO without a dialog', 481, asked('INFO')],
  ['PRACK without a dialog', 481, asked('PRACK')],
  ['NOTIFY without a subscription', 481, asked('NOTIFY', [['Event', 'refer']])],
  ['REFER without a call', 603, asked('REFER', [['Refer-To', '<sip:a@192.0.2.3>']])],
  ['MESSAGE', 405, asked('MESSAGE')],
  ['an unknown method', 501, asked('JUMP')],
  ['an unknown extension', 420, asked('INVITE', [['Require', 'magic']])],
  ['an unknown scheme', 416, { ...asked('INVITE'), uri: 'mailto:a@b' }],
  ['no hops left', 483, asked('INVITE', [['Max-Forwards', '0']])],
  [
    'INVITE without Contact',
    400,
    { ...asked('INVITE'), headers: asked('INVITE').headers.filter(([name]) => name !== 'Contact') },
  ],
  ['an unknown body', 415, { ...asked('INVITE', [['Content-Type', 'text/plain']]), body: 'hello' }],
  ['a session timer that cannot be read', 400, asked('INVITE', [['Session-Expires', 'soon']])],
] as const) {
  void test(`${what} is answered with ${status}`, async () => {
    const ends = new TwoEnds();
    const response = await answered(ends, data);
    assert.equal(response.status, status);
    assert.equal(ends.invited.length, 0);
    if (status === 405 || status === 501) assert.ok(response.all('allow').includes('BYE'));
    await ends.settle(110_000);
    assert.equal(ends.network.time.waiting, 0);
  });
}

void test('the same INVITE by another way is a merged request', async () => {
  const ends = new TwoEnds();
  ends.act = (session) => session.ring();
  ends.call();
  await ends.network.pass(100);
  assert.equal((await answered(ends, inviteOf('call1', []))).status, 482);
  assert.equal(ends.invited.length, 1);
  ends.invited[0]?.reject(486);
  await ends.settle(110_000);
  ends.act = (session) => session.reject(480);
  assert.equal((await answered(ends, inviteOf('call1', []))).status, 480); // long after the first is over
});

void test('a proxy that comes back after a refusal, as one after the other is tried, is let in', async () => {
  const ends = new TwoEnds();
  ends.act = (session) => session.reject(486);
  const call = ends.call();
  await ends.network.pass(100);
  assert.deepEqual(call.statuses, [486]);
  ends.act = (session) => session.ring();
  const next = new Calling(ends.calling, { callId: 'call1' }); // the same in all but its branch
  await ends.network.pass(100);
  assert.deepEqual(next.statuses, [180]);
  assert.equal(
    (await answered(ends, inviteOf('call1', []))).status,
    482,
    'of two that wait for an answer one is merged',
  );
  await ends.network.pass(33_000, 100); // the refused one is over, and takes nothing along
  assert.equal((await answered(ends, inviteOf('call1', []))).status, 482);
  assert.equal(ends.invited.length, 2);
});

for (const [what, uri, headers, secure] of [
  ['to a sip URI', 'sip:bob@192.0.2.2', [], false],
  ['to a sips URI', 'sips:bob@192.0.2.2', [], true],
  ['from a sips Contact', 'sip:bob@192.0.2.2', [['Contact', '<sips:192.0.2.1>']], true],
  [
    'by a proxy of a sips URI',
    'sip:bob@192.0.2.2',
    [['Record-Route', '<sips:192.0.2.9;lr>, <sip:192.0.2.8;lr>']],
    true,
  ],
  [
    'from a sips Contact by a proxy of a sip URI',
    'sip:bob@192.0.2.2',
    [
      ['Contact', '<sips:192.0.2.1>'],
      ['Record-Route', '<sip:192.0.2.9;lr>'],
    ],
    false,
  ],
] as const) {
  void test(`a call ${what} is told ${secure ? 'a sips' : 'the usual'} Contact`, async () => {
    const contactFor = (_flow: unknown, secured: boolean) => `<${secured ? 'sips' : 'sip'}:${CALLEE}>`;
    const ends = new TwoEnds({ called: { contactFor } });
    const { status, contact } = await answered(ends, { ...inviteOf('secure', headers), uri });
    assert.deepEqual([status, contact?.uri.scheme], [200, secure ? 'sips' : 'sip']);
  });
}

void test('while it drains, new calls are refused and those that stand go on', async () => {
  const ends = new TwoEnds({ called: { drainSeconds: 17 } });
  const call = ends.call();
  await ends.network.pass(100);
  ends.called.agent.drain();
  const refused = ends.call();
  await ends.network.pass(100);
  assert.deepEqual(refused.statuses, [503]);
  assert.equal(refused.responses[0]?.first('retry-after'), '17');
  assert.equal((await answered(ends, asked('OPTIONS'))).status, 503);
  const reoffered = call.inDialog.reoffer();
  const options = call.ask('OPTIONS');
  await ends.network.pass(100);
  assert.equal((await reoffered).refusal, undefined);
  assert.equal((await options).status, 200);
});

void test('admission is asked for everything but ACK, and told what belongs to a call of ours', async () => {
  const seen: string[] = [];
  const admits = (
    { method, callId }: { method: string; callId: string },
    _flow: unknown,
    expected: boolean,
  ) => {
    seen.push(`${method} ${expected}`);
    if (callId === 'stranger') return 'silence' as const;
    return callId === 'call2' ? refusal(407, 'Proxy Authentication Required') : undefined;
  };
  const ends = new TwoEnds({ called: { admission: { admits } } });
  ends.act = (session) => session.ring();
  const call = ends.call();
  await ends.network.pass(100);
  const options = call.ask('OPTIONS');
  call.transaction.cancel();
  await ends.network.pass(100);
  assert.equal((await options).status, 200);
  const refused = ends.call();
  await ends.network.pass(100);
  assert.deepEqual(refused.statuses, [407]);
  assert.deepEqual(seen, ['INVITE false', 'OPTIONS true', 'CANCEL true', 'INVITE false']);
  ends.calling.layer.send(asked('OPTIONS', [], 'stranger'), TARGET, {
    response: () => assert.fail('answered'),
    failed: () => undefined,
  });
  await ends.network.pass(33_000, 100);
});

void test('requests that were answered are counted, on both sides', async () => {
  const seen: string[] = [];
  const counts = {
    onResponse: (direction: string, method: string, status: number) =>
      seen.push(`${direction} ${method} ${status}`),
  };
  const ends = new TwoEnds({ called: counts });
  const call = ends.call();
  await ends.network.pass(100);
  const info = call.ask('INFO');
  const reoffered = ends.invited[0]?.reoffer();
  await ends.network.pass(100);
  await Promise.all([info, reoffered]);
  void ends.invited[0]?.hangUp();
  await ends.network.pass(100);
  assert.deepEqual(seen, ['in INVITE 200', 'in INFO 200', 'out INVITE 200', 'out BYE 200']);
});

const OTHER = 'sip:new@192.0.2.1';

/** A call that stands, or rings, and the Replaces that names it. */
async function replaceable(rings = false) {
  const ends = new TwoEnds();
  let seen = new SeenEvents();
  ends.act = (session) => {
    if (rings) session.ring();
    else seen = ends.accept(session);
  };
  const call = ends.call();
  await ends.network.pass(100);
  const { dialog } = call.inDialog;
  const replaces = `${dialog.callId};to-tag=${dialog.remoteTag};from-tag=${dialog.localTag}`;
  return { ends, call, seen, replaces };
}

void test('a call that replaces another takes its place once it is accepted', async () => {
  const { ends, call, seen, replaces } = await replaceable();
  const next = ends.call({
    headers: [
      ['Replaces', replaces],
      ['Contact', `<${OTHER}>`],
    ],
  });
  await ends.network.pass(200);
  assert.deepEqual(next.statuses, [200]);
  assert.equal(ends.invited[1]?.replaces, ends.invited[0]);
  assert.deepEqual(seen.events, ['established', 'ended replaced']);
  assert.equal(call.seen.end?.by, 'peer');
});

for (const [what, status, change] of [
  ['an unknown dialog', 481, (value: string) => value.replace('to-tag=', 'to-tag=x')],
  ['an early dialog only, where it is confirmed', 486, (value: string) => `${value};early-only`],
  ['half a dialog', 400, (value: string) => value.replace(/;from-tag.*/, '')],
] as const) {
  void test(`a call that replaces ${what} is answered with ${status}`, async () => {
    const { ends, seen, replaces } = await replaceable();
    const next = ends.call({ headers: [['Replaces', change(replaces)]] });
    await ends.network.pass(200);
    assert.deepEqual(next.statuses, [status]);
    assert.deepEqual(seen.events, ['established']);
  });
}

void test('a call that replaces one that rings here, or one that has just ended, is refused', async () => {
  const ringing = await replaceable(true);
  const early = ringing.ends.call({ headers: [['Replaces', ringing.replaces]] });
  await ringing.ends.network.pass(200);
  assert.deepEqual(early.statuses, [481]);
  const over = await replaceable();
  void over.call.inDialog.hangUp();
  await over.ends.network.pass(100);
  const late = over.ends.call({ headers: [['Replaces', over.replaces]] });
  await over.ends.network.pass(100);
  assert.deepEqual(late.statuses, [603]);
  await over.ends.settle();
  const muchLater = over.ends.call({ headers: [['Replaces', over.replaces]] });
  await over.ends.network.pass(100);
  assert.deepEqual(muchLater.statuses, [481]);
});

void test('a call of ours that still rings may be taken over, and is given up once the new one is accepted', async () => {
  const invited: InboundSession[] = [];
  const accept = (session: InboundSession) => {
    invited.push(session);
    assert.equal(session.accept(new NegotiatedMedia(CALLER, 9), new SeenEvents()).refusal, undefined);
  };
  const ends = new TwoEnds({ calling: { invited: accept } });
  ends.act = (session) => session.ring();
  const call = ends.call();
  await ends.network.pass(100);
  const { callId, localTag, remoteTag } = call.inDialog.dialog;
  const replaces = `${callId};to-tag=${localTag};from-tag=${remoteTag};early-only`;
  let status = 0;
  ends.called.layer.send(
    inviteOf('pickup', [['Replaces', replaces]]),
    { ...TARGET, address: CALLER },
    {
      response: (response) => (status = response.status),
      failed: () => undefined,
    },
  );
  await ends.network.pass(100);
  assert.equal(status, 200);
  assert.equal(invited.length, 1);
  assert.deepEqual(call.seen.events, ['ended us']);
});

void test('requests to a caller behind a NAT go back the way that its INVITE came', async () => {
  const ends = new TwoEnds();
  ends.call({ headers: [['Contact', '<sip:alice@10.0.0.9:5060>']] });
  await ends.network.pass(100);
  void ends.invited[0]?.hangUp();
  await ends.network.pass(100);
  assert.match(requestsTo(ends.network, CALLEE, 'BYE')[0] ?? '', /^BYE sip:alice@10\.0\.0\.9:5060 /);
  assert.match(ends.network.sentBy(CALLER).at(-1) ?? '', /200 OK$/);
  const { flow } = ends.called.sender.targets.at(-1) ?? {};
  assert.equal(flow?.remote.address, CALLER);
});
