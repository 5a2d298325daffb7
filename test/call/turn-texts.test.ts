// The text of a turn in the events of a call, on a manual clock.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CallerListener } from '../../src/call/caller-texts.js';
import { TurnTexts } from '../../src/call/turn-texts.js';
import type { CallEvent } from '../../src/call/call-events.js';
import { ParleyError } from '../../src/errors.js';
import { ManualTime } from '../fakes/manual-time.js';

const STARTED: CallEvent = { type: 'speech.started', onsetAt: 0 };
const SPOKEN: CallEvent = { type: 'utterance.resumed', utterance: 1 };
const LENGTH = { speechMs: 100, silenceMs: 600 };
const LOST = new ParleyError('ENGINE_FAILED', 'no text');

const ended = (turn: number) => ({ type: 'turn.ended', turn, ...LENGTH, reason: 'silence' }) as const;

function open(isCallerRecognised = true) {
  const time = new ManualTime();
  const told: CallEvent[] = [];
  const listeners: CallerListener[] = [];
  const callerTexts = {
    isCallerRecognised,
    follow: (_call: unknown, listener: CallerListener) => {
      listeners.push(listener);
      return () => void listeners.splice(0);
    },
  };
  const turns = new TurnTexts({ call: {} as never, callerTexts, time, tell: (event) => told.push(event) });
  const of = (number: number) => {
    return { number, ...LENGTH, isByOrder: false, isDistant: false, endOfSpeechMs: 0, decidedMs: 600 };
  };
  const say = (number: number, text: string) =>
    listeners[0]?.said?.({ ...of(number), text, language: 'en', textMs: 700 });
  const lose = (number: number) => listeners[0]?.unsaid?.(of(number), LOST);
  const take = (...events: CallEvent[]) => {
    for (const event of events) turns.take(event);
  };
  return { time, told, turns, listeners, say, lose, take };
}

test('a turn is told with its text, before what the caller does next, and the voice waits for nothing', () => {
  const { told, turns, say, take, time } = open();
  turns.start();
  take(STARTED, ended(0), STARTED, SPOKEN, ended(1));
  assert.deepEqual(told, [STARTED, SPOKEN]);
  say(0, 'I have lost it.');
  const first = { ...ended(0), text: 'I have lost it.', language: 'en' };
  assert.deepEqual(told, [STARTED, SPOKEN, first, STARTED]);
  say(1, '');
  assert.deepEqual(told.at(-1), { ...ended(1), text: '', language: 'en' });
  assert.equal(time.waiting, 0);
});

test('a turn whose text does not come within 3 s, or fails, is told without one', () => {
  const { told, turns, time, listeners, lose, take } = open();
  take(STARTED);
  assert.equal(listeners.length, 1, 'speech begins it');
  take(ended(0));
  time.advance(2999);
  assert.deepEqual(told, [STARTED]);
  time.advance(1);
  take(ended(1));
  lose(1);
  assert.deepEqual(told, [STARTED, ended(0), ended(1)]);
  take(ended(2));
  turns.stop();
  assert.deepEqual([told.length, listeners.length, time.waiting], [4, 0, 0]);
});

test('a turn has its own text, and not one of a turn before it that comes late', () => {
  const { told, time, say, take } = open();
  take(STARTED, ended(0));
  time.advance(3000);
  take(ended(1));
  say(0, 'Too late.');
  say(1, 'In time.');
  assert.deepEqual(told, [STARTED, ended(0), { ...ended(1), text: 'In time.', language: 'en' }]);
});

test('a turn is told once, whether its text or its event comes here first', () => {
  const { told, time, say, lose, take } = open();
  take(STARTED);
  say(0, '');
  take(ended(0));
  lose(1);
  take(ended(1));
  assert.deepEqual(told, [STARTED, { ...ended(0), text: '', language: 'en' }, ended(1)]);
  assert.equal(time.waiting, 0);
});

test('without a recogniser a turn is told at once', () => {
  const { told, turns, listeners, take } = open(false);
  turns.start();
  take(STARTED, ended(0));
  assert.deepEqual([told, listeners], [[STARTED, ended(0)], []]);
});
