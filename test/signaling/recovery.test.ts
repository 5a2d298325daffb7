import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Call } from '../../src/call/call.js';
import { MediaSocket } from '../../src/media/media-socket.js';
import { until } from '../fakes/until.js';
import { connect, openServer } from './server-under-test.js';
import { WeriftClient } from './werift-client.js';

type Under = Awaited<ReturnType<typeof openServer>>;

const valueOf = (sdp: string, name: string) => new RegExp(`^a=${name}:(.*)\r$`, 'm').exec(sdp)?.[1] ?? '';

/** Another connection for the call with this token, once its page can talk. */
async function resume(t: TestContext, { server }: Under, token: string): Promise<WeriftClient> {
  const client = new WeriftClient();
  t.after(() => client.close());
  const { sdp } = await server.resume(token, { sdp: await client.offer() });
  await client.accept(sdp);
  await client.until(() => client.messages.find(({ type }) => type === 'ready'), 'ready message');
  return client;
}

/** The browser seems unheard for so long. */
function unheard(under: Under, ms: number): void {
  under.aheadMs = ms;
  under.time.advance(2500);
}

test('a call goes on through another connection of its browser, and the one before is closed', async (t) => {
  const under = await openServer(t);
  const { client, id, call, token } = await connect(t, under);
  const another = await resume(t, under, token);
  await another.until(() => another.packets.length > 5, 'packets');
  await client.until(() => client.channel.readyState === 'closed', 'closed channel');
  assert.equal(another.messages[0]?.['call'], id);
  assert.equal(under.switchboard.get(id), call);
  assert.equal(under.plane.stats().streams, 1);
  assert.ok(under.server.isTokenOf(id, token));
  await under.server.hangUp(id);
  assert.ok(!under.server.isTokenOf(id, token));
  assert.deepEqual([under.plane.stats().streams, under.time.waiting], [0, 0]);
});

test('a token of no call resumes nothing, and neither does one whose call is not set up', async (t) => {
  const { server } = await openServer(t);
  const client = new WeriftClient();
  t.after(() => client.close());
  const sdp = await client.offer();
  await assert.rejects(server.resume('x', { sdp }), { code: 'NOT_FOUND' });
  const { token = '' } = await server.open({ sdp });
  await assert.rejects(server.resume(token, { sdp }), { code: 'CALL_STATE' });
});

test('speech pauses while the browser is not heard, and goes on when it is heard again', async (t) => {
  const under = await openServer(t);
  const { call } = await connect(t, under);
  const holds: boolean[] = [];
  t.mock.method(call, 'hold', (held: boolean) => void holds.push(held));
  unheard(under, 2000);
  assert.deepEqual(holds, []);
  unheard(under, 12_000);
  assert.deepEqual(holds, [true]);
  unheard(under, 0);
  assert.deepEqual(holds, [true, false]);
  assert.deepEqual(under.log.slice(1), ['browser not heard', 'browser heard again']);
});

test('a call ends when its browser has not consented for 30 s, and nothing is left', async (t) => {
  const under = await openServer(t);
  const { call } = await connect(t, under);
  unheard(under, 30_000);
  assert.equal(await call.closed, 'peer lost');
  await nextTurn();
  assert.deepEqual([under.server.size, under.plane.stats().streams, under.time.waiting], [0, 0, 0]);
});

test('a call whose browser was lost waits for it, and ends after the grace time', async (t) => {
  const under = await openServer(t, { resumeGraceMs: 15_000 });
  const { call, token, id } = await connect(t, under);
  const holds: boolean[] = [];
  t.mock.method(call, 'hold', (held: boolean) => void holds.push(held));
  unheard(under, 30_000);
  under.time.advance(14_999);
  assert.equal(under.switchboard.get(id), call);
  under.aheadMs = 0;
  const another = await resume(t, under, token);
  assert.deepEqual(holds, [true, false]);
  await another.until(() => another.packets.length > 5, 'packets');
  unheard(under, 30_000);
  under.time.advance(15_000);
  assert.equal(await call.closed, 'peer lost');
  await nextTurn();
  assert.deepEqual([under.server.size, under.plane.stats().streams, under.time.waiting], [0, 0, 0]);
});

test('a browser that is heard again within the grace time keeps its connection', async (t) => {
  const under = await openServer(t, { resumeGraceMs: 15_000 });
  const { call, client, id } = await connect(t, under);
  const holds: boolean[] = [];
  t.mock.method(call, 'hold', (held: boolean) => void holds.push(held));
  unheard(under, 30_000);
  unheard(under, 0);
  assert.deepEqual(holds, [true, false]);
  under.time.advance(20_000);
  assert.equal(under.switchboard.get(id), call);
  client.send({ type: 'clear' });
  await client.until(() => client.messages.find(({ type }) => type === 'cleared'), 'cleared message');
});

test('nothing is sent to a browser whose checks have stopped for 30 s, until they come again', async (t) => {
  const under = await openServer(t, { resumeGraceMs: 15_000 });
  const { call, client, id } = await connect(t, under);
  const holds: boolean[] = [];
  t.mock.method(call, 'hold', (held: boolean) => void holds.push(held));
  // Its RTCP goes on, so that it is no longer heard by its consent alone.
  const checked = t.mock.getter(MediaSocket.prototype, 'lastCheckMs', () => under.plane.nowMs - 40_000);
  under.time.advance(2500);
  assert.deepEqual(under.log.slice(1), ['browser not heard', 'connection lost']);
  const { packets, timestamp } = call.stats();
  await until(() => call.stats().timestamp - timestamp > 5 * 960); // five ticks of 20 ms
  assert.ok(call.stats().packets - packets <= 1); // the one that was leaving
  checked.mock.restore();
  under.time.advance(2500);
  assert.deepEqual(holds, [true, false]);
  const received = client.packets.length;
  await client.until(() => client.packets.length > received + 5, 'packets');
  under.time.advance(20_000);
  assert.equal(under.switchboard.get(id), call);
});

test('a resumption under way outlasts the grace time, and its failure ends the call', async (t) => {
  const under = await openServer(t, { resumeGraceMs: 15_000 });
  const { call, token, id } = await connect(t, under);
  unheard(under, 30_000);
  under.time.advance(12_000);
  const never = new WeriftClient();
  t.after(() => never.close());
  await under.server.resume(token, { sdp: await never.offer() });
  under.time.advance(15_000);
  assert.equal(under.switchboard.get(id), call);
  under.time.advance(5000); // the set-up time of the resumption
  under.time.advance(15_000);
  assert.equal(await call.closed, 'peer lost');
});

for (const [what, agoTicks, isOurs] of [
  ['a second ago', 48_000, true],
  ['in an hour, by another stream', -3600 * 48_000, false],
  ['an hour ago', 3600 * 48_000, false],
] as const) {
  test(`a resumption that received sound last ${what} ${isOurs ? 'rewinds' : 'does not rewind'} it before it moves`, async (t) => {
    const under = await openServer(t);
    const { call, token } = await connect(t, under);
    const receivedTimestamp = (call.stats().timestamp - agoTicks) >>> 0;
    const done: string[] = [];
    t.mock.method(call, 'hold', (held: boolean) => void done.push(`hold ${held}`));
    call.follow(({ playout }) => {
      const { take } = playout;
      t.mock.method(playout, 'rewind', (timestamp: number) => done.push(`rewind ${timestamp}`));
      t.mock.method(playout, 'take', () => (done.push('take'), take.call(playout)));
    });
    const client = new WeriftClient();
    t.after(() => client.close());
    const { sdp } = await under.server.resume(token, { sdp: await client.offer(), receivedTimestamp });
    assert.deepEqual(done, ['hold true']);
    await client.accept(sdp);
    await client.until(() => client.messages.find(({ type }) => type === 'ready'), 'ready message');
    const rewound = isOurs ? [`rewind ${receivedTimestamp}`] : [];
    assert.deepEqual(done, ['hold true', ...rewound, 'take', 'hold false']);
  });
}

test('a resumption that fails lets the present connection go on speaking', async (t) => {
  const under = await openServer(t);
  const { call, token } = await connect(t, under);
  const holds: boolean[] = [];
  t.mock.method(call, 'hold', (held: boolean) => void holds.push(held));
  const never = new WeriftClient();
  t.after(() => never.close());
  await under.server.resume(token, { sdp: await never.offer(), receivedTimestamp: 960 });
  under.aheadMs = -20_000; // the browser is heard meanwhile
  under.time.advance(20_000); // the set-up time of the resumption
  assert.deepEqual(holds, [true, false]);
});

/** Pieces of the texts that the call is given; it speaks none of them. */
function spokenTo(t: TestContext, call: Call) {
  const texts: string[][] = [];
  t.mock.method(call, 'speak', (text: string | AsyncIterable<string>) => {
    const pieces: string[] = [];
    texts.push(pieces);
    const read = async () => {
      for await (const piece of typeof text === 'string' ? [text] : text) pieces.push(piece);
    };
    return { ended: read() };
  });
  return texts;
}

test('a text whose tokens are still coming goes on over the connection that resumes the call', async (t) => {
  const under = await openServer(t);
  const { client, call, token } = await connect(t, under);
  const texts = spokenTo(t, call);
  client.send({ type: 'text', token: 'Half of ' });
  await until(() => texts[0]?.length === 1);
  const another = await resume(t, under, token);
  await client.until(() => client.channel.readyState === 'closed', 'closed channel');
  another.send({ type: 'text', token: 'a text.', last: true });
  await until(() => texts[0]?.length === 2);
  assert.deepEqual(texts, [['Half of ', 'a text.']]);
});

/** An utterance of the call fails, which its page must learn. */
async function failUtterance({ call }: Awaited<ReturnType<typeof connect>>): Promise<void> {
  const tokens = async function* () {
    yield 'Hello.';
  };
  await call.speak(tokens()).ended; // there is no engine
}

const failures = (client: WeriftClient) => client.messages.filter(({ type }) => type === 'utterance.failed');

test('events of an interrupted call reach its page over the next connection', async (t) => {
  const under = await openServer(t);
  const connected = await connect(t, under);
  unheard(under, 12_000);
  await failUtterance(connected);
  under.aheadMs = 0;
  const another = await resume(t, under, connected.token);
  await another.until(() => failures(another).length === 1, 'event');
  assert.deepEqual(failures(connected.client), []);
});

test('events that a dead connection swallowed are repeated over the next one', async (t) => {
  const under = await openServer(t);
  const connected = await connect(t, under);
  await failUtterance(connected);
  await connected.client.until(() => failures(connected.client).length === 1, 'event');
  const [dtls] = connected.client.connection.dtlsTransports;
  assert.ok(dtls !== undefined);
  dtls.dataReceiver = () => undefined; // the client neither reads nor acknowledges any more
  await failUtterance(connected);
  const another = await resume(t, under, connected.token);
  await another.until(() => failures(another).length === 1, 'event');
  assert.equal(failures(another)[0]?.['utterance'], 2);
});

test('a page that closes its connection ends its call at once, whatever the grace time is', async (t) => {
  const under = await openServer(t, { resumeGraceMs: 15_000 });
  const { client, call } = await connect(t, under);
  client.channel.close();
  assert.equal(await call.closed, 'peer closed');
  assert.equal(under.time.waiting, 0);
});

test('an ICE restart gives new credentials, the same addresses and another session, and the call goes on', async (t) => {
  const under = await openServer(t);
  const { server } = under;
  const { client, id, sdp } = await connect(t, under);
  const before = server.iceSession(id);
  assert.equal(server.patchIce(id, { ufrag: undefined, pwd: undefined, candidates: ['any'] }), undefined);
  assert.throws(() => server.patchIce(id, { ufrag: 'another', pwd: undefined, candidates: [] }), {
    code: 'SDP_INVALID',
  });
  assert.equal(server.iceSession(id), before);
  const restarted = server.patchIce(id, { ufrag: 'another', pwd: 'p'.repeat(22), candidates: [] });
  assert.ok(restarted !== undefined);
  assert.notEqual(restarted.ufrag, valueOf(sdp, 'ice-ufrag'));
  assert.notEqual(restarted.pwd, valueOf(sdp, 'ice-pwd'));
  assert.deepEqual(restarted.candidates, [valueOf(sdp, 'candidate')]);
  assert.equal(server.iceSession(id), restarted.iceSession);
  assert.notEqual(restarted.iceSession, before);
  const received = client.packets.length;
  await client.until(() => client.packets.length > received + 10, 'packets on the old path');
});

test('a client that only publishes is not spoken to', async (t) => {
  const under = await openServer(t);
  const client = new WeriftClient();
  t.after(() => client.close());
  const offer = (await client.offer()).replace('a=recvonly', 'a=sendrecv');
  const { id, sdp } = await under.server.open({ sdp: offer, use: 'publish' });
  await client.accept(sdp.replace('a=recvonly', 'a=sendonly'));
  await client.until(() => client.messages.find(({ type }) => type === 'ready'), 'ready message');
  const call = under.switchboard.get(id);
  assert.ok(call !== undefined);
  assert.throws(() => call.speak('Hello.'), { code: 'CALL_STATE' });
  const { timestamp } = call.stats();
  await until(() => call.stats().timestamp - timestamp > 5 * 960); // five ticks of 20 ms
  assert.equal(client.packets.length, 0);
});

test('credentials have at least 24 and 128 bits, and each call has its own', async (t) => {
  const under = await openServer(t);
  const client = new WeriftClient();
  t.after(() => client.close());
  const sdp = await client.offer();
  const answers = await Promise.all([under.server.open({ sdp }), under.server.open({ sdp })]);
  const bits = (name: string) => answers.map((answer) => valueOf(answer.sdp, name).length * 6); // base64
  assert.ok(bits('ice-ufrag').every((count) => count >= 24));
  assert.ok(bits('ice-pwd').every((count) => count >= 128));
  assert.equal(new Set(answers.map((answer) => valueOf(answer.sdp, 'ice-pwd'))).size, 2);
});
