// The built-in agent in a call: the call, its queue and the encoder are real; the engine, the model, the
// recogniser, the worker that hears, the network and time are the test's.
import type { WarmTransfer } from '../../src/agents/call-actions.js';
import { ChatAgent } from '../../src/agents/chat-agent.js';
import type { AgentEvent } from '../../src/call/call-events.js';
import type { AgentConfig } from '../../src/config/agent-config.js';
import type { openCalls } from '../fakes/call-under-test.js';
import { type HandledCallUnderTest, openHandledCall } from './handled-call.js';
import { ScriptedModel } from './scripted-model.js';
import { SILENT_LOG } from '../../src/log.js';

/** An agent of the tests. */
export const AGENT: AgentConfig = {
  name: 'test',
  model: { baseUrl: 'http://127.0.0.1:1/v1', apiKey: undefined, model: 'small' },
  temperature: undefined,
  prompt: 'Be brief.',
  greeting: undefined,
  voice: undefined,
  language: undefined,
  hints: undefined,
  interruptible: 'any',
  transfers: new Map([['sales', 'sip:200@pbx']]),
  tools: [],
  fillerMs: 3000,
  filler: 'One moment.',
  failure: 'Sorry, again please.',
  mostFailures: 2,
  idle: undefined,
  earlyStartMs: 0,
};

export interface AgentSetting extends NonNullable<Parameters<typeof openHandledCall>[1]> {
  readonly agent?: Partial<AgentConfig>;
  /** The person takes the caller in this way; absent: nobody can be called. */
  readonly warmTransfer?: ReturnType<WarmTransfer>;
}

export interface AgentUnderTest extends HandledCallUnderTest {
  readonly agent: ChatAgent;
  readonly model: ScriptedModel;
  readonly told: AgentEvent[];
  /** Ends of early answers: true if one was taken over. */
  readonly early: boolean[];
}

export function openAgent(
  calls: ReturnType<typeof openCalls>,
  { agent = {}, warmTransfer, ...setting }: AgentSetting = {},
): AgentUnderTest {
  const under = openHandledCall(calls, setting);
  const model = new ScriptedModel();
  const told: AgentEvent[] = [];
  const { callerTexts, time, handled } = under;
  const parts = { callerTexts, time, log: SILENT_LOG, warmTransfer: () => warmTransfer };
  const config = { ...AGENT, ...agent };
  const early: boolean[] = [];
  const listeners = {
    onEvent: (event: AgentEvent) => void told.push(event),
    onEarlyAnswer: (isTaken: boolean) => void early.push(isTaken),
  };
  const chat = new ChatAgent(handled, { ...parts, ...listeners, config, model });
  return { ...under, agent: chat, model, told, early };
}
