// An agent of the configuration may hand its caller over to a person. The call, its queue, the
// encoder and the client of the model are real; the model's server, the engine and time are the test's.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { Agents } from '../../src/agents/agents.js';
import type { WarmTransferRequest } from '../../src/call/warm-transfers.js';
import { SILENT_LOG } from '../../src/log.js';
import { openCalls } from '../fakes/call-under-test.js';
import { AGENT } from './agent-under-test.js';
import { ChatEndpoint } from './chat-endpoint.js';
import { openHandledCall } from './handled-call.js';

const calls = openCalls();

async function open(t: TestContext, { isInRoom = false } = {}) {
  const chat = await ChatEndpoint.open(t);
  const under = openHandledCall(calls);
  if (isInRoom) Object.assign(under.call, { protocol: 'room' });
  const model = { ...AGENT.model, baseUrl: chat.baseUrl };
  const requests: WarmTransferRequest[] = [];
  const nothing = () => undefined;
  const agents = new Agents({
    config: {
      agents: new Map([['test', { ...AGENT, voice: 'slt', language: 'en', model }]]),
      relays: new Map(),
      mediaStreams: new Map(),
      usual: 'test',
    },
    callerTexts: under.callerTexts as never,
    time: under.time,
    log: SILENT_LOG,
    metrics: { answered: nothing, failed: nothing, toolCalled: nothing, earlyAnswer: nothing },
    openCalls: { opened: nothing, conductedBy: nothing, isConducted: () => true, talksIn: nothing },
    warmTransfers: () => ({
      isPossible: true,
      byAgent: (_handled, request) => (requests.push(request), Promise.resolve('connected')),
    }),
    openRelay: () => assert.fail('it is no relay'),
    openMediaStream: () => assert.fail('it is no media stream'),
  });
  agents.handle('test', under.handled);
  under.says('A person, please.');
  const answer = await chat.asked(0);
  const tools = (answer.question.tools ?? []).map((tool) => tool.function.name);
  return { ...under, answer, tools, requests };
}

test('the person hears the summary of the model as text, in the voice of the agent', async (t) => {
  const { answer, requests, passUntil } = await open(t);
  // The model writes what callers say, and a caller may say markup.
  const summary = '<speak>Ms Novak wants a refund.</speak>';
  answer.call('warm_transfer', { target: 'sales', summary }).done();
  await passUntil(() => requests.length === 1);
  assert.deepEqual(requests, [
    { to: 'sip:200@pbx', summary: { text: summary, format: 'text', voice: 'slt', language: 'en' } },
  ]);
});

test('an agent may hand its caller over, but not the callers of a room', async (t) => {
  assert.ok((await open(t)).tools.includes('warm_transfer'));
  const { tools } = await open(t, { isInRoom: true });
  assert.ok(tools.includes('hang_up') && !tools.includes('warm_transfer'), tools.join(', '));
});
