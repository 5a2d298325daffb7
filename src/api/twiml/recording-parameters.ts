// Parameters that tell an application of recordings and their texts.
// https://www.twilio.com/docs/voice/twiml/record
import type { RecordingNotice, TranscriptionNotice, VerbResult } from '../../ivr/verbs.js';
import { recordingSid, transcriptionSid } from './sids.js';
import type { FormFields } from './twiml-signature.js';

/** The address of a recording, by its name. */
export type RecordingUrl = (name: string) => string;

const SOURCES = {
  record: 'RecordVerb',
  start: 'StartCallRecordingTwiML',
  dial: 'DialVerb',
  conference: 'Conference',
} as const;

export function recordedParameters(
  { recording, durationMs, by, key }: Extract<VerbResult, { readonly of: 'record' }>,
  urlOf: RecordingUrl,
): FormFields {
  return [
    ...recordingNamed(recording, urlOf),
    ['RecordingDuration', seconds(durationMs)],
    ['Digits', by === 'hangup' ? 'hangup' : (key ?? '')],
  ];
}

export function recordingParameters(notice: RecordingNotice, urlOf: RecordingUrl): FormFields {
  const { recording, status, durationMs, startedMs, channels, source, track } = notice;
  return [
    ...(recording === undefined ? [] : recordingNamed(recording, urlOf)),
    ['RecordingStatus', status],
    ['RecordingDuration', seconds(durationMs)],
    ['RecordingChannels', String(channels)],
    ...startTime(startedMs),
    ['RecordingSource', SOURCES[source]],
    ['RecordingTrack', track],
  ];
}

export function transcriptionParameters(
  { recording, text, status }: TranscriptionNotice,
  urlOf: RecordingUrl,
): FormFields {
  return [
    ['TranscriptionSid', transcriptionSid(recording)],
    ['TranscriptionText', text],
    ['TranscriptionStatus', status],
    ...recordingNamed(recording, urlOf),
  ];
}

function recordingNamed(name: string, urlOf: RecordingUrl): FormFields {
  return [
    ['RecordingUrl', urlOf(name)],
    ['RecordingSid', recordingSid(name)],
  ];
}

/** As in Date: `Mon, 30 Nov 2026 06:00:00 +0000`. */
function startTime(startedMs: number | undefined): FormFields {
  if (startedMs === undefined) return [];
  return [['RecordingStartTime', new Date(startedMs).toUTCString().replace('GMT', '+0000')]];
}

function seconds(ms: number): string {
  return String(Math.round(ms / 1000));
}
