// Builds the fastify application without its socket: it adds every route, and the hooks that apply to all of
// them. The hooks run in this order: request id and security headers, CORS, access, route.
import { randomUUID } from 'node:crypto';
import type { RequestListener, Server } from 'node:http';
import {
  fastify,
  type FastifyContextConfig,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import type { AgentsConfig } from '../config/agent-config.js';
import { type NamedRelays, NO_NAMED_RELAYS } from '../config/named-relay.js';
import type { Log } from '../log.js';
import type { SdpExchange } from '../call/sdp-exchange.js';
import { systemTime, type Time } from '../time.js';
import { addCallRoutes, addHangupRoute } from './calls/browser-calls.js';
import { addCaptionRoutes, type CaptionSource } from './calls/caption-routes.js';
import { addCallPreparationRoutes } from './calls/call-preparation.js';
import type { EventReplies } from './calls/event-replies.js';
import { type IceServerOptions, IceServers, NO_ICE_SERVERS } from './calls/ice-servers.js';
import { addRecordingRoutes, type RecordingParts } from './calls/recording-routes.js';
import type { TelephoneAccess } from './calls/telephone-access.js';
import { addPlayRoute, addTelephoneRoutes } from './calls/telephone-routes.js';
import { addElevenLabsRoutes } from './elevenlabs/elevenlabs-routes.js';
import type { ElevenLabsVoices } from './elevenlabs/elevenlabs-voices.js';
import { addJambonzRoutes } from './jambonz/jambonz-voice-routes.js';
import { addLegacyRoutes } from './legacy/legacy-routes.js';
import type { AudioReplies } from './speech/audio-replies.js';
import { addBatchRoute } from './openai/batch-routes.js';
import { ModelNames, TRANSCRIPTION_MODELS } from './speech/speech-request.js';
import { addSpeechRoutes } from './openai/speech-routes.js';
import type { SpeechLimits } from './speech/speech-schema.js';
import type { SpeechSource, VoiceSource } from './speech/speech-source.js';
import { addTextRoutes } from './openai/text-routes.js';
import { addTranscriptionRoutes, type TranscriptionParts } from './openai/transcription-routes.js';
import { addVoiceRoutes } from './openai/voice-routes.js';
import { addWhipRoutes } from './whip/whip-routes.js';
import { type Access, addressOf, isLoopbackName, refuseSecondHost } from './http/access.js';
import {
  addForwardedPrefix,
  admitOrigin,
  type SafetyHeaders,
  safetyHeaders,
} from './http/browser-headers.js';
import { errorBody, errorReply, refuseBrokenRequest, sendError } from './http/error-reply.js';
import type { Admission } from './http/admission.js';
import type { ClientSecrets } from './http/client-secrets.js';
import { addEventRoutes, type FollowParts } from './calls/server-event-routes.js';
import { addRelayRoutes, type RelayAttachments } from './relay/relay-attachments.js';
import { addOpenApi } from './pages/openapi.js';
import { addPages } from './pages/pages.js';
import type { HttpMetrics } from './http/http-metrics.js';
import { MAX_HEADERS } from './http/protocols.js';
import { addRequestFields, watchRequest } from './request-line.js';
import { RouteTable } from './http/route-table.js';
import { addStatusRoutes, type ServerHealth } from './status/status-routes.js';
import { addJsonBody, addValidation, VALIDATION } from './http/validation.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Access rule of the route; default `key`. */
    access?: Access;
    /** True if the bearer token of the request admits it without a key. Asked only if the server has keys. */
    admitsToken?: (request: FastifyRequest) => boolean;
  }
  interface FastifyRequest {
    /** The client that limits count: the name of an API key, or an address. */
    client: string;
    /**
     * The same if the server has API keys, to which calls belong; undefined if it has none, or if the token
     * of a call admitted the request.
     */
    key: string | undefined;
  }
}

export interface AppOptions {
  readonly host: string;
  /** True if the port uses TLS. */
  readonly isSecure?: boolean;
  readonly corsOrigins: readonly string[];
  /** The folder of the web page. */
  readonly pageFolder: string;
  readonly speech: SpeechSource;
  readonly voices: VoiceSource;
  readonly limits: SpeechLimits;
  readonly models: {
    readonly id: string;
    /** Requests that name another model are refused. */
    readonly strict: boolean;
  };
  /** Voice names by the voice ids that ElevenLabs clients send. */
  readonly elevenLabsVoices?: ElevenLabsVoices;
  /** False removes the route /metrics. */
  readonly exposesMetrics: boolean;
  readonly calls: SdpExchange;
  /** The ICE servers of browser calls; none if absent. */
  readonly webrtc?: IceServerOptions;
  /** POST, PATCH and DELETE requests of one client to WHIP and WHEP in a minute. */
  readonly whipRequestsPerMinute?: number;
  readonly time?: Time;
  readonly health: () => ServerHealth;
  /** Transcription; without it, its routes answer 501. */
  readonly transcription?: TranscriptionParts | undefined;
  /** Captions of calls; without them, there are no calls to caption. */
  readonly captions?: CaptionSource | undefined;
  /** Agents that may talk in calls; none if absent. */
  readonly agents?: AgentsConfig;
  /** Applications that requests may name for one call; none if absent. */
  readonly namedRelays?: NamedRelays;
  /** Applications that attach to calls; without them, there are no calls to attach to. */
  readonly relays?: RelayAttachments | undefined;
  /** The events of all calls, and calls that wait for a decision; without them, there are none. */
  readonly follow?: FollowParts | undefined;
  /** Recordings of calls; without them, their routes answer 501. */
  readonly recordings?: RecordingParts | undefined;
  /** The state of the telephone, for /health. */
  readonly telephone?: () => Readonly<Record<string, unknown>>;
  readonly metrics: HttpMetrics;
  readonly log: Log;
  /** Makes the unguessable part of request ids; default: random UUIDs. */
  readonly newId?: () => string;
}

/** The objects that routes share, and the admission of requests. */
interface AppParts {
  readonly replies: AudioReplies;
  readonly events: EventReplies;
  readonly phone: TelephoneAccess;
  readonly admission: Admission;
  readonly secrets: ClientSecrets;
}

const MAX_BODY_BYTES = 1024 * 1024;

/** Makes the server that the application answers through. */
type ServerFactory = (handler: RequestListener) => Server;

export function buildApp(
  options: AppOptions,
  parts: AppParts,
  serverFactory?: ServerFactory,
): FastifyInstance {
  const { host, corsOrigins, isSecure = false } = options;
  const safety = safetyHeaders({ strictTransport: isSecure && !isLoopbackName(host), corsOrigins });
  const newRequestId = () => `req_${options.newId?.() ?? randomUUID()}`;
  const app = fastify({
    ...VALIDATION,
    logger: false, // request-line.ts logs one line per request
    bodyLimit: MAX_BODY_BYTES,
    ...(serverFactory === undefined ? {} : { serverFactory }),
    return503OnClosing: false,
    genReqId: newRequestId,
    // A URL that cannot be decoded bypasses all hooks.
    frameworkErrors: (error, request, reply) => {
      void reply.headers({ ...safety.api, 'x-request-id': request.id });
      sendError(reply as FastifyReply, error);
    },
    clientErrorHandler: (error, socket) => refuseBrokenRequest(error, socket, newRequestId()),
  });
  const routes = new RouteTable();
  app.addHook('onRoute', ({ url, method }) => routes.add(url, method));
  addHooks(app, options, parts.admission, safety);
  addJsonBody(app);
  addValidation(app);
  addOpenApi(app);
  app.setErrorHandler((error, request, reply) => {
    const { status, body } = errorReply(error, request.id);
    request.failure = body.error.code;
    if (status === 500) options.log.error({ requestId: request.id, err: error }, 'request failed');
    return sendError(reply, error);
  });
  app.setNotFoundHandler((request, reply) => routes.answerNotFound(request, reply));
  // In a scope of their own: routes that are added directly would be registered before the OpenAPI plugin.
  void app.register(async (scope) => addRoutes(scope, options, parts, routes));
  return app;
}

function addRoutes(app: FastifyInstance, options: AppOptions, parts: AppParts, routes: RouteTable): void {
  const { speech, voices, limits, metrics, log, health, exposesMetrics, pageFolder } = options;
  const { replies, events, phone } = parts;
  const models = new ModelNames(options.models.id, options.models.strict);
  const startedAt = Math.floor(Date.now() / 1000);
  const speaking = { speech, voices, limits, models, replies, metrics, log };
  const { transcription, time = systemTime } = options;
  const recogniser = transcription?.transcriber.recogniser;
  addSpeechRoutes(app, { ...speaking, startedAt, recogniser });
  addLegacyRoutes(app, speaking);
  addJambonzRoutes(app, speaking);
  addBatchRoute(app, speaking);
  addTextRoutes(app, limits);
  void app.register(async (scope) => addElevenLabsRoutes(scope, speaking, options.elevenLabsVoices));
  void app.register(async (scope) => addVoiceRoutes(scope, speaking));
  const listening = new ModelNames(recogniser?.name ?? 'none', options.models.strict, TRANSCRIPTION_MODELS);
  void app.register(async (scope) =>
    addTranscriptionRoutes(scope, { transcription, models: listening, time, log }),
  );
  const status = {
    health,
    metrics,
    exposesMetrics,
    telephone: options.telephone,
    admission: parts.admission,
  };
  addStatusRoutes(app, { ...status, startedAtMs: performance.now() });
  addBrowserCalls(app, options, parts, routes);
  addRelayRoutes(app, options.relays);
  addEventRoutes(app, { follow: options.follow, events });
  addCaptionRoutes(app, { captions: options.captions, events });
  const { namedRelays: relays = NO_NAMED_RELAYS } = options;
  void app.register(async (scope) => addTelephoneRoutes(scope, { telephone: phone, events, limits, relays }));
  void app.register(async (scope) => addPlayRoute(scope, phone, limits));
  void app.register(async (scope) => addRecordingRoutes(scope, options.recordings));
  void app.register(async (scope) => addPages(scope, pageFolder));
}

function addBrowserCalls(
  app: FastifyInstance,
  { calls: exchange, webrtc, whipRequestsPerMinute, time = systemTime, agents, transcription }: AppOptions,
  { secrets }: AppParts,
  routes: RouteTable,
): void {
  const sessions = { exchange, secrets, iceServers: new IceServers(webrtc ?? NO_ICE_SERVERS) };
  void app.register(async (scope) => addCallRoutes(scope, sessions));
  void app.register(async (scope) => addHangupRoute(scope, sessions));
  addCallPreparationRoutes(app, { ...sessions, agents, recognisesSpeech: transcription !== undefined });
  addWhipRoutes(app, {
    ...sessions,
    time,
    requestsPerMinute: whipRequestsPerMinute,
    notFound: (request, reply) => routes.answerNotFound(request, reply),
  });
}

function addHooks(
  app: FastifyInstance,
  options: AppOptions,
  admission: Admission,
  safety: SafetyHeaders,
): void {
  const origins = new Set(options.corsOrigins);
  app.decorateRequest('client', '');
  app.decorateRequest('key', undefined);
  addRequestFields(app);
  addForwardedPrefix(app);
  app.addHook('onRequest', async (request, reply) => {
    const route = request.routeOptions; // the getter makes a new object each time
    watchRequest(request, reply, route, options);
    // A path without a route has nothing to protect: everybody gets the 404.
    const access = request.is404 ? 'open' : (route.config.access ?? 'key');
    reply.headers(access === 'open' ? safety.page : safety.api).header('x-request-id', request.id);
    const isPreflight = admitOrigin(origins, request, reply);
    if (hasManyHeaders(request)) {
      const message = `a request may have at most ${MAX_HEADERS} headers`;
      return reply.code(431).send(errorBody(431, 'headers_too_large', message));
    }
    refuseSecondHost(request.raw.rawHeaders);
    admit(admission, request, reply, { ...route.config, access });
    if (access === 'open') reply.header('cache-control', 'no-cache');
    if (isPreflight && request.is404) return reply.code(204).send();
    return undefined;
  });
}

/** Throws UNAUTHORIZED, FORBIDDEN or RATE_LIMITED. */
function admit(
  admission: Admission,
  request: FastifyRequest,
  reply: FastifyReply,
  { access, admitsToken }: FastifyContextConfig & { readonly access: Access },
): void {
  const { method, headers } = request;
  const byToken = admission.keyed && admitsToken?.(request) === true;
  const remoteAddress = addressOf(request.socket);
  const facts = { method, access: byToken ? 'token' : access, remoteAddress, headers } as const;
  request.client = admission.admit(facts, (limits) => void reply.headers(limits));
  if (admission.keyed && !byToken) request.key = request.client;
}

function hasManyHeaders({ raw }: FastifyRequest): boolean {
  return raw.rawHeaders.length > 2 * MAX_HEADERS;
}
