// The routes of recordings of the REST API.
import fastifyStatic from '@fastify/static';
import { basename, dirname } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify';
import type { NamedRecording, RecordingFormat } from '../../recording/recording-name.js';
import { recordingSid } from '../twiml/sids.js';
import { recordingOrderIn } from './call-order.js';
import { accountPath, API_VERSION } from './call-resource.js';
import { type RecordingResources, viewJson } from './recording-resources.js';
import { pageOf } from './resource-pages.js';
import type { RestCalls } from './rest-calls.js';
import { notFound, NUMBERS, RestError } from './rest-error.js';
import { formOf, originOf, queryOf } from './rest-request.js';

interface Parts {
  readonly calls: RestCalls;
  readonly recordings: RecordingResources;
}

interface OneRecording {
  Params: { call?: string; recording: string };
}

type OfCall = { Params: { call: string } };

const RECORDINGS = `/${API_VERSION}/Accounts/:account/Recordings`;
const OF_CALL = `/${API_VERSION}/Accounts/:account/Calls/:call/Recordings`;
const TYPES: Readonly<Record<RecordingFormat, string>> = { wav: 'audio/wav', opus: 'audio/ogg' };
const UNSUPPORTED = { status: 415, code: 20_415 };
const STATUSES = ['paused', 'in-progress', 'stopped'] as const;

export async function addRecordingRoutes(
  app: FastifyInstance,
  parts: Parts,
  options: RouteShorthandOptions,
): Promise<void> {
  // Only for `sendFile`: no file is a route of its own.
  await app.register(fastifyStatic, { serve: false, index: false, cacheControl: false, contentType: false });
  const { calls, recordings } = parts;
  app.get(`${RECORDINGS}.json`, options, (request) => list(parts, request, undefined));
  app.get<OneRecording>(`${RECORDINGS}/:recording`, options, (request, reply) => {
    const { sid, form } = recordingIn(request.params.recording);
    return form === 'json'
      ? readOne(parts, request, sid)
      : download(recordings, { sid, form }, request, reply);
  });
  app.delete<OneRecording>(`${RECORDINGS}/:recording`, options, (request, reply) =>
    removeOne(recordings, request, reply),
  );
  app.get<OfCall>(`${OF_CALL}.json`, options, (request) => list(parts, request, request.params.call));
  app.post<OfCall>(`${OF_CALL}.json`, options, async (request, reply) => {
    const sid = knownCall(parts, request);
    const origin = originOf(request, calls.config);
    const order = recordingOrderIn(formOf(request), calls.config, {
      origin,
      source: 'StartCallRecordingAPI',
    });
    const view = await calls.record(sid, order, request.key);
    return reply.code(201).send(viewJson(view, { account: calls.accountOf(request.key), origin }));
  });
  app.get<OneRecording>(`${OF_CALL}/:recording`, options, (request) =>
    readOne(parts, request, recordingIn(request.params.recording).sid),
  );
  app.post<OneRecording>(`${OF_CALL}/:recording`, options, (request) => change(parts, request));
  app.delete<OneRecording>(`${OF_CALL}/:recording`, options, (request, reply) =>
    removeOne(recordings, request, reply),
  );
}

/** The SID of the call in the path. Throws a RestError if the client has no such call. */
function knownCall({ calls }: Parts, { params, key }: FastifyRequest): string {
  const { call = '' } = params as { readonly call?: string };
  calls.get(call, key);
  return call;
}

async function list({ calls, recordings }: Parts, request: FastifyRequest, call: string | undefined) {
  const query = queryOf(request);
  const account = calls.accountOf(request.key);
  const asked = call ?? query.get('CallSid') ?? undefined;
  const path = call === undefined ? '' : `/Calls/${call}`;
  const page = pageOf<NamedRecording>({
    items: await recordings.list(request.key, asked),
    sidOf: ({ name }) => recordingSid(name),
    query,
    path: `${accountPath(account)}${path}/Recordings.json`,
  });
  const origin = originOf(request, calls.config);
  const shown = await Promise.all(page.items.map((named) => recordings.json(named, account, origin)));
  return { recordings: shown.filter((one) => one !== undefined), ...page.about };
}

async function readOne(
  { calls, recordings }: Parts,
  request: FastifyRequest<OneRecording>,
  sid: string,
): Promise<object> {
  const named = await recordings.find(sid, request.key, request.params.call);
  const json = await recordings.json(named, calls.accountOf(request.key), originOf(request, calls.config));
  if (json === undefined) throw notFound('recording');
  return json;
}

async function change({ calls, recordings }: Parts, request: FastifyRequest<OneRecording>): Promise<object> {
  const { params, key } = request;
  const call = knownCall({ calls, recordings }, request);
  const status = formOf(request).choice('Status', STATUSES);
  if (status === undefined)
    throw new RestError(400, NUMBERS.invalidParameter, `Status must be one of ${STATUSES.join(', ')}`);
  const sid = params.recording.replace(/\.json$/, '');
  const view = await recordings.change(call, sid, status, key);
  return viewJson(view, { account: calls.accountOf(key), origin: originOf(request, calls.config) });
}

async function removeOne(
  recordings: RecordingResources,
  { params, key }: FastifyRequest<OneRecording>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  await recordings.remove(recordingIn(params.recording).sid, key, params.call);
  return reply.code(204).send();
}

/** Ranges are supported. A recording is sent in the format that it was made in. */
async function download(
  recordings: RecordingResources,
  { sid, form }: { readonly sid: string; readonly form: string },
  { key }: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { named, path } = await recordings.file(sid, key);
  const { format } = named;
  if (form !== '' && form !== format) {
    const message = `the recording has the format ${format}, and this server makes no ${form} of it`;
    throw new RestError(UNSUPPORTED.status, UNSUPPORTED.code, message);
  }
  reply.headers({ 'content-type': TYPES[format] });
  return reply.sendFile(basename(path), dirname(path));
}

/** The last part of a path: SID and extension. Throws a RestError. */
function recordingIn(part: string): { readonly sid: string; readonly form: string } {
  const [, sid, form = ''] = /^(RE[0-9a-f]{32})(?:\.(json|wav|mp3|opus))?$/.exec(part) ?? [];
  if (sid === undefined) throw notFound('recording');
  return { sid, form };
}
