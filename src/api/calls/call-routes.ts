// Browser calls over HTTP: one offer in, one answer out, and the call's own
// address to end it.
import type { FastifyInstance, FastifyReply } from 'fastify';
import { callClients } from '../../call/client-limits.js';
import { ParleyError } from '../../errors.js';
import { type Offer, OFFER_TYPES, readOffer } from './offer-body.js';
import { CALL_OPTIONS_SCHEMA, END_CALL_SCHEMA, HANG_UP_SCHEMA, OPEN_CALL_SCHEMA } from './calls-schema.js';
import { isGone } from '../http/reply-connection.js';
import { addressOf } from '../http/visitor.js';

/** The browser door, as far as HTTP needs it. */
export interface BrowserCalls {
  /**
   * `owner` is the name of the API key that the call belongs to; undefined: to every key. `clients` are the names under
   * which the call is counted. Rejects with SDP_INVALID, NO_COMMON_CODEC, CALL_LIMIT, CLIENT_LIMIT or
   * TRANSPORT_UNSUPPORTED.
   */
  open(
    offer: Offer,
    owner?: string,
    clients?: readonly string[],
  ): Promise<{ readonly id: string; readonly sdp: string }>;
  /** False when there is no such call, or the client with the API key of this name may not use it. */
  hangUp(id: string, key?: string): Promise<boolean>;
}

const CALLS = '/v1/realtime/calls';
const MAX_OFFER_BYTES = 64 * 1024; // Chromium's longest offers are a tenth of this

type OneCall = { Params: { id: string } };

/** Registers on a scope of its own: the parsers of bodies here are no others' business. */
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
    const { id, sdp } = await calls.open(
      offer,
      request.key,
      callClients(request.key, addressOf(request.socket)),
    );
    if (isGone(reply.raw)) {
      // Whoever asked left meanwhile, and nobody else knows of the call.
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

/** POST …/hangup takes any body and reads none; it needs a scope of its own for that. */
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
