// Rooms over HTTP under /v1/rooms: members come, change and leave, and an application speaks into a room,
// plays sound in it and records its mix. A client sees the rooms of its own API key only.
import type { FastifyInstance } from 'fastify';
import { type MixerSamples, samplesOf } from '../../call/call-music.js';
import { MIX_HZ } from '../../call/joined-media.js';
import type { Joining } from '../../call/joining.js';
import type { MemberView } from '../../call/room.js';
import type { RoomView } from '../../call/rooms.js';
import { asParleyError, ParleyError } from '../../errors.js';
import type { Log } from '../../log.js';
import { formatNamed } from '../../speaking/audio-format.js';
import { isMarkup } from '../../speaking/text-source.js';
import { stated } from '../../stated.js';
import {
  BOOLEAN,
  jsonAnswer,
  listOf,
  NO_BODY,
  object,
  type RouteSchema,
  STRING,
  TAGS,
} from '../http/json-schema.js';
import { untilGone } from '../http/reply-connection.js';
import type { SpeechFieldLimits } from '../speech/speech-schema.js';
import type { SpeechSource } from '../speech/speech-source.js';
import {
  MEMBER_BODY,
  MEMBER_CHANGES,
  type MemberBody,
  type MemberChanges,
  readJoiner,
  readMember,
  readMemberChanges,
  readRoom,
} from './joining-requests.js';
import { AT, BY_NAME, BY_NAME_AND_CALL, joinedCalls } from './joining-routes.js';
import {
  RECORDING_BODY,
  RECORDING_VIEW,
  type RecordingAction,
  recordingViewJson,
  runRecording,
} from './recording-routes.js';
import type { SoundReader } from './telephone-access.js';
import {
  PLAY_BODY,
  type PlayBody,
  readPlayBody,
  readSpeech,
  sayBody,
  type SpeechFields,
} from './telephone-requests.js';

export interface RoomRouteParts {
  /** Undefined: the server has no calls. */
  readonly joining: Joining | undefined;
  readonly speech: Pick<SpeechSource, 'openStream'>;
  /** Undefined: the server reads no files of sound. */
  readonly sounds: SoundReader | undefined;
  readonly limits: SpeechFieldLimits;
  readonly log: Log;
}

const TAG = [TAGS.joining] as const;
const MEMBER = object(
  {
    call: STRING,
    agent: { ...STRING, description: 'name of the agent that is the member; absent: a caller is' },
    muted: BOOLEAN,
    deaf: BOOLEAN,
    hold: BOOLEAN,
    coach: { ...STRING, description: 'id of the only member that hears it' },
    moderator: BOOLEAN,
    speaking: BOOLEAN,
    joined_at: AT,
  },
  ['agent', 'coach'],
);
const ROOM = object({
  object: { type: 'string', enum: ['room'] },
  name: STRING,
  state: {
    type: 'string',
    enum: ['waiting', 'open'],
    description: 'members of an open room hear each other',
  },
  created_at: AT,
  members: listOf(MEMBER),
});
const NO_ROOM = { 404: { description: 'there is no room of this name' } };
const ACCEPTED = object({ object: { type: 'string', enum: ['room.sound'] }, room: STRING });

const JOIN_SCHEMA: RouteSchema = {
  summary: 'Have a call join a room, which is made if there is none of this name; or an agent join one',
  tags: TAG,
  params: BY_NAME,
  body: MEMBER_BODY,
  response: {
    201: jsonAnswer('the room', ROOM),
    404: { description: 'there is no open call, or no sound, of this name' },
    409: { description: 'the room is full, or the call is ending or joined to something already' },
  },
};
const CHANGE_SCHEMA: RouteSchema = {
  summary: 'Mute a member, hold it, have it coach another one, or make it a moderator',
  tags: TAG,
  params: BY_NAME_AND_CALL,
  body: MEMBER_CHANGES,
  response: { 200: jsonAnswer('the member', MEMBER), 404: { description: 'there is no such member' } },
};
const LEAVE_SCHEMA: RouteSchema = {
  summary: 'Take a member out of a room; its call goes on',
  tags: TAG,
  params: BY_NAME_AND_CALL,
  response: { 204: NO_BODY, 404: { description: 'there is no such member' } },
};
const LIST_SCHEMA: RouteSchema = {
  summary: 'The rooms',
  tags: TAG,
  response: {
    200: jsonAnswer('rooms', object({ object: { type: 'string', enum: ['list'] }, data: listOf(ROOM) })),
  },
};
const GET_SCHEMA: RouteSchema = {
  summary: 'One room',
  tags: TAG,
  params: BY_NAME,
  response: { 200: jsonAnswer('the room', ROOM), ...NO_ROOM },
};
const PLAY_SCHEMA: RouteSchema = {
  summary: 'Play a sound in a room, after what was given before',
  tags: TAG,
  params: BY_NAME,
  body: PLAY_BODY,
  response: { 202: jsonAnswer('it will be played', ACCEPTED), ...NO_ROOM },
};
const RECORDING_SCHEMA: RouteSchema = {
  summary: 'Record the mix of a room: start, pause, resume, stop',
  tags: TAG,
  params: BY_NAME,
  body: RECORDING_BODY,
  response: {
    200: jsonAnswer(
      'the recording',
      object({ object: { type: 'string', enum: ['room.recording'] }, room: STRING, ...RECORDING_VIEW }, [
        'reason',
      ]),
    ),
    409: { description: 'the state of the recording forbids it' },
    501: { description: 'this server records nothing' },
    ...NO_ROOM,
  },
};

/** Nobody interrupts what is said to a room. */
function saySchema(limits: SpeechFieldLimits): RouteSchema {
  const body = sayBody(limits);
  const { interruptible: _interruptible, ...properties } = body.properties ?? {};
  return {
    summary: 'Speak a text in a room, after what was given before',
    tags: TAG,
    params: BY_NAME,
    body: { ...body, properties },
    response: { 202: jsonAnswer('it will be spoken', ACCEPTED), ...NO_ROOM },
  };
}

type OneRoom = { Params: { name: string } };
type OneMember = { Params: { name: string; call: string } };

export function addRoomRoutes(app: FastifyInstance, parts: RoomRouteParts): void {
  addMemberRoutes(app, parts.joining);
  addRoomSoundRoutes(app, parts);
}

function addMemberRoutes(app: FastifyInstance, joining: Joining | undefined): void {
  const path = '/v1/rooms/:name';
  app.get('/v1/rooms', { schema: LIST_SCHEMA }, ({ key }) => {
    return { object: 'list', data: joinedCalls(joining).rooms.list(key).map(roomJson) };
  });
  app.get<OneRoom>(path, { schema: GET_SCHEMA }, ({ params, key }) =>
    roomJson(joinedCalls(joining).rooms.get(params.name, key)),
  );
  const members = `${path}/members`;
  app.post<OneRoom & { Body: MemberBody }>(members, { schema: JOIN_SCHEMA }, async (request, reply) => {
    const { params, key, body } = request;
    const { rooms } = joinedCalls(joining);
    const { call, agent } = readJoiner(body);
    const view =
      agent === undefined
        ? await rooms.join(params.name, key, call, readMember(body), readRoom(body))
        : rooms.joinAgent(params.name, key, agent, readMember(body));
    return reply.code(201).send(roomJson(view));
  });
  const one = `${members}/:call`;
  app.patch<OneMember & { Body: MemberChanges }>(one, { schema: CHANGE_SCHEMA }, ({ params, key, body }) => {
    const { name, call } = params;
    return memberJson(joinedCalls(joining).rooms.change(name, key, call, readMemberChanges(body)));
  });
  app.delete<OneMember>(one, { schema: LEAVE_SCHEMA }, ({ params, key }, reply) => {
    joinedCalls(joining).rooms.leave(params.name, key, params.call);
    return reply.code(204).send();
  });
}

function addRoomSoundRoutes(
  app: FastifyInstance,
  { joining, speech, sounds, limits, log }: RoomRouteParts,
): void {
  const path = '/v1/rooms/:name';
  const play = (name: string, key: string | undefined, sound: MixerSamples) => {
    const { rooms } = joinedCalls(joining);
    rooms
      .room(name, key)
      .play(sound)
      .catch((error: unknown) => {
        const { code } = asParleyError(error, 'ENGINE_FAILED');
        log.warn({ room: name, code }, 'sound of a room failed');
      });
    return { object: 'room.sound', room: name };
  };
  app.post<OneRoom & { Body: SpeechFields }>(
    `${path}/say`,
    { schema: saySchema(limits) },
    async ({ params, key, client, body }, reply) => {
      joinedCalls(joining).rooms.get(params.name, key); // before anything is spoken
      const sound = await spoken(speech, body, client);
      return reply.code(202).send(play(params.name, key, sound));
    },
  );
  app.post<OneRoom & { Body: PlayBody }>(`${path}/play`, { schema: PLAY_SCHEMA }, async (request, reply) => {
    const { params, key, body } = request;
    joinedCalls(joining).rooms.get(params.name, key); // before anything is decoded
    const { source, name, field, times } = readPlayBody(body);
    if (sounds === undefined)
      throw new ParleyError('CAPABILITY_MISSING', 'this server reads no files of sound');
    const sound = await (name === undefined
      ? sounds.read(source, field, untilGone(reply))
      : sounds.named(name, field));
    return reply.code(202).send(play(params.name, key, samplesOf({ ...sound, ...stated({ times }) })));
  });
  app.post<OneRoom & { Body: RecordingAction }>(
    `${path}/recording`,
    { schema: RECORDING_SCHEMA },
    async ({ params, key, body }) => {
      const recorder = joinedCalls(joining).rooms.recorder(params.name, key);
      const view = await runRecording(recorder, body);
      return { object: 'room.recording', room: params.name, ...recordingViewJson(view) };
    },
  );
}

/** Rejects with what can be known before the first sound. The work stops when the room does not take it. */
async function spoken(
  speech: RoomRouteParts['speech'],
  body: SpeechFields,
  client: string,
): Promise<MixerSamples> {
  const { text, format, interruptible: _interruptible, ...settings } = readSpeech(body);
  const markup = isMarkup(text, format) ? true : undefined;
  const request = { ...settings, text, client, format: formatNamed('pcm'), sampleRate: MIX_HZ };
  const source = await speech.openStream({ ...request, ...stated({ markup }) }, new AbortController().signal);
  return () => samplesIn(source);
}

const SAMPLE_BYTES = 2;
const FULL_SCALE = 32_768;

/** The samples of s16le bytes, however those are cut. */
async function* samplesIn(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Float32Array> {
  let left = Buffer.alloc(0);
  for await (const chunk of bytes) {
    const whole = left.length === 0 ? Buffer.from(chunk) : Buffer.concat([left, chunk]);
    const count = Math.floor(whole.length / SAMPLE_BYTES);
    left = whole.subarray(count * SAMPLE_BYTES);
    if (count > 0)
      yield Float32Array.from(
        { length: count },
        (_, at) => whole.readInt16LE(at * SAMPLE_BYTES) / FULL_SCALE,
      );
  }
}

function roomJson({ name, state, createdAt, members }: RoomView) {
  return { object: 'room', name, state, created_at: createdAt / 1000, members: members.map(memberJson) };
}

function memberJson({ joinedAt, call, agent, muted, deaf, hold, coach, moderator, speaking }: MemberView) {
  return { call, agent, muted, deaf, hold, coach, moderator, speaking, joined_at: joinedAt / 1000 };
}
