import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PhoneCallRequest } from '../../../src/call/phone-calls.js';
import type { ServerTransaction } from '../../../sip/transaction/server-transaction.js';
import {
  OutboundCalls,
  type MediaRequest,
  type OutboundCallsOptions,
} from '../../../sip/trunk/outbound-calls.js';
import { DestinationRules } from '../../../sip/trunk/destinations.js';
import { readTrunkFile } from '../../../sip/trunk/trunk-settings.js';
import { Trunk, Trunks } from '../../../sip/trunk/trunk.js';
import { CallingOut, HeardMedia, SeenCall } from '../session/calling-out.js';
import { CALLEE, CALLER } from '../transaction/network.js';

const CARRIER = {
  name: 'carrier',
  domain: 'carrier.example',
  proxy: `sip:${CALLEE}`,
  username: '4930',
  password: 'x',
};
const SPARE = {
  name: 'spare',
  domain: 'spare.example',
  proxy: `sip:${CALLEE};lr`,
  from: '+49301',
  displayName: 'Spare',
};

function open(
  trunks: readonly object[] = [CARRIER, SPARE],
  { limits, ...options }: Partial<OutboundCallsOptions> & { limits?: object } = {},
) {
  const out = new CallingOut();
  const { time } = out.network;
  const contact = (user: string, transport: string | undefined) =>
    `sip:${user}@${CALLER}${transport === undefined ? '' : `;transport=${transport}`}`;
  const read = readTrunkFile(JSON.stringify({ trunks }), {
    environment: () => undefined,
    file: () => undefined,
  });
  const made = (read.trunks ?? []).map(
    (settings) =>
      new Trunk({
        settings,
        sender: out.sender,
        contact,
        time,
        random: () => 0.5,
        token: () => 'token',
        randomBytes: (count) => new Uint8Array(count),
      }),
  );
  const calls = new OutboundCalls({
    trunks: new Trunks(made),
    context: out.agent.context,
    contact,
    direct: true,
    followsRedirections: false,
    rules: new DestinationRules({ destinations: [], callsPerMinute: 0, ...limits }, time),
    ...options,
  });
  const seen = new SeenCall();
  const medias: MediaRequest[] = [];
  const media = (mediaRequest: MediaRequest) => {
    medias.push(mediaRequest);
    return new HeardMedia();
  };
  const place = async (request: PhoneCallRequest, more: object = {}) => {
    const placed = calls.place({ request, media, user: seen, ...more });
    await out.network.pass(100);
    return placed;
  };
  /** The far end's answers by the called domain. */
  const statuses: Record<string, number> = {};
  out.act = (transaction: ServerTransaction) => {
    const { method, uri } = transaction.request;
    const status = method === 'INVITE' ? statuses[uri.host] : 200;
    if (status !== undefined)
      transaction.respond({ status, headers: status === 503 ? [['Retry-After', '60']] : [] });
  };
  const called = () => out.requests('INVITE').map(({ uri }) => uri.text);
  return { out, calls, trunks: made, seen, medias, place, statuses, called };
}

const field = (name: string) => ({ code: 'INVALID_FIELD', field: name });

test('a number goes out by the first trunk, as its caller', async () => {
  const { out, place, trunks } = open([
    { ...CARRIER, from: '+4930123', displayName: 'Example Ltd', assertedIdentity: true },
  ]);
  const { trunk, session } = await place({ to: '+49 30 456', headers: { 'X-Id': '7' } });
  const { invite } = out;
  assert.equal(trunk(), 'carrier');
  assert.equal(invite.uri.text, 'sip:+4930456@carrier.example');
  assert.equal(invite.first('from')?.replace(/;tag=.*/, ''), '"Example Ltd" <sip:+4930123@carrier.example>');
  assert.equal(invite.first('p-asserted-identity'), '"Example Ltd" <sip:+4930123@carrier.example>');
  assert.equal(invite.first('contact'), `<sip:4930@${CALLER}>`);
  assert.equal(invite.first('x-id'), '7');
  assert.equal(trunks[0]?.view.calls, 1);
  await out.respond(200, { body: 'answer' });
  await out.hungUp(session);
  assert.equal(trunks[0]?.view.calls, 0);
});

test('who calls is what the call says, or nobody', async () => {
  const shown = open();
  await shown.place({ to: 'bob', from: '100', displayName: 'He said "hi"\r\nX: y' });
  assert.equal(shown.out.invite.from.displayName, 'He said "hi" X: y');
  assert.equal(shown.out.invite.from.uri.text, 'sip:100@carrier.example');
  assert.equal(shown.out.invite.first('p-preferred-identity'), undefined);
  const hidden = open();
  await hidden.place({ to: 'bob', from: 'Anonymous' });
  assert.equal(hidden.out.invite.from.uri.text, 'sip:anonymous@anonymous.invalid');
  assert.equal(hidden.out.invite.first('privacy'), 'id');
  assert.equal(hidden.out.invite.first('p-preferred-identity'), '<sip:4930@carrier.example>');
});

test('a trunk that is named is the only one, and its proxy that routes loosely stands in Route', async () => {
  const { out, place, statuses, seen, called } = open();
  statuses['spare.example'] = 500;
  await place({ to: '100', trunk: 'spare' });
  assert.deepEqual(called(), ['sip:100@spare.example']);
  assert.equal(out.invite.first('route'), `<sip:${CALLEE};lr>`);
  assert.equal(seen.end?.status, 500);
});

test('a call goes on to the next trunk after 5xx, 408 and where nobody is reached, and not after other refusals', async () => {
  for (const [status, next] of [
    [500, true],
    [503, true],
    [408, true],
    [404, false],
    [486, false],
    [603, false],
  ] as const) {
    const { place, statuses, seen, called, trunks } = open();
    statuses['carrier.example'] = status;
    statuses['spare.example'] = 486;
    const { trunk } = await place({ to: '100' });
    assert.deepEqual(
      called(),
      next ? ['sip:100@carrier.example', 'sip:100@spare.example'] : ['sip:100@carrier.example'],
      String(status),
    );
    assert.equal(seen.end?.status, next ? 486 : status);
    assert.equal(trunk(), next ? 'spare' : 'carrier');
    assert.deepEqual(
      trunks.map(({ view }) => view.calls),
      [0, 0],
    );
  }
  const { out, place, called } = open([{ ...CARRIER, proxy: 'sip:192.0.2.77' }, SPARE]);
  out.network.failureAt = (address) => (address === '192.0.2.77' ? 'refused' : undefined);
  await place({ to: '100' });
  assert.deepEqual(called(), ['sip:100@spare.example']);
});

test('a trunk that said 503 gets no calls until its Retry-After is over', async () => {
  const { out, place, statuses, called } = open();
  statuses['carrier.example'] = 503;
  await place({ to: '1' });
  await place({ to: '2' });
  assert.deepEqual(called(), ['sip:1@carrier.example', 'sip:1@spare.example', 'sip:2@spare.example']);
  await out.network.pass(60_000, 1000);
  await place({ to: '3' });
  assert.equal(called().includes('sip:3@carrier.example'), true);
});

test('a call that has rung does not ring by another trunk', async () => {
  const { out, place, seen, called } = open();
  await place({ to: '100' });
  await out.respond(180);
  out.act = () => undefined;
  out.callee.transactions[0]?.respond({ status: 500 });
  await out.network.pass(100);
  assert.deepEqual(seen.events, ['180', 'ended rejected']);
  assert.equal(called().length, 1);
});

test('codecs and keys are those of the call and the trunk, and trunks that want the same share the media', async () => {
  const { place, statuses, medias } = open([CARRIER, { ...SPARE, codecs: ['PCMA'], srtp: 'require' }]);
  statuses['carrier.example'] = 500;
  await place({ to: '100' });
  const keyings = ['dtls', 'sdes'];
  assert.deepEqual(medias, [
    { codecs: undefined, srtp: undefined, keyings },
    { codecs: ['PCMA'], srtp: 'require', keyings },
  ]);
  const same = open();
  same.statuses['carrier.example'] = 500;
  await same.place({ to: '100', codecs: ['opus'] });
  assert.deepEqual(same.medias, [{ codecs: ['opus'], srtp: undefined, keyings }]);
});

for (const [what, trunk, options, first, others] of [
  ['a trunk over TLS', { srtp: 'require', transport: 'tls' }, {}, ['sdes', 'dtls'], [['dtls']]],
  ['a trunk over UDP', { srtp: 'require', transport: 'udp' }, {}, ['dtls', 'sdes'], [['sdes']]],
  ['a trunk that prefers SRTP', { srtp: 'prefer' }, {}, ['dtls', 'sdes'], [['dtls'], ['sdes']]],
  ['a trunk with one way', { srtp: 'require', keying: ['sdes'] }, {}, ['sdes'], []],
  [
    'a trunk with an order of its own',
    { keying: ['dtls', 'sdes'], transport: 'tls' },
    { srtp: 'require', keying: ['sdes'] },
    ['dtls', 'sdes'],
    [['sdes']],
  ],
  ['the order of the server', { transport: 'tls' }, { srtp: 'require', keying: ['dtls'] }, ['dtls'], []],
  ['no SRTP', { srtp: 'off' }, {}, ['dtls', 'sdes'], []],
] as const) {
  test(`keys are offered in this order: ${what}`, async () => {
    const { place, statuses, medias, seen } = open([{ ...CARRIER, ...trunk }], options);
    statuses['carrier.example'] = 488;
    await place({ to: '100' });
    assert.deepEqual(
      medias.map(({ keyings }) => keyings),
      [first, ...others],
    );
    assert.equal(seen.end?.status, 488);
  });
}

test('media of a call may come from the addresses of its own trunk, and of no other', async () => {
  const addresses = ['192.0.2.0/24', '2001:db8::7'];
  const { place, statuses, medias } = open([{ ...CARRIER, addresses }, SPARE]);
  statuses['carrier.example'] = 500;
  await place({ to: '100' });
  assert.deepEqual(
    medias.map(({ networks }) => networks),
    [addresses, undefined],
  );
});

test('keys of a direct call over TLS are those of SDES first', async () => {
  const { place, medias } = open([], { srtp: 'require' });
  await place({ to: `sips:bob@${CALLEE}` });
  await place({ to: `sip:bob@${CALLEE};transport=tls` });
  await place({ to: `sip:bob@${CALLEE}` });
  assert.deepEqual(
    medias.map(({ keyings }) => keyings?.[0]),
    ['sdes', 'sdes', 'dtls'],
  );
});

test('a trunk over UDP keeps all requests of a call on UDP, however large they are', async () => {
  for (const [transport, udpOnly] of [
    ['udp', true],
    ['tcp', undefined],
    [undefined, undefined],
  ] as const) {
    const { out, place, trunks } = open([{ ...CARRIER, ...(transport === undefined ? {} : { transport }) }]);
    const { session } = await place({ to: '100' });
    await out.respond(200, { body: 'answer' });
    await out.hungUp(session);
    assert.deepEqual(new Set(out.network.targets.map((target) => target.udpOnly)), new Set([udpOnly]));
    assert.equal(trunks[0]?.within.udpOnly, udpOnly);
  }
});

test('a SIP URI goes by the trunk of its domain, else straight', async () => {
  const { out, place, called, trunks } = open();
  await place({ to: 'sip:bob@spare.example' });
  assert.equal(trunks[1]?.view.calls, 1);
  const { trunk } = await place({ to: `sip:bob@${CALLEE}`, from: 'alice' });
  assert.equal(trunk(), undefined);
  assert.deepEqual(called(), ['sip:bob@spare.example', `sip:bob@${CALLEE}`]);
  assert.equal(out.invite.from.uri.text, `sip:alice@${CALLER}`);
  const closed = open([CARRIER], { direct: false });
  await assert.rejects(closed.place({ to: `sip:bob@${CALLEE}` }), { code: 'FORBIDDEN', field: 'to' });
  await closed.place({ to: 'sip:bob@carrier.example' });
  assert.deepEqual(closed.called(), ['sip:bob@carrier.example']);
});

test('without trunks a SIP URI is called, and a number is not', async () => {
  const { out, place } = open([]);
  await place({ to: `sips:bob@${CALLEE}` });
  assert.equal(out.invite.first('contact'), `<sips:parley@${CALLER};transport=tls>`);
  await assert.rejects(place({ to: '+4930' }), field('to'));
});

test('a call that takes the place of another says so', async () => {
  const { out, place } = open();
  const replaces = { callId: 'a@b', toTag: 't', fromTag: 'f', earlyOnly: false };
  await place({ to: 'bob' }, { replaces, referredBy: '<sip:carol@example.com>' });
  assert.equal(out.invite.first('replaces'), 'a@b;to-tag=t;from-tag=f');
  assert.equal(out.invite.first('require'), 'replaces');
  assert.equal(out.invite.first('referred-by'), '<sip:carol@example.com>');
});

test('what cannot be sent is refused under the name of its field', async () => {
  const { out, place } = open();
  for (const [request, name] of [
    [{ to: '' }, 'to'],
    [{ to: 'sip:bob@example.com?Subject=x' }, 'to'],
    [{ to: 'bob', from: 'a\r\nb' }, 'from'],
    [{ to: 'bob', displayName: 'x'.repeat(101) }, 'displayName'],
    [{ to: 'bob', ringTimeoutMs: 0 }, 'ringTimeoutMs'],
    [{ to: 'bob', ringTimeoutMs: NaN }, 'ringTimeoutMs'],
    [{ to: 'bob', headers: { Via: 'x' } }, 'headers.Via'],
    [{ to: 'bob', headers: { m: 'x' } }, 'headers.m'],
    [{ to: 'bob', headers: { 'Proxy-Authorization': 'x' } }, 'headers.Proxy-Authorization'],
    [{ to: 'bob', headers: { 'X Y': 'x' } }, 'headers.X Y'],
    [{ to: 'bob', headers: { 'X-Y': 'a\r\nb' } }, 'headers.X-Y'],
    [{ to: 'bob', headers: { 'X-Y': 'a'.repeat(1001) } }, 'headers.X-Y'],
    [
      { to: 'bob', headers: Object.fromEntries(Array.from({ length: 33 }, (_, at) => [`X-${at}`, ''])) },
      'headers',
    ],
  ] as const)
    await assert.rejects(place(request), field(name), JSON.stringify(request));
  await assert.rejects(place({ to: 'bob', trunk: 'none' }), { code: 'NOT_FOUND', field: 'trunk' });
  assert.equal(out.callee.transactions.length, 0);
});

test('trunks that take no call say why', async () => {
  const limited = open([{ ...CARRIER, callsPerSecond: 1 }]);
  await limited.place({ to: '1' });
  await assert.rejects(limited.place({ to: '2' }), { code: 'RATE_LIMITED', retryAfterSeconds: 1 });
  const full = open([{ ...CARRIER, mostCalls: 1 }]);
  await full.place({ to: '1' });
  await assert.rejects(full.place({ to: '2' }), { code: 'CALL_LIMIT' });
  const gone = open([{ ...CARRIER, register: {} }]);
  await assert.rejects(gone.place({ to: '1' }), { code: 'ENGINE_UNAVAILABLE' });
});

test('a redirection stays with the trunk in its own domain, and leads elsewhere without its account', async () => {
  const { out, place } = open([CARRIER], { followsRedirections: true });
  let asked = 0;
  const places = ['<sip:new@carrier.example>', `<sip:new@${CALLEE}>`];
  out.act = (transaction) => {
    const contact = places[asked++];
    if (contact !== undefined) transaction.respond({ status: 302, headers: [['Contact', contact]] });
  };
  const { plan } = await place({ to: '100' });
  assert.deepEqual(
    out.requests('INVITE').map(({ uri }) => uri.text),
    ['sip:100@carrier.example', 'sip:new@carrier.example', `sip:new@${CALLEE}`],
  );
  assert.equal(plan().journey.account, undefined);
});

test('a called URI, and one that a redirection leads to, has no method (RFC 3261, section 19.1.1)', async () => {
  const { out, place, called } = open([CARRIER], { followsRedirections: true });
  let asked = 0;
  out.act = (transaction) => {
    const contact = '<sip:new@carrier.example;method=BYE>';
    if (asked++ === 0) transaction.respond({ status: 302, headers: [['Contact', contact]] });
  };
  await place({ to: 'sip:bob@carrier.example;method=REGISTER' });
  assert.deepEqual(called(), ['sip:bob@carrier.example', 'sip:new@carrier.example']);
  await out.respond(200, {
    contact: false,
    headers: [['Contact', `<sip:bob@${CALLEE};method=BYE>`]],
    body: 'answer',
  });
  assert.equal(out.callee.acks[0]?.uri.text, `sip:bob@${CALLEE}`);
});

test('a redirection leads nowhere that a call may not go', async () => {
  const allowed = {
    destinations: [
      { prefix: '100', callsPerMinute: 1 },
      { prefix: '+49', callsPerMinute: undefined },
    ],
  };
  for (const [contact, options, followed] of [
    ['sip:+4930@carrier.example', { limits: allowed }, true],
    [
      'sip:+49900@carrier.example',
      { limits: { destinations: [...allowed.destinations, { prefix: '+49900', callsPerMinute: 0 }] } },
      false,
    ],
    ['sip:+1900@carrier.example', { limits: allowed }, false],
    ['sip:1001@carrier.example', { limits: allowed }, false],
    [`sip:+4930@${CALLEE}`, { direct: false }, false],
    [`sip:+4930@${CALLEE}`, { limits: allowed }, true],
  ] as const) {
    const { out, place, seen } = open([CARRIER], { followsRedirections: true, ...options });
    let asked = 0;
    out.act = (transaction) => {
      if (asked++ === 0) transaction.respond({ status: 302, headers: [['Contact', `<${contact}>`]] });
    };
    await place({ to: '100' });
    assert.equal(out.requests('INVITE').length, followed ? 2 : 1, contact);
    assert.equal(seen.end?.status, followed ? undefined : 302);
  }
});

test('a trunk that makes the offer itself gets an INVITE without one', async () => {
  const { out, place, seen } = open([{ ...CARRIER, lateOffer: true }]);
  await place({ to: '100' });
  assert.equal(out.invite.body.length, 0);
  await out.respond(200, { body: 'their offer' });
  assert.equal(out.callee.acks[0]?.body.toString(), 'our answer');
  assert.deepEqual(seen.events, ['established']);
});

test('a destination that is not allowed, and a call too many, are refused before anything is sent', async () => {
  const limits = {
    destinations: [
      { prefix: '+49', callsPerMinute: 2 },
      { prefix: '+4930', callsPerMinute: undefined },
    ],
    callsPerMinute: 3,
  };
  const { out, place, called, trunks } = open([CARRIER], { limits });
  for (const to of [
    '+1900',
    'tel:+43-1',
    'sip:+1900@carrier.example',
    'sip:%2B1900@carrier.example',
    `sip:bob@${CALLEE}`,
    'bob',
  ]) {
    await assert.rejects(place({ to }), { code: 'FORBIDDEN', field: 'to' }, to);
  }
  await place({ to: '+49 (1) 1' });
  await place({ to: 'sip:+49-1.2@carrier.example' });
  await assert.rejects(place({ to: '+4911' }), { code: 'RATE_LIMITED', field: 'to', retryAfterSeconds: 30 });
  await place({ to: '+4930' });
  await assert.rejects(place({ to: '+4930' }), { code: 'RATE_LIMITED', retryAfterSeconds: 20 });
  await place({ to: '+4930', owner: 'another key' });
  assert.equal(called().length, 4);
  assert.equal(trunks[0]?.view.calls, 4);
  await out.network.pass(30_000, 1000);
  await place({ to: '+4911' });
});

test('a call that no trunk takes does not count for its destination', async () => {
  const { place } = open([{ ...CARRIER, mostCalls: 1 }], {
    limits: { destinations: [{ prefix: '*', callsPerMinute: 2 }] },
  });
  const { session } = await place({ to: '1' });
  await assert.rejects(place({ to: '2' }), { code: 'CALL_LIMIT' });
  void session.hangUp();
  await assert.rejects(place({ to: '3' }), { code: 'CALL_LIMIT' });
});

test('a destination is a prefix, a host or everything else', async () => {
  const destinations = [
    { prefix: 'sales', callsPerMinute: undefined },
    { prefix: `@${CALLEE}`, callsPerMinute: undefined },
    { prefix: '*', callsPerMinute: 0 },
  ];
  const { place, called } = open([CARRIER], { limits: { destinations } });
  for (const to of ['Sales1', `sip:bob@${CALLEE}`]) await place({ to });
  for (const to of ['bob', `sip:bob@192.0.2.99`, `sip:bob@${CALLEE};maddr=192.0.2.99`, `sip:@${CALLER}`]) {
    await assert.rejects(
      place({ to }),
      (error: { code: string }) => error.code === 'FORBIDDEN' || error.code === 'INVALID_FIELD',
      to,
    );
  }
  assert.deepEqual(called(), ['sip:Sales1@carrier.example', `sip:bob@${CALLEE}`]);
});

test('no character between the digits of a number takes it to another prefix', async () => {
  const destinations = [
    { prefix: '+49', callsPerMinute: undefined },
    { prefix: '+49900', callsPerMinute: 0 },
  ];
  const { place, called } = open([CARRIER], { limits: { destinations } });
  for (const user of [
    '+49/900',
    '+49,900',
    '+49%00900',
    '+49%e2%80%8b900',
    '%c2%a0+49900',
    '+49_900',
    '+49!9',
    '+49.9!',
  ]) {
    await assert.rejects(
      place({ to: `sip:${user}00@carrier.example` }),
      { code: 'FORBIDDEN', field: 'to' },
      user,
    );
  }
  await place({ to: 'sip:+49/30@carrier.example' });
  assert.deepEqual(called(), ['sip:+49/30@carrier.example']);
});
