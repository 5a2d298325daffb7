// Callers that a rule bridges, over SIP and RTP on loopback: a caller is answered when the far end answers,
// and hears until then what the far end sends.
import assert from 'node:assert/strict';
import { after, before, test, type TestContext } from 'node:test';
import { until } from '../fakes/until.js';
import { kept } from '../interop/telephone/kept.js';
import { freePorts, latePorts } from '../fakes/free-port.js';
import { RtpPeer } from '../interop/telephone/rtp-peer.js';
import { TelephoneServer } from '../interop/telephone/telephone-server.js';
import { description, heardBy, mediaPortIn, waveLikeness } from './heard-calls.js';
import { field, finalOf, idOf, okTo, request, statusOf, UdpCaller } from './raw-caller.js';

let server: TelephoneServer;
let speech: Float32Array;
let deskPort: number;
let serverPort: number;

before(async () => {
  [deskPort, serverPort] = [await latePorts(), await freePorts(2)];
  const to = `sip:desk@127.0.0.1:${deskPort}`;
  server = await TelephoneServer.start(
    { SIP_DIRECT_CALLS: '1', SIP_DESTINATIONS: '@127.0.0.1', SIP_PORT: `${serverPort}` },
    {
      routes: [
        { to: 'desk', bridge: { to, ringTimeout: 20 } },
        { to: 'rings', bridge: { to, ringTimeout: 20, earlyMedia: false } },
        { to: 'brief', bridge: { to, ringTimeout: 1 } },
        { to: 'one', bridge: { to: `sip:two@127.0.0.1:${serverPort}` } },
        { to: 'two', bridge: { to: `sip:one@127.0.0.1:${serverPort}` } },
        { to: 'forbidden', bridge: { to: 'sip:other@localhost' } },
        { to: 'nobody', bridge: { to: 'sip:desk@127.0.0.1:9;transport=tcp' } },
      ],
    },
  );
  speech = (await server.rendered('Good morning, this is the first floor.')).samples;
});
after(() => server.close());

/** A caller that has sent its INVITE, and the desk that got one for it. */
async function dialled(t: TestContext, user: string) {
  const caller = await kept(t, UdpCaller.open(server.address));
  const desk = await kept(t, UdpCaller.open(server.address, '127.0.0.1', deskPort));
  const [rtp, deskRtp] = [await kept(t, RtpPeer.open()), await kept(t, RtpPeer.open())];
  const callId = `${user}-${caller.local.port}@test`;
  const id = { callId, fromTag: 'caller' };
  const uri = `sip:${user}@127.0.0.1`;
  const branch = `z9hG4bK${caller.local.port}`;
  caller.send(request(caller, { uri, ...id, branch, body: description(rtp.port, 'mu') }));
  await until(() => desk.heard.some((message) => message.startsWith('INVITE')));
  const invite = desk.heard.find((message) => message.startsWith('INVITE')) ?? '';
  /** The desk answers its INVITE, with its description if `described`. */
  const answer = (status: number, described = false) => {
    const body = described ? description(deskRtp.port, 'mu') : '';
    const own = [
      `Contact: <sip:desk@127.0.0.1:${deskPort}>`,
      ...(described ? ['Content-Type: application/sdp'] : []),
      `Content-Length: ${body.length}`,
      '',
      body,
    ];
    desk.send(okTo(invite, status, 'desk').replace(/Content-Length: 0\r\n\r\n$/, own.join('\r\n')));
  };
  const provisional = () => caller.heard.map(statusOf).filter((status) => status > 100 && status < 200);
  const cancel = () => caller.send(request(caller, { method: 'CANCEL', uri, ...id, branch }));
  const ack = (final: string) => {
    const toTag = /;tag=([^;\r]+)/.exec(field(final, 'To') ?? '')?.[1] ?? '';
    const isOk = statusOf(final) === 200;
    caller.send(request(caller, { method: 'ACK', uri, ...id, toTag, ...(isOk ? {} : { branch }) }));
    return { ...id, toTag, answer: final };
  };
  const heardAtDesk = (method: string) => desk.heard.find((message) => message.startsWith(method));
  /** The desk confirms what ends its call. */
  const ended = async (method: string) => {
    await until(() => heardAtDesk(method) !== undefined);
    desk.send(okTo(heardAtDesk(method) ?? ''));
    if (method === 'CANCEL') answer(487);
    await until(() => server.telephone.size === 0);
  };
  return { caller, desk, rtp, deskRtp, callId, invite, answer, provisional, cancel, ack, heardAtDesk, ended };
}

/** The desk's description came: its sound can go to the caller. */
function speaks(rtp: RtpPeer, message: string) {
  return rtp.stream({ host: '127.0.0.1', port: mediaPortIn(message) }, { law: 'mu' });
}

test('a caller is answered when the far end answers, and both hear each other', async (t) => {
  const { caller, rtp, deskRtp, callId, invite, answer, provisional, ack, ended, heardAtDesk } =
    await dialled(t, 'desk');
  assert.deepEqual(provisional(), [], 'nobody rings yet');
  answer(180);
  await until(() => provisional().length > 0);
  assert.deepEqual(provisional(), [180]);
  assert.ok(!caller.heard.some((message) => statusOf(message) === 200));
  const fromDesk = speaks(deskRtp, invite);
  answer(200, true);
  const final = await finalOf(caller, callId);
  assert.equal(statusOf(final), 200);
  const fromCaller = speaks(rtp, final);
  const dialog = ack(final);
  await until(() => server.telephone.list().filter(({ state }) => state === 'connected').length === 2);
  await until(() => rtp.heard.length > 10 && deskRtp.heard.length > 10);
  const [before, beforeDesk] = [rtp.heard.length, deskRtp.heard.length];
  await Promise.all([fromDesk.play(speech), fromCaller.play(speech)]);
  const frames = speech.length / 160;
  await until(() => rtp.heard.length > before + frames && deskRtp.heard.length > beforeDesk + frames);
  const heard = [heardBy({ rtp, law: 'mu' }, before), heardBy({ rtp: deskRtp, law: 'mu' }, beforeDesk)];
  caller.send(request(caller, { method: 'BYE', ...idOf(dialog), cseq: 2 }));
  assert.equal(statusOf(await finalOf(caller, callId, 'BYE')), 200);
  await ended('BYE');
  assert.ok(heardAtDesk('ACK') !== undefined);
  const likenesses = heard.map((one) => waveLikeness(speech, one));
  assert.ok(Math.min(...likenesses) > 0.95, likenesses.join(' '));
});

test('a caller hears the sound that the far end sends before its answer', async (t) => {
  const { caller, rtp, deskRtp, callId, invite, answer, provisional, ack, ended } = await dialled(t, 'desk');
  answer(183, true);
  await until(() => provisional().includes(183));
  const progress = caller.heard.find((message) => statusOf(message) === 183) ?? '';
  assert.ok(mediaPortIn(progress) > 0);
  speaks(rtp, progress);
  await until(() => rtp.heard.length > 0);
  const before = rtp.heard.length;
  await speaks(deskRtp, invite).play(speech);
  await until(() => rtp.heard.length > before + speech.length / 160);
  const heard = heardBy({ rtp, law: 'mu' }, before);
  assert.ok(!caller.heard.some((message) => statusOf(message) === 200));
  answer(486);
  const final = await finalOf(caller, callId);
  ack(final);
  assert.equal(statusOf(final), 486);
  await until(() => server.telephone.size === 0);
  assert.ok(ended !== undefined && waveLikeness(speech, heard) > 0.95);
});

test('without early media a caller hears its own ringing, whatever the far end sends', async (t) => {
  const { caller, callId, answer, provisional, ack } = await dialled(t, 'rings');
  answer(183, true);
  await until(() => provisional().length > 0);
  assert.deepEqual(provisional(), [180]);
  answer(603);
  const final = await finalOf(caller, callId);
  ack(final);
  assert.deepEqual([statusOf(final), provisional()], [603, [180]]);
  await until(() => server.telephone.size === 0);
});

for (const [status, passed] of [
  [486, 486],
  [404, 404],
  [600, 600],
  [401, 480],
  [503, 500],
] as const) {
  test(`a far end that refuses with ${status} has the caller refused with ${passed}`, async (t) => {
    const { caller, desk, callId, answer, ack } = await dialled(t, 'desk');
    answer(status);
    const final = await finalOf(caller, callId);
    ack(final);
    assert.equal(statusOf(final), passed);
    assert.ok(desk.heard.length > 0);
    await until(() => server.telephone.size === 0);
  });
}

test('a far end that does not answer has the caller refused, and is cancelled', async (t) => {
  const { caller, callId, answer, ack, ended } = await dialled(t, 'brief');
  answer(180);
  const final = await finalOf(caller, callId);
  ack(final);
  assert.equal(statusOf(final), 480);
  assert.match(field(final, 'Reason') ?? '', /Q\.850;cause=19/);
  await ended('CANCEL');
});

test('a caller that gives up takes the call to the far end back', async (t) => {
  const { caller, callId, answer, cancel, ack, ended } = await dialled(t, 'desk');
  answer(180);
  await until(() => caller.heard.some((message) => statusOf(message) === 180));
  cancel();
  const final = await finalOf(caller, callId);
  ack(final);
  assert.equal(statusOf(final), 487);
  await ended('CANCEL');
});

test('a destination that is not allowed, or that cannot be reached, refuses the caller', async (t) => {
  for (const [user, expected] of [
    ['forbidden', 403],
    ['nobody', 502],
  ] as const) {
    const caller = await kept(t, UdpCaller.open(server.address));
    const callId = `${user}@test`;
    caller.send(request(caller, { uri: `sip:${user}@127.0.0.1`, callId }));
    assert.equal(statusOf(await finalOf(caller, callId)), expected);
    await until(() => server.telephone.size === 0);
  }
});

test('a call that would go in a circle between two addresses is refused as a loop', async (t) => {
  const caller = await kept(t, UdpCaller.open(server.address));
  const callId = 'loop@test';
  caller.send(request(caller, { uri: 'sip:one@127.0.0.1', callId }));
  assert.equal(statusOf(await finalOf(caller, callId)), 482);
  await until(() => server.telephone.size === 0);
  const called = server.telephone.list().filter(({ to }) => to.startsWith('sip:two@'));
  assert.equal(called.filter(({ direction }) => direction === 'outbound').length, 1);
});

test('the far end gets the hops of the caller less one, and its history', async (t) => {
  const { invite, cancel, answer, ended } = await dialled(t, 'desk');
  answer(180);
  assert.equal(field(invite, 'Max-Forwards'), '69');
  const history = [...invite.matchAll(/^History-Info: (.*)\r$/gm)].map(([, value]) => value);
  assert.deepEqual(history, [
    '<sip:desk@127.0.0.1>;index=1',
    `<sip:desk@127.0.0.1:${deskPort}>;index=1.1;mp=1`,
  ]);
  cancel();
  await ended('CANCEL');
});
