import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HearingSettings } from '../../src/config/hearing-config.js';
import { HEARING_SETTINGS } from '../fakes/hearing-settings.js';
import { TurnDetector, type TurnEvent } from '../../src/hearing/turn-detector.js';

function detector(settings: Partial<HearingSettings> = {}) {
  const turns = new TurnDetector({ ...HEARING_SETTINGS, ...settings });
  /** Events up to this time, looked for every 10 ms. */
  let nowMs = 0;
  const until = (ms: number): TurnEvent[] => {
    const events: TurnEvent[] = [];
    for (; nowMs < ms; nowMs += 10) events.push(...turns.advance(nowMs));
    return events;
  };
  /** Speech between two times. */
  const speak = (fromMs: number, toMs: number): TurnEvent[] => {
    const before = until(fromMs);
    turns.started(fromMs);
    const events = [...before, ...until(toMs)];
    turns.stopped(toMs);
    return events;
  };
  return { turns, until, speak };
}

test('a turn ends after 600 ms of silence, and tells its onset and the length of its speech', () => {
  const { until, speak } = detector();
  assert.deepEqual(speak(1000, 2000), []);
  assert.deepEqual(until(2600), []);
  assert.deepEqual(until(2610), [
    { type: 'turn.ended', atMs: 2600, startedMs: 1000, speechMs: 1000, reason: 'silence' },
  ]);
  assert.deepEqual(until(10_000), []);
});

test('a pause that is shorter than the silence belongs to the turn, but not to its speech', () => {
  const { until, speak } = detector();
  assert.deepEqual([...speak(0, 500), ...speak(1000, 1500)], []);
  assert.deepEqual(until(3000), [
    { type: 'turn.ended', atMs: 2100, startedMs: 0, speechMs: 1000, reason: 'silence' },
  ]);
});

test('speech below the minimum is a noise and no turn, but short words add up', () => {
  const { until, speak } = detector({ minSpeechMs: 250 });
  speak(0, 240);
  assert.deepEqual(until(3000), []);
  speak(3000, 3200);
  speak(3400, 3500);
  assert.deepEqual(until(5000), [
    { type: 'turn.ended', atMs: 4100, startedMs: 3000, speechMs: 300, reason: 'silence' },
  ]);
});

for (const [hint, silenceMs] of [
  ['finished', 300],
  ['unfinished', 2000],
  [undefined, 600],
] as const) {
  test(`the hint ${hint} ends the turn after ${silenceMs} ms of silence`, () => {
    const { turns, until, speak } = detector();
    speak(0, 1000);
    turns.hint(hint);
    const [event] = until(5000);
    assert.equal(event?.atMs, 1000 + silenceMs);
  });
}

test('a hint is about the words before: speech that follows makes it void', () => {
  const { turns, until, speak } = detector();
  speak(0, 1000);
  turns.hint('unfinished');
  speak(1500, 2000);
  assert.equal(until(5000)[0]?.atMs, 2600);
});

test('where the text of each pause will be known, a turn waits for it, and then ends by what it says', () => {
  for (const [hint, knownMs, endMs] of [
    ['finished', 250, 300],
    ['finished', 900, 900],
    [undefined, 250, 600],
    [undefined, 900, 900],
    ['unfinished', 250, 2000],
  ] as const) {
    const { turns, until, speak } = detector();
    turns.awaitsTexts = true;
    speak(0, 1000);
    assert.deepEqual(until(1000 + knownMs), []);
    turns.hint(hint, 1000);
    assert.equal(until(5000)[0]?.atMs, 1000 + endMs, `${hint} after ${knownMs} ms`);
  }
});

test('a text that never comes, or is that of a pause before, holds a turn for two seconds at most', () => {
  for (const [maxSilenceMs, endMs] of [
    [2000, 4000],
    [30_000, 4000],
    [900, 2900],
  ] as const) {
    const { turns, until, speak } = detector({ maxSilenceMs });
    turns.awaitsTexts = true;
    speak(0, 1000);
    speak(1500, 2000);
    turns.hint('finished', 1000);
    assert.equal(until(9000)[0]?.atMs, endMs);
  }
});

test('a text while the caller speaks is no text of the pause that follows', () => {
  const { turns, until, speak } = detector();
  turns.awaitsTexts = true;
  speak(0, 1000);
  turns.hint('finished');
  assert.deepEqual(until(2000), []);
  turns.hint('finished', 1000);
  assert.equal(until(5000)[0]?.atMs, 2000);
});

test('a noise is no turn after the usual silence, whatever texts are awaited', () => {
  const { turns, until, speak } = detector();
  turns.awaitsTexts = true;
  speak(0, 100);
  until(720);
  speak(720, 900);
  assert.deepEqual(until(9000), []);
});

test('the answer of an end-of-turn model moves the silence between its bounds', () => {
  for (const [finished, silenceMs] of [
    [1, 300],
    [0.5, 1150],
    [0, 2000],
    [7, 300],
  ] as const) {
    const { turns, until, speak } = detector();
    speak(0, 1000);
    turns.answer(turns.pause, finished);
    assert.equal(until(5000)[0]?.atMs, 1000 + silenceMs);
  }
});

test('an answer that comes after the caller went on, or is no number, is ignored', () => {
  const { turns, until, speak } = detector();
  speak(0, 1000);
  const { pause } = turns;
  speak(1200, 1500);
  turns.answer(pause, 0);
  turns.answer(turns.pause, NaN);
  assert.equal(until(5000)[0]?.atMs, 2100);
});

test('an answer that comes after the turn has ended changes nothing', () => {
  const { turns, until, speak } = detector();
  speak(0, 1000);
  const { pause } = turns;
  assert.equal(until(2000)[0]?.atMs, 1600);
  assert.equal(turns.pause, undefined);
  turns.answer(pause, 0);
  assert.equal(turns.silenceMs, 600);
});

test('the longest turn is cut, and speech that goes on is the next turn', () => {
  const { turns, until } = detector({ maxTurnMs: 5000 });
  until(1000);
  turns.started(1000);
  assert.deepEqual(until(7000), [
    { type: 'turn.ended', atMs: 6000, startedMs: 1000, speechMs: 5000, reason: 'longest' },
  ]);
  turns.stopped(7000);
  assert.deepEqual(until(9000), [
    { type: 'turn.ended', atMs: 7600, startedMs: 6000, speechMs: 1000, reason: 'silence' },
  ]);
});

test('maxTurnMs 0 is no limit', () => {
  const { turns, until } = detector({ maxTurnMs: 0 });
  turns.started(0);
  assert.deepEqual(until(600_000), []);
});

test('a turn that is ended by hand ends by order only, however long its pauses are', () => {
  const { turns, until, speak } = detector({ endedByHand: true });
  assert.deepEqual([...speak(1000, 2000), ...speak(70_000, 70_100), ...until(90_000)], []);
  const end = { type: 'turn.ended', atMs: 90_000, startedMs: 1000, speechMs: 1100, reason: 'client' };
  assert.deepEqual(turns.end(90_000), end);
  assert.deepEqual(turns.end(95_000), { ...end, atMs: 95_000, startedMs: 95_000, speechMs: 0 });
});

test('speech that lasts while its turn is ended by order is the next turn', () => {
  const { turns, until } = detector();
  until(1000);
  turns.started(1000);
  until(3000);
  const end = { type: 'turn.ended', atMs: 3000, startedMs: 1000, speechMs: 2000, reason: 'client' };
  assert.deepEqual(turns.end(3000), end);
  turns.stopped(4000);
  assert.deepEqual(until(6000), [
    { type: 'turn.ended', atMs: 4600, startedMs: 3000, speechMs: 1000, reason: 'silence' },
  ]);
});

test('turns that were ended by hand end by silence again when the settings say so', () => {
  const { turns, until, speak } = detector({ endedByHand: true });
  speak(1000, 2000);
  assert.deepEqual(until(5000), []);
  turns.settings = HEARING_SETTINGS;
  assert.deepEqual(until(5010), [
    { type: 'turn.ended', atMs: 5000, startedMs: 1000, speechMs: 1000, reason: 'silence' },
  ]);
});

test('no_input comes once, noInputMs after awaitInput', () => {
  const { turns, until } = detector({ noInputMs: 3000 });
  assert.deepEqual(until(5000), []);
  turns.awaitInput(5000);
  assert.deepEqual(until(20_000), [{ type: 'no_input', atMs: 8000 }]);
});

test('speech ends the wait for input, a noise does not', () => {
  const spoken = detector({ noInputMs: 3000 });
  spoken.turns.awaitInput(0);
  spoken.speak(2800, 3400);
  assert.deepEqual(
    spoken.until(20_000).map(({ type }) => type),
    ['turn.ended'],
  );
  const noisy = detector({ noInputMs: 3000 });
  noisy.turns.awaitInput(0);
  noisy.speak(2900, 3050);
  assert.deepEqual(noisy.until(20_000), [{ type: 'no_input', atMs: 3650 }]);
});

test('without a no-input time in the settings awaitInput waits for ever', () => {
  const { turns, until } = detector();
  turns.awaitInput(0);
  assert.deepEqual(until(100_000), []);
});

/** A pause of a turn from 1,000 ms on, in which a model estimates at these milliseconds of silence. */
function paused(estimates: Readonly<Record<number, number>>, settings: Partial<HearingSettings> = {}) {
  const { turns, until, speak } = detector(settings);
  speak(0, 1000);
  for (const [silenceMs, probability] of Object.entries(estimates)) {
    const events = until(1000 + Number(silenceMs));
    if (events[0] !== undefined) return events[0].atMs - 1000;
    turns.estimated(turns.pause, probability);
  }
  return (until(60_000)[0]?.atMs ?? NaN) - 1000;
}

test('the surer a model is of the end, the less silence it takes', () => {
  for (const [probability, silenceMs] of [
    [1, 300],
    [0.9, 300],
    [0.8, 440],
    [0.6, 900],
    [0.45, 1250],
    [0.43, 1300],
    [0.1, 1300],
    [0.09, 2000],
    [0, 2000],
  ] as const) {
    assert.equal(paused({ 200: probability }), silenceMs, `${probability}`);
  }
});

test('the last estimate of a pause decides, or the highest one once the silence is long', () => {
  assert.equal(paused({ 200: 0.2, 360: 0.3, 520: 0.9 }), 520);
  assert.equal(paused({ 200: 0.6, 360: 0.05 }), 1300);
  assert.equal(paused({ 200: 0.05, 500: 0.08, 1000: 0.2 }), 1300);
  assert.equal(paused({ 200: 0.05, 500: 0.08, 1500: 0.2 }), 1500);
});

test('the bounds of the settings hold for every estimate', () => {
  const wide = { minSilenceMs: 100, silenceMs: 600, maxSilenceMs: 10_000 };
  assert.equal(paused({ 200: 1 }, wide), 200);
  assert.equal(paused({ 200: 0.01 }, wide), 10_000);
  const narrow = { minSilenceMs: 500, silenceMs: 600, maxSilenceMs: 700 };
  assert.equal(paused({ 200: 1 }, narrow), 500);
  assert.equal(paused({ 200: 0 }, narrow), 700);
});

test('words that finish or go on decide, unless a model is sure of the contrary', () => {
  for (const [hint, endMs] of [
    ['finished', 300],
    ['unfinished', 2000],
    [undefined, 900],
  ] as const) {
    for (const probability of hint === 'unfinished' ? [0, 0.6, 0.79] : [0.15, 0.6, 0.79]) {
      const { turns, until, speak } = detector();
      speak(0, 1000);
      turns.estimated(turns.pause, probability);
      turns.answer(turns.pause, probability);
      turns.hint(hint);
      if (hint !== undefined) assert.equal(until(5000)[0]?.atMs, 1000 + endMs, `${hint} ${probability}`);
    }
    const { turns, until, speak } = detector();
    turns.awaitsTexts = true;
    speak(0, 1000);
    turns.estimated(turns.pause, 0.6);
    assert.deepEqual(until(1250), []);
    turns.hint(hint, 1000);
    assert.equal(until(5000)[0]?.atMs, 1000 + endMs, `${hint} of a pause`);
  }
});

test('a sure model ends a number after 500 ms, and keeps a sentence open for 1.3 s', () => {
  const silences = (['unfinished', 'finished'] as const).map((hint) => {
    const { turns, until, speak } = detector({ silenceMs: 600, minSilenceMs: 300, maxSilenceMs: 2000 });
    speak(0, 1000);
    turns.estimated(turns.pause, hint === 'unfinished' ? 0.8 : 0.14);
    turns.hint(hint);
    return (until(5000)[0]?.atMs ?? NaN) - 1000;
  });
  assert.deepEqual(silences, [500, 1300]);
});

test('where the words are a sentence and the model is sure, two thirds of the least silence end the turn', () => {
  for (const [probability, silenceMs] of [
    [0.79, 300],
    [0.8, 200],
  ] as const) {
    const { turns, until, speak } = detector({ silenceMs: 600, minSilenceMs: 300, maxSilenceMs: 2000 });
    speak(0, 1000);
    turns.estimated(turns.pause, probability);
    turns.hint('finished');
    assert.equal(until(5000)[0]?.atMs, 1000 + silenceMs);
  }
});

test('a sure model does not end a turn before the words of its pause are known', () => {
  const { turns, until, speak } = detector();
  turns.awaitsTexts = true;
  speak(0, 1000);
  turns.estimated(turns.pause, 1);
  assert.deepEqual(until(1700), []);
  turns.hint(undefined, 1000);
  assert.equal(until(5000)[0]?.atMs, 1700);
});

test('an estimate of a pause that is over is ignored, and so is one that is no number', () => {
  const { turns, until, speak } = detector();
  speak(0, 1000);
  const { pause } = turns;
  turns.estimated(pause, 0.2);
  speak(1200, 1500);
  turns.estimated(pause, 1);
  turns.estimated(turns.pause, NaN);
  assert.equal(until(5000)[0]?.atMs, 2100);
});

test('a model moves no silence that is fixed, and none of turns that end by hand', () => {
  const open = (settings: Partial<HearingSettings>) => {
    const { turns } = detector(settings);
    turns.started(1000);
    return turns.movableSinceMs;
  };
  assert.equal(open({}), 1000);
  assert.equal(open({ minSilenceMs: 600, maxSilenceMs: 600 }), undefined);
  assert.equal(open({ endedByHand: true }), undefined);
  assert.equal(detector().turns.movableSinceMs, undefined);
});
