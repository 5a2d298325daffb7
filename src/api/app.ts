// Builds the fastify application without its socket: the hooks of every request (request-hooks.ts), and the
// routes of each protocol.
import { randomUUID } from 'node:crypto';
import type { RequestListener, Server } from 'node:http';
import { fastify, type FastifyInstance, type FastifyReply } from 'fastify';
import type { Log } from '../log.js';
import { systemTime, type Time } from '../time.js';
import { addCallRoutes, type CallOptions, type CallState, sessionParts } from './calls/call-routes.js';
import { addElevenLabsRoutes } from './elevenlabs/elevenlabs-routes.js';
import type { Admission } from './http/admission.js';
import { errorReply, refuseBrokenRequest, sendError } from './http/error-reply.js';
import type { HttpMetrics } from './http/http-metrics.js';
import { RouteTable } from './http/route-table.js';
import { addJsonBody, addValidation, VALIDATION } from './http/validation.js';
import { addJambonzRoutes } from './jambonz/jambonz-voice-routes.js';
import { addLegacyRoutes } from './legacy/legacy-routes.js';
import { addOpenAiRoutes, type OpenAiOptions } from './openai/openai-routes.js';
import { addPages } from './pages/pages.js';
import { addRelayRoutes, type RelayAttachments } from './relay/relay-attachments.js';
import { addRequestHooks, safetyOf } from './request-hooks.js';
import type { SpeakingParts } from './speech/speech-answer.js';
import { ModelNames } from './speech/speech-request.js';
import { addStatusRoutes, type StatusOptions } from './status/status-routes.js';
import type { RestCalls } from './twilio/rest-calls.js';
import { addTwilioRoutes } from './twilio/twilio-routes.js';
import { addWhipRoutes } from './whip/whip-routes.js';

export interface AppOptions extends CallOptions, OpenAiOptions, StatusOptions {
  readonly host: string;
  /** True if the port uses TLS. */
  readonly isSecure?: boolean;
  readonly corsOrigins: readonly string[];
  /** The folder of the web page. */
  readonly pageFolder: string;
  readonly speech: SpeakingParts['speech'];
  readonly limits: SpeakingParts['limits'];
  readonly models: {
    readonly id: string;
    /** Requests that name another model are refused. */
    readonly strict: boolean;
  };
  /** Voice names by the voice ids that ElevenLabs clients send. */
  readonly elevenLabsVoices?: ReadonlyMap<string, string>;
  /** POST, PATCH and DELETE requests of one client to WHIP and WHEP in a minute. */
  readonly whipRequestsPerMinute?: number;
  /** Applications that attach to calls; without them, there are no calls to attach to. */
  readonly relays?: RelayAttachments | undefined;
  /** The calls of Twilio's REST API; without them, it does not exist. */
  readonly restCalls?: RestCalls | undefined;
  readonly time?: Time;
  readonly metrics: HttpMetrics;
  readonly log: Log;
  /** Makes the unguessable part of request ids; default: random UUIDs. */
  readonly newId?: () => string;
}

/** The objects that routes share, and the admission of requests. */
interface AppParts extends CallState {
  readonly replies: SpeakingParts['replies'];
  readonly admission: Admission;
}

const MAX_BODY_BYTES = 1024 * 1024;

/** Makes the server that the application answers through. */
type ServerFactory = (handler: RequestListener) => Server;

export function buildApp(
  options: AppOptions,
  parts: AppParts,
  serverFactory?: ServerFactory,
): FastifyInstance {
  const safety = safetyOf(options);
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
  addRequestHooks(app, { ...options, admission: parts.admission, safety });
  addJsonBody(app);
  addValidation(app);
  addPages(app, options.pageFolder);
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
  const { time = systemTime, models: names, transcription } = options;
  const models = new ModelNames(names.id, names.strict);
  const speaking = { ...options, models, replies: parts.replies };
  addOpenAiRoutes(app, { ...speaking, strictModels: names.strict, time });
  addLegacyRoutes(app, speaking);
  addJambonzRoutes(app, speaking);
  void app.register(async (scope) => addElevenLabsRoutes(scope, speaking, options.elevenLabsVoices));
  addStatusRoutes(app, { ...options, admission: parts.admission, startedAtMs: performance.now() });
  const sessions = sessionParts(options, parts.secrets);
  addCallRoutes(app, { ...options, ...parts, sessions, recognisesSpeech: transcription !== undefined });
  addWhipRoutes(app, {
    ...sessions,
    time,
    requestsPerMinute: options.whipRequestsPerMinute,
    notFound: (request, reply) => routes.answerNotFound(request, reply),
  });
  addRelayRoutes(app, options.relays);
  const { restCalls: calls, log } = options;
  if (calls !== undefined) void app.register(async (scope) => addTwilioRoutes(scope, { calls }, log));
}
