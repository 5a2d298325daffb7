// The text of a turn in the events of a call, on a manual clock.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CallerListener } from '../../src/call/caller-texts.js';
import { TurnTexts } from '../../src/call/turn-texts.js';
import type { CallEvent } from '../../src/call/utterance.js';
import { ParleyError } from '../../src/errors.js';
import { ManualTime } from '../fakes/manual-time.js';

const STARTED: CallEvent = { type: 'speech.started', onsetAt: 0 };
const ENDED: CallEvent = { type: 'turn.ended', speechMs: 100, silenceMs: 600, reason: 'silence' };
const SPOKEN: CallEvent = { type: 'utterance.resumed', utterance: 1 };

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
  const find = (text: string, isFinal = true) =>
    listeners[0]?.text({ number: 0, text, isFinal, language: 'en', beginMs: 0, endMs: 0 });
  return { time, told, turns, listeners, find };
}

test('a turn is told with its text, before what the caller does next, and the voice waits for nothing', () => {
  const { told, turns, find, time } = open();
  turns.start();
  for (const event of [STARTED, ENDED, STARTED, SPOKEN, ENDED]) turns.take(event);
  assert.deepEqual(told, [STARTED, SPOKEN]);
  find('I have', false);
  find('I have lost it.');
  const first = { ...ENDED, text: 'I have lost it.', language: 'en' };
  assert.deepEqual(told, [STARTED, SPOKEN, first, STARTED]);
  find('');
  assert.deepEqual(told.at(-1), { ...ENDED, text: '', language: 'en' });
  assert.equal(time.waiting, 0);
});

test('a turn whose text does not come within 3 s, or fails, is told without one', () => {
  const { told, turns, time, listeners } = open();
  turns.take(STARTED);
  assert.equal(listeners.length, 1, 'speech begins it');
  turns.take(ENDED);
  time.advance(2999);
  assert.deepEqual(told, [STARTED]);
  time.advance(1);
  turns.take(ENDED);
  listeners[0]?.failed(new ParleyError('ENGINE_FAILED', 'no text'));
  assert.deepEqual(told, [STARTED, ENDED, ENDED]);
  turns.take(ENDED);
  turns.stop();
  assert.deepEqual([told.length, listeners.length, time.waiting], [4, 0, 0]);
});

test('without a recogniser a turn is told at once', () => {
  const { told, turns, listeners } = open(false);
  turns.start();
  turns.take(STARTED);
  turns.take(ENDED);
  assert.deepEqual([told, listeners], [[STARTED, ENDED], []]);
});
