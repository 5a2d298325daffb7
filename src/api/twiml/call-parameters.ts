// Parameters of requests to an application: those that every request has, those of the result of a verb, and
// those of notices. https://www.twilio.com/docs/voice/twiml#request-parameters
import type { ProgramCall, Warning } from '../../ivr/door.js';
import type { Notice, VerbResult } from '../../ivr/verbs.js';
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
export function callParameters({ about, isAnswered }: ProgramCall, accountSid: string): FormFields {
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
    ['CallStatus', isAnswered ? 'in-progress' : 'ringing'],
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
export function resultParameters(result: VerbResult): FormFields {
  if (result.of === 'redirect') return [];
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

/** The parameters of a notice. The recogniser may still change all of the partial words. */
export function noticeParameters({ text, number }: Notice): FormFields {
  return [
    ['SequenceNumber', String(number)],
    ['UnstableSpeechResult', text],
  ];
}

/** The parameters of an error, for the fallback. */
export function errorParameters({ code = '', document = '' }: Warning): FormFields {
  return [
    ['ErrorCode', code],
    ['ErrorUrl', document],
  ];
}
