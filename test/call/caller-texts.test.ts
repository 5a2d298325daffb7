// The caller's speech on its way to the recogniser in a call that the test plays, where only orders end
// turns.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PcmRing } from '../../src/audio/pcm-ring.js';
import { type CallerListener, CallerTexts } from '../../src/call/caller-texts.js';
import type { MediaPort } from '../../src/call/call-route.js';
import type { CallEvent } from '../../src/call/call-events.js';
import { ManualTime } from '../fakes/manual-time.js';
import { ScriptedRecogniser } from '../transcribing/scripted-recogniser.js';

const SPEECH: CallEvent = { type: 'speech.started', onsetAt: 0 };
const PAUSE: CallEvent = { type: 'speech.stopped', durationMs: 100 };
const SILENCE: CallEvent = { type: 'turn.ended', turn: 0, speechMs: 100, silenceMs: 600, reason: 'silence' };
const ORDER: CallEvent = { type: 'turn.ended', turn: 0, speechMs: 0, silenceMs: 0, reason: 'client' };
const BY_HAND = { byHand: 'open' } as const;
const CLOSED = { byHand: 'closed' } as const;

function open() {
  const observers = new Set<(event: CallEvent) => void>();
  const rings: PcmRing[] = [];
  const socket = {
    openEar: () => {
      const ring = PcmRing.open(16_000, 64_000);
      rings.push(ring);
      return ring;
    },
    closeEar: () => undefined,
  };
  const call = {
    id: 'call_1',
    turn: 0,
    closed: new Promise<string>(() => undefined),
    observe: (observer: (event: CallEvent) => void) => {
      observers.add(observer);
      return () => void observers.delete(observer);
    },
    follow: (follower: (port: MediaPort) => void) => {
      follower({ socket } as unknown as MediaPort);
      return () => undefined;
    },
    hear: () => () => undefined,
  };
  const recogniser = new ScriptedRecogniser();
  const callerTexts = new CallerTexts({ recogniser, time: new ManualTime(0) });
  const finals: [number, string][] = [];
  const listener: CallerListener = {
    said: ({ number, text }) => void finals.push([number, text]),
    unsaid: () => assert.fail(),
    failed: () => assert.fail(),
  };
  return {
    recogniser,
    finals,
    follow: (expected: Parameters<CallerTexts['follow']>[2]) => callerTexts.follow(call, listener, expected),
    tell: (...events: CallEvent[]) => {
      for (const event of events) {
        const told = event.type === 'turn.ended' ? { ...event, turn: call.turn++ } : event;
        for (const observer of observers) observer(told);
      }
    },
    /** Each ear hears as many samples. */
    hear: (samples: number) => {
      for (const ring of rings) ring.write(new Float32Array(samples));
    },
    orders: (session = 0) => recogniser.opened[session]?.orders ?? assert.fail(),
  };
}

const tick = () => new Promise((resolve) => setImmediate(resolve));

test('a turn that only an order ends has all the sound since the one before, whatever voice activity finds', async () => {
  const { follow, tell, hear, orders, finals } = open();
  follow(BY_HAND);
  hear(1000);
  tell(ORDER);
  hear(1000);
  tell(SPEECH, PAUSE);
  hear(1000);
  tell(ORDER);
  await tick();
  assert.deepEqual(orders(), [
    ['begin', 0],
    ['end', 1000],
    ['begin', 1000],
    ['end', 3000],
    ['begin', 3000],
  ]);
  assert.deepEqual(finals, [
    [0, 'turn 0'],
    [1, 'turn 1'],
  ]);
});

test('an order without sound since the one before has a text of its own, in its order', async () => {
  const { follow, tell, hear, orders, finals } = open();
  follow(BY_HAND);
  hear(1000);
  tell(ORDER, ORDER);
  hear(1000);
  tell(ORDER);
  await tick();
  assert.equal(orders().filter(([order]) => order === 'end').length, 2);
  assert.deepEqual(finals, [
    [0, 'turn 0'],
    [1, ''],
    [2, 'turn 1'],
  ]);
});

test('voice activity finds the turns again once the client gives them back, without the sound of before', async () => {
  const { follow, tell, hear, orders, finals } = open();
  const stop = follow(BY_HAND);
  hear(1000);
  follow({});
  stop();
  hear(1000);
  tell(SPEECH);
  hear(1000);
  tell(PAUSE, SILENCE);
  await tick();
  assert.deepEqual(orders(), [
    ['begin', 0],
    ['end', 1000],
    ['begin', 2000],
    ['pause', 3000],
    ['end', 3000],
  ]);
  assert.deepEqual(finals, [[0, 'turn 1']]); // the sound of before was no turn
  follow(BY_HAND);
  assert.deepEqual(orders().at(-1), ['begin', 3000]);
});

test('another language holds from the next turn on, and texts come in the order of the turns', async () => {
  const { follow, tell, hear, orders, finals, recogniser } = open();
  const stop = follow({ ...BY_HAND, language: 'en' });
  hear(1000);
  follow({ ...BY_HAND, language: 'de' });
  stop();
  assert.equal(recogniser.opened.length, 1); // what was said keeps its language
  hear(1000);
  tell(ORDER);
  assert.deepEqual(orders(0), [
    ['begin', 0],
    ['end', 2000],
  ]);
  assert.equal(recogniser.opened[1]?.options.language, 'de');
  assert.deepEqual(orders(1), [['begin', 0]]);
  hear(500);
  tell(ORDER);
  await tick();
  assert.deepEqual(finals, [
    [0, 'turn 0'],
    [1, 'turn 0'], // of the next session
  ]);
  assert.equal(recogniser.opened[0]?.closed, true);
});

test('a turn begins with the sound that belongs to it, and another language holds at once before that', async () => {
  const { follow, tell, hear, orders, finals, recogniser } = open();
  let stop = follow(CLOSED);
  const change = (expected: Parameters<CallerTexts['follow']>[2]) => {
    const stopBefore = stop;
    stop = follow(expected);
    stopBefore();
  };
  hear(1000);
  tell(SPEECH, PAUSE);
  change({ ...CLOSED, language: 'de' });
  assert.deepEqual(
    recogniser.opened.map(({ options, orders: all }) => [options.language, all.length]),
    [
      [undefined, 0],
      ['de', 0],
    ],
  );
  hear(1000);
  change({ ...BY_HAND, language: 'de' });
  hear(1000);
  change({ ...CLOSED, language: 'de' });
  hear(1000);
  tell(ORDER);
  hear(1000);
  await tick();
  assert.deepEqual(orders(1), [
    ['begin', 1000],
    ['end', 3000],
  ]);
  assert.deepEqual(finals, [[0, 'turn 0']]);
});
