// Joins those who conduct calls: the agents of this server, applications of ConversationRelay, which it dials
// or which attach to running calls, bots of Media Streams, call programs, and clients of OpenAI's Realtime
// API.
import { randomBytes, randomUUID } from 'node:crypto';
import { Agents, type AgentsParts } from '../agents/agents.js';
import type { ChannelDialect } from '../call/call-handler.js';
import { IncomingCalls } from '../call/incoming-calls.js';
import { ServerEvents } from '../call/server-events.js';
import { ApplicationCalls, ListedCalls } from '../call/listed-calls.js';
import { Crossing } from '../call/crossed-ports.js';
import { nativeJoiner } from '../call/joined-media.js';
import { Joining, type JoinSoundParts, joinSounds } from '../call/joining.js';
import { OpenCalls } from '../call/open-calls.js';
import type { PhoneCalls } from '../call/phone-calls.js';
import { RoomAgents } from '../call/room-agents.js';
import { roomRecorder } from '../call/room-recorder.js';
import { SoundCalls } from '../call/sound-calls.js';
import type { Switchboard } from '../call/switchboard.js';
import type { Recordings } from '../recording/recordings.js';
import type { MediaPlane } from '../media/media-plane.js';
import type { Log } from '../log.js';
import type { Time } from '../time.js';
import type { Programs } from '../ivr/programs.js';
import { openPrograms, type OpenProgramsParts } from './open-programs.js';
import { programCalls } from './program-calls.js';
import { realtimeChannel } from './realtime/realtime-channel.js';
import type { RealtimeSocketParts } from './realtime/realtime-socket.js';
import { RelayAttachments } from './relay/relay-attachments.js';
import { relayChannel } from './relay/relay-channel.js';
import { relayOpener } from './relay/relay-connection.js';
import type { RelayParts } from './relay/relay-session.js';
import type { ConnectionCounters } from './relay/relay-talk.js';
import type { RelaySocketParts } from './relay/relay-socket.js';
import { mediaStreamOpener } from './streams/stream-connection.js';
import { streamForker } from './streams/stream-fork.js';
import type { RestCalls } from './twilio/rest-calls.js';

interface ConversationsParts {
  readonly config: {
    readonly agents: AgentsParts['config'];
    readonly ivr: OpenProgramsParts['config'];
    readonly namedRelays: OpenProgramsParts['namedRelays'];
    readonly sip: { readonly destinations: readonly unknown[] };
    readonly applications: { readonly incoming: { readonly decider: string | undefined } | undefined };
    readonly voices: {
      readonly toneCountry: JoinSoundParts['country'];
      readonly maxUploadBytes: number;
    };
  };
  readonly metrics: { readonly agents: AgentsParts['metrics']; readonly applications: ConnectionCounters };
  readonly workshop: {
    readonly sounds: RelayParts['sounds'] & OpenProgramsParts['sounds'];
    readonly library: JoinSoundParts['library'];
  };
  readonly plane: MediaPlane;
  readonly switchboard: Pick<Switchboard, 'reserve' | 'check' | 'onceOpen' | 'recordingOf'>;
  /** Undefined: the server has no telephone. */
  readonly telephone: () => PhoneCalls | undefined;
  readonly recordings: Recordings | undefined;
  readonly callerTexts: AgentsParts['callerTexts'];
  readonly engines: RelayParts['routing'];
  readonly time: Time;
  readonly log: Log;
  /** Name of the API key that a call belongs to; undefined: to every key. */
  readonly ownerOf: (call: string) => string | undefined;
  readonly keyOf: OpenProgramsParts['keyOf'];
  readonly ownUrl: OpenProgramsParts['ownUrl'];
  readonly transcribing: OpenProgramsParts['transcribing'];
  readonly hearing: OpenProgramsParts['hearing'];
  readonly closing: OpenProgramsParts['closing'];
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
  readonly joining: Joining;
  /** Conduct calls. */
  readonly programs: Programs;
  /** The calls of the REST API of Twilio. */
  readonly restCalls: RestCalls;
  /** Protocols of data channels. */
  readonly dialects: readonly ChannelDialect[];
  /** For the WebSockets that are calls themselves: Realtime, and ConversationRelay. */
  readonly socketCalls: RealtimeSocketParts & RelaySocketParts;
}

/** Rejects with CONFIG_INVALID. */
export async function openConversations(parts: ConversationsParts): Promise<Conversations> {
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
  // An agent asks for them during calls, which there are none of before the parts below exist.
  const warmTransfers = () => joining.warmTransfers;
  const handler = new Agents({ ...shared, ...counted, ...openers, warmTransfers });
  const { decider } = config.applications.incoming ?? {};
  const incoming = new IncomingCalls({ events, decider, time, newId: randomUUID });
  const listed = new ListedCalls({ ...sources, callerTexts });
  const soundCalls = new SoundCalls({ plane, switchboard, handler, listed, randomBytes });
  const socketCalls = { ...relayed, agents: handler, handler, switchboard, soundCalls };
  const dialects = [realtimeChannel(socketCalls), relayChannel(socketCalls)];
  const relays = new RelayAttachments(relayed);
  const joins = openJoins(parts, { ...sources, events, soundCalls, handler });
  const joining = new Joining({ ...parts, ...sources, openCalls, events, ...joins });
  const { library } = workshop;
  const { maxUploadBytes: mostSoundBytes } = config.voices;
  const limitsDestinations = config.sip.destinations.length > 0;
  const { rooms, queues, bridges } = joining;
  const joinParts = { rooms, queues, bridges, sounds: joins.sounds, unixMs: Date.now };
  const calls = programCalls({ ...parts, ...sources, ...joins, openCalls, bridges, limitsDestinations });
  // Requests ask for them once the server listens, and then it has its telephone.
  const listedCalls = () => new ApplicationCalls({ telephone: parts.telephone(), listed, openCalls });
  const recorded = parts.recordings && { folder: parts.recordings.folder, recorder: switchboard };
  const ofConfig = { config: config.ivr, library, sounds, mostSoundBytes, recorded };
  const ofPrograms = { ...ofConfig, calls, listedCalls, joining: joinParts };
  const ofTalks = { handler, namedRelays: config.namedRelays, forkStream: streamForker(relayed), ...openers };
  const { programs, restCalls } = await openPrograms({ ...parts, ...shared, ...ofPrograms, ...ofTalks });
  const open = { soundCalls, listed, openCalls, joining, programs, restCalls };
  return { handler, relays, events, incoming, ...open, dialects, socketCalls };
}

interface JoinSources {
  readonly time: Time;
  readonly randomBytes: typeof randomBytes;
  readonly events: ServerEvents;
  readonly soundCalls: SoundCalls;
  readonly handler: Agents;
}

/** The parts of calls that are joined: their media, their sounds and the agents of rooms. */
function openJoins(parts: ConversationsParts, sources: JoinSources) {
  const { config, workshop, plane, log, recordings } = parts;
  const { time, events, soundCalls, handler } = sources;
  const crossing = new Crossing({ plane, randomBytes: sources.randomBytes });
  return {
    agents: new RoomAgents({ crossing, soundCalls, handler, log }),
    joiner: nativeJoiner(plane),
    sounds: joinSounds({ library: workshop.library, country: config.voices.toneCountry }),
    recorderOf: recordings && roomRecorder({ recordings, events, time }),
  };
}
