// Parameters that tell an application of streams and transcripts of a call.
// https://www.twilio.com/docs/voice/twiml/stream  https://www.twilio.com/docs/voice/twiml/transcription
import type { StreamNotice, TranscriptNotice } from '../../ivr/verbs.js';
import type { FormFields } from './twiml-signature.js';

export function streamParameters({ event, streamSid, name, error, at }: StreamNotice): FormFields {
  return [
    ['StreamSid', streamSid],
    ['StreamName', name ?? streamSid],
    ['StreamEvent', event],
    ...(error === undefined ? [] : [['StreamError', error] as const]),
    ['Timestamp', new Date(at).toISOString()],
  ];
}

export function transcriptParameters(notice: TranscriptNotice): FormFields {
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
