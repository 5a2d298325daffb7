// A model that thinks, in a call: the caller hears no thought, and no caption and no later question has one.
// The chat endpoint is real; the engine, the recogniser, the network of the call and its time are the test's.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { ChatAgent } from '../../src/agents/chat-agent.js';
import { ChatModel } from '../../src/agents/chat-model.js';
import { SILENT_LOG } from '../../src/log.js';
import { systemTime } from '../../src/time.js';
import { openCalls } from '../fakes/call-under-test.js';
import { AGENT } from './agent-under-test.js';
import { ChatEndpoint } from './chat-endpoint.js';
import { openHandledCall } from './handled-call.js';

const calls = openCalls();

async function open(t: TestContext) {
  const chat = await ChatEndpoint.open(t);
  const server = { baseUrl: chat.baseUrl, apiKey: undefined, model: 'small' };
  const under = openHandledCall(calls);
  const { callerTexts, time, handled } = under;
  const model = new ChatModel({ server, time: systemTime });
  const listeners = { onEvent: () => undefined, onEarlyAnswer: () => undefined };
  new ChatAgent(handled, { config: AGENT, model, callerTexts, time, log: SILENT_LOG, ...listeners });
  /** The messages of a question behind the prompt. */
  const asked = async (index: number) =>
    (await chat.asked(index)).question.messages.slice(1).map(({ role, content }) => `${role}: ${content}`);
  /** The sentences that the caller has heard of. */
  const captions = () =>
    under.events.flatMap((event) => (event.type === 'sentence.spoken' ? [event.text] : []));
  return { ...under, chat, asked, captions };
}

test('thoughts are silence that a filler covers, and are in no caption and no later question', async (t) => {
  const under = await open(t);
  under.says('Hello?');
  const answer = await under.chat.asked(0);
  answer.say('<think>', 'She greets me. ', 'I should greet her. ');
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  assert.deepEqual(under.engine.begun, ['One moment.']);
  answer.say('</think>', '\n\nGood morning.').done();
  await under.passUntil(() => under.count('utterance.spoken') === 2);
  assert.deepEqual(under.engine.begun, ['One moment.', 'Good morning.']);
  assert.deepEqual(under.captions(), ['One moment.', 'Good morning.']);
  under.says('Bye.');
  assert.deepEqual(await under.asked(1), ['user: Hello?', 'assistant: Good morning.', 'user: Bye.']);
});

test('a thought that never ends leaves the caller with the phrase of a failure', async (t) => {
  const under = await open(t);
  under.says('Hello?');
  (await under.chat.asked(0)).say('<thinking>', 'She greets me. I should greet her.').done();
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  assert.deepEqual(under.captions(), ['Sorry, again please.']);
  under.says('Hello?');
  assert.deepEqual(await under.asked(1), ['user: Hello?\nHello?']);
});

test('a voice that speaks a thought stops at its closing tag, and the answer follows', async (t) => {
  const under = await open(t);
  under.says('Hello?');
  const thought = 'She greets me, and so I should greet her, too, and ask what she wants.';
  const answer = (await under.chat.asked(0)).say(`${thought} `, 'Well');
  await under.passUntil(() => under.count('utterance.started') === 1);
  await under.queued(thought);
  under.pass(20 * 25);
  answer.say('. </think>', 'Good morning.');
  await under.passUntil(() => under.count('utterance.interrupted') === 1);
  answer.done();
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  assert.deepEqual(under.engine.begun, [thought, 'Good morning.']);
  assert.deepEqual(under.captions(), ['Good morning.']);
  assert.equal(under.count('agent.failed'), 0);
  under.says('Bye.');
  assert.deepEqual(await under.asked(1), ['user: Hello?', 'assistant: Good morning.', 'user: Bye.']);
});

test('once a model has thought without an opening tag, the caller hears no more of its thoughts', async (t) => {
  const under = await open(t);
  under.says('Hello?');
  (await under.chat.asked(0)).say('She greets. </think>Good morning.').done();
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  under.says('Tea, please.');
  const answer = (await under.chat.asked(1)).say('She wants tea. ', 'I sell tea. ');
  await under.passUntil(() => under.count('utterance.spoken') === 2);
  answer.say('</think>', 'Which tea?').done();
  await under.passUntil(() => under.count('utterance.spoken') === 3);
  assert.deepEqual(under.engine.begun, ['Good morning.', 'One moment.', 'Which tea?']);
  assert.equal(under.count('utterance.interrupted'), 0);
});

test('functions that Ollama calls at one index are all done', async (t) => {
  const under = await open(t);
  under.says('Connect me.');
  const call = (id: string, name: string, given: object) => ({
    tool_calls: [{ index: 0, id, type: 'function', function: { name, arguments: JSON.stringify(given) } }],
  });
  (await under.chat.asked(0))
    .delta(call('a', 'send_digits', { digits: '1' }))
    .delta(call('b', 'send_digits', { digits: '2' }))
    .done();
  await under.passUntil(() => under.orders.length === 2);
  assert.deepEqual(under.orders, ['press 1', 'press 2']);
  assert.deepEqual((await under.asked(1)).slice(1), [
    'assistant: null',
    'tool: {"sent":"1"}',
    'tool: {"sent":"2"}',
  ]);
});
