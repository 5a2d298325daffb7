// Serves browser calls over HTTP, as OpenAI's realtime API does: POST /v1/realtime/calls takes an SDP offer
// and returns the answer, and the location of the call ends it.
import type { FastifyInstance, FastifyReply } from 'fastify';
import { callClients } from '../../call/client-limits.js';
import { ParleyError } from '../../errors.js';
import { addressOf } from '../http/access.js';
import { BYTES, NO_BODY, object, type RouteSchema, STRING, TAGS } from '../http/json-schema.js';
import { formParts, textOf } from '../http/multipart-form.js';
import { isGone } from '../http/reply-connection.js';

export interface Offer {
  readonly sdp: string;
  /** The session object of the request, not interpreted. */
  readonly session?: unknown;
}

/** Opens and ends browser calls. */
export interface BrowserCalls {
  /**
   * `owner` is the name of the API key that the call belongs to; when undefined, it belongs to every key.
   * `clients` are the names under which the call is counted. Rejects with SDP_INVALID, NO_COMMON_CODEC,
   * CALL_LIMIT, CLIENT_LIMIT or TRANSPORT_UNSUPPORTED.
   */
  open(
    offer: Offer & { readonly owner?: string | undefined; readonly clients?: readonly string[] },
  ): Promise<{ readonly id: string; readonly sdp: string }>;
  /** Resolves to false if there is no such call, or if the API key of this name may not use it. */
  hangUp(id: string, key?: string): Promise<boolean>;
}

const CALLS = '/v1/realtime/calls';
const MAX_OFFER_BYTES = 64 * 1024; // ten times the longest offers of Chromium

type OneCall = { Params: { id: string } };
const OFFER_TYPES = 'application/sdp, multipart/form-data';

const ONE_CALL = object({ id: STRING });

const OPEN_CALL_SCHEMA: RouteSchema = {
  summary: 'Open a call',
  tags: [TAGS.calls],
  otherBodies: {
    'application/sdp': { schema: { ...STRING, description: 'the offer' } },
    'multipart/form-data': {
      schema: object({ sdp: BYTES, session: { ...STRING, description: 'a JSON object' } }, ['session']),
    },
  },
  response: {
    201: {
      description: 'the answer',
      headers: { Location: { ...STRING, description: "the call's own address" } },
      content: { 'application/sdp': { schema: STRING } },
    },
  },
};

const CALL_OPTIONS_SCHEMA: RouteSchema = {
  summary: 'Which bodies an offer may come in',
  tags: [TAGS.calls],
  response: { 200: { description: 'in Accept-Post', headers: { 'Accept-Post': STRING } } },
};

const END_CALL_SCHEMA: RouteSchema = {
  summary: 'End a call',
  tags: [TAGS.calls],
  params: ONE_CALL,
  response: { 204: NO_BODY },
};

const HANG_UP_SCHEMA: RouteSchema = {
  summary: 'End a call, in the way of OpenAI',
  tags: [TAGS.calls],
  params: ONE_CALL,
  response: { 200: NO_BODY },
};

/** Needs a fastify scope of its own, because it replaces the body parsers. */
export function addCallRoutes(app: FastifyInstance, calls: BrowserCalls): void {
  app.removeAllContentTypeParsers();
  const parsed = { parseAs: 'buffer' } as const;
  app.addContentTypeParser(['application/sdp', 'multipart/form-data'], parsed, (_request, body, done) => {
    done(null, body);
  });

  app.addHook('onSend', async (_request, reply) => {
    if (reply.statusCode === 415) reply.header('accept-post', OFFER_TYPES);
  });

  app.options(CALLS, { schema: CALL_OPTIONS_SCHEMA }, (_request, reply) =>
    reply.headers({ 'accept-post': OFFER_TYPES, allow: 'OPTIONS, POST' }).code(200).send(),
  );

  app.post(CALLS, { bodyLimit: MAX_OFFER_BYTES, schema: OPEN_CALL_SCHEMA }, async (request, reply) => {
    const offer = readOffer(request.headers['content-type'], request.body);
    const clients = callClients(request.key, addressOf(request.socket));
    const { id, sdp } = await calls.open({ ...offer, owner: request.key, clients });
    if (isGone(reply.raw)) {
      // The client has left, and nobody else knows the id of the call.
      await calls.hangUp(id);
      throw new ParleyError('ABORTED', 'the client left before the answer was there');
    }
    const location = `${CALLS}/${encodeURIComponent(id)}`;
    return reply.code(201).headers({ location, 'content-type': 'application/sdp' }).send(sdp);
  });

  app.delete<OneCall>(`${CALLS}/:id`, { schema: END_CALL_SCHEMA }, async ({ params, key }, reply) => {
    await end(calls, params.id, key);
    return reply.code(204).send();
  });
}

/**
 * POST …/hangup ignores its body. It needs a fastify scope of its own, because it replaces the body parsers.
 */
export function addHangupRoute(app: FastifyInstance, calls: BrowserCalls): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, payload, done) => {
    payload.resume();
    done(null);
  });
  app.post<OneCall>(
    `${CALLS}/:id/hangup`,
    { schema: HANG_UP_SCHEMA },
    async ({ params, key }, reply): Promise<FastifyReply> => {
      await end(calls, params.id, key);
      return reply.code(200).send();
    },
  );
}

async function end(calls: BrowserCalls, id: string, key: string | undefined): Promise<void> {
  if (!(await calls.hangUp(id, key))) throw new ParleyError('NOT_FOUND', 'there is no call of this id');
}

/** Throws UNSUPPORTED_MEDIA_TYPE, MALFORMED or SDP_INVALID. */
function readOffer(contentType: string | undefined, body: unknown): Offer {
  if (!Buffer.isBuffer(body) || contentType === undefined) {
    throw new ParleyError('UNSUPPORTED_MEDIA_TYPE', `the offer must come as one of: ${OFFER_TYPES}`);
  }
  const isForm = contentType.toLowerCase().startsWith('multipart/');
  const offer = isForm ? readForm(contentType, body) : { sdp: decoded(body) };
  if (offer.sdp.trim() === '') {
    throw new ParleyError('SDP_INVALID', 'the offer is empty', { field: 'sdp' });
  }
  return offer;
}

function readForm(contentType: string, body: Buffer): Offer {
  const parts = formParts(body, contentType);
  const sdp = parts.find(({ name }) => name === 'sdp');
  if (sdp === undefined) throw new ParleyError('MALFORMED', 'the form has no part "sdp"', { field: 'sdp' });
  const session = parts.find(({ name }) => name === 'session');
  const offer = { sdp: decoded(sdp.bytes) };
  return session === undefined ? offer : { ...offer, session: readSession(textOf(session)) };
}

function readSession(text: string): unknown {
  try {
    const session: unknown = JSON.parse(text);
    if (typeof session === 'object' && session !== null && !Array.isArray(session)) return session;
  } catch {
    // refused below, like a value of the wrong type
  }
  throw new ParleyError('MALFORMED', 'the part "session" must be a JSON object', { field: 'session' });
}

/** SDP is UTF-8 (RFC 8866, section 5). */
function decoded(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new ParleyError('SDP_INVALID', 'the offer is not UTF-8', { field: 'sdp', cause: error });
  }
}
