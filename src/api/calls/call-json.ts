// Turns telephone calls and their events into the JSON of answers, server-sent events and socket messages.
// Times are Unix seconds with milliseconds. Undefined fields are left out.
import { ANSWER_TONES, ANSWERED_BY } from '../../call/answer-detector.js';
import type { PhoneCallAnswer, PhoneCallEvent, PhoneCallView, PressedDigit } from '../../call/phone-calls.js';
import type { AgentEvent, CallEvent, JoinEvent } from '../../call/call-events.js';
import { ParleyError } from '../../errors.js';
import type { RecordingEvent } from '../../recording/call-recording.js';
import { stated } from '../../stated.js';
import { errorReply } from '../http/error-reply.js';
import { fieldsJson, type JsonField } from '../http/json-fields.js';
import { type JsonSchema, listOf, INTEGER, NUMBER, object, STRING } from '../http/json-schema.js';

/** A name ends with `?` where the field may be absent. `json` makes the JSON of a value, if it differs. */
type ViewField<Name extends keyof PhoneCallView> = readonly [
  name: undefined extends PhoneCallView[Name] ? `${string}?` : string,
  schema: JsonSchema,
  json?: (value: Exclude<PhoneCallView[Name], undefined>) => unknown,
];

const AT = { ...NUMBER, description: 'Unix seconds, to the millisecond' };

const END = object(
  {
    reason: {
      type: 'string',
      enum: [
        'peer hung up',
        'we hung up',
        'cancelled',
        'rejected',
        'no answer',
        'failed',
        'transferred',
        'media timeout',
        'silence',
        'server closing',
      ],
    },
    status: { ...INTEGER, description: 'of SIP' },
    cause: { ...INTEGER, description: 'of Q.850' },
    detail: STRING,
  },
  ['status', 'cause', 'detail'],
);

const ANSWER = object(
  {
    by: { type: 'string', enum: ANSWERED_BY },
    ms: { ...INTEGER, description: 'since the answer; of an early result, since the far end could be heard' },
    basis: { type: 'string', enum: ['speech', 'words', 'tone', 'time'], description: 'what decided' },
    tone: { type: 'string', enum: ANSWER_TONES, description: 'the tone that decided' },
    early: { type: 'boolean', description: 'true before the answer; absent after it' },
  },
  ['tone', 'early'],
);

const DIGITS = listOf(object({ digit: STRING, duration_ms: NUMBER, at: AT }, ['duration_ms']));

/** Clients see these fields of a call. A field of the view that is missing here does not compile. */
const VIEW_FIELDS: { readonly [Name in keyof Omit<PhoneCallView, 'owner'>]-?: ViewField<Name> } = {
  id: ['id', STRING],
  protocol: [
    'protocol?',
    { type: 'string', enum: ['audiosocket', 'websocket', 'room'], description: 'absent in a call by SIP' },
  ],
  parent: ['parent?', { ...STRING, description: 'id of the call whose program has placed it' }],
  direction: ['direction', { type: 'string', enum: ['inbound', 'outbound'] }],
  state: ['state', { type: 'string', enum: ['dialling', 'ringing', 'connected', 'held', 'ended'] }],
  to: ['to', { ...STRING, description: 'empty where the protocol does not tell it' }],
  from: ['from', STRING],
  displayName: ['display_name?', STRING],
  headers: [
    'headers?',
    {
      type: 'object',
      additionalProperties: STRING,
      description:
        'header fields of an inbound call that SIP_CALL_HEADERS lets through; absent where there are none',
    },
  ],
  callId: ['sip_call_id?', { ...STRING, description: 'Call-ID of its dialog' }],
  route: ['route?', { ...STRING, description: 'name of the rule that answered it' }],
  trunk: ['trunk?', STRING],
  codec: ['codec?', { type: 'string', enum: ['PCMU', 'PCMA', 'G722', 'opus', 'L16'] }],
  srtp: ['srtp?', { type: 'string', enum: ['none', 'sdes', 'dtls'] }],
  createdAt: ['created_at', AT, seconds],
  answeredAt: ['answered_at?', AT, seconds],
  endedAt: ['ended_at?', AT, seconds],
  end: ['end?', END],
  answer: [
    'answer?',
    { ...ANSWER, description: 'the latest result of `detect`; absent where nothing was detected' },
    answerJson,
  ],
  recordings: [
    'recordings?',
    {
      ...listOf(STRING),
      description: 'names of its recordings, oldest first; absent if it was not recorded',
    },
  ],
  digits: [
    'digits',
    { ...DIGITS, description: 'that the far end pressed, oldest first; the latest 1000' },
    (digits) => digits.map(digitJson),
  ],
};

const SHOWN: readonly JsonField<Partial<PhoneCallView>>[] = Object.entries(VIEW_FIELDS).map(
  ([field, [name, schema, json = (value: unknown) => value]]) => [
    name,
    schema,
    (view) => {
      const value = view[field as keyof PhoneCallView];
      return value === undefined ? undefined : (json as (value: unknown) => unknown)(value);
    },
  ],
);

/** The fields of a call, for its schema. */
export const CALL_FIELDS: readonly JsonField<Partial<PhoneCallView>>[] = [
  ['object', { type: 'string', enum: ['call'] }, () => 'call'],
  ...SHOWN,
];

export function callJson(view: PhoneCallView): Record<string, unknown> {
  return fieldsJson(CALL_FIELDS, view);
}

/** Returns the fields of a call that are known. */
export function knownCallJson(view: Partial<PhoneCallView>): Record<string, unknown> {
  return stated(fieldsJson(SHOWN, view));
}

function digitJson({ digit, durationMs, at }: PressedDigit) {
  return { digit, duration_ms: durationMs, at: seconds(at) };
}

type EventJson = { readonly id: number; readonly at: number; readonly type: string } & Readonly<
  Record<string, unknown>
>;

/** Events of speech keep their own type names, on the same level as the others. */
export function eventJson(call: string, event: PhoneCallEvent): EventJson {
  const head = { id: event.id, at: seconds(event.at) };
  switch (event.type) {
    case 'state':
      return { ...head, type: 'state', state: event.state, headers: event.headers, end: event.end };
    case 'digit':
      return { ...head, type: 'digit', digit: event.digit, duration_ms: event.durationMs };
    case 'transfer':
      return { ...head, type: 'transfer', status: event.status, done: event.done };
    case 'speech':
      return { ...head, ...speechForm(call, event.event) };
  }
}

export function isLast(event: PhoneCallEvent): boolean {
  return event.type === 'state' && event.state === 'ended';
}

function speechForm(call: string, event: CallEvent) {
  const { type } = event;
  switch (event.type) {
    case 'speech.started':
      return { type, onset_at: seconds(event.onsetAt) };
    case 'speech.stopped':
      return { type, duration_ms: event.durationMs };
    case 'turn.ended':
      return { type, ...turnForm(event) };
    case 'digit':
      return { type, digit: event.digit };
    case 'agent.prompt':
    case 'agent.answered':
    case 'agent.tool':
    case 'agent.failed':
      return { type, ...agentForm(call, event) };
    case 'no_input':
    case 'call.held':
    case 'call.resumed':
      return { type };
    case 'answer.detected':
      return { type, ...answerJson(event) };
    case 'bridge.started':
    case 'bridge.ended':
    case 'room.joined':
    case 'room.left':
    case 'room.speaking':
    case 'queue.joined':
    case 'queue.position':
    case 'queue.left':
    case 'supervise.started':
    case 'supervise.ended':
    case 'warm_transfer.started':
    case 'warm_transfer.answered':
    case 'warm_transfer.connected':
    case 'warm_transfer.failed':
      return { type, ...joinForm(event) };
    case 'recording.started':
    case 'recording.paused':
    case 'recording.resumed':
    case 'recording.stopped':
    case 'recording.failed':
      return { type, ...recordingForm(call, event) };
    case 'program.verb':
    case 'program.warning':
    case 'program.failed':
      return event;
    default:
      return { type, utterance: event.utterance, ...utteranceForm(call, event) };
  }
}

function answerJson({ by, ms, basis, tone, early }: PhoneCallAnswer) {
  return { by, ms, basis, tone, early };
}

function turnForm(event: Extract<CallEvent, { readonly type: 'turn.ended' }>) {
  const { speechMs, silenceMs, reason, isDistant, text, language } = event;
  return { speech_ms: speechMs, silence_ms: silenceMs, reason, is_distant: isDistant, text, language };
}

function agentForm(call: string, event: AgentEvent) {
  switch (event.type) {
    case 'agent.prompt':
      return { text: event.text, language: event.language, by: event.by };
    case 'agent.tool':
      return { name: event.name, ms: event.ms };
    case 'agent.failed':
      return { error: errorForm(call, event.error) };
    case 'agent.answered':
      return {
        silence_ms: event.silenceMs,
        text_ms: event.textMs,
        model_ms: event.modelMs,
        sentence_ms: event.sentenceMs,
        speech_ms: event.speechMs,
        packet_ms: event.packetMs,
        total_ms: event.totalMs,
      };
  }
}

function utteranceForm(call: string, event: Extract<CallEvent, { readonly utterance: number }>) {
  switch (event.type) {
    case 'utterance.started':
      return {
        first_packet_ms: event.firstPacketMs,
        queued_ms: event.queuedMs,
        sentence_ms: event.sentenceMs,
      };
    case 'sentence.started':
    case 'sentence.spoken':
      return { sentence: event.sentence, text: event.text };
    case 'mark.reached':
      return { mark: event.mark };
    case 'utterance.spoken':
      return { text: event.text, duration_ms: event.durationMs };
    case 'utterance.interrupted':
      return { text: event.text, heard: event.heard, duration_ms: event.durationMs };
    case 'utterance.paused':
    case 'utterance.resumed':
      return {};
    case 'utterance.failed':
      return { text: event.text, error: errorForm(call, event.error) };
  }
}

/** Events of calls that are joined to others. */
export function joinForm(event: JoinEvent) {
  switch (event.type) {
    case 'bridge.started':
      return { other: event.other };
    case 'bridge.ended':
      return { other: event.other, reason: event.reason };
    case 'room.joined':
      return { room: event.room, members: event.members };
    case 'room.left':
      return { room: event.room, reason: event.reason };
    case 'room.speaking':
      return { room: event.room, speaking: event.speaking };
    case 'queue.joined':
    case 'queue.position':
      return { queue: event.queue, position: event.position };
    case 'queue.left':
      return { queue: event.queue, reason: event.reason, waited_ms: event.waitedMs };
    case 'supervise.started':
      return { other: event.other, mode: event.mode };
    case 'warm_transfer.started':
    case 'warm_transfer.connected':
      return { other: event.other };
    case 'warm_transfer.answered':
      return { other: event.other, by: event.by };
    case 'supervise.ended':
      return { other: event.other, reason: event.reason };
    case 'warm_transfer.failed':
      return { other: event.other, reason: event.reason, by: event.by };
  }
}

/** Events of recordings, of a call or a room of this name. */
export function recordingForm(of: string, event: RecordingEvent) {
  switch (event.type) {
    case 'recording.started':
      return { name: event.name, format: event.format };
    case 'recording.paused':
    case 'recording.resumed':
      return { name: event.name };
    case 'recording.stopped':
      return { name: event.name, ...recordingEnd(event) };
    case 'recording.failed':
      return { name: event.name, ...recordingEnd(event), error: errorForm(of, event.error) };
  }
}

type RecordingEnded = Extract<CallEvent, { readonly type: 'recording.stopped' | 'recording.failed' }>;

function recordingEnd({ durationMs, bytes, reason }: RecordingEnded) {
  return { duration_ms: durationMs, bytes, reason };
}

function errorForm(call: string, error: Pick<ParleyError, 'code' | 'message'>) {
  const { code, message } = errorReply(new ParleyError(error.code, error.message), call).body.error;
  return { code, message };
}

function seconds(ms: number): number {
  return ms / 1000;
}
