import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refused } from '../../../sip/message/refusal.js';
import { readRoutingFile } from '../../../sip/routing-file.js';
import { type Route, RoutingTable } from '../../../sip/routing-table.js';
import { Answering } from '../../../sip/telephone/answering.js';
import { InboundCalls } from '../../../sip/telephone/inbound-calls.js';
import type { IncomingCall } from '../../../sip/telephone/incoming-decision.js';
import { incomingMediaRequest } from '../../../sip/telephone/media-supply.js';
import { PhoneBook } from '../../../sip/telephone/phone-book.js';
import type { CallHandler, HandledCall } from '../../../src/call/call-handler.js';
import type { MediaPort } from '../../../src/call/call-route.js';
import type { PhoneCallEvent } from '../../../src/call/phone-calls.js';
import type { Switchboard } from '../../../src/call/switchboard.js';
import { ParleyError } from '../../../src/errors.js';
import { linesOf, negotiation, valueOf } from '../sdp/negotiation-under-test.js';
import {
  asCall,
  asMedia,
  asSession,
  callSurroundings,
  FakeCall,
  FakeMedia,
  FakeSession,
  invite,
  ROUTING,
  settled,
} from './fake-legs.js';

interface InboundOptions {
  readonly ringMs?: number;
  readonly trusted?: boolean;
  readonly callHeaders?: readonly string[];
  readonly handler?: object;
  readonly decision?: { of(call: IncomingCall): Promise<Route | undefined> };
}

/** Inbound calls with one rule for all callers, or none. */
function openInbound(rule?: object, options: InboundOptions = {}) {
  const { ringMs = 0, trusted = true, callHeaders, decision, handler } = options;
  const parts = callSurroundings();
  const book = new PhoneBook(parts.time);
  const [session, media, call] = [new FakeSession(), new FakeMedia(), new FakeCall()];
  const opened: FakeMedia[] = [];
  const failing: { open?: ParleyError; media?: ParleyError; check?: ParleyError } = {};
  const table =
    rule === undefined
      ? new RoutingTable([])
      : readRoutingFile(JSON.stringify({ routes: [rule] }), ROUTING).table;
  assert.ok(table);
  const counted: string[] = [];
  const counts = { confirmed: 0 };
  const inbound = new InboundCalls({
    ...parts,
    book,
    answering: new Answering(table, { text: 'Hello.' }, ringMs),
    switchboard: {
      open: async (
        makePort: (id: string) => Promise<MediaPort>,
        { id = 'call-1', clients = [], confirmed }: Parameters<Switchboard['open']>[1],
      ) => {
        counted.push(...clients);
        void confirmed?.then(() => counts.confirmed++);
        if (failing.open !== undefined) throw failing.open;
        await makePort(id);
        return asCall(call);
      },
      newId: () => 'call-1',
      check: () => {
        if (failing.check !== undefined) throw failing.check;
      },
    },
    openMedia: () => {
      if (failing.media !== undefined) throw failing.media;
      opened.push(opened.length === 0 ? media : new FakeMedia());
      return asMedia(opened.at(-1) ?? media);
    },
    mediaRequest: () => ({}),
    admission: { trusts: () => trusted, mayReplace: () => true },
    opened: () => undefined,
    decision,
    ...(handler === undefined ? {} : { handler: handler as CallHandler }),
    ...(callHeaders === undefined ? {} : { callHeaders }),
  });
  const come = async (its = session) => {
    inbound.invited(asSession(its));
    await settled();
  };
  const pass = async (ms: number) => {
    parts.time.advance(ms);
    await settled();
  };
  const phone = () => book.get('call-1');
  return { ...parts, parts, book, session, media, opened, call, failing, come, pass, phone, counted, counts };
}

const SAY = { text: 'Good morning.' };
const GONE = { reject: { status: 404, cause: 1, announcement: { text: 'Not in service.' } } };
const REFUSED = 'reject 404 Reason=Q.850;cause=1';

void test('without a rule the call is answered at once, and spoken to when it is acknowledged', async () => {
  const { session, come, call, phone } = openInbound();
  await come();
  assert.deepEqual([session.asked, call.asked], [['accept'], ['hold false']]);
  session.establish();
  assert.equal(call.asked.at(-1), 'speak Hello.');
  assert.equal(phone().info.route, 'greeting');
});

void test('a rule that waits answers, and says nothing but what comes before the answer', async () => {
  const { session, come, call } = openInbound({ wait: {} });
  await come();
  session.establish();
  assert.deepEqual([session.asked, call.asked], [['accept'], ['hold false', 'hold false']]);
  const early = openInbound({ early: true, earlyText: 'One moment.', wait: {} });
  await early.come();
  early.call.heard();
  await settled();
  early.session.establish();
  assert.deepEqual(early.session.asked, ['progress', 'accept']);
  assert.deepEqual(
    early.call.asked.filter((what) => what.startsWith('speak')),
    ['speak One moment.'],
  );
});

void test('a call belongs to the API key that its rule names, and to every key without one', async () => {
  const keyed = openInbound({ key: 'acme', wait: {} });
  await keyed.come();
  assert.equal(keyed.phone().view.owner, 'acme');
  await keyed.phone().end({ reason: 'we hung up' });
  assert.equal(keyed.phone().view.owner, 'acme', 'when it is over, too');
  for (const { come, phone } of [openInbound({ wait: {} }), openInbound()]) {
    await come();
    assert.equal(phone().view.owner, undefined);
  }
});

void test('a call is shown with its Call-ID and its rule: in the view, in the record and when it opens', async () => {
  const opened: HandledCall[] = [];
  const handler = {
    usual: undefined,
    has: () => false,
    opened: (handled: HandledCall) => opened.push(handled),
  };
  const under = openInbound({ name: 'sales', wait: {} }, { handler });
  const { session, come, phone, records } = under;
  await come();
  assert.deepEqual([phone().view.callId, phone().view.route], ['c1', 'sales']);
  session.establish();
  assert.deepEqual(
    opened.map(({ callId, route }) => [callId, route]),
    [['c1', 'sales']],
  );
  await phone().end({ reason: 'we hung up' });
  assert.deepEqual([phone().view.callId, phone().view.route], ['c1', 'sales'], 'when it is over, too');
  assert.deepEqual([records[0]?.callId, records[0]?.route], ['c1', 'sales']);
});

void test('it rings as long as the rule, or SIP_RING, says', async () => {
  for (const { session, come, pass, call } of [
    openInbound({ ring: 2.5, say: SAY }),
    openInbound(undefined, { ringMs: 2500 }),
  ]) {
    await come();
    await pass(2499);
    assert.deepEqual(session.asked, ['ring']);
    await pass(1);
    assert.deepEqual(session.asked, ['ring', 'accept']);
    session.establish();
    assert.match(call.asked.at(-1) ?? '', /^speak/);
  }
});

void test('an early text is heard to its end before the answer, and the other one after it', async () => {
  const { session, come, pass, call } = openInbound({
    ring: 1,
    early: true,
    earlyText: 'One moment.',
    say: SAY,
  });
  await come();
  assert.deepEqual([session.asked, call.asked.at(-1)], [['progress'], 'speak One moment.']);
  await pass(2000);
  assert.deepEqual(session.asked, ['progress']);
  call.heard();
  await settled();
  assert.deepEqual(session.asked, ['progress', 'accept']);
  session.establish();
  assert.equal(call.asked.at(-1), 'speak Good morning.');
});

void test('a text that begins early goes on through the answer, and is the only one', async () => {
  const { session, come, pass, call, phone } = openInbound({
    ring: 1,
    early: true,
    say: { ...SAY, after: 'hangup' },
  });
  await come();
  await pass(1000);
  session.establish();
  assert.deepEqual(session.asked, ['progress', 'accept']);
  assert.deepEqual(
    call.asked.filter((what) => /speak|interrupt/.test(what)),
    ['speak Good morning.'],
  );
  call.heard();
  await settled();
  assert.equal(phone().view.end?.reason, 'we hung up');
});

void test('an announcement is heard, then the call is refused, recorded and freed', async () => {
  const { session, come, call, media, records, time } = openInbound(GONE);
  await come();
  assert.deepEqual([session.asked, call.asked.at(-1)], [['progress'], 'speak Not in service.']);
  call.heard();
  await settled();
  assert.ok(session.asked.includes(REFUSED), session.asked.join());
  assert.deepEqual([records[0]?.end.reason, records[0]?.end.status, media.closed], ['rejected', 404, 1]);
  assert.equal(time.waiting, 0);
});

void test('an early text that the caller cannot hear, as it has shown nothing, is given up after 5 s', async () => {
  const { session, come, pass, call, media } = openInbound({
    early: true,
    earlyText: 'One moment.',
    say: SAY,
  });
  media.confirms = false;
  await come();
  await pass(4999);
  assert.deepEqual(session.asked, ['progress']);
  await pass(1);
  session.establish();
  assert.deepEqual(session.asked, ['progress', 'accept']);
  assert.deepEqual(
    call.asked.filter((what) => what.startsWith('speak')),
    ['speak Good morning.'],
  );
});

void test('an early text whose media stops for want of an ACK is given up at once, and the call answered or refused', async () => {
  const rule = { ring: 2, early: true, earlyText: 'One moment.', say: SAY };
  const { session, come, pass, call, media } = openInbound(rule);
  await come();
  await pass(1000);
  media.onUnacknowledged?.();
  assert.deepEqual(session.asked, ['progress'], 'it rings on');
  await pass(1000);
  assert.deepEqual(session.asked, ['progress', 'accept']);
  assert.ok(call.asked.includes('interrupt early media over'));
  const gone = openInbound(GONE);
  await gone.come();
  gone.media.onUnacknowledged?.();
  await settled();
  assert.ok(gone.session.asked.includes(REFUSED), gone.session.asked.join());
  assert.equal(gone.time.waiting, 0);
});

void test('an announcement that does not end is broken off after a minute, one that nobody can hear after 5 s', async () => {
  const endless = openInbound(GONE);
  await endless.come();
  await endless.pass(59_999);
  assert.deepEqual(endless.session.asked, ['progress']);
  await endless.pass(1);
  assert.ok(endless.call.asked.includes('interrupt early media over'));
  assert.ok(endless.session.asked.includes(REFUSED));
  const deaf = openInbound(GONE);
  deaf.media.agree = () => undefined;
  await deaf.come();
  await deaf.pass(4999);
  assert.deepEqual(deaf.session.asked, ['progress']);
  await deaf.pass(1);
  assert.ok(deaf.session.asked.includes(REFUSED));
  assert.deepEqual([deaf.media.closed, deaf.records.length, deaf.time.waiting], [1, 1, 0]);
});

for (const rule of [{ ring: 9, say: SAY }, { ring: 9, early: true, say: SAY }, GONE]) {
  void test(`a caller who cancels frees everything: ${Object.keys(rule).join(' ')}`, async () => {
    const { session, come, pass, media, records, time, book } = openInbound(rule);
    await come();
    await pass(100);
    session.end({ by: 'cancelled' });
    await pass(200_000);
    assert.deepEqual(
      [records.map(({ end, setupMs }) => [end.reason, setupMs]), media.closed],
      [[['cancelled', 100]], 1],
    );
    assert.deepEqual([time.waiting, book.open.length, session.asked.includes('accept')], [0, 0, false]);
  });
}

void test('an announcement that cannot be spoken, or for which there is no room, does not keep the call from being refused', async () => {
  for (const failure of ['check', 'open', 'media'] as const) {
    const { session, come, failing } = openInbound(GONE);
    failing[failure] = new ParleyError(failure === 'check' ? 'VOICE_UNKNOWN' : 'CALL_LIMIT', 'no');
    await come();
    assert.deepEqual(session.asked, [REFUSED]);
  }
});

void test('beyond MAX_CALLS, and without ports, callers are told when to come back', async () => {
  for (const failure of ['open', 'media'] as const) {
    const { session, come, failing, book } = openInbound({ ring: 1, say: SAY });
    failing[failure] = new ParleyError('CALL_LIMIT', 'full', { retryAfterSeconds: 7 });
    await come();
    assert.deepEqual([session.asked, book.open.length], [['reject 503 Retry-After=7'], 0]);
  }
});

void test('a call is counted for the address that it comes from unless that is allowed, and beyond its limit refused', async () => {
  const { session, come, failing } = openInbound({ ring: 1, say: SAY });
  failing.open = new ParleyError('CLIENT_LIMIT', 'too many', { retryAfterSeconds: 5 });
  await come();
  assert.deepEqual(session.asked, ['reject 480 Retry-After=5']);
  const from = async (trusted: boolean) => {
    const { come: arrives, counted } = openInbound(undefined, { trusted });
    await arrives();
    return counted;
  };
  assert.deepEqual([await from(false), await from(true)], [['address 127.0.0.1'], []]);
});

void test('a call that is answered is half-open until its far end has shown that it is there', async () => {
  const { session, media, come, counts } = openInbound();
  media.confirms = false;
  await come();
  assert.deepEqual([session.asked, counts.confirmed], [['accept'], 0]);
  media.confirm();
  await settled();
  assert.equal(counts.confirmed, 1);
});

void test('a text that cannot be spoken is refused before it rings', async () => {
  const { session, come, failing } = openInbound({ ring: 1, say: SAY });
  failing.check = new ParleyError('VOICE_UNKNOWN', 'no such voice');
  await come();
  assert.deepEqual(session.asked, ['reject 488']);
  const broken = openInbound();
  broken.failing.check = new ParleyError('ENGINE_UNAVAILABLE', 'no engine');
  await broken.come();
  assert.deepEqual(broken.session.asked, ['reject 503 Retry-After=5']);
});

void test('media that cannot answer refuses the call, which is recorded and freed', async () => {
  const { session, come, media, records } = openInbound();
  session.accepts = refused(488, 'no codec');
  await come();
  assert.deepEqual([records[0]?.end, media.closed], [{ reason: 'rejected', status: 488 }, 1]);
});

void test('who calls is what the network vouches for, where the peer is trusted, and nobody where it is private', async () => {
  const asserted = ['P-Asserted-Identity: "Anna" <sip:+4930@carrier>'];
  const from = async (trusted: boolean, more: readonly string[], name?: string) => {
    const { session, come, phone } = openInbound(undefined, { trusted });
    session.request = invite(more, name);
    await come();
    const { from: caller, displayName } = phone().info;
    return [caller, displayName];
  };
  assert.deepEqual(await from(true, asserted), ['sip:+4930@carrier', 'Anna']);
  assert.deepEqual(await from(false, asserted), ['sip:anna@a', undefined]);
  assert.deepEqual(await from(true, [...asserted, 'Privacy: id']), ['anonymous', undefined]);
  assert.deepEqual(await from(false, asserted, '"Anonymous" <sip:anonymous@anonymous.invalid>;tag=a'), [
    'anonymous',
    undefined,
  ]);
});

const SHOWN = ['X-*', 'Diversion', 'User-to-User', 'P-Asserted-Identity'];
const FIELDS = [
  'X-Tenant: acme',
  'Subject: secret',
  'x-order: 1, 2',
  'X-Order: 3',
  'User-to-User: 48656c6c6f;encoding=hex',
  'Diversion: <sip:a@b>;reason=busy, <sip:c@d>',
  'P-Asserted-Identity: <sip:+4930@carrier>',
  'x: 90',
  'X-Empty:',
];
const OF_ALL = {
  'X-Tenant': 'acme',
  'x-order': '1, 2, 3',
  'User-to-User': '48656c6c6f;encoding=hex',
  Diversion: '<sip:a@b>;reason=busy, <sip:c@d>',
  'X-Empty': '',
};

void test('header fields that are let through are in the view, in the first event and in the record of a call', async () => {
  const { session, come, phone, records } = openInbound(undefined, { callHeaders: SHOWN });
  session.request = invite(FIELDS);
  await come();
  const headers = { ...OF_ALL, 'P-Asserted-Identity': '<sip:+4930@carrier>' };
  assert.deepEqual(phone().view.headers, headers);
  const events: PhoneCallEvent[] = [];
  phone().follow(0, (event) => void events.push(event));
  await settled();
  session.establish();
  await phone().end({ reason: 'we hung up' });
  const states = events.filter((event) => event.type === 'state');
  assert.deepEqual(
    states.map((event) => [event.state, event.headers]),
    [
      ['ringing', headers],
      ['connected', undefined],
      ['ended', undefined],
    ],
  );
  assert.deepEqual(phone().view.headers, headers, 'when it is over, too');
  assert.deepEqual(
    records.map((record) => record.headers),
    [headers],
  );
});

void test('an identity is shown where the peer is trusted and the caller hides nothing, and no other field that is not named', async () => {
  const shown = async (options: InboundOptions, more: readonly string[] = []) => {
    const { session, come, phone } = openInbound(undefined, options);
    session.request = invite([...FIELDS, ...more]);
    await come();
    return phone().view.headers;
  };
  assert.deepEqual(await shown({ callHeaders: SHOWN, trusted: false }), OF_ALL);
  assert.deepEqual(await shown({ callHeaders: SHOWN }, ['Privacy: id']), OF_ALL);
  assert.deepEqual(await shown({ callHeaders: ['x-tenant'] }), { 'X-Tenant': 'acme' });
  assert.equal(await shown({ callHeaders: [] }), undefined);
  assert.equal(await shown({}), undefined);
  const all =
    (await shown({ callHeaders: ['*'] }, ['Authorization: Digest x', 'Proxy-Authorization: Digest y'])) ?? {};
  assert.equal(all['Subject'], 'secret');
  assert.equal(
    Object.keys(all).some((name) => /authorization/i.test(name)),
    false,
  );
});

void test('of very many or very long header fields some are shown, and a name of any kind is only a name', async () => {
  const shown = async (fields: readonly string[]) => {
    const { session, come, phone } = openInbound(undefined, { callHeaders: ['X-*', '__proto__'] });
    session.request = invite(fields);
    await come();
    return phone().view.headers ?? {};
  };
  const many = await shown(Array.from({ length: 100 }, (_, index) => `X-${index}: ${index}`));
  assert.deepEqual([Object.keys(many).length, many['X-63']], [64, '63']);
  const long = await shown(['X-A: 1', `X-Long: ${'a'.repeat(8192)}`, 'X-B: 2']);
  assert.deepEqual(long, { 'X-A': '1', 'X-B': '2' });
  const odd = await shown(['__proto__: polluted', 'X-A: 1']);
  assert.deepEqual(
    [Object.keys(odd).sort(), Object.getPrototypeOf(odd)],
    [['X-A', '__proto__'], Object.prototype],
  );
});

/** A connected call, and an INVITE that replaces it. */
async function replacing() {
  const all = openInbound();
  await all.come();
  all.session.establish();
  const next = new FakeSession();
  next.replaces = all.session;
  return { ...all, next };
}

void test('a far end takes the place of another: the conversation goes on, and the media before is closed once', async () => {
  const { session, next, come, phone, media, opened, call, pass } = await replacing();
  const accept = next.accept.bind(next);
  next.accept = (...with_) => {
    const judged = accept(...with_);
    session.end({ by: 'replaced' }); // as accepting does
    return judged;
  };
  await come(next);
  assert.deepEqual(
    [phone().state, phone().leg?.session, media.closed, opened[1]?.closed],
    ['connected', next, 1, 0],
  );
  assert.equal(call.ports.at(-1), opened[1]?.port);
  next.end({ by: 'peer' });
  await pass(0);
  assert.deepEqual([phone().state, media.closed, opened[1]?.closed], ['ended', 1, 1]);
});

void test('a replacement that cannot be answered leaves the call as it was', async () => {
  const { session, next, come, phone, media, opened } = await replacing();
  next.accepts = refused(488, 'no codec');
  await come(next);
  assert.deepEqual(
    [phone().state, phone().leg?.session, media.closed, opened[1]?.closed],
    ['connected', session, 0, 1],
  );
  session.end({ by: 'peer' });
  await settled();
  assert.equal(phone().state, 'ended');
});

void test('a replacement without ports, or of a call that nobody has, is refused', async () => {
  const { next, come, failing, phone } = await replacing();
  failing.media = new ParleyError('CALL_LIMIT', 'full');
  await come(next);
  assert.deepEqual([next.asked, phone().state], [['reject 503 Retry-After=5'], 'connected']);
  const stranger = new FakeSession();
  stranger.replaces = new FakeSession();
  await come(stranger);
  assert.deepEqual(stranger.asked, ['reject 481']);
});

void test('a browser that leaves the offer to us is offered DTLS with ICE, and a telephone is not', () => {
  const offered = (transport: 'wss' | 'udp', srtp: 'prefer' | 'off') => {
    const { srtp: security, ...mediaRequest } = incomingMediaRequest({
      transport,
      offers: true,
      trunk: undefined,
      server: { srtp },
    });
    const policy = {
      security: security ?? srtp,
      keyings: mediaRequest.keyings ?? [],
      offerIce: mediaRequest.offerIce ?? false,
    };
    const offer = valueOf(negotiation(policy, { ice: true }).offer());
    return [linesOf(offer, 'm=audio 40000 ')[0]?.split(' ')[0], linesOf(offer, 'a=ice-ufrag:').length];
  };
  assert.deepEqual(offered('wss', 'prefer'), ['UDP/TLS/RTP/SAVPF', 1]);
  assert.deepEqual(offered('udp', 'prefer'), ['RTP/AVP', 0]);
  assert.deepEqual(offered('wss', 'off'), ['RTP/AVP', 0]);
});

void test('a browser that makes the offer is answered by DTLS, whatever telephones are offered', () => {
  const server = { srtp: 'require', keying: ['sdes'] } as const;
  const mediaRequest = incomingMediaRequest({ transport: 'ws', offers: false, trunk: undefined, server });
  assert.deepEqual(mediaRequest, { keyings: ['dtls', 'sdes'] });
});

void test('over TLS a telephone is offered and answered by SDES first', () => {
  for (const offers of [true, false]) {
    const mediaRequest = incomingMediaRequest({
      transport: 'tls',
      offers,
      trunk: undefined,
      server: { srtp: 'require' },
    });
    assert.deepEqual(mediaRequest.keyings, ['sdes', 'dtls']);
  }
});

const KEPT = { listen: { silenceMs: 800 }, record: { announce: 'beep' }, say: SAY };

void test('a rule hears and records from the answer on, and its text comes after the announcement', async () => {
  const { session, come, call } = openInbound(KEPT);
  await come();
  assert.deepEqual(call.asked, ['hold false'], 'nothing before the answer');
  session.establish();
  assert.deepEqual(
    call.asked.filter((what) => !what.startsWith('hold')),
    ['listen {"silenceMs":800}', 'record {"announce":"beep"}', 'speak Good morning.'],
  );
});

void test('a call that cannot be heard or recorded goes on, and the log says why', async () => {
  const { session, come, call, phone, parts } = openInbound(KEPT);
  const logged: unknown[] = [];
  parts.log.warn = (...[fields, message]: unknown[]) => void logged.push([message, fields]);
  await come();
  call.listen = () => {
    throw new ParleyError('HEARING_FAILED', 'no worker');
  };
  call.unrecordable = new ParleyError('DISK_FULL', 'no room');
  session.establish();
  await settled();
  assert.deepEqual([call.asked.at(-1), phone().state], ['speak Good morning.', 'connected']);
  assert.deepEqual(logged, [
    ['call not heard', { call: 'call-1', code: 'HEARING_FAILED', detail: 'no worker' }],
    ['call not recorded', { call: 'call-1', code: 'DISK_FULL', detail: 'no room' }],
  ]);
});

/** An application that decides when the test says so. */
function slowApplication() {
  let resolve!: (route: Route | undefined) => void;
  const promise = new Promise<Route | undefined>((decide) => (resolve = decide));
  const asked: IncomingCall[] = [];
  return { asked, resolve, decision: { of: (call: IncomingCall) => (asked.push(call), promise) } };
}

void test('the application is asked before the rules, and its rule answers', async () => {
  const { asked, resolve, decision } = slowApplication();
  const { session, come, call, phone } = openInbound({ say: SAY }, { decision, callHeaders: ['X-*'] });
  await come();
  assert.deepEqual([session.asked, asked.length], [[], 1]);
  const { callId } = session.request;
  assert.deepEqual([asked[0]?.id, asked[0]?.callId, asked[0]?.route], ['call-1', callId, 'route 1']);
  resolve({ name: 'incoming', headers: new Map(), answer: { kind: 'wait' } });
  await settled();
  session.establish();
  assert.deepEqual([session.asked, call.asked.at(-1)], [['accept'], 'hold false']);
  assert.equal(phone().info.route, 'incoming');
});

void test('where the application leaves it to them, the rules answer', async () => {
  const { resolve, decision } = slowApplication();
  const { session, come, call, phone } = openInbound({ say: SAY }, { decision });
  await come();
  resolve(undefined);
  await settled();
  session.establish();
  assert.deepEqual([call.asked.at(-1), phone().info.route], ['speak Good morning.', 'route 1']);
});

void test('a caller who gives up before the application decides is no call', async () => {
  const { resolve, decision } = slowApplication();
  const { session, come, opened } = openInbound({ say: SAY }, { decision });
  await come();
  session.state = 'ended';
  resolve(undefined);
  await settled();
  assert.deepEqual([session.asked, opened], [[], []]);
});
