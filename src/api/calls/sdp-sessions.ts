// The HTTP side of an exchange of session descriptions, which WHIP, WHEP and the realtime API share: an offer
// is answered with 201, PATCH changes the ICE session, DELETE ends the call.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { callClients, clientAddress } from '../../call/client-limits.js';
import type { SdpExchange, SdpOffer, SdpSession } from '../../call/sdp-exchange.js';
import { ParleyError } from '../../errors.js';
import { addressOf, keyIn } from '../http/access.js';
import type { ClientSecrets } from '../http/client-secrets.js';
import { type Answer, STRING } from '../http/json-schema.js';
import { isGone } from '../http/reply-connection.js';
import { FRAGMENT_TYPE, iceFragment, readIceFragment } from './ice-fragment.js';
import type { IceServers } from './ice-servers.js';

export interface SessionParts {
  readonly exchange: SdpExchange;
  readonly secrets: Pick<ClientSecrets, 'opened' | 'has' | 'hasOpened' | 'sessionOf'>;
  readonly iceServers: IceServers;
}

export const SDP_TYPE = 'application/sdp';
export const MAX_SDP_BYTES = 64 * 1024; // ten times the longest offers of Chromium

/** Statuses of the OpenAPI document. */
export const OFFER_ANSWER: Answer = {
  description: 'the answer',
  headers: {
    Location: { ...STRING, description: "the session's own address" },
    ETag: { ...STRING, description: 'the ICE session, for If-Match of a PATCH' },
    Link: { ...STRING, description: 'ICE servers for the client, one header each (rel="ice-server")' },
    'Parley-Call-Token': {
      ...STRING,
      description:
        'bearer token that may patch, resume and end this call, and listen to it; absent for a listener',
    },
  },
  content: { [SDP_TYPE]: { schema: STRING } },
};
export const RESTART_ANSWER: Answer = {
  description: 'ICE is restarted; with the credentials and candidates of the server',
  headers: { ETag: { ...STRING, description: 'the new ICE session' } },
  content: { [FRAGMENT_TYPE]: { schema: STRING } },
};
export const CANDIDATES_ANSWER: Answer = { description: 'the candidates are taken' };

/** The client that opens a session: the fields of an offer that do not depend on its body. */
export function openerOf({ key, socket, headers }: FastifyRequest): Pick<SdpOffer, 'owner' | 'clients'> {
  return { owner: key, clients: callClients(key, clientAddress(addressOf(socket), headers)) };
}

/**
 * Answers with 201 when the session is open. `base` is the address below which the session is found. Hangs up
 * a new session whose client has left.
 */
export async function sendSession(
  { exchange, iceServers, secrets }: SessionParts,
  reply: FastifyReply,
  base: string,
  opening: Promise<SdpSession>,
  { isNew = true } = {},
): Promise<FastifyReply> {
  const { id, sdp, iceSession, token } = await opening;
  const key = keyIn(reply.request.headers);
  if (isNew && key !== undefined) secrets.opened(key, id);
  if (isGone(reply.raw)) {
    // A new session has no other client. A call that was to be resumed still waits for its client.
    if (isNew) await exchange.hangUp(id);
    throw new ParleyError('ABORTED', 'the client left before the answer was there');
  }
  const links = iceServers.links();
  if (links.length > 0) reply.header('link', links);
  if (token !== undefined) reply.header('parley-call-token', token);
  const location = `${base}/${encodeURIComponent(id)}`;
  return reply
    .code(201)
    .headers({ location, etag: `"${iceSession}"`, 'content-type': SDP_TYPE })
    .send(sdp);
}

type OneSession = FastifyRequest<{ Params: { id: string } }>;

const RECEIVED_TIMESTAMP = 'parley-received-timestamp';
const MOST_TIMESTAMP = 0xffff_ffff;

/** For the description of a request that may have the header. */
export const RECEIVED_DESCRIPTION =
  'Parley-Received-Timestamp is the RTP timestamp of the sound that the client received last, once nothing ' +
  'arrives any more: what was sent after it is sent once more.';

/** Undefined without the header. Throws INVALID_FIELD. */
export function receivedTimestampOf({ headers }: FastifyRequest): number | undefined {
  const text = headers[RECEIVED_TIMESTAMP];
  if (text === undefined) return undefined;
  if (typeof text === 'string' && /^\d{1,10}$/.test(text) && Number(text) <= MOST_TIMESTAMP)
    return Number(text);
  const message = `Parley-Received-Timestamp must be an RTP timestamp, from 0 to ${MOST_TIMESTAMP}`;
  throw new ParleyError('INVALID_FIELD', message, { field: 'Parley-Received-Timestamp' });
}

/** PATCH with a fragment: candidates are answered with 204, a restart of ICE with 200. */
export function patchSession(exchange: SdpExchange, request: OneSession, reply: FastifyReply): FastifyReply {
  const { params, headers, body } = request;
  const present = presentSession(exchange, request);
  if (contentTypeOf(request) !== FRAGMENT_TYPE || !Buffer.isBuffer(body)) {
    throw new ParleyError('UNSUPPORTED_MEDIA_TYPE', `the body must be ${FRAGMENT_TYPE}`);
  }
  const fragment = readIceFragment(body);
  // Some clients send the entity tag in a header of its own name.
  const condition = headers['if-match'] ?? headers['etag'];
  checkCondition(typeof condition === 'string' ? condition : undefined, present);
  const restart = exchange.patchIce(params.id, fragment, receivedTimestampOf(request));
  if (restart === undefined) return reply.code(204).send();
  return reply
    .code(200)
    .headers({ etag: `"${restart.iceSession}"`, 'content-type': FRAGMENT_TYPE })
    .send(iceFragment(restart));
}

/** The present ICE session. Throws NOT_FOUND if the key of the request may use no session of this id. */
export function presentSession(exchange: SdpExchange, { params, key }: OneSession): string {
  const session = exchange.iceSession(params.id, key);
  if (session === undefined) throw notFound();
  return session;
}

/** Ends the session. Entity tags are ignored (RFC 9725 section 4.3.1). */
export async function endSession(exchange: SdpExchange, { params, key }: OneSession): Promise<void> {
  if (!(await exchange.hangUp(params.id, key))) throw notFound();
}

/**
 * True if the bearer token of the request is that of the session in its path, or the client secret that
 * opened this session. WHIP clients send the token of their offer with each request (RFC 9725 section 4.7).
 */
export function hasSessionToken({ exchange, secrets }: SessionParts, request: FastifyRequest): boolean {
  const token = keyIn(request.headers);
  const { id } = request.params as { readonly id?: string };
  if (token === undefined || id === undefined) return false;
  return exchange.isTokenOf(id, token) || secrets.hasOpened(token, id);
}

/** SDP is UTF-8 (RFC 8866 section 5). Throws SDP_INVALID. */
export function sdpIn(bytes: Buffer): string {
  let sdp: string;
  try {
    sdp = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new ParleyError('SDP_INVALID', 'the offer is not UTF-8', { field: 'sdp', cause: error });
  }
  if (sdp.trim() === '') throw new ParleyError('SDP_INVALID', 'the offer is empty', { field: 'sdp' });
  return sdp;
}

/** The content type without its parameters, in lower case. */
export function contentTypeOf({ headers }: FastifyRequest): string {
  return (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** RFC 9725 section 4.3.1. Its example has quotes around the asterisk. */
function checkCondition(condition: string | undefined, present: string): void {
  if (condition === undefined) {
    const what = 'the request must have If-Match with the ETag of the ICE session, or * to restart ICE';
    throw new ParleyError('PRECONDITION_REQUIRED', what, { field: 'If-Match' });
  }
  const tags = condition.split(',').map((tag) => tag.trim());
  if (tags.some((tag) => tag === '*' || tag === '"*"' || tag === `"${present}"`)) return;
  throw new ParleyError('PRECONDITION_FAILED', 'If-Match is not the ETag of the present ICE session', {
    field: 'If-Match',
  });
}

function notFound(): ParleyError {
  return new ParleyError('NOT_FOUND', 'there is no call of this id');
}
