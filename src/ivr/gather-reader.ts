// Reads the verb gather of a program file.
//
//   "choices": {"1": "billing", "billing": "billing"}   programs by keys, or by words of the speech
//   "otherwise": "help"                                  the program after any other input
//
// Without input the next verb follows.
import { type Fields, isFields } from '../config/fields.js';
import { HEARING_BOUNDS } from '../config/hearing-config.js';
import { isLine, quoted, type VerbReader } from './verb-reader.js';
import type { Gather, Prompt, Target } from './verbs.js';

const INPUTS = ['keys', 'speech'] as const;
const MOST_KEYS = 64;
const MOST_CHOICES = 200;
const MOST_CHOICE = 100; // characters
const MOST_HINT = 100; // characters
const WAIT_SECONDS = [0.5, 300] as const;
const SPEECH_SECONDS = [1, 300] as const;
const USUAL = { firstMs: 5000, mostSpeechMs: 60_000, finish: '#' };
const KEYS = /^[0-9*#A-D]+$/i;
/** Keys that are no letters of words. */
const ONLY_KEYS = /^[0-9*#]+$/;

export function readGather(
  read: VerbReader,
  fields: Fields,
  at: string,
  prompts: readonly Prompt[],
): Gather | undefined {
  const before = read.problems.length;
  const inputs = readInputs(read, fields, at);
  const finishKeys = read.finish(fields, at, USUAL.finish);
  const choices = readChoices(read, fields, at);
  const stated = read.integer(fields, 'keys', at, 1, MOST_KEYS);
  const mostKeys = stated ?? longestKeys(choices);
  const firstMs = read.ms(fields, 'timeout', at, WAIT_SECONDS) ?? USUAL.firstMs;
  const [least, most] = HEARING_BOUNDS.silenceMs;
  const gather: Gather = {
    verb: 'gather',
    inputs,
    prompts,
    isInterruptible: read.flag(fields, 'interruptible', at) ?? true,
    firstMs,
    betweenMs: read.ms(fields, 'keyTimeout', at, WAIT_SECONDS) ?? firstMs,
    finishKeys,
    mostKeys,
    speechEndMs: read.ms(fields, 'speechTimeout', at, [least / 1000, most / 1000]),
    mostSpeechMs: read.ms(fields, 'maxSpeech', at, SPEECH_SECONDS) ?? USUAL.mostSpeechMs,
    language: read.language(fields, at),
    hints: read.list(fields, 'hints', at, `lines of 1 to ${MOST_HINT} characters`, isHint) ?? [],
    action: read.target(fields, 'otherwise', at),
    tellsEmpty: false,
    ...flagIn(read, fields, at),
    ...(read.flag(fields, 'sensitive', at) === true ? { isSensitive: true } : {}),
    choices,
  };
  checkChoices(read, gather, at);
  checkInputs(read, fields, inputs, at);
  return read.problems.length > before ? undefined : gather;
}

function flagIn(read: VerbReader, fields: Fields, at: string): Pick<Gather, 'smartFormat'> {
  const smartFormat = read.flag(fields, 'smart_format', at);
  return smartFormat === undefined ? {} : { smartFormat };
}

function readInputs(read: VerbReader, fields: Fields, at: string): Gather['inputs'] {
  const { input = ['keys'] } = fields;
  const items: readonly unknown[] = Array.isArray(input) ? input : [];
  const inputs = INPUTS.filter((name) => items.includes(name));
  if (inputs.length === 0 || inputs.length !== items.length)
    read.problem(`${at}.input`, 'must be a list of "keys", "speech" or both');
  return inputs;
}

function readChoices(
  read: VerbReader,
  { choices }: Fields,
  at: string,
): ReadonlyMap<string, Target> | undefined {
  if (choices === undefined) return undefined;
  const place = `${at}.choices`;
  const entries = isFields(choices) ? Object.keys(choices) : [];
  if (!isFields(choices) || entries.length === 0 || entries.length > MOST_CHOICES)
    return read.problem(place, `must be an object of 1 to ${MOST_CHOICES} programs by keys or words`);
  const found = new Map<string, Target>();
  for (const choice of entries) {
    if (!isLine(choice, MOST_CHOICE) || (!KEYS.test(choice) && !/[\p{L}\p{N}]/u.test(choice)))
      read.problem(`${place}: ${quoted(choice)}`, `must be keys, or words of 1 to ${MOST_CHOICE} characters`);
    const target = read.target(choices, choice, place);
    if (target !== undefined) found.set(KEYS.test(choice) ? choice.toUpperCase() : choice, target);
  }
  return found;
}

/** Undefined without keys among the choices: then no number of keys ends the input. */
function longestKeys(choices: Gather['choices']): number | undefined {
  const keys = [...(choices?.keys() ?? [])].filter((choice) => ONLY_KEYS.test(choice));
  return keys.length === 0 ? undefined : Math.max(...keys.map(({ length }) => length));
}

/** Reports choices that no caller can make. */
function checkChoices(read: VerbReader, gather: Gather, at: string): void {
  for (const choice of gather.choices?.keys() ?? []) {
    const problem = problemOfChoice(choice, gather);
    if (problem !== undefined) read.problem(`${at}.choices: ${quoted(choice)}`, problem);
  }
}

/** Digits may be spoken, and the letters A to D may be words. */
function problemOfChoice(
  choice: string,
  { inputs, finishKeys, mostKeys = MOST_KEYS }: Gather,
): string | undefined {
  const [takesKeys, takesSpeech] = [inputs.includes('keys'), inputs.includes('speech')];
  if (!KEYS.test(choice)) return takesSpeech ? undefined : 'needs "speech" in "input"';
  if (!ONLY_KEYS.test(choice)) return undefined;
  if (!takesKeys) return takesSpeech && /\d/.test(choice) ? undefined : 'needs "keys" in "input"';
  const finish = choice.split('').find((key) => finishKeys.includes(key));
  if (finish !== undefined) return `has the key ${finish}, which ends the input: "finish" is "${finishKeys}"`;
  return choice.length > mostKeys ? `is longer than the input, whose "keys" are ${mostKeys}` : undefined;
}

/** Reports fields that would be ignored in silence. */
function checkInputs(read: VerbReader, fields: Fields, inputs: Gather['inputs'], at: string): void {
  const needed = {
    keys: ['keys', 'finish', 'keyTimeout'],
    speech: ['speechTimeout', 'maxSpeech', 'language', 'hints', 'smart_format'],
  };
  for (const input of INPUTS) {
    if (inputs.includes(input) || inputs.length === 0) continue;
    for (const name of needed[input].filter((field) => fields[field] !== undefined))
      read.problem(`${at}.${name}`, `has no effect: "input" has no "${input}"`);
  }
}

function isHint(text: string): boolean {
  return isLine(text, MOST_HINT);
}
