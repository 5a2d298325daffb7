// Reads the verbs of a program file that join calls:
//
//   {"conference": {"room": "weekly", "opens": false, "wait": "silence"}}   a member of a room
//   {"enqueue": {"queue": "sales", "wait": "please wait"}}                  waits in a queue
//   {"dequeue": {"queue": "sales", "whisper": "sales call"}}                takes the next call of a queue
//
// A wait is `music`, `silence`, or the name of a program.
import type { Fields } from '../config/fields.js';
import { isUsableName, NAME_RULE } from '../call/named-of-keys.js';
import type { VerbReader } from './verb-reader.js';
import type { Conference, Dequeue, Enqueue, Wait } from './verbs.js';

const WAITS = ['music', 'silence'] as const;
const CHIMES = ['both', 'entry', 'exit', 'none'] as const;
const MOST_MEMBERS = 250;
const MOST_WAITING = 1000;
const MOST_LABEL = 128; // characters
const WAIT_SECONDS = [1, 3600] as const;
const LIMIT_SECONDS = [1, 14_400] as const;
const USUAL_WAIT_MS = 30_000;
const KEY = /^[0-9*#A-D]$/i;

const OF_MEMBER = ['muted', 'chimes', 'opens', 'ends', 'label', 'coach'] as const;
const OF_ROOM = ['room', 'wait', 'members', 'record'] as const;
export const CONFERENCE_FIELDS = [...OF_ROOM, ...OF_MEMBER, 'limit', 'endKey', 'next'];
export const ENQUEUE_FIELDS = ['queue', 'wait', 'waiting', 'next'];
export const DEQUEUE_FIELDS = ['queue', 'whisper', 'timeout', 'limit', 'endKey', 'next'];

export function readConference(read: VerbReader, fields: Fields, at: string): Conference | undefined {
  const room = readName(read, fields, 'room', at);
  const verb = {
    isMuted: read.flag(fields, 'muted', at) ?? false,
    chimes: read.word(fields, 'chimes', at, CHIMES) ?? 'both',
    opens: read.flag(fields, 'opens', at) ?? true,
    ends: read.flag(fields, 'ends', at) ?? false,
    label: read.text(fields, 'label', at, MOST_LABEL),
    wait: readWait(read, fields, at),
    mostMembers: read.integer(fields, 'members', at, 2, MOST_MEMBERS) ?? MOST_MEMBERS,
    isRecorded: read.flag(fields, 'record', at) ?? false,
    coach: read.text(fields, 'coach', at, MOST_LABEL),
    ...readEnd(read, fields, at),
    events: [],
  };
  return room === undefined ? undefined : { verb: 'conference', room, ...verb };
}

export function readEnqueue(read: VerbReader, fields: Fields, at: string): Enqueue | undefined {
  const queue = readName(read, fields, 'queue', at);
  const verb = {
    mostWaiting: read.integer(fields, 'waiting', at, 1, MOST_WAITING) ?? MOST_WAITING,
    wait: readWait(read, fields, at),
    action: read.target(fields, 'next', at),
  };
  return queue === undefined ? undefined : { verb: 'enqueue', queue, ...verb };
}

export function readDequeue(read: VerbReader, fields: Fields, at: string): Dequeue | undefined {
  const queue = readName(read, fields, 'queue', at);
  const verb = {
    whisper: read.target(fields, 'whisper', at),
    waitMs: read.ms(fields, 'timeout', at, WAIT_SECONDS) ?? USUAL_WAIT_MS,
    ...readEnd(read, fields, at),
  };
  return queue === undefined ? undefined : { verb: 'dequeue', queue, ...verb };
}

function readEnd(
  read: VerbReader,
  fields: Fields,
  at: string,
): Pick<Conference, 'mostMs' | 'endKey' | 'action'> {
  const { endKey } = fields;
  const isKey = endKey === undefined || (typeof endKey === 'string' && KEY.test(endKey));
  if (!isKey) read.problem(`${at}.endKey`, 'must be one key: 0-9, *, # or A-D');
  return {
    mostMs: read.ms(fields, 'limit', at, LIMIT_SECONDS),
    endKey: isKey && typeof endKey === 'string' ? endKey.toUpperCase() : undefined,
    action: read.target(fields, 'next', at),
  };
}

function readName(read: VerbReader, fields: Fields, name: string, at: string): string | undefined {
  const value = fields[name];
  if (typeof value === 'string' && isUsableName(value)) return value;
  return read.problem(`${at}.${name}`, `must be ${NAME_RULE}`);
}

function readWait(read: VerbReader, fields: Fields, at: string): Wait {
  const word = WAITS.find((one) => one === fields['wait']);
  if (word !== undefined) return word;
  return read.target(fields, 'wait', at) ?? 'music';
}
