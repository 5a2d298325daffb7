// Transfers with real peers: those that the server asks for, blind and attended,
// and those that callers ask the server for, whose conversation moves on.
import assert from 'node:assert/strict';
import { after, before, test, type TestContext } from 'node:test';
import { until } from '../../fakes/until.js';
import { Baresip } from './baresip.js';
import { kept } from './kept.js';
import { RtpPeer } from './rtp-peer.js';
import { continuity, g711Sound } from './rtp-record.js';
import { Sipp, type Address } from './sipp.js';
import { likenessSoFar, loudness, partsLikeness, voiced, type Sound } from './sound-shape.js';
import { GREETING, TelephoneServer } from './telephone-server.js';

const RATE = 16_000;
const SYLLABLE_S = 0.2;

/** A tone whose loudness changes with each syllable, again and again for 20 s. */
function syllables(levels: readonly number[]): Sound {
  const levelAt = (n: number): number => levels[Math.floor(n / (SYLLABLE_S * RATE)) % levels.length] ?? 0;
  const sampleAt = (_: unknown, n: number): number => levelAt(n) * Math.sin((2 * Math.PI * 500 * n) / RATE);
  return { rate: RATE, samples: Float32Array.from({ length: 20 * RATE }, sampleAt) };
}

const ONE = syllables([0.2, 0, 0.5, 0.3, 0, 0.4]);
const OTHER = syllables([0.5, 0.1, 0.1, 0.6, 0]);

/** Correlation of `heard` with the speech, at the best starting syllable. */
function likeAnyPart(heard: Sound, speech: Sound): number {
  const part = { rate: heard.rate, samples: voiced(heard.samples, heard.rate).subarray(0, 2.4 * heard.rate) };
  const starts = Array.from({ length: 6 }, (_, n) => n * SYLLABLE_S * RATE);
  return Math.max(
    ...starts.map(
      (start) => likenessSoFar(part, { rate: RATE, samples: speech.samples.subarray(start) }).correlation,
    ),
  );
}

let server: TelephoneServer;
let greeting: Sound;

before(async () => {
  server = await TelephoneServer.start({ SIP_TRANSFERS: 'any' });
  greeting = await server.rendered(GREETING);
});
after(() => server.close());

type Transport = 'udp' | 'tcp';
const BOTH = ['udp', 'tcp'] as const;

const uriOf = ({ port }: Address, transport: Transport): string =>
  `sip:carol@127.0.0.1:${port};transport=${transport}`;

async function callee(
  t: TestContext,
  scenario: string,
  transport: Transport,
  holdMs = 300,
): Promise<{ readonly sipp: Sipp; readonly rtp: RtpPeer }> {
  const rtp = await kept(t, RtpPeer.open());
  const sipp = await kept(
    t,
    Sipp.answer(scenario, { transport, keys: { rtp_port: rtp.port }, holdMs, limitS: 25 }),
  );
  return { sipp, rtp };
}

async function connectedTo(uri: string): Promise<string> {
  const { id } = await server.telephone.place({ to: uri });
  await until(() => server.telephone.get(id).state === 'connected');
  return id;
}

const soundOf = ({ heard }: RtpPeer): Sound => ({ samples: g711Sound(heard), rate: 8000 });
const loudFrames = ({ samples, rate }: Sound): number =>
  loudness(samples, rate, 20).filter((level) => level > 0.01).length;

/**
 * The second peer receives the rest of the greeting that the first one began to receive; no packet is lost.
 */
function assertMoved(first: RtpPeer, second: RtpPeer): void {
  const sounds = [soundOf(first), soundOf(second)];
  const spoken = sounds.map(({ samples, rate }) => voiced(samples, rate).length);
  assert.ok(
    spoken.every((samples) => samples > 4000),
    `${spoken.join(' and ')} samples of speech`,
  );
  const [inOrder, reversed] = [sounds, sounds.toReversed()].map((parts) => partsLikeness(parts, greeting));
  assert.ok(
    (inOrder ?? 0) > 0.85 && (reversed ?? 1) < 0.6,
    `like the greeting: ${inOrder}; the other way round: ${reversed}`,
  );
  assert.deepEqual([continuity(first.heard).lost, continuity(second.heard).lost], [0, 0]);
}

for (const transport of BOTH) {
  test(`whom the server has called is sent elsewhere (${transport})`, async (t) => {
    const { sipp } = await callee(t, 'answer-is-transferred', transport);
    const id = await connectedTo(uriOf(sipp.address, transport));
    const outcome = await server.telephone.transfer(id, { to: 'sip:dave@127.0.0.1' });
    assert.deepEqual(outcome, { accepted: true, status: 200 });
    await sipp.succeeded();
    assert.match(sipp.messages(), /Refer-To: <sip:dave@127\.0\.0\.1>/);
    assert.equal(server.telephone.get(id).end?.reason, 'transferred');
  });

  test(`an attended transfer names the other call as the far end there knows it (${transport})`, async (t) => {
    const [one, other] = [
      await callee(t, 'answer-is-transferred', transport),
      await callee(t, 'answer-basic', transport),
    ];
    const id = await connectedTo(uriOf(one.sipp.address, transport));
    const otherId = await connectedTo(uriOf(other.sipp.address, transport));
    const outcome = await server.telephone.transfer(id, { call: otherId });
    assert.deepEqual(outcome, { accepted: true, status: 200 });
    await one.sipp.succeeded();
    await server.telephone.hangUp(otherId);
    await other.sipp.succeeded();
    const there = other.sipp.messages();
    const [, callId = '', ours = '', theirs = ''] = [
      /Call-ID: (\S+)/,
      /From: \S+;tag=(\S+)/,
      /To: \S+;tag=(\S+)/,
    ].reduce<string[]>((found, pattern) => [...found, pattern.exec(there)?.[1] ?? ''], ['']);
    const referred = decodeURIComponent(/Refer-To: <([^>]*)>/.exec(one.sipp.messages())?.[1] ?? '');
    assert.match(referred, new RegExp(`^sip:sipp@127\\.0\\.0\\.1:${other.sipp.address.port}`));
    assert.ok(referred.includes(`Replaces=${callId};to-tag=${theirs};from-tag=${ours}`), referred);
  });

  test(`a caller has itself put through: the text goes on at the target from where it stopped (${transport})`, async (t) => {
    // It rings for a while: of what comes to pass while a NOTIFY is under way, only the latest is told.
    const { sipp, rtp } = await callee(t, 'answer-late', transport, 1000);
    const first = await kept(t, RtpPeer.open());
    const keys = { rtp_port: first.port, refer_to: uriOf(sipp.address, transport) };
    const known = new Set(server.telephone.list().map(({ id }) => id));
    const caller = await kept(
      t,
      Sipp.call(server.address, 'call-refers', { transport, keys, holdMs: 1200, limitS: 25 }),
    );
    await caller.succeeded();
    assert.match(caller.messages(), /SIP\/2\.0 100 Trying[^]*SIP\/2\.0 180 Ringing[^]*SIP\/2\.0 200 OK/);
    const id = server.telephone.list().find((call) => !known.has(call.id))?.id ?? '';
    const before = first.heard.length;
    await until(() => rtp.heard.length > 200);
    assert.equal(server.telephone.get(id).state, 'connected');
    await server.telephone.hangUp(id);
    await sipp.succeeded();
    assert.ok(first.heard.length - before < 5, 'nothing is sent to whom has left');
    assert.match(sipp.messages(), /Referred-By: <sip:sipp@/);
    // The transferor receives the first part, the target the rest. Together they are the whole greeting,
    // once.
    assertMoved(first, rtp);
    const missing = loudFrames(greeting) - loudFrames(soundOf(first)) - loudFrames(soundOf(rtp));
    assert.ok(Math.abs(missing) <= 5, `${missing} frames of 20 ms, of which few are only half loud`);
  });

  test(`a target that is busy is told to the caller, whose call goes on (${transport})`, async (t) => {
    const { sipp } = await callee(t, 'answer-busy', transport);
    const keys = { rtp_port: 65_534, refer_to: uriOf(sipp.address, transport) };
    const caller = await kept(t, Sipp.call(server.address, 'call-refers', { transport, keys, holdMs: 100 }));
    await Promise.all([caller.succeeded(), sipp.succeeded()]);
    assert.match(caller.messages(), /Subscription-State: terminated[^]*SIP\/2\.0 486 Busy Here/);
    await until(() => server.telephone.list()[0]?.end?.reason === 'peer hung up');
  });

  test(`whom the server has called may have itself put through, too (${transport})`, async (t) => {
    const { sipp } = await callee(t, 'answer-basic', transport);
    const keys = { rtp_port: 65_534, refer_to: uriOf(sipp.address, transport) };
    const asking = await kept(t, Sipp.answer('answer-refers', { transport, keys }));
    const { id } = await server.telephone.place({ to: uriOf(asking.address, transport) });
    await asking.succeeded();
    assert.equal(server.telephone.get(id).state, 'connected');
    await server.telephone.hangUp(id);
    await sipp.succeeded();
  });

  test(`a caller has the server take the place of a dialog elsewhere (${transport})`, async (t) => {
    const { sipp } = await callee(t, 'answer-basic', transport);
    const replaced = { replaced_call: 'elsewhere', replaced_to_tag: 'to-1', replaced_from_tag: 'from-1' };
    const keys = { rtp_port: 65_534, refer_to: uriOf(sipp.address, transport), ...replaced };
    const caller = await kept(t, Sipp.call(server.address, 'call-refers-to-replace', { transport, keys }));
    await caller.succeeded();
    await server.telephone.hangUp(server.telephone.list()[0]?.id ?? '');
    await sipp.succeeded();
    assert.match(sipp.messages(), /Replaces: elsewhere;to-tag=to-1;from-tag=from-1/);
  });

  test(`an INVITE with Replaces moves the conversation to its sender (${transport})`, async (t) => {
    const [first, second] = [await kept(t, RtpPeer.open()), await kept(t, RtpPeer.open())];
    const keys = { rtp_port: first.port, second_rtp_port: second.port };
    const caller = await kept(
      t,
      Sipp.call(server.address, 'call-replaced', { transport, keys, holdMs: 1000 }),
    );
    await caller.succeeded();
    assertMoved(first, second);
    const [last, next] = [first.heard.at(-1)?.atMs ?? Infinity, second.heard[0]?.atMs ?? 0];
    assert.ok(last - next < 100, `the first one is sent something for ${last - next} ms after the second`);
  });
}

test('two baresips that the server has called are joined, and hear each other', async (t) => {
  const codecs = ['PCMU/8000/1'] as const;
  const one = await kept(t, Baresip.start({ user: 'one', answers: 'auto', says: ONE, codecs }));
  const other = await kept(t, Baresip.start({ user: 'other', answers: 'auto', says: OTHER, codecs }));
  const [id, otherId] = [await connectedTo(one.uri), await connectedTo(other.uri)];
  for (const peer of [one, other]) {
    // It names its recordings by the second: those of the next call would go into the same files.
    await peer.until(
      'be in its call for a second',
      4000,
      () => peer.said().samples.length > 1.2 * peer.said().rate,
    );
  }
  const outcome = await server.telephone.transfer(id, { call: otherId });
  assert.deepEqual(outcome, { accepted: true, status: 200 });
  for (const [listener, speech] of [
    [one, OTHER],
    [other, ONE],
  ] as const) {
    const heardS = () =>
      voiced(listener.heard().samples, listener.heard().rate).length / listener.heard().rate;
    await listener.until('hear the other one', 8000, () => heardS() > 2.5);
    const [alike, unlike] = [speech, speech === ONE ? OTHER : ONE].map((sound) =>
      likeAnyPart(listener.heard(), sound),
    );
    assert.ok((alike ?? 0) > 0.85 && (unlike ?? 1) < 0.7, `${alike} and ${unlike}`);
  }
  assert.equal(server.telephone.get(id).end?.reason, 'transferred');
});
