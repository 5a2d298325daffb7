// The hooks that apply to every request, in this order: request id and security headers, CORS, access, route.
import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Access, addressOf, isLoopbackName, refuseSecondHost } from './http/access.js';
import type { Admission } from './http/admission.js';
import {
  addForwardedPrefix,
  admitOrigin,
  type SafetyHeaders,
  safetyHeaders,
} from './http/browser-headers.js';
import { errorBody } from './http/error-reply.js';
import { MAX_HEADERS } from './http/protocols.js';
import { addRequestFields, type LineParts, watchRequest } from './request-line.js';

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

interface HookParts extends LineParts {
  readonly corsOrigins: readonly string[];
  readonly admission: Admission;
  readonly safety: SafetyHeaders;
}

interface PortOptions {
  readonly host: string;
  /** True if the port uses TLS. */
  readonly isSecure?: boolean;
  readonly corsOrigins: readonly string[];
}

/** The headers of every answer. */
export function safetyOf({ host, isSecure = false, corsOrigins }: PortOptions): SafetyHeaders {
  return safetyHeaders({ strictTransport: isSecure && !isLoopbackName(host), corsOrigins });
}

export function addRequestHooks(app: FastifyInstance, parts: HookParts): void {
  const { admission, safety } = parts;
  const origins = new Set(parts.corsOrigins);
  app.decorateRequest('client', '');
  app.decorateRequest('key', undefined);
  addRequestFields(app);
  addForwardedPrefix(app);
  app.addHook('onRequest', async (request, reply) => {
    const route = request.routeOptions; // the getter makes a new object each time
    watchRequest(request, reply, route, parts);
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
