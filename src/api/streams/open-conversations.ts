// Joins those who conduct calls: the agents of this server, applications of ConversationRelay, which it dials
// or which attach to running calls, and bots of Media Streams.
import { randomBytes, randomUUID } from 'node:crypto';
import { Agents, type AgentsParts } from '../../agents/agents.js';
import { IncomingCalls } from '../../call/incoming-calls.js';
import { ServerEvents } from '../../call/server-events.js';
import { OpenCalls } from '../../call/open-calls.js';
import type { Time } from '../../time.js';
import { mediaStreamOpener } from './stream-line.js';
import { RelayAttachments } from '../relay/relay-attachments.js';
import { relayOpener } from '../relay/relay-line.js';
import type { RelayParts } from '../relay/relay-session.js';
import type { LineCounters } from '../relay/relay-talk.js';

interface ConversationsParts {
  readonly config: {
    readonly agents: AgentsParts['config'];
    readonly incoming: { readonly decider: string | undefined } | undefined;
  };
  readonly metrics: { readonly agents: AgentsParts['metrics']; readonly applications: LineCounters };
  readonly workshop: { readonly sounds: RelayParts['sounds'] };
  readonly callerTexts: AgentsParts['callerTexts'];
  readonly engines: RelayParts['routing'];
  readonly time: Time;
  readonly log: RelayParts['log'];
  /** Name of the API key that a call belongs to; undefined: to every key. */
  readonly ownerOf: (call: string) => string | undefined;
}

export interface Conversations {
  readonly handler: Agents;
  readonly relays: RelayAttachments;
  readonly events: ServerEvents;
  readonly incoming: IncomingCalls;
}

export function openConversations(parts: ConversationsParts): Conversations {
  const { config, metrics, workshop, engines: routing, callerTexts, time, log } = parts;
  const events = new ServerEvents(Date.now);
  const shared = { callerTexts, time, log, openCalls: new OpenCalls({ ...parts, events }) };
  const { sounds } = workshop;
  const { applications: lines } = metrics;
  const relayed = { ...shared, routing, sounds, lines, unixMs: Date.now, randomBytes };
  const counted = { config: config.agents, metrics: metrics.agents };
  const openers = { openRelay: relayOpener(relayed), openMediaStream: mediaStreamOpener(relayed) };
  const handler = new Agents({ ...shared, ...counted, ...openers });
  const { decider } = config.incoming ?? {};
  const incoming = new IncomingCalls({ events, decider, time, newId: randomUUID });
  return { handler, relays: new RelayAttachments(relayed), events, incoming };
}
