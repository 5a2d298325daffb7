// Makes the token with which an application attaches to one call: POST /v1/calls/{id}/relay.
import type { FastifyInstance } from 'fastify';
import { ParleyError } from '../../errors.js';
import { jsonAnswer, object, type RouteSchema, STRING, TAGS } from '../http/json-schema.js';
import type { RelayAttachments } from './relay-attachments.js';

const TOKEN_SCHEMA: RouteSchema = {
  summary: 'A token with which an application attaches to this call, and to no other',
  description:
    'The application opens a WebSocket at `url` with the token as bearer or as `?token=`, and speaks ConversationRelay. ' +
    'The token ends with the call, or with the next one.',
  tags: [TAGS.calls],
  params: object({ id: { ...STRING, description: 'of a call by telephone or browser' } }),
  response: {
    201: jsonAnswer(
      'the token',
      object({
        object: { ...STRING, enum: ['call.relay'] },
        call: STRING,
        url: { ...STRING, description: 'path at this server' },
        token: STRING,
      }),
    ),
    404: { description: 'there is no open call of this id' },
    409: { description: 'an agent or another application conducts the call' },
  },
};

/** Without `relays` there are no calls. */
export function addRelayRoutes(app: FastifyInstance, relays: RelayAttachments | undefined): void {
  app.post<{ Params: { id: string } }>(
    '/v1/calls/:id/relay',
    { schema: TOKEN_SCHEMA },
    ({ params: { id }, key }, reply) => {
      if (relays === undefined) throw new ParleyError('NOT_FOUND', 'there is no open call of this id');
      const token = relays.tokenFor(id, key);
      return reply.code(201).send({ object: 'call.relay', call: id, url: `/v1/calls/${id}/relay`, token });
    },
  );
}
