// Telephone calls over HTTP: placed, watched, spoken into and ended.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { PhoneCalls } from '../../call/phone-calls.js';
import { ParleyError } from '../../errors.js';
import { isGone, untilGone } from '../http/reply-connection.js';
import type { EventReplies } from './event-replies.js';
import { type PlaceBody, readPlaceBody } from './phone-call-body.js';
import type { CommandName } from './phone-commands.js';
import type { PhoneDesk } from './phone-desk.js';
import { callForm, eventForm, isLast } from './phone-forms.js';
import { addMessageCheck } from './phone-messages.js';
import { allowedBy } from '../http/validation.js';
import type { RouteSchema } from '../http/json-schema.js';
import { IDEMPOTENCY_KEY } from './phone-bodies-schema.js';
import {
  CALL_EVENTS_SCHEMA,
  DEFAULT_LISTED,
  DTMF_SCHEMA,
  END_PHONE_CALL_SCHEMA,
  GET_CALL_SCHEMA,
  holdSchema,
  INTERRUPT_SCHEMA,
  LIST_CALLS_SCHEMA,
  placeSchema,
  saySchema,
  TRANSFER_SCHEMA,
} from './phone-calls-schema.js';
import type { SpeechFieldLimits } from '../openai/speech-fields-schema.js';

export interface PhoneRouteParts {
  readonly desk: PhoneDesk;
  readonly events: EventReplies;
  readonly limits: SpeechFieldLimits;
}

export const PHONE_CALLS = '/v1/calls';
export const PHONE_CALL = `${PHONE_CALLS}/:id`;

export type OnePhoneCall = { Params: { id: string } };

/** In a scope of its own: without a telephone door all of it is refused before a body is looked at. */
export function addPhoneRoutes(app: FastifyInstance, { desk, events, limits }: PhoneRouteParts): void {
  refuseWithoutDoor(app, desk);
  addMessageCheck(app, desk, limits);

  app.post<{ Body: PlaceBody }>(PHONE_CALLS, { schema: placeSchema(limits) }, (request, reply) =>
    place(desk, request, reply),
  );

  app.get<{ Querystring: { limit?: string } }>(
    PHONE_CALLS,
    { schema: LIST_CALLS_SCHEMA },
    ({ query, key }) => {
      const all = desk.of(key).calls.list();
      const data = all.slice(0, Number(query.limit ?? DEFAULT_LISTED));
      return { object: 'list', data: data.map(callForm), has_more: data.length < all.length };
    },
  );

  app.get<OnePhoneCall>(PHONE_CALL, { schema: GET_CALL_SCHEMA }, ({ params, key }) =>
    callForm(desk.of(key).calls.get(params.id)),
  );

  const command = (name: CommandName, schema: RouteSchema, status = 200) => {
    app.post<OnePhoneCall>(`${PHONE_CALL}/${name}`, { schema }, async ({ params, body, key }, reply) => {
      const answer = await desk.of(key).commands.run(name, params.id, body, untilGone(reply));
      return reply.code(status).send(answer);
    });
  };
  command('say', saySchema(limits), 202);
  command('interrupt', INTERRUPT_SCHEMA);
  command('dtmf', DTMF_SCHEMA);
  command('transfer', TRANSFER_SCHEMA);
  command('hold', holdSchema(true));
  command('resume', holdSchema(false));
  app.delete<OnePhoneCall>(PHONE_CALL, { schema: END_PHONE_CALL_SCHEMA }, ({ params, key }, reply) =>
    desk.of(key).commands.run('hangup', params.id, undefined, untilGone(reply)),
  );

  const watched = { schema: CALL_EVENTS_SCHEMA, exposeHeadRoute: false }; // a HEAD would wait for the end
  app.get<Watching>(`${PHONE_CALL}/events`, watched, (request, reply) => watch(desk, events, request, reply));
}

export function refuseWithoutDoor(app: FastifyInstance, desk: PhoneDesk): void {
  app.addHook('onRequest', async () => void desk.of(undefined));
}

async function place(
  desk: PhoneDesk,
  request: FastifyRequest<{ Body: PlaceBody }>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { idempotency, ...body } = request.body;
  const own = desk.of(request.key);
  const wish = readPlaceBody(body);
  const key = keyOf(request.headers['idempotency-key'], idempotency);
  const { value: view, replayed } =
    key === undefined
      ? { value: await own.place(wish), replayed: false }
      : await own.placeOnce(wish, { client: request.client, key, body });
  if (key === undefined && isGone(reply.raw)) {
    // Whoever asked left meanwhile, and cannot find out which call it is.
    await own.calls.hangUp(view.id);
    throw new ParleyError('ABORTED', 'the client left before the call was on its way');
  }
  if (replayed) reply.header('idempotent-replayed', 'true');
  const location = `${PHONE_CALLS}/${encodeURIComponent(view.id)}`;
  return reply.code(201).header('location', location).send(callForm(view));
}

const KEY = new RegExp(IDEMPOTENCY_KEY.pattern ?? '', 'u');

/** The header; the field of the body for those who can set none. */
function keyOf(header: string | string[] | undefined, field: string | undefined): string | undefined {
  const name = 'Idempotency-Key';
  if (header === undefined) return field;
  if (typeof header !== 'string' || !KEY.test(header)) {
    throw new ParleyError('INVALID_FIELD', `"${name}" must be ${allowedBy(IDEMPOTENCY_KEY)}`, {
      field: name,
    });
  }
  if (field !== undefined && field !== header) {
    throw new ParleyError('INVALID_FIELD', `"idempotency" must be absent, or the same as ${name}`, {
      field: 'idempotency',
    });
  }
  return header;
}

interface Watching extends OnePhoneCall {
  Querystring: { after?: string };
}

async function watch(
  desk: PhoneDesk,
  events: EventReplies,
  request: FastifyRequest<Watching>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { calls } = desk.of(request.key);
  const { id } = request.params;
  const after = lastSeen(request);
  // Browsers come back when a stream has ended; this is how they learn that there is nothing more.
  if (calls.get(id).state === 'ended' && (await isToldOut(calls, id, after))) return reply.code(204).send();
  events.send(reply, (told) =>
    calls.follow(id, after, (event) => {
      const data = eventForm(id, event);
      told({ id: event.id, type: data.type, data, isLast: isLast(event) });
    }),
  );
  return reply;
}

/** What is kept of a call that is over may be told a turn later. */
export async function isToldOut(calls: PhoneCalls, id: string, after: number): Promise<boolean> {
  let told = false;
  const stop = calls.follow(id, after, () => (told = true));
  await nextTurn();
  stop();
  return !told;
}

/** The header is what a client knows that has come back. */
function lastSeen({ headers, query }: FastifyRequest<Watching>): number {
  const header = headers['last-event-id'];
  if (header === undefined || header === '') return Number(query.after ?? 0);
  if (typeof header === 'string' && /^\d{1,15}$/.test(header)) return Number(header);
  throw new ParleyError('INVALID_FIELD', '"Last-Event-ID" must be the id of an event', {
    field: 'Last-Event-ID',
  });
}
