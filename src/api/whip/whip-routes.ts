// Serves WHIP (RFC 9725), which publishes the client's audio, and WHEP (draft-ietf-wish-whep), which plays
// audio to the client. Both have an endpoint that takes an offer, and sessions below it.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { SdpOffer } from '../../call/sdp-exchange.js';
import { clientAddress, neighbourhood } from '../../call/client-limits.js';
import { ParleyError } from '../../errors.js';
import type { Time } from '../../time.js';
import { FRAGMENT_TYPE } from '../calls/ice-fragment.js';
import {
  CANDIDATES_ANSWER,
  contentTypeOf,
  endSession,
  hasSessionToken,
  MAX_SDP_BYTES,
  OFFER_ANSWER,
  openerOf,
  patchSession,
  presentSession,
  RESTART_ANSWER,
  sdpIn,
  SDP_TYPE,
  sendSession,
  type SessionParts,
} from '../calls/sdp-sessions.js';
import { addressOf, keyIn } from '../http/access.js';
import { RateLimits } from '../http/admission.js';
import { CORS_METHODS } from '../http/browser-headers.js';
import { NO_BODY, object, type RouteSchema, STRING, TAGS } from '../http/json-schema.js';
import { checkOffer } from './offer-rules.js';
import { answerWithProblems } from '../http/problem-details.js';

interface WhipParts extends SessionParts {
  readonly time: Time;
  /** POST, PATCH and DELETE requests of one client in a minute. */
  readonly requestsPerMinute?: number | undefined;
  /** Answers requests for addresses and methods that have no route. */
  readonly notFound: (request: FastifyRequest, reply: FastifyReply) => FastifyReply;
}

const REQUESTS_PER_MINUTE = 3000; // 50 a second: a browser that sends each candidate alone needs 20 a call
const RETRY_SECONDS = 1;
const LIMITED = new Set(['POST', 'PATCH', 'DELETE']);
const ENDPOINT_METHODS = 'GET, HEAD, OPTIONS, POST';
const SESSION_METHODS = 'DELETE, GET, HEAD, OPTIONS, PATCH';

interface Protocol {
  readonly name: 'WHIP' | 'WHEP';
  readonly path: string;
  readonly use: 'publish' | 'listen';
}

const PROTOCOLS: readonly Protocol[] = [
  { name: 'WHIP', path: '/whip', use: 'publish' },
  { name: 'WHEP', path: '/whep', use: 'listen' },
];

/** Adds each protocol in a fastify scope of its own, because it has its own parsers and its own errors. */
export function addWhipRoutes(app: FastifyInstance, parts: WhipParts): void {
  const limits = new RateLimits(parts.requestsPerMinute ?? REQUESTS_PER_MINUTE, parts.time);
  for (const protocol of PROTOCOLS) {
    const prefix = protocol.path;
    void app.register(async (scope) => addProtocol(scope, protocol, parts, limits), { prefix });
  }
}

function addProtocol(app: FastifyInstance, protocol: Protocol, parts: WhipParts, limits: RateLimits): void {
  app.removeAllContentTypeParsers();
  const types = [SDP_TYPE, FRAGMENT_TYPE];
  app.addContentTypeParser(types, { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  answerWithProblems(app);
  app.setNotFoundHandler(parts.notFound);
  app.addHook('onRequest', async (request) => limitRequests(limits, request));
  app.addHook('onSend', async ({ method }, reply) => {
    if (reply.statusCode !== 415) return;
    if (method === 'PATCH') reply.header('accept-patch', FRAGMENT_TYPE);
    else reply.header('accept-post', SDP_TYPE);
  });
  addEndpoint(app, protocol, parts);
  addSession(app, protocol, parts);
}

/**
 * Counts each address of a key on its own: the clients of one application may all have secrets of its key.
 */
function limitRequests(limits: RateLimits, request: FastifyRequest): void {
  const { method, client, key, socket, headers } = request;
  if (!LIMITED.has(method)) return;
  const address = clientAddress(addressOf(socket), headers);
  const name = key === undefined ? client : `${client} ${neighbourhood(address)}`;
  const { waitMs, limit } = limits.take(name);
  if (waitMs === 0) return;
  const message = `this client has sent more than ${limit} requests a minute to WHIP and WHEP`;
  throw new ParleyError('RATE_LIMITED', message, { retryAfterSeconds: waitMs / 1000 });
}

type Endpoint = { Querystring: { call?: string } };

function addEndpoint(app: FastifyInstance, protocol: Protocol, parts: WhipParts): void {
  const { name, use, path } = protocol;
  const { exchange } = parts;
  const schemas = endpointSchemas(protocol);
  const config = {
    access: 'call',
    admitsToken: (request: FastifyRequest) => use === 'listen' && hasTokenOfHeard(parts, request),
  } as const;
  const options = { schema: schemas.post, bodyLimit: MAX_SDP_BYTES, config };
  app.post<Endpoint>('', options, (request, reply) => {
    const offer = readOffer(request, use);
    refuseSecret(parts, request, offer);
    const opening = exchange.open(offer).catch((error: unknown) => {
      throw offer.listenTo === undefined ? error : asNothingToHear(error);
    });
    return sendSession(parts, reply, `${path}/sessions`, opening);
  });
  app.options('', { schema: schemas.options }, (_request, reply) =>
    reply
      .headers({
        'accept-post': SDP_TYPE,
        allow: ENDPOINT_METHODS,
        'access-control-allow-methods': CORS_METHODS,
      })
      .code(200)
      .send(),
  );
  app.get('', { schema: schemas.get, config, exposeHeadRoute: false }, (_request, reply) =>
    reply.code(204).send(),
  );
  // Players recognise an endpoint of WHEP by its HEAD (draft-ietf-wish-whep section 4.2).
  app.head('', { schema: { hide: true }, config }, (_request, reply) =>
    name === 'WHEP' ? reply.code(200).type(SDP_TYPE).send() : reply.code(204).send(),
  );
}

// WHEP may answer 406 with an offer of its own. This server accepts or refuses every offer, which is
// compliant: its codecs are fixed, so a counter-offer could offer nothing that the answer does not.
function readOffer(request: FastifyRequest<Endpoint>, use: Protocol['use']): SdpOffer {
  const { body, query } = request;
  if (contentTypeOf(request) !== SDP_TYPE || !Buffer.isBuffer(body)) {
    throw new ParleyError('UNSUPPORTED_MEDIA_TYPE', `the offer must be ${SDP_TYPE}`);
  }
  const sdp = sdpIn(body);
  checkOffer(sdp, use);
  const listenTo = use === 'listen' ? query.call : undefined;
  return { sdp, use, ...openerOf(request), ...(listenTo === undefined ? {} : { listenTo }) };
}

/** Throws UNAUTHORIZED for a client secret that asks to hear a call: it opens calls, and no other. */
function refuseSecret(
  { secrets }: SessionParts,
  { headers }: FastifyRequest,
  { owner, listenTo }: SdpOffer,
): void {
  const secret = keyIn(headers);
  if (listenTo === undefined || owner === undefined || secret === undefined) return;
  if (!secrets.has(secret) || secrets.hasOpened(secret, listenTo)) return;
  const message =
    'a client secret cannot listen to this call: the bearer token must be its Parley-Call-Token';
  throw new ParleyError('UNAUTHORIZED', message);
}

/** True if the bearer token is that of the call that the request asks to hear. */
function hasTokenOfHeard({ exchange }: SessionParts, { headers, query }: FastifyRequest): boolean {
  const token = keyIn(headers);
  const { call } = query as { readonly call?: unknown };
  return token !== undefined && typeof call === 'string' && exchange.isTokenOf(call, token);
}

/** A call that has nothing to hear yet is answered with 409 and Retry-After. */
function asNothingToHear(error: unknown): unknown {
  if (!(error instanceof ParleyError) || error.code !== 'CALL_STATE') return error;
  const { retryAfterSeconds = RETRY_SECONDS } = error;
  return new ParleyError('CALL_STATE', error.message, { retryAfterSeconds, cause: error });
}

type OneSession = { Params: { id: string } };

function addSession(app: FastifyInstance, { name }: Protocol, parts: WhipParts): void {
  const { exchange } = parts;
  const path = '/sessions/:id';
  const schemas = sessionSchemas(name);
  const config = {
    access: 'key',
    admitsToken: (request: FastifyRequest) => hasSessionToken(parts, request),
  } as const;
  const options = { schema: schemas.patch, bodyLimit: MAX_SDP_BYTES, config };
  app.patch<OneSession>(path, options, (request, reply) => patchSession(exchange, request, reply));
  app.delete<OneSession>(path, { schema: schemas.delete, config }, async (request, reply) => {
    await endSession(exchange, request);
    return reply.code(204).send();
  });
  app.options(path, { schema: schemas.options }, (_request, reply) =>
    reply
      .headers({
        'accept-post': SDP_TYPE,
        'accept-patch': FRAGMENT_TYPE,
        allow: SESSION_METHODS,
        'access-control-allow-methods': CORS_METHODS,
      })
      .code(200)
      .send(),
  );
  app.get<OneSession>(path, { schema: schemas.get, config }, (request, reply) => {
    presentSession(exchange, request);
    return reply.code(204).send();
  });
}

const TYPES = {
  description: 'the methods and bodies are in the headers',
  headers: { 'Accept-Post': STRING },
};

function endpointSchemas({ name, use }: Protocol): Record<'post' | 'options' | 'get', RouteSchema> {
  const tags = [TAGS.whip] as const;
  const call = { ...STRING, description: 'id of a running call to hear, instead of a call of its own' };
  return {
    post: {
      summary: use === 'publish' ? 'Publish audio into a call (WHIP)' : 'Listen to a call (WHEP)',
      tags,
      ...(use === 'listen' ? { querystring: object({ call }, ['call']) } : {}),
      otherBodies: { [SDP_TYPE]: { schema: { ...STRING, description: 'the offer' } } },
      response: {
        201: OFFER_ANSWER,
        ...(use === 'listen' && {
          409: { description: 'nothing to hear yet; try again after `Retry-After`' },
        }),
        422: { description: 'the offer is valid, but its directions or sections cannot be served' },
      },
    },
    options: { summary: `What the ${name} endpoint takes`, tags, response: { 200: TYPES } },
    get: { summary: `Whether this is a ${name} endpoint`, tags, response: { 204: NO_BODY } },
  };
}

function sessionSchemas(name: string): Record<'patch' | 'delete' | 'options' | 'get', RouteSchema> {
  const shared = { tags: [TAGS.whip] as const, params: object({ id: STRING }) };
  return {
    patch: {
      summary: `Add ICE candidates to a ${name} session, or restart ICE`,
      description: 'If-Match must be the ETag of the session, or * to restart ICE.',
      ...shared,
      otherBodies: { [FRAGMENT_TYPE]: { schema: STRING } },
      response: {
        200: RESTART_ANSWER,
        204: CANDIDATES_ANSWER,
        412: { description: 'If-Match is not the ETag of the present ICE session' },
        428: { description: 'there is no If-Match' },
      },
    },
    delete: { summary: `End a ${name} session`, ...shared, response: { 204: NO_BODY } },
    options: { summary: `What a ${name} session takes`, ...shared, response: { 200: TYPES } },
    get: { summary: `Whether a ${name} session goes on`, ...shared, response: { 204: NO_BODY } },
  };
}
