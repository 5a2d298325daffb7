// The flows of messages of public backends: Twilio's framework TAC (npm name twilio-agent-connect, read at
// 1.0.2) and samples that stream a chat model. They differ most in what they do at an interruption.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { openCalls } from '../../fakes/call-under-test.js';
import { until } from '../../fakes/until.js';
import type { RelayedMessage } from './relay-backend.js';
import { openRelay, type RelayUnderTest } from './relay-under-test.js';

const calls = openCalls();
const STORY = 'The train leaves at nine from platform two, and it is on time today.';

type Kind = 'string' | 'boolean' | 'object' | 'number';
interface Shape {
  readonly wanted: Readonly<Record<string, Kind>>;
  readonly optional: Readonly<Record<string, Kind>>;
}

/** What TAC checks before it takes a message; it skips a message that differs. */
const TAC: Readonly<Record<'setup' | 'prompt' | 'interrupt', Shape>> = {
  setup: {
    wanted: {
      sessionId: 'string',
      callSid: 'string',
      from: 'string',
      to: 'string',
      direction: 'string',
      callType: 'string',
      callStatus: 'string',
      accountSid: 'string',
    },
    optional: {
      parentCallSid: 'string',
      forwardedFrom: 'string',
      callerName: 'string',
      customParameters: 'object',
    },
  },
  prompt: {
    wanted: { voicePrompt: 'string' },
    optional: { lang: 'string', last: 'boolean', agentSpeaking: 'string' },
  },
  interrupt: {
    wanted: { utteranceUntilInterrupt: 'string', durationUntilInterruptMs: 'number' },
    optional: { reason: 'string', transcript: 'string' },
  },
};

function assertShape(message: RelayedMessage, { wanted, optional }: Shape): void {
  for (const [field, kind] of Object.entries(wanted))
    assert.equal(typeof message[field], kind, `${message.type}.${field}`);
  for (const [field, kind] of Object.entries(optional))
    if (field in message) assert.equal(typeof message[field], kind, `${message.type}.${field}`);
}

/** An answer whose tokens still come is interrupted in the middle; the caller's next turn has begun. */
async function interrupted(under: RelayUnderTest): Promise<void> {
  under.says('When does the train leave?');
  await under.app.message('prompt');
  under.say(`${STORY} `, {});
  under.say('It stops', {});
  await under.passUntil(() => under.count('utterance.started') === 1);
  await under.queued(STORY);
  under.pass(500);
  under.interrupts();
  await under.app.message('interrupt');
}

/** The caller's turn ends once all that the application has sent was read: a mark comes back then. */
async function asksOn(under: RelayUnderTest): Promise<RelayedMessage> {
  under.app.send({ type: 'mark', name: 'read' });
  await under.app.message('mark');
  under.pass(1000);
  under.stops();
  under.text('From where?');
  return under.app.message('prompt', 1);
}

/** The next answer is heard, and nothing between it and the one that was interrupted. */
async function assertAnswered(under: RelayUnderTest, errors = 0): Promise<void> {
  for (const token of ['From ', 'platform ', 'two.']) under.say(token, {});
  under.say('', { last: true });
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  const spoken = under.events.filter((event) => event.type === 'utterance.spoken').map(({ text }) => text);
  assert.deepEqual(spoken, ['From platform two.']);
  assert.deepEqual(under.engine.begun, [STORY, 'From platform two.']);
  assert.equal(under.count('utterance.interrupted'), 1);
  assert.equal(under.app.of('error').length, errors);
}

test('TAC takes setup, prompt and interrupt, also of a call of which nothing is known', async (t) => {
  const under = await openRelay(t, calls, { parameters: {} });
  await interrupted(under);
  await asksOn(under);
  for (const type of ['setup', 'prompt', 'interrupt'] as const)
    for (const message of under.app.of(type)) assertShape(message, TAC[type]);
  const partial = await openRelay(t, calls, { partialPrompts: true });
  partial.begins();
  partial.text('Hel', false);
  assertShape(await partial.app.message('prompt'), TAC.prompt);
});

async function actionServer(t: TestContext) {
  const posts: Record<string, string>[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      posts.push(Object.fromEntries(new URLSearchParams(Buffer.concat(parts).toString())));
      response.end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return { action: `http://127.0.0.1:${(server.address() as AddressInfo).port}/next`, posts };
}

for (const [how, end, callStatus, sessionStatus] of [
  ['the caller hangs up', (under) => void under.call.close('caller hung up'), 'completed', 'completed'],
  ['the application ends', (under) => under.app.send({ type: 'end' }), 'in-progress', 'ended'],
  ['the socket is lost', (under) => under.app.socket.terminate(), 'in-progress', 'failed'],
] as readonly [string, (under: RelayUnderTest) => void, string, string][]) {
  test(`TAC takes the callback of a session when ${how}`, async (t) => {
    const { action, posts } = await actionServer(t);
    const under = await openRelay(t, calls, { action, lostSocket: 'end' });
    end(under);
    await under.passUntil(() => posts.length === 1);
    const { AccountSid, CallSid, From, To, CallStatus, Direction, SessionStatus } = posts[0] ?? {};
    for (const wanted of [AccountSid, CallSid, From, To]) assert.ok(wanted !== undefined && wanted !== '');
    assert.deepEqual([CallStatus, Direction, SessionStatus], [callStatus, 'inbound', sessionStatus]);
  });
}

test('TAC ends an interrupted text with an empty last token: it is no text of its own', async (t) => {
  const under = await openRelay(t, calls);
  await interrupted(under);
  under.say('', { last: true });
  await asksOn(under);
  await assertAnswered(under);
});

test('the last token that TAC sends late, after the next turn, begins no text', async (t) => {
  const under = await openRelay(t, calls);
  await interrupted(under);
  await asksOn(under);
  under.say('', { last: true });
  await assertAnswered(under);
});

test('a sample aborts its model at an interruption, and sends no last token: its next answer is heard', async (t) => {
  const under = await openRelay(t, calls);
  await interrupted(under);
  await asksOn(under);
  await assertAnswered(under);
});

test('a sample without a handler of interruptions writes on to the end: nothing of it is heard', async (t) => {
  const under = await openRelay(t, calls);
  await interrupted(under);
  for (const token of [' in Lyon,', ' and in Dijon.']) under.say(token, {});
  under.say('', { last: true });
  await asksOn(under);
  await assertAnswered(under);
});

test('a sample answers an interruption with a message of its own: that is an error, and no more', async (t) => {
  const under = await openRelay(t, calls);
  await interrupted(under);
  under.app.send({ type: 'interrupted' });
  await asksOn(under);
  await assertAnswered(under, 1);
});

test('a key, or a typed text, ends what is passed over as well', async (t) => {
  for (const input of [
    (under: RelayUnderTest) => under.call.pressed('1'),
    (under: RelayUnderTest) => under.talk.typed('From where?'),
  ]) {
    const under = await openRelay(t, calls, { dtmfDetection: true });
    await interrupted(under);
    input(under);
    await until(() => under.app.of('dtmf').length + under.app.of('prompt').length === 2);
    under.pass(1000);
    under.stops();
    await assertAnswered(under);
  }
});

test('TAC sends a whole answer with its last token, and the end with the data of its handoff', async (t) => {
  const { action, posts } = await actionServer(t);
  const under = await openRelay(t, calls, { action });
  under.says('A person, please.');
  await under.app.message('prompt');
  under.say('I connect you.', { last: true });
  const handoffData = JSON.stringify({
    reason: 'handoff',
    call_summary: 'wants a person',
    sentiment: 'calm',
  });
  under.app.send({ type: 'end', handoffData });
  await under.passUntil(() => under.orders.length === 1);
  assert.equal(under.count('utterance.spoken'), 1);
  await until(() => posts.length === 1);
  assert.equal(posts[0]?.['HandoffData'], handoffData);
});

test('a backend asks a function in the middle of its text for longer than we wait: the rest is heard', async (t) => {
  const under = await openRelay(t, calls);
  under.says('Where is my order?');
  await under.app.message('prompt');
  under.say('Let me look. It', {});
  await under.passUntil(() => under.count('utterance.failed') === 1);
  under.say('It is on its way.', {});
  under.say('', { last: true });
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  assert.deepEqual([under.engine.begun[0], under.engine.begun.at(-1)], ['Let me look.', 'It is on its way.']);
});
