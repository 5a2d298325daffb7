import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { test, type TestContext } from 'node:test';
import { readDtlsRecords } from '../media/dtls-peers.js';
import {
  ATTRIBUTE,
  BINDING,
  isSealedWith,
  readStun,
  type StunMessage,
  valueOf,
} from '../media/stun-message.js';
import { flood, FLOOD_KINDS, FloodDatagrams, type FloodKind, type FloodTarget } from './flood.js';
import { ManualTime } from './manual-time.js';
import { until } from './until.js';

const TARGET = {
  fragment: 'server01',
  clientFragment: 'client01',
  password: 'the password of the server',
  ssrc: 0x1234_5678,
  handshake: Uint8Array.from({ length: 100 }, (_, at) => (at === 0 ? 22 : at)),
} as const satisfies FloodTarget;

function datagrams(kind: FloodKind, count = 2000, target: FloodTarget = TARGET): Uint8Array[] {
  const source = new FloodDatagrams({ seed: 1, kinds: [kind], target });
  return Array.from({ length: count }, () => source.next().data);
}

async function victim(t: TestContext) {
  const socket = createSocket({ type: 'udp4', recvBufferSize: 8 * 1024 * 1024 });
  const received: Buffer[] = [];
  const sources = new Set<number>();
  socket.on('message', (data, { port }) => {
    received.push(data);
    sources.add(port);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  t.after(() => socket.close());
  return { port: socket.address().port, received, sources };
}

test('the same seed gives the same datagrams, and each kind has its share', () => {
  const run = (seed: number) => {
    const source = new FloodDatagrams({ seed, target: TARGET });
    return Array.from({ length: 6000 }, () => source.next());
  };
  const all = run(7);
  assert.deepEqual(all, run(7));
  assert.notDeepEqual(all, run(8));
  for (const kind of FLOOD_KINDS) {
    const share = all.filter((datagram) => datagram.kind === kind).length / all.length;
    assert.ok(Math.abs(share - 1 / 6) < 0.02, `${kind}: ${share}`);
  }
});

test('STUN messages have right, wrong and absent fragments and integrity', () => {
  const messages = datagrams('stun').flatMap((data) => readStun(data) ?? []);
  assert.ok(messages.length > 1500 && messages.length < 2000, 'some are damaged');
  const isRight = (message: StunMessage) => isSealedWith(message, Buffer.from(TARGET.password));
  const userOf = (message: StunMessage) => {
    const value = valueOf(message, ATTRIBUTE.username);
    return value === undefined
      ? 'absent'
      : Buffer.from(value).toString() === 'server01:client01'
        ? 'right'
        : 'wrong';
  };
  const seen = new Set(
    messages.map((message) => {
      const integrity = message.sealed === undefined ? 'absent' : isRight(message) ? 'right' : 'wrong';
      return `${userOf(message)} fragment, ${integrity} integrity`;
    }),
  );
  assert.equal(seen.size, 9, [...seen].join('; '));
  assert.deepEqual(new Set(messages.map((message) => message.class)).size, 4);
  assert.ok(messages.some(({ method }) => method !== BINDING));
});

test('no STUN message with the right integrity nominates the path of the flood', () => {
  const genuine = datagrams('stun')
    .flatMap((data) => readStun(data) ?? [])
    .filter((message) => isSealedWith(message, Buffer.from(TARGET.password)));
  assert.ok(genuine.length > 100);
  assert.ok(genuine.every((message) => valueOf(message, ATTRIBUTE.useCandidate) === undefined));
  assert.ok(genuine.every((message) => valueOf(message, ATTRIBUTE.iceControlled) === undefined));
});

test('DTLS records have every type and epoch, and the recorded handshake is replayed', () => {
  const all = datagrams('dtls');
  assert.ok(all.some((data) => Buffer.from(data).equals(TARGET.handshake)));
  const records = datagrams('dtls', 2000, {}).flatMap((data) => readDtlsRecords(data));
  const seen = new Set(records.map(({ type, epoch }) => `${type} in epoch ${epoch}`));
  for (const type of [20, 21, 22, 23, 24]) {
    for (const epoch of [0, 1, 2, 0xffff])
      assert.ok(seen.has(`${type} in epoch ${epoch}`), `${type}, ${epoch}`);
  }
  assert.ok(records.some(({ type }) => type > 24));
});

test('SRTP and SRTCP are told apart by their second byte, and some have the SSRC of the call', () => {
  for (const [kind, ssrcAt] of [
    ['srtp', 8],
    ['srtcp', 4],
  ] as const) {
    const all = datagrams(kind, 500).map((data) => Buffer.from(data));
    assert.ok(all.every((data) => (data[0] ?? 0) >> 6 === 2 && data.length >= 12));
    const isRtcp = (data: Buffer) => (data[1] ?? 0) >= 192 && (data[1] ?? 0) < 224;
    assert.equal(all.filter(isRtcp).length, kind === 'srtcp' ? 500 : 0);
    const own = all.filter((data) => data.readUInt32BE(ssrcAt) === TARGET.ssrc).length;
    assert.ok(own > 200 && own < 300, `${kind}: ${own}`);
  }
});

test('random datagrams have 1 to 1400 bytes and empty ones none', () => {
  const lengths = datagrams('random', 300).map(({ length }) => length);
  assert.ok(Math.min(...lengths) >= 1 && Math.max(...lengths) <= 1400 && Math.max(...lengths) > 1000);
  assert.ok(datagrams('empty', 10).every(({ length }) => length === 0));
});

test('a flood sends as many datagrams as were asked for, at the rate, from several ports', async (t) => {
  const { port, received, sources } = await victim(t);
  const time = new ManualTime(0);
  const ended = flood({ port, seed: 2, perSecond: 1000, seconds: 0.5, sources: 5, time });
  for (let turn = 1; turn <= 100; turn++) {
    await until(() => time.waiting === 1);
    time.advance(5);
    await until(() => received.length === Math.min(500, turn * 5));
  }
  const { sent, refused } = await ended;
  assert.equal(
    Object.values(sent).reduce((sum, count) => sum + count, 0),
    500,
  );
  assert.equal(refused, 0);
  assert.equal(sources.size, 5);
  assert.equal(received.filter(({ length }) => length === 0).length >= sent.empty, true);
  assert.equal(time.waiting, 0);
});

test('a flood ends early when its signal is aborted', async (t) => {
  const { port } = await victim(t);
  const time = new ManualTime(0);
  const abort = new AbortController();
  const ended = flood({ port, seed: 2, perSecond: 1000, seconds: 60, time, signal: abort.signal });
  await until(() => time.waiting === 1);
  time.advance(100);
  await until(() => time.waiting === 1);
  abort.abort();
  time.advance(5);
  const { sent } = await ended;
  assert.equal(
    Object.values(sent).reduce((sum, count) => sum + count, 0),
    100,
  );
});

test('5,000 datagrams per second leave in real time', async (t) => {
  const { port, received } = await victim(t);
  const started = performance.now();
  const { sent } = await flood({ port, seed: 3, perSecond: 5000, seconds: 0.4, target: TARGET });
  const seconds = (performance.now() - started) / 1000;
  assert.equal(
    Object.values(sent).reduce((sum, count) => sum + count, 0),
    2000,
  );
  assert.ok(seconds >= 0.39, `the flood took only ${seconds} s`);
  await until(() => received.length > 1900); // loopback drops when the receiver is slow
});

test('a flood beyond its limits is refused by name', async () => {
  const asked = { port: 9, seed: 1, perSecond: 1, seconds: 1 };
  await assert.rejects(
    flood({ ...asked, perSecond: 20_001 }),
    /perSecond must be from 1 to 20000, not 20001/,
  );
  await assert.rejects(flood({ ...asked, seconds: 301 }), /seconds must be from 0 to 300, not 301/);
  await assert.rejects(flood({ ...asked, sources: 65 }), /sources must be from 1 to 64, not 65/);
});
