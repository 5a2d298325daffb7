// Reads the forms that create and change calls. https://www.twilio.com/docs/voice/api/call-resource
import {
  DOCUMENT_URL_RULE,
  isDocumentUrl,
  mayConnect,
  type IvrConfig,
  type ProgramSource,
} from '../../config/ivr-config.js';
import type { Target } from '../../ivr/verbs.js';
import type { MachineDetectionOrder } from './machine-detection.js';
import { NUMBERS, RestError } from './rest-error.js';
import type { RestForm } from './rest-form.js';

export const STATUS_EVENTS = ['initiated', 'ringing', 'answered', 'completed'] as const;
export type StatusEvent = (typeof STATUS_EVENTS)[number];

const RECORDING_EVENTS = ['in-progress', 'completed', 'absent'] as const;
export type RecordingStatus = (typeof RECORDING_EVENTS)[number];

/** A URL that is told of events. */
export interface Callback<E extends string> {
  readonly target: Target;
  readonly events: ReadonlySet<E>;
}

export interface RecordingOrder {
  /** URL of this server as the client addresses it, for the URL of the recording. */
  readonly origin: string;
  readonly source: 'OutboundAPI' | 'StartCallRecordingAPI';
  readonly callback: Callback<RecordingStatus> | undefined;
}

/** Each is undefined if it stays as it is. */
export interface CallChange {
  readonly source: ProgramSource | undefined;
  /** Ends the call: in any state, or only before its answer. */
  readonly status: 'completed' | 'canceled' | undefined;
  readonly statusCallback: Callback<StatusEvent> | undefined;
  readonly limitMs: number | undefined;
}

export interface CallOrder extends Omit<CallChange, 'source' | 'status'> {
  readonly to: string;
  readonly from: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly source: ProgramSource;
  readonly ringMs: number;
  /** In the form of DigitsRequest. */
  readonly digits: string | undefined;
  readonly recording: RecordingOrder | undefined;
  readonly detection: MachineDetectionOrder | undefined;
}

type Reach = Pick<IvrConfig, 'hosts' | 'twimlUrl'>;

const MOST_TWIML = 4000; // characters
const MOST_ADDRESS = 1024;
const MOST_DIGITS = 32;
const MOST_PRESSED = 64; // see DigitsRequest
const RING_SECONDS = { least: 1, usual: 60, most: 600 };
const MOST_LIMIT_SECONDS = 14_400;

/** Throws a RestError. */
export function readCallOrder(form: RestForm, reach: Reach, origin: string): CallOrder {
  const source = sourceIn(form, reach);
  if (source === undefined)
    throw new RestError(400, NUMBERS.invalidUrl, 'Url or Twiml must be given: one of them conducts the call');
  const { least, usual, most } = RING_SECONDS;
  const ringSeconds = form.whole('Timeout', [least, most], NUMBERS.invalidTimeout) ?? usual;
  refuseCredentials(form);
  return {
    ...addressIn(form),
    from:
      form.text('CallerId', MOST_ADDRESS, NUMBERS.invalidFrom) ??
      form.text('From', MOST_ADDRESS, NUMBERS.invalidFrom),
    source,
    ringMs: ringSeconds * 1000,
    limitMs: limitIn(form),
    digits: digitsIn(form),
    statusCallback: statusCallbackIn(form, reach),
    recording: form.flag('Record')
      ? recordingOrderIn(form, reach, { origin, source: 'OutboundAPI' })
      : undefined,
    detection: detectionIn(form, reach),
  };
}

/** Throws a RestError. */
export function readCallChange(form: RestForm, reach: Reach): CallChange {
  return {
    source: sourceIn(form, reach),
    status: form.choice('Status', ['completed', 'canceled'] as const),
    statusCallback: statusCallbackIn(form, reach),
    limitMs: limitIn(form),
  };
}

export function recordingOrderIn(
  form: RestForm,
  reach: Reach,
  about: Pick<RecordingOrder, 'origin' | 'source'>,
): RecordingOrder {
  const target = callbackUrl(form, 'RecordingStatusCallback', reach);
  const events = form.choices('RecordingStatusCallbackEvent', RECORDING_EVENTS) ?? ['completed'];
  return { ...about, callback: target && { target, events: new Set(events) } };
}

/** `Twiml` is ignored beside `Url`. */
function sourceIn(form: RestForm, reach: Reach): ProgramSource | undefined {
  const fallback = form.target('FallbackUrl', NUMBERS.invalidUrl, (url) => problemOfUrl(url, reach));
  const document = form.target('Url', NUMBERS.invalidUrl, (url) => problemOfUrl(url, reach));
  if (document !== undefined)
    return {
      kind: 'twiml',
      url: document.at,
      method: document.method ?? 'POST',
      fallback: sourceTarget(fallback),
    };
  const text = form.text('Twiml', MOST_TWIML);
  return text === undefined ? undefined : { kind: 'document', text, fallback: sourceTarget(fallback) };
}

function sourceTarget(target: Target | undefined) {
  return target && { at: target.at, method: target.method ?? 'POST' };
}

function addressIn(form: RestForm): Pick<CallOrder, 'to' | 'headers'> {
  const written = form.text('To', MOST_ADDRESS, NUMBERS.invalidTo);
  if (written === undefined)
    throw new RestError(400, NUMBERS.noTo, 'To must be given: a number or a SIP URI');
  if (/^(?:client|whatsapp|conference|app):/i.test(written)) {
    const message = `To must be a number or a SIP URI; this server calls no ${/^\w+/.exec(written)?.[0]}: address`;
    throw new RestError(400, NUMBERS.invalidTo, message);
  }
  const [to = '', query] = /^sips?:/i.test(written) ? written.split(/\?(.*)/s) : [written];
  return { to, headers: Object.fromEntries(new URLSearchParams(query ?? '')) };
}

function refuseCredentials(form: RestForm): void {
  for (const name of ['SipAuthUsername', 'SipAuthPassword']) {
    if (form.text(name, MOST_ADDRESS) === undefined) continue;
    const message = `${name} is not supported: the operator configures the user and password of a trunk`;
    throw new RestError(400, NUMBERS.invalidParameter, message);
  }
}

function limitIn(form: RestForm): number | undefined {
  const seconds = form.whole('TimeLimit', [1, MOST_LIMIT_SECONDS]);
  return seconds === undefined ? undefined : seconds * 1000;
}

/** `w` waits half a second, `W` a second. */
function digitsIn(form: RestForm): string | undefined {
  const digits = form.text('SendDigits', MOST_DIGITS, NUMBERS.invalidDigits);
  const pressed = digits?.replaceAll('w', ',').replaceAll('W', ',,');
  if (pressed === undefined || (/^[\dA-D#*,]+$/i.test(pressed) && pressed.length <= MOST_PRESSED))
    return pressed;
  throw new RestError(
    400,
    NUMBERS.invalidDigits,
    'SendDigits must be keys 0-9, A-D, # and *, with w and W to wait',
  );
}

function statusCallbackIn(form: RestForm, reach: Reach): Callback<StatusEvent> | undefined {
  const target = callbackUrl(form, 'StatusCallback', reach);
  const events = form.choices('StatusCallbackEvent', STATUS_EVENTS) ?? ['completed'];
  // The end of a call is always told.
  return target && { target, events: new Set<StatusEvent>([...events, 'completed']) };
}

function detectionIn(form: RestForm, reach: Reach): MachineDetectionOrder | undefined {
  const mode = form.choice('MachineDetection', ['Enable', 'DetectMessageEnd'] as const);
  if (mode === undefined) return undefined;
  const timeoutSeconds = form.whole('MachineDetectionTimeout', [3, 59]);
  return {
    awaitsEnd: mode === 'DetectMessageEnd',
    isAsync: form.flag('AsyncAmd'),
    callback: callbackUrl(form, 'AsyncAmdStatusCallback', reach),
    timeoutMs: (timeoutSeconds ?? 30) * 1000,
    speechThresholdMs: form.whole('MachineDetectionSpeechThreshold', [1000, 6000]),
    speechEndThresholdMs: form.whole('MachineDetectionSpeechEndThreshold', [500, 5000]),
    silenceTimeoutMs: form.whole('MachineDetectionSilenceTimeout', [2000, 10_000]),
  };
}

function callbackUrl(form: RestForm, name: string, reach: Reach): Target | undefined {
  return form.target(name, NUMBERS.invalidCallback, (url) => problemOfUrl(url, reach));
}

function problemOfUrl(url: string, reach: Reach): string | undefined {
  if (!isDocumentUrl(url)) return `it must be ${DOCUMENT_URL_RULE}`;
  const parsed = new URL(url);
  if (mayConnect(reach, parsed)) return undefined;
  return `${parsed.host.slice(0, 100)} is no allowed host; IVR_ALLOWED_HOSTS lists those that are`;
}
