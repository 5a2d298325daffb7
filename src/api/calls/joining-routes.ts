// Joins calls over HTTP: bridges under /v1/calls/{id}/bridge, and queues under /v1/queues; room-routes.ts has
// the rooms. Calls by telephone, browser, AudioSocket and WebSocket are named by their ids. A client sees the
// calls and queues of its own API key only.
import type { FastifyInstance } from 'fastify';
import type { BridgeView } from '../../call/bridges.js';
import type { Joining } from '../../call/joining.js';
import { NAME_RULE } from '../../call/named-of-keys.js';
import type { WaitingView } from '../../call/waiting-queue.js';
import type { QueueView } from '../../call/waiting-queues.js';
import { ParleyError } from '../../errors.js';
import {
  type Answer,
  INTEGER,
  jsonAnswer,
  listOf,
  NO_BODY,
  NUMBER,
  object,
  type RouteSchema,
  STRING,
  TAGS,
} from '../http/json-schema.js';
import {
  BRIDGE_BODY,
  type BridgeBody,
  NEXT_BODY,
  type NextBody,
  readBridge,
  readNext,
  readWait,
  WAIT_BODY,
  type WaitBody,
} from './joining-requests.js';

const TAG = [TAGS.joining] as const;
export const AT = { ...NUMBER, description: 'Unix seconds, to the millisecond' };
export const BY_NAME = object({ name: { ...STRING, description: NAME_RULE } });
export const BY_NAME_AND_CALL = object({ name: STRING, call: { ...STRING, description: 'id of the call' } });

export const DIALS: Readonly<Record<number, Answer>> = {
  403: { description: 'the destination is not allowed' },
  501: { description: 'a call cannot be placed: the telephone is off' },
};

const BRIDGE = object(
  {
    object: { type: 'string', enum: ['call.bridge'] },
    call: STRING,
    other: { ...STRING, description: 'id of the other call; the one that is placed' },
    state: { type: 'string', enum: ['ringing', 'connected'] },
    mode: {
      type: 'string',
      enum: ['relay', 'mixed'],
      description: 'whether packets go on as they are; absent while nothing flows between the two',
    },
  },
  ['mode'],
);

const BRIDGE_SCHEMA: RouteSchema = {
  summary: 'Join a call with another one, so that their far ends hear each other',
  description:
    'Either `call` or `to`. With `to` the answer comes as soon as the other call is on its way; the events ' +
    '`bridge.started` and `bridge.ended` tell the rest.',
  tags: TAG,
  params: object({ id: { ...STRING, description: 'of an open call, whatever its protocol' } }),
  body: BRIDGE_BODY,
  response: {
    201: jsonAnswer('the bridge', BRIDGE),
    404: { description: 'there is no open call, or no sound, of this name' },
    409: { description: 'one of the calls is ending, or is joined to something already' },
    ...DIALS,
  },
};

const PART_SCHEMA: RouteSchema = {
  summary: 'Part two calls, which go on without each other',
  tags: TAG,
  params: object({ id: STRING }),
  response: { 204: NO_BODY, 404: { description: 'this call is in no bridge' } },
};

const QUEUE = object({
  object: { type: 'string', enum: ['queue'] },
  name: STRING,
  created_at: AT,
  waiting: listOf(
    object({
      call: STRING,
      position: { ...INTEGER, description: 'from 1' },
      priority: INTEGER,
      joined_at: AT,
      waited_ms: NUMBER,
    }),
  ),
});

const WAIT_SCHEMA: RouteSchema = {
  summary: 'Have a call wait in a queue, which is made if there is none of this name',
  tags: TAG,
  params: BY_NAME,
  body: WAIT_BODY,
  response: {
    201: jsonAnswer('the queue', QUEUE),
    404: { description: 'there is no open call, or no sound, of this name' },
    409: { description: 'the call is ending, or is joined to something already' },
    503: { description: 'as many calls wait in the queue as may' },
  },
};

const NEXT_SCHEMA: RouteSchema = {
  summary: 'Join the next call of a queue with another one',
  description:
    'Either `call` or `to`. The music goes on until a call that is placed is answered; if it is not, the ' +
    'call waits again at its old place.',
  tags: TAG,
  params: BY_NAME,
  body: NEXT_BODY,
  response: {
    201: jsonAnswer('the bridge', BRIDGE),
    404: { description: 'there is no such queue or call, or nobody waits' },
    409: { description: 'the other call is ending, or is joined to something already' },
    ...DIALS,
  },
};

const LIST_QUEUES_SCHEMA: RouteSchema = {
  summary: 'The queues',
  tags: TAG,
  response: {
    200: jsonAnswer('queues', object({ object: { type: 'string', enum: ['list'] }, data: listOf(QUEUE) })),
  },
};

const GET_QUEUE_SCHEMA: RouteSchema = {
  summary: 'One queue',
  tags: TAG,
  params: BY_NAME,
  response: { 200: jsonAnswer('the queue', QUEUE), 404: { description: 'there is no queue of this name' } },
};

const LEAVE_QUEUE_SCHEMA: RouteSchema = {
  summary: 'Take a call out of a queue; the call goes on',
  tags: TAG,
  params: BY_NAME_AND_CALL,
  response: { 204: NO_BODY, 404: { description: 'the call does not wait in this queue' } },
};

type OneCall = { Params: { id: string } };
type OneQueue = { Params: { name: string } };
type OneWaiting = { Params: { name: string; call: string } };

/** Throws NOT_FOUND on a server without calls. */
export function joinedCalls(joining: Joining | undefined): Joining {
  if (joining === undefined) throw new ParleyError('NOT_FOUND', 'the server has no calls');
  return joining;
}

export function addJoiningRoutes(app: FastifyInstance, joining: Joining | undefined): void {
  addBridgeRoutes(app, joining);
  addQueueRoutes(app, joining);
}

function addBridgeRoutes(app: FastifyInstance, joining: Joining | undefined): void {
  const path = '/v1/calls/:id/bridge';
  app.post<OneCall & { Body: BridgeBody }>(path, { schema: BRIDGE_SCHEMA }, async (request, reply) => {
    const { params, key, body } = request;
    const view = await joinedCalls(joining).bridges.open(params.id, key, readBridge(body));
    return reply.code(201).send(bridgeJson(view));
  });
  app.delete<OneCall>(path, { schema: PART_SCHEMA }, ({ params, key }, reply) => {
    joinedCalls(joining).bridges.part(params.id, key);
    return reply.code(204).send();
  });
}

function addQueueRoutes(app: FastifyInstance, joining: Joining | undefined): void {
  const path = '/v1/queues/:name';
  app.get('/v1/queues', { schema: LIST_QUEUES_SCHEMA }, ({ key }) => {
    return { object: 'list', data: joinedCalls(joining).queues.list(key).map(queueJson) };
  });
  app.get<OneQueue>(path, { schema: GET_QUEUE_SCHEMA }, ({ params, key }) =>
    queueJson(joinedCalls(joining).queues.get(params.name, key)),
  );
  const members = `${path}/members`;
  app.post<OneQueue & { Body: WaitBody }>(members, { schema: WAIT_SCHEMA }, async (request, reply) => {
    const { params, key, body } = request;
    const { queues } = joinedCalls(joining);
    const view = await queues.join(params.name, key, body.call, readWait(body));
    return reply.code(201).send(queueJson(view));
  });
  const next = `${path}/next`;
  app.post<OneQueue & { Body: NextBody }>(next, { schema: NEXT_SCHEMA }, async (request, reply) => {
    const { params, key, body } = request;
    const view = await joinedCalls(joining).queues.next(params.name, key, readNext(body));
    return reply.code(201).send(bridgeJson(view));
  });
  app.delete<OneWaiting>(`${members}/:call`, { schema: LEAVE_QUEUE_SCHEMA }, ({ params, key }, reply) => {
    joinedCalls(joining).queues.leave(params.name, key, params.call);
    return reply.code(204).send();
  });
}

function bridgeJson({ call, other, state, mode }: BridgeView) {
  return { object: 'call.bridge', call, other, state, mode };
}

function queueJson({ name, createdAt, waiting }: QueueView) {
  return { object: 'queue', name, created_at: createdAt / 1000, waiting: waiting.map(waitingJson) };
}

function waitingJson({ call, position, priority, joinedAt, waitedMs }: WaitingView) {
  return { call, position, priority, joined_at: joinedAt / 1000, waited_ms: Math.round(waitedMs) };
}
