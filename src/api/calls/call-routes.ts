// Adds the routes of browser and telephone calls: to open, prepare, steer and end them, and to read their
// events, captions and recordings.
import type { FastifyInstance } from 'fastify';
import type { SdpExchange } from '../../call/sdp-exchange.js';
import type { AgentsConfig } from '../../config/agent-config.js';
import { type NamedRelays, NO_NAMED_RELAYS } from '../../config/named-relay.js';
import type { ClientSecrets } from '../http/client-secrets.js';
import type { SpeechLimits } from '../speech/speech-schema.js';
import type { Joining } from '../../call/joining.js';
import type { Log } from '../../log.js';
import { addBrowserCallRoutes, addHangupRoute } from './browser-calls.js';
import { addCallPreparationRoutes } from './call-preparation.js';
import { addCaptionRoutes, type CaptionSource } from './caption-routes.js';
import type { EventReplies } from './event-replies.js';
import { type IceServerOptions, IceServers, NO_ICE_SERVERS } from './ice-servers.js';
import { addHandoverRoutes } from './handover-routes.js';
import { addJoiningRoutes } from './joining-routes.js';
import { addRecordingRoutes, type RecordingParts } from './recording-routes.js';
import { addRoomRoutes } from './room-routes.js';
import type { SpeechSource } from '../speech/speech-source.js';
import type { SessionParts } from './sdp-sessions.js';
import { addEventRoutes, type FollowParts } from './server-event-routes.js';
import type { TelephoneAccess } from './telephone-access.js';
import { addPlayRoute, addTelephoneRoutes } from './telephone-routes.js';

export interface CallOptions {
  /** Browser calls. */
  readonly calls: SdpExchange;
  /** The ICE servers of browser calls; none if absent. */
  readonly webrtc?: IceServerOptions;
  /** Captions of calls; without them, there are no calls to caption. */
  readonly captions?: CaptionSource | undefined;
  /** Agents that may talk in calls; none if absent. */
  readonly agents?: AgentsConfig;
  /** Applications that requests may name for one call; none if absent. */
  readonly namedRelays?: NamedRelays;
  /** The events of all calls, and calls that wait for a decision; without them, there are none. */
  readonly follow?: FollowParts | undefined;
  /** Bridges, rooms and queues; without them, there are no calls to join. */
  readonly joining?: Joining | undefined;
  /** Recordings of calls; without them, their routes answer 501. */
  readonly recordings?: RecordingParts | undefined;
}

/** The objects that the routes of calls share with each other and with WebSockets. */
export interface CallState {
  readonly events: EventReplies;
  readonly phone: TelephoneAccess;
  readonly secrets: ClientSecrets;
}

interface CallRouteParts extends Omit<CallOptions, 'calls' | 'webrtc'>, CallState {
  readonly sessions: SessionParts;
  readonly limits: SpeechLimits;
  /** Speaks in rooms. */
  readonly speech: Pick<SpeechSource, 'openStream'>;
  readonly log: Log;
  /** True if the server recognises what callers say. */
  readonly recognisesSpeech: boolean;
}

export function sessionParts({ calls: exchange, webrtc }: CallOptions, secrets: ClientSecrets): SessionParts {
  return { exchange, secrets, iceServers: new IceServers(webrtc ?? NO_ICE_SERVERS) };
}

export function addCallRoutes(app: FastifyInstance, parts: CallRouteParts): void {
  const { sessions, secrets, events, phone: telephone, limits } = parts;
  const { agents, recognisesSpeech, follow, captions, recordings, joining } = parts;
  void app.register(async (scope) => addBrowserCallRoutes(scope, sessions));
  void app.register(async (scope) => addHangupRoute(scope, sessions));
  addCallPreparationRoutes(app, { ...sessions, secrets, agents, recognisesSpeech });
  addEventRoutes(app, { follow, events });
  addCaptionRoutes(app, { captions, events });
  addJoiningRoutes(app, joining);
  addHandoverRoutes(app, joining);
  addRoomRoutes(app, { ...parts, joining, sounds: telephone.sounds });
  const { namedRelays: relays = NO_NAMED_RELAYS } = parts;
  void app.register(async (scope) => addTelephoneRoutes(scope, { telephone, events, limits, relays }));
  void app.register(async (scope) => addPlayRoute(scope, telephone, limits));
  void app.register(async (scope) => addRecordingRoutes(scope, recordings));
}
