// Serves browser calls as OpenAI's realtime API does: POST /v1/realtime/calls takes an SDP offer and returns
// the answer, and the location of the call ends it. Beyond that API, PATCH restarts ICE, and the token of a
// call resumes it on a new connection.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { SdpOffer } from '../../call/sdp-exchange.js';
import { ParleyError } from '../../errors.js';
import { keyIn } from '../http/access.js';
import { BYTES, NO_BODY, object, type RouteSchema, STRING, TAGS } from '../http/json-schema.js';
import { formParts, textOf } from '../http/multipart-form.js';
import { FRAGMENT_TYPE } from './ice-fragment.js';
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
  RECEIVED_DESCRIPTION,
  receivedTimestampOf,
  RESTART_ANSWER,
  sdpIn,
  SDP_TYPE,
  sendSession,
  type SessionParts,
} from './sdp-sessions.js';

const CALLS = '/v1/realtime/calls';
const BETA = '/v1/realtime'; // older clients add ?model=, which is ignored
const CALL = `${CALLS}/:id`;
const FORM_TYPE = 'multipart/form-data';
const OFFER_TYPES = `${SDP_TYPE}, ${FORM_TYPE}`;
const METHODS = 'OPTIONS, POST';

const OPENING_QUERY = object(
  {
    agent: {
      ...STRING,
      maxLength: 100,
      description:
        'name of the agent that talks, or `none`; by default the one of AGENT_LLM_URL or AGENTS_FILE',
    },
    program: {
      ...STRING,
      maxLength: 100,
      description: 'name of the program of IVR_FILE that conducts the call; not together with `agent`',
    },
  },
  ['agent', 'program'],
);

type Opening = { Querystring: { readonly agent?: string; readonly program?: string } };
type OneCall = { Params: { id: string } };

const ONE_CALL = object({ id: STRING });
const SDP_BODY = { schema: { ...STRING, description: 'the offer' } };

const OFFER_SCHEMA = {
  tags: [TAGS.calls],
  querystring: OPENING_QUERY,
  otherBodies: {
    [SDP_TYPE]: SDP_BODY,
    [FORM_TYPE]: {
      schema: object(
        {
          sdp: BYTES,
          session: { ...STRING, description: 'a JSON object, for the data channel `oai-events` or `relay`' },
        },
        ['session'],
      ),
    },
  },
  response: { 201: OFFER_ANSWER },
} as const;

const OPEN_SCHEMA: RouteSchema = { summary: 'Open a call', ...OFFER_SCHEMA };
const BETA_SCHEMA: RouteSchema = { summary: 'Open a call, at its address of the beta', ...OFFER_SCHEMA };

const RESUME_SCHEMA: RouteSchema = {
  summary: 'Move a call to a new connection of its client',
  description: `The bearer token is the Parley-Call-Token of the call. The sound goes on where it stopped. ${RECEIVED_DESCRIPTION}`,
  tags: [TAGS.calls],
  params: ONE_CALL,
  otherBodies: { [SDP_TYPE]: SDP_BODY },
  response: { 201: OFFER_ANSWER },
};

const PATCH_SCHEMA: RouteSchema = {
  summary: 'Add ICE candidates, or restart ICE',
  description: `If-Match must be the ETag of the call, or * to restart ICE. ${RECEIVED_DESCRIPTION}`,
  tags: [TAGS.calls],
  params: ONE_CALL,
  otherBodies: { [FRAGMENT_TYPE]: { schema: STRING } },
  response: { 200: RESTART_ANSWER, 204: CANDIDATES_ANSWER },
};

const OPTIONS_SCHEMA: RouteSchema = {
  summary: 'Which bodies an offer may come in',
  tags: [TAGS.calls],
  response: { 200: { description: 'in Accept-Post', headers: { 'Accept-Post': STRING } } },
};

const END_SCHEMA: RouteSchema = {
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
export function addBrowserCallRoutes(app: FastifyInstance, parts: SessionParts): void {
  const { exchange } = parts;
  app.removeAllContentTypeParsers();
  const types = [SDP_TYPE, FORM_TYPE, FRAGMENT_TYPE];
  app.addContentTypeParser(types, { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.addHook('onSend', async ({ method }, reply) => {
    if (reply.statusCode !== 415) return;
    if (method === 'PATCH') reply.header('accept-patch', FRAGMENT_TYPE);
    else reply.header('accept-post', OFFER_TYPES);
  });

  for (const [path, schema] of [[CALLS, OPEN_SCHEMA] as const, [BETA, BETA_SCHEMA] as const]) {
    const options = { bodyLimit: MAX_SDP_BYTES, schema, config: { access: 'call' } } as const;
    app.post<Opening>(path, options, (request, reply) => {
      const { agent, program } = request.query;
      const secret = keyIn(request.headers);
      const preset = secret === undefined ? undefined : parts.secrets.sessionOf(secret);
      const offered = readOffer(request);
      const session = offered.session ?? preset;
      refuseTranscription(session);
      const offer: SdpOffer = { ...offered, session, use: 'talk', agent, program, ...openerOf(request) };
      return sendSession(parts, reply, CALLS, exchange.open(offer));
    });
  }
  app.options(CALLS, { schema: OPTIONS_SCHEMA }, (_request, reply) =>
    reply.headers({ 'accept-post': OFFER_TYPES, allow: METHODS }).code(200).send(),
  );

  const ofCall = {
    access: 'key',
    admitsToken: (request: FastifyRequest) => hasSessionToken(parts, request),
  } as const;
  app.patch<OneCall>(
    CALL,
    { bodyLimit: MAX_SDP_BYTES, schema: PATCH_SCHEMA, config: ofCall },
    (request, reply) => patchSession(exchange, request, reply),
  );
  app.delete<OneCall>(CALL, { schema: END_SCHEMA, config: ofCall }, async (request, reply) => {
    await endSession(exchange, request);
    return reply.code(204).send();
  });
  addResumeRoute(app, parts);
}

/** Throws INVALID_FIELD. */
function refuseTranscription(session: SdpOffer['session']): void {
  if (session?.['type'] !== 'transcription') return;
  const message = 'a session of transcription goes over the WebSocket /v1/realtime, not over WebRTC';
  throw new ParleyError('INVALID_FIELD', message, { field: 'session.type' });
}

/** The token is checked after the body, so that a client whose call has ended gets 404, and not 401. */
function addResumeRoute(app: FastifyInstance, parts: SessionParts): void {
  const { exchange } = parts;
  const config = {
    access: 'key',
    admitsToken: ({ headers }: FastifyRequest) => keyIn(headers) !== undefined,
  } as const;
  const options = { bodyLimit: MAX_SDP_BYTES, schema: RESUME_SCHEMA, config };
  app.post<OneCall>(`${CALL}/resume`, options, (request, reply) => {
    const { sdp } = readOffer(request);
    presentSession(exchange, request);
    const token = keyIn(request.headers);
    if (token === undefined || !exchange.isTokenOf(request.params.id, token)) {
      throw new ParleyError('UNAUTHORIZED', 'the bearer token must be the Parley-Call-Token of this call');
    }
    const receivedTimestamp = receivedTimestampOf(request);
    const offer: SdpOffer = { sdp, use: 'talk', receivedTimestamp, ...openerOf(request) };
    return sendSession(parts, reply, CALLS, exchange.resume(token, offer), { isNew: false });
  });
}

/**
 * POST …/hangup ignores its body. It needs a fastify scope of its own, because it replaces the body parsers.
 */
export function addHangupRoute(app: FastifyInstance, parts: SessionParts): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, payload, done) => {
    payload.resume();
    done(null);
  });
  const config = {
    access: 'key',
    admitsToken: (request: FastifyRequest) => hasSessionToken(parts, request),
  } as const;
  app.post<OneCall>(
    `${CALL}/hangup`,
    { schema: HANG_UP_SCHEMA, config },
    async (request, reply): Promise<FastifyReply> => {
      await endSession(parts.exchange, request);
      return reply.code(200).send();
    },
  );
}

/** Throws UNSUPPORTED_MEDIA_TYPE, MALFORMED or SDP_INVALID. */
function readOffer(request: FastifyRequest): Pick<SdpOffer, 'sdp' | 'session'> {
  const { body } = request;
  const type = contentTypeOf(request);
  if (Buffer.isBuffer(body)) {
    if (type === SDP_TYPE) return { sdp: sdpIn(body) };
    if (type === FORM_TYPE) return readForm(body, request.headers['content-type'] ?? '');
  }
  throw new ParleyError('UNSUPPORTED_MEDIA_TYPE', `the offer must come as one of: ${OFFER_TYPES}`);
}

/** The session of the form is for the protocol of the data channel, which reads it. */
function readForm(body: Buffer, contentType: string): Pick<SdpOffer, 'sdp' | 'session'> {
  const parts = formParts(body, contentType);
  const sdp = parts.find(({ name }) => name === 'sdp');
  if (sdp === undefined) throw new ParleyError('MALFORMED', 'the form has no part "sdp"', { field: 'sdp' });
  const session = parts.find(({ name }) => name === 'session');
  const described = session === undefined ? undefined : readSession(textOf(session));
  return { sdp: sdpIn(sdp.bytes), session: described };
}

function readSession(text: string): SdpOffer['session'] {
  try {
    const session: unknown = JSON.parse(text);
    if (typeof session === 'object' && session !== null && !Array.isArray(session))
      return session as NonNullable<SdpOffer['session']>;
  } catch {
    // refused below, like a value of the wrong type
  }
  throw new ParleyError('MALFORMED', 'the part "session" must be a JSON object', { field: 'session' });
}
