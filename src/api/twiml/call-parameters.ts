// Parameters of requests to an application: those that every request has, those of the result of a verb, and
// those of notices. https://www.twilio.com/docs/voice/twiml#request-parameters
import type { ProgramCall, Warning } from '../../ivr/door.js';
import type { AnsweredBy } from '../../call/answer-detector.js';
import type {
  ConnectResult,
  DialledCallState,
  DialResult,
  Notice,
  ReferResult,
  StreamNotice,
  TranscriptNotice,
  VerbResult,
} from '../../ivr/verbs.js';
import { conferenceParameters, joiningParameters, roomParameters } from './joining-parameters.js';
import {
  recordedParameters,
  recordingParameters,
  type RecordingUrl,
  transcriptionParameters,
} from './recording-parameters.js';
import { callSid } from './sids.js';
import type { FormFields } from './twiml-signature.js';

const API_VERSION = '2010-04-01';
/** Twilio tells by whom a call was placed. */
const DIRECTIONS = { inbound: 'inbound', outbound: 'outbound-api' } as const;
const BY_PROGRAM = 'outbound-dial';

const HEADER = /^X-[\w-]{1,64}$/i;
/** Control characters, halves of surrogate pairs, and characters that reorder or break lines. */
const HARMFUL = /[\p{Cc}\p{Cs}\u2028\u2029\u202A-\u202E\u2066-\u2069]/u;
const MOST_HEADERS = 64;
const MOST_HEADER_CHARACTERS = 8192; // of all names and values together
const MOST_VALUE = 1024;

/** The parameters that every request about a call has. */
export function callParameters(
  { about, isAnswered, isOver = false }: ProgramCall,
  accountSid: string,
): FormFields {
  const { direction, displayName, headers = {}, callId, protocol, parent } = about;
  const from = about.from ?? '';
  const to = about.to ?? '';
  const diverted = headers['Diversion'];
  return [
    ['CallSid', callSid(about.id)],
    ['AccountSid', accountSid],
    ['From', from],
    ['To', to],
    ['Caller', from],
    ['Called', to],
    ['CallStatus', isOver ? 'completed' : isAnswered ? 'in-progress' : 'ringing'],
    ['ApiVersion', API_VERSION],
    ['Direction', parent === undefined ? DIRECTIONS[direction] : BY_PROGRAM],
    ...given('ParentCallSid', parent && callSid(parent)),
    ...given('CallerName', displayName),
    ...given('ForwardedFrom', diverted),
    ...(protocol === 'sip' ? sipParameters(to, callId) : []),
    ...headerParameters(headers),
  ];
}

function sipParameters(to: string, callId: string | undefined): FormFields {
  const [, domain] = /^sips?:(?:[^@]*@)?([^;?>:]+|\[[^\]]+\])/i.exec(to) ?? [];
  return [...given('SipDomain', domain), ...given('SipCallId', callId)];
}

function given(name: string, value: string | undefined): FormFields {
  return value === undefined || value === '' || HARMFUL.test(value) ? [] : [[name, value]];
}

/** `SipHeader_X-Tenant` and the like: X- fields only, and no value that an application could stumble over. */
function headerParameters(headers: Readonly<Record<string, string>>): FormFields {
  const fields: [string, string][] = [];
  const names = new Set<string>();
  let characters = 0;
  for (const [name, value] of Object.entries(headers)) {
    const isHarmless = HEADER.test(name) && value.length <= MOST_VALUE && !HARMFUL.test(value);
    if (!isHarmless || names.has(name.toLowerCase())) continue;
    characters += name.length + value.length;
    if (names.size === MOST_HEADERS || characters > MOST_HEADER_CHARACTERS) break;
    names.add(name.toLowerCase());
    fields.push([`SipHeader_${name}`, value]);
  }
  return fields;
}

/** The parameters of the result of a verb. */
export function resultParameters(result: VerbResult, urlOf: RecordingUrl, owner?: string): FormFields {
  switch (result.of) {
    case 'redirect':
      return [];
    case 'gather':
      return gatherParameters(result);
    case 'record':
      return recordedParameters(result, urlOf);
    case 'connect':
      return connectParameters(result);
    case 'refer':
      return referParameters(result);
    case 'dial':
      return dialParameters(result, urlOf);
    default:
      return joiningParameters(result, owner);
  }
}

function gatherParameters(result: Extract<VerbResult, { readonly of: 'gather' }>): FormFields {
  if (result.by === 'speech') {
    const { text, confidence } = result;
    return [['SpeechResult', text], ...given('Confidence', confidence?.toString())];
  }
  if (result.by === 'none') return [['Digits', '']];
  return [
    ['Digits', result.digits],
    ['FinishedOnKey', result.finishKey ?? ''],
  ];
}

/** Status of the call of a far end that was referred, or the answer of one that refused. */
function referParameters({ isAccepted, status }: ReferResult): FormFields {
  return [
    ['ReferCallStatus', isAccepted ? 'completed' : 'failed'],
    ...given('ReferSipResponseCode', isAccepted ? '202' : status?.toString()),
    ...given('NotifySipResponseCode', status?.toString()),
  ];
}

function connectParameters(result: ConnectResult): FormFields {
  return [
    ...given('SessionId', result.sessionId),
    ['SessionStatus', result.status],
    ['SessionDuration', String(Math.round(result.durationMs / 1000))],
    ...(result.handoffData === undefined ? [] : [['HandoffData', result.handoffData] as const]),
    ...given('ErrorCode', result.errorCode),
    ...given('ErrorMessage', result.errorMessage),
  ];
}

function dialParameters(result: DialResult, urlOf: RecordingUrl): FormFields {
  const { status, isBridged, call, durationMs, sipCallId, sipStatus, recording } = result;
  return [
    ['DialCallStatus', status],
    ...given('DialCallSid', call && callSid(call)),
    ...given('DialCallDuration', seconds(durationMs)),
    ['DialBridged', String(isBridged)],
    ...given('RecordingUrl', recording && urlOf(recording)),
    ...given('DialSipCallId', sipCallId),
    ...given('DialSipResponseCode', sipStatus?.toString()),
  ];
}

/** Whole seconds, rounded up. */
function seconds(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : String(Math.ceil(ms / 1000));
}

/** The parameters of a notice, in place of those of the call that have the same name. */
export function noticeParameters(notice: Notice, urlOf: RecordingUrl, owner?: string): FormFields {
  switch (notice.of) {
    case 'partial':
      // The recogniser may still change all of the words.
      return [
        ['SequenceNumber', String(notice.number)],
        ['UnstableSpeechResult', notice.text],
      ];
    case 'recording':
      return [...roomParameters(notice.room, owner), ...recordingParameters(notice, urlOf)];
    case 'stream':
      return streamParameters(notice);
    case 'transcript':
      return transcriptParameters(notice);
    case 'transcription':
      return transcriptionParameters(notice, urlOf);
    case 'dialled':
      return stateParameters(notice);
    case 'dialled answer':
      return [
        ['AnsweredBy', ANSWERED_BY[notice.by]],
        ['MachineDetectionDuration', String(notice.ms)],
      ];
    case 'result':
      return resultParameters(notice.result, urlOf, owner);
    case 'conference':
      return conferenceParameters(notice, owner);
  }
}

function stateParameters({ state, number, at, status, durationMs, sipStatus }: DialledCallState): FormFields {
  const duration = seconds(durationMs);
  return [
    ['CallStatus', status ?? (state === 'answered' ? 'in-progress' : state)],
    ['Timestamp', new Date(at).toUTCString()],
    ['CallbackSource', 'call-progress-events'],
    ['SequenceNumber', String(number)],
    ...(status === undefined ? [] : given('CallDuration', duration)),
    ...(status === undefined ? [] : given('SipResponseCode', sipStatus?.toString())),
  ];
}

const ANSWERED_BY: Readonly<Record<AnsweredBy, string>> = {
  human: 'human',
  machine: 'machine_start',
  machine_beep: 'machine_end_beep',
  machine_silence: 'machine_end_silence',
  fax: 'fax',
  silence: 'unknown',
  unknown: 'unknown',
  screening: 'unknown',
  announcement: 'unknown',
  tone: 'unknown',
};

/** The parameters of an error, for the fallback. */
export function errorParameters({ code = '', document = '' }: Warning): FormFields {
  return [
    ['ErrorCode', code],
    ['ErrorUrl', document],
  ];
}

/** https://www.twilio.com/docs/voice/twiml/stream */
function streamParameters({ event, streamSid, name, error, at }: StreamNotice): FormFields {
  return [
    ['StreamSid', streamSid],
    ['StreamName', name ?? streamSid],
    ['StreamEvent', event],
    ...(error === undefined ? [] : [['StreamError', error] as const]),
    ['Timestamp', new Date(at).toISOString()],
  ];
}

/** https://www.twilio.com/docs/voice/twiml/transcription */
function transcriptParameters(notice: TranscriptNotice): FormFields {
  const { event, name, number, side, label, text, isFinal, language } = notice;
  return [
    ['TranscriptionEvent', `transcription-${event}`],
    ...(name === undefined ? [] : [['TranscriptionName', name] as const]),
    ['SequenceId', String(number + 1)],
    ...(side === undefined
      ? []
      : [['Track', side === 'caller' ? 'inbound_track' : 'outbound_track'] as const]),
    ...(label === undefined || label === '' ? [] : [['TrackLabel', label] as const]),
    ...(text === undefined ? [] : [['TranscriptionData', JSON.stringify({ transcript: text })] as const]),
    ...(isFinal === undefined ? [] : [['Final', String(isFinal)] as const]),
    ...(language === undefined ? [] : [['LanguageCode', language] as const]),
  ];
}
