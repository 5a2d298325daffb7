// A page gets the caller's words and the times of the voice's words, once it asks for them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DataChannelSession, readClientMessage } from '../../signaling/data-channel.js';
import type { CallerListener } from '../../src/call/caller-texts.js';
import { ParleyError } from '../../src/errors.js';
import { ManualTime } from '../fakes/manual-time.js';
import { FakeCall, FakeChannel } from './talking-call.js';
import { SILENT_LOG } from '../../src/log.js';

const LIMITS = { maxTextLength: 20, messages: { perSecond: 10, burst: 20 } };
const STARTED = { type: 'sentence.started', utterance: 3, sentence: 1, text: 'Good morning.' } as const;
const TIMES = [
  { word: 'Good', textOffset: 0, startMs: 12.4, endMs: 260.6 },
  { word: 'morning', textOffset: 5, startMs: 300.2 },
];

function openSession({ isCallerRecognised = true } = {}) {
  const call = new FakeCall();
  call.times.set(1, TIMES);
  const channel = new FakeChannel();
  const time = new ManualTime(5000);
  const followers = new Set<CallerListener>();
  const followCaller = (listener: CallerListener) => {
    followers.add(listener);
    return () => void followers.delete(listener);
  };
  const session = new DataChannelSession(call, {
    limits: LIMITS,
    time,
    log: SILENT_LOG,
    followCaller: isCallerRecognised ? followCaller : undefined,
  });
  session.attach(channel);
  channel.take();
  return {
    call,
    time,
    channel,
    session,
    followers,
    choose: (more: object = {}) => session.receive(JSON.stringify({ type: 'captions', ...more })),
    hears: (number: number, text: string, isFinal: boolean, language?: string) => {
      for (const follower of followers)
        follower.text?.({ number, text, isFinal, language, beginMs: 0, endMs: 0 });
    },
  };
}

test('a page that asks for nothing is told nothing new', () => {
  const { call, channel, followers } = openSession();
  call.emit(STARTED);
  assert.deepEqual(channel.take(), [STARTED]);
  assert.equal(followers.size, 0);
});

test('the words of a sentence are told behind its beginning, with their places and whole milliseconds', () => {
  const { call, channel, choose } = openSession();
  choose();
  assert.deepEqual(channel.take(), [{ type: 'captions', caller: true, words: true }]);
  call.emit(STARTED);
  const words = [
    { start: 0, end: 4, startMs: 12, endMs: 261 },
    { start: 5, end: 12, startMs: 300 },
  ];
  assert.deepEqual(channel.take(), [STARTED, { type: 'sentence.words', utterance: 3, sentence: 1, words }]);
});

test('nothing is told of words whose times the engine never knows, and they are not looked for without end', () => {
  const { call, time, channel, choose } = openSession();
  call.times.clear();
  choose();
  channel.take();
  call.emit(STARTED);
  time.advance(2540); // 20, 40, 80 … 1280 ms
  call.times.set(1, TIMES);
  time.advance(60_000);
  const late = channel.take().filter(({ type }) => type !== 'stats');
  assert.deepEqual(late, [STARTED]);
});

test('times that the engine knows a little later are told then', () => {
  const { call, time, channel, choose } = openSession();
  call.times.clear();
  choose();
  channel.take();
  call.emit(STARTED);
  time.advance(19);
  call.times.set(1, TIMES);
  assert.deepEqual(channel.take(), [STARTED]);
  time.advance(1);
  assert.deepEqual(
    channel.take().map(({ type }) => type),
    ['sentence.words'],
  );
  time.advance(900);
  assert.deepEqual(channel.take(), [], 'they are told once');
});

const ENDS = [
  { ...STARTED, type: 'sentence.spoken' },
  { type: 'utterance.interrupted', utterance: 3, text: '', heard: '', durationMs: 0 },
  { ...STARTED, sentence: 2 },
] as const;
for (const end of ENDS)
  test(`no times are told of a sentence after ${end.type} ${'sentence' in end ? end.sentence : ''}`, () => {
    const { call, time, channel, choose } = openSession();
    call.times.clear();
    choose();
    channel.take();
    call.emit(STARTED);
    call.emit(end);
    call.times.set(1, TIMES);
    time.advance(900);
    assert.deepEqual(channel.take(), [STARTED, end]);
  });

test('the end of another utterance, which waited, changes nothing', () => {
  const { call, time, channel, choose } = openSession();
  call.times.clear();
  choose();
  call.emit(STARTED);
  call.emit({ type: 'utterance.failed', utterance: 4, text: '', error: { code: 'TIMEOUT', message: '' } });
  call.times.set(1, TIMES);
  time.advance(900);
  assert.equal(channel.take().at(-1)?.type, 'sentence.words');
});

test('what the caller says is told while it is said, and once more when it is final', () => {
  const { channel, choose, hears } = openSession();
  choose();
  channel.take();
  hears(0, 'Do you', false);
  hears(0, 'Do you sell tea?', true, 'en');
  hears(1, 'Yes', false, 'en');
  assert.deepEqual(channel.take(), [
    { type: 'caller.text', number: 0, text: 'Do you', isFinal: false },
    { type: 'caller.text', number: 0, text: 'Do you sell tea?', isFinal: true, language: 'en' },
    { type: 'caller.text', number: 1, text: 'Yes', isFinal: false, language: 'en' },
  ]);
});

test('a noise is not told, unless something of it was: that is taken back', () => {
  const { channel, choose, hears } = openSession();
  choose();
  channel.take();
  hears(0, '', false);
  hears(0, '', true);
  assert.deepEqual(channel.take(), []);
  hears(1, 'Hm', false);
  hears(1, '', true);
  hears(1, '', true);
  assert.deepEqual(channel.take(), [
    { type: 'caller.text', number: 1, text: 'Hm', isFinal: false },
    { type: 'caller.text', number: 1, text: '', isFinal: true },
  ]);
});

test('a server without a recogniser says that it tells words only', () => {
  const { call, channel, choose } = openSession({ isCallerRecognised: false });
  choose();
  call.emit(STARTED);
  const [chosen, ...others] = channel.take();
  assert.deepEqual(chosen, { type: 'captions', caller: false, words: true });
  assert.deepEqual(
    others.map(({ type }) => type),
    ['sentence.started', 'sentence.words'],
  );
});

test('a page may leave one of them out, change its mind, and end both', () => {
  const { call, channel, followers, choose, hears } = openSession();
  choose({ words: false });
  choose({ words: false });
  assert.equal(followers.size, 1, 'the caller is followed once');
  call.emit(STARTED);
  choose({ caller: false });
  assert.equal(followers.size, 0);
  hears(0, 'Hello?', true);
  choose({ on: false });
  call.emit(STARTED);
  assert.deepEqual(channel.take(), [
    { type: 'captions', caller: true, words: false },
    { type: 'captions', caller: true, words: false },
    STARTED,
    { type: 'captions', caller: false, words: true },
    { type: 'captions', caller: false, words: false },
    STARTED,
  ]);
});

test('while the page has no channel, final texts wait for the next one, and texts that change do not', () => {
  const { channel, session, choose, hears } = openSession();
  choose();
  channel.take();
  session.detach(channel);
  hears(0, 'Are you', false);
  hears(0, 'Are you there?', true);
  session.attach(channel);
  assert.deepEqual(
    channel.take().map((message) => (message.type === 'caller.text' ? message.text : message.type)),
    ['ready', 'Are you there?'],
  );
});

test('a recogniser that fails is an error, and the texts go on with the next one', () => {
  const { channel, followers, choose, hears } = openSession();
  choose();
  channel.take();
  for (const { failed } of followers) failed?.(new ParleyError('ENGINE_FAILED', 'the recogniser is gone'));
  hears(4, 'Hello?', true);
  assert.deepEqual(channel.take(), [
    {
      type: 'error',
      error: { code: 'ENGINE_FAILED', message: 'the speech engine failed at this text' },
    },
    { type: 'caller.text', number: 4, text: 'Hello?', isFinal: true },
  ]);
});

test('the caller is followed no longer than the session lives', () => {
  const { session, followers, choose } = openSession();
  choose();
  session.close();
  assert.equal(followers.size, 0);
  choose();
  assert.equal(followers.size, 0);
});

test('fields of another kind are refused by name', () => {
  const read = (fields: object) => () => readClientMessage(JSON.stringify({ type: 'captions', ...fields }));
  for (const field of ['on', 'caller', 'words'])
    assert.throws(read({ [field]: 'yes' }), {
      code: 'INVALID_FIELD',
      field,
      message: `${field} must be true or false`,
    });
  assert.throws(read({ voice: true }), {
    code: 'INVALID_FIELD',
    field: 'voice',
    message: 'voice is no field of a captions message, which has type, on, caller, words',
  });
});
