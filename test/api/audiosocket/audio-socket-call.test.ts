// Calls of Asterisk's AudioSocket over TCP on loopback, and far ends that are broken or hostile.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MediaPort } from '../../../src/call/call-route.js';
import { MU_LAW_VALUES } from '../../../src/codecs/g711.js';
import { openCalls } from '../../fakes/call-under-test.js';
import { buzz } from '../../fakes/engines.js';
import { until } from '../../fakes/until.js';
import { FarEnd, message, UUID, uuidMessage } from './far-end.js';
import { openAudioSocket } from './open-audio-socket.js';
import { rejectionsOf } from '../../fakes/rejections.js';

const calls = openCalls();
const HALF = [MU_LAW_VALUES[0x8f], MU_LAW_VALUES[0x0f]]; // mu-law of +0.5 and -0.5 (ITU-T G.711)

const isHalf = (sound: Buffer) =>
  Array.from({ length: sound.length / 2 }, (_, n) => sound.readInt16LE(2 * n)).every(
    (sample, n) => sample === HALF[n % 2],
  );
const isSilent = (sound: Buffer) => sound.every((byte) => byte === 0);

test('a call is opened by its UUID, goes to the usual agent, and is heard by the far end each 20 ms', async (t) => {
  const under = await openAudioSocket(t, calls, { usual: 'front desk' });
  const { port, engine, opened, agents, handled, pass, log } = under;
  const farEnd = await FarEnd.call(t, port);
  const { call, from, direction } = await opened();
  assert.deepEqual([call.protocol, from, direction], ['audiosocket', `audiosocket:${UUID}`, 'inbound']);
  assert.deepEqual([agents, handled.length], [['front desk'], 1]);
  const line = log.find(({ message: text }) => text === 'AudioSocket call opened');
  assert.deepEqual([line?.['uuid'], line?.['call']], [UUID, call.id]);
  engine.sounds.set('Hello there.', buzz(60, 0.5));
  await call.speak('Hello there.').pushed;
  farEnd.received.length = 0;
  pass(200);
  await until(() => farEnd.sounds().length >= 10);
  const sounds = farEnd.sounds();
  assert.ok(sounds.every(({ length }) => length === 320));
  const first = sounds.findIndex((sound) => !isSilent(sound));
  assert.ok(sounds.slice(first, first + 3).every(isHalf));
  assert.ok(sounds.slice(first + 3).every(isSilent));
});

test('when the agent hangs up, the far end is sent the end of the call', async (t) => {
  const { port, opened, reasons, switchboard } = await openAudioSocket(t, calls);
  const farEnd = await FarEnd.call(t, port);
  await (await opened()).hangUp();
  await farEnd.hungUp();
  assert.deepEqual([reasons, switchboard.size], [['audiosocket: agent hung up'], 0]);
});

test('when the far end hangs up, by a message or by its connection, the call ends', async (t) => {
  const { port, opened, reasons, switchboard } = await openAudioSocket(t, calls);
  const byMessage = await FarEnd.call(t, port);
  await opened(0);
  byMessage.send(0x00);
  await until(() => reasons.length === 1);
  const byEnd = await FarEnd.call(t, port);
  await opened(1);
  byEnd.end();
  await until(() => reasons.length === 2);
  const byReset = await FarEnd.call(t, port);
  await opened(2);
  byReset.reset();
  await until(() => reasons.length === 3);
  assert.deepEqual(reasons, [
    'audiosocket: far end hung up',
    'audiosocket: far end hung up',
    'audiosocket: connection lost',
  ]);
  assert.equal(switchboard.size, 0);
});

test('the sound of the far end reaches those who listen to the call', async (t) => {
  const { port, opened, pass } = await openAudioSocket(t, calls);
  const farEnd = await FarEnd.call(t, port);
  const { call } = await opened();
  const ports: MediaPort[] = [];
  call.follow((given) => void ports.push(given));
  const { socket = assert.fail() } = ports[0] ?? {};
  const ring = socket.openEar({ channels: 1, capacityMs: 10_000 });
  const samples = new Float32Array(4096);
  let heard = 0;
  const tone = Buffer.alloc(320);
  for (let n = 0; n < 160; n++) tone.writeInt16LE(n % 16 < 8 ? 12_000 : -12_000, 2 * n);
  await until(() => {
    farEnd.send(0x10, tone);
    pass(20);
    for (let count = ring.read(samples); count > 0; count = ring.read(samples))
      heard += samples.subarray(0, count).filter((sample) => Math.abs(sample) > 0.1).length;
    return heard > 8000;
  });
  socket.closeEar(ring);
});

test('keys of the far end are keys of the call', async (t) => {
  const { port, opened, events } = await openAudioSocket(t, calls);
  const farEnd = await FarEnd.call(t, port);
  await opened();
  for (const key of '5#a') farEnd.send(0x03, Buffer.from(key));
  await until(() => events.length === 3);
  assert.deepEqual(
    events,
    ['5', '#', 'A'].map((digit) => ({ type: 'digit', digit })),
  );
});

test('a far end of 24 kHz is answered at 24 kHz, and one of 16 kHz at 16 kHz', async (t) => {
  const { port, opened, pass, plane } = await openAudioSocket(t, calls);
  const streams = plane.stats().streams;
  const farEnd = await FarEnd.call(t, port);
  const { call } = await opened();
  for (const [kind, bytes] of [
    [0x13, 960],
    [0x12, 640],
    [0x10, 320],
  ] as const) {
    farEnd.send(kind, Buffer.alloc(bytes));
    await until(() => (pass(20), farEnd.received.at(-1)?.kind === kind));
    assert.equal(farEnd.received.at(-1)?.payload.length, bytes);
  }
  assert.equal(call.codec.name, 'PCMU');
  assert.equal(plane.stats().streams, streams + 1, 'the ports before are closed');
});

test('a call begins at the rate of the first sound of its far end', async (t) => {
  const { port, opened, pass, handled, log } = await openAudioSocket(t, calls);
  const farEnd = await FarEnd.connect(t, port);
  farEnd.write(Buffer.concat([uuidMessage(), message(0x20)]));
  await until(() => log.length === 1);
  assert.equal(handled.length, 0);
  farEnd.send(0x12, Buffer.alloc(640));
  assert.equal((await opened()).call.codec.name, 'L16');
  await until(() => (pass(20), farEnd.sounds(0x12).length > 3));
  assert.ok(farEnd.received.every(({ kind }) => kind === 0x12));
});

test('a call begins without sound: after 300 ms, or with a key', async (t) => {
  const { port, time, opened, events, handled, log } = await openAudioSocket(t, calls);
  const mute = await FarEnd.connect(t, port);
  mute.write(Buffer.concat([uuidMessage(), message(0x20)]));
  await until(() => log.length === 1);
  time.advance(299);
  assert.equal(handled.length, 0);
  time.advance(1);
  assert.equal((await opened(0)).call.codec.name, 'PCMU');
  const pressing = await FarEnd.connect(t, port);
  pressing.write(Buffer.concat([uuidMessage(), message(0x03, Buffer.from('1'))]));
  await opened(1);
  assert.deepEqual(events, [{ type: 'digit', digit: '1' }]);
});

test('what comes behind the end of a call is not read', async (t) => {
  const { port, handled, time, switchboard } = await openAudioSocket(t, calls);
  const sound = message(0x10, Buffer.alloc(320));
  for (const messages of [
    [uuidMessage(), message(0x00), sound],
    [message(0x00), uuidMessage(), sound],
  ]) {
    const farEnd = await FarEnd.connect(t, port);
    farEnd.write(Buffer.concat(messages));
    await farEnd.hungUp();
  }
  await until(() => time.waiting === 0);
  time.advance(300);
  assert.deepEqual([handled.length, switchboard.size], [0, 0]);
});

test('the configured agent takes the calls, and with none nobody does', async (t) => {
  const sales = await openAudioSocket(t, calls, { agent: 'sales', usual: 'front desk' });
  await FarEnd.call(t, sales.port);
  await sales.opened();
  assert.deepEqual(sales.agents, ['sales']);
  const none = await openAudioSocket(t, calls, { agent: 'none', usual: 'front desk' });
  await FarEnd.call(t, none.port);
  await none.opened();
  assert.deepEqual([none.agents, none.switchboard.size], [[], 1]);
});

test('an agent that cannot take a call ends it', async (t) => {
  const { port, log, switchboard } = await openAudioSocket(t, calls, { agent: 'broken' });
  const farEnd = await FarEnd.call(t, port);
  await farEnd.hungUp();
  assert.equal(log.at(-1)?.['code'], 'NOT_FOUND');
  await until(() => switchboard.size === 0);
});

for (const [what, bytes, code] of [
  ['sound before the UUID', message(0x10, Buffer.alloc(320)), 'MALFORMED'],
  ['a key before the UUID', message(0x03, Buffer.from('1')), 'MALFORMED'],
  ['another protocol', Buffer.from('GET / HTTP/1.1\r\n\r\n'), undefined],
  ['a second UUID', Buffer.concat([uuidMessage(), uuidMessage()]), 'MALFORMED'],
  ['half a sample', Buffer.concat([uuidMessage(), message(0x10, Buffer.alloc(3))]), 'MALFORMED'],
  [
    'seconds in one message',
    Buffer.concat([uuidMessage(), message(0x10, Buffer.alloc(40_000))]),
    'TOO_LARGE',
  ],
  ['sound of 96 kHz', Buffer.concat([uuidMessage(), message(0x17, Buffer.alloc(4))]), 'NO_COMMON_CODEC'],
] as const) {
  test(`${what} ends the connection, with the reason in the log`, async (t) => {
    const { port, log, time, switchboard } = await openAudioSocket(t, calls);
    const farEnd = await FarEnd.connect(t, port);
    farEnd.write(bytes);
    if (code === undefined) {
      await until(() => time.waiting > 0);
      time.advance(5000); // its first bytes are the header of a message that never ends
    }
    await farEnd.hungUp();
    assert.equal(log.at(-1)?.['code'], code ?? 'TIMEOUT');
    await until(() => switchboard.size === 0);
  });
}

test('a far end that ends in the middle of a message is named in the log', async (t) => {
  const { port, log, opened, reasons } = await openAudioSocket(t, calls);
  const farEnd = await FarEnd.call(t, port);
  await opened();
  farEnd.write(message(0x10, Buffer.alloc(320)).subarray(0, 100));
  farEnd.end();
  await until(() => reasons.length === 1);
  assert.deepEqual([log.at(-1)?.['code'], reasons[0]], ['MALFORMED', 'audiosocket: far end failed']);
});

test('an error that the far end reports ends the call, and its code is in the log', async (t) => {
  const { port, log, opened } = await openAudioSocket(t, calls);
  const farEnd = await FarEnd.call(t, port);
  await opened();
  farEnd.send(0xff, Buffer.from([2]));
  await farEnd.hungUp();
  assert.equal(log.at(-1)?.['code'], 2);
});

test('messages of unknown kinds are left out, and each kind is named once', async (t) => {
  const { port, log, events, opened } = await openAudioSocket(t, calls);
  const farEnd = await FarEnd.call(t, port);
  await opened();
  for (const kind of [0x20, 0x21, 0x20]) farEnd.send(kind, Buffer.alloc(40_000));
  farEnd.send(0x03, Buffer.from('7'));
  await until(() => events.length === 1);
  assert.deepEqual(
    log.filter(({ kind }) => kind !== undefined).map(({ kind }) => kind),
    [0x20, 0x21],
  );
});

test('without a UUID within 5 s the connection ends', async (t) => {
  const { port, log, time } = await openAudioSocket(t, calls);
  const farEnd = await FarEnd.connect(t, port);
  farEnd.write(uuidMessage().subarray(0, 18));
  await until(() => time.waiting > 0);
  time.advance(4999);
  assert.equal(log.length, 0);
  time.advance(1);
  await farEnd.hungUp();
  assert.equal(log.at(-1)?.['code'], 'TIMEOUT');
});

test('a far end from which nothing comes for a minute has its call ended', async (t) => {
  const { port, log, opened, pass, reasons } = await openAudioSocket(t, calls, { usual: 'front desk' });
  const farEnd = await FarEnd.call(t, port);
  await opened();
  pass(60_000);
  assert.equal(reasons.length, 0);
  pass(100);
  await farEnd.hungUp();
  assert.equal(log.at(-1)?.['code'], 'TIMEOUT');
});

test('a call that nobody takes is ended, and the log names the variable of its bound', async (t) => {
  const { port, log, opened, pass, reasons } = await openAudioSocket(t, calls, { unansweredMs: 30_000 });
  const farEnd = await FarEnd.call(t, port);
  const { call } = await opened();
  pass(29_980);
  assert.equal(reasons.length, 0);
  pass(20);
  await farEnd.hungUp();
  await until(() => reasons.length > 0);
  assert.deepEqual(reasons, ['audiosocket: not answered']);
  const line = log.at(-1);
  assert.deepEqual([line?.['message'], line?.['call']], ['AudioSocket call not answered', call.id]);
  assert.match(String(line?.['reason']), /AUDIOSOCKET_UNANSWERED_SECONDS=30$/);
});

test('a call that an application takes in time goes on', async (t) => {
  const { port, opened, pass, reasons, openCalls, time } = await openAudioSocket(t, calls, { agent: 'none' });
  const farEnd = await FarEnd.call(t, port);
  const { call } = await opened();
  pass(20_000);
  openCalls.take(call.id, undefined, 'an application');
  pass(30_000);
  assert.deepEqual([reasons, farEnd.isClosed, time.waiting], [[], false, 0]);
});

test('calls belong to the API key that is configured, or to every key', async (t) => {
  const all = await openAudioSocket(t, calls);
  await FarEnd.call(t, all.port);
  const { call: ofAll } = await all.opened();
  assert.equal(all.soundCalls.ownerOf(ofAll.id), undefined);
  const { port, opened, openCalls } = await openAudioSocket(t, calls, { key: 'shop' });
  await FarEnd.call(t, port);
  const { call } = await opened();
  assert.throws(() => openCalls.check(call.id, 'office'), { code: 'NOT_FOUND' });
  assert.equal(openCalls.check(call.id, 'shop').call, call);
});

test('a far end that sends more than a minute ahead of time has its call ended', async (t) => {
  const { port, log, opened } = await openAudioSocket(t, calls);
  const farEnd = await FarEnd.call(t, port);
  await opened();
  const second = message(0x10, Buffer.alloc(16_000));
  for (let n = 0; n < 62; n++) farEnd.write(second);
  await farEnd.hungUp();
  assert.equal(log.at(-1)?.['code'], 'QUEUE_FULL');
});

test('a far end that does not read has its call ended, and its connection too', async (t) => {
  const under = await openAudioSocket(t, calls, { usual: 'front desk' });
  const { port, log, opened, pass, time, reasons } = under;
  const farEnd = await FarEnd.call(t, port);
  const { call } = await opened();
  farEnd.pause();
  farEnd.send(0x16, Buffer.alloc(1920)); // 48 kHz: it fills the kernel's buffers soon
  await until(() => call.codec.name === 'L16');
  let frames = 0;
  await until(() => {
    farEnd.send(0x02);
    for (let n = 0; n < 10 && reasons.length === 0; n++, frames++) pass(20);
    return reasons.length > 0;
  });
  assert.deepEqual([log.at(-1)?.['code'], reasons], ['LISTENER_SLOW', ['audiosocket: far end failed']]);
  farEnd.resume();
  await farEnd.hungUp();
  // Beside the sound that it has not read, silence was not sent. The kernel may take some of it meanwhile.
  const leftOut = frames - farEnd.sounds(0x16).length;
  assert.ok(leftOut >= 80 && leftOut <= 200, String(leftOut));
  time.advance(2000);
  assert.equal(time.waiting, 0);
});

test('a far end that changes its rate again and again has its call ended', async (t) => {
  const { port, log, opened } = await openAudioSocket(t, calls);
  const farEnd = await FarEnd.call(t, port);
  await opened();
  for (let n = 0; n < 5; n++) for (const kind of [0x13, 0x10]) farEnd.send(kind, Buffer.alloc(2));
  await farEnd.hungUp();
  assert.equal(log.at(-1)?.['code'], 'MALFORMED');
});

test('beyond MAX_CALLS, and while the server drains, a call is ended at once', async (t) => {
  const { port, log, opened, switchboard, time } = await openAudioSocket(t, calls, { maxCalls: 1 });
  await FarEnd.call(t, port);
  const { call } = await opened();
  await (await FarEnd.call(t, port)).hungUp();
  assert.deepEqual([log.at(-1)?.['code'], log.at(-1)?.['uuid']], ['CALL_LIMIT', UUID]);
  const drained = switchboard.drain(60_000, time);
  await (await FarEnd.call(t, port)).hungUp();
  assert.equal(log.at(-1)?.['code'], 'CALL_CLOSED');
  await call.close('test over');
  await drained;
});

test('an address that is not allowed is not listened to', async (t) => {
  const { port, log } = await openAudioSocket(t, calls, { allow: ['192.0.2.0/24', 'fe80::1%eth0'] });
  const farEnd = await FarEnd.connect(t, port);
  await until(() => farEnd.isClosed);
  assert.deepEqual([farEnd.received, log.at(-1)?.['code']], [[], 'FORBIDDEN']);
});

test('no more than 64 connections wait for their UUID', async (t) => {
  const { port, log } = await openAudioSocket(t, calls);
  const waiting = await Promise.all(Array.from({ length: 64 }, () => FarEnd.connect(t, port)));
  const more = await FarEnd.connect(t, port);
  await until(() => more.isClosed);
  assert.equal(log.at(-1)?.['code'], 'OVERLOADED');
  assert.ok(waiting.every(({ isClosed }) => !isClosed));
});

test('the server ends its calls and connections when it closes, and a silent far end does not hold it', async (t) => {
  const under = await openAudioSocket(t, calls, { usual: 'front desk' });
  const { port, server, opened, reasons, time, plane } = under;
  const [farEnd, mute] = [await FarEnd.call(t, port), await FarEnd.connect(t, port)];
  await opened();
  await until(() => time.waiting === 1);
  const closed = server.close();
  assert.equal(server.close(), closed);
  await Promise.all([farEnd.hungUp(), mute.hungUp(), closed]);
  assert.deepEqual(reasons, ['audiosocket: server closing']);
  assert.deepEqual([time.waiting, plane.stats().streams, plane.stats().sockets], [0, 0, 0]);
});

test('a call over a socket whose frame cannot be handled ends, and is reported; others go on', async (t) => {
  const { soundCalls, pass, reasons, switchboard } = await openAudioSocket(t, calls);
  const request = { protocol: 'test', clients: [], owner: undefined, sends: 'L16', receives: 'L16' } as const;
  let frames = 0;
  soundCalls.open({ ...request, onFrame: () => void frames++ });
  const defect = () => {
    throw new Error('a defect');
  };
  const odd = soundCalls.open({ ...request, onFrame: defect });
  const rejections = await rejectionsOf(async () => {
    pass(20);
    await odd.call.closed;
  });
  assert.equal(String(rejections[0]), 'Defect: call: a defect');
  assert.deepEqual([reasons, switchboard.size], [['test: server failed'], 1]);
  const before = frames;
  pass(40);
  assert.equal(frames, before + 2);
});
