// Joins those who conduct calls: the agents of this server, applications of ConversationRelay, which it dials
// or which attach to running calls, bots of Media Streams, and clients of OpenAI's Realtime API.
import { randomBytes, randomUUID } from 'node:crypto';
import { Agents, type AgentsParts } from '../agents/agents.js';
import type { ChannelDialect } from '../call/call-handler.js';
import { IncomingCalls } from '../call/incoming-calls.js';
import { ServerEvents } from '../call/server-events.js';
import { ListedCalls } from '../call/listed-calls.js';
import { OpenCalls } from '../call/open-calls.js';
import { SoundCalls } from '../call/sound-calls.js';
import type { Switchboard } from '../call/switchboard.js';
import type { MediaPlane } from '../media/media-plane.js';
import type { Log } from '../log.js';
import type { Time } from '../time.js';
import { realtimeChannel } from './realtime/realtime-channel.js';
import type { RealtimeSocketParts } from './realtime/realtime-socket.js';
import { RelayAttachments } from './relay/relay-attachments.js';
import { relayChannel } from './relay/relay-channel.js';
import { relayOpener } from './relay/relay-connection.js';
import type { RelayParts } from './relay/relay-session.js';
import type { ConnectionCounters } from './relay/relay-talk.js';
import type { RelaySocketParts } from './relay/relay-socket.js';
import { mediaStreamOpener } from './streams/stream-connection.js';

interface ConversationsParts {
  readonly config: {
    readonly agents: AgentsParts['config'];
    readonly applications: { readonly incoming: { readonly decider: string | undefined } | undefined };
  };
  readonly metrics: { readonly agents: AgentsParts['metrics']; readonly applications: ConnectionCounters };
  readonly workshop: { readonly sounds: RelayParts['sounds'] };
  readonly plane: MediaPlane;
  readonly switchboard: Pick<Switchboard, 'reserve' | 'check'>;
  readonly callerTexts: AgentsParts['callerTexts'];
  readonly engines: RelayParts['routing'];
  readonly time: Time;
  readonly log: Log;
  /** Name of the API key that a call belongs to; undefined: to every key. */
  readonly ownerOf: (call: string) => string | undefined;
}

export interface Conversations {
  readonly handler: Agents;
  readonly relays: RelayAttachments;
  readonly events: ServerEvents;
  readonly incoming: IncomingCalls;
  readonly soundCalls: SoundCalls;
  /** The calls of `soundCalls`, as applications see them. */
  readonly listed: ListedCalls;
  readonly openCalls: OpenCalls;
  /** Protocols of data channels. */
  readonly dialects: readonly ChannelDialect[];
  /** For the WebSockets that are calls themselves: Realtime, and ConversationRelay. */
  readonly socketCalls: RealtimeSocketParts & RelaySocketParts;
}

export function openConversations(parts: ConversationsParts): Conversations {
  const { config, metrics, workshop, engines: routing, plane, switchboard, callerTexts, time, log } = parts;
  const events = new ServerEvents(Date.now);
  const sources = { time, unixMs: Date.now, randomBytes };
  const openCalls = new OpenCalls({ ...parts, events });
  const shared = { callerTexts, ...sources, log, openCalls };
  const { sounds } = workshop;
  const { applications: connections } = metrics;
  const relayed = { ...shared, routing, sounds, connections };
  const counted = { config: config.agents, metrics: metrics.agents };
  const openers = { openRelay: relayOpener(relayed), openMediaStream: mediaStreamOpener(relayed) };
  const handler = new Agents({ ...shared, ...counted, ...openers });
  const { decider } = config.applications.incoming ?? {};
  const incoming = new IncomingCalls({ events, decider, time, newId: randomUUID });
  const listed = new ListedCalls({ ...sources, callerTexts });
  const soundCalls = new SoundCalls({ plane, switchboard, handler, listed, randomBytes });
  const socketCalls = { ...relayed, agents: handler, handler, switchboard, soundCalls };
  const dialects = [realtimeChannel(socketCalls), relayChannel(socketCalls)];
  const relays = new RelayAttachments(relayed);
  return { handler, relays, events, incoming, soundCalls, listed, openCalls, dialects, socketCalls };
}
