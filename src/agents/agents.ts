// The agents of this server by name: each call that has one is conducted by a talk of its own.
import type { CallHandler, HandledCall, Talk } from '../call/call-handler.js';
import type { OpenCalls } from '../call/open-calls.js';
import type { WarmTransfers } from '../call/warm-transfers.js';
import { stated } from '../stated.js';
import type { CallerTexts } from '../call/caller-texts.js';
import type { AgentEvent, AnswerTimes } from '../call/call-events.js';
import { type AgentConfig, type AgentsConfig, isAgent } from '../config/agent-config.js';
import { EARS_COMMAND } from '../config/recognition-config.js';
import type { MediaStreamConfig } from '../config/media-stream-config.js';
import type { RelayConfig } from '../config/relay-config.js';
import { ParleyError } from '../errors.js';
import type { Time } from '../time.js';
import { ChatAgent } from './chat-agent.js';
import type { WarmTransfer } from './call-actions.js';
import { ChatModel } from './chat-model.js';
import type { TalkAgent } from './agent-talk.js';
import type { Log } from '../log.js';

export interface AgentsParts {
  readonly config: AgentsConfig;
  readonly callerTexts: CallerTexts;
  readonly time: Time;
  readonly log: Log;
  readonly metrics: AgentCounters;
  readonly openCalls: Pick<OpenCalls, 'opened' | 'conductedBy' | 'isConducted' | 'talksIn'>;
  /** Undefined: this server joins no calls. */
  readonly warmTransfers: () => Pick<WarmTransfers, 'isPossible' | 'byAgent'> | undefined;
  /** Connects a call with a backend of its own. */
  readonly openRelay: (handled: HandledCall, config: RelayConfig) => Talk;
  /** Connects a call with a bot that has speech of its own. */
  readonly openMediaStream: (handled: HandledCall, config: MediaStreamConfig) => Talk;
}

interface AgentCounters {
  answered(agent: string, times: AnswerTimes): void;
  failed(agent: string, code: string): void;
  toolCalled(agent: string): void;
  earlyAnswer(agent: string, isTaken: boolean): void;
}

export class Agents implements CallHandler {
  readonly usual: string | undefined;
  readonly #parts: AgentsParts;
  readonly #models = new Map<string, ChatModel>();

  constructor(parts: AgentsParts) {
    this.#parts = parts;
    this.usual = parts.config.usual;
    const { config, callerTexts, log } = parts;
    const hearing = [...config.agents.keys(), ...config.relays.keys()];
    const agents = [...hearing, ...config.mediaStreams.keys()];
    if (agents.length === 0) return;
    const isCallerRecognised = callerTexts.isCallerRecognised;
    log.info({ agents, usual: this.usual, isCallerRecognised }, 'agents ready');
    if (!isCallerRecognised && hearing.length > 0)
      log.warn(
        {},
        `agents understand typed text and keys only: ${EARS_COMMAND} fetches ears; ASR_MODEL_ID or ASR_BASE_URL names others`,
      );
  }

  has(agent: string): boolean {
    return isAgent(this.#parts.config, agent);
  }

  /** A client of the call conducts it, without an agent. */
  clientConducts(call: string): void {
    this.#parts.openCalls.conductedBy(call, 'its client');
  }

  /** See OpenCalls. */
  isConducted(call: string): boolean {
    return this.#parts.openCalls.isConducted(call);
  }

  opened(handled: HandledCall): void {
    this.#parts.openCalls.opened(handled);
  }

  connect(relay: RelayConfig, handled: HandledCall): Talk {
    this.#parts.openCalls.conductedBy(handled.call.id, 'an application');
    return this.#parts.openRelay(handled, relay);
  }

  handle(agent: string, handled: HandledCall): Talk {
    this.#parts.openCalls.conductedBy(handled.call.id, `the agent ${JSON.stringify(agent)}`);
    const { agents, relays, mediaStreams } = this.#parts.config;
    const [config, relay, stream] = [agents.get(agent), relays.get(agent), mediaStreams.get(agent)];
    if (relay !== undefined) return this.#parts.openRelay(handled, relay);
    if (stream !== undefined) return this.#parts.openMediaStream(handled, stream);
    if (config === undefined)
      throw new ParleyError('NOT_FOUND', `there is no agent ${JSON.stringify(agent)}`);
    const { callerTexts, time, log, metrics } = this.#parts;
    const { id: call } = handled.call;
    log.info({ call, agent }, 'agent takes the call');
    const onEvent = (event: AgentEvent) => this.#count(call, agent, event);
    const onEarlyAnswer = (isTaken: boolean) => metrics.earlyAnswer(agent, isTaken);
    const model = this.#modelOf(config);
    const warmTransfer = this.#warmTransfer(handled, config);
    const shared = { config, model, callerTexts, time, log, onEvent, onEarlyAnswer };
    const talk = new ChatAgent(handled, { ...shared, warmTransfer });
    this.#parts.openCalls.talksIn(call, talk);
    return talk;
  }

  /** The person hears the voice of the agent. */
  #warmTransfer(handled: HandledCall, { voice, language }: AgentConfig): WarmTransfer {
    return () => {
      const transfers = this.#parts.warmTransfers();
      if (transfers?.isPossible !== true) return undefined;
      return async ({ to, summary: text }) => {
        // A model may repeat markup that a caller has said.
        const summary = { text, format: 'text', ...stated({ voice, language }) } as const;
        const outcome = await transfers.byAgent(handled, { to, summary });
        return outcome === 'connected' ? undefined : outcome;
      };
    };
  }

  /**
   * The agent of this name, for a call that a client steers. Throws NOT_FOUND, and CALL_STATE for a backend
   * that talks by itself.
   */
  steered(agent: string, call: string): TalkAgent {
    const { agents, relays, mediaStreams } = this.#parts.config;
    const config = agents.get(agent);
    const name = JSON.stringify(agent);
    if (relays.has(agent) || mediaStreams.has(agent)) {
      const message = `the agent ${name} is an application of its own, which this protocol cannot steer`;
      throw new ParleyError('CALL_STATE', message);
    }
    if (config === undefined) throw new ParleyError('NOT_FOUND', `there is no agent ${name}`);
    this.#parts.openCalls.conductedBy(call, `the agent ${name}`);
    this.#parts.log.info({ call, agent }, 'agent takes the call');
    const onEvent = (event: AgentEvent) => this.#count(call, agent, event);
    return { config, model: this.#modelOf(config), onEvent };
  }

  #count(call: string, agent: string, event: AgentEvent): void {
    const { log, metrics } = this.#parts;
    if (event.type === 'agent.failed') metrics.failed(agent, event.error.code);
    if (event.type === 'agent.tool') metrics.toolCalled(agent);
    if (event.type !== 'agent.answered') return;
    const { type: _type, ...times } = event;
    metrics.answered(agent, times);
    log.info({ call, agent, ...times }, 'agent answered');
  }

  #modelOf({ name, model: server, temperature }: AgentConfig): ChatModel {
    let model = this.#models.get(name);
    if (model === undefined) {
      model = new ChatModel({ server, temperature, time: this.#parts.time });
      this.#models.set(name, model);
    }
    return model;
  }
}
