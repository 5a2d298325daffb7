// The times of the words of a sentence in a call, while it is heard. Everything is real but the engine, the
// network and time.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buzz } from '../fakes/engines.js';
import { FRAME_MS, openCalls } from '../fakes/call-under-test.js';
import { until } from '../fakes/until.js';

const calls = openCalls();
const TEXT = 'It costs $3.50.';
const SPOKEN = 'It costs three dollars and fifty cents.';
const SILENCE_MS = 200;
const KEPT_MS = 40; // of the silence, by the trimmer

test('times count from the first packet, for the words as they were written, until the utterance is over', async () => {
  const { call, engine, events, pass } = calls.open();
  const silence = new Float32Array(buzz(SILENCE_MS, 0.5).length);
  engine.sounds.set(SPOKEN, Float32Array.from([...silence, ...buzz(1000, 0.5)]));
  const at = (word: string, startMs: number, endMs: number) => ({
    word,
    textOffset: SPOKEN.indexOf(word),
    startMs: SILENCE_MS + startMs,
    endMs: SILENCE_MS + endMs,
  });
  engine.words.set(SPOKEN, [
    at('It', 0, 100),
    at('costs', 150, 300),
    at('three', 300, 400),
    at('dollars', 400, 600),
    at('and', 600, 650),
    at('fifty', 650, 800),
    at('cents', 800, 1000),
  ]);
  const { number, ended } = call.speak(TEXT);
  assert.deepEqual(call.wordTimes(number, 0), [], 'not known yet');
  const heard = (type: string) => events.some((event) => event.type === type);
  await until(() => {
    pass(FRAME_MS);
    return heard('sentence.started');
  });
  await until(() => call.wordTimes(number, 0).length > 0);
  const times = call.wordTimes(number, 0);
  assert.deepEqual(
    times.map(({ word, textOffset }) => [word, textOffset]),
    [
      ['It', 0],
      ['costs', 3],
      ['$3.50', 9],
    ],
  );
  assert.deepEqual(
    times.map(({ startMs, endMs }) => [startMs, endMs]),
    [
      [KEPT_MS, KEPT_MS + 100],
      [KEPT_MS + 150, KEPT_MS + 300],
      [KEPT_MS + 300, KEPT_MS + 1000],
    ],
  );
  assert.deepEqual(call.wordTimes(number, 1), [], 'there is no second sentence');
  assert.deepEqual(call.wordTimes(number + 1, 0), [], 'there is no second text');
  await until(() => {
    pass(FRAME_MS);
    return heard('utterance.spoken');
  });
  await ended;
  assert.deepEqual(call.wordTimes(number, 0), []);
});
