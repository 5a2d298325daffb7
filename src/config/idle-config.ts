// Reads what an agent does about a caller who says nothing: the fields that a built-in agent and a
// ConversationRelay backend have in common.
//
//   {"idleSeconds": 10, "idlePhrase": "Are you still there?", "idleTimes": 2, "goodbye": "Goodbye."}
import type { FieldReader, Fields } from './fields.js';

export interface IdleCallerConfig {
  /** Milliseconds in which neither side speaks. */
  readonly idleMs: number;
  /** Asked after each such time. */
  readonly phrase: string;
  /** How often it is asked in a row, at most. */
  readonly times: number;
  /** Said after one more such time, before the call ends. */
  readonly goodbye: string;
}

export const IDLE_FIELDS = ['idleSeconds', 'idlePhrase', 'idleTimes', 'goodbye'] as const;

/** Seconds, as AGENT_IDLE_TIMEOUT and `idleSeconds` may have them; 0: the caller is never asked. */
export const IDLE_SECONDS: readonly [least: number, most: number] = [0, 3600];

const PHRASE = 'Are you still there?';
const GOODBYE = 'I do not hear you any more. Goodbye.';
const TIMES = 2;
const MOST_TIMES = 100;
const MOST_PHRASE = 1000; // characters

/** With the usual phrases; undefined for 0 seconds. */
export function usualIdle(seconds: number): IdleCallerConfig | undefined {
  if (seconds === 0) return undefined;
  return { idleMs: seconds * 1000, phrase: PHRASE, times: TIMES, goodbye: GOODBYE };
}

/**
 * The fields of an object at `at`. Without `idleSeconds` they have those of `usual`; mistakes are problems of
 * the reader.
 */
export function readIdle(
  read: FieldReader,
  fields: Fields,
  at: string,
  usual: IdleCallerConfig | undefined,
): IdleCallerConfig | undefined {
  const seconds = read.number(fields, 'idleSeconds', at, ...IDLE_SECONDS);
  const phrase = read.text(fields, 'idlePhrase', at, MOST_PHRASE);
  const times = read.integer(fields, 'idleTimes', at, 0, MOST_TIMES);
  const goodbye = read.text(fields, 'goodbye', at, MOST_PHRASE);
  const base = seconds === undefined ? usual : usualIdle(seconds);
  if (base !== undefined)
    return {
      idleMs: base.idleMs,
      phrase: phrase ?? base.phrase,
      times: times ?? base.times,
      goodbye: goodbye ?? base.goodbye,
    };
  const lone = IDLE_FIELDS.find((name) => name !== 'idleSeconds' && fields[name] !== undefined);
  if (lone !== undefined) return read.problem(`${at}.${lone}`, 'has no effect without idleSeconds');
  return undefined;
}
