import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  DataChannelSession,
  MAX_MESSAGE_BYTES,
  readClientMessage,
  type ServerMessage,
} from '../../signaling/data-channel.js';
import { ParleyError } from '../../src/errors.js';
import { ManualTime } from '../fakes/manual-time.js';
import { FakeCall, FakeChannel } from './talking-call.js';
import { SILENT_LOG } from '../../src/log.js';

const LIMITS = { maxTextLength: 20, messages: { perSecond: 10, burst: 20 } };

function openSession() {
  const call = new FakeCall();
  const channel = new FakeChannel();
  const time = new ManualTime(5000);
  const log: string[] = [];
  const session = new DataChannelSession(call, {
    limits: LIMITS,
    time,
    log: { ...SILENT_LOG, warn: (fields, message) => void log.push(`${message} ${JSON.stringify(fields)}`) },
  });
  session.attach(channel);
  const ready = channel.take();
  const say = (message: object) => session.receive(JSON.stringify(message));
  const text = (token: string, more: object = {}) => say({ type: 'text', token, ...more });
  return { call, channel, time, log, session, ready, say, text };
}

function codes(messages: readonly ServerMessage[]): string[] {
  return messages.map((message) => (message.type === 'error' ? message.error.code : message.type));
}

test('an open channel is told the call, its codec and its limits', () => {
  assert.deepEqual(openSession().ready, [
    { type: 'ready', call: 'rtc_1', codec: 'opus', limits: { textLength: 20, messageBytes: 65_536 } },
  ]);
});

test('a text that comes whole is spoken whole, with the moment of its arrival', () => {
  const { call, time, text } = openSession();
  time.advance(7);
  text('Hello there.', { last: true, voice: 'slt', language: 'en' });
  assert.deepEqual(
    call.texts.map(({ pieces, options }) => ({ pieces, options })),
    [{ pieces: ['Hello there.'], options: { receivedAtMs: 5007, voice: 'slt', language: 'en' } }],
  );
});

test('tokens of one text feed one utterance, and the next text is another', async () => {
  const { call, text } = openSession();
  text('Hel', { voice: 'slt' });
  await nextTurn();
  text('lo ');
  text('you.');
  await nextTurn();
  text('', { last: true });
  text('Bye.', { last: true });
  await nextTurn();
  assert.deepEqual(
    call.texts.map(({ pieces, state }) => ({ pieces, state })),
    [
      { pieces: ['Hel', 'lo you.'], state: 'complete' },
      { pieces: ['Bye.'], state: 'complete' },
    ],
  );
});

test('events of the call reach the page as they are', () => {
  const { call, channel } = openSession();
  const event = {
    type: 'utterance.started',
    utterance: 1,
    firstPacketMs: 12.5,
    queuedMs: 3,
  } as const;
  call.emit(event);
  assert.deepEqual(channel.take(), [event]);
});

test('clear interrupts, answers with what was heard and ends a text that was still coming', async () => {
  const { call, channel, say, text } = openSession();
  call.interruption = {
    text: 'Once upon',
    utterances: [{ utterance: 1, text: 'Once upon', sentMs: 420 }],
  };
  text('Once upon a');
  say({ type: 'clear' });
  text('New text.', { last: true });
  await nextTurn();
  assert.deepEqual(channel.take(), [{ type: 'cleared', ...call.interruption }]);
  assert.deepEqual(call.reasons, ['clear']);
  assert.deepEqual(
    call.texts.map(({ pieces }) => pieces),
    [['Once upon a'], ['New text.']],
  );
});

test('what is unknown or malformed answers an error and leaves everything as it is', () => {
  const { call, channel, session, say, text } = openSession();
  text('a');
  session.receive('{"type":');
  session.receive(Buffer.from('{}'));
  say({ type: 'dance' });
  say({ type: 'text', token: 1 });
  text('b', { last: true });
  assert.deepEqual(channel.take(), [
    { type: 'error', error: { code: 'MALFORMED', message: 'a message must be JSON' } },
    { type: 'error', error: { code: 'MALFORMED', message: 'a message must be text, not binary' } },
    {
      type: 'error',
      error: {
        code: 'INVALID_FIELD',
        message: 'type must be one of text, listen, prompt, digit, captions, clear',
        field: 'type',
      },
    },
    { type: 'error', error: { code: 'INVALID_FIELD', message: 'token must be a string', field: 'token' } },
  ]);
  assert.equal(call.texts.length, 1);
});

test('a refusal of the call is told with its code, and the rest of that text is passed over', () => {
  const { call, channel, text } = openSession();
  call.refusal = new ParleyError('VOICE_UNKNOWN', 'there is no voice "x"', { field: 'voice' });
  text('One', { voice: 'x' });
  text(' two.');
  text(' Three.', { last: true });
  assert.deepEqual(channel.take(), [
    { type: 'error', error: { code: 'VOICE_UNKNOWN', message: 'there is no voice "x"', field: 'voice' } },
  ]);
  call.refusal = new ParleyError('TEXT_EMPTY', 'nothing to speak', { field: 'text' });
  text('...', { last: true });
  text('Four.', { last: true });
  assert.deepEqual(codes(channel.take()), ['TEXT_EMPTY']);
  assert.deepEqual(
    call.texts.map(({ pieces }) => pieces),
    [['Four.']],
  );
});

test('a page is told what a failure of the engine means, and the log has its words', () => {
  const { call, channel, log, text } = openSession();
  const message = 'flite ended: cannot read /srv/models/voice.bin';
  call.refusal = new ParleyError('ENGINE_FAILED', message, { field: 'text' });
  text('One.', { last: true });
  const told = { code: 'ENGINE_FAILED', message: 'the speech engine failed at this text' };
  assert.deepEqual(channel.take(), [{ type: 'error', error: told }]);
  assert.deepEqual(log, [
    `page told of a failure {"call":"rtc_1","code":"ENGINE_FAILED","detail":"${message}"}`,
  ]);
});

test('tokens that together pass the limit are refused whole, with the limit named', async () => {
  const { call, channel, text } = openSession();
  text('Ten chars.');
  text('Ten more. ');
  text('!');
  text('passed over', { last: true });
  text('Short.', { last: true });
  await nextTurn();
  const [message] = channel.take();
  assert.equal(message?.type, 'error');
  assert.match(JSON.stringify(message), /TEXT_TOO_LONG.*20 characters that are allowed".*"field":"token"/);
  assert.deepEqual(
    call.texts.map(({ pieces, state }) => [pieces, state instanceof ParleyError ? state.code : state]),
    [
      [[], 'TEXT_TOO_LONG'],
      [['Short.'], 'complete'],
    ],
  );
});

test('the voice of a text cannot change within it', async () => {
  const { call, channel, text } = openSession();
  text('One ', { voice: 'slt' });
  text('two ', { voice: 'slt' });
  await nextTurn();
  text('three.', { voice: 'awb', last: true });
  text('Four.', { last: true });
  await nextTurn();
  assert.match(JSON.stringify(channel.take()), /INVALID_FIELD.*voice belongs to the first token/);
  assert.deepEqual(
    call.texts.map(({ pieces, state }) => [pieces, state instanceof ParleyError ? state.code : state]),
    [
      [['One two '], 'INVALID_FIELD'],
      [['Four.'], 'complete'],
    ],
  );
});

test('what still comes of a text that ended early begins no other one', async () => {
  const { call, text } = openSession();
  text('One ');
  call.texts[0]?.end('failed');
  await nextTurn();
  text('two ');
  text('three.', { last: true });
  text('Four.', { last: true });
  await nextTurn();
  assert.deepEqual(
    call.texts.map(({ pieces }) => pieces),
    [['One '], ['Four.']],
  );
});

test('figures are sent every second, held back from a page that does not read, and end with the session', () => {
  const { call, channel, time, session } = openSession();
  time.advance(2000);
  assert.deepEqual(channel.take(), [
    { type: 'stats', ...call.stats() },
    { type: 'stats', ...call.stats() },
  ]);
  for (const [bufferedAmount, unacknowledged] of [
    [100_000, 0],
    [0, 1],
  ] as const) {
    Object.assign(channel, { bufferedAmount, unacknowledged });
    time.advance(1000);
    assert.deepEqual(channel.take(), []);
  }
  Object.assign(channel, { bufferedAmount: 0, unacknowledged: 0 });
  session.close();
  session.close();
  time.advance(5000);
  assert.equal(time.waiting, 0);
  assert.deepEqual(channel.take(), []);
  assert.equal(call.observers.size, 0);
});

test('a flood is not read, is answered once a second and gives up the text it tears', async () => {
  const { call, channel, time, text } = openSession();
  for (let count = 0; count < 1000; count++) text('');
  await nextTurn();
  assert.deepEqual(codes(channel.take()), ['QUEUE_FULL']);
  const [torn] = call.texts;
  assert.ok(torn?.state instanceof ParleyError);
  assert.equal(torn.state.code, 'QUEUE_FULL');
  time.advance(1000);
  assert.deepEqual(codes(channel.take()), ['stats']);
  text('passed over', { last: true });
  text('Read.', { last: true });
  assert.deepEqual(call.texts[1]?.pieces, ['Read.']);
  for (let count = 0; count < 1000; count++) text('x', { last: true });
  assert.deepEqual(codes(channel.take()), ['QUEUE_FULL']);
  assert.equal(call.texts.length, 10); // 8 of 10 a second were left
});

test('a page that never reads its events loses its call instead of filling the memory', () => {
  const { call, channel, session, time } = openSession();
  channel.bufferedAmount = 2_000_000;
  session.receive('nonsense');
  assert.deepEqual(call.reasons, ['closed: events unread']);
  assert.equal(time.waiting, 0);
  session.receive('nonsense');
  assert.equal(call.reasons.length, 1);
});

test('a channel that cannot send is logged, and the session goes on', () => {
  const { channel, log, text, call } = openSession();
  channel.broken = true;
  text('One.', { last: true, voice: '' });
  text('Two.', { last: true });
  assert.deepEqual(log, ['event not sent {"call":"rtc_1","type":"error","err":{}}']);
  assert.equal(call.texts.length, 1);
});

test('a text goes on over the next channel, in the utterance that its first token began', async () => {
  const { call, channel, session, text } = openSession();
  text('Half of ');
  session.detach(channel);
  await nextTurn();
  assert.equal(call.texts[0]?.state, 'open');
  const next = new FakeChannel();
  session.attach(next);
  text('a text.', { last: true });
  await nextTurn();
  assert.deepEqual(
    call.texts.map(({ pieces, state }) => ({ pieces, state })),
    [{ pieces: ['Half of ', 'a text.'], state: 'complete' }],
  );
});

const spoken = (utterance: number) =>
  ({ type: 'utterance.spoken', utterance, text: 'Hello.', durationMs: 400 }) as const;

test('events without a channel wait for the next one, behind its ready message, and figures do not', () => {
  const { call, channel, session, time } = openSession();
  session.detach(channel);
  call.emit(spoken(1));
  call.emit(spoken(2));
  time.advance(5000);
  assert.equal(time.waiting, 0);
  const next = new FakeChannel();
  session.attach(next);
  assert.deepEqual(codes(next.sent), ['ready', 'utterance.spoken', 'utterance.spoken']);
  assert.deepEqual(next.sent.slice(1), [spoken(1), spoken(2)]);
  time.advance(1000);
  assert.deepEqual(codes(next.sent).slice(3), ['stats']);
  assert.deepEqual(channel.take(), []);
});

test('events wait while the connection is not heard, and go over the same channel when it is again', () => {
  const { call, channel, session, time } = openSession();
  session.hold(true);
  call.emit(spoken(1));
  time.advance(3000);
  assert.deepEqual(channel.take(), []);
  session.hold(false);
  assert.deepEqual(channel.take(), [spoken(1)]);
});

test('on a thin link figures are sent every five seconds', () => {
  const { call, channel, time } = openSession();
  call.hasThinLink = true;
  time.advance(1000); // planned before
  channel.take();
  time.advance(4999);
  assert.deepEqual(channel.take(), []);
  time.advance(1);
  assert.deepEqual(channel.take(), [{ type: 'stats', ...call.stats() }]);
});

test('events that the page has not acknowledged are repeated on the next channel, before later ones', () => {
  const { call, channel, session, time } = openSession();
  call.emit(spoken(1)); // acknowledged at once
  time.advance(1000); // figures
  channel.unacknowledged = 2;
  call.emit(spoken(2));
  channel.unacknowledged = 3;
  call.emit(spoken(3));
  session.detach(channel);
  call.emit(spoken(4));
  const next = new FakeChannel();
  session.attach(next);
  assert.deepEqual(next.sent.slice(1), [spoken(2), spoken(3), spoken(4)]);
});

test('256 events wait at most, and the page is told how many older ones it missed', () => {
  const { call, channel, session } = openSession();
  session.detach(channel);
  for (let utterance = 1; utterance <= 300; utterance++) call.emit(spoken(utterance));
  const next = new FakeChannel();
  session.attach(next);
  assert.equal(next.sent.length, 258);
  assert.deepEqual(next.sent[1], {
    type: 'error',
    error: { code: 'QUEUE_FULL', message: '44 older events were dropped while the connection was lost' },
  });
  assert.deepEqual(
    next.sent.slice(2),
    Array.from({ length: 256 }, (_, index) => spoken(index + 45)),
  );
});

test('a channel that was replaced has no say any more', () => {
  const { call, channel, session } = openSession();
  const next = new FakeChannel();
  session.attach(next);
  session.detach(channel);
  call.emit(spoken(1));
  assert.deepEqual(codes(next.sent), ['ready', 'utterance.spoken']);
});

function refusal(data: unknown): string {
  try {
    readClientMessage(data);
  } catch (error) {
    assert.ok(error instanceof ParleyError, String(error));
    return `${error.code} ${error.field ?? ''}: ${error.message}`;
  }
  return 'accepted';
}

test('a text message has a token, and the rest of its fields may be absent', () => {
  assert.deepEqual(readClientMessage('{"type":"text","token":"Hel"}'), {
    type: 'text',
    token: 'Hel',
    last: false,
  });
  assert.deepEqual(
    readClientMessage('{"type":"text","token":"","last":true,"voice":"slt","language":"en-US"}'),
    { type: 'text', token: '', last: true, voice: 'slt', language: 'en-US' },
  );
  assert.deepEqual(readClientMessage(' {"type":"clear"} '), { type: 'clear' });
});

test('what is no JSON object of the right size is malformed', () => {
  for (const data of ['', '{', 'null', '7', '"text"', '[]', '[{"type":"clear"}]']) {
    assert.match(refusal(data), /^MALFORMED : a message must be (JSON|a JSON object)$/);
  }
  for (const data of [Buffer.from('{"type":"clear"}'), undefined, 7]) {
    assert.equal(refusal(data), 'MALFORMED : a message must be text, not binary');
  }
  const frame = JSON.stringify({ type: 'text', token: '' }).length;
  const longest = JSON.stringify({ type: 'text', token: 'x'.repeat(MAX_MESSAGE_BYTES - frame) });
  assert.equal(refusal(longest), 'accepted');
  assert.equal(refusal(`${longest} `), 'MALFORMED : a message must not be longer than 65536 bytes');
  assert.match(refusal(JSON.stringify({ type: 'text', token: 'é'.repeat(40_000) })), /not be longer than/);
});

test('a call is listened to with the settings of the page, and no longer when the page says so', () => {
  const { call, say } = openSession();
  say({ type: 'listen', silenceMs: 800, noInputMs: 5000, sensitivity: 'low', ignoreBackchannel: false });
  say({ type: 'listen' });
  say({ type: 'listen', on: false });
  assert.deepEqual(call.listened, [
    { silenceMs: 800, noInputMs: 5000, sensitivity: 'low', ignoreBackchannel: false },
    {},
    undefined,
  ]);
});

test('every field is checked and named', () => {
  for (const [message, said] of [
    ['{}', 'INVALID_FIELD type: type must be one of text, listen, prompt, digit, captions, clear'],
    [
      '{"type":"speak"}',
      'INVALID_FIELD type: type must be one of text, listen, prompt, digit, captions, clear',
    ],
    [
      '{"type":["text"],"token":"a"}',
      'INVALID_FIELD type: type must be one of text, listen, prompt, digit, captions, clear',
    ],
    ['{"type":"text"}', 'INVALID_FIELD token: token must be a string'],
    ['{"type":"text","token":7}', 'INVALID_FIELD token: token must be a string'],
    ['{"type":"text","token":"a","last":1}', 'INVALID_FIELD last: last must be true or false'],
    ['{"type":"text","token":"a","last":null}', 'INVALID_FIELD last: last must be true or false'],
    [
      '{"type":"text","token":"a","voice":""}',
      'INVALID_FIELD voice: voice must be a name of 1 to 100 characters',
    ],
    [
      '{"type":"text","token":"a","language":"en_US"}',
      'INVALID_FIELD language: language must be a language tag such as en or fr-CA',
    ],
    [
      '{"type":"text","token":"a","interruptible":"maybe"}',
      'INVALID_FIELD interruptible: interruptible must be one of none, dtmf, speech, any',
    ],
    [
      '{"type":"listen","silenceMs":50}',
      'INVALID_FIELD silenceMs: silenceMs must be a whole number of milliseconds from 100 to 10000',
    ],
    [
      '{"type":"listen","sensitivity":"loud"}',
      'INVALID_FIELD sensitivity: sensitivity must be one of high, medium, low',
    ],
    [
      '{"type":"text","token":"a","lats":true}',
      'INVALID_FIELD lats: lats is no field of a text message, which has type, token, last, voice, language, interruptible',
    ],
    [
      '{"type":"clear","__proto__":{}}',
      'INVALID_FIELD __proto__: __proto__ is no field of a clear message, which has type',
    ],
  ] as const) {
    assert.equal(refusal(message), said);
  }
});

test('figures wait for at most five seconds for messages on their way, except on a thin link', () => {
  const { call, channel, time } = openSession();
  channel.unacknowledged = 1;
  time.advance(4999);
  assert.deepEqual(channel.take(), []);
  time.advance(1);
  assert.deepEqual(codes(channel.take()), ['stats']);
  time.advance(4999);
  assert.deepEqual(channel.take(), []);
  time.advance(1);
  assert.deepEqual(codes(channel.take()), ['stats']);
  call.hasThinLink = true;
  time.advance(30_000);
  assert.deepEqual(channel.take(), []);
});
