// Whole calls that are joined over HTTP: real callers over SIP and RTP on loopback, and the media plane that
// users have. What one says, the others hear.
import assert from 'node:assert/strict';
import { after, before, test, type TestContext } from 'node:test';
import { until } from '../fakes/until.js';
import { kept } from '../interop/telephone/kept.js';
import { readEvent, RtpPeer } from '../interop/telephone/rtp-peer.js';
import { TelephoneServer } from '../interop/telephone/telephone-server.js';
import { description, EVENTS, heardBy, type Law, mediaPortIn, waveLikeness } from './heard-calls.js';
import { callFrom, field, hangUp, okTo, type RawCall, UdpCaller } from './raw-caller.js';

let server: TelephoneServer;
let speech: Float32Array;

before(async () => {
  const bridge = { to: 'sip:desk@127.0.0.1', ringTimeout: 20 };
  server = await TelephoneServer.start(
    { SIP_DIRECT_CALLS: '1' },
    {
      routes: [
        { to: 'room', room: { name: 'lobby', sounds: false } },
        { to: 'bridge', bridge },
        { wait: {} },
      ],
    },
  );
  speech = (await server.rendered('Good morning, this is the first floor.')).samples;
});
after(() => server.close());

interface Caller {
  readonly signalling: UdpCaller;
  readonly rtp: RtpPeer;
  readonly dialog: RawCall;
  /** Id of the call at the server. */
  readonly id: string;
  readonly stream: ReturnType<RtpPeer['stream']>;
  readonly law: Law;
}

async function calls(
  t: TestContext,
  law: Law = 'mu',
  user = 'wait',
  headers: readonly string[] = [],
): Promise<Caller> {
  const signalling = await kept(t, UdpCaller.open(server.address));
  const rtp = await kept(t, RtpPeer.open());
  const known = new Set(server.telephone.list().map(({ id }) => id));
  const dialog = await callFrom(signalling, {
    uri: `sip:${user}@127.0.0.1`,
    headers,
    body: description(rtp.port, law),
  });
  const stream = rtp.stream({ host: '127.0.0.1', port: mediaPortIn(dialog.answer) }, { law });
  const isNew = ({ id, state }: { id: string; state: string }) => state === 'connected' && !known.has(id);
  await until(() => server.telephone.list().some(isNew));
  const { id = '' } = server.telephone.list().find(isNew) ?? {};
  await until(() => rtp.heard.length > 0);
  return { signalling, rtp, dialog, id, stream, law };
}

async function ask(method: string, path: string, body?: object) {
  const json = { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
  const answer = await fetch(`${server.server.url}/v1${path}`, {
    method,
    ...(body === undefined ? {} : json),
  });
  const text = await answer.text();
  return { status: answer.status, json: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>) };
}

async function says(caller: Caller, listeners: readonly Caller[]): Promise<readonly Float32Array[]> {
  const from = listeners.map(({ rtp }) => rtp.heard.length);
  const frames = Math.ceil(speech.length / 160);
  await caller.stream.play(speech);
  await until(() => listeners.every(({ rtp }, n) => rtp.heard.length >= (from[n] ?? 0) + frames + 20));
  return listeners.map((listener, n) => heardBy(listener, from[n]));
}

test('what one of two callers says the other one hears, bit for bit, and keys go across', async (t) => {
  const [a, b] = [await calls(t), await calls(t)];
  const made = await ask('POST', `/calls/${a.id}/bridge`, { call: b.id });
  assert.deepEqual([made.status, made.json['mode']], [201, 'relay']);
  const heard = [...(await says(a, [b])), ...(await says(b, [a]))];
  await a.stream.press('5');
  const pressed = () =>
    b.rtp.heard.find(
      ({ payloadType, payload }) => payloadType === EVENTS && readEvent(payload)?.digit === '5',
    );
  await until(() => pressed() !== undefined);
  assert.equal((await ask('DELETE', `/calls/${b.id}/bridge`)).status, 204);
  const [after = new Float32Array()] = await says(a, [b]);
  await hangUp(a.signalling, a.dialog);
  await hangUp(b.signalling, b.dialog);
  assert.ok(
    after.every((sample) => Math.abs(sample) < 0.001),
    'nothing is heard any more',
  );
  const likenesses = heard.map((one) => waveLikeness(speech, one));
  assert.ok(Math.min(...likenesses) > 0.98, likenesses.join(' '));
});

test('callers of two codecs hear each other, and one that hangs up leaves the other one', async (t) => {
  const [a, b] = [await calls(t, 'mu'), await calls(t, 'a')];
  const made = await ask('POST', `/calls/${a.id}/bridge`, { call: b.id });
  assert.deepEqual([made.status, made.json['mode']], [201, 'mixed']);
  const heard = [...(await says(a, [b])), ...(await says(b, [a]))];
  await hangUp(b.signalling, b.dialog);
  await until(() => server.telephone.get(b.id).state === 'ended');
  assert.equal(server.telephone.get(a.id).state, 'connected');
  assert.equal((await ask('POST', `/calls/${a.id}/say`, { text: 'He has left.' })).status, 202);
  await hangUp(a.signalling, a.dialog);
  const likenesses = heard.map((one) => waveLikeness(speech, one));
  assert.ok(Math.min(...likenesses) > 0.95, likenesses.join(' '));
});

test('a rule brings callers into a room, where each hears the others and not itself', async (t) => {
  const members = [await calls(t, 'mu', 'room'), await calls(t, 'a', 'room'), await calls(t, 'mu', 'room')];
  const [a, b, c] = members as [Caller, Caller, Caller];
  await until(async () => {
    const { json } = await ask('GET', '/rooms/lobby');
    return (json['members'] as object[] | undefined)?.length === 3;
  });
  const [own, ...others] = await says(a, [a, b, c]);
  assert.ok(
    own?.every((sample) => Math.abs(sample) < 0.001),
    'its own voice',
  );
  assert.equal((await ask('PATCH', `/rooms/lobby/members/${a.id}`, { muted: true })).status, 200);
  const [muted = new Float32Array()] = await says(a, [b]);
  assert.ok(
    muted.every((sample) => Math.abs(sample) < 0.01),
    'muted',
  );
  for (const { signalling, dialog } of members) await hangUp(signalling, dialog);
  await until(async () => (await ask('GET', '/rooms/lobby')).status === 404);
  const likenesses = others.map((one) => waveLikeness(speech, one));
  assert.ok(Math.min(...likenesses) > 0.95, likenesses.join(' '));
});

test('a caller waits with music until a colleague takes the call', async (t) => {
  const [a, b] = [await calls(t), await calls(t)];
  const from = a.rtp.heard.length;
  assert.equal((await ask('POST', '/queues/support/members', { call: a.id })).status, 201);
  await until(() => a.rtp.heard.length > from + 50);
  assert.ok(
    heardBy(a, from).some((sample) => Math.abs(sample) > 0.02),
    'music',
  );
  const taken = await ask('POST', '/queues/support/next', { call: b.id });
  assert.deepEqual([taken.status, taken.json['call']], [201, a.id]);
  const [heard = new Float32Array()] = await says(b, [a]);
  await hangUp(a.signalling, a.dialog);
  await hangUp(b.signalling, b.dialog);
  assert.ok(waveLikeness(speech, heard) > 0.95);
});

test('a caller hears ringing until a call that is placed is answered, and leaves with it', async (t) => {
  const a = await calls(t);
  const desk = await kept(t, UdpCaller.open(server.address));
  const rtp = await kept(t, RtpPeer.open());
  const from = a.rtp.heard.length;
  const to = `sip:desk@127.0.0.1:${desk.local.port}`;
  const made = await ask('POST', `/calls/${a.id}/bridge`, { to, early_media: false });
  assert.deepEqual([made.status, made.json['state']], [201, 'ringing']);
  await until(() => a.rtp.heard.length > from + 50);
  assert.ok(
    heardBy(a, from).some((sample) => Math.abs(sample) > 0.02),
    'ring-back',
  );
  const invite = desk.heard.find((message) => message.startsWith('INVITE')) ?? '';
  const body = description(rtp.port, 'mu');
  const own = [
    `Contact: <sip:desk@127.0.0.1:${desk.local.port}>`,
    'Content-Type: application/sdp',
    `Content-Length: ${body.length}`,
  ];
  desk.send(okTo(invite, 200, 'desk').replace(/Content-Length: 0\r\n\r\n$/, [...own, '', body].join('\r\n')));
  await until(() => desk.heard.some((message) => message.startsWith('ACK')));
  await until(async () => rtp.heard.length > 0);
  const heardAtDesk = rtp.heard.length;
  await a.stream.play(speech);
  await until(() => rtp.heard.length > heardAtDesk + speech.length / 160);
  const heard = heardBy({ rtp, law: 'mu' }, heardAtDesk);
  await hangUp(a.signalling, a.dialog);
  await until(() => desk.heard.some((message) => message.startsWith('BYE')));
  const bye = desk.heard.find((message) => message.startsWith('BYE')) ?? '';
  desk.send(okTo(bye));
  assert.equal(field(invite, 'Max-Forwards'), '69');
  assert.ok(waveLikeness(speech, heard) > 0.95);
});

test('a bridge over HTTP goes on with the way of the caller, and refuses to go in a circle', async (t) => {
  const history = '<sip:desk@127.0.0.1:9>;index=1, <sip:wait@127.0.0.1>;index=1.1';
  const a = await calls(t, 'mu', 'wait', [`History-Info: ${history}`]);
  const looped = await ask('POST', `/calls/${a.id}/bridge`, { to: 'sip:desk@127.0.0.1:9' });
  assert.deepEqual([looped.status, (looped.json['error'] as { code: string }).code], [409, 'call_loop']);
  const desk = await kept(t, UdpCaller.open(server.address));
  const to = `sip:desk@127.0.0.1:${desk.local.port}`;
  assert.equal((await ask('POST', `/calls/${a.id}/bridge`, { to })).status, 201);
  await until(() => desk.heard.some((message) => message.startsWith('INVITE')));
  const invite = desk.heard.find((message) => message.startsWith('INVITE')) ?? '';
  const entries = [...invite.matchAll(/^History-Info: (.*)\r$/gm)].map(([, value]) => value);
  assert.deepEqual(entries, [...history.split(', '), `<${to}>;index=1.1.1;mp=1.1`]);
  assert.equal(field(invite, 'Max-Forwards'), '69');
  desk.send(okTo(invite, 486, 'desk'));
  await hangUp(a.signalling, a.dialog);
});
