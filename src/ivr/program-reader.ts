// Reads call programs from their JSON, the form of IVR_FILE:
//
//   {"programs": {
//     "main": [
//       {"say": "Welcome."},
//       {"gather": {"input": ["keys", "speech"], "keys": 1, "timeout": 5,
//                   "prompts": [{"say": "Press 1 or say billing."}],
//                   "choices": {"1": "billing", "billing": "billing"}}},
//       {"redirect": "main"}],
//     "billing": [{"say": {"text": "Hello.", "voice": "slt", "language": "en"}}, {"hangup": {}}]
//   }}
//
// Times are in seconds. A verb whose value is no object is in its short form: the value of its main field.
import { type Fields, isFields } from '../config/fields.js';
import { DIAL_FIELDS, readDial } from './dial-reader.js';
import { readGather } from './gather-reader.js';
import {
  CONFERENCE_FIELDS,
  DEQUEUE_FIELDS,
  ENQUEUE_FIELDS,
  readConference,
  readDequeue,
  readEnqueue,
} from './joining-reader.js';
import { isLine, quoted, VerbReader } from './verb-reader.js';
import type {
  Connect,
  HangUp,
  Leave,
  Pause,
  Play,
  Press,
  Prompt,
  RecordVoice,
  Refer,
  Redirect,
  Reject,
  Say,
  Verb,
  Start,
  Stop,
} from './verbs.js';

/** The programs of a file by their names. */
export type ProgramTable = ReadonlyMap<string, readonly Verb[]>;

type ReadPrograms =
  | { readonly programs: ProgramTable; readonly problems?: undefined }
  /** Every mistake, each with its place. */
  | { readonly problems: readonly string[]; readonly programs?: undefined };

type VerbName = Verb['verb'];

/** The reader of a verb. */
interface VerbForm {
  /** The field of the short form; absent: the verb has no short form. */
  readonly main?: string;
  readonly fields: readonly string[];
  /** Undefined if there are mistakes. */
  readonly read: (read: VerbReader, fields: Fields, at: string) => Verb | undefined;
}

const MOST_PROGRAMS = 1000;
const MOST_VERBS = 200;
const MOST_PROMPTS = 50;
const MOST_TEXT = 5000;
const MOST_NAME = 100;
const MOST_TIMES = 1000;
const PAUSE_SECONDS = [0.1, 600] as const;
/** As the sound library accepts them. */
const SOUND = /^[\p{L}\p{N}](?!.*\.\.)[\p{L}\p{N} ._-]{0,99}$/u;
const SIP_URI = /^sips?:[\x21-\x7e]{1,250}$/i;
const DIGITS = /^[0-9*#A-D,]{1,64}$/i;
const GATHER = ['input', 'prompts', 'keys', 'finish', 'timeout', 'keyTimeout', 'speechTimeout', 'maxSpeech'];

const FORMS: Readonly<Record<VerbName, VerbForm>> = {
  say: { main: 'text', fields: ['text', 'format', 'voice', 'language', 'times'], read: readSay },
  play: { main: 'sound', fields: ['sound', 'times'], read: readPlay },
  press: { main: 'digits', fields: ['digits'], read: readPress },
  pause: { main: 'seconds', fields: ['seconds'], read: readPause },
  gather: {
    fields: [
      ...GATHER,
      'language',
      'hints',
      'smart_format',
      'interruptible',
      'sensitive',
      'choices',
      'otherwise',
    ],
    read: (read, fields, at) => readGather(read, fields, at, readPrompts(read, fields, at)),
  },
  record: { fields: ['beep', 'timeout', 'finish', 'maxLength', 'trim', 'next'], read: readRecord },
  connect: { main: 'agent', fields: ['agent', 'relay', 'stream', 'next'], read: readConnect },
  start: { main: 'what', fields: ['what', 'name', 'stream'], read: readStart },
  stop: { main: 'what', fields: ['what', 'name'], read: readStop },
  refer: { main: 'to', fields: ['to', 'next'], read: readRefer },
  redirect: { main: 'to', fields: ['to'], read: readRedirect },
  conference: { main: 'room', fields: CONFERENCE_FIELDS, read: readConference },
  enqueue: { main: 'queue', fields: ENQUEUE_FIELDS, read: readEnqueue },
  dequeue: { main: 'queue', fields: DEQUEUE_FIELDS, read: readDequeue },
  hangup: { fields: [], read: (): HangUp => ({ verb: 'hangup' }) },
  dial: { main: 'to', fields: DIAL_FIELDS, read: readDial },
  leave: { fields: [], read: (): Leave => ({ verb: 'leave' }) },
  reject: { main: 'reason', fields: ['reason'], read: readReject },
};
const VERBS = Object.keys(FORMS) as readonly VerbName[];
const PROMPTS = ['say', 'play', 'pause'] as const satisfies readonly Prompt['verb'][];

/** Reads the programs, or all mistakes. */
export function readPrograms(json: string): ReadPrograms {
  let content: unknown;
  try {
    content = JSON.parse(json.replace(/^\uFEFF/, ''));
  } catch (error) {
    return { problems: [`the file is not JSON: ${(error as Error).message}`] };
  }
  const programs = isFields(content) ? content['programs'] : undefined;
  if (!isFields(programs)) return { problems: ['the file must be an object with an object "programs"'] };
  const read = new VerbReader(Object.keys(programs));
  read.fields(content, 'the file', ['programs']);
  const table = readTable(read, programs);
  return read.problems.length > 0 ? { problems: read.problems } : { programs: table };
}

function readTable(read: VerbReader, programs: Fields): ProgramTable {
  const entries = Object.entries(programs);
  if (entries.length === 0 || entries.length > MOST_PROGRAMS) {
    read.problem('programs', `must have 1 to ${MOST_PROGRAMS} programs`);
    return new Map();
  }
  for (const [name] of entries)
    if (!isLine(name, MOST_NAME))
      read.problem(`programs: ${quoted(name)}`, `must be a name of 1 to ${MOST_NAME} characters`);
  return new Map(
    entries.map(([name, verbs]) => [name, readVerbs(read, verbs, `programs.${name}`, VERBS, MOST_VERBS)]),
  );
}

function readVerbs<Name extends VerbName>(
  read: VerbReader,
  value: unknown,
  at: string,
  names: readonly Name[],
  most: number,
): readonly Extract<Verb, { readonly verb: Name }>[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > most) {
    read.problem(at, `must be a list of 1 to ${most} verbs`);
    return [];
  }
  return value.flatMap((item: unknown, index) => readVerb(read, item, `${at}[${index}]`, names) ?? []);
}

function readVerb<Name extends VerbName>(
  read: VerbReader,
  item: unknown,
  at: string,
  names: readonly Name[],
): Extract<Verb, { readonly verb: Name }> | undefined {
  const [name, ...more] = isFields(item) ? Object.keys(item) : [];
  const known = names.find((one) => one === name);
  if (!isFields(item) || known === undefined || more.length > 0)
    return read.problem(at, `must be an object with exactly one of ${names.join(', ')}`);
  const { main, ...form } = FORMS[known];
  const [value, place] = [item[known], `${at}.${known}`];
  const fields = main === undefined || isFields(value) ? value : { [main]: value };
  if (!read.fields(fields, place, form.fields)) return undefined;
  // The reader of a form makes the verb of its name.
  return form.read(read, fields, place) as Extract<Verb, { readonly verb: Name }> | undefined;
}

function readPrompts(read: VerbReader, { prompts }: Fields, at: string): readonly Prompt[] {
  return prompts === undefined ? [] : readVerbs(read, prompts, `${at}.prompts`, PROMPTS, MOST_PROMPTS);
}

function readSay(read: VerbReader, fields: Fields, at: string): Say | undefined {
  const { text } = fields;
  const isText = typeof text === 'string' && text.trim() !== '' && text.length <= MOST_TEXT;
  if (!isText) read.problem(`${at}.text`, `must be a text of 1 to ${MOST_TEXT} characters`);
  const format = read.word(fields, 'format', at, ['text', 'ssml']) ?? 'text';
  const [voice, language] = [read.text(fields, 'voice', at, 100), read.language(fields, at)];
  const times = readTimes(read, fields, at);
  return isText ? { verb: 'say', text, format, voice, language, times } : undefined;
}

function readPlay(read: VerbReader, fields: Fields, at: string): Play | undefined {
  const { sound } = fields;
  const times = readTimes(read, fields, at);
  if (typeof sound === 'string' && SOUND.test(sound)) return { verb: 'play', sound, times };
  return read.problem(`${at}.sound`, 'must be the name of a file of SOUNDS_DIR, without a path');
}

function readTimes(read: VerbReader, fields: Fields, at: string): number {
  return read.integer(fields, 'times', at, 1, MOST_TIMES) ?? 1;
}

function readPress(read: VerbReader, { digits }: Fields, at: string): Press | undefined {
  if (typeof digits === 'string' && DIGITS.test(digits))
    return { verb: 'press', digits: digits.toUpperCase() };
  return read.problem(`${at}.digits`, 'must be a text of 1 to 64 of 0-9, *, #, A-D and ","');
}

function readPause(read: VerbReader, fields: Fields, at: string): Pause | undefined {
  if (fields['seconds'] === undefined) return read.problem(`${at}.seconds`, 'is missing');
  const ms = read.ms(fields, 'seconds', at, PAUSE_SECONDS);
  return ms === undefined ? undefined : { verb: 'pause', ms };
}

function readRecord(read: VerbReader, fields: Fields, at: string): RecordVoice {
  return {
    verb: 'record',
    beeps: read.flag(fields, 'beep', at) ?? true,
    timeoutMs: read.ms(fields, 'timeout', at, [0, 300]) ?? 5000,
    finishKeys: read.finish(fields, at, '0123456789*#'),
    mostMs: read.ms(fields, 'maxLength', at, [1, 14_400]) ?? 3_600_000,
    trims: read.flag(fields, 'trim', at) ?? true,
    action: read.target(fields, 'next', at),
  };
}

function readConnect(read: VerbReader, fields: Fields, at: string): Connect | undefined {
  const { agent, relay, stream } = fields;
  const action = read.target(fields, 'next', at);
  const stated = [agent, relay, stream].filter((one) => one !== undefined);
  if (stated.length !== 1) return read.problem(at, 'must have exactly one of agent, relay and stream');
  if (typeof agent === 'string' && isLine(agent, MOST_NAME))
    return { verb: 'connect', to: { kind: 'agent', name: agent }, action };
  if (isFields(relay)) return { verb: 'connect', to: { kind: 'relay', fields: relay }, action };
  if (isFields(stream)) return { verb: 'connect', to: { kind: 'stream', fields: stream }, action };
  return read.problem(at, 'must have the name of an agent, or an object in "relay" or "stream"');
}

const STARTED = ['recording', 'stream'] as const;

function readStart(read: VerbReader, fields: Fields, at: string): Start | undefined {
  const kind = read.word(fields, 'what', at, STARTED);
  const name = read.text(fields, 'name', at, MOST_NAME);
  const { stream } = fields;
  if (kind === undefined) return read.problem(`${at}.what`, `must be one of ${STARTED.join(', ')}`);
  if (kind === 'recording') return { verb: 'start', forks: [{ kind }] };
  if (isFields(stream)) return { verb: 'start', forks: [{ kind, name, fields: stream }] };
  return read.problem(`${at}.stream`, 'must be an object with the "url" of a bot');
}

function readStop(read: VerbReader, fields: Fields, at: string): Stop | undefined {
  const kind = read.word(fields, 'what', at, STARTED);
  const name = read.text(fields, 'name', at, MOST_NAME);
  if (kind === undefined) return read.problem(`${at}.what`, `must be one of ${STARTED.join(', ')}`);
  return { verb: 'stop', forks: [{ kind, name }] };
}

function readRefer(read: VerbReader, fields: Fields, at: string): Refer | undefined {
  const { to } = fields;
  const action = read.target(fields, 'next', at);
  if (typeof to === 'string' && SIP_URI.test(to)) return { verb: 'refer', to, action };
  return read.problem(`${at}.to`, 'must be a SIP URI of at most 255 characters, such as sip:bob@example.com');
}

function readRedirect(read: VerbReader, fields: Fields, at: string): Redirect | undefined {
  if (fields['to'] === undefined) return read.problem(`${at}.to`, 'is missing');
  const to = read.target(fields, 'to', at);
  return to && { verb: 'redirect', to };
}

function readReject(read: VerbReader, fields: Fields, at: string): Reject {
  return { verb: 'reject', reason: read.word(fields, 'reason', at, ['rejected', 'busy']) ?? 'rejected' };
}
