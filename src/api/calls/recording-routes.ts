// Records calls over HTTP, and serves the files: POST /v1/calls/{id}/recording starts, pauses, resumes and
// stops; /v1/recordings lists, downloads and deletes. A client sees the calls and recordings of its own API
// key only.
import fastifyStatic from '@fastify/static';
import { basename, dirname } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { mayUseRecording } from '../../call/switchboard.js';
import { ParleyError } from '../../errors.js';
import {
  type CallRecorder,
  MOST_ANNOUNCEMENT,
  type Recorder,
  type RecordingView,
} from '../../recording/call-recording.js';
import type { RecordingFolder, StoredRecording } from '../../recording/recording-folder.js';
import {
  readRecordingName,
  RECORDING_FORMATS,
  type RecordingFormat,
} from '../../recording/recording-name.js';
import {
  type Answer,
  BOOLEAN,
  INTEGER,
  jsonAnswer,
  type JsonSchema,
  listOf,
  NO_BODY,
  NUMBER,
  object,
  type RouteSchema,
  STRING,
  TAGS,
} from '../http/json-schema.js';

/** The parts that the routes of recordings need. */
export interface RecordingParts {
  readonly folder: Pick<RecordingFolder, 'list' | 'find' | 'fileOf' | 'remove' | 'isOpen'>;
  readonly recorder: Recorder;
}

const DEFAULT_LISTED = 100;
const MOST_LISTED = 1000;
const TAG = [TAGS.recordings] as const;
const ACTIONS = ['start', 'pause', 'resume', 'stop'] as const;
const CONTENT_TYPES: Readonly<Record<RecordingFormat, string>> = { wav: 'audio/wav', opus: 'audio/ogg' };

const NAME = { ...STRING, description: 'of its file, which the server has chosen' };
const FORMAT: JsonSchema = { type: 'string', enum: RECORDING_FORMATS };
const AT = { ...NUMBER, description: 'Unix seconds, to the millisecond' };
const SIZE = { duration_ms: NUMBER, bytes: { ...INTEGER, description: 'on disk' } };

const REASON: JsonSchema = {
  type: 'string',
  enum: ['stopped', 'call-ended', 'too-long', 'too-large', 'disk-full', 'failed'],
};

/** The fields of a recording in progress, or of the last one. */
export const RECORDING_VIEW: Readonly<Record<string, JsonSchema>> = {
  name: NAME,
  format: FORMAT,
  state: { type: 'string', enum: ['recording', 'paused', 'stopping', 'stopped'] },
  started_at: AT,
  ...SIZE,
  reason: REASON,
};

const CALL_RECORDING = object(
  { object: { type: 'string', enum: ['call.recording'] }, call: STRING, ...RECORDING_VIEW },
  ['reason'],
);

const RECORDING = object(
  {
    object: { type: 'string', enum: ['recording'] },
    name: NAME,
    call: STRING,
    format: FORMAT,
    started_at: AT,
    ...SIZE,
    complete: {
      ...BOOLEAN,
      description:
        'false if the server was killed or the disk failed; the file ends within 2 s of that moment',
    },
    reason: {
      ...REASON,
      description: 'why it is over; absent where it ended before the last start of the server',
    },
  },
  ['reason'],
);

const REFUSALS: Readonly<Record<number, Answer>> = {
  501: { description: 'this server records no calls; the message names the variable that changes it' },
};

export const RECORDING_BODY: JsonSchema = object(
  {
    action: { type: 'string', enum: ACTIONS },
    format: { ...FORMAT, description: 'of `start`; RECORDING_FORMAT where absent' },
    announce: {
      type: 'string',
      minLength: 1,
      maxLength: MOST_ANNOUNCEMENT,
      default: 'none',
      description: 'of `start`: `none`, `beep`, or a text that is spoken in the call first',
    },
  },
  ['format', 'announce'],
);

const ACTION_SCHEMA: RouteSchema = {
  summary: 'Record a call: start, pause, resume, stop',
  description:
    'Two channels: left the caller, right this server. `start` answers when the announcement was played and the file is there, `stop` when the file is complete. While it is paused, silence is recorded.',
  tags: TAG,
  params: object({ id: STRING }),
  body: RECORDING_BODY,
  response: {
    200: jsonAnswer('the recording, after `pause`, `resume` or `stop`', CALL_RECORDING),
    201: jsonAnswer('the recording has begun', CALL_RECORDING),
    404: { description: 'the server knows no call of this id' },
    409: { description: 'the state of the call or of its recording forbids it' },
    507: { description: 'the disk is full' },
    ...REFUSALS,
  },
};

const LIST_SCHEMA: RouteSchema = {
  summary: 'The finished recordings',
  description: 'Newest first.',
  tags: TAG,
  querystring: {
    type: 'object',
    properties: {
      limit: {
        type: 'string',
        pattern: '^([1-9][0-9]{0,2}|1000)$',
        description: `how many, ${DEFAULT_LISTED} where absent`,
        'x-must-be': `a whole number from 1 to ${MOST_LISTED}`,
      },
      call: { type: 'string', maxLength: 100, description: 'only those of this call' },
      before: {
        type: 'string',
        maxLength: 200,
        description: 'a name: only recordings that began before it',
      },
    },
  },
  response: {
    200: jsonAnswer(
      'recordings',
      object({ object: { type: 'string', enum: ['list'] }, data: listOf(RECORDING), has_more: BOOLEAN }),
    ),
    ...REFUSALS,
  },
};

const ONE_RECORDING: Readonly<Record<number, Answer>> = {
  404: { description: 'there is no recording of this name' },
  409: { description: 'it is still being recorded' },
  ...REFUSALS,
};

const FILE: JsonSchema = { type: 'string', format: 'binary' };
const FILE_CONTENT = Object.fromEntries(Object.values(CONTENT_TYPES).map((type) => [type, { schema: FILE }]));

const DOWNLOAD_SCHEMA: RouteSchema = {
  summary: 'Download a recording',
  description: 'Ranges are supported.',
  tags: TAG,
  params: object({ name: STRING }),
  response: {
    200: { description: 'the file', content: FILE_CONTENT },
    206: { description: 'a part of the file', content: FILE_CONTENT },
    ...ONE_RECORDING,
  },
};

const DELETE_SCHEMA: RouteSchema = {
  summary: 'Delete a recording',
  tags: TAG,
  params: object({ name: STRING }),
  response: { 204: NO_BODY, ...ONE_RECORDING },
};

export interface RecordingAction {
  action: (typeof ACTIONS)[number];
  format?: RecordingFormat | null;
  announce?: string | null;
}

interface Acting {
  Params: { id: string };
  Body: RecordingAction;
}

interface Listing {
  Querystring: { limit?: string; call?: string; before?: string };
}

type OneRecording = { Params: { name: string } };

/** Needs a fastify scope of its own. Without parts, every route answers 501 before it reads the body. */
export async function addRecordingRoutes(
  app: FastifyInstance,
  parts: RecordingParts | undefined,
): Promise<void> {
  // Only for `sendFile`: no file is a route of its own.
  await app.register(fastifyStatic, { serve: false, index: false, cacheControl: false, contentType: false });
  if (parts === undefined) {
    app.addHook('onRequest', async () => {
      const message = 'this server records no calls; RECORDINGS_DIR=/path/of/a/folder changes it';
      throw new ParleyError('RECORDING_OFF', message);
    });
  }
  const used = parts ?? OFF;
  app.post<Acting>('/v1/calls/:id/recording', { schema: ACTION_SCHEMA }, async (request, reply) => {
    const { body, params, key } = request;
    const recording = used.recorder.recordingOf(params.id, key);
    if (recording === undefined) throw new ParleyError('NOT_FOUND', 'there is no call of this id');
    const view = await runRecording(recording, body);
    return reply
      .code(body.action === 'start' ? 201 : 200)
      .send({ object: 'call.recording', call: view.call, ...recordingViewJson(view) });
  });
  app.get<Listing>('/v1/recordings', { schema: LIST_SCHEMA }, async ({ query, key }) => {
    const { limit = DEFAULT_LISTED, call, before } = query;
    const maySee = (owner: string | undefined) => mayUseRecording(key, owner);
    const { recordings, hasMore } = await used.folder.list({ maySee, call, before, limit: Number(limit) });
    return { object: 'list', data: recordings.map(recordingJson), has_more: hasMore };
  });
  app.get<OneRecording>('/v1/recordings/:name', { schema: DOWNLOAD_SCHEMA }, (request, reply) =>
    download(used.folder, request, reply),
  );
  app.delete<OneRecording>('/v1/recordings/:name', { schema: DELETE_SCHEMA }, async (request, reply) => {
    const name = checkedName(used.folder, request);
    if (!(await used.folder.remove(name))) throw unknownRecording();
    return reply.code(204).send();
  });
}

const OFF: RecordingParts = {
  folder: {
    list: () => Promise.resolve({ recordings: [], hasMore: false }),
    find: () => Promise.resolve(undefined),
    fileOf: () => Promise.resolve(undefined),
    remove: () => Promise.resolve(false),
    isOpen: () => false,
  },
  recorder: { recordingOf: () => undefined },
};

export async function runRecording(
  recording: CallRecorder,
  { action, format, announce }: RecordingAction,
): Promise<RecordingView> {
  switch (action) {
    case 'start':
      return recording.start({ format: format ?? undefined, announce: announce ?? undefined });
    case 'pause':
      return recording.pause();
    case 'resume':
      return recording.resume();
    case 'stop':
      return recording.stop();
  }
}

async function download(
  folder: RecordingParts['folder'],
  request: FastifyRequest<OneRecording>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const name = checkedName(folder, request);
  const path = await folder.fileOf(name);
  const format = readRecordingName(name)?.format;
  if (path === undefined || format === undefined) throw unknownRecording();
  reply.headers({
    'content-type': CONTENT_TYPES[format],
    'content-disposition': `attachment; filename="${name}"`,
  });
  return reply.sendFile(basename(path), dirname(path));
}

/**
 * The name, if it has the shape of one and the client may use the recording. Throws NOT_FOUND, or CALL_STATE
 * while it is being recorded.
 */
function checkedName(folder: RecordingParts['folder'], request: FastifyRequest<OneRecording>): string {
  const { params, key } = request;
  const named = readRecordingName(params.name);
  if (named === undefined || !mayUseRecording(key, named.owner)) throw unknownRecording();
  if (!folder.isOpen(named.name)) return named.name;
  throw new ParleyError('CALL_STATE', 'the recording is not over; stop it first');
}

function unknownRecording(): ParleyError {
  return new ParleyError('NOT_FOUND', 'there is no recording of this name');
}

/** The recording without what it is of. */
export function recordingViewJson({
  name,
  format,
  state,
  startedMs,
  durationMs,
  bytes,
  reason,
}: RecordingView) {
  const size = { started_at: startedMs / 1000, duration_ms: Math.round(durationMs), bytes };
  return { name, format, state, ...size, reason };
}

function recordingJson(recording: StoredRecording) {
  const { name, call, format, startedMs, durationMs, bytes, complete, reason } = recording;
  const size = { started_at: startedMs / 1000, duration_ms: Math.round(durationMs), bytes };
  return { object: 'recording', name, call, format, ...size, complete, reason };
}
