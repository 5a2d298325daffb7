// The caller interrupts while a function runs. It is done once, and the model gets its result. Each test runs
// with the built-in agent, and with an agent that a Realtime client steers.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { openRealtime } from '../api/realtime/open-realtime.js';
import { openCalls } from '../fakes/call-under-test.js';
import { until } from '../fakes/until.js';
import { openAgent } from './agent-under-test.js';
import { type FunctionServer, openFunctionServer } from './function-server.js';
import { type HandledCallUnderTest, settle } from './handled-call.js';
import type { ScriptedModel, WrittenAnswer } from './scripted-model.js';

const calls = openCalls();
const PENDING =
  'tool: {"pending":"the function still runs: its result comes by itself. Do not call it again"}';
const SENT = 'tool: {"state":"sent"}';
const COME = '[The result of order_status has come]';

interface TalkUnderTest extends HandledCallUnderTest {
  readonly model: ScriptedModel;
}

type Setting = Parameters<typeof openRealtime>[1] & Parameters<typeof openAgent>[1];

const TALKS: readonly (readonly [string, (setting: Setting) => TalkUnderTest])[] = [
  ['the built-in agent', (setting) => openAgent(calls, setting)],
  ['a steered agent', (setting) => openRealtime(calls, setting)],
];

function forEach(name: string, run: (under: TalkUnderTest, server: FunctionServer) => Promise<void>): void {
  for (const [talk, open] of TALKS)
    test(`${talk}: ${name}`, async (t) => {
      const server = await openFunctionServer(t);
      await run(open({ agent: { tools: [server.tool], filler: undefined } }), server);
    });
}

/** The model calls the function, and the caller interrupts its words. */
async function interruptsFunction(under: TalkUnderTest, { asked }: FunctionServer): Promise<void> {
  under.says('Where is my order?');
  const answer = await under.model.asked(0);
  answer.say('Let me look that up for you, please.').call('order_status', { order: '7', year: 2026 }).done();
  await until(() => asked.length === 1);
  await under.passUntil(() => under.count('utterance.started') === 1);
  under.interrupts();
  await settle();
  under.pass(1000);
  under.stops();
}

const sent = ({ asked }: FunctionServer) => asked[0]?.response.end('{"state":"sent"}');
const tools = ({ asked }: WrittenAnswer) => asked.filter((message) => message.startsWith('tool: '));
const told = (under: TalkUnderTest) => under.count('agent.tool');

forEach(
  'a result that comes after the next question is in the history, and the model answers',
  async (under, server) => {
    await interruptsFunction(under, server);
    under.text('And the tea?');
    const second = await under.model.asked(1);
    assert.deepEqual(tools(second), [PENDING]);
    second.say('Green tea.').done();
    await under.passUntil(() => under.count('utterance.spoken') === 1);
    assert.equal(under.model.answers.length, 2);
    sent(server);
    const third = await under.model.asked(2);
    assert.deepEqual(tools(third), [SENT]);
    assert.equal(third.asked.at(-1), `user: ${COME}`);
    third.say('It was sent.').done();
    await under.passUntil(() => under.count('utterance.spoken') === 2);
    await settle();
    assert.deepEqual([server.asked.length, under.model.answers.length, told(under)], [1, 3, 1]);
  },
);

forEach('a result that comes while the caller speaks is in the next question', async (under, server) => {
  await interruptsFunction(under, server);
  sent(server);
  await until(() => told(under) === 1);
  assert.equal(under.model.answers.length, 1);
  under.text('And the tea?');
  const second = await under.model.asked(1);
  assert.deepEqual(tools(second), [SENT]);
  assert.equal(second.asked.at(-1), 'user: And the tea?');
  second.say('Green tea.').done();
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  await settle();
  assert.deepEqual([server.asked.length, under.model.answers.length], [1, 2]);
});

forEach('a result that comes while an answer is heard is told after it', async (under, server) => {
  await interruptsFunction(under, server);
  under.text('And the tea?');
  (await under.model.asked(1)).say('We have green tea and black tea.').done();
  await under.passUntil(() => under.count('utterance.started') === 2);
  sent(server);
  await until(() => told(under) === 1);
  await settle();
  assert.equal(under.model.answers.length, 2);
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  const third = await under.model.asked(2);
  assert.deepEqual([tools(third), third.asked.at(-1)], [[SENT], `user: ${COME}`]);
});

forEach('a function that the model calls again while it runs is done once', async (under, server) => {
  await interruptsFunction(under, server);
  under.text('Well?');
  const again = { year: 2026, order: '7' }; // written in another order
  (await under.model.asked(1)).call('order_status', again).done();
  await settle();
  assert.equal(under.model.answers.length, 2);
  sent(server);
  const third = await under.model.asked(2);
  assert.deepEqual(tools(third), [SENT, SENT]);
  third.say('It was sent.').done();
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  await settle();
  assert.deepEqual([server.asked.length, under.model.answers.length], [1, 3]);
});

forEach('a function with other arguments is another one', async (under, server) => {
  await interruptsFunction(under, server);
  under.text('And order 8?');
  (await under.model.asked(1)).call('order_status', { order: '8', year: 2026 }).done();
  await until(() => server.asked.length === 2);
  server.asked[1]?.response.end('{"state":"lost"}');
  assert.deepEqual(tools(await under.model.asked(2)), [PENDING, 'tool: {"state":"lost"}']);
});

forEach('a noise while a function runs does not have it done twice', async (under, server) => {
  await interruptsFunction(under, server);
  under.text('');
  const second = await under.model.asked(1);
  assert.deepEqual(tools(second), [PENDING]);
  second.call('order_status', { order: '7', year: 2026 }).done();
  await settle();
  sent(server);
  assert.deepEqual(tools(await under.model.asked(2)), [SENT, SENT]);
  assert.equal(server.asked.length, 1);
});

forEach('a function that does not answer in time is told to the model, too', async (under, server) => {
  await interruptsFunction(under, server);
  under.text('Well?');
  (await under.model.asked(1)).say('Please wait.').done();
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  under.pass(5000);
  const third = await under.model.asked(2);
  assert.deepEqual(tools(third), ['tool: {"error":"it could not be reached in time"}']);
});

forEach(
  'a caller who speaks before the late answer sounds is answered to the words',
  async (under, server) => {
    await interruptsFunction(under, server);
    under.text('And the tea?');
    (await under.model.asked(1)).say('Green tea.').done();
    await under.passUntil(() => under.count('utterance.spoken') === 1);
    sent(server);
    await under.model.asked(2);
    under.says('Thanks.');
    const last = await under.model.asked(3);
    assert.deepEqual([tools(last), last.asked.at(-1)], [[SENT], 'user: Thanks.']);
  },
);

forEach('the end of the call gives the function up, and leaves no timer', async (under, server) => {
  await interruptsFunction(under, server);
  under.text('And the tea?');
  await under.model.asked(1);
  await under.call.close('caller hung up');
  await until(() => server.asked[0]?.response.destroyed === true);
  await settle();
  assert.deepEqual([under.time.waiting, under.model.answers.length], [0, 2]);
});

test('a transfer that is under way when the caller speaks is asked for once', async () => {
  const under = openAgent(calls, { agent: { filler: undefined } });
  const targets: string[] = [];
  let refuse: (status: number) => void = () => undefined;
  Object.assign(under.handled.leg ?? assert.fail('a call by telephone'), {
    transfer: ({ to }: { to: string }) => {
      targets.push(to);
      return new Promise((resolve) => (refuse = (status) => resolve({ accepted: false, status })));
    },
  });
  under.says('A person, please.');
  (await under.model.asked(0)).call('transfer_call', { target: 'sales' }).done();
  await under.passUntil(() => targets.length === 1);
  under.says('Hello?');
  const second = await under.model.asked(1);
  assert.deepEqual(tools(second), [PENDING]);
  second.call('transfer_call', { target: 'sales' }).done();
  await settle();
  refuse(486);
  const refused = 'tool: {"error":"the target refused the call (486)"}';
  assert.deepEqual(tools(await under.model.asked(2)), [refused, refused]);
  assert.equal(targets.length, 1);
});

async function openSteered(t: TestContext) {
  const server = await openFunctionServer(t);
  return { server, under: openRealtime(calls, { agent: { tools: [server.tool], filler: undefined } }) };
}

test('after a cancel of its client a late result waits for the next response', async (t) => {
  const { server, under } = await openSteered(t);
  under.says('Where is my order?');
  (await under.model.asked(0)).call('order_status').done();
  await until(() => server.asked.length === 1);
  under.send({ type: 'response.cancel' });
  sent(server);
  await until(() => told(under) === 1);
  await settle();
  assert.equal(under.model.answers.length, 1);
  under.send({ type: 'response.create' });
  assert.deepEqual(tools(await under.model.asked(1)), [SENT]);
});

test('a late result of a response that is not kept is no part of the conversation', async (t) => {
  const { server, under } = await openSteered(t);
  under.send({ type: 'response.create', response: { conversation: 'none', output_modalities: ['text'] } });
  (await under.model.asked(0)).call('order_status').done();
  await until(() => server.asked.length === 1);
  under.send({ type: 'response.cancel' });
  sent(server);
  await until(() => told(under) === 1);
  under.says('Hello?');
  assert.deepEqual((await under.model.asked(1)).asked, ['user: Hello?']);
});
