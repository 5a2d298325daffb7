// Defines the requests that join calls: the JSON schema, the type and the reader of each body.
import type { BridgeRequest, JoinTarget } from '../../call/bridges.js';
import { VOICE_MODES, type VoiceMode } from '../../call/joined-media.js';
import type { MemberSettings } from '../../call/room.js';
import { MOST_MEMBERS, type RoomRequest } from '../../call/rooms.js';
import { MOST_WAITING, type NextRequest, type QueueRequest } from '../../call/waiting-queues.js';
import { ParleyError } from '../../errors.js';
import { stated } from '../../stated.js';
import { BOOLEAN, type JsonSchema } from '../http/json-schema.js';
import { ADDRESS, NAME } from './telephone-requests.js';

interface TargetBody {
  readonly call?: string;
  readonly to?: string;
  readonly from?: string;
  readonly trunk?: string;
  readonly ring_timeout?: number;
}

export interface BridgeBody extends TargetBody {
  readonly early_media?: boolean;
  readonly music?: string;
  readonly keys?: 'forward' | 'keep';
  readonly end_key?: string;
  readonly voice?: VoiceMode;
  readonly after?: 'stay' | 'hangup';
  readonly leave_path?: boolean;
}

interface MemberFields {
  readonly muted?: boolean;
  readonly deaf?: boolean;
  readonly hold?: boolean;
  readonly coach?: string;
  readonly moderator?: boolean;
}

export interface MemberBody extends MemberFields {
  readonly call?: string;
  readonly agent?: string;
  readonly music?: string;
  readonly start?: 'two' | 'moderator';
  readonly sounds?: boolean;
  readonly max_members?: number;
}

/** An empty `coach` takes it back. */
export type MemberChanges = MemberFields;

export interface WaitBody {
  readonly call: string;
  readonly priority?: number;
  readonly music?: string;
  readonly announce?: string;
  readonly timeout?: number;
  readonly max_waiting?: number;
  readonly after?: 'stay' | 'hangup';
}

export interface NextBody extends TargetBody {
  readonly end_key?: string;
}

const AFTER: JsonSchema = { type: 'string', enum: ['stay', 'hangup'], default: 'stay' };
export const KEY_FIELD: JsonSchema = {
  type: 'string',
  pattern: '^[0-9*#A-Da-d]$',
  'x-must-be': 'one of 0-9, *, # and A-D',
};
const END_KEY: JsonSchema = {
  ...KEY_FIELD,
  description: 'a key that ends the bridge, whoever presses it; it is not forwarded',
};
export const MUSIC_FIELD: JsonSchema = {
  type: 'string',
  minLength: 1,
  maxLength: 100,
  description: 'name of a sound of this server, or `none`; its default tune where absent',
};
const MEMBER: Readonly<Record<string, JsonSchema>> = {
  muted: { ...BOOLEAN, description: 'nobody hears it' },
  deaf: { ...BOOLEAN, description: 'it hears nobody' },
  hold: { ...BOOLEAN, description: 'it is out of the room, and hears music' },
  coach: { ...NAME, description: 'id of the only member that hears it' },
  moderator: { ...BOOLEAN, description: 'the room ends when the last moderator leaves' },
};
export const DIAL_FIELDS: Readonly<Record<string, JsonSchema>> = {
  from: { ...ADDRESS, description: 'the caller of the call that is placed' },
  trunk: { ...NAME, description: 'the trunk of the call that is placed' },
  ring_timeout: { type: 'number', minimum: 1, maximum: 180, default: 60, description: 'seconds' },
};
const TARGET: Readonly<Record<string, JsonSchema>> = {
  call: { ...NAME, description: 'another open call' },
  to: { ...ADDRESS, description: 'or the destination of a call that is placed, as in `POST /v1/calls`' },
  ...DIAL_FIELDS,
};

export const BRIDGE_BODY: JsonSchema = {
  type: 'object',
  properties: {
    ...TARGET,
    early_media: {
      ...BOOLEAN,
      default: true,
      description: 'the sound of the other side before its answer is heard; ring-back otherwise',
    },
    music: { ...MUSIC_FIELD, description: 'heard while the other side holds; a name, or `none`' },
    keys: { type: 'string', enum: ['forward', 'keep'], default: 'forward' },
    end_key: END_KEY,
    voice: {
      type: 'string',
      enum: [...VOICE_MODES],
      default: 'paused',
      description: 'what our voice does to the other side while it speaks in a call',
    },
    after: { ...AFTER, description: 'what becomes of the first call when the bridge ends by itself' },
    leave_path: {
      ...BOOLEAN,
      default: false,
      description: 'once both talk, one far end is asked to call the other one in place of this server',
    },
  },
  examples: [{ to: '+491701234567', ring_timeout: 30, end_key: '*' }],
};

export const MEMBER_BODY: JsonSchema = {
  type: 'object',
  properties: {
    call: { ...NAME, description: 'an open call' },
    agent: {
      ...NAME,
      description:
        'or the name of an agent of this server, for a room that is there: it gets a call of its own',
    },
    ...MEMBER,
    music: { ...MUSIC_FIELD, description: 'of the first member: heard until the room opens, and on hold' },
    start: {
      type: 'string',
      enum: ['two', 'moderator'],
      default: 'two',
      description: 'of the first member: what opens the room',
    },
    sounds: { ...BOOLEAN, default: true, description: 'of the first member: sounds on entry and exit' },
    max_members: { type: 'integer', minimum: 2, maximum: MOST_MEMBERS, default: MOST_MEMBERS },
  },
};

export const MEMBER_CHANGES: JsonSchema = {
  type: 'object',
  properties: {
    ...MEMBER,
    coach: {
      type: 'string',
      maxLength: 200,
      description: 'id of the only member that hears it; an empty text: all hear it again',
    },
  },
};

export const WAIT_BODY: JsonSchema = {
  type: 'object',
  required: ['call'],
  properties: {
    call: { ...NAME, description: 'an open call' },
    priority: {
      type: 'integer',
      minimum: -1000,
      maximum: 1000,
      default: 0,
      description: 'higher comes first',
    },
    music: { ...MUSIC_FIELD, description: 'of the first call: heard while calls wait' },
    announce: {
      type: 'string',
      minLength: 1,
      maxLength: 500,
      description: 'of the first call: spoken at first and when the place changes; `{position}` is the place',
    },
    timeout: {
      type: 'number',
      minimum: 1,
      maximum: 86_400,
      description: 'of the first call: seconds after which a call leaves the queue',
    },
    max_waiting: { type: 'integer', minimum: 1, maximum: MOST_WAITING, default: MOST_WAITING },
    after: { ...AFTER, description: 'what becomes of the call after the timeout' },
  },
};

export const NEXT_BODY: JsonSchema = { type: 'object', properties: { ...TARGET, end_key: END_KEY } };

function readTarget({ call, to, from, trunk, ring_timeout }: TargetBody): JoinTarget {
  const ringTimeoutMs = ring_timeout === undefined ? undefined : Math.round(ring_timeout * 1000);
  return stated({ call, to, from, trunk, ringTimeoutMs });
}

export function readBridge(body: BridgeBody): BridgeRequest {
  const { early_media: earlyMedia, music, keys, end_key, voice, after, leave_path: leavePath } = body;
  const endKey = end_key?.toUpperCase();
  return { ...readTarget(body), ...stated({ earlyMedia, music, keys, endKey, voice, after, leavePath }) };
}

export function readMember({ muted, deaf, hold, coach, moderator }: MemberFields): Partial<MemberSettings> {
  return stated({ muted, deaf, hold, coach, moderator });
}

export function readMemberChanges({ coach, ...rest }: MemberChanges): Partial<MemberSettings> {
  const changes = readMember(rest);
  if (coach === undefined) return changes;
  return { ...changes, coach: coach === '' ? undefined : coach };
}

type Joiner =
  | { readonly call: string; readonly agent?: undefined }
  | { readonly agent: string; readonly call?: undefined };

/** Throws INVALID_FIELD unless there is one of the two. */
export function readJoiner({ call, agent }: MemberBody): Joiner {
  if (call !== undefined && agent === undefined) return { call };
  if (agent !== undefined && call === undefined) return { agent };
  const message = 'either "call" or "agent" must be there: the member that joins';
  throw new ParleyError('INVALID_FIELD', message, { field: 'call' });
}

export function readRoom({ music, start, sounds, max_members: mostMembers }: MemberBody): RoomRequest {
  return stated({ music, start, sounds, mostMembers });
}

export function readWait(body: WaitBody): QueueRequest {
  const { priority, music, announce, timeout, max_waiting: mostWaiting, after } = body;
  const timeoutMs = timeout === undefined ? undefined : Math.round(timeout * 1000);
  return stated({ priority, music, announce, timeoutMs, mostWaiting, after });
}

export function readNext(body: NextBody): NextRequest {
  const endKey = body.end_key?.toUpperCase();
  return { ...readTarget(body), ...stated({ endKey }) };
}
