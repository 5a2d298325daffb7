// The server calls SIPp: every scenario of a called side, with what the
// application is told and what the called side hears.
import assert from 'node:assert/strict';
import { after, before, test, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { PhoneCallRequest, PhoneCallView } from '../../../src/call/phone-calls.js';
import { until } from '../../fakes/until.js';
import { assertHeldByPeer, assertHeldByServer, continuity, g711Sound, heardDigits } from './rtp-record.js';
import { kept } from './kept.js';
import { RtpPeer } from './rtp-peer.js';
import { Sipp, type SippOptions } from './sipp.js';
import { likeness, type Sound } from './sound-shape.js';
import { GREETING, TelephoneServer } from './telephone-server.js';

let server: TelephoneServer;
let greeting: Sound;

before(async () => {
  server = await TelephoneServer.start();
  greeting = await server.rendered(GREETING);
});
after(() => server.close());

interface PlacedCall {
  readonly id: string;
  readonly sipp: Sipp;
  readonly rtp: RtpPeer;
  readonly first: RtpPeer;
  readonly view: () => PhoneCallView;
  /** The states that the application was told, in order. */
  readonly states: () => readonly string[];
}

type Request = Omit<PhoneCallRequest, 'to'>;

async function place(
  t: TestContext,
  scenario: string,
  request: Request = {},
  options: SippOptions = {},
): Promise<PlacedCall> {
  const rtp = await kept(t, RtpPeer.open());
  const first = await kept(t, RtpPeer.open());
  const keys = { rtp_port: rtp.port, first_rtp_port: first.port, ...options.keys };
  const sipp = await kept(t, Sipp.answer(scenario, { holdMs: 60, limitS: 12, ...options, keys }));
  const to = `sip:bob@127.0.0.1:${sipp.address.port};transport=${options.transport ?? 'udp'}`;
  const { id, state, direction } = await server.telephone.place({ to, ...request });
  assert.deepEqual([state, direction], ['dialling', 'outbound']);
  const states: string[] = [];
  server.telephone.follow(id, 0, (event) => event.type === 'state' && states.push(event.state));
  return { id, sipp, rtp, first, view: () => server.telephone.get(id), states: () => states };
}

function becomes({ view }: PlacedCall, state: PhoneCallView['state']): Promise<void> {
  return until(() => view().state === state);
}

/** Resolves when the scenario went as it says and nothing was sent twice. */
async function wentWell({ sipp }: PlacedCall): Promise<void> {
  const { retransmissions, strays } = await sipp.succeeded();
  assert.deepEqual([retransmissions, strays], [0, 0], sipp.messages());
}

const BOTH = ['udp', 'tcp'] as const;
const HELD_MS = 600;

for (const [scenario, law, transport] of [
  ['answer-basic', 'PCMU', 'udp'],
  ['answer-basic', 'PCMU', 'tcp'],
  ['answer-pcma', 'PCMA', 'udp'],
] as const) {
  test(`${scenario} over ${transport}: whom the server calls hears the text whole in ${law} and is hung up on`, async (t) => {
    const say = { text: GREETING, after: 'hangup' } as const;
    const call = await place(t, scenario, { say }, { transport });
    await wentWell(call);
    await becomes(call, 'ended');
    assert.deepEqual(call.states(), ['dialling', 'ringing', 'connected', 'ended']);
    const { codec, end } = call.view();
    assert.deepEqual([codec, end], [law, { reason: 'we hung up' }]);
    const { lost, disordered, timestampBreaks, payloadTypes, sources } = continuity(call.rtp.heard);
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
    const { correlation, longerMs, gain } = likeness(
      { samples: g711Sound(call.rtp.heard), rate: 8000 },
      greeting,
    );
    assert.ok(
      correlation > 0.93 && Math.abs(longerMs) <= 40 && Math.abs(gain - 1) < 0.1,
      JSON.stringify({ correlation, longerMs, gain }),
    );
  });
}

// Called sides that answer and are hung up on, whatever happens before.
const ANSWERS: Readonly<Record<string, SippOptions>> = {
  'answer-early-media': { holdMs: 400 },
  'answer-forked': { holdMs: 200 },
  'answer-interval-too-small': {},
  'answer-late': { holdMs: 500 },
  'answer-prack': {},
  'answer-updates': {},
  'answer-updates-early': {},
  'answer-bye-crossing': {},
};

for (const [scenario, options] of Object.entries(ANSWERS)) {
  test(`${scenario}: the call stands and can be spoken into, over UDP and TCP`, async (t) => {
    for (const transport of BOTH) {
      const call = await place(t, scenario, {}, { ...options, transport });
      await becomes(call, 'connected');
      const { utterance } = server.telephone.say(call.id, { text: 'Yes.' });
      assert.equal(utterance, 1);
      await until(() => call.rtp.heard.length > 20);
      await server.telephone.hangUp(call.id);
      await wentWell(call);
      assert.equal(call.view().end?.reason, 'we hung up');
      assert.deepEqual([continuity(call.rtp.heard).lost, continuity(call.rtp.heard).disordered], [0, 0]);
    }
  });
}

for (const [scenario, end] of [
  ['answer-busy', { reason: 'rejected', status: 486, cause: 17, detail: 'User busy' }],
  ['answer-declined', { reason: 'rejected', status: 603, cause: 21, detail: 'Call rejected' }],
  ['answer-unavailable', { reason: 'rejected', status: 503 }],
  ['answer-moved', { reason: 'rejected', status: 302 }],
] as const) {
  test(`${scenario}: the application is told why, over UDP and TCP`, async (t) => {
    for (const transport of BOTH) {
      const keys = { moved_to: 'sip:dave@127.0.0.1:9' };
      const call = await place(t, scenario, {}, { transport, keys });
      await wentWell(call);
      await becomes(call, 'ended');
      assert.deepEqual(call.view().end, end);
    }
  });
}

test('a call that nobody takes in time is taken back, over UDP and TCP', async (t) => {
  for (const transport of BOTH) {
    const call = await place(t, 'answer-never', { ringTimeoutMs: 300 }, { transport });
    await wentWell(call);
    await becomes(call, 'ended');
    const { reason, status } = call.view().end ?? {};
    assert.deepEqual([reason, status], ['no answer', 408]);
    assert.match(call.sipp.messages(), /CANCEL sip:bob@/);
  }
});

for (const transport of BOTH) {
  test(`an application that hangs up before the answer takes the call back over ${transport}`, async (t) => {
    const call = await place(t, 'answer-never', {}, { transport });
    await becomes(call, 'ringing');
    assert.deepEqual((await server.telephone.hangUp(call.id)).end, { reason: 'cancelled' });
    await wentWell(call);
    assert.deepEqual(call.states(), ['dialling', 'ringing', 'ended']);
  });

  test(`an answer that crosses the CANCEL over ${transport} is acknowledged and ended with BYE`, async (t) => {
    const call = await place(t, 'answer-despite-cancel', {}, { transport });
    await becomes(call, 'ringing');
    await server.telephone.hangUp(call.id);
    await wentWell(call);
    assert.equal(call.view().end?.reason, 'cancelled');
  });

  test(`whom the server calls over ${transport} may hang up first`, async (t) => {
    const call = await place(t, 'answer-hangs-up', { say: { text: GREETING } }, { holdMs: 300, transport });
    await wentWell(call);
    await becomes(call, 'ended');
    assert.equal(call.view().end?.reason, 'peer hung up');
  });

  test(`whom the server calls over ${transport} is held and hears silence, is resumed and hears the rest`, async (t) => {
    const call = await place(t, 'answer-is-held', { say: { text: GREETING } }, { transport });
    await becomes(call, 'connected');
    await until(() => call.rtp.heard.length > 40);
    await server.telephone.hold(call.id, true);
    const fromMs = performance.now();
    assert.equal(call.view().state, 'held');
    await setTimeout(HELD_MS);
    const toMs = performance.now();
    await server.telephone.hold(call.id, false);
    assert.equal(call.view().state, 'connected');
    await until(() => (call.rtp.heard.at(-1)?.atMs ?? 0) > toMs + 1500);
    await server.telephone.hangUp(call.id);
    await wentWell(call);
    assertHeldByServer(call.rtp.heard, greeting, fromMs, toMs);
  });

  test(`whom the server calls over ${transport} may hold it, is sent nothing meanwhile, and hears the rest`, async (t) => {
    const holdMs = 900;
    const call = await place(t, 'answer-holds', { say: { text: GREETING } }, { holdMs, transport });
    await wentWell(call);
    const states = ['dialling', 'ringing', 'connected', 'held', 'connected', 'ended'];
    assert.deepEqual(call.states(), states);
    assertHeldByPeer(call.rtp.heard, greeting, holdMs);
  });

  test(`digits go in INFO over ${transport} where there are no telephone events`, async (t) => {
    const call = await place(t, 'answer-takes-info', {}, { transport });
    await becomes(call, 'connected');
    await server.telephone.press(call.id, { digits: '7' });
    await server.telephone.hangUp(call.id);
    await wentWell(call);
    assert.match(call.sipp.messages(), /Signal ?= ?7/);
  });

  test(`many calls at once over ${transport} are all heard out, without anything sent twice`, async (t) => {
    const sipp = await kept(
      t,
      Sipp.answer('answer-basic', { calls: 30, keys: { rtp_port: 65_534 }, transport }),
    );
    const to = `sip:bob@127.0.0.1:${sipp.address.port};transport=${transport}`;
    const say = { text: 'Yes.', after: 'hangup' } as const;
    await Promise.all(Array.from({ length: 30 }, () => server.telephone.place({ to, say })));
    const { successful, retransmissions, strays } = await sipp.succeeded();
    assert.deepEqual([successful, retransmissions, strays], [30, 0, 0]);
  });
}

test('early media is a port before the answer, and a forked call goes to the phone that answers', async (t) => {
  const call = await place(t, 'answer-forked', { say: { text: GREETING } }, { holdMs: 400 });
  await becomes(call, 'ringing');
  assert.equal(call.view().codec, 'PCMU');
  await becomes(call, 'connected');
  const before = call.first.heard.length;
  await until(() => call.rtp.heard.length > 50);
  await server.telephone.hangUp(call.id);
  await wentWell(call);
  assert.ok(
    call.first.heard.length - before <= 2,
    `${call.first.heard.length - before} packets after another phone had answered`,
  );
});

test('digits go in RTP both ways', async (t) => {
  const call = await place(t, 'answer-basic');
  await becomes(call, 'connected');
  await until(() => call.rtp.source !== undefined);
  await server.telephone.press(call.id, { digits: '4#', durationMs: 80 });
  // As the server numbers it.
  const eventType = Number(/rtpmap:(\d+) telephone-event\/8000/.exec(call.sipp.messages())?.[1]);
  const stream = call.rtp.stream(call.rtp.source ?? server.address, { eventType });
  await stream.press('7');
  await stream.press('7', { loseEnds: 2 });
  await until(() => call.view().digits.length === 2);
  await server.telephone.hangUp(call.id);
  await wentWell(call);
  assert.deepEqual(
    heardDigits(call.rtp.heard).map(({ digit, durationMs }) => [digit, durationMs]),
    [
      ['4', 80],
      ['#', 80],
    ],
  );
  assert.deepEqual(
    call.view().digits.map(({ digit }) => digit),
    ['7', '7'],
  );
});

test('a call to where nobody listens ends as failed', async () => {
  const { id } = await server.telephone.place({ to: 'sip:bob@127.0.0.1:9;transport=tcp' });
  await until(() => server.telephone.get(id).state === 'ended');
  assert.equal(server.telephone.get(id).end?.reason, 'failed');
});
