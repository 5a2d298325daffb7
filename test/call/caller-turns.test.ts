// Turns of the caller and their texts, joined by number, on a manual clock.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CallerTurn, CallerTurns, type TurnListener } from '../../src/call/caller-turns.js';
import { ParleyError } from '../../src/errors.js';
import { ManualTime } from '../fakes/manual-time.js';
import { rejectionsOf } from '../fakes/rejections.js';

const LOST = new ParleyError('ENGINE_LOST', 'gone');

function open() {
  const time = new ManualTime(10_000);
  const told: string[] = [];
  const listener: TurnListener = {
    turnEnded: ({ number }) => void told.push(`ended ${number}`),
    said: ({ number, text }) => void told.push(`said ${number} ${text}`),
    unsaid: ({ number }, { code }) => void told.push(`unsaid ${number} ${code}`),
  };
  const turns = new CallerTurns(time, new Set([listener]), (turn) => void told.push(`late ${turn}`));
  const end = (turn: number) =>
    turns.ended({ type: 'turn.ended', turn, speechMs: 900, silenceMs: 600, reason: 'silence' });
  const hear = (turn: number, text: string) => turns.heard(turn, { text, language: undefined });
  return { time, turns, told, end, hear };
}

test('each turn has its own text, in the order of the turns, however the texts come', () => {
  const { told, end, hear, turns, time } = open();
  for (const turn of [3, 4, 5]) end(turn);
  hear(4, 'second');
  hear(3, 'first');
  turns.lost(5, LOST);
  assert.deepEqual(told.slice(3), ['said 3 first', 'said 4 second', 'unsaid 5 ENGINE_LOST']);
  assert.equal(time.waiting, 0);
});

test('a text that comes after its limit of 8 s, or of no turn that is over, is given to no turn', () => {
  const { told, end, hear, time } = open();
  end(0);
  time.advance(7999);
  assert.deepEqual(told, ['ended 0']);
  time.advance(1);
  end(1);
  hear(0, 'late');
  hear(7, 'of nobody');
  hear(1, 'in time');
  assert.deepEqual(told, ['ended 0', 'late 0', 'unsaid 0 TIMEOUT', 'ended 1', 'said 1 in time']);
});

test('a turn tells its times, and its end is before it was found to be over', () => {
  const time = new ManualTime(10_000);
  const told: unknown[] = [];
  const turns = new CallerTurns(time, new Set([{ said: (turn: CallerTurn) => void told.push(turn) }]));
  turns.ended({ type: 'turn.ended', turn: 0, speechMs: 900, silenceMs: 600, reason: 'client' });
  time.advance(30);
  turns.heard(0, { text: 'Yes.', language: 'en' });
  assert.deepEqual(told, [
    {
      number: 0,
      text: 'Yes.',
      language: 'en',
      speechMs: 900,
      silenceMs: 600,
      isByOrder: true,
      isDistant: false,
      endOfSpeechMs: 9400,
      decidedMs: 10_000,
      textMs: 10_030,
    },
  ]);
});

test('nothing is told of turns that wait once nobody follows, and no timer is left', () => {
  const { told, end, hear, turns, time } = open();
  end(0);
  turns.close();
  hear(0, 'late');
  assert.deepEqual([told, time.waiting], [['ended 0'], 0]);
});

test('a listener that throws keeps no other from the turns and their texts', async () => {
  const time = new ManualTime(0);
  const told: string[] = [];
  const fail = () => {
    throw new Error('a defect');
  };
  const listeners: TurnListener[] = [
    { turnEnded: fail, said: fail, unsaid: fail },
    {
      turnEnded: ({ number }) => void told.push(`ended ${number}`),
      said: ({ text }) => void told.push(`said ${text}`),
      unsaid: (_turn, { code }) => void told.push(`unsaid ${code}`),
    },
  ];
  const turns = new CallerTurns(time, new Set(listeners));
  const rejections = await rejectionsOf(() => {
    for (const turn of [0, 1])
      turns.ended({ type: 'turn.ended', turn, speechMs: 900, silenceMs: 600, reason: 'silence' });
    turns.heard(0, { text: 'Yes.', language: undefined });
    time.advance(8000); // the second turn has no text in time
  });
  assert.deepEqual(told, ['ended 0', 'ended 1', 'said Yes.', 'unsaid TIMEOUT']);
  assert.deepEqual(rejections.map(String), Array(4).fill('Defect: texts of the caller: a defect'));
});

test('a listener that another one adds while a turn is told is not told of it, and a removed one neither', () => {
  const told: string[] = [];
  const removed: TurnListener = { turnEnded: () => void told.push('removed') };
  const added: TurnListener = { turnEnded: ({ number }) => void told.push(`added ${number}`) };
  const listeners = new Set<TurnListener>();
  const first: TurnListener = {
    turnEnded: ({ number }) => {
      told.push(`first ${number}`);
      listeners.delete(removed);
      listeners.add(added);
    },
  };
  listeners.add(first).add(removed);
  const turns = new CallerTurns(new ManualTime(0), listeners);
  for (const turn of [0, 1])
    turns.ended({ type: 'turn.ended', turn, speechMs: 900, silenceMs: 600, reason: 'silence' });
  assert.deepEqual(told, ['first 0', 'first 1', 'added 1']);
  turns.close();
});
