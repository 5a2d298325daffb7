// Documents that the npm package `twilio` writes: each verb with every attribute that it can write. The types
// make a new attribute of the package an error here.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import twilio from 'twilio';
import { FieldReader } from '../../../src/config/fields.js';
import { readNamedRelay } from '../../../src/config/named-relay.js';
import { parseTwiml } from '../../../src/api/twiml/twiml-parser.js';

const { VoiceResponse } = twilio.twiml;
type Voice = InstanceType<typeof VoiceResponse>;
/** Attributes of the first argument of a method, none left out. */
type All<F extends (attributes: never, ...rest: never[]) => unknown> = Required<
  Exclude<Parameters<F>[0], string | undefined>
>;

const URL = 'https://bot.example.com/voice';
const AT = { action: '/next', method: 'GET' };

const GATHER: All<Voice['gather']> = {
  ...AT,
  actionOnEmptyResult: true,
  bargeIn: false,
  debug: true,
  enhanced: true,
  finishOnKey: '*',
  hints: 'billing, sales',
  input: ['dtmf', 'speech'],
  language: 'de-DE',
  maxSpeechTime: 30,
  numDigits: 4,
  partialResultCallback: '/partial',
  partialResultCallbackMethod: 'GET',
  profanityFilter: false,
  speechModel: 'phone_call',
  speechTimeout: 'auto',
  timeout: 3,
};

function programOf(write: (response: Voice) => void) {
  const response = new VoiceResponse();
  write(response);
  return parseTwiml(response.toString(), URL);
}

test('Say, Play, Pause, Redirect, Reject and Hangup of the package parse without a warning', () => {
  const { verbs, warnings } = programOf((response) => {
    response.say({ voice: 'Polly.Joanna', language: 'en-US', loop: 2 }, 'Hello & <goodbye>');
    response.play({ loop: 2 }, 'https://media.example.com/a b.mp3');
    response.play({ digits: 'ww12#' });
    response.pause({ length: 3 });
    response.redirect({ method: 'GET' }, '/menu?a=1&b=2');
    response.reject({ reason: 'busy' }).parameter({ name: 'a', value: 'b' });
    response.hangup();
    response.comment('a comment');
  });
  assert.deepEqual(warnings, []);
  assert.deepEqual(verbs, [
    { verb: 'say', text: 'Hello & <goodbye>', format: 'text', voice: undefined, language: 'en-US', times: 2 },
    { verb: 'play', sound: 'https://media.example.com/a%20b.mp3', times: 2 },
    { verb: 'press', digits: ',,12#' },
    { verb: 'pause', ms: 3000 },
    { verb: 'redirect', to: { at: 'https://bot.example.com/menu?a=1&b=2', method: 'GET' } },
    { verb: 'reject', reason: 'busy' },
    { verb: 'hangup' },
  ]);
});

test('Gather of the package parses with every attribute and prompt', () => {
  const { verbs, warnings } = programOf((response) => {
    const gather = response.gather(GATHER);
    gather.say({ voice: 'alice', language: 'de-DE', loop: 1 }, 'Drücken Sie 1');
    gather.pause({ length: 1 });
    gather.play({ loop: 1 }, '/a.wav');
  });
  assert.deepEqual(warnings, []);
  assert.deepEqual(verbs, [
    {
      verb: 'gather',
      inputs: ['keys', 'speech'],
      prompts: [
        { verb: 'say', text: 'Drücken Sie 1', format: 'text', voice: undefined, language: 'de-DE', times: 1 },
        { verb: 'pause', ms: 1000 },
        { verb: 'play', sound: 'https://bot.example.com/a.wav', times: 1 },
      ],
      isInterruptible: false,
      firstMs: 3000,
      betweenMs: 3000,
      finishKeys: '*',
      mostKeys: 4,
      speechEndMs: undefined,
      mostSpeechMs: 30_000,
      language: 'de-DE',
      hints: ['billing', 'sales'],
      action: { at: 'https://bot.example.com/next', method: 'GET' },
      tellsEmpty: true,
      partial: { at: 'https://bot.example.com/partial', method: 'GET' },
    },
  ]);
});

test('all SSML of the package stays in the text of Say', () => {
  const { verbs, warnings } = programOf((response) => {
    const say = response.say('One');
    say.break({ strength: 'weak', time: '300ms' });
    say.emphasis({ level: 'strong' }, 'two');
    say.lang({ 'xml:lang': 'fr-FR' }, 'trois');
    say.p('four');
    say.phoneme({ alphabet: 'ipa', ph: 'faɪv' }, 'five');
    say.prosody({ pitch: '+10%', rate: '85%', volume: '-6dB' }, 'six');
    say.s('seven');
    say.sayAs({ 'interpret-as': 'ordinal', format: 'mdy' }, '8');
    say.sub({ alias: 'nine' }, 'IX');
    say.w({ role: 'amazon:VB' }, 'ten');
  });
  assert.deepEqual(warnings, []);
  const [say] = verbs;
  assert.equal(say?.verb, 'say');
  assert.equal(say.format, 'ssml');
  for (const word of ['One', 'two', 'trois', 'four', 'five', 'six', 'seven', '8', 'IX', 'ten']) {
    assert.ok(say.text.includes(word), word);
  }
  assert.equal(
    say.text,
    '<speak>One<break strength="weak" time="300ms"></break><emphasis level="strong">two</emphasis><lang xml:lang="fr-FR">trois</lang><p>four</p><phoneme alphabet="ipa" ph="faɪv">five</phoneme><prosody pitch="+10%" rate="85%" volume="-6dB">six</prosody><s>seven</s><say-as interpret-as="ordinal" format="mdy">8</say-as><sub alias="nine">IX</sub><w role="amazon:VB">ten</w></speak>',
  );
});

const RECORDING = {
  recordingConfigurationId: 'a',
  recordingStatusCallback: '/recording',
  recordingStatusCallbackMethod: 'POST',
} as const;
const STATUS = { statusCallback: '/status', statusCallbackMethod: 'POST' } as const;

const DIAL: All<Voice['dial']> = {
  ...AT,
  ...RECORDING,
  answerOnBridge: true,
  callerId: '+15550100',
  events: 'call-progress-event',
  hangupOnStar: true,
  record: 'record-from-answer-dual',
  recordingStatusCallbackEvent: ['in-progress', 'completed'],
  recordingTrack: 'both',
  referMethod: 'POST',
  referUrl: '/refer',
  ringTone: 'de',
  sequential: true,
  timeLimit: 600,
  timeout: 20,
  trim: 'trim-silence',
};
const RECORD: All<Voice['record']> = {
  ...AT,
  ...RECORDING,
  finishOnKey: '#',
  maxLength: 60,
  playBeep: true,
  recordingStatusCallbackEvent: ['completed'],
  timeout: 5,
  transcribe: true,
  transcribeCallback: '/text',
  trim: 'trim-silence',
};
const PAY: All<Voice['pay']> = {
  action: '/paid',
  bankAccountType: 'consumer-checking',
  chargeAmount: '10.00',
  currency: 'usd',
  description: 'a',
  input: 'dtmf',
  language: 'en-US',
  maxAttempts: 2,
  minPostalCodeLength: 3,
  paymentConnector: 'a',
  paymentMethod: 'credit-card',
  postalCode: 'false',
  securityCode: true,
  ...STATUS,
  timeout: 5,
  tokenType: 'one-time',
  validCardTypes: ['visa', 'amex'],
};

type Started = ReturnType<Voice['start']>;
const STREAM: All<Started['stream']> = {
  connectorName: 'a',
  name: 'b',
  ...STATUS,
  track: 'both_tracks',
  url: 'wss://bot.example.com/media',
};
const TRANSCRIPTION: All<Started['transcription']> = {
  enableAutomaticPunctuation: true,
  hints: 'billing, sales',
  inboundTrackLabel: 'guest',
  intelligenceService: 'a',
  languageCode: 'de-DE',
  name: 'notes',
  outboundTrackLabel: 'host',
  partialResults: true,
  profanityFilter: false,
  speechModel: 'a',
  statusCallbackMethod: 'GET',
  statusCallbackUrl: '/texts',
  track: 'both_tracks',
  transcriptionEngine: 'a',
};
const CALL_RECORDING: All<Started['recording']> = {
  ...RECORDING,
  channels: 'dual',
  recordingStatusCallbackEvent: ['in-progress', 'completed', 'absent'],
  track: 'both',
  trim: 'do-not-trim',
};

test('Start and Stop of the package parse with every attribute, and Siprec is refused', () => {
  const { verbs, warnings } = programOf((response) => {
    const start = response.start(AT);
    start.stream(STREAM).parameter({ name: 'tenant', value: 'acme' });
    start.recording(CALL_RECORDING);
    start.transcription(TRANSCRIPTION);
    start.siprec({ name: 'a', connectorName: 'b', track: 'both_tracks' });
    const stop = response.stop();
    stop.stream({ name: 'b' });
    stop.transcription({ name: 'notes' });
  });
  assert.deepEqual(
    warnings.map(({ message }) => message),
    ['<Siprec> is refused: this server records calls itself; it is skipped'],
  );
  const at = (path: string, method: string) => ({ at: `https://bot.example.com/${path}`, method });
  assert.deepEqual(verbs, [
    {
      verb: 'start',
      forks: [
        {
          kind: 'stream',
          name: 'b',
          fields: { url: STREAM.url, track: 'both_tracks', parameters: { tenant: 'acme' } },
          callback: at('status', 'POST'),
        },
        {
          kind: 'recording',
          callback: { target: at('recording', 'POST'), events: ['in-progress', 'completed', 'absent'] },
        },
        {
          kind: 'transcript',
          name: 'notes',
          callback: at('texts', 'GET'),
          language: 'de-DE',
          isPartial: true,
          hints: ['billing', 'sales'],
          sides: { caller: 'guest', server: 'host' },
        },
      ],
    },
    {
      verb: 'stop',
      forks: [
        { kind: 'stream', name: 'b' },
        { kind: 'transcript', name: 'notes' },
      ],
    },
  ]);
});

type Connected = ReturnType<Voice['connect']>;
const RELAY: All<Connected['conversationRelay']> = {
  backgroundnoisereduction: 'on',
  debug: 'speaker-events',
  deepgramsmartformat: 'true',
  dtmfDetection: true,
  elevenlabsTextNormalization: 'on',
  events: 'tokens-played',
  hints: 'billing, sales',
  ignorebackchannel: 'true',
  intelligenceService: 'a',
  interruptSensitivity: 'low',
  interruptible: 'speech',
  language: 'de-DE',
  partialPrompts: true,
  preemptible: false,
  profanityFilter: true,
  reportInputDuringAgentSpeech: true,
  speechModel: 'a',
  speechtimeout: '700',
  transcriptionLanguage: 'de-DE',
  transcriptionProvider: 'a',
  ttsLanguage: 'de-DE',
  ttsProvider: 'a',
  url: 'wss://bot.example.com/calls',
  voice: 'slt',
  welcomeGreeting: 'Hello.',
  welcomeGreetingInterruptible: 'none',
};

test('ConversationRelay of the package has the fields of an application, which this server reads', () => {
  const { verbs, warnings } = programOf((response) => {
    const relay = response.connect(AT).conversationRelay(RELAY);
    relay.language({
      code: 'fr-FR',
      voice: 'a',
      ttsProvider: 'b',
      transcriptionProvider: 'c',
      speechModel: 'd',
    });
    relay.parameter({ name: 'tenant', value: 'acme' });
  });
  assert.deepEqual(warnings, []);
  const [verb] = verbs;
  assert.ok(verb?.verb === 'connect' && verb.to.kind === 'relay');
  assert.deepEqual(verb.action, { at: 'https://bot.example.com/next', method: 'GET' });
  const read = new FieldReader();
  const hosts = [{ host: 'bot.example.com', isWildcard: false, port: undefined }];
  const relay = readNamedRelay(read, verb.to.fields, 'relay', { hosts, authToken: undefined });
  assert.deepEqual(read.problems, []);
  assert.deepEqual(
    [
      relay?.speechTimeoutMs,
      relay?.ignoreBackchannel,
      relay?.reportInputDuringAgentSpeech,
      relay?.lostSocket,
      relay?.smartFormat,
    ],
    [700, true, 'any', 'end', true],
  );
  assert.deepEqual([relay?.languages[0]?.code, relay?.parameters], ['fr-FR', { tenant: 'acme' }]);
});

test('Stream of the package within Connect has its parameters, and its callback is a warning', () => {
  const { verbs, warnings } = programOf((response) => {
    const stream = response.connect().stream({
      connectorName: 'a',
      name: 'b',
      statusCallback: '/s',
      statusCallbackMethod: 'GET',
      track: 'inbound_track',
      url: 'wss://bot.example.com/media',
    });
    stream.parameter({ name: 'tenant', value: 'acme' });
  });
  const fields = {
    url: 'wss://bot.example.com/media',
    track: 'inbound_track',
    parameters: { tenant: 'acme' },
  };
  assert.deepEqual(verbs, [{ verb: 'connect', to: { kind: 'stream', fields }, action: undefined }]);
  assert.deepEqual(
    warnings.map(({ message }) => message),
    ['"statusCallback" of <Stream> in <Connect> is not done by this server yet'],
  );
});

test('Refer of the package parses', () => {
  const { verbs, warnings } = programOf(
    (response) => void response.refer(AT).sip('sip:a@example.com;transport=tls'),
  );
  assert.deepEqual(warnings, []);
  const action = { at: 'https://bot.example.com/next', method: 'GET' };
  assert.deepEqual(verbs, [{ verb: 'refer', to: 'sip:a@example.com;transport=tls', action }]);
});

test('Record of the package parses with all of its attributes', () => {
  const { verbs, warnings } = programOf((response) => response.record(RECORD));
  assert.deepEqual(warnings, []);
  const at = (path: string, method: string) => ({ at: new globalThis.URL(path, URL).href, method });
  assert.deepEqual(verbs, [
    {
      verb: 'record',
      beeps: true,
      timeoutMs: 5000,
      finishKeys: '#',
      mostMs: 60_000,
      trims: true,
      action: at(AT.action, AT.method),
      callback: { target: at('/recording', 'POST'), events: ['completed'] },
      transcript: at('/text', 'POST'),
    },
  ]);
});

type Dialled = ReturnType<Voice['dial']>;
const DETECTION = {
  amdStatusCallback: '/amd',
  amdStatusCallbackMethod: 'GET',
  machineDetection: 'DetectMessageEnd',
  machineDetectionSilenceTimeout: 4000,
  machineDetectionSpeechEndThreshold: 1400,
  machineDetectionSpeechThreshold: 1900,
  machineDetectionTimeout: 20,
} as const;
const NUMBER: All<Dialled['number']> = {
  ...DETECTION,
  byoc: 'BY1',
  method: 'GET',
  sendDigits: 'ww12W#',
  ...STATUS,
  statusCallbackEvent: ['initiated', 'ringing', 'answered', 'completed'],
  url: '/whisper',
};
const SIP: All<Dialled['sip']> = {
  ...DETECTION,
  method: 'POST',
  password: 'secret',
  ...STATUS,
  statusCallbackEvent: ['answered'],
  url: '/screen',
  username: 'anna',
};

test('Dial of the package calls a number and a SIP address with every attribute', () => {
  const { verbs, warnings } = programOf((response) => {
    const dial = response.dial(DIAL);
    dial.number(NUMBER, '+15550101');
    dial.sip(SIP, 'sip:a@example.com;transport=tcp?X-Tenant=7&User-to-User=a%20b&Route=c');
    dial.client({ url: '/whisper', method: 'GET', ...STATUS }, 'anna').identity('anna');
  });
  const at = (path: string, method: string) => ({ at: `https://bot.example.com/${path}`, method });
  const detect = {
    timeoutMs: 20_000,
    speechThresholdMs: 1900,
    speechEndThresholdMs: 1400,
    silenceTimeoutMs: 4000,
  };
  const detected = { detect, detected: at('amd', 'GET') };
  assert.deepEqual(verbs, [
    {
      verb: 'dial',
      targets: [
        {
          to: '+15550101',
          digits: ',,12,,#',
          whisper: at('whisper', 'GET'),
          states: { target: at('status', 'POST'), told: ['initiated', 'ringing', 'answered', 'completed'] },
          ...detected,
        },
        {
          to: 'sip:a@example.com;transport=tcp',
          headers: { 'X-Tenant': '7', 'User-to-User': 'a b' },
          whisper: at('screen', 'POST'),
          states: { target: at('status', 'POST'), told: ['answered'] },
          ...detected,
        },
      ],
      isSequential: true,
      ringMs: 20_000,
      talkMs: 600_000,
      endsByStar: true,
      callerId: '+15550100',
      answersLate: true,
      recordsFrom: 'talk',
      recorded: { target: at('recording', 'POST'), events: ['in-progress', 'completed'] },
      action: at('next', 'GET'),
    },
  ]);
  assert.deepEqual(
    warnings.map(({ message }) => message),
    [
      '"username" and "password" of <Sip> are not used: SIP_TRUNKS_FILE has those of trunks',
      '<Sip> may not add the header field "Route"; it is skipped',
      '<Client> is refused: browser calls have no names here that could be called; it is skipped',
      '"referUrl" of <Dial> is not done by this server: a transfer of the far end is refused',
    ],
  );
});

test('Queue of the package outside Dial is one warning, and the verb behind it runs', () => {
  const { verbs, warnings } = programOf((response) => {
    response.queue({ url: '/a', method: 'GET' }, 'sales');
    response.hangup();
  });
  assert.deepEqual(verbs, [{ verb: 'hangup' }]);
  assert.deepEqual(
    warnings.map(({ code, message }) => `${code} ${message}`),
    ['12200 <Queue> is no verb of TwiML; it is skipped'],
  );
});

const REFUSED: Readonly<Record<string, (response: Voice) => unknown>> = {
  Pay: (response) =>
    response
      .pay(PAY)
      .prompt({ for: 'postal-code', attempt: [1, 2] })
      .say('Your code'),
  Prompt: (response) => response.prompt({ for: 'security-code' }),
  Sms: (response) => response.sms({ ...AT, from: '+1', to: '+2', statusCallback: '/s' }, 'Hello'),
  Echo: (response) => response.echo(),
  Sim: (response) => response.dial().sim('DE1'),
  WhatsApp: (response) => response.dial().whatsApp({ url: '/a' }, '+1'),
  Application: (response) => response.dial().application({ url: '/a' }, 'AP1'),
  Room: (response) => response.connect().room({ participantIdentity: 'a' }, 'r'),
  VirtualAgent: (response) => response.connect().virtualAgent({ connectorName: 'a', language: 'en' }),
  AiSession: (response) => response.connect().aiSession({ aiConnector: 'a' }),
  Assistant: (response) => response.connect().assistant({ id: 'a' }),
  Conversation: (response) => response.connect().conversation({ serviceInstanceSid: 'a' }),
};

for (const [name, write] of Object.entries(REFUSED)) {
  test(`${name} of the package is refused by its name`, () => {
    const { verbs, warnings } = programOf((response) => void write(response));
    assert.deepEqual(verbs, []);
    assert.match(warnings.map(({ message }) => message).join(), new RegExp(`^<${name}> is refused: `));
  });
}
