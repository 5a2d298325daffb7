// The HTTP application without its socket: routes, and what holds for all of
// them. Order of the hooks: id and safety headers, CORS, access, the route.
import fastifyStatic from '@fastify/static';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Log } from '../observe/log.js';
import type { Metrics } from '../observe/metrics.js';
import { type Access, AccessGuard } from './access.js';
import type { AudioReplies } from './audio-replies.js';
import { addCallRoutes, addHangupRoute, type BrowserCalls } from './call-routes.js';
import { admitOrigin } from './cors.js';
import { errorBody, errorReply, sendError } from './error-reply.js';
import { addDocumentRoutes, addOpenApi } from './openapi.js';
import { addRequestFields, watchRequest } from './request-line.js';
import { RouteTable } from './route-table.js';
import { ModelNames } from './model-names.js';
import { addSpeechRoutes, type SpeechLimits } from './speech-routes.js';
import type { SpeechSource } from './speech-source.js';
import { addVoiceRoutes } from './voice-routes.js';
import type { VoiceSource } from './voice-source.js';
import { addStatusRoutes, type ServerHealth } from './status-routes.js';
import { addValidation, VALIDATION } from './validation.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Absent means `key`: a route is closed unless it says otherwise. */
    access?: Access;
  }
  interface FastifyRequest {
    /** Who shares the server with others: a key by its number, or an address. */
    client: string;
  }
}

export interface AppOptions {
  readonly host: string;
  readonly apiKeys: readonly string[];
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
  /** False leaves /metrics out. */
  readonly exposesMetrics: boolean;
  readonly calls: BrowserCalls;
  readonly health: () => ServerHealth;
  readonly metrics: Metrics;
  readonly log: Log;
  /** Unguessable part of a request's id; random when absent. */
  readonly newId?: () => string;
}

const MAX_BODY_BYTES = 1024 * 1024;
const REQUEST_MS = 30_000; // to send a whole request
const KEEP_ALIVE_MS = 130_000; // longer than any common client pool keeps a connection

// The page takes nothing from anywhere else and is shown in no frame.
const CONTENT_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "media-src 'self' blob: mediastream:",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const SAFETY_HEADERS = {
  'content-security-policy': CONTENT_POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
};

export function buildApp(options: AppOptions, replies: AudioReplies): FastifyInstance {
  const newRequestId = () => `req_${options.newId?.() ?? randomUUID()}`;
  const app = fastify({
    ...VALIDATION,
    logger: false, // every request has one line of ours
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    return503OnClosing: false,
    genReqId: newRequestId,
    // An URL that cannot be decoded comes past all hooks.
    frameworkErrors: (error, request, reply) => {
      void reply.headers({ ...SAFETY_HEADERS, 'x-request-id': request.id });
      sendError(reply as FastifyReply, error);
    },
    clientErrorHandler: (error, socket) => refuseBrokenRequest(error, socket, newRequestId()),
  });
  const routes = new RouteTable();
  app.addHook('onRoute', ({ url, method }) => routes.add(url, method));
  addHooks(app, options);
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
  void app.register(async (scope) => addRoutes(scope, options, replies));
  return app;
}

function addRoutes(app: FastifyInstance, options: AppOptions, replies: AudioReplies): void {
  const { speech, voices, limits, calls, metrics, log, health, exposesMetrics, pageFolder } = options;
  const models = new ModelNames(options.models.id, options.models.strict);
  const startedAt = Math.floor(Date.now() / 1000);
  addSpeechRoutes(app, { speech, voices, limits, models, replies, metrics, log, startedAt });
  void app.register(async (scope) =>
    addVoiceRoutes(scope, { speech, voices, limits, models, replies, metrics, log }),
  );
  addStatusRoutes(app, { health, metrics, exposesMetrics, startedAtMs: performance.now() });
  void app.register(async (scope) => addCallRoutes(scope, calls));
  void app.register(async (scope) => addHangupRoute(scope, calls));
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

function addHooks(app: FastifyInstance, options: AppOptions): void {
  const guard = new AccessGuard(options);
  const origins = new Set(options.corsOrigins);
  app.decorateRequest('client', '');
  addRequestFields(app);
  app.addHook('onRequest', async (request, reply) => {
    const route = request.routeOptions; // made anew each time it is asked for
    watchRequest(request, reply, route, options);
    reply.headers({ ...SAFETY_HEADERS, 'x-request-id': request.id });
    const isPreflight = admitOrigin(origins, request, reply);
    // What has no route has nothing to protect, and is told so whoever asks.
    const access = request.is404 ? 'open' : (route.config.access ?? 'key');
    request.client = guard.check({
      method: request.method,
      access,
      remoteAddress: request.socket.remoteAddress,
      headers: request.headers,
    });
    if (access === 'open') reply.header('cache-control', 'no-cache');
    if (isPreflight && request.is404) return reply.code(204).send();
    return undefined;
  });
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

const BROKEN: Readonly<
  Record<string, readonly [status: number, phrase: string, code: string, message: string]>
> = {
  HPE_HEADER_OVERFLOW: [
    431,
    'Request Header Fields Too Large',
    'headers_too_large',
    'the headers are too large',
  ],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout', 'timeout', 'the request did not arrive in time'],
};

/** What is not HTTP never becomes a request, so the socket itself is answered. */
function refuseBrokenRequest(error: Error & { code?: string }, socket: Socket, requestId: string): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, phrase, code, message] = BROKEN[error.code ?? ''] ?? [
    400,
    'Bad Request',
    'malformed',
    'the request is not valid HTTP',
  ];
  const body = JSON.stringify(errorBody(status, code, message));
  const head = [
    `HTTP/1.1 ${status} ${phrase}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
