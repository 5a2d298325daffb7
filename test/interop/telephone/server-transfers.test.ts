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
import { loudness, voiced, type Sound } from './sound-shape.js';
import { GREETING, TelephoneServer } from './telephone-server.js';

const RATE = 16_000;
const SPEECH: Sound = {
  rate: RATE,
  samples: Float32Array.from({ length: 20 * RATE }, (_, n) => ([0.2, 0, 0.5, 0.3, 0, 0.4][Math.floor(n / (0.2 * RATE)) % 6] ?? 0) * Math.sin((2 * Math.PI * 500 * n) / RATE)),
}; // prettier-ignore

let server: TelephoneServer;

before(async () => {
  server = await TelephoneServer.start({ SIP_TRANSFERS: 'any' });
});
after(() => server.close());

const uriOf = ({ port }: Address): string => `sip:carol@127.0.0.1:${port}`;

async function callee(t: TestContext, scenario: string): Promise<{ readonly sipp: Sipp; readonly rtp: RtpPeer }> {
  const rtp = await kept(t, RtpPeer.open());
  const sipp = await kept(t, Sipp.answer(scenario, { keys: { rtp_port: rtp.port }, holdMs: 300, limitS: 25 }));
  return { sipp, rtp };
} // prettier-ignore

async function connectedTo(uri: string): Promise<string> {
  const { id } = await server.telephone.place({ to: uri });
  await until(() => server.telephone.get(id).state === 'connected');
  return id;
}

test('whom the server has called is sent elsewhere', async (t) => {
  const { sipp } = await callee(t, 'answer-is-transferred');
  const id = await connectedTo(uriOf(sipp.address));
  const outcome = await server.telephone.transfer(id, { to: 'sip:dave@127.0.0.1' });
  assert.deepEqual(outcome, { accepted: true, status: 200 });
  await sipp.succeeded();
  assert.match(sipp.messages(), /Refer-To: <sip:dave@127\.0\.0\.1>/);
  assert.equal(server.telephone.get(id).end?.reason, 'transferred');
});

test('an attended transfer names the other call as the far end there knows it', async (t) => {
  const [one, other] = [await callee(t, 'answer-is-transferred'), await callee(t, 'answer-basic')];
  const id = await connectedTo(uriOf(one.sipp.address));
  const otherId = await connectedTo(uriOf(other.sipp.address));
  const outcome = await server.telephone.transfer(id, { call: otherId });
  assert.deepEqual(outcome, { accepted: true, status: 200 });
  await one.sipp.succeeded();
  await server.telephone.hangUp(otherId);
  await other.sipp.succeeded();
  const there = other.sipp.messages();
  const [, callId = '', ours = '', theirs = ''] = [/Call-ID: (\S+)/, /From: \S+;tag=(\S+)/, /To: \S+;tag=(\S+)/].reduce<string[]>((found, pattern) => [...found, pattern.exec(there)?.[1] ?? ''], ['']); // prettier-ignore
  const referred = decodeURIComponent(/Refer-To: <([^>]*)>/.exec(one.sipp.messages())?.[1] ?? '');
  assert.match(referred, new RegExp(`^sip:sipp@127\\.0\\.0\\.1:${other.sipp.address.port}`));
  assert.ok(referred.includes(`Replaces=${callId};to-tag=${theirs};from-tag=${ours}`), referred);
});

test('two baresips that the server has called are joined, and hear each other', async (t) => {
  const one = await kept(t, Baresip.start({ user: 'one', answers: 'auto', says: SPEECH, codecs: ['PCMU/8000/1'] })); // prettier-ignore
  const other = await kept(t, Baresip.start({ user: 'other', answers: 'auto', codecs: ['PCMU/8000/1'] }));
  const [id, otherId] = [await connectedTo(one.uri), await connectedTo(other.uri)];
  const outcome = await server.telephone.transfer(id, { call: otherId });
  assert.deepEqual(outcome, { accepted: true, status: 200 });
  await other.until(
    'hear the other one',
    8000,
    () => voiced(other.heard().samples, other.heard().rate).length > other.heard().rate,
  );
  assert.equal(server.telephone.get(id).end?.reason, 'transferred');
});

test('a caller has itself put through: the text goes on at the target from where it stopped', async (t) => {
  const { sipp, rtp } = await callee(t, 'answer-basic');
  const first = await kept(t, RtpPeer.open());
  const keys = { rtp_port: first.port, refer_to: uriOf(sipp.address) };
  const known = new Set(server.telephone.list().map(({ id }) => id));
  const caller = await kept(t, Sipp.call(server.address, 'call-refers', { keys, holdMs: 1200, limitS: 25 }));
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
  // Whoever has left hears the first part, the target the rest: together they are the whole, once.
  const parts = [first, rtp].map(({ heard }) => voiced(g711Sound(heard), 8000));
  assert.ok(
    parts.every(({ length }) => length > 4000),
    `${parts.map(({ length }) => length).join(' and ')} samples of speech`,
  );
  const loud = (samples: Float32Array): number =>
    loudness(samples, 8000, 20).filter((level) => level > 0.01).length;
  const missing =
    loud((await server.rendered(GREETING)).samples) - parts.reduce((sum, part) => sum + loud(part), 0);
  assert.ok(Math.abs(missing) <= 5, `${missing} frames of 20 ms, of which few are only half loud`);
  assert.deepEqual([continuity(first.heard).lost, continuity(rtp.heard).lost], [0, 0]);
});

test('a target that is busy is told to the caller, whose call goes on', async (t) => {
  const { sipp } = await callee(t, 'answer-busy');
  const keys = { rtp_port: 9, refer_to: uriOf(sipp.address) };
  const caller = await kept(t, Sipp.call(server.address, 'call-refers', { keys, holdMs: 100 }));
  await Promise.all([caller.succeeded(), sipp.succeeded()]);
  assert.match(caller.messages(), /Subscription-State: terminated[^]*SIP\/2\.0 486 Busy Here/);
  await until(() => server.telephone.list()[0]?.end?.reason === 'peer hung up');
});

test('whom the server has called may have itself put through, too', async (t) => {
  const { sipp } = await callee(t, 'answer-basic');
  const keys = { rtp_port: 9, refer_to: uriOf(sipp.address) };
  const asking = await kept(t, Sipp.answer('answer-refers', { keys }));
  const { id } = await server.telephone.place({ to: uriOf(asking.address) });
  await asking.succeeded();
  assert.equal(server.telephone.get(id).state, 'connected');
  await server.telephone.hangUp(id);
  await sipp.succeeded();
});

test('a caller has the server take the place of a dialog elsewhere', async (t) => {
  const { sipp } = await callee(t, 'answer-basic');
  const replaced = { replaced_call: 'elsewhere', replaced_to_tag: 'to-1', replaced_from_tag: 'from-1' };
  const keys = { rtp_port: 9, refer_to: uriOf(sipp.address), ...replaced };
  const caller = await kept(t, Sipp.call(server.address, 'call-refers-to-replace', { keys }));
  await caller.succeeded();
  await server.telephone.hangUp(server.telephone.list()[0]?.id ?? '');
  await sipp.succeeded();
  assert.match(sipp.messages(), /Replaces: elsewhere;to-tag=to-1;from-tag=from-1/);
});

test('an INVITE with Replaces moves the conversation to its sender', async (t) => {
  const [first, second] = [await kept(t, RtpPeer.open()), await kept(t, RtpPeer.open())];
  const keys = { rtp_port: first.port, second_rtp_port: second.port };
  const caller = await kept(t, Sipp.call(server.address, 'call-replaced', { keys, holdMs: 1000 }));
  await caller.succeeded();
  const spoken = [first, second].map(({ heard }) => voiced(g711Sound(heard), 8000).length);
  assert.ok(spoken.every((samples) => samples > 4000), `${spoken.join(' and ')} samples of speech`);
  assert.deepEqual([continuity(first.heard).lost, continuity(second.heard).lost], [0, 0]);
}); // prettier-ignore
