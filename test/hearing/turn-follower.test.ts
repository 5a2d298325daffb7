import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HearingSettings } from '../../src/config/hearing-config.js';
import { TurnDetector, type TurnEvent } from '../../src/hearing/turn-detector.js';
import { type CallTurnModel, TurnFollower } from '../../src/hearing/turn-follower.js';
import { WINDOW_SAMPLES } from '../../src/media/ears.js';
import { HEARING_SETTINGS } from '../fakes/hearing-settings.js';

const WINDOW_MS = 32;

interface Script {
  readonly asks?: CallTurnModel['asks'];
  readonly settings?: Partial<HearingSettings>;
  /** Answers of the model, in order; then undefined. */
  readonly answers?: readonly (number | undefined)[];
}

/** A follower whose model notes what it gets: numbers of windows, `ask`, `reset`, `close`. */
function follower({ asks = 'each step', settings = {}, answers = [] }: Script = {}) {
  const turns = new TurnDetector({ ...HEARING_SETTINGS, ...settings });
  const notes: (number | string)[] = [];
  const opened: (string | undefined)[] = [];
  const left = [...answers];
  const held: (() => void)[] = [];
  const state = { isHeld: false };
  const follow = new TurnFollower(turns, {
    open: (language) => {
      opened.push(language);
      if (language === 'fr') return undefined;
      return {
        name: 'toy',
        asks,
        push: (sound) => notes.push(sound[0] ?? NaN),
        ask: async () => {
          notes.push('ask');
          if (state.isHeld) await new Promise<void>((resolve) => held.push(resolve));
          return left.shift();
        },
        reset: () => notes.push('reset'),
        close: () => notes.push('close'),
      };
    },
    close: () => Promise.resolve(),
    names: ['toy'],
  });
  let window = 0;
  const events: TurnEvent[] = [];
  /** The next windows. `change`: what the speech detector found with the last one of them. */
  const pass = async (count: number, change?: 'started' | 'stopped') => {
    for (let n = 1; n <= count; n++) {
      follow.hear(new Float32Array(WINDOW_SAMPLES).fill(++window));
      const endMs = window * WINDOW_MS;
      if (n === count && change === 'started') turns.started(endMs - 2 * WINDOW_MS);
      if (n === count && change === 'stopped') turns.stopped(endMs - 6 * WINDOW_MS);
      events.push(...turns.advance(endMs));
      follow.decided(endMs);
      await Promise.resolve().then(() => undefined);
    }
  };
  /** What the model got since the last call. */
  const taken = () => notes.splice(0);
  const release = async () => {
    for (const resolve of held.splice(0)) resolve();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { follow, turns, pass, taken, events, opened, state, release };
}

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n);

test('a turn begins with the 700 ms before its onset was found, and goes on without a gap', async () => {
  const { pass, taken } = follower();
  await pass(50);
  assert.deepEqual(taken(), []);
  await pass(1, 'started');
  assert.deepEqual(taken(), range(30, 51));
  await pass(40);
  assert.deepEqual(taken(), range(52, 91));
});

test('a call that begins with speech gives what there is', async () => {
  const { pass, taken } = follower();
  await pass(3, 'started');
  assert.deepEqual(taken(), [1, 2, 3]);
});

test('a model is asked when a pause is found, then with every fifth window of the turn', async () => {
  const { pass, taken } = follower();
  await pass(22, 'started');
  await pass(19, 'stopped');
  assert.deepEqual(taken(), [...range(1, 41), 'ask']);
  await pass(10);
  assert.deepEqual(taken(), [...range(42, 45), 'ask', ...range(46, 50), 'ask', 51]);
});

test('a model with a list of silences is asked at each of them once, in every pause anew', async () => {
  const { pass, taken } = follower({ asks: [200, 500, 1000], settings: { silenceMs: 1900 } });
  await pass(22, 'started');
  await pass(18, 'stopped');
  await pass(40);
  const asked: number[] = [];
  const notes = taken();
  notes.forEach((note, at) => note === 'ask' && asked.push(Number(notes[at - 1])));
  // The silence of window n is that of n - 34 windows.
  assert.deepEqual(
    asked.map((window) => (window - 34) * WINDOW_MS),
    [192, 512, 992],
  );
  await pass(1, 'started');
  await pass(20, 'stopped');
  assert.equal(taken().at(-1), 'ask');
});

test('an answer ends the turn as the threshold says, and the next turn begins from nothing', async () => {
  const { pass, taken, events } = follower({ answers: [0.2, 0.95] });
  await pass(22, 'started');
  await pass(19, 'stopped'); // the pause began with window 36
  await pass(4);
  taken();
  await pass(1);
  assert.deepEqual(
    events.map(({ type, atMs }) => [type, atMs]),
    [['turn.ended', 46 * WINDOW_MS]],
  );
  assert.deepEqual(taken(), ['reset']);
  await pass(30, 'started');
  assert.deepEqual(taken(), range(55, 76));
});

test('no answer leaves the silence of the settings', async () => {
  const { pass, events } = follower();
  await pass(22, 'started');
  await pass(19, 'stopped');
  await pass(40);
  assert.equal(events[0]?.atMs, (35 + 19) * WINDOW_MS); // the first window after 600 ms
});

test('one question is open at most, and its answer comes too late for the next pause', async () => {
  const { pass, taken, state, release, events } = follower({ answers: [1] });
  await pass(22, 'started');
  state.isHeld = true;
  await pass(19, 'stopped');
  await pass(8);
  await pass(1, 'started');
  await pass(20, 'stopped');
  assert.deepEqual(
    taken().filter((note) => note === 'ask'),
    ['ask'],
  );
  await release();
  assert.equal(events.length, 0);
  await pass(40);
  assert.equal(events[0]?.atMs, (64 + 19) * WINDOW_MS);
  assert.ok(taken().includes('ask'));
});

test('a turn that is cut because it is too long goes on as a new one for the model', async () => {
  const { pass, taken, events } = follower({ settings: { maxTurnMs: 2000 } });
  await pass(22, 'started');
  await pass(60);
  taken();
  await pass(1); // more than 2 s since the onset, in window 20
  assert.deepEqual(
    events.map(({ type, atMs }) => [type, atMs]),
    [['turn.ended', 20 * WINDOW_MS + 2000]],
  );
  assert.deepEqual(taken(), ['reset', ...range(62, 83)]);
  await pass(1);
  assert.deepEqual(taken(), [84]);
});

test('no sound is followed where no model can move the silence', async () => {
  const fixed = { minSilenceMs: 600, silenceMs: 600, maxSilenceMs: 600 };
  for (const settings of [fixed, { endedByHand: true }]) {
    const { pass, taken, opened } = follower({ settings });
    await pass(22, 'started');
    await pass(40, 'stopped');
    await pass(40);
    assert.deepEqual([...taken(), ...opened], []);
  }
});

test('the language of the call chooses the model of the next turn', async () => {
  const { follow, pass, taken, opened } = follower();
  await pass(22, 'started');
  follow.language = 'en';
  await pass(10);
  assert.deepEqual(opened, [undefined]);
  await pass(20, 'stopped');
  await pass(30);
  await pass(1, 'started');
  assert.deepEqual(opened, [undefined, 'en']);
  follow.language = 'en';
  await pass(20, 'stopped');
  await pass(30);
  await pass(1, 'started');
  assert.deepEqual(opened, [undefined, 'en']);
  follow.language = 'fr';
  await pass(20, 'stopped');
  await pass(30);
  taken();
  await pass(1, 'started');
  await pass(20, 'stopped');
  assert.deepEqual(opened, [undefined, 'en', 'fr']);
  assert.deepEqual(taken(), ['close']);
});

test('a call that is over closes its model once, and asks it nothing', async () => {
  const { follow, pass, taken } = follower();
  await pass(22, 'started');
  taken();
  follow.close();
  follow.close();
  await pass(20, 'stopped');
  assert.deepEqual(taken(), ['close']);
});
