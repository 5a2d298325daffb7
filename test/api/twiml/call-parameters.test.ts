// Parameters of requests about a call, and the SIDs in them.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import {
  callParameters,
  errorParameters,
  noticeParameters,
  resultParameters,
} from '../../../src/api/twiml/call-parameters.js';
import { accountSid, callSid, recordingSid } from '../../../src/api/twiml/sids.js';
import type { CallAbout } from '../../../src/call/call-programs.js';

const urlOf = (name: string) => `https://parley.example/${name}`;

const ABOUT: CallAbout = {
  id: 'call-1',
  protocol: 'sip',
  owner: undefined,
  direction: 'inbound',
  from: 'sip:anna@example.com',
  to: 'sip:600@pbx.example.com:5060;transport=udp',
  displayName: 'Anna',
  callId: 'abc@example.com',
};

function parametersOf(about: Partial<CallAbout>, isAnswered = false): Record<string, string> {
  const call = { about: { ...ABOUT, ...about }, isAnswered, warn: () => assert.fail('no warning') };
  return Object.fromEntries(callParameters(call, 'AC1'));
}

/** The header fields that become parameters. */
const headers = (given: Record<string, string>) =>
  Object.keys(parametersOf({ headers: given })).filter((name) => name.startsWith('SipHeader_'));

const digest = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 32);

test('SIDs are two letters and 32 hexadecimal digits of SHA-256', () => {
  assert.equal(callSid('call-1'), `CA${digest('call-1')}`);
  assert.equal(accountSid(undefined), `AC${digest('parley')}`);
  assert.equal(accountSid({ name: 'acme', key: 'secret-of-acme' }), `AC${digest('acme')}`);
  assert.equal(accountSid({ name: undefined, key: 'secret-of-acme' }), `AC${digest('secret-of-acme')}`);
  assert.match(callSid(''), /^CA[0-9a-f]{32}$/);
});

test('a SIP call has its addresses, its status and its Call-ID', () => {
  assert.deepEqual(parametersOf({}), {
    CallSid: callSid('call-1'),
    AccountSid: 'AC1',
    From: 'sip:anna@example.com',
    To: 'sip:600@pbx.example.com:5060;transport=udp',
    Caller: 'sip:anna@example.com',
    Called: 'sip:600@pbx.example.com:5060;transport=udp',
    CallStatus: 'ringing',
    ApiVersion: '2010-04-01',
    Direction: 'inbound',
    CallerName: 'Anna',
    SipDomain: 'pbx.example.com',
    SipCallId: 'abc@example.com',
  });
});

test('an answered call is in progress, and one that this server placed is outbound-api', () => {
  const { CallStatus, Direction, SipCallId } = parametersOf(
    { direction: 'outbound', protocol: 'webrtc' },
    true,
  );
  assert.deepEqual([CallStatus, Direction, SipCallId], ['in-progress', 'outbound-api', undefined]);
});

test('a call that a program has placed is outbound-dial, and names the call of the program', () => {
  const { Direction, ParentCallSid } = parametersOf({ direction: 'outbound', parent: 'call-0' }, true);
  assert.deepEqual([Direction, ParentCallSid], ['outbound-dial', callSid('call-0')]);
});

test('only X- header fields with harmless values become parameters', () => {
  const { 'SipHeader_X-Tenant': tenant } = parametersOf({ headers: { 'X-Tenant': 'ä <b>&"1"</b>' } });
  assert.equal(tenant, 'ä <b>&"1"</b>');
  assert.deepEqual(
    headers({
      'X-Good': 'a',
      'x-good': 'b',
      'User-to-User': 'c',
      'X-Line': 'a\r\nX-Other: b',
      'X-Null': 'a\u0000b',
      'X-Half': 'a\uD800b',
      'X-Turned': 'a\u202Eb',
      'X-Long': 'a'.repeat(1025),
      'X-Name with blanks': 'a',
      'X-Name=a&b': 'a',
      [`X-${'a'.repeat(65)}`]: 'a',
    }),
    ['SipHeader_X-Good'],
  );
});

test('header fields beyond 64, or beyond 8192 characters together, are left out', () => {
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`X-${index}`, 'a']));
  assert.equal(headers(many).length, 64);
  const large = Object.fromEntries(
    Array.from({ length: 20 }, (_, index) => [`X-${index}`, 'a'.repeat(1000)]),
  );
  assert.equal(headers(large).length, 8);
});

test('a hostile name of the caller is left out', () => {
  assert.equal(parametersOf({ displayName: 'a\u0007' })['CallerName'], undefined);
});

test('the result of a Gather by keys has the keys and the finish key', () => {
  const keys = { of: 'gather', by: 'keys', digits: '12', finishKey: '#' } as const;
  assert.deepEqual(resultParameters(keys, urlOf), [
    ['Digits', '12'],
    ['FinishedOnKey', '#'],
  ]);
  assert.deepEqual(resultParameters({ ...keys, finishKey: undefined }, urlOf)[1], ['FinishedOnKey', '']);
});

test('the result of a Gather by speech has the words, and Confidence where it is known', () => {
  const speech = { of: 'gather', by: 'speech', text: 'billing & <sales>', language: 'en' } as const;
  assert.deepEqual(resultParameters(speech, urlOf), [['SpeechResult', 'billing & <sales>']]);
  assert.deepEqual(resultParameters({ ...speech, confidence: 0.93 }, urlOf), [
    ['SpeechResult', 'billing & <sales>'],
    ['Confidence', '0.93'],
  ]);
});

test('the result of a Dial has its status, its call, its duration and its SIP response', () => {
  const dialled = { of: 'dial', status: 'completed', isBridged: true, call: 'call-2' } as const;
  assert.deepEqual(
    resultParameters({ ...dialled, durationMs: 61_500, sipCallId: 'a@b', sipStatus: 200 }, urlOf),
    [
      ['DialCallStatus', 'completed'],
      ['DialCallSid', callSid('call-2')],
      ['DialCallDuration', '62'],
      ['DialBridged', 'true'],
      ['DialSipCallId', 'a@b'],
      ['DialSipResponseCode', '200'],
    ],
  );
  assert.deepEqual(resultParameters({ of: 'dial', status: 'failed', isBridged: false }, urlOf), [
    ['DialCallStatus', 'failed'],
    ['DialBridged', 'false'],
  ]);
});

test('the states of a call that was placed: answered is in-progress, and the last has the duration', () => {
  const at = Date.UTC(2026, 10, 30, 5, 0, 0);
  const of = [
    ['Timestamp', 'Mon, 30 Nov 2026 05:00:00 GMT'],
    ['CallbackSource', 'call-progress-events'],
  ];
  assert.deepEqual(
    noticeParameters({ of: 'dialled', state: 'answered', number: 2, at, sipStatus: 200 }, urlOf),
    [['CallStatus', 'in-progress'], ...of, ['SequenceNumber', '2']],
  );
  const over = { state: 'completed', number: 3, at, status: 'busy', durationMs: 0, sipStatus: 486 } as const;
  assert.deepEqual(noticeParameters({ of: 'dialled', ...over }, urlOf), [
    ['CallStatus', 'busy'],
    ...of,
    ['SequenceNumber', '3'],
    ['CallDuration', '0'],
    ['SipResponseCode', '486'],
  ]);
});

test('a machine that has answered has the name that Twilio gives it', () => {
  assert.deepEqual(noticeParameters({ of: 'dialled answer', by: 'machine_beep', ms: 4200 }, urlOf), [
    ['AnsweredBy', 'machine_end_beep'],
    ['MachineDetectionDuration', '4200'],
  ]);
});

test('an empty Gather has empty Digits, and a redirect has no result', () => {
  assert.deepEqual(resultParameters({ of: 'gather', by: 'none' }, urlOf), [['Digits', '']]);
  assert.deepEqual(resultParameters({ of: 'redirect' }, urlOf), []);
});

test('partial words have their number, and an error has its number and URL', () => {
  assert.deepEqual(noticeParameters({ of: 'partial', text: 'I want', number: 0 }, urlOf), [
    ['SequenceNumber', '0'],
    ['UnstableSpeechResult', 'I want'],
  ]);
  assert.deepEqual(errorParameters({ code: '11200', message: 'a', document: 'https://example.com/' }), [
    ['ErrorCode', '11200'],
    ['ErrorUrl', 'https://example.com/'],
  ]);
});

const NAME = '20261130T060000000Z_call_1_all_5f0e6b21.wav';
const RECORDED = { RecordingUrl: urlOf(NAME), RecordingSid: recordingSid(NAME) };

test('a recording is told with its address, its whole seconds, and what ended it', () => {
  const of = (by: 'key' | 'silence' | 'hangup', key?: string) =>
    Object.fromEntries(resultParameters({ of: 'record', recording: NAME, durationMs: 4600, by, key }, urlOf));
  assert.deepEqual(of('key', '#'), { ...RECORDED, RecordingDuration: '5', Digits: '#' });
  assert.equal(of('hangup')['Digits'], 'hangup');
  assert.equal(of('silence')['Digits'], '');
});

test('callbacks of a recording have its state, and those of its text the text', () => {
  const notice = {
    of: 'recording',
    status: 'completed',
    recording: NAME,
    durationMs: 2000,
    startedMs: Date.UTC(2026, 10, 30, 6),
    channels: 1,
    source: 'record',
    track: 'inbound',
  } as const;
  assert.deepEqual(Object.fromEntries(noticeParameters(notice, urlOf)), {
    ...RECORDED,
    RecordingStatus: 'completed',
    RecordingDuration: '2',
    RecordingChannels: '1',
    RecordingStartTime: 'Mon, 30 Nov 2026 06:00:00 +0000',
    RecordingSource: 'RecordVerb',
    RecordingTrack: 'inbound',
  });
  const absent = { ...notice, status: 'absent', recording: undefined, startedMs: undefined } as const;
  const told = Object.fromEntries(noticeParameters(absent, urlOf));
  assert.deepEqual([told['RecordingStatus'], told['RecordingSid']], ['absent', undefined]);
  const text = { of: 'transcription', recording: NAME, text: 'Call me.', status: 'completed' } as const;
  const { TranscriptionSid, ...rest } = Object.fromEntries(noticeParameters(text, urlOf));
  assert.match(String(TranscriptionSid), /^TR[0-9a-f]{32}$/);
  assert.deepEqual(rest, { TranscriptionText: 'Call me.', TranscriptionStatus: 'completed', ...RECORDED });
});

test('a call that is over is completed', () => {
  const told = Object.fromEntries(
    callParameters({ about: ABOUT, isAnswered: true, isOver: true, warn: () => undefined }, 'AC1'),
  );
  assert.equal(told['CallStatus'], 'completed');
});

test('a far end that was referred is told with its last status', () => {
  assert.deepEqual(resultParameters({ of: 'refer', isAccepted: true, status: 200 }, urlOf), [
    ['ReferCallStatus', 'completed'],
    ['ReferSipResponseCode', '202'],
    ['NotifySipResponseCode', '200'],
  ]);
  assert.deepEqual(resultParameters({ of: 'refer', isAccepted: false, status: undefined }, urlOf), [
    ['ReferCallStatus', 'failed'],
  ]);
});

test('the end of a session is told with what its application hands over', () => {
  const ended = {
    of: 'connect',
    status: 'ended',
    sessionId: 'VX1',
    handoffData: '{"a":1}',
    durationMs: 4400,
  } as const;
  assert.deepEqual(resultParameters(ended, urlOf), [
    ['SessionId', 'VX1'],
    ['SessionStatus', 'ended'],
    ['SessionDuration', '4'],
    ['HandoffData', '{"a":1}'],
  ]);
  const failed = {
    of: 'connect',
    status: 'failed',
    errorCode: '64102',
    errorMessage: 'gone',
    durationMs: 0,
  } as const;
  assert.deepEqual(Object.fromEntries(resultParameters(failed, urlOf))['ErrorCode'], '64102');
});

test('streams and transcripts are told with their names', () => {
  const stream = {
    of: 'stream',
    event: 'stream-error',
    streamSid: 'MZ1',
    name: 'a',
    error: 'lost',
    at: 0,
  } as const;
  assert.deepEqual(Object.fromEntries(noticeParameters(stream, urlOf)), {
    StreamSid: 'MZ1',
    StreamName: 'a',
    StreamEvent: 'stream-error',
    StreamError: 'lost',
    Timestamp: '1970-01-01T00:00:00.000Z',
  });
  const words = { side: 'caller', label: 'guest', text: 'A "word"', isFinal: true, language: 'en' } as const;
  const transcript = { of: 'transcript', event: 'content', name: 'notes', number: 3, ...words } as const;
  assert.deepEqual(Object.fromEntries(noticeParameters(transcript, urlOf)), {
    TranscriptionEvent: 'transcription-content',
    TranscriptionName: 'notes',
    SequenceId: '4',
    Track: 'inbound_track',
    TrackLabel: 'guest',
    TranscriptionData: JSON.stringify({ transcript: 'A "word"' }),
    Final: 'true',
    LanguageCode: 'en',
  });
});
