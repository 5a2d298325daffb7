// Serves telephone calls over HTTP under /v1/calls: places them, lists them, runs commands in them and
// streams their events. It also compiles the schemas that validate the messages of call sockets.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { PhoneCalls } from '../../call/phone-calls.js';
import type { Interruptible } from '../../call/utterance.js';
import type { NamedRelays } from '../../config/named-relay.js';
import { ParleyError } from '../../errors.js';
import { fieldsSchema } from '../http/json-fields.js';
import {
  type Answer,
  BOOLEAN,
  BYTES,
  INTEGER,
  jsonAnswer,
  type JsonSchema,
  listOf,
  NUMBER,
  object,
  type RouteSchema,
  STRING,
  TAGS,
} from '../http/json-schema.js';
import { FormBody, readForm, takeForms } from '../http/multipart-form.js';
import { isGone, untilGone } from '../http/reply-connection.js';
import { allowedBy, dropNullFields, fieldRefusal } from '../http/validation.js';
import { bodyLimitOf, type SpeechFieldLimits, type SpeechLimits } from '../speech/speech-schema.js';
import { CALL_FIELDS, callJson, eventJson, isLast } from './call-json.js';
import type { EventReplies } from './event-replies.js';
import type { CommandName, TelephoneAccess } from './telephone-access.js';
import {
  DTMF_BODY,
  IDEMPOTENCY_KEY,
  INTERRUPTIBLE_FIELD,
  LISTEN_BODY,
  type PlaceBody,
  placeBody,
  PLAY_BODY,
  PLAY_FORM,
  PLAY_MESSAGE,
  type PlayBody,
  type PlayRequest,
  readPlaceBody,
  readPlayBody,
  sayBody,
  TIMES,
  TRANSFER_BODY,
} from './telephone-requests.js';

const MAX_LISTED = 1000;
const DEFAULT_LISTED = 100;

const CALL = fieldsSchema(CALL_FIELDS);

const REFUSALS: Readonly<Record<number, Answer>> = {
  501: { description: 'the telephone is off' },
};
const ON_CALL: Readonly<Record<number, Answer>> = {
  404: { description: 'the server knows no call of this id' },
  409: { description: 'the state of the call forbids it' },
  ...REFUSALS,
};
const CALL_ID = object({ id: STRING });
const TAG = [TAGS.telephone] as const;
const UTTERANCE = object({
  object: { type: 'string', enum: ['call.utterance'] },
  call: STRING,
  utterance: { ...INTEGER, description: 'its number in the events of the call' },
});

function placeSchema(limits: SpeechFieldLimits): RouteSchema {
  return {
    summary: 'Place a call',
    description:
      'Answers as soon as the call is on its way. With the header `Idempotency-Key` the same request is answered with the same call for 24 hours, however often it is sent.',
    tags: TAG,
    body: placeBody(limits),
    response: {
      201: {
        ...jsonAnswer('the call', CALL),
        headers: {
          Location: { ...STRING, description: "the call's own address" },
          'Idempotent-Replayed': { ...STRING, description: '`true` where the call was placed before' },
        },
      },
      422: { description: 'the key came with another body before' },
      503: { description: 'as many calls are open as may be, or no trunk works' },
      ...REFUSALS,
    },
  };
}

const LIST_CALLS_SCHEMA: RouteSchema = {
  summary: 'The calls',
  description:
    'Calls by telephone, browser, AudioSocket and WebSocket, newest first. Those that ended lately are among them.',
  tags: TAG,
  querystring: {
    type: 'object',
    properties: {
      limit: {
        type: 'string',
        pattern: '^([1-9][0-9]{0,2}|1000)$',
        description: `how many, ${DEFAULT_LISTED} where absent`,
        'x-must-be': `a whole number from 1 to ${MAX_LISTED}`,
      },
    },
  },
  response: {
    200: jsonAnswer(
      'calls',
      object({ object: { type: 'string', enum: ['list'] }, data: listOf(CALL), has_more: BOOLEAN }),
    ),
    ...REFUSALS,
  },
};

const GET_CALL_SCHEMA: RouteSchema = {
  summary: 'One call',
  tags: TAG,
  params: CALL_ID,
  response: { 200: jsonAnswer('the call', CALL), ...REFUSALS },
};

const END_PHONE_CALL_SCHEMA: RouteSchema = {
  summary: 'Hang up',
  tags: TAG,
  params: CALL_ID,
  response: { 200: jsonAnswer('the call, which is over', CALL), ...ON_CALL },
};

function saySchema(limits: SpeechFieldLimits): RouteSchema {
  return {
    summary: 'Speak a text in a call, after those that were given before',
    tags: TAG,
    params: CALL_ID,
    body: sayBody(limits),
    response: { 202: jsonAnswer('it will be spoken', UTTERANCE), ...ON_CALL },
  };
}

const PLAY_SCHEMA: RouteSchema = {
  summary: 'Play a sound in a call, after what was given before',
  description:
    'A file of at most 5 minutes in WAV, MP3, FLAC, Ogg Opus or WebM Opus: in JSON, as a form, or as the body itself with `?times=`.',
  tags: TAG,
  params: CALL_ID,
  querystring: {
    type: 'object',
    properties: {
      times: {
        type: 'string',
        pattern: '^([1-9][0-9]?|100)$',
        description: 'of a body that is the file itself',
        'x-must-be': 'a whole number from 1 to 100',
      },
      interruptible: INTERRUPTIBLE_FIELD,
    },
  },
  body: { content: { 'application/json': { schema: PLAY_BODY } } },
  otherBodies: {
    'multipart/form-data': {
      schema: object({ file: BYTES, times: TIMES, interruptible: INTERRUPTIBLE_FIELD }, [
        'times',
        'interruptible',
      ]),
    },
    'audio/*': { schema: BYTES },
    'application/octet-stream': { schema: BYTES },
  },
  response: { 202: jsonAnswer('it will be played', UTTERANCE), ...ON_CALL },
};

const LISTEN_SCHEMA: RouteSchema = {
  summary: 'Report when the caller speaks, and has finished',
  description:
    'The events `speech.started`, `speech.stopped`, `turn.ended` and `no_input` follow. Another request changes the settings that it names. A text with `interruptible` of `speech` or `any` begins it too.',
  tags: TAG,
  params: CALL_ID,
  body: LISTEN_BODY,
  response: {
    200: jsonAnswer(
      'from now on',
      object({ object: { type: 'string', enum: ['call.listening'] }, call: STRING, on: { type: 'boolean' } }),
    ),
    ...ON_CALL,
  },
};

const INTERRUPT_SCHEMA: RouteSchema = {
  summary: 'Drop everything that is being spoken or waits for it',
  tags: TAG,
  params: CALL_ID,
  response: {
    200: jsonAnswer(
      'what was heard of it',
      object({
        object: { type: 'string', enum: ['call.interruption'] },
        call: STRING,
        text: STRING,
        utterances: listOf(object({ utterance: INTEGER, text: STRING, sent_ms: NUMBER })),
      }),
    ),
    ...ON_CALL,
  },
};

const DTMF_SCHEMA: RouteSchema = {
  summary: 'Press keys',
  description: 'Answers when the last one was sent.',
  tags: TAG,
  params: CALL_ID,
  body: DTMF_BODY,
  response: {
    200: jsonAnswer(
      'all of them were sent',
      object({ object: { type: 'string', enum: ['call.dtmf'] }, call: STRING, digits: STRING }),
    ),
    ...ON_CALL,
  },
};

const TRANSFER_SCHEMA: RouteSchema = {
  summary: 'Transfer a call',
  description: 'Either `to` or `call`. Answers when the far end has said what became of it.',
  tags: TAG,
  params: CALL_ID,
  body: TRANSFER_BODY,
  response: {
    200: jsonAnswer(
      'what became of it',
      object({
        object: { type: 'string', enum: ['call.transfer'] },
        call: STRING,
        accepted: BOOLEAN,
        status: { ...INTEGER, description: 'the last SIP status of the transfer' },
      }),
    ),
    ...ON_CALL,
  },
};

function holdSchema(held: boolean): RouteSchema {
  return {
    summary: held ? 'Hold a call' : 'Take a call back from hold',
    tags: TAG,
    params: CALL_ID,
    response: { 200: jsonAnswer('the call', CALL), ...ON_CALL },
  };
}

const CALL_EVENTS_SCHEMA: RouteSchema = {
  summary: 'What happens in a call, as server-sent events',
  description:
    'Each event has an `id`; `Last-Event-ID` or `after` continues after it. The last one is the state `ended`; 204 if the client has that one already.',
  tags: TAG,
  params: CALL_ID,
  querystring: {
    type: 'object',
    properties: {
      after: {
        type: 'string',
        pattern: '^[0-9]{1,15}$',
        description: 'the id of the last event that is known',
        'x-must-be': 'the id of an event',
      },
    },
  },
  response: {
    200: { description: 'the events', content: { 'text/event-stream': { schema: STRING } } },
    204: { description: 'the call is over, and there is nothing more to tell' },
    ...REFUSALS,
  },
};

/** The schema of each route, by command. */
const CALL_SCHEMAS = {
  place: placeSchema,
  list: LIST_CALLS_SCHEMA,
  get: GET_CALL_SCHEMA,
  end: END_PHONE_CALL_SCHEMA,
  say: saySchema,
  play: PLAY_SCHEMA,
  listen: LISTEN_SCHEMA,
  interrupt: INTERRUPT_SCHEMA,
  dtmf: DTMF_SCHEMA,
  transfer: TRANSFER_SCHEMA,
  hold: holdSchema,
  events: CALL_EVENTS_SCHEMA,
};

interface TelephoneRouteParts {
  readonly telephone: TelephoneAccess;
  readonly events: EventReplies;
  readonly limits: SpeechFieldLimits;
  /** The applications that a request may name. */
  readonly relays: NamedRelays;
}

const PHONE_CALLS = '/v1/calls';
const PHONE_CALL = `${PHONE_CALLS}/:id`;

type OnePhoneCall = { Params: { id: string } };

/** Needs a fastify scope of its own: without a telephone, every route refuses before it reads the body. */
export function addTelephoneRoutes(
  app: FastifyInstance,
  { telephone, events, limits, relays }: TelephoneRouteParts,
): void {
  refuseWithoutTelephone(app, telephone);
  addMessageCheck(app, telephone, limits);

  const placing = {
    schema: CALL_SCHEMAS.place(limits),
    onRequest: async () => telephone.checkPlacing(), // before the body is read
  };
  app.post<{ Body: PlaceBody }>(PHONE_CALLS, placing, (request, reply) =>
    place({ telephone, relays }, request, reply),
  );

  app.get<{ Querystring: { limit?: string } }>(
    PHONE_CALLS,
    { schema: CALL_SCHEMAS.list },
    ({ query, key }) => {
      const all = telephone.forClient(key).calls.list();
      const data = all.slice(0, Number(query.limit ?? DEFAULT_LISTED));
      return { object: 'list', data: data.map(callJson), has_more: data.length < all.length };
    },
  );

  app.get<OnePhoneCall>(PHONE_CALL, { schema: CALL_SCHEMAS.get }, ({ params, key }) =>
    callJson(telephone.forClient(key).calls.get(params.id)),
  );

  const command = (name: CommandName, schema: RouteSchema, status = 200) => {
    app.post<OnePhoneCall>(`${PHONE_CALL}/${name}`, { schema }, async ({ params, body, key }, reply) => {
      const answer = await telephone.forClient(key).run(name, params.id, body, untilGone(reply));
      return reply.code(status).send(answer);
    });
  };
  command('say', CALL_SCHEMAS.say(limits), 202);
  command('listen', CALL_SCHEMAS.listen);
  command('interrupt', CALL_SCHEMAS.interrupt);
  command('dtmf', CALL_SCHEMAS.dtmf);
  command('transfer', CALL_SCHEMAS.transfer);
  command('hold', CALL_SCHEMAS.hold(true));
  command('resume', CALL_SCHEMAS.hold(false));
  app.delete<OnePhoneCall>(PHONE_CALL, { schema: CALL_SCHEMAS.end }, ({ params, key }, reply) =>
    telephone.forClient(key).run('hangup', params.id, undefined, untilGone(reply)),
  );

  const watched = { schema: CALL_SCHEMAS.events, exposeHeadRoute: false }; // a HEAD would wait for the end
  app.get<Watching>(`${PHONE_CALL}/events`, watched, (request, reply) =>
    watch(telephone, events, request, reply),
  );
}

interface Playing extends OnePhoneCall {
  Querystring: { times?: string; interruptible?: Interruptible };
  Body: PlayBody | FormBody | Buffer | undefined;
}

const FILE_NAMES = ['file', 'audio'];

/** POST /v1/calls/{id}/play. Needs a fastify scope of its own, because it also accepts files as bodies. */
export function addPlayRoute(app: FastifyInstance, telephone: TelephoneAccess, limits: SpeechLimits): void {
  refuseWithoutTelephone(app, telephone);
  takeForms(app);
  for (const type of [/^audio\//, 'application/octet-stream']) {
    app.addContentTypeParser(type, { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  }
  const options = { schema: CALL_SCHEMAS.play, bodyLimit: bodyLimitOf(limits) };
  app.post<Playing>(`${PHONE_CALL}/play`, options, async (request, reply) => {
    const sound = readPlaying(request, limits);
    const answer = await telephone.forClient(request.key).play(request.params.id, sound, untilGone(reply));
    return reply.code(202).send(answer);
  });
}

function refuseWithoutTelephone(app: FastifyInstance, telephone: TelephoneAccess): void {
  app.addHook('onRequest', async () => void telephone.forClient(undefined));
}

async function place(
  { telephone, relays }: Pick<TelephoneRouteParts, 'telephone' | 'relays'>,
  request: FastifyRequest<{ Body: PlaceBody }>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { idempotency, ...body } = request.body;
  const client = telephone.forClient(request.key);
  const call = readPlaceBody(body, relays);
  const key = keyOf(request.headers['idempotency-key'], idempotency);
  const { value: view, replayed } =
    key === undefined
      ? { value: await client.place(call), replayed: false }
      : await client.placeOnce(call, { client: request.client, key, body });
  if (key === undefined && isGone(reply.raw)) {
    // The client has left and cannot learn the id of the call.
    await client.calls.hangUp(view.id);
    throw new ParleyError('ABORTED', 'the client left before the call was on its way');
  }
  if (replayed) reply.header('idempotent-replayed', 'true');
  const location = `${PHONE_CALLS}/${encodeURIComponent(view.id)}`;
  return reply.code(201).header('location', location).send(callJson(view));
}

const KEY = new RegExp(IDEMPOTENCY_KEY.pattern ?? '', 'u');

/** The idempotency key: the header, or the field of the body for clients that cannot set headers. */
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
  telephone: TelephoneAccess,
  events: EventReplies,
  request: FastifyRequest<Watching>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { calls } = telephone.forClient(request.key);
  const { id } = request.params;
  const after = lastSeen(request);
  // A browser reconnects when a stream ends; 204 stops it.
  if (calls.get(id).state === 'ended' && (await hasNoMoreEvents(calls, id, after)))
    return reply.code(204).send();
  events.send(reply, (onEvent) =>
    calls.follow(id, after, (event) => {
      const data = eventJson(id, event);
      onEvent({ id: event.id, type: data.type, data, isLast: isLast(event) });
    }),
  );
  return reply;
}

/** True if there is no event after this one. The events of a call that has ended may come one turn later. */
export async function hasNoMoreEvents(calls: PhoneCalls, id: string, after: number): Promise<boolean> {
  let isNone = true;
  const stop = calls.follow(id, after, () => (isNone = false));
  await nextTurn();
  stop();
  return isNone;
}

/** The id of the last event that the client has. A reconnecting client states it in the header. */
function lastSeen({ headers, query }: FastifyRequest<Watching>): number {
  const header = headers['last-event-id'];
  if (header === undefined || header === '') return Number(query.after ?? 0);
  if (typeof header === 'string' && /^\d{1,15}$/.test(header)) return Number(header);
  throw new ParleyError('INVALID_FIELD', '"Last-Event-ID" must be the id of an event', {
    field: 'Last-Event-ID',
  });
}

/** The sound is in JSON, in a form, or the body itself. */
function readPlaying(
  request: FastifyRequest<Playing>,
  { maxUploadBytes: maxBytes }: SpeechLimits,
): PlayRequest {
  const { body, query } = request;
  if (body instanceof FormBody) {
    const { fields, file } = readForm(request as FastifyRequest, PLAY_FORM, { names: FILE_NAMES, maxBytes });
    if (file === undefined) {
      throw new ParleyError('INVALID_FIELD', '"file" must be a file of sound', { field: 'file' });
    }
    const { times, interruptible } = fields as Pick<PlayBody, 'times' | 'interruptible'>;
    return { source: file, field: 'file', times, interruptible };
  }
  if (Buffer.isBuffer(body)) {
    const times = query.times === undefined ? undefined : Number(query.times);
    return { source: body, field: 'body', times, interruptible: query.interruptible };
  }
  if (body !== undefined) return readPlayBody(body);
  const kinds = 'application/json, multipart/form-data, or a file of sound under audio/…';
  throw new ParleyError('UNSUPPORTED_MEDIA_TYPE', `the body must be ${kinds}`);
}

interface Validator {
  (value: unknown): boolean;
  readonly errors?: Parameters<typeof fieldRefusal>[0] | null;
}

/**
 * Compiles the schemas of socket messages when the routes of this scope are ready, with the validator of the
 * routes.
 */
function addMessageCheck(app: FastifyInstance, telephone: TelephoneAccess, limits: SpeechFieldLimits): void {
  const schemas: Partial<Record<CommandName, JsonSchema>> = {
    say: sayBody(limits),
    play: PLAY_MESSAGE,
    listen: LISTEN_BODY,
    dtmf: DTMF_BODY,
    transfer: TRANSFER_BODY,
  };
  app.addHook('onReady', async () => {
    const compile = app.validatorCompiler;
    if (compile === undefined) throw new Error('the routes of calls have no validator');
    const validators = new Map(
      Object.entries(schemas).map(([name, schema]) => [
        name,
        compile({ schema, method: 'POST', url: name, httpPart: 'body' }) as Validator,
      ]),
    );
    telephone.checkMessage = (command, body) => {
      dropNullFields(body);
      const valid = validators.get(command);
      if (valid !== undefined && !valid(body)) throw fieldRefusal(valid.errors ?? []);
    };
  });
}
