// Data channels that do not speak Parley's own messages: the label names the protocol, and who conducts the
// call.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DialectSession } from '../../signaling/dialect-session.js';
import type { TextChannel } from '../../signaling/outbox.js';
import type { CallHandler, ChannelClient, ChannelDialect } from '../../src/call/call-handler.js';
import { ManualTime } from '../fakes/manual-time.js';
import { until } from '../fakes/until.js';
import { openServer } from './server-under-test.js';
import { WeriftClient } from './werift-client.js';
import { SILENT_LOG } from '../../src/log.js';

/** Answers each message with itself, and notes what is done with it. */
function echoDialect() {
  const noted: string[] = [];
  const dialect: ChannelDialect = {
    label: 'echo',
    open: ({ call }, { agent, session }, client) => {
      noted.push(`open ${call.id} ${agent ?? 'nobody'} ${JSON.stringify(session)}`);
      client.send({ type: 'welcome' });
      return {
        receive: (data) => client.send({ type: `echo ${String(data)}` }),
        errorMessage: ({ code }) => ({ type: `error ${code}` }),
        close: () => void noted.push('close'),
      };
    },
  };
  return { noted, dialect };
}

function agentHandler() {
  const handled: string[] = [];
  const handler: CallHandler = {
    usual: 'usual',
    has: () => true,
    opened: () => undefined,
    handle: (agent) => {
      handled.push(agent);
      return { typed: () => undefined };
    },
    connect: () => assert.fail('no application is named'),
  };
  return { handled, handler };
}

test('a channel with the label of a dialect is talked to in it, and no agent takes the call', async (t) => {
  const { noted, dialect } = echoDialect();
  const { handled, handler } = agentHandler();
  const { server } = await openServer(t, { dialects: [dialect], handler });
  const client = new WeriftClient('opus', { label: 'echo' });
  t.after(() => client.close());
  const { id, sdp } = await server.open({ sdp: await client.offer(), session: { model: 'x' } });
  await client.accept(sdp);
  await client.until(() => client.messages.find(({ type }) => type === 'welcome'), 'welcome');
  client.channel.send('hello');
  await client.until(() => client.messages.find(({ type }) => type === 'echo hello'), 'echo');
  assert.deepEqual(noted, [`open ${id} usual {"model":"x"}`]);
  assert.deepEqual(handled, []);
  await server.hangUp(id);
  assert.equal(noted.at(-1), 'close');
});

test("a channel with another label speaks Parley's messages, and the agent takes the call", async (t) => {
  const { noted, dialect } = echoDialect();
  const { handled, handler } = agentHandler();
  const { server } = await openServer(t, { dialects: [dialect], handler });
  const client = new WeriftClient();
  t.after(() => client.close());
  const { sdp } = await server.open({ sdp: await client.offer() });
  await client.accept(sdp);
  await client.until(() => client.messages.find(({ type }) => type === 'ready'), 'ready message');
  assert.deepEqual([noted, handled], [[], ['usual']]);
});

test('a page that announces a channel and opens none is talked to after two seconds', async (t) => {
  const { dialect } = echoDialect();
  const { handled, handler } = agentHandler();
  const { server, switchboard, time } = await openServer(t, { dialects: [dialect], handler });
  const client = new WeriftClient('opus', { opensChannel: false });
  t.after(() => client.close());
  const { id, sdp } = await server.open({ sdp: await client.offer() });
  await client.accept(sdp);
  await until(() => switchboard.get(id) !== undefined);
  time.advance(1999);
  assert.deepEqual(handled, []);
  time.advance(1);
  assert.deepEqual(handled, ['usual']);
});

function openSession() {
  const time = new ManualTime(5000);
  const sent: string[] = [];
  const received: unknown[] = [];
  const reasons: string[] = [];
  let client: ChannelClient = { send: () => undefined };
  const channel = {
    bufferedAmount: 0,
    unacknowledged: 0,
    send: (text: string) => void sent.push((JSON.parse(text) as { type: string }).type),
  } satisfies TextChannel;
  const session = new DialectSession(
    { id: 'rtc_1', close: async (reason) => void reasons.push(reason) },
    (given) => {
      client = given;
      client.send({ type: 'welcome' });
      return {
        receive: (data) => void received.push(data),
        missed: () => void reasons.push('missed'),
        errorMessage: ({ message }) => ({ type: message }),
        close: () => void reasons.push('talk closed'),
      };
    },
    { limits: { messages: { perSecond: 10, burst: 20 } }, time, log: SILENT_LOG },
  );
  return { time, sent, received, reasons, client, channel, session };
}

test('what a dialect sends before its channel is there waits for it', () => {
  const { sent, client, channel, session } = openSession();
  client.send({ type: 'more' });
  session.attach(channel);
  session.hold(true);
  client.send({ type: 'held' });
  assert.deepEqual(sent, ['welcome', 'more']);
  session.hold(false);
  assert.deepEqual(sent, ['welcome', 'more', 'held']);
});

test('events that were dropped between two channels are told in the words of the dialect', () => {
  const { sent, client, channel, session } = openSession();
  session.attach(channel);
  session.detach(channel);
  for (let count = 0; count < 300; count++) client.send({ type: `event ${count}` });
  session.attach(channel);
  assert.deepEqual(sent.slice(0, 2), [
    'welcome',
    '44 older events were dropped while the connection was lost',
  ]);
});

test('a flood of messages is refused once a second, and what comes later is read', () => {
  const { time, sent, received, reasons, channel, session } = openSession();
  session.attach(channel);
  for (let count = 0; count < 100; count++) session.receive(count);
  assert.equal(received.length, 20);
  assert.deepEqual(sent.slice(1), ['more than 10 messages a second: this one was not read']);
  assert.deepEqual(
    reasons,
    Array.from({ length: 80 }, () => 'missed'),
  );
  time.advance(1000);
  session.receive('later');
  assert.equal(received.at(-1), 'later');
});

test('a page that reads no events loses its call', () => {
  const { client, channel, session, reasons } = openSession();
  session.attach(Object.assign(channel, { bufferedAmount: 2 ** 21 }));
  client.send({ type: 'more' });
  assert.deepEqual(reasons, ['events unread', 'talk closed']);
  session.close();
  assert.equal(reasons.length, 2);
});
