// Telephones of other makers, joined in bridges and rooms: what one says the others hear, keys go across, and
// each may hold, hang up or ask for a transfer. `npm run test:long` joins each kind with each other one.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import { ImpairedRelay } from '../../fakes/impaired-relay.js';
import { isLong, SEED } from '../../fakes/long-run.js';
import { until } from '../../fakes/until.js';
import { issueCertificates, type Issued } from '../../sip/transport/transports-under-test.js';
import { waveLikeness } from '../../telephone/heard-calls.js';
import { latePorts } from '../../fakes/free-port.js';
import { baresipIn, type JoinedPeer, linphoneIn, sippIn } from './joined-peer.js';
import { kept } from './kept.js';
import { RtpPeer } from './rtp-peer.js';
import { continuity, g711Sound } from './rtp-record.js';
import { Sipp } from './sipp.js';
import { TelephoneServer } from './telephone-server.js';

/** Left to `npm run test:long`. */
const ONLY_LONG = { skip: !isLong };
const ALIKE = 0.95; // correlation of waveforms, through G.711
const HEARD_S = 4; // longer than a sentence and the silence behind it
const LOSS = 0.15;

let server: TelephoneServer;
let certificates: Issued;
let sentences: readonly Float32Array[];
const lossyDesk = { port: 0, sippPort: 0 };
let desk: ImpairedRelay;
const folder = mkdtempSync(join(tmpdir(), 'parley-joined-'));

before(async () => {
  certificates = await issueCertificates();
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const { cert, key } = certificates.server;
  lossyDesk.sippPort = await latePorts(2);
  const loss = { lossShare: LOSS };
  desk = await ImpairedRelay.open({ serverPort: lossyDesk.sippPort, seed: SEED, up: loss, down: loss });
  const environment = {
    SIP_TLS_CERT: file('cert', cert),
    SIP_TLS_KEY: file('key', key),
    SIP_DIRECT_CALLS: '1',
    SIP_TRANSFERS: 'any',
  };
  const routes = [
    { to: 'desk', bridge: { to: `sip:desk@127.0.0.1:${desk.port}`, ringTimeout: 30 } },
    { wait: {} },
  ];
  server = await TelephoneServer.start(environment, { routes });
  const texts = ['Good morning, first floor.', 'The parcel is here at last.', 'We close at five today.'];
  sentences = await Promise.all(texts.map(async (text) => (await server.rendered(text)).samples));
});
after(async () => {
  await server.close();
  await desk.close();
  rmSync(folder, { recursive: true });
});

type Kind = (t: TestContext, says: Float32Array) => Promise<JoinedPeer>;

const KINDS: Readonly<Record<string, Kind>> = {
  'baresip over TLS with SRTP': (t, says) =>
    baresipIn(t, server, says, {
      transport: 'tls',
      encryption: 'srtp-mand',
      certificate: certificates.client,
      authority: certificates.ca,
    }),
  'Linphone over TCP with SRTP in the A-law': (t, says) =>
    linphoneIn(t, server, says, { transport: 'tcp', encryption: 'srtp', codecs: ['PCMA'] }),
  'baresip over UDP': (t, says) => baresipIn(t, server, says),
  'Linphone over UDP': (t, says) => linphoneIn(t, server, says),
  'baresip over TCP in the A-law': (t, says) =>
    baresipIn(t, server, says, { transport: 'tcp', codecs: ['PCMA/8000/1'] }),
  'Linphone over TLS with SRTP': (t, says) =>
    linphoneIn(t, server, says, { transport: 'tls', encryption: 'srtp' }),
};

const NAMES = Object.keys(KINDS);
const PAIRS = NAMES.flatMap((one, n) => NAMES.slice(n + 1).map((other) => [one, other] as const));
const sentence = (n: number) => sentences[n] ?? new Float32Array();
const come = (t: TestContext, kind: string, n: number) => (KINDS[kind] as Kind)(t, sentence(n));

async function ask(method: string, path: string, body?: object): Promise<number> {
  const json = { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
  const answer = await fetch(`${server.server.url}/v1${path}`, {
    method,
    ...(body === undefined ? {} : json),
  });
  await answer.arrayBuffer();
  return answer.status;
}

const stateOf = (id: string) => server.telephone.get(id).state;
const endOf = (id: string) => until(() => stateOf(id) === 'ended');

/** Resolves when the server has received packets of so many seconds from each of the calls. */
async function pass(seconds: number, calls: number): Promise<void> {
  const { telephone } = server;
  for (let second = 0; second < seconds; second++) {
    const from = telephone.packets.received;
    await until(() => telephone.packets.received >= from + 50 * calls);
  }
}

const loudest = (samples: Float32Array) =>
  samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);

async function bridged(one: { readonly id: string }, other: { readonly id: string }): Promise<void> {
  assert.equal(await ask('POST', `/calls/${one.id}/bridge`, { call: other.id }), 201);
}

function assertHeard(by: JoinedPeer | { heard(): Float32Array }, said: Float32Array, what: string): void {
  const likeness = waveLikeness(said, by.heard());
  assert.ok(likeness > ALIKE, `${what}: ${likeness}`);
}

// One of each in the usual run, the others in the long one.
for (const [one, other] of isLong ? PAIRS : PAIRS.slice(0, 1)) {
  test(`${one} and ${other} hear each other, and keys go across`, async (t) => {
    const [a, b] = [await come(t, one, 0), await come(t, other, 1)];
    await bridged(a, b);
    await pass(HEARD_S, 2);
    await b.press('7');
    await until(() => server.telephone.get(b.id).digits.length === 1);
    if (one.startsWith('baresip')) await until(() => a.digits().includes('7'));
    await b.hangUp();
    await endOf(b.id);
    assert.equal(stateOf(a.id), 'connected');
    await a.hangUp();
    await endOf(a.id);
    assertHeard(a, b.says, `${one} hears ${other}`);
    assertHeard(b, a.says, `${other} hears ${one}`);
  });
}

const HOLDERS: Readonly<Record<string, Kind>> = {
  baresip: (t, says) => baresipIn(t, server, says),
  Linphone: (t, says) => linphoneIn(t, server, says),
};

for (const [name, open] of Object.entries(HOLDERS).slice(0, isLong ? 2 : 1)) {
  test(`${name} holds, and the other one hears music; it asks for a transfer, and the bridge goes on`, async (t) => {
    const a = await open(t, sentence(0));
    const b = await sippIn(t, server, sentence(1), 'call-basic', { holdMs: 30_000 });
    await bridged(a, b);
    await a.hold(true);
    await until(() => stateOf(a.id) === 'held');
    const before = b.heard().length;
    await pass(2, 1);
    const music = b.heard().subarray(before);
    assert.ok(loudest(music) > 0.02, 'music');
    assert.ok(waveLikeness(a.says, music) < 0.8, 'nothing of the call');
    await a.hold(false);
    await until(() => stateOf(a.id) === 'connected');
    const rtp = await kept(t, RtpPeer.open());
    const options = { keys: { rtp_port: rtp.port }, holdMs: 20_000, limitS: 40 };
    const other = await kept(t, Sipp.answer('answer-basic', options));
    await a.refer(`sip:carol@127.0.0.1:${other.address.port}`);
    await until(() => rtp.heard.length > 50);
    await pass(HEARD_S, 1);
    const heard = waveLikeness(b.says, g711Sound(rtp.heard));
    assert.ok(heard > ALIKE, `the new far end hears the other one: ${heard}`);
    assert.equal(stateOf(a.id), 'connected', 'the call has another far end');
    await Promise.all([server.telephone.hangUp(a.id), server.telephone.hangUp(b.id)]);
  });
}

test('SIPp asks for a transfer, and its bridge goes on with the new far end', ONLY_LONG, async (t) => {
  const rtp = await kept(t, RtpPeer.open());
  const options = { keys: { rtp_port: rtp.port }, holdMs: 20_000, limitS: 40 };
  const other = await kept(t, Sipp.answer('answer-basic', options));
  const refer_to = `sip:carol@127.0.0.1:${other.address.port}`;
  const a = await sippIn(t, server, sentence(0), 'call-refers', { holdMs: 2000, keys: { refer_to } });
  const b = await sippIn(t, server, sentence(1), 'call-basic', { holdMs: 30_000 });
  await bridged(a, b);
  await until(() => rtp.heard.length > 50);
  await pass(HEARD_S, 1);
  const heard = waveLikeness(b.says, g711Sound(rtp.heard));
  assert.ok(heard > ALIKE, `${heard}`);
  await Promise.all([server.telephone.hangUp(a.id), server.telephone.hangUp(b.id)]);
});

test('two Linphones are asked to leave the path, and talk without the server', async (t) => {
  const [a, b] = [await linphoneIn(t, server, sentence(0)), await linphoneIn(t, server, sentence(1))];
  assert.equal(await ask('POST', `/calls/${a.id}/bridge`, { call: b.id, leave_path: true }), 201);
  await Promise.all([endOf(a.id), endOf(b.id)]);
  assert.equal(server.telephone.get(a.id).end?.reason, 'transferred');
  const { received } = server.telephone.packets;
  await a.established(2);
  await b.hangUp();
  assert.ok(server.telephone.packets.received - received < 50, 'their sound does not come here');
});

test('a leg that changes its codec, and one that holds, do not disturb the stream of the other leg', async (t) => {
  const a = await sippIn(t, server, sentence(0), 'call-codec-change', { holdMs: 2000 });
  const b = await sippIn(t, server, sentence(1), 'call-hold-sendonly', { holdMs: 2500 });
  await bridged(a, b);
  const c = await sippIn(t, server, sentence(2), 'call-basic', { holdMs: 12_000 });
  const d = await sippIn(t, server, sentence(0), 'call-basic', { holdMs: 12_000 });
  await bridged(c, d);
  await Promise.all([a.sipp.succeeded(), b.sipp.succeeded()]);
  for (const { rtp } of [b, c, d]) {
    const { lost, disordered, sources } = continuity(rtp.heard);
    assert.deepEqual([lost, disordered, sources.length], [0, 0, 1]);
  }
  const witness = continuity(d.rtp.heard);
  assert.equal(witness.timestampBreaks, 0);
  assertHeard(b, a.says, 'the other leg hears the first one');
  assertHeard(d, c.says, 'a witness bridge');
  await Promise.all([server.telephone.hangUp(c.id), server.telephone.hangUp(d.id)]);
});

test('baresip, Linphone and SIPp hear each other in a room', ONLY_LONG, async (t) => {
  const members = [
    await baresipIn(t, server, sentence(0)),
    await linphoneIn(t, server, sentence(1), { codecs: ['PCMA'] }),
    await sippIn(t, server, sentence(2), 'call-basic', { holdMs: 30_000 }),
  ];
  const [a, b, c] = members as [JoinedPeer, JoinedPeer, (typeof members)[2]];
  for (const { id } of members)
    assert.equal(await ask('POST', '/rooms/peers/members', { call: id, sounds: false }), 201);
  // One after the other, so that each voice is heard alone.
  for (const speaker of members) {
    for (const { id } of members)
      assert.equal(await ask('PATCH', `/rooms/peers/members/${id}`, { muted: id !== speaker.id }), 200);
    await pass(HEARD_S, 3);
  }
  await b.hangUp();
  await endOf(b.id);
  assert.equal(await ask('GET', '/rooms/peers'), 200);
  for (const listener of [a, b, c])
    for (const speaker of members)
      if (speaker.id !== listener.id)
        assertHeard(listener, speaker.says, `${listener.id} hears ${speaker.id}`);
  await Promise.all([server.telephone.hangUp(a.id), server.telephone.hangUp(c.id)]);
});

test('with 15 % of the signalling lost on both legs, every call is bridged and ends on both', async (t) => {
  const calls = isLong ? 100 : 10;
  const loss = { lossShare: LOSS };
  const relay = await kept(
    t,
    ImpairedRelay.open({ serverPort: server.address.port, seed: SEED + 1, up: loss, down: loss }),
  );
  const rtp = await kept(t, RtpPeer.open());
  const common = { keys: { rtp_port: rtp.port }, calls, perSecond: 5, limitS: 60 };
  const called = await kept(t, Sipp.answer('answer-lossy', { ...common, port: lossyDesk.sippPort }));
  const options = { ...common, service: 'desk', holdMs: 500 };
  const calling = await kept(t, Sipp.call({ host: '127.0.0.1', port: relay.port }, 'call-basic', options));
  const [one, other] = await Promise.all([calling.succeeded(), called.succeeded()]);
  assert.deepEqual([one.successful, other.successful], [calls, calls]);
  assert.ok(one.retransmissions > 0 && relay.counts.up.lost + desk.counts.down.lost > 0);
  await until(() => server.telephone.size === 0);
});
