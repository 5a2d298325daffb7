// Reads the rules that join a call to others, or give it a program:
//
//   "bridge": {"to": "+491701234567", "ringTimeout": 30, "music": "none", "endKey": "*"}
//   "room": {"name": "weekly", "muted": false, "moderator": false, "start": "moderator"}
//   "queue": {"name": "support", "priority": 1, "announce": "You are number {position}.", "timeout": 600}
//   "twiml": {"url": "https://ivr.example.com/voice", "method": "POST"}
//   "program": "main"
import type { BridgeRequest } from '../src/call/bridges.js';
import type { JoinRule } from '../src/call/joining.js';
import { isUsableName, NAME_RULE } from '../src/call/named-of-keys.js';
import type { FieldReader, Fields } from '../src/config/fields.js';
import {
  DOCUMENT_URL_RULE,
  isDocumentUrl,
  MOST_DOCUMENT_URL,
  type ProgramSource,
} from '../src/config/ivr-config.js';
import { stated } from '../src/stated.js';

export const JOIN_KINDS = ['bridge', 'room', 'queue'] as const;
export type JoinKind = (typeof JOIN_KINDS)[number];

const FIELDS: Readonly<Record<JoinKind, readonly string[]>> = {
  bridge: ['to', 'from', 'trunk', 'ringTimeout', 'earlyMedia', 'music', 'endKey', 'leavePath', 'after'],
  room: ['name', 'muted', 'moderator', 'music', 'start', 'sounds', 'after'],
  queue: ['name', 'priority', 'music', 'announce', 'timeout', 'after'],
};
const STARTS = ['two', 'moderator'] as const;
const AFTER = ['stay', 'hangup'] as const;
const KEY = /^[0-9*#A-D]$/i;
const MOST_RING = 180; // seconds
const MOST_WAIT = 86_400;
const MOST_ANNOUNCE = 500;

/** `after`: what becomes of the call when it is joined to nothing any more. */
export type JoinAnswer =
  | { readonly kind: 'bridge'; readonly bridge: BridgeRequest; readonly after: 'stay' | 'hangup' }
  | { readonly kind: 'room' | 'queue'; readonly join: JoinRule; readonly after: 'stay' | 'hangup' };

/** Undefined if there are mistakes, which the reader keeps. */
export function readJoinRule(
  read: FieldReader,
  kind: JoinKind,
  value: unknown,
  at: string,
): JoinAnswer | undefined {
  if (!read.fields(value, at, FIELDS[kind])) return undefined;
  const after = read.word(value, 'after', at, AFTER) ?? 'hangup';
  if (kind === 'bridge') {
    const bridge = bridgeIn(read, value, at);
    return bridge && { kind, bridge, after };
  }
  const join = named(read, kind, value, at);
  return join && { kind, join, after };
}

function bridgeIn(read: FieldReader, value: Fields, at: string): BridgeRequest | undefined {
  const to = read.text(value, 'to', at, 256);
  if (value['to'] === undefined) return read.problem(`${at}.to`, 'is missing');
  const seconds = read.number(value, 'ringTimeout', at, 1, MOST_RING);
  const endKey = read.text(value, 'endKey', at, 1)?.toUpperCase();
  if (endKey !== undefined && !KEY.test(endKey))
    return read.problem(`${at}.endKey`, 'must be one of 0-9, *, # and A-D');
  return stated({
    to,
    from: read.text(value, 'from', at, 256),
    trunk: read.text(value, 'trunk', at, 100),
    ringTimeoutMs: seconds === undefined ? undefined : Math.round(seconds * 1000),
    earlyMedia: read.flag(value, 'earlyMedia', at),
    music: read.text(value, 'music', at, 100),
    endKey,
    leavePath: read.flag(value, 'leavePath', at),
  });
}

function named(read: FieldReader, kind: 'room' | 'queue', value: Fields, at: string): JoinRule | undefined {
  const { name } = value;
  if (typeof name !== 'string' || !isUsableName(name))
    return read.problem(`${at}.name`, `must be ${NAME_RULE}`);
  const music = read.text(value, 'music', at, 100);
  if (kind === 'room') {
    const settings = stated({
      muted: read.flag(value, 'muted', at),
      moderator: read.flag(value, 'moderator', at),
    });
    const start = read.word(value, 'start', at, STARTS);
    return {
      kind,
      name,
      settings,
      request: stated({ music, start, sounds: read.flag(value, 'sounds', at) }),
    };
  }
  const seconds = read.number(value, 'timeout', at, 1, MOST_WAIT);
  const request = stated({
    music,
    priority: read.integer(value, 'priority', at, -1000, 1000),
    announce: read.text(value, 'announce', at, MOST_ANNOUNCE),
    timeoutMs: seconds === undefined ? undefined : Math.round(seconds * 1000),
  });
  return { kind, name, request };
}

export const PROGRAM_KINDS = ['twiml', 'program'] as const;

/** The reason why a program cannot conduct calls here; undefined: it can. */
export type ProgramProblem = (source: ProgramSource) => string | undefined;

/** Undefined if there are mistakes, which the reader keeps. */
export function readProgramRule(
  read: FieldReader,
  route: Fields,
  at: string,
  problemOf: ProgramProblem,
): { readonly kind: 'program'; readonly source: ProgramSource } | undefined {
  const kind = PROGRAM_KINDS.find((name) => route[name] !== undefined) ?? 'program';
  const source =
    kind === 'twiml' ? documentIn(read, route[kind], `${at}.${kind}`) : programIn(read, route, at);
  if (source === undefined) return undefined;
  const problem = problemOf(source);
  return problem === undefined ? { kind: 'program', source } : read.problem(`${at}.${kind}:`, problem);
}

function programIn(read: FieldReader, route: Fields, at: string): ProgramSource | undefined {
  const name = read.text(route, 'program', at, 100);
  return name === undefined ? undefined : { kind: 'program', name };
}

function documentIn(read: FieldReader, value: unknown, at: string): ProgramSource | undefined {
  if (!read.fields(value, at, ['url', 'method'])) return undefined;
  const method = read.word(value, 'method', at, ['GET', 'POST']) ?? 'POST';
  const url = read.text(value, 'url', at, MOST_DOCUMENT_URL);
  if (url === undefined && value['url'] === undefined) return read.problem(`${at}.url`, 'is missing');
  if (url === undefined) return undefined;
  if (!isDocumentUrl(url)) return read.problem(`${at}.url`, `must be ${DOCUMENT_URL_RULE}`);
  return { kind: 'twiml', url, method };
}
