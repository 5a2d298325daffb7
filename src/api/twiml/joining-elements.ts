// Reads the verbs of TwiML that join calls: <Dial> with <Conference> or <Queue>, and <Enqueue>.
import { isUsableName, NAME_RULE } from '../../call/named-of-keys.js';
import {
  CONFERENCE_EVENTS,
  type Conference,
  type Dequeue,
  type Enqueue,
  type Target,
  type Wait,
} from '../../ivr/verbs.js';
import { TwimlAttributes, type WarnAt } from './twiml-attributes.js';
import { textOf, type TwimlElement } from './twiml-document.js';
import { SCHEMA_WARNING } from './twiml-errors.js';

/** Tools that the parser of a document lends to the reader of an element. */
export interface ElementContext {
  readonly warn: WarnAt;
  /** @param method name of the attribute with the method of the URL */
  target(written: string, read: TwimlAttributes, method: string): Target;
}

const MOST_MEMBERS = 250;
const MOST_WAITING = 1000;
const MOST_LABEL = 128; // characters
const MOST_SECONDS = 86_400;
const TIMEOUT = { seconds: 30, bounds: [5, 600] } as const;
const RECORDS = ['do-not-record', 'record-from-start', 'true', 'false'] as const;
const RECORDED: ReadonlySet<string> = new Set(['record-from-start', 'true']);
const BEEPS = { true: 'both', false: 'none', onEnter: 'entry', onExit: 'exit' } as const;
const LINE = /^[^\p{C}]+$/u;

/** Attributes of <Dial> that hold for rooms and queues. */
interface DialFields {
  readonly mostMs: number | undefined;
  readonly endKey: string | undefined;
  readonly action: Target | undefined;
}

/** <Dial> with <Conference>. Undefined for a name that no room can have. */
export function readConference(
  dial: TwimlAttributes,
  element: TwimlElement,
  context: ElementContext,
): Conference | undefined {
  const room = readName(element, context);
  if (room === undefined) return undefined;
  const read = new TwimlAttributes(element, context.warn);
  const label = readLine(element, read, 'participantLabel', MOST_LABEL, context);
  return {
    verb: 'conference',
    room,
    isMuted: read.flag('muted', false),
    chimes: BEEPS[read.choice('beep', ['true', 'false', 'onEnter', 'onExit'], 'true')],
    opens: read.flag('startConferenceOnEnter', true),
    ends: read.flag('endConferenceOnExit', false),
    label,
    wait: readWait(read, 'waitMethod', context),
    mostMembers: read.whole('maxParticipants', MOST_MEMBERS, [2, MOST_MEMBERS]),
    isRecorded: RECORDED.has(read.choice('record', RECORDS, 'do-not-record')),
    coach: readCoach(read),
    ...readDial(dial, element, context),
    callback: optionalTarget(read, 'statusCallback', context),
    events: readEvents(element, read, context),
    recordingCallback: optionalTarget(read, 'recordingStatusCallback', context),
  };
}

/** <Dial> with <Queue>. Undefined for a name that no queue can have. */
export function readDequeue(
  dial: TwimlAttributes,
  element: TwimlElement,
  context: ElementContext,
): Dequeue | undefined {
  const queue = readName(element, context);
  if (queue === undefined) return undefined;
  const read = new TwimlAttributes(element, context.warn);
  return {
    verb: 'dequeue',
    queue,
    whisper: optionalTarget(read, 'url', context, 'method'),
    waitMs: dial.whole('timeout', TIMEOUT.seconds, TIMEOUT.bounds) * 1000,
    ...readDial(dial, element, context),
  };
}

/** Undefined for a name that no queue can have. */
export function readEnqueue(
  element: TwimlElement,
  read: TwimlAttributes,
  context: ElementContext,
): Enqueue | undefined {
  const queue = readName(element, context);
  if (queue === undefined) return undefined;
  return {
    verb: 'enqueue',
    queue,
    mostWaiting: read.whole('maxQueueSize', MOST_WAITING, [1, MOST_WAITING]),
    wait: readWait(read, 'waitUrlMethod', context),
    action: optionalTarget(read, 'action', context, 'method'),
  };
}

/** Attributes of <Dial> that have an effect for numbers only, which a document would miss. */
const MISSED = ['record', 'referUrl'] as const;
const NOT_RECORDED = ['false', 'do-not-record'];

function readDial(dial: TwimlAttributes, noun: TwimlElement, context: ElementContext): DialFields {
  for (const name of MISSED) {
    const value = dial.raw(name)?.trim() ?? '';
    if (value !== '' && !NOT_RECORDED.includes(value))
      context.warn(noun, `"${name}" of <Dial> has no effect with <${noun.name}>`);
  }
  const seconds = dial.whole('timeLimit', undefined, [1, MOST_SECONDS]);
  return {
    mostMs: seconds === undefined ? undefined : seconds * 1000,
    endKey: dial.flag('hangupOnStar', false) ? '*' : undefined,
    action: optionalTarget(dial, 'action', context, 'method'),
  };
}

function readName(element: TwimlElement, { warn }: ElementContext): string | undefined {
  const name = textOf(element);
  if (isUsableName(name)) return name;
  warn(element, `<${element.name}> must have ${NAME_RULE}; it is skipped`);
  return undefined;
}

function readWait(read: TwimlAttributes, method: string, context: ElementContext): Wait {
  const written = read.raw('waitUrl')?.trim();
  if (written === undefined) return 'music';
  return written === '' ? 'silence' : context.target(written, read, method);
}

function readCoach(read: TwimlAttributes): string | undefined {
  const coach = read.raw('coach')?.trim() ?? '';
  return coach === '' ? undefined : coach;
}

function readLine(
  element: TwimlElement,
  read: TwimlAttributes,
  name: string,
  most: number,
  { warn }: ElementContext,
): string | undefined {
  const text = read.raw(name)?.trim() ?? '';
  if (text === '' || (text.length <= most && LINE.test(text))) return text === '' ? undefined : text;
  warn(
    element,
    `"${name}" of <${element.name}> must have at most ${most} characters on one line; it is ignored`,
  );
  return undefined;
}

function readEvents(
  element: TwimlElement,
  read: TwimlAttributes,
  { warn }: ElementContext,
): Conference['events'] {
  const words = (read.raw('statusCallbackEvent') ?? '').split(/[\s,]+/).filter((word) => word !== '');
  const known = CONFERENCE_EVENTS.filter((name) => words.includes(name));
  const strays = words.filter((word) => !known.some((name) => name === word));
  if (strays.length > 0) {
    const shown = JSON.stringify(strays.join(' ').slice(0, 40));
    const allowed = CONFERENCE_EVENTS.join(', ');
    warn(element, `"statusCallbackEvent" of <Conference> may have ${allowed}, not ${shown}`, SCHEMA_WARNING);
  }
  if (known.length === 0 && (read.raw('statusCallback')?.trim() ?? '') !== '')
    warn(element, '"statusCallback" of <Conference> has no effect without "statusCallbackEvent"');
  return known;
}

/** @param method name of the attribute with its method; absent: that of the URL with `Method` behind it */
function optionalTarget(
  read: TwimlAttributes,
  name: string,
  context: ElementContext,
  method = `${name}Method`,
): Target | undefined {
  const written = read.raw(name)?.trim() ?? '';
  return written === '' ? undefined : context.target(written, read, method);
}
