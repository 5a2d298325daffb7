// Streams the events of all calls, and takes decisions about calls that come in: GET /v1/events,
// POST /v1/calls/incoming/{id}/accept and /reject.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { IncomingCalls } from '../../call/incoming-calls.js';
import type { ServerEvent, ServerEvents } from '../../call/server-events.js';
import { ParleyError } from '../../errors.js';
import { stated } from '../../stated.js';
import { INTEGER, object, type RouteSchema, STRING, TAGS } from '../http/json-schema.js';
import { joinForm, knownCallJson, recordingForm } from './call-json.js';
import type { EventReplies } from './event-replies.js';
import { PROGRAM_FIELD, TWIML_FIELD } from './program-field.js';
import { RELAY_FIELD } from './relay-field.js';

export interface FollowParts {
  readonly events: ServerEvents;
  readonly incoming: Pick<IncomingCalls, 'answer'>;
}

interface EventParts {
  /** Undefined: the server has no calls. */
  readonly follow: FollowParts | undefined;
  readonly events: EventReplies;
}

interface Following {
  Querystring: { after?: string };
}

interface Deciding {
  Params: { id: string };
  Body: Record<string, unknown> | undefined;
}

const EVENTS_SCHEMA: RouteSchema = {
  summary: 'The events of all calls of this key, as server-sent events',
  description:
    '`call.incoming`: a telephone call waits for a decision, for `decide_within` seconds; `call_id` is its id from its answer on. `call.started` and ' +
    '`call.ended`, with the reason, are told of calls by telephone, browser, AudioSocket and WebSocket, and so is what joins and parts them. `recording.started`, `.paused`, `.resumed`, `.stopped` and `.failed` with `room` are those of rooms. A client begins with what happens ' +
    'from now on; with `after`, or Last-Event-ID, it gets what it has missed, as far as it is kept.',
  tags: [TAGS.calls],
  querystring: {
    type: 'object',
    properties: {
      after: {
        type: 'string',
        pattern: '^\\d{1,15}$',
        description: 'the id of an event: those after it come first; the header Last-Event-ID goes before it',
        'x-must-be': 'the id of an event',
      },
    },
  },
  response: { 200: { description: 'the events', content: { 'text/event-stream': { schema: STRING } } } },
};

const ID = object({ id: { ...STRING, description: '`incoming` of a `call.incoming` event' } });
const DECIDED = {
  204: { description: 'decided' },
  400: { description: 'the rule cannot be used' },
  404: { description: 'no call of this id waits for a decision' },
};

const ACCEPT_SCHEMA: RouteSchema = {
  summary: 'Decides how a call that came in is answered',
  description:
    'The body is one rule, as in the file of SIP_ROUTES, without `to` and `from`: `{"agent": "sales"}`, ' +
    '`{"relay": {"url": "wss://…"}}`, `{"say": {"text": "…"}}`, `{"wait": {}}`. An empty object leaves it to the rules.',
  tags: [TAGS.telephone],
  params: ID,
  body: {
    type: 'object',
    properties: {
      agent: { ...STRING, description: 'name of an agent, or of an application' },
      relay: RELAY_FIELD,
      twiml: TWIML_FIELD,
      program: PROGRAM_FIELD,
      say: { type: 'object', description: '`text`, `voice`, `language`, `interruptible`, `after`' },
      wait: { type: 'object', description: 'the call is answered, and an application speaks in it' },
      bridge: { type: 'object', description: 'the call is joined with one that is placed' },
      room: { type: 'object', description: 'the call joins a room' },
      queue: { type: 'object', description: 'the call waits in a queue' },
      reject: { type: 'object', description: '`status`, `cause`, `text`, `announcement`' },
      listen: { description: 'the caller is heard: true, or settings' },
      record: { description: 'the call is recorded: true, or settings' },
    },
  },
  response: DECIDED,
};

const REJECT_SCHEMA: RouteSchema = {
  summary: 'Refuses a call that came in',
  tags: [TAGS.telephone],
  params: ID,
  body: object({ status: { ...INTEGER, minimum: 400, maximum: 699, description: '486 by default' } }, [
    'status',
  ]),
  response: DECIDED,
};

const BUSY = 486;

export function addEventRoutes(app: FastifyInstance, { follow, events }: EventParts): void {
  const options = { schema: EVENTS_SCHEMA, exposeHeadRoute: false }; // a HEAD would wait for the end
  app.get<Following>('/v1/events', options, (request, reply) => {
    if (follow === undefined) throw new ParleyError('NOT_FOUND', 'the server has no calls');
    const after = lastSeen(request) ?? follow.events.latest;
    events.send(reply, (onEvent) =>
      follow.events.follow(request.key, after, ({ id, at, event }) => {
        const data = { type: event.type, at: new Date(at).toISOString(), ...eventJson(event) };
        onEvent({ id, type: event.type, data, isLast: false });
      }),
    );
    return reply;
  });
  const decide = (id: string, key: string | undefined, rule: unknown) => {
    if (follow === undefined) throw new ParleyError('NOT_FOUND', 'no call of this id waits for a decision');
    follow.incoming.answer(id, key, rule);
  };
  app.post<Deciding>('/v1/calls/incoming/:id/accept', { schema: ACCEPT_SCHEMA }, (request, reply) => {
    decide(request.params.id, request.key, request.body ?? {});
    return reply.code(204).send();
  });
  app.post<Deciding>('/v1/calls/incoming/:id/reject', { schema: REJECT_SCHEMA }, (request, reply) => {
    const { status = BUSY } = request.body ?? {};
    decide(request.params.id, request.key, { reject: { status } });
    return reply.code(204).send();
  });
}

/** The id of the last event that the client has. A client that connects again states it in the header. */
function lastSeen({ headers, query }: FastifyRequest<Following>): number | undefined {
  const header = headers['last-event-id'];
  if (header === undefined || header === '')
    return query.after === undefined ? undefined : Number(query.after);
  if (typeof header === 'string' && /^\d{1,15}$/.test(header)) return Number(header);
  const field = 'Last-Event-ID';
  throw new ParleyError('INVALID_FIELD', `"${field}" must be the id of an event`, { field });
}

function eventJson(event: ServerEvent): object {
  switch (event.type) {
    case 'call.incoming':
      return {
        incoming: event.incoming,
        call_id: event.call,
        decide_within: event.decideMs / 1000,
        call: knownCallJson(stated({ id: event.call, ...event.about })),
      };
    case 'call.started':
      return { call_id: event.call, call: knownCallJson(stated({ id: event.call, ...event.about })) };
    case 'call.ended': {
      const { callId, route } = event.about ?? {};
      const call = knownCallJson(stated({ id: event.call, callId, route }));
      return { call_id: event.call, call, reason: event.reason };
    }
    case 'recording.started':
    case 'recording.paused':
    case 'recording.resumed':
    case 'recording.stopped':
    case 'recording.failed':
      return { room: event.room, ...recordingForm(event.room, event.recording) };
    default:
      return { call_id: event.call, ...joinForm(event.event) };
  }
}
