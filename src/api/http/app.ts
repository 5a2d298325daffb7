// The HTTP application without its socket: routes, and what holds for all of
// them. Order of the hooks: id and safety headers, CORS, access, the route.
import fastifyStatic from '@fastify/static';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { randomUUID } from 'node:crypto';
import type { RequestListener, Server } from 'node:http';
import type { Log } from '../../observe/log.js';
import type { Metrics } from '../../observe/metrics.js';
import { type Access, isLoopbackName, refuseSecondHost } from './access.js';
import type { AudioReplies } from '../openai/audio-replies.js';
import { addCallRoutes, addHangupRoute, type BrowserCalls } from '../calls/call-routes.js';
import { addBatchRoute } from '../openai/batch-routes.js';
import { admitOrigin } from './cors.js';
import { addElevenLabsRoutes } from '../elevenlabs/elevenlabs-routes.js';
import type { ElevenLabsVoices } from '../elevenlabs/elevenlabs-voices.js';
import { errorBody, errorReply, refuseBrokenRequest, sendError } from './error-reply.js';
import type { EventReplies } from '../calls/event-replies.js';
import type { Gate } from './gate.js';
import { addJsonBody, addValidation, VALIDATION } from './validation.js';
import { ModelNames } from '../openai/model-names.js';
import { addLegacyRoutes } from '../legacy/legacy-routes.js';
import { addDocumentRoutes, addOpenApi } from './openapi.js';
import { MAX_HEADERS } from './protocols.js';
import type { PhoneDesk } from '../calls/phone-desk.js';
import { addPhoneRoutes } from '../calls/phone-routes.js';
import { addPlayRoute } from '../calls/play-route.js';
import { addRequestFields, watchRequest } from './request-line.js';
import { RouteTable } from './route-table.js';
import { type SafetyHeaders, safetyHeaders } from './safety-headers.js';
import { addSpeechRoutes, type SpeechLimits } from '../openai/speech-routes.js';
import type { SpeechSource } from '../openai/speech-source.js';
import { addVoiceRoutes } from '../openai/voice-routes.js';
import type { VoiceSource } from '../openai/voice-source.js';
import { addStatusRoutes, type ServerHealth } from './status-routes.js';
import { addTextRoutes } from '../openai/text-routes.js';
import { addressOf } from './visitor.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Absent means `key`: a route is closed unless it says otherwise. */
    access?: Access;
  }
  interface FastifyRequest {
    /** Who shares the server with others: a key by its name, or an address. */
    client: string;
    /** The same on a server with API keys, where calls belong to keys; undefined on one without. */
    key: string | undefined;
  }
}

export interface AppOptions {
  readonly host: string;
  /** Whether the port is one of HTTPS. */
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
  /** Names of voices by the ids that ElevenLabs' clients send. */
  readonly elevenLabsVoices?: ElevenLabsVoices;
  /** False leaves /metrics out. */
  readonly exposesMetrics: boolean;
  readonly calls: BrowserCalls;
  readonly health: () => ServerHealth;
  /** What the telephone door says of itself, for /health. */
  readonly telephone?: () => Readonly<Record<string, unknown>>;
  readonly metrics: Metrics;
  readonly log: Log;
  /** Unguessable part of a request's id; random when absent. */
  readonly newId?: () => string;
}

/** What answers, and who comes in. */
export interface AppParts {
  readonly replies: AudioReplies;
  readonly events: EventReplies;
  readonly phone: PhoneDesk;
  readonly gate: Gate;
}

const MAX_BODY_BYTES = 1024 * 1024;
/** Makes the server that the application answers through. */
export type ServerFactory = (handler: RequestListener) => Server;

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
    logger: false, // every request has one line of ours
    bodyLimit: MAX_BODY_BYTES,
    ...(serverFactory === undefined ? {} : { serverFactory }),
    return503OnClosing: false,
    genReqId: newRequestId,
    // An URL that cannot be decoded comes past all hooks.
    frameworkErrors: (error, request, reply) => {
      void reply.headers({ ...safety.api, 'x-request-id': request.id });
      sendError(reply as FastifyReply, error);
    },
    clientErrorHandler: (error, socket) => refuseBrokenRequest(error, socket, newRequestId()),
  });
  const routes = new RouteTable();
  app.addHook('onRoute', ({ url, method }) => routes.add(url, method));
  addHooks(app, options, parts.gate, safety);
  addJsonBody(app);
  addValidation(app);
  addOpenApi(app);
  app.setErrorHandler((error, request, reply) => {
    const { status, body } = errorReply(error, request.id);
    request.failure = body.error.code;
    if (status === 500) options.log.error({ requestId: request.id, err: error }, 'request failed');
    return sendError(reply, error);
  });
  app.setNotFoundHandler((request, reply) => answerNotFound(routes, request, reply));
  // In a scope of their own: routes that are added at once would be there before the document knows of any.
  void app.register(async (scope) => addRoutes(scope, options, parts));
  return app;
}

function addRoutes(app: FastifyInstance, options: AppOptions, parts: AppParts): void {
  const { speech, voices, limits, calls, metrics, log, health, exposesMetrics, pageFolder } = options;
  const { replies, events, phone } = parts;
  const models = new ModelNames(options.models.id, options.models.strict);
  const startedAt = Math.floor(Date.now() / 1000);
  const speaking = { speech, voices, limits, models, replies, metrics, log };
  addSpeechRoutes(app, { ...speaking, startedAt });
  addLegacyRoutes(app, speaking);
  addBatchRoute(app, speaking);
  addTextRoutes(app, limits);
  void app.register(async (scope) => addElevenLabsRoutes(scope, speaking, options.elevenLabsVoices));
  void app.register(async (scope) => addVoiceRoutes(scope, speaking));
  const status = { health, metrics, exposesMetrics, telephone: options.telephone, gate: parts.gate };
  addStatusRoutes(app, { ...status, startedAtMs: performance.now() });
  void app.register(async (scope) => addCallRoutes(scope, calls));
  void app.register(async (scope) => addHangupRoute(scope, calls));
  void app.register(async (scope) => addPhoneRoutes(scope, { desk: phone, events, limits }));
  void app.register(async (scope) => addPlayRoute(scope, phone, limits));
  void app.register(async (scope) => {
    scope.addHook('onRoute', (route) => {
      route.config = { ...route.config, access: 'open' };
      route.schema = { ...route.schema, hide: true }; // files are no part of the interface
    });
    // Every file is a route of its own, known at the start: nothing else of the disk can be asked for.
    await scope.register(fastifyStatic, { root: pageFolder, wildcard: false, cacheControl: false });
    await addDocumentRoutes(scope);
  });
}

function addHooks(app: FastifyInstance, options: AppOptions, gate: Gate, safety: SafetyHeaders): void {
  const origins = new Set(options.corsOrigins);
  app.decorateRequest('client', '');
  app.decorateRequest('key', undefined);
  addRequestFields(app);
  app.addHook('onRequest', async (request, reply) => {
    const route = request.routeOptions; // made anew each time it is asked for
    watchRequest(request, reply, route, options);
    // What has no route has nothing to protect, and is told so whoever asks.
    const access = request.is404 ? 'open' : (route.config.access ?? 'key');
    reply.headers(access === 'open' ? safety.page : safety.api).header('x-request-id', request.id);
    const isPreflight = admitOrigin(origins, request, reply);
    if (hasManyHeaders(request)) {
      const message = `a request may have at most ${MAX_HEADERS} headers`;
      return reply.code(431).send(errorBody(431, 'headers_too_large', message));
    }
    refuseSecondHost(request.raw.rawHeaders);
    const { method, headers } = request;
    const remoteAddress = addressOf(request.socket);
    request.client = gate.admit({ method, access, remoteAddress, headers }, (told) => {
      reply.headers(told);
    });
    if (gate.keyed) request.key = request.client;
    if (access === 'open') reply.header('cache-control', 'no-cache');
    if (isPreflight && request.is404) return reply.code(204).send();
    return undefined;
  });
}

function hasManyHeaders({ raw }: FastifyRequest): boolean {
  return raw.rawHeaders.length > 2 * MAX_HEADERS;
}

function answerNotFound(routes: RouteTable, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const methods = routes.methodsOf(request.url);
  if (methods.length === 0) {
    return reply.code(404).send(errorBody(404, 'not_found', 'there is nothing under this URL'));
  }
  const allow = [...new Set([...methods, 'OPTIONS'])].sort().join(', ');
  reply.header('allow', allow);
  if (request.method === 'OPTIONS') return reply.code(204).send();
  const message = `this URL does not take ${request.method}; it takes ${allow}`;
  return reply.code(405).send(errorBody(405, 'method_not_allowed', message));
}
