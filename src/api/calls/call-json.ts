// Turns telephone calls and their events into the JSON of answers, server-sent events and socket messages.
// Times are Unix seconds with milliseconds. Undefined fields are left out.
import type { AgentEvent, CallEvent } from '../../call/utterance.js';
import type { PhoneCallEvent, PhoneCallView } from '../../call/phone-calls.js';
import { ParleyError } from '../../errors.js';
import { errorReply } from '../http/error-reply.js';

export function callJson(view: PhoneCallView) {
  const { id, protocol, direction, state, to, from, displayName, headers, callId, route } = view;
  const { trunk, codec, srtp, end, recordings } = view;
  return {
    object: 'call',
    id,
    protocol,
    direction,
    state,
    to,
    from,
    display_name: displayName,
    headers,
    sip_call_id: callId,
    route,
    trunk,
    codec,
    srtp,
    created_at: seconds(view.createdAt),
    answered_at: view.answeredAt === undefined ? undefined : seconds(view.answeredAt),
    ended_at: view.endedAt === undefined ? undefined : seconds(view.endedAt),
    end,
    recordings,
    digits: view.digits.map(({ digit, durationMs, at }) => ({
      digit,
      duration_ms: durationMs,
      at: seconds(at),
    })),
  };
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
      return { type };
    case 'recording.started':
      return { type, name: event.name, format: event.format };
    case 'recording.paused':
    case 'recording.resumed':
      return { type, name: event.name };
    case 'recording.stopped':
      return { type, name: event.name, ...recordingEnd(event) };
    case 'recording.failed':
      return { type, name: event.name, ...recordingEnd(event), error: errorForm(call, event.error) };
    default:
      return { type, utterance: event.utterance, ...utteranceForm(call, event) };
  }
}

function turnForm(event: Extract<CallEvent, { readonly type: 'turn.ended' }>) {
  const { speechMs, silenceMs, reason, text, language } = event;
  return { speech_ms: speechMs, silence_ms: silenceMs, reason, text, language };
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
