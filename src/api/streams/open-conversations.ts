// Joins those who conduct calls: the agents of this server, applications of ConversationRelay, which it dials
// or which attach to running calls, and bots of Media Streams.
import { randomBytes, randomUUID } from 'node:crypto';
import { Agents, type AgentsParts } from '../../agents/agents.js';
import { IncomingCalls } from '../../call/incoming-calls.js';
import { ServerEvents } from '../../call/server-events.js';
import { OpenCalls } from '../../call/open-calls.js';
import type { ChannelDialect } from '../../call/call-handler.js';
import type { Time } from '../../time.js';
import { mediaStreamOpener } from './stream-line.js';
import { openRealtime } from '../realtime/realtime-channel.js';
import { RelayAttachments } from '../relay/relay-attachments.js';
import { relayChannel } from '../relay/relay-channel.js';
import { relayOpener } from '../relay/relay-line.js';
import type { RelayParts } from '../relay/relay-session.js';

interface ConversationsParts {
  readonly config: {
    readonly agents: AgentsParts['config'];
    readonly incoming: { readonly decider: string | undefined } | undefined;
  };
  readonly metrics: { readonly agents: AgentsParts['metrics'] };
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
  /** ConversationRelay, for the pages of browsers' calls. */
  readonly pages: ChannelDialect;
}

export function openConversations(parts: ConversationsParts): Conversations {
  const { config, metrics, workshop, engines: routing, callerTexts, time, log } = parts;
  const events = new ServerEvents(Date.now);
  const shared = { callerTexts, time, log, openCalls: new OpenCalls({ ...parts, events }) };
  const relayed = { ...shared, routing, sounds: workshop.sounds, unixMs: Date.now, randomBytes };
  const counted = { config: config.agents, metrics: metrics.agents };
  const openers = { openRelay: relayOpener(relayed), openMediaStream: mediaStreamOpener(relayed) };
  const handler = new Agents({ ...shared, ...counted, ...openers });
  const { decider } = config.incoming ?? {};
  const incoming = new IncomingCalls({ events, decider, time, newId: randomUUID });
  const pages = relayChannel({ ...relayed, agents: handler });
  return { handler, relays: new RelayAttachments(relayed), events, incoming, pages };
}

/** The protocols of data channels, besides Parley's own. */
export function openDialects(
  parts: Pick<Conversations, 'pages'> & Parameters<typeof openRealtime>[0],
): readonly ChannelDialect[] {
  return [openRealtime(parts), parts.pages];
}
