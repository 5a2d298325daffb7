// SIPp calls numbers that ring before they are answered, that speak before they
// are answered, and that are refused in words.
import assert from 'node:assert/strict';
import { after, before, test, type TestContext } from 'node:test';
import type { PhoneCallEvent, PhoneCallView } from '../../../src/call/phone-calls.js';
import { until } from '../../fakes/until.js';
import { finalOf, offer, request, statusOf, TcpCaller } from '../../telephone/raw-caller.js';
import { kept } from './kept.js';
import { RtpPeer } from './rtp-peer.js';
import { continuity, g711Sound } from './rtp-record.js';
import { Sipp, type SippOptions } from './sipp.js';
import { likeness, voiced, type Sound } from './sound-shape.js';
import { TelephoneServer } from './telephone-server.js';

const EARLY = 'One moment, please.';
const NO_SERVICE = 'This number is not in service.';
const TRANSPORTS = ['udp', 'tcp'] as const;
const ROUTES = [
  { to: 'rings', ring: 0.6, say: { text: 'Good morning.' } },
  { to: 'long', ring: 30, say: { text: 'Good morning.' } },
  { to: 'early', early: true, earlyText: EARLY, say: { text: 'Good morning.', after: 'stay' } },
  { to: 'through', ring: 0.5, early: true, say: { text: 'Your order has shipped.' } },
  { to: 'gone', reject: { status: 404, cause: 1, text: 'Unallocated', announcement: { text: NO_SERVICE } } },
];

let server: TelephoneServer;
let sounds: { readonly early: Sound; readonly noService: Sound };
before(async () => {
  server = await TelephoneServer.start({}, { routes: ROUTES });
  sounds = { early: await server.rendered(EARLY), noService: await server.rendered(NO_SERVICE) };
});
after(() => server.close());

async function begin(t: TestContext, scenario: string, options: SippOptions) {
  const rtp = await kept(t, RtpPeer.open());
  const before = new Set(server.telephone.list().map(({ id }) => id));
  const keys = { rtp_port: rtp.port, ...options.keys };
  const sipp = await kept(
    t,
    Sipp.call(server.address, scenario, { holdMs: 60, limitS: 15, ...options, keys }),
  );
  const found = (): PhoneCallView | undefined => server.telephone.list().find(({ id }) => !before.has(id));
  await until(() => found() !== undefined).catch(() => assert.fail(sipp.failure()));
  const view = (): PhoneCallView => found() ?? assert.fail();
  const events: PhoneCallEvent[] = [];
  server.telephone.follow(view().id, 0, (event) => events.push(event));
  return { sipp, rtp, view, events };
}

type Begun = Awaited<ReturnType<typeof begin>>;

/**
 * Over UDP the caller sends sound as soon as it knows where to: it is sent none before. A connection proves
 * the caller's address without it.
 */
async function speaks({ sipp, rtp }: Begun, transport: string): Promise<void> {
  if (transport !== 'udp') return;
  const port = (): number => Number(/^SIP\/2\.0 183[^]*?^m=audio (\d+)/m.exec(sipp.messages())?.[1] ?? 0);
  await until(() => port() > 0).catch(() => assert.fail(sipp.failure()));
  rtp.stream({ host: '127.0.0.1', port: port() });
}

/** States and speech in order. */
function course({ events }: Begun): string[] {
  return events.flatMap((event) => {
    if (event.type === 'state') return [event.state];
    return event.type === 'speech' ? [event.event.type.replace('utterance.', '')] : [];
  });
}

async function ended({ view, sipp }: Begun): Promise<PhoneCallView> {
  await sipp.succeeded();
  await until(() => view().state === 'ended');
  await until(() => server.telephone.size === 0);
  assert.equal(server.telephone.ports['used'], 0, 'every port is given back');
  return view();
}

/** That nothing was sent twice, and nothing that belongs to no call. */
async function clean(call: Begun): Promise<void> {
  const { retransmissions, strays } = await call.sipp.succeeded();
  assert.deepEqual([retransmissions, strays], [0, 0], call.sipp.messages());
}

for (const transport of TRANSPORTS) {
  test(`call-ringing over ${transport}: the call rings as long as the rule says, then is answered and spoken to`, async (t) => {
    const call = await begin(t, 'call-ringing', { transport, service: 'rings', holdMs: 600 });
    const { createdAt, answeredAt = 0, end } = await ended(call);
    await clean(call);
    const rangMs = answeredAt - createdAt;
    assert.ok(rangMs >= 595 && rangMs < 2000, `${rangMs} ms`);
    assert.deepEqual(course(call).slice(0, 3), ['ringing', 'connected', 'started']);
    assert.equal(end?.reason, 'peer hung up');
    assert.ok(call.rtp.heard.length > 10);
  });

  test(`call-early-media over ${transport}: what is heard before the answer is heard to its end`, async (t) => {
    const call = await begin(t, 'call-early-media', { transport, service: 'early', holdMs: 400 });
    await speaks(call, transport);
    await ended(call);
    await clean(call);
    const words = course(call).filter((word) => ['ringing', 'started', 'spoken', 'connected'].includes(word));
    assert.deepEqual(words.slice(0, 5), ['ringing', 'started', 'spoken', 'connected', 'started']);
    const { lost, disordered, timestampBreaks, sources } = continuity(call.rtp.heard);
    assert.deepEqual([lost, disordered, timestampBreaks, sources.length], [0, 0, 0, 1]);
    const { early } = sounds;
    // Media flows before the first word is there, and after the last one come those of the answer.
    const spoken = voiced(early.samples, early.rate);
    const heard = voiced(g711Sound(call.rtp.heard), 8000).subarray(0, spoken.length);
    assert.ok(likeness({ samples: heard, rate: 8000 }, early).correlation > 0.9);
  });

  test(`a text goes on through the answer over ${transport}, without a gap`, async (t) => {
    const call = await begin(t, 'call-early-media', { transport, service: 'through', holdMs: 1500 });
    await speaks(call, transport);
    await ended(call);
    const words = course(call);
    assert.ok(words.indexOf('started') < words.indexOf('connected'), words.join(' '));
    assert.equal(words.filter((word) => word === 'started').length, 1);
    const { lost, timestampBreaks, sources } = continuity(call.rtp.heard);
    assert.deepEqual([lost, timestampBreaks, sources.length], [0, 0, 1]);
  });

  test(`call-announced over ${transport}: the announcement is heard whole, then the call is refused with its cause`, async (t) => {
    const call = await begin(t, 'call-announced', { transport, service: 'gone' });
    await speaks(call, transport);
    const { end, answeredAt } = await ended(call);
    await clean(call);
    assert.deepEqual(end, { reason: 'rejected', status: 404, cause: 1, detail: 'Unallocated' });
    assert.equal(answeredAt, undefined);
    const sound = { samples: g711Sound(call.rtp.heard), rate: 8000 };
    const { correlation, longerMs } = likeness(sound, sounds.noService);
    assert.ok(correlation > 0.93 && Math.abs(longerMs) <= 60, JSON.stringify({ correlation, longerMs }));
  });

  for (const service of ['rings', 'early']) {
    test(`call-prack over ${transport}: a caller that requires it gets "${service}" reliably`, async (t) => {
      const call = await begin(t, 'call-prack', { transport, service });
      await ended(call);
      await clean(call);
    });
  }

  // SIPp takes what comes again over UDP for no news, so that it has no PRACK to lose there.
  const lost = transport === 'udp' ? 'call-prack-late' : 'call-prack-lost';
  test(`${lost} over ${transport}: the response comes again until its PRACK has`, async (t) => {
    const call = await begin(t, lost, { transport, service: 'early' });
    await ended(call);
    assert.equal(call.sipp.messages().match(/^SIP\/2\.0 183/gm)?.length, 2);
  });

  test(`call-cancelled over ${transport}: CANCEL while it rings ends the call, and frees it`, async (t) => {
    const call = await begin(t, 'call-cancelled', { transport, service: 'long' });
    assert.equal((await ended(call)).end?.reason, 'cancelled');
    await clean(call);
    assert.deepEqual([course(call), call.rtp.heard.length], [['ringing', 'ended'], 0]);
  });

  for (const [service, reason] of [
    ['long', 'cancelled'],
    ['through', 'cancelled'],
  ] as const) {
    test(`call-cancel-race over ${transport} to "${service}": ${reason}`, async (t) => {
      const call = await begin(t, 'call-cancel-race', { transport, service });
      assert.equal((await ended(call)).end?.reason, reason);
    });
  }

  test(`an application ends a call that rings over ${transport}: 480`, async (t) => {
    const call = await begin(t, 'call-ended-ringing', { transport, service: 'long' });
    await server.telephone.hangUp(call.view().id);
    const { end } = await ended(call);
    assert.equal(end?.reason, 'we hung up');
  });
}

test('a caller who cancels in the middle of early media is spoken to no longer', async (t) => {
  const call = await begin(t, 'call-ended-early', { service: 'gone' });
  await speaks(call, 'udp');
  assert.equal((await ended(call)).end?.reason, 'cancelled');
  const words = course(call);
  assert.ok(words.includes('interrupted') && !words.includes('spoken'), words.join(' '));
});

for (const [service, status] of [
  ['early', 200],
  ['gone', 404],
] as const) {
  test(`"${service}" from a host that its connection does not prove is ${status} after a second`, async (t) => {
    const caller = await kept(t, TcpCaller.open(server.address));
    const rtp = await kept(t, RtpPeer.open('127.0.0.9'));
    const callId = `elsewhere-${service}@test`;
    const body = offer('127.0.0.9', rtp.port);
    const beganMs = performance.now();
    caller.send(request(caller, { uri: `sip:${service}@127.0.0.1`, callId, body }));
    assert.equal(statusOf(await finalOf(caller, callId)), status);
    const tookMs = performance.now() - beganMs;
    assert.ok(tookMs >= 990 && tookMs < 3000, `${tookMs} ms`);
    assert.ok(rtp.heard.length > 0 && rtp.heard.length <= 51, `${rtp.heard.length} packets`);
  });
}
