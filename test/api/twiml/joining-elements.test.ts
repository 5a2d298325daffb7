// <Dial> with <Conference> and <Queue>, <Enqueue> and <Leave>: their defaults, every attribute that the npm
// package `twilio` can write, what is refused, and the parameters of their requests.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import twilio from 'twilio';
import { noticeParameters, resultParameters } from '../../../src/api/twiml/call-parameters.js';
import { callSid, conferenceSid, queueSid, recordingSid } from '../../../src/api/twiml/sids.js';
import { parseTwiml } from '../../../src/api/twiml/twiml-parser.js';
import type { Conference, ConferenceNotice, Dequeue, Enqueue } from '../../../src/ivr/verbs.js';

const { VoiceResponse } = twilio.twiml;
type Voice = InstanceType<typeof VoiceResponse>;
type Dial = ReturnType<Voice['dial']>;
/** Attributes of the first argument of a method, none left out. */
type All<F extends (attributes: never, ...rest: never[]) => unknown> = Required<
  Exclude<Parameters<F>[0], string | undefined>
>;

const urlOf = (name: string) => `https://parley.example/${name}`;
const URL = 'https://bot.example.com/voice';
const at = (path: string, method: 'GET' | 'POST' = 'POST') => ({
  at: `https://bot.example.com${path}`,
  method,
});

const CONFERENCE: All<Dial['conference']> = {
  beep: 'onEnter',
  coach: callSid('agent'),
  endConferenceOnExit: true,
  eventCallbackUrl: '/old',
  jitterBufferSize: 'small',
  maxParticipants: 10,
  muted: true,
  participantLabel: 'moderator',
  record: 'record-from-start',
  recordingConfigurationId: 'a',
  recordingStatusCallback: '/recording',
  recordingStatusCallbackEvent: ['in-progress', 'completed'],
  recordingStatusCallbackMethod: 'GET',
  region: 'ie1',
  startConferenceOnEnter: false,
  statusCallback: '/status',
  statusCallbackEvent: ['start', 'end', 'join', 'leave', 'mute', 'hold', 'modify', 'speaker', 'announcement'],
  statusCallbackMethod: 'GET',
  trim: 'do-not-trim',
  waitMethod: 'GET',
  waitUrl: '/wait',
};
const QUEUE: All<Dial['queue']> = {
  method: 'GET',
  postWorkActivitySid: 'WA1',
  reservationSid: 'WR1',
  url: '/whisper',
};
const ENQUEUE: All<Voice['enqueue']> = {
  action: '/next',
  maxQueueSize: 10,
  method: 'GET',
  waitUrl: '/wait',
  waitUrlMethod: 'GET',
  workflowSid: 'WW1',
};

function programOf(write: (response: Voice) => void) {
  const response = new VoiceResponse();
  write(response);
  return parseTwiml(response.toString(), URL);
}

function only(inner: string) {
  const { verbs, warnings } = parseTwiml(`<Response>${inner}</Response>`, URL);
  return { verb: verbs[0], count: verbs.length, warnings: warnings.map(({ message }) => message) };
}

const USUAL: Conference = {
  verb: 'conference',
  room: 'Room 1',
  isMuted: false,
  chimes: 'both',
  opens: true,
  ends: false,
  label: undefined,
  wait: 'music',
  mostMembers: 250,
  isRecorded: false,
  coach: undefined,
  mostMs: undefined,
  endKey: undefined,
  action: undefined,
  callback: undefined,
  events: [],
  recordingCallback: undefined,
};

test('a conference has the defaults of Twilio', () => {
  const { verb, warnings } = only('<Dial><Conference>\n  Room 1\n</Conference></Dial>');
  assert.deepEqual([verb, warnings], [USUAL, []]);
});

test('a conference of the package has every attribute', () => {
  const { verbs, warnings } = programOf((response) =>
    response
      .dial({ action: '/after', method: 'GET', timeLimit: 600, hangupOnStar: true })
      .conference(CONFERENCE, 'Room 1'),
  );
  assert.deepEqual(warnings, []);
  assert.deepEqual(verbs, [
    {
      ...USUAL,
      isMuted: true,
      chimes: 'entry',
      opens: false,
      ends: true,
      label: 'moderator',
      wait: at('/wait', 'GET'),
      mostMembers: 10,
      isRecorded: true,
      coach: callSid('agent'),
      mostMs: 600_000,
      endKey: '*',
      action: at('/after', 'GET'),
      callback: at('/status', 'GET'),
      events: ['start', 'end', 'join', 'leave', 'mute', 'hold', 'modify', 'speaker', 'announcement'],
      recordingCallback: at('/recording', 'GET'),
    },
  ]);
});

test('a queue of the package has every attribute, and the defaults of Twilio', () => {
  const { verbs, warnings } = programOf((response) => {
    response.dial({ action: '/after', timeout: 20 }).queue(QUEUE, 'sales');
    response.dial().queue('sales');
  });
  assert.deepEqual(warnings, []);
  const usual: Dequeue = {
    verb: 'dequeue',
    queue: 'sales',
    whisper: undefined,
    waitMs: 30_000,
    mostMs: undefined,
    endKey: undefined,
    action: undefined,
  };
  assert.deepEqual(verbs, [
    { ...usual, whisper: at('/whisper', 'GET'), waitMs: 20_000, action: at('/after') },
    usual,
  ]);
});

test('Enqueue and Leave of the package have every attribute, and the defaults of Twilio', () => {
  const { verbs, warnings } = programOf((response) => {
    response.enqueue(ENQUEUE, 'sales');
    response.enqueue({}, 'sales');
    response.leave();
  });
  assert.deepEqual(warnings, []);
  const usual: Enqueue = {
    verb: 'enqueue',
    queue: 'sales',
    mostWaiting: 1000,
    wait: 'music',
    action: undefined,
  };
  assert.deepEqual(verbs, [
    { ...usual, mostWaiting: 10, wait: at('/wait', 'GET'), action: at('/next', 'GET') },
    usual,
    { verb: 'leave' },
  ]);
});

test('a task of Enqueue is a warning, and so is one without a name of a queue', () => {
  const { verbs, warnings } = programOf((response) => {
    response.enqueue({ workflowSid: 'WW1' }).task({ priority: 1, timeout: 5 }, '{}');
    response.hangup();
  });
  assert.deepEqual(verbs, [{ verb: 'hangup' }]);
  assert.deepEqual(
    warnings.map(({ code, message }) => `${code} ${message}`),
    [
      '12200 <Enqueue> holds no <Task>; it is skipped',
      '12200 <Enqueue> must have a name of 1 to 64 characters on one line, without "/" and without blanks at its ends; it is skipped',
    ],
  );
});

for (const [inner, field, value, warning] of [
  ['<Conference waitUrl="">r</Conference>', 'wait', 'silence', undefined],
  ['<Conference beep="false">r</Conference>', 'chimes', 'none', undefined],
  ['<Conference beep="onExit">r</Conference>', 'chimes', 'exit', undefined],
  [
    '<Conference beep="loud">r</Conference>',
    'chimes',
    'both',
    /"beep" of <Conference> must be true or false or/,
  ],
  ['<Conference record="true">r</Conference>', 'isRecorded', true, undefined],
  ['<Conference maxParticipants="1">r</Conference>', 'mostMembers', 250, /whole number from 2 to 250/],
  [
    '<Conference statusCallback="/a">r</Conference>',
    'events',
    [],
    /"statusCallback" of <Conference> has no effect without "statusCallbackEvent"/,
  ],
  [
    '<Conference statusCallback="/a" statusCallbackEvent="start loud">r</Conference>',
    'events',
    ['start'],
    /"statusCallbackEvent" of <Conference> may have start, .*, not "loud"/,
  ],
  ['<Conference><Say>a</Say>r</Conference>', 'room', 'r', /<Conference> holds no <Say>/],
] as const)
  test(`${inner} has ${field} ${JSON.stringify(value)}${warning === undefined ? '' : ', and a warning'}`, () => {
    const { verb, warnings } = only(`<Dial>${inner}</Dial>`);
    assert.deepEqual((verb as unknown as Record<string, unknown>)[field], value);
    assert.equal(warnings.length, warning === undefined ? 0 : 1);
    assert.match(warnings.join(), warning ?? /^$/);
  });

test('a name that no room can have, a second noun and a recording of <Dial> are warnings', () => {
  assert.equal(only('<Dial><Conference>a/b</Conference></Dial>').count, 0);
  const two = only('<Dial><Conference>a</Conference><Number>1</Number></Dial>');
  assert.deepEqual(two.warnings, ['<Dial> has <Conference> as its only noun; this one is skipped']);
  const recorded = only('<Dial record="true"><Queue>a</Queue></Dial>');
  assert.deepEqual(
    [recorded.count, recorded.warnings],
    [1, ['"record" of <Dial> has no effect with <Queue>']],
  );
});

test('the results of conferences and queues have the parameters of Twilio', () => {
  assert.deepEqual(resultParameters({ of: 'conference' }, urlOf), [['DialCallStatus', 'answered']]);
  const waited = { of: 'enqueue', queue: 'sales', result: 'bridged', waitedMs: 61_400 } as const;
  assert.deepEqual(resultParameters(waited, urlOf, 'acme'), [
    ['QueueResult', 'bridged'],
    ['QueueSid', queueSid('acme', 'sales')],
    ['QueueTime', '61'],
  ]);
  assert.deepEqual(
    noticeParameters({ of: 'result', result: waited }, urlOf, 'acme'),
    resultParameters(waited, urlOf, 'acme'),
  );
  assert.deepEqual(
    resultParameters({ of: 'dequeue', status: 'completed', other: 'call-1', durationMs: 2500 }, urlOf),
    [
      ['DialCallStatus', 'completed'],
      ['DialCallSid', callSid('call-1')],
      ['DialCallDuration', '3'],
      ['DialBridged', 'true'],
    ],
  );
  const nobody = { of: 'dequeue', status: 'no-answer', other: undefined, durationMs: 0 } as const;
  assert.deepEqual(resultParameters(nobody, urlOf), [
    ['DialCallStatus', 'no-answer'],
    ['DialCallDuration', '0'],
    ['DialBridged', 'false'],
  ]);
});

test('a wait learns its place, and what a caller hears before the bridge learns who takes it', () => {
  const place = { queue: 'sales', position: 2, waitedMs: 5000, averageMs: 7000, size: 3, mostWaiting: 10 };
  assert.deepEqual(resultParameters({ of: 'wait', place }, urlOf), [
    ['QueuePosition', '2'],
    ['QueueSid', queueSid(undefined, 'sales')],
    ['QueueTime', '5'],
    ['AvgQueueTime', '7'],
    ['CurrentQueueSize', '3'],
    ['MaxQueueSize', '10'],
  ]);
  assert.deepEqual(resultParameters({ of: 'wait', place: undefined }, urlOf), []);
  assert.deepEqual(resultParameters({ of: 'whisper', queue: 'sales', waitedMs: 5000, by: 'agent' }, urlOf), [
    ['QueueSid', queueSid(undefined, 'sales')],
    ['QueueTime', '5'],
    ['DequeingCallSid', callSid('agent')],
  ]);
});

const MEMBER = {
  call: 'call-2',
  muted: true,
  deaf: false,
  hold: false,
  moderator: false,
  coach: 'call-3',
  label: 'anna',
  opens: false,
  ends: true,
  speaking: false,
  joinedAt: 0,
};
const HEAD = { of: 'conference', room: 'Room 1', number: 3, at: 1_700_000_000_000 } as const;
const FIRST = [
  ['ConferenceSid', conferenceSid('acme', 'Room 1')],
  ['FriendlyName', 'Room 1'],
];

test('the event of a member has its settings', () => {
  assert.deepEqual(noticeParameters({ ...HEAD, happening: 'join', member: MEMBER }, urlOf, 'acme'), [
    ...FIRST,
    ['StatusCallbackEvent', 'participant-join'],
    ['SequenceNumber', '3'],
    ['Timestamp', 'Tue, 14 Nov 2023 22:13:20 GMT'],
    ['CallSid', callSid('call-2')],
    ['Muted', 'true'],
    ['Hold', 'false'],
    ['Coaching', 'true'],
    ['CallSidToCoach', callSid('call-3')],
    ['StartConferenceOnEnter', 'false'],
    ['EndConferenceOnExit', 'true'],
    ['ParticipantLabel', 'anna'],
  ]);
});

for (const [end, parameters] of [
  [
    { reason: 'moderator left', by: 'call-2' },
    [
      ['CallSidEndingConference', callSid('call-2')],
      ['ReasonConferenceEnded', 'participant-with-end-conference-on-exit-left'],
    ],
  ],
  [
    { reason: 'room ended', by: 'call-2' },
    [
      ['CallSidEndingConference', callSid('call-2')],
      ['ReasonConferenceEnded', 'last-participant-left'],
    ],
  ],
  [{ reason: 'room ended' }, [['ReasonConferenceEnded', 'conference-ended-via-api']]],
] as const)
  test(`a conference that ends by ${JSON.stringify(end)} tells why`, () => {
    const notice: ConferenceNotice = { ...HEAD, happening: 'end', ...end };
    assert.deepEqual(noticeParameters(notice, urlOf, 'acme').slice(-parameters.length), parameters);
    assert.ok(noticeParameters(notice, urlOf, 'acme').some(([, value]) => value === 'conference-end'));
  });

test('a recording of a conference has its room, state and length', () => {
  const mix = { channels: 2, source: 'conference', track: 'both', room: 'Room 1' } as const;
  const recorded = { of: 'recording', recording: 'a.wav', startedMs: 1_700_000_000_000, ...mix } as const;
  assert.deepEqual(noticeParameters({ ...recorded, status: 'completed', durationMs: 9600 }, urlOf, 'acme'), [
    ...FIRST,
    ['RecordingUrl', 'https://parley.example/a.wav'],
    ['RecordingSid', recordingSid('a.wav')],
    ['RecordingStatus', 'completed'],
    ['RecordingDuration', '10'],
    ['RecordingChannels', '2'],
    ['RecordingStartTime', 'Tue, 14 Nov 2023 22:13:20 +0000'],
    ['RecordingSource', 'Conference'],
    ['RecordingTrack', 'both'],
  ]);
});

test('conferences and queues of two keys, and of two names, have different SIDs', () => {
  const sids = [
    conferenceSid('a', 'b'),
    conferenceSid('b', 'b'),
    conferenceSid(undefined, 'b'),
    queueSid('a', 'b'),
  ];
  assert.equal(new Set(sids).size, 4);
  assert.match(conferenceSid('a', 'b'), /^CF[0-9a-f]{32}$/);
  assert.match(queueSid('a', 'b'), /^QU[0-9a-f]{32}$/);
});
