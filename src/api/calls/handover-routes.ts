// Warm transfers and supervisors over HTTP, under /v1/calls/{id}/warm_transfer and /v1/calls/{id}/supervise.
// Both calls belong to the client's API key, or to none.
import type { FastifyInstance } from 'fastify';
import type { Joining } from '../../call/joining.js';
import { SUPERVISE_MODES } from '../../call/call-events.js';
import type { SupervisionView, SuperviseRequest } from '../../call/supervisions.js';
import type { WarmTransferRequest, WarmTransferView } from '../../call/warm-transfers.js';
import { stated } from '../../stated.js';
import {
  type JsonSchema,
  jsonAnswer,
  NO_BODY,
  object,
  type RouteSchema,
  STRING,
  TAGS,
} from '../http/json-schema.js';
import { DIAL_FIELDS, KEY_FIELD, MUSIC_FIELD } from './joining-requests.js';
import { DIALS, joinedCalls } from './joining-routes.js';
import { ADDRESS, NAME } from './telephone-requests.js';

interface WarmTransferBody {
  readonly to: string;
  readonly from?: string;
  readonly trunk?: string;
  readonly ring_timeout?: number;
  readonly summary?: string;
  readonly voice?: string;
  readonly language?: string;
  readonly music?: string;
  readonly accept_key?: string;
  readonly decline_key?: string;
  readonly after?: 'stay' | 'hangup';
}

const TAG = [TAGS.joining] as const;
const ID = object({ id: { ...STRING, description: 'of an open call, whatever its protocol' } });

const WARM_TRANSFER_BODY: JsonSchema = {
  type: 'object',
  required: ['to'],
  properties: {
    to: { ...ADDRESS, description: 'the person who is called, as in `POST /v1/calls`' },
    summary: {
      type: 'string',
      minLength: 1,
      description: 'told to the person who answers; the caller is connected at once where absent',
    },
    ...DIAL_FIELDS,
    voice: { ...NAME, description: 'of the summary; the default voice where absent' },
    language: { ...NAME, description: 'of the summary, as a BCP 47 tag' },
    music: { ...MUSIC_FIELD, description: 'heard by the caller meanwhile; a name, or `none`' },
    accept_key: {
      ...KEY_FIELD,
      description:
        'the person has to press it within 20 s after the summary; connected without it where absent',
    },
    decline_key: { ...KEY_FIELD, default: '*', description: 'the person refuses the caller with it' },
    after: {
      type: 'string',
      enum: ['stay', 'hangup'],
      default: 'hangup',
      description: 'what becomes of the caller when the person hangs up',
    },
  },
  examples: [{ to: '+491701234567', summary: 'Ms Novak asks for a refund of order 7.', ring_timeout: 30 }],
};

const SUPERVISE_BODY: JsonSchema = {
  type: 'object',
  required: ['call', 'mode'],
  properties: {
    call: { ...NAME, description: "the supervisor's open call" },
    mode: {
      type: 'string',
      enum: [...SUPERVISE_MODES],
      description:
        '`listen`: hears both sides of the call, and is heard by nobody; `whisper`: is heard by the call only; ' +
        '`barge`: by all; `take_over`: speaks in place of our agent, or of the call',
    },
  },
  examples: [{ call: 'call_93ab51c0', mode: 'listen' }],
};

const WARM_TRANSFER_SCHEMA: RouteSchema = {
  summary: 'Hand a call over to a person, who is told a summary first',
  description:
    'The answer comes as soon as the person is being called; the events `warm_transfer.answered`, ' +
    '`warm_transfer.connected` and `warm_transfer.failed` tell the rest.',
  tags: TAG,
  params: ID,
  body: WARM_TRANSFER_BODY,
  response: {
    201: jsonAnswer(
      'the transfer',
      object({
        object: { type: 'string', enum: ['call.warm_transfer'] },
        call: STRING,
        other: { ...STRING, description: 'id of the call to the person' },
        state: { type: 'string', enum: ['ringing'] },
      }),
    ),
    404: { description: 'there is no open call, or no sound, of this name' },
    409: { description: 'the call is ending, or is joined to something already' },
    ...DIALS,
  },
};

const CANCEL_SCHEMA: RouteSchema = {
  summary: 'Take the caller back before the person is connected',
  tags: TAG,
  params: object({ id: STRING }),
  response: { 204: NO_BODY, 404: { description: 'this call is in no warm transfer, or is connected' } },
};

const SUPERVISE_SCHEMA: RouteSchema = {
  summary: 'Have a supervisor hear a call, speak in it, or take it over',
  description: 'The same supervisor with another `mode` changes it.',
  tags: TAG,
  params: ID,
  body: SUPERVISE_BODY,
  response: {
    201: jsonAnswer(
      'the supervision',
      object({
        object: { type: 'string', enum: ['call.supervision'] },
        call: STRING,
        supervisor: { ...STRING, description: 'id of its call' },
        mode: { type: 'string', enum: [...SUPERVISE_MODES] },
      }),
    ),
    404: { description: 'there is no open call of this name' },
    409: { description: 'a call is ending or joined to something, or the mode has no meaning in this call' },
  },
};

const RELEASE_SCHEMA: RouteSchema = {
  summary: 'End the supervision of a call, and hand it back',
  tags: TAG,
  params: object({ id: STRING }),
  response: { 204: NO_BODY, 404: { description: 'nobody supervises this call' } },
};

type OneCall = { Params: { id: string } };

export function addHandoverRoutes(app: FastifyInstance, joining: Joining | undefined): void {
  const transfer = '/v1/calls/:id/warm_transfer';
  app.post<OneCall & { Body: WarmTransferBody }>(
    transfer,
    { schema: WARM_TRANSFER_SCHEMA },
    async ({ params, key, body }, reply) => {
      const view = await joinedCalls(joining).warmTransfers.start(params.id, key, readWarmTransfer(body));
      return reply.code(201).send(transferJson(view));
    },
  );
  app.delete<OneCall>(transfer, { schema: CANCEL_SCHEMA }, ({ params, key }, reply) => {
    joinedCalls(joining).warmTransfers.cancel(params.id, key);
    return reply.code(204).send();
  });
  const supervise = '/v1/calls/:id/supervise';
  app.post<OneCall & { Body: SuperviseRequest }>(
    supervise,
    { schema: SUPERVISE_SCHEMA },
    ({ params, key, body: { call, mode } }, reply) => {
      const view = joinedCalls(joining).supervisions.supervise(params.id, key, { call, mode });
      return reply.code(201).send(supervisionJson(view));
    },
  );
  app.delete<OneCall>(supervise, { schema: RELEASE_SCHEMA }, ({ params, key }, reply) => {
    joinedCalls(joining).supervisions.end(params.id, key);
    return reply.code(204).send();
  });
}

function readWarmTransfer(body: WarmTransferBody): WarmTransferRequest {
  const { to, from, trunk, ring_timeout, summary: text, voice, language, music, after } = body;
  const ringTimeoutMs = ring_timeout === undefined ? undefined : Math.round(ring_timeout * 1000);
  const summary = text === undefined ? undefined : { text, ...stated({ voice, language }) };
  const [acceptKey, declineKey] = [body.accept_key?.toUpperCase(), body.decline_key?.toUpperCase()];
  return { to, ...stated({ from, trunk, ringTimeoutMs, summary, music, acceptKey, declineKey, after }) };
}

function transferJson({ call, other, state }: WarmTransferView) {
  return { object: 'call.warm_transfer', call, other, state };
}

function supervisionJson({ call, supervisor, mode }: SupervisionView) {
  return { object: 'call.supervision', call, supervisor, mode };
}
