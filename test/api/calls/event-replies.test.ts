// The events of a telephone call as server-sent events.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test, type TestContext } from 'node:test';
import { fastify } from 'fastify';
import { EventReplies, type EventLimits, type SentEvent } from '../../../src/api/calls/event-replies.js';
import { ManualTime } from '../../fakes/manual-time.js';
import { until } from '../../fakes/until.js';
import { errorIn, openServer } from '../app-under-test.js';

interface Reader {
  readonly status: number;
  readonly headers: Headers;
  /** Everything that came so far. */
  text(): string;
  events(): { id?: string; event: string; data: Record<string, unknown> }[];
  isOver(): boolean;
  leave(): void;
}

async function read(url: string, headers: Record<string, string> = {}): Promise<Reader> {
  const leaving = new AbortController();
  const answer = await fetch(url, { headers, signal: leaving.signal });
  let text = '';
  let over = false;
  const taking = async () => {
    for await (const chunk of answer.body ?? []) text += Buffer.from(chunk as Uint8Array).toString();
  };
  void taking()
    .catch(() => undefined)
    .then(() => (over = true));
  return {
    status: answer.status,
    headers: answer.headers,
    text: () => text,
    events: () => eventsIn(text),
    isOver: () => over,
    leave: () => leaving.abort(),
  };
}

function eventsIn(text: string) {
  const blocks = text.split('\n\n').slice(0, -1);
  return blocks.flatMap((block) => {
    const fields = Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2)));
    const { id, event, data } = fields as { id?: string; event?: string; data?: string };
    if (event === undefined) return [];
    const named = { event, data: JSON.parse(data ?? '') as Record<string, unknown> };
    return [id === undefined ? named : { id, ...named }];
  });
}

async function openCall(t: TestContext) {
  const under = await openServer(t);
  under.phone.add('call_1');
  return { ...under, events: `${under.url}/v1/calls/call_1/events` };
}

test('past events are sent first, then each new one, until the call is over', async (t) => {
  const { phone, events } = await openCall(t);
  const reader = await read(events);
  assert.equal(reader.status, 200);
  assert.equal(reader.headers.get('content-type'), 'text/event-stream; charset=utf-8');
  assert.equal(reader.headers.get('cache-control'), 'no-cache, no-store');
  await until(() => reader.events().length === 1);
  phone.happen('call_1', { type: 'digit', digit: '5', durationMs: 120 });
  phone.happen('call_1', { type: 'transfer', status: 202, done: false });
  const utterance = 1;
  for (const event of [
    { type: 'utterance.started', utterance, firstPacketMs: 12.5, queuedMs: 3, sentenceMs: 2 },
    { type: 'sentence.started', utterance, sentence: 0, text: 'Hi.' },
    { type: 'utterance.spoken', utterance, text: 'Hi.', durationMs: 640 },
    { type: 'utterance.failed', utterance, text: '', error: { code: 'VOICE_UNKNOWN', message: 'no voice' } },
    { type: 'utterance.failed', utterance, text: '', error: { code: 'ENGINE_FAILED', message: 'secret' } },
  ] as const) {
    phone.happen('call_1', { type: 'speech', event });
  }
  phone.end('call_1');
  await until(() => reader.isOver());
  const at = 1_700_000_000.5;
  assert.deepEqual(
    reader.events().map(({ data }) => data),
    [
      { id: 1, at, type: 'state', state: 'dialling' },
      { id: 2, at, type: 'digit', digit: '5', duration_ms: 120 },
      { id: 3, at, type: 'transfer', status: 202, done: false },
      {
        id: 4,
        at,
        type: 'utterance.started',
        utterance,
        first_packet_ms: 12.5,
        queued_ms: 3,
        sentence_ms: 2,
      },
      { id: 5, at, type: 'sentence.started', utterance, sentence: 0, text: 'Hi.' },
      { id: 6, at, type: 'utterance.spoken', utterance, text: 'Hi.', duration_ms: 640 },
      {
        id: 7,
        at,
        type: 'utterance.failed',
        utterance,
        text: '',
        error: { code: 'voice_unknown', message: 'no voice' },
      },
      {
        id: 8,
        at,
        type: 'utterance.failed',
        utterance,
        text: '',
        error: {
          code: 'engine_failed',
          message: 'the speech engine failed at this text; the log has more under request call_1',
        },
      },
      { id: 9, at, type: 'state', state: 'ended', end: { reason: 'we hung up', status: 200, cause: 16 } },
    ],
  );
  for (const { id, event, data } of reader.events())
    assert.deepEqual([id, event], [String(data['id']), data['type']]);
  assert.equal(phone.watching('call_1'), 0);
});

test('a reader that comes back goes on behind the last event that it has', async (t) => {
  const { phone, events } = await openCall(t);
  for (const digit of ['1', '2', '3']) phone.happen('call_1', { type: 'digit', digit, durationMs: 100 });
  const first = await read(events);
  await until(() => first.events().length === 4);
  first.leave();
  await until(() => phone.watching('call_1') === 0);
  phone.happen('call_1', { type: 'digit', digit: '4', durationMs: 100 });
  const digits = async (reader: Reader, count: number) => {
    await until(() => reader.events().length === count);
    return reader.events().map(({ data }) => data['digit']);
  };
  assert.deepEqual(await digits(await read(events, { 'last-event-id': '3' }), 2), ['3', '4']);
  assert.deepEqual(await digits(await read(`${events}?after=4`), 1), ['4']);
  const both = await read(`${events}?after=1`, { 'last-event-id': '4' });
  assert.deepEqual(await digits(both, 1), ['4'], 'the header is newer than the address');
});

test('the events of a call that is over are sent once more, and 204 says that there is nothing left', async (t) => {
  const { phone, events } = await openCall(t);
  phone.end('call_1');
  const late = await read(events);
  await until(() => late.isOver());
  assert.deepEqual(
    late.events().map(({ id }) => id),
    ['1', '2'],
  );
  const received = await read(events, { 'last-event-id': '2' });
  assert.equal(received.status, 204);
  assert.equal(phone.watching('call_1'), 0);
});

test('an unknown call and an id that is none are refused as ordinary answers', async (t) => {
  const { url, events } = await openCall(t);
  const unknown = await fetch(`${url}/v1/calls/call_9/events`);
  assert.equal(unknown.status, 404);
  for (const [address, headers] of [
    [events, { 'last-event-id': 'x' }],
    [`${events}?after=-1`, {}],
  ] as const) {
    const answer = await fetch(address, { headers });
    assert.deepEqual([answer.status, errorIn(await answer.text()).code], [400, 'invalid_value']);
  }
  assert.equal((await fetch(events, { method: 'HEAD' })).status, 404 + 1, 'a HEAD would wait for the end');
});

test('a server that closes ends the streams at once', async (t) => {
  const { server, phone, events } = await openCall(t);
  const reader = await read(events);
  await until(() => reader.events().length === 1);
  const started = performance.now();
  await server.close();
  await until(() => reader.isOver());
  assert.ok(performance.now() - started < 1500, 'it did not wait for the limit of two seconds');
  assert.equal(phone.watching('call_1'), 0);
});

/** Streams alone, with time that the test moves. */
async function openReplies(t: TestContext, limits: Partial<EventLimits>) {
  const time = new ManualTime();
  const replies = new EventReplies(time, limits);
  const received: ((event: SentEvent) => void)[] = [];
  let stopped = 0;
  const app = fastify({ forceCloseConnections: true });
  app.get('/', (_request, reply) => {
    replies.send(reply, (tell) => {
      received.push(tell);
      return () => void stopped++;
    });
    return reply;
  });
  t.after(() => app.close());
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  const tell = (id: number, data: object = {}, isLast = false) =>
    received.at(-1)?.({ id, type: 'digit', data, isLast });
  return { time, replies, url, tell, received, stopped: () => stopped };
}

test('a comment comes every fifteen seconds, and none once the stream is over', async (t) => {
  const { time, url, tell } = await openReplies(t, {});
  const reader = await read(url);
  await until(() => reader.text() === 'retry: 1000\n\n');
  time.advance(14_999);
  time.advance(1);
  await until(() => reader.text().endsWith('\n\n:\n\n'));
  time.advance(15_000);
  await until(() => reader.text().endsWith(':\n\n:\n\n'));
  tell(1, {}, true);
  await until(() => reader.isOver());
  await until(() => time.waiting === 0);
});

/** Asks and reads nothing. */
function deafReader(t: TestContext, url: string) {
  const { port } = new URL(url);
  const socket = connect(Number(port), '127.0.0.1');
  t.after(() => socket.destroy());
  socket.pause();
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  return socket;
}

const LARGE = { text: 'x'.repeat(1024 * 1024) };

test('a reader that falls behind gets an error by name when it reads again, and its stream ends', async (t) => {
  const { time, url, tell, received, stopped } = await openReplies(t, { maxWaiting: 3 });
  const socket = deafReader(t, url);
  await until(() => received.length === 1);
  let id = 0;
  while (stopped() === 0) tell(++id, LARGE);
  assert.ok(id > 3);
  let text = '';
  socket.on('data', (chunk) => (text += chunk.toString()));
  socket.resume();
  await until(() => text.includes('slow_reader'));
  assert.match(
    text,
    /event: error\ndata: \{"error":\{"message":"more than 3 events wait for this reader; ask again with Last-Event-ID"/,
  );
  await until(() => time.waiting === 0);
});

test('a reader that takes nothing for a minute is broken off', async (t) => {
  const { time, url, tell, received, stopped } = await openReplies(t, {
    stallMs: 60_000,
    heartbeatMs: 10_000,
  });
  const socket = deafReader(t, url);
  await until(() => received.length === 1);
  for (let id = 1; id <= 20; id++) tell(id, LARGE);
  time.advance(59_999);
  assert.equal(stopped(), 0);
  time.advance(1);
  assert.ok(stopped() > 0);
  await until(() => time.waiting === 0);
  socket.resume();
  socket.on('error', () => undefined);
  await until(() => socket.destroyed);
});

test('so many streams are open at once, and more are refused by name', async (t) => {
  const { url, received } = await openReplies(t, { maxReplies: 1 });
  const first = await read(url);
  await until(() => received.length === 1);
  const second = await fetch(url);
  // Fastify's own words for an error: the table of statuses is not in this test.
  assert.equal(second.status, 500);
  assert.match(await second.text(), /1 streams of events are open already/);
  first.leave();
  await until(async () => (await read(url)).status === 200);
});

test('the event of an answer has the milliseconds of each part, but for those that it did not have', async (t) => {
  const { phone, events } = await openCall(t);
  const reader = await read(events);
  const typed = { modelMs: 250, sentenceMs: 80, speechMs: 12.5, packetMs: 7.5, totalMs: 350 };
  const spoken = { silenceMs: 600, textMs: 120, ...typed, totalMs: 1070 };
  for (const times of [typed, spoken])
    phone.happen('call_1', { type: 'speech', event: { type: 'agent.answered', ...times } });
  phone.end('call_1');
  await until(() => reader.isOver());
  const parts = { model_ms: 250, sentence_ms: 80, speech_ms: 12.5, packet_ms: 7.5 };
  const answered = reader.events().filter(({ data }) => data['type'] === 'agent.answered');
  assert.deepEqual(
    answered.map(({ data: { id: _id, at: _at, type: _type, ...times } }) => times),
    [
      { ...parts, total_ms: 350 },
      { silence_ms: 600, text_ms: 120, ...parts, total_ms: 1070 },
    ],
  );
});
