// SIPp calls the server: every scenario of a caller that the server answers by
// itself, then those in which an application drives the call from its side.
import assert from 'node:assert/strict';
import { after, before, test, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { PhoneCallView } from '../../../src/call/phone-calls.js';
import { until } from '../../fakes/until.js';
import { kept } from './kept.js';
import { assertHeldByPeer, assertHeldByServer, continuity, g711Sound, heardDigits } from './rtp-record.js';
import { RtpPeer, type HeardPacket } from './rtp-peer.js';
import { Sipp, type SippOptions } from './sipp.js';
import { likeness, likenessSoFar, voiced, type Sound } from './sound-shape.js';
import { GREETING, TelephoneServer } from './telephone-server.js';

const ROUTES = [
  { to: 'busy', reject: { status: 486, cause: 17 } },
  { to: 'short', say: { text: 'Bye.', after: 'hangup' } },
];
const REFRESH_S = 90; // the least that RFC 4028 has
const HELD_MS = 600;
const BOTH = ['udp', 'tcp'] as const;

let server: TelephoneServer;
let greeting: Sound;
let refreshed: readonly { readonly sipp: Sipp; readonly rtp: RtpPeer }[] = [];

before(async () => {
  server = await TelephoneServer.start({}, { routes: ROUTES });
  greeting = await server.rendered(GREETING);
  // They take 45 s, beside the others; the last test waits for them.
  for (const transport of BOTH) {
    const rtp = await RtpPeer.open();
    const keys = { rtp_port: rtp.port, session_s: REFRESH_S };
    const options = { transport, keys, limitS: 80 };
    refreshed = [...refreshed, { rtp, sipp: await Sipp.call(server.address, 'call-is-refreshed', options) }];
  }
});
after(async () => {
  for (const { sipp, rtp } of refreshed) {
    await sipp.close();
    await rtp.close();
  }
  await server.close();
});

/** One stream without a gap, and in it the greeting as far as it was heard. */
function assertUnbroken(heard: readonly HeardPacket[]): void {
  const { lost, disordered, timestampBreaks, sources } = continuity(heard);
  assert.deepEqual([lost, disordered, timestampBreaks, sources.length], [0, 0, 0, 1]);
  const sound = { samples: g711Sound(heard), rate: 8000 };
  assert.ok(voiced(sound.samples, sound.rate).length > 0.8 * sound.rate);
  const { correlation } = likenessSoFar(sound, greeting);
  assert.ok(correlation > 0.93, `${correlation}`);
}

interface SippCall {
  readonly sipp: Sipp;
  readonly rtp: RtpPeer;
  readonly second: RtpPeer;
  /** The latest call from SIPp, as the application knows it. */
  readonly view: () => PhoneCallView;
}

async function begin(t: TestContext, scenario: string, options: SippOptions = {}): Promise<SippCall> {
  const rtp = await kept(t, RtpPeer.open());
  const second = await kept(t, RtpPeer.open());
  const before = new Set(server.telephone.list().map(({ id }) => id));
  const keys = { rtp_port: rtp.port, second_rtp_port: second.port, ...options.keys };
  const sipp = await kept(
    t,
    Sipp.call(server.address, scenario, { holdMs: 60, limitS: 12, ...options, keys }),
  );
  const view = () => {
    const call = server.telephone.list().find(({ id }) => !before.has(id));
    if (call === undefined) throw sipp.failure();
    return call;
  };
  return { sipp, rtp, second, view };
}

/** Resolves when the call that SIPp began is answered, with its id. */
async function connected({ view }: SippCall): Promise<string> {
  await until(() => {
    try {
      return view().state === 'connected';
    } catch {
      return false;
    }
  });
  return view().id;
}

for (const [scenario, law, transport] of [
  ['call-basic', 'PCMU', 'udp'],
  ['call-basic', 'PCMU', 'tcp'],
  ['call-pcma', 'PCMA', 'udp'],
  ['call-late-offer', 'PCMU', 'tcp'],
] as const) {
  test(`${scenario} over ${transport}: the caller hears the greeting whole, in ${law}, 20 ms apart`, async (t) => {
    const { sipp, rtp } = await begin(t, scenario, { transport, holdMs: 4200 });
    await sipp.succeeded();
    const { lost, disordered, timestampBreaks, payloadTypes, sources, spacingMs } = continuity(rtp.heard);
    assert.deepEqual(
      { lost, disordered, timestampBreaks, payloadTypes, sources: sources.length },
      {
        lost: 0,
        disordered: 0,
        timestampBreaks: 0,
        payloadTypes: [law === 'PCMU' ? 0 : 8],
        sources: 1,
      },
    );
    assert.ok(Math.abs(spacingMs.median - 20) < 2, JSON.stringify(spacingMs));
    const { correlation, longerMs, gain } = likeness({ samples: g711Sound(rtp.heard), rate: 8000 }, greeting);
    assert.ok(
      correlation > 0.93 && Math.abs(longerMs) <= 40 && Math.abs(gain - 1) < 0.1,
      JSON.stringify({ correlation, longerMs, gain }),
    );
  });
}

// Scenarios that the server handles without help from the test. Each SIPp scenario checks the responses
// itself.
const ALONE: Readonly<Record<string, SippOptions>> = {
  'bye-unknown': {},
  'call-bye-twice': {},
  'call-cancel-too-late': {},
  'call-codec-change': {},
  'call-ended-by-callee': { service: 'short' },
  'call-hold-inactive': {},
  'call-hold-sendonly': {},
  'call-hold-zero-address': {},
  'call-info-unknown': {},
  'call-interval-too-small': {},
  'call-media-moves': {},
  'call-options': {},
  'call-payload-type-change': {},
  'call-refer-refused': { keys: { refer_to: 'sip:carol@127.0.0.1' } },
  'call-refreshes-by-reinvite': {},
  'call-refreshes-by-update': {},
  'call-refused': { service: 'busy' },
  'call-reinvite-without-offer': {},
  'call-replaced': {},
  'call-replaces-unknown': {},
  'call-requires-100rel': {},
  'call-too-many-hops': {},
  'call-unacceptable-reinvite': {},
  'call-unknown-scheme': {},
  'call-unsupported-body': {},
  'call-unsupported-require': {},
  'call-unusable-offer': {},
  'call-update': {},
  message: {},
  options: {},
  'unknown-method': {},
};

for (const [scenario, options] of Object.entries(ALONE)) {
  test(`${scenario}: the server answers as the scenario says, over UDP and TCP`, async (t) => {
    for (const transport of BOTH) {
      const { sipp, rtp, second } = await begin(t, scenario, { ...options, transport });
      const { retransmissions, strays } = await sipp.succeeded();
      assert.deepEqual([retransmissions, strays], [0, 0], sipp.messages());
      for (const { heard } of [rtp, second])
        assert.deepEqual([continuity(heard).lost, continuity(heard).disordered], [0, 0]);
    }
  });
}

for (const how of ['sendonly', 'inactive', 'zero-address']) {
  test(`a caller who holds (${how}) is sent nothing, and hears the rest after resuming`, async (t) => {
    const holdMs = 900;
    const { sipp, rtp } = await begin(t, `call-hold-${how}`, { holdMs });
    await sipp.succeeded();
    assertHeldByPeer(rtp.heard, greeting, holdMs);
  });
}

test('media moves to the other port and stays whole', async (t) => {
  const { sipp, rtp, second } = await begin(t, 'call-media-moves', { holdMs: 600 });
  await sipp.succeeded();
  assert.ok(rtp.heard.length > 20 && second.heard.length > 20);
  assertUnbroken([...rtp.heard, ...second.heard]);
});

test('a codec that changes within the call is sent from then on, and the text goes on in it', async (t) => {
  const { sipp, rtp } = await begin(t, 'call-codec-change', { holdMs: 900 });
  await sipp.succeeded();
  const order = rtp.heard.map(({ payloadType }) => payloadType);
  assert.deepEqual(
    order,
    order.toSorted((a, b) => a - b),
    'PCMU first, PCMA from then on',
  );
  for (const type of [0, 8]) assert.ok(order.filter((one) => one === type).length > 20, `${type}`);
  assertUnbroken(rtp.heard);
});

test('payload types that are renumbered within the call are sent from then on, and the text goes on in them', async (t) => {
  const { sipp, rtp } = await begin(t, 'call-payload-type-change', { holdMs: 900 });
  await sipp.succeeded();
  assert.deepEqual(continuity(rtp.heard, 160, 97).payloadTypes, [0, 96]);
  assertUnbroken(
    rtp.heard.map((packet) => ({
      ...packet,
      payloadType: packet.payloadType === 96 ? 0 : packet.payloadType,
    })),
  );
});

test('digits in RTP are told once each, whatever of them is lost', async (t) => {
  const call = await begin(t, 'call-basic', { holdMs: 1500 });
  await connected(call);
  await until(() => call.rtp.source !== undefined);
  const stream = call.rtp.stream(call.rtp.source ?? server.address);
  await stream.press('1', { loseFirst: 2 });
  await stream.press('1', { loseEnds: 3 });
  await stream.press('*', { loseEnds: 2, marker: true });
  await stream.press('D', { durationMs: 200 });
  await call.sipp.succeeded();
  assert.deepEqual(
    call.view().digits.map(({ digit }) => digit),
    ['1', '1', '*', 'D'],
  );
});

test('an application presses digits in RTP and hangs up', async (t) => {
  const call = await begin(t, 'call-ended-by-callee');
  const id = await connected(call);
  await server.telephone.press(id, { digits: '42#', durationMs: 80 });
  await server.telephone.hangUp(id);
  await call.sipp.succeeded();
  const digits = heardDigits(call.rtp.heard);
  assert.deepEqual(
    digits.map(({ digit, ends }) => [digit, ends]),
    [
      ['4', 3],
      ['2', 3],
      ['#', 3],
    ],
  );
  assert.deepEqual(
    digits.map(({ durationMs }) => durationMs),
    [80, 80, 80],
  );
  assert.deepEqual([continuity(call.rtp.heard).lost, continuity(call.rtp.heard).sources.length], [0, 1]);
});

for (const transport of BOTH) {
  test(`an application holds a caller over ${transport}, who hears silence, and resumes`, async (t) => {
    const call = await begin(t, 'call-is-held', { transport });
    const id = await connected(call);
    await until(() => call.rtp.heard.length > 40);
    await server.telephone.hold(id, true);
    const fromMs = performance.now();
    assert.equal(server.telephone.get(id).state, 'held');
    await setTimeout(HELD_MS);
    const toMs = performance.now();
    await server.telephone.hold(id, false);
    assert.equal(server.telephone.get(id).state, 'connected');
    await until(() => (call.rtp.heard.at(-1)?.atMs ?? 0) > toMs + 1500);
    await server.telephone.hangUp(id);
    await call.sipp.succeeded();
    assertHeldByServer(call.rtp.heard, greeting, fromMs, toMs);
  });

  test(`offers that cross over ${transport} are both refused with 491, and the second try is taken`, async (t) => {
    const call = await begin(t, 'call-offer-crossing', { transport });
    const id = await connected(call);
    await server.telephone.hold(id, true);
    await server.telephone.hangUp(id);
    await call.sipp.succeeded();
  });

  test(`a caller without telephone events is told a digit by INFO over ${transport}`, async (t) => {
    const call = await begin(t, 'call-takes-info', { transport });
    const id = await connected(call);
    await server.telephone.press(id, { digits: '7' });
    await server.telephone.hangUp(id);
    await call.sipp.succeeded();
    assert.match(call.sipp.messages(), /Signal ?= ?7/);
  });

  for (const kind of ['call-info-dtmf-relay', 'call-info-dtmf']) {
    test(`${kind} over ${transport}: digits in INFO are digits of the call`, async (t) => {
      const call = await begin(t, kind, { transport });
      await call.sipp.succeeded();
      assert.deepEqual(
        call.view().digits.map(({ digit }) => digit),
        ['5', '#'],
      );
    });
  }
}

test('an answer that is not acknowledged is sent again until it is', async (t) => {
  const { sipp } = await begin(t, 'call-without-ack', { holdMs: 1700 });
  await sipp.succeeded();
  const answers =
    sipp.messages().match(/message received[^\n]*\n\nSIP\/2\.0 200 OK\r\n[^]*?CSeq: 1 INVITE/g) ?? [];
  assert.equal(answers.length, 3); // at once, after 0.5 s and after 1.5 s (RFC 3261, 13.3.1.4)
});

for (const [scenario, outcome] of [
  ['call-is-transferred', { accepted: true, status: 200 }],
  ['call-transfer-fails', { accepted: false, status: 486 }],
  ['call-refuses-transfer', { accepted: false, status: 603 }],
] as const) {
  test(`${scenario}: an application is told how its transfer ended, over UDP and TCP`, async (t) => {
    for (const transport of BOTH) {
      const call = await begin(t, scenario, { transport });
      const id = await connected(call);
      assert.deepEqual(await server.telephone.transfer(id, { to: 'sip:carol@127.0.0.1' }), outcome);
      if (outcome.status !== 200) await server.telephone.hangUp(id);
      await call.sipp.succeeded();
    }
  });
}

test('many callers at once over UDP and TCP are all answered, without anything sent twice', async (t) => {
  for (const transport of BOTH) {
    const options = { transport, calls: 40, perSecond: 20, atOnce: 40, holdMs: 500 };
    const { sipp } = await begin(t, 'call-basic', options);
    const { successful, retransmissions, strays } = await sipp.succeeded();
    assert.deepEqual([successful, retransmissions, strays], [40, 0, 0]);
  }
});

test('a session that the server refreshes is refreshed before half of its time is over, over UDP and TCP', async () => {
  for (const { sipp } of refreshed) {
    await sipp.succeeded();
    assert.match(sipp.messages(), /message received[^\n]*\n\n(?:UPDATE|INVITE) sip:sipp@/);
  }
});
