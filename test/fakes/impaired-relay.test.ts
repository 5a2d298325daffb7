import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { test, type TestContext } from 'node:test';
import { randomFrom } from '../api/mutations.js';
import {
  answerThrough,
  Bottleneck,
  candidatePort,
  Fates,
  ImpairedRelay,
  type Impairment,
  withoutCandidates,
} from './impaired-relay.js';
import { ManualTime } from './manual-time.js';
import { until } from './until.js';

const LOOPBACK = '127.0.0.1';

interface End {
  readonly socket: Socket;
  readonly port: number;
  readonly texts: string[];
  readonly sources: number[];
}

async function endOf(t: TestContext): Promise<End> {
  const socket = createSocket('udp4');
  const texts: string[] = [];
  const sources: number[] = [];
  socket.on('message', (data, { port }) => {
    texts.push(data.toString());
    sources.push(port);
  });
  socket.bind(0, LOOPBACK);
  await once(socket, 'listening');
  t.after(() => socket.close());
  return { socket, port: socket.address().port, texts, sources };
}

interface Impairments {
  readonly up?: Impairment;
  readonly down?: Impairment;
}

async function opened(t: TestContext, impairments: Impairments = {}, onDown?: (data: Buffer) => void) {
  const [client, server] = [await endOf(t), await endOf(t)];
  const time = new ManualTime(0);
  const relay = await ImpairedRelay.open({
    serverPort: server.port,
    seed: 5,
    time,
    ...impairments,
    ...(onDown === undefined ? {} : { onDown }),
  });
  t.after(() => relay.close());
  const toServer = (text: string) => client.socket.send(text, relay.port, LOOPBACK);
  return { client, server, relay, time, toServer };
}

test('the same seed gives every datagram the same fate', () => {
  const impairment = { lossShare: 0.1, delayMs: 5, jitterMs: 30, reorderShare: 0.1, duplicateShare: 0.1 };
  const run = (seed: number) => {
    const fates = new Fates(impairment, randomFrom(seed));
    return Array.from({ length: 1000 }, () => fates.next());
  };
  assert.deepEqual(run(3), run(3));
  assert.notDeepEqual(run(3), run(4));
});

test('shares and delays are those of the impairment', () => {
  const fates = new Fates(
    { lossShare: 0.05, delayMs: 10, jitterMs: 30, duplicateShare: 0.02 },
    randomFrom(1),
  );
  const all = Array.from({ length: 20_000 }, () => fates.next());
  const share = (copies: number) => all.filter(({ length }) => length === copies).length / all.length;
  assert.ok(Math.abs(share(0) - 0.05) < 0.005, `lost ${share(0)}`);
  assert.ok(Math.abs(share(2) - 0.95 * 0.02) < 0.003, `repeated ${share(2)}`);
  const delays = all.flat();
  assert.ok(Math.min(...delays) >= 10 && Math.max(...delays) < 40);
  const mean = delays.reduce((sum, delay) => sum + delay, 0) / delays.length;
  assert.ok(Math.abs(mean - 25) < 0.5, `mean delay ${mean}`);
});

test('loss in runs has the share and the mean length that were asked for', () => {
  const fates = new Fates({ lossShare: 0.1, lossRun: 4 }, randomFrom(2));
  const lost = Array.from({ length: 100_000 }, () => fates.next().length === 0);
  const share = lost.filter(Boolean).length / lost.length;
  const runs = lost.filter((isLost, at) => isLost && lost[at - 1] !== true).length;
  assert.ok(Math.abs(share - 0.1) < 0.01, `lost ${share}`);
  assert.ok(Math.abs(lost.filter(Boolean).length / runs - 4) < 0.2, `${runs} runs`);
});

test('datagrams pass a thin link one after the other, and a full queue drops them', () => {
  const link = new Bottleneck();
  const thin = { bitsPerSecond: 32_000, queueMs: 100 };
  // 172 bytes and 28 of headers take 50 ms.
  const waits = [0, 0, 0, 0, 0, 60].map((nowMs) => link.pass(172, thin, nowMs));
  assert.deepEqual(waits, [50, 100, 150, undefined, undefined, 140]);
  assert.equal(link.pass(172, {}, 60), 0);
});

test('a link without a queue lets one datagram wait', () => {
  const link = new Bottleneck();
  const policed = { bitsPerSecond: 32_000, queueMs: 0 };
  assert.deepEqual(
    [0, 0, 0, 60].map((nowMs) => link.pass(172, policed, nowMs)),
    [50, 100, undefined, 90],
  );
});

test('a changed loss share does not change the delays of datagrams that are not lost', () => {
  const [before, after] = [
    new Fates({ jitterMs: 30 }, randomFrom(9)),
    new Fates({ jitterMs: 30 }, randomFrom(9)),
  ];
  after.impairment = { jitterMs: 30, lossShare: 0.5 };
  for (let at = 0; at < 200; at++) {
    const [one, other] = [before.next(), after.next()];
    if (other.length > 0) assert.deepEqual(other, one);
  }
});

test('without an impairment everything arrives at once, in order, both ways', async (t) => {
  const { client, server, relay, toServer } = await opened(t);
  const texts = Array.from({ length: 50 }, (_, at) => `up ${at}`);
  for (const text of texts) toServer(text);
  await until(() => server.texts.length === 50);
  assert.deepEqual(server.texts, texts);
  assert.deepEqual(new Set(server.sources), new Set(relay.farPorts));
  server.socket.send('down', relay.farPorts[0] ?? 0, LOOPBACK);
  await until(() => client.texts.length === 1);
  assert.deepEqual(client.texts, ['down']);
  assert.deepEqual(client.sources, [relay.port]);
  assert.deepEqual(relay.counts.up, { received: 50, dropped: 0, lost: 0, repeated: 0, forwarded: 50 });
});

test('lost datagrams do not arrive, and repeated ones arrive twice', async (t) => {
  const up = { lossShare: 0.3, duplicateShare: 0.3 };
  const { server, relay, toServer } = await opened(t, { up });
  for (let at = 0; at < 100; at++) toServer(`${at}`);
  const { counts } = relay;
  await until(() => counts.up.received === 100 && server.texts.length === counts.up.forwarded);
  const fates = new Fates(up, randomFrom(5));
  const expected = Array.from({ length: 100 }, (_, at) => fates.next().map(() => `${at}`)).flat();
  assert.deepEqual(server.texts, expected);
  assert.ok(counts.up.lost > 15 && counts.up.repeated > 10, JSON.stringify(counts));
});

test('the watcher sees every datagram of the server, those that are lost too', async (t) => {
  const seen: string[] = [];
  const { server, relay, toServer } = await opened(t, { down: { lossShare: 1 } }, (data) =>
    seen.push(data.toString()),
  );
  toServer('hello');
  await until(() => server.texts.length === 1);
  server.socket.send('one', relay.farPorts[0] ?? 0, LOOPBACK);
  await until(() => relay.counts.down.lost === 1);
  assert.deepEqual(seen, ['one']);
});

test('delayed datagrams leave when their time has come, later ones first where they overtake', async (t) => {
  const { server, relay, time, toServer } = await opened(t, { up: { delayMs: 100 } });
  toServer('slow');
  await until(() => relay.waiting === 1);
  relay.up.impairment = { delayMs: 40 };
  toServer('fast');
  await until(() => relay.waiting === 2);
  time.advance(39);
  assert.equal(relay.counts.up.forwarded, 0);
  time.advance(1);
  assert.equal(relay.counts.up.forwarded, 1);
  time.advance(60);
  await until(() => server.texts.length === 2);
  assert.deepEqual(server.texts, ['fast', 'slow']);
});

test('datagrams leave a thin link when they have passed it, and the dropped ones are counted', async (t) => {
  const { server, relay, time, toServer } = await opened(t, {
    up: { bitsPerSecond: 8000, queueMs: 60, delayMs: 5 },
  });
  for (const text of ['ab', 'cd', 'ef', 'gh']) toServer(text); // 30 ms each
  await until(() => relay.counts.up.received === 4);
  assert.deepEqual([relay.waiting, relay.counts.up.dropped], [3, 1]);
  time.advance(34);
  assert.equal(relay.counts.up.forwarded, 0);
  time.advance(1);
  assert.equal(relay.counts.up.forwarded, 1);
  time.advance(60);
  await until(() => server.texts.length === 3);
  assert.deepEqual(server.texts, ['ab', 'cd', 'ef']);
});

test('a network change gives the client a new source port at the server', async (t) => {
  const { client, server, relay, toServer } = await opened(t);
  toServer('before');
  await until(() => server.texts.length === 1);
  const [oldPort = 0] = relay.farPorts;
  await relay.changeNetwork();
  const [newPort = 0] = relay.farPorts;
  assert.notEqual(newPort, oldPort);
  server.socket.send('lost', oldPort, LOOPBACK);
  toServer('after');
  await until(() => server.texts.length === 2);
  assert.deepEqual(server.sources, [oldPort, newPort]);
  server.socket.send('arrives', newPort, LOOPBACK);
  await until(() => client.texts.length === 1);
  assert.deepEqual(client.texts, ['arrives']);
});

test('each client has its own source port, and only the server can answer it', async (t) => {
  const { client, server, relay, toServer } = await opened(t);
  const [other, stranger] = [await endOf(t), await endOf(t)];
  toServer('one');
  other.socket.send('two', relay.port, LOOPBACK);
  await until(() => server.texts.length === 2);
  assert.equal(new Set(relay.farPorts).size, 2);
  const [portOfClient = 0] = server.sources;
  stranger.socket.send('from a stranger', portOfClient, LOOPBACK);
  server.socket.send('from the server', portOfClient, LOOPBACK);
  await until(() => client.texts.length + other.texts.length > 0);
  assert.deepEqual([client.texts, other.texts], [['from the server'], []]);
});

test('a closed relay forgets its delayed datagrams', async (t) => {
  const { relay, time, toServer } = await opened(t, { up: { delayMs: 1000 } });
  toServer('never');
  await until(() => relay.waiting === 1);
  await relay.close();
  assert.equal(time.waiting, 0);
});

test('descriptions are rewritten to go through the relay', () => {
  const head = 'v=0\r\na=ice-lite\r\n';
  const first = 'm=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=candidate:1 1 udp 99 127.0.0.1 5004 typ host\r\n';
  const more =
    'a=candidate:2 1 tcp 9 127.0.0.1 443 typ host tcptype passive\r\na=end-of-candidates\r\na=mid:0\r\n';
  const second = 'm=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\na=mid:1\r\n';
  const answer = head + first + more + second;
  assert.equal(candidatePort(answer), 5004);
  assert.equal(
    answerThrough(answer, 7000),
    `${head}m=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=mid:0\r\n` +
      `a=candidate:1 1 udp 2130706431 127.0.0.1 7000 typ host\r\n${second}`,
  );
  assert.doesNotMatch(withoutCandidates(answer), /candidate/);
  assert.throws(() => candidatePort(second), /no UDP candidate on 127\.0\.0\.1/);
});
