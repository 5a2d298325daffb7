// Reads the verb Record of TwiML. https://www.twilio.com/docs/voice/twiml/record
import type { RecordingCallback, RecordingNotice, RecordVoice, Target } from '../../ivr/verbs.js';
import type { TwimlAttributes } from './twiml-attributes.js';
import { INVALID_FINISH_KEY } from './twiml-errors.js';

/** Reads the URL of an attribute, with the method of another one. Empty: that of the document. */
export type TargetOf = (written: string, read: TwimlAttributes, method: string) => Target;

const KEYS = '1234567890*#';
const MOST_SECONDS = 14_400;
const USUAL_SECONDS = 3600;
const TRANSCRIBED_SECONDS = 120;
const EVENTS: readonly RecordingNotice['status'][] = ['in-progress', 'completed', 'absent'];

export const RECORD_ATTRIBUTES: readonly string[] = [
  'action',
  'method',
  'timeout',
  'finishOnKey',
  'maxLength',
  'playBeep',
  'trim',
  'recordingStatusCallback',
  'recordingStatusCallbackMethod',
  'recordingStatusCallbackEvent',
  'transcribe',
  'transcribeCallback',
  'recordingConfigurationId', // of a product; it has no effect here
];

export function readRecord(read: TwimlAttributes, targetOf: TargetOf): RecordVoice {
  const callback = read.raw('transcribeCallback')?.trim() ?? '';
  const transcribes = read.flag('transcribe', callback !== '');
  const usual = transcribes ? TRANSCRIBED_SECONDS : USUAL_SECONDS;
  if (transcribes && callback === '')
    read.note('"transcribe" of <Record> has no effect without "transcribeCallback", which gets the text');
  return {
    verb: 'record',
    beeps: read.flag('playBeep', true),
    timeoutMs: read.whole('timeout', 5, [0, MOST_SECONDS]) * 1000,
    finishKeys: readFinishKeys(read),
    mostMs: read.whole('maxLength', usual, [1, MOST_SECONDS]) * 1000,
    trims: read.choice('trim', ['trim-silence', 'do-not-trim'], 'trim-silence') === 'trim-silence',
    action: targetOf(read.raw('action')?.trim() ?? '', read, 'method'),
    callback: readRecordingCallback(read, targetOf),
    // Twilio has no attribute for the method of this one.
    transcript:
      transcribes && callback !== '' ? targetOf(callback, read, 'transcribeCallbackMethod') : undefined,
  };
}

/** The callback of any verb that records. */
export function readRecordingCallback(
  read: TwimlAttributes,
  targetOf: TargetOf,
): RecordingCallback | undefined {
  const written = read.raw('recordingStatusCallback')?.trim() ?? '';
  if (written === '') return undefined;
  const words = (read.raw('recordingStatusCallbackEvent') ?? 'completed').split(/[\s,]+/);
  const events = EVENTS.filter((event) => words.includes(event));
  const isWrong = words.some((word) => word !== '' && !EVENTS.some((event) => event === word));
  if (isWrong || events.length === 0)
    read.refuse('recordingStatusCallbackEvent', EVENTS.join(', '), (events[0] ?? 'completed') as string);
  const target = targetOf(written, read, 'recordingStatusCallbackMethod');
  return { target, events: events.length === 0 ? ['completed'] : events };
}

function readFinishKeys(read: TwimlAttributes): string {
  const raw = read.raw('finishOnKey')?.trim();
  if (raw === undefined) return KEYS;
  if (/^[\d*#]*$/.test(raw)) return raw;
  read.refuse('finishOnKey', 'keys of 0-9, * and #, or empty', KEYS, INVALID_FINISH_KEY);
  return KEYS;
}
