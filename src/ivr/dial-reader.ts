// Reads the verb that calls others, in a program file:
//
//   {"dial": "+491701234567"}
//   {"dial": {"to": ["+491701234567", {"to": "sip:anna@example.com", "whisper": "screen"}], "timeout": 20}}
import { type Fields, isFields } from '../config/fields.js';
import type { VerbReader } from './verb-reader.js';
import type { Dial, DialTarget } from './verbs.js';

export const DIAL_FIELDS = [
  'to',
  'sequential',
  'timeout',
  'limit',
  'endKey',
  'callerId',
  'answerLate',
  'record',
  'next',
] as const;
const TARGET_FIELDS = ['to', 'digits', 'whisper'];
const MOST_TARGETS = 10;
const MOST_ADDRESS = 256; // characters
const RING_SECONDS = [1, 600] as const;
const TALK_SECONDS = [1, 14_400] as const;
const DIGITS = /^[0-9*#A-D,]{1,64}$/i;

/** Undefined if there are mistakes, which the reader keeps. */
export function readDial(read: VerbReader, fields: Fields, at: string): Dial | undefined {
  const targets = readTargets(read, fields, at);
  const endKey = read.word(fields, 'endKey', at, ['*']);
  const action = read.target(fields, 'next', at);
  if (targets.length === 0) return undefined;
  return {
    verb: 'dial',
    targets,
    isSequential: read.flag(fields, 'sequential', at) ?? false,
    ringMs: read.ms(fields, 'timeout', at, RING_SECONDS) ?? 30_000,
    talkMs: read.ms(fields, 'limit', at, TALK_SECONDS) ?? TALK_SECONDS[1] * 1000,
    endsByStar: endKey !== undefined,
    callerId: read.text(fields, 'callerId', at, MOST_ADDRESS),
    answersLate: read.flag(fields, 'answerLate', at) ?? false,
    recordsFrom: read.word(fields, 'record', at, ['ringing', 'talk']),
    action,
  };
}

function readTargets(read: VerbReader, { to }: Fields, at: string): readonly DialTarget[] {
  const list: readonly unknown[] = Array.isArray(to) ? to : [to];
  if (to === undefined || list.length === 0 || list.length > MOST_TARGETS) {
    read.problem(`${at}.to`, `must be a destination, or a list of 1 to ${MOST_TARGETS}`);
    return [];
  }
  return list.flatMap((item, index) =>
    readTarget(read, item, Array.isArray(to) ? `${at}.to[${index}]` : `${at}.to`),
  );
}

function readTarget(read: VerbReader, item: unknown, at: string): readonly DialTarget[] {
  const fields = isFields(item) ? item : { to: item };
  if (!read.fields(fields, at, TARGET_FIELDS)) return [];
  const to = read.text(fields, 'to', at, MOST_ADDRESS);
  const { digits } = fields;
  const isPressable = digits === undefined || (typeof digits === 'string' && DIGITS.test(digits));
  if (!isPressable) read.problem(`${at}.digits`, 'must be a text of 1 to 64 of 0-9, *, #, A-D and ","');
  if (fields['to'] === undefined) read.problem(`${at}.to`, 'is missing');
  if (to === undefined || !isPressable) return [];
  const whisper = read.target(fields, 'whisper', at);
  return [{ to, digits: digits === undefined ? undefined : String(digits).toUpperCase(), whisper }];
}
