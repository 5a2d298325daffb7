// <Dial> with its nouns, as a verb of a program. https://www.twilio.com/docs/voice/twiml/dial
import type { Dial, DialledState, DialTarget, Target } from '../../ivr/verbs.js';
import { stated } from '../../stated.js';
import { TwimlAttributes, type WarnAt } from './twiml-attributes.js';
import { elementsOf, textOf, type TwimlElement } from './twiml-document.js';
import { readRecordingCallback } from './record-verb.js';
import { INVALID_NUMBER, INVALID_URL } from './twiml-errors.js';

type Warn = (...mistake: Parameters<WarnAt>) => undefined;

/** Tools that the parser of a document lends to those of its verbs. */
export interface ElementParser {
  readonly warn: Warn;
  readonly target: (written: string, read: TwimlAttributes, method: string) => Target;
  readonly checkAttributes: (element: TwimlElement, known: readonly string[]) => void;
  /** The element is not done here: a warning. */
  readonly skip: (element: TwimlElement) => undefined;
}

export const DIAL_ATTRIBUTES = [
  'timeout',
  'timeLimit',
  'hangupOnStar',
  'callerId',
  'answerOnBridge',
  'sequential',
  'action',
  'method',
  'record',
  'recordingStatusCallback',
  'recordingStatusCallbackMethod',
  'recordingStatusCallbackEvent',
  // These are told of as not done.
  'referUrl',
  'referMethod',
  // These have no effect.
  'recordingTrack',
  'recordingConfigurationId',
  'trim',
  'ringTone',
  'events',
];

const STATUS = ['statusCallback', 'statusCallbackEvent', 'statusCallbackMethod'];
const DETECTION = [
  'machineDetection',
  'machineDetectionTimeout',
  'machineDetectionSpeechThreshold',
  'machineDetectionSpeechEndThreshold',
  'machineDetectionSilenceTimeout',
  'amdStatusCallback',
  'amdStatusCallbackMethod',
];
const OF_TARGETS = ['sendDigits', 'url', 'method', ...STATUS, ...DETECTION];
const NOUNS: Readonly<Record<string, readonly string[]>> = {
  Number: [...OF_TARGETS, 'byoc'],
  Sip: [...OF_TARGETS, 'username', 'password'],
};
const NO_CLIENTS = 'browser calls have no names here that could be called';

const MOST_TARGETS = 10;
const MOST_URI = 255; // characters
export const SIP_URI_RULE = `a SIP URI of at most ${MOST_URI} characters`;
const MOST_HEADERS = 1024; // characters
const MOST_PRESSED = 64;
const RING_SECONDS = [5, 600] as const;
const TALK_SECONDS = 14_400;
/** Fields that a <Sip> may add besides those that begin with X-. */
const HEADERS = /^(?:X-[\w-]{1,64}|User-to-User|Remote-Party-ID|P-Preferred-Identity|P-Called-Party-ID)$/i;
const STATES: readonly DialledState[] = ['initiated', 'ringing', 'answered', 'completed'];

/** Undefined if there is nobody to call: a warning tells of it. */
export function parseDial(
  element: TwimlElement,
  read: TwimlAttributes,
  parser: ElementParser,
): Dial | undefined {
  const targets = targetsOf(element, parser);
  const action = read.raw('action')?.trim() ?? '';
  warnOfRest(element, read, parser.warn);
  if (targets.length === 0) return undefined;
  const callerId = read.raw('callerId')?.trim() ?? '';
  return {
    verb: 'dial',
    targets,
    isSequential: read.flag('sequential', false),
    ringMs: read.whole('timeout', 30, RING_SECONDS) * 1000,
    talkMs: read.whole('timeLimit', TALK_SECONDS, [1, TALK_SECONDS]) * 1000,
    endsByStar: read.flag('hangupOnStar', false),
    callerId: callerId === '' ? undefined : callerId,
    answersLate: read.flag('answerOnBridge', false),
    ...stated({
      recordsFrom: recordedFrom(read),
      recorded: readRecordingCallback(read, parser.target),
    }),
    action: action === '' ? undefined : parser.target(action, read, 'method'),
  };
}

/** All recordings have two channels. */
const RECORDED_FROM: ReadonlyMap<string, Dial['recordsFrom']> = new Map([
  ['do-not-record', undefined],
  ['false', undefined],
  ['true', 'talk'],
  ['record-from-answer', 'talk'],
  ['record-from-answer-dual', 'talk'],
  ['record-from-ringing', 'ringing'],
  ['record-from-ringing-dual', 'ringing'],
]);

function recordedFrom(read: TwimlAttributes): Dial['recordsFrom'] {
  const written = read.raw('record')?.trim() ?? 'do-not-record';
  if (!RECORDED_FROM.has(written))
    read.refuse('record', `one of ${[...RECORDED_FROM.keys()].join(', ')}`, 'do-not-record');
  return RECORDED_FROM.get(written);
}

function warnOfRest(element: TwimlElement, read: TwimlAttributes, warn: Warn): void {
  if (read.raw('referUrl') !== undefined)
    warn(element, '"referUrl" of <Dial> is not done by this server: a transfer of the far end is refused');
}

function targetsOf(element: TwimlElement, parser: ElementParser): readonly DialTarget[] {
  const { warn } = parser;
  const number = textOf(element);
  const nouns = elementsOf(element);
  if (nouns.length === 0 && number !== '') return [{ to: number }];
  if (number !== '') warn(element, '<Dial> has a number and nouns; the number is skipped', INVALID_NUMBER);
  const targets = nouns.flatMap((noun) => targetOf(noun, parser) ?? []);
  if (nouns.length === 0) warn(element, '<Dial> has nobody to call; it is skipped', INVALID_NUMBER);
  if (targets.length > MOST_TARGETS)
    warn(element, `<Dial> calls ${MOST_TARGETS} at most; those behind them are skipped`);
  return targets.slice(0, MOST_TARGETS);
}

function targetOf(noun: TwimlElement, parser: ElementParser): DialTarget | undefined {
  const { name } = noun;
  if (name === 'Client') return parser.warn(noun, `<Client> is refused: ${NO_CLIENTS}; it is skipped`);
  const known = Object.hasOwn(NOUNS, name) ? NOUNS[name] : undefined;
  if (known === undefined) return parser.skip(noun);
  parser.checkAttributes(noun, known);
  const read = new TwimlAttributes(noun, parser.warn);
  const address = name === 'Sip' ? sipAddress(noun, read, parser.warn) : { to: textOf(noun) };
  if (address === undefined) return undefined;
  if (address.to === '')
    return parser.warn(noun, `<${name}> has nobody to call; it is skipped`, INVALID_NUMBER);
  const whisper = read.raw('url')?.trim() ?? '';
  return {
    ...address,
    ...stated({
      digits: digitsOf(noun, read, parser.warn),
      whisper: whisper === '' ? undefined : parser.target(whisper, read, 'method'),
      states: statesOf(read, parser),
    }),
    ...detectionOf(read, parser),
  };
}

/** Twilio takes `anna@example.com` without a scheme, too. Undefined for a text that is no SIP URI. */
export function sipUri(written: string): string | undefined {
  const uri = /^[^\s:@]+@[^\s@]+$/.test(written) ? `sip:${written}` : written;
  return uri.length <= MOST_URI && /^sips?:/i.test(uri) ? uri : undefined;
}

/** `sip:anna@example.com;transport=tls?X-Tenant=7&X-Line=2` */
function sipAddress(
  noun: TwimlElement,
  read: TwimlAttributes,
  warn: Warn,
): Pick<DialTarget, 'to' | 'headers'> | undefined {
  const [uri = '', ...query] = textOf(noun).split('?');
  const to = sipUri(uri);
  const written = query.join('?');
  if (read.raw('username') !== undefined || read.raw('password') !== undefined)
    warn(noun, '"username" and "password" of <Sip> are not used: SIP_TRUNKS_FILE has those of trunks');
  if (to === undefined) return warn(noun, `<Sip> must hold ${SIP_URI_RULE}; it is skipped`, INVALID_URL);
  if (written === '') return { to };
  if (written.length > MOST_HEADERS) {
    warn(noun, `the header fields of <Sip> may have ${MOST_HEADERS} characters at most; they are skipped`);
    return { to };
  }
  const fields = [...new URLSearchParams(written)];
  const strays = fields.filter(([name]) => !HEADERS.test(name));
  for (const [name] of strays)
    warn(noun, `<Sip> may not add the header field ${JSON.stringify(name.slice(0, 40))}; it is skipped`);
  const headers = Object.fromEntries(fields.filter(([name]) => HEADERS.test(name)));
  return { to, headers };
}

function digitsOf(noun: TwimlElement, read: TwimlAttributes, warn: Warn): string | undefined {
  const digits = (read.raw('sendDigits')?.trim() ?? '').replaceAll('w', ',').replaceAll('W', ',,');
  if (digits === '') return undefined;
  if (/^[\dA-D*#,]+$/.test(digits) && digits.length <= MOST_PRESSED) return digits;
  const what = `at most ${MOST_PRESSED} of 0-9, A-D, #, *, w and W`;
  return warn(noun, `"sendDigits" of <${noun.name}> must be ${what}; it is skipped`);
}

function statesOf(read: TwimlAttributes, parser: ElementParser): DialTarget['states'] {
  const url = read.raw('statusCallback')?.trim() ?? '';
  const written = (read.raw('statusCallbackEvent') ?? '').split(/[\s,]+/).filter((word) => word !== '');
  const told = STATES.filter((state) => written.includes(state));
  if (told.length < new Set(written).size)
    read.refuse('statusCallbackEvent', `of ${STATES.join(', ')}`, told.join(' ') || 'completed');
  if (url === '') return undefined;
  const target = parser.target(url, read, 'statusCallbackMethod');
  return { target, told: told.length === 0 ? ['completed'] : told };
}

function detectionOf(read: TwimlAttributes, parser: ElementParser): Pick<DialTarget, 'detect' | 'detected'> {
  if (read.raw('machineDetection') === undefined) return {};
  read.choice('machineDetection', ['Enable', 'DetectMessageEnd'], 'Enable');
  const timeout = read.whole('machineDetectionTimeout', undefined, [3, 59]);
  const detect = stated({
    timeoutMs: timeout === undefined ? undefined : timeout * 1000,
    speechThresholdMs: read.whole('machineDetectionSpeechThreshold', undefined, [1000, 6000]),
    speechEndThresholdMs: read.whole('machineDetectionSpeechEndThreshold', undefined, [500, 5000]),
    silenceTimeoutMs: read.whole('machineDetectionSilenceTimeout', undefined, [2000, 10_000]),
  });
  const url = read.raw('amdStatusCallback')?.trim() ?? '';
  return url === '' ? { detect } : { detect, detected: parser.target(url, read, 'amdStatusCallbackMethod') };
}
