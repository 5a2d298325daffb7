import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EarlyOnset, type WindowSound } from '../../src/hearing/early-onset.js';
import { joined, noise, random, silence } from './sounds.js';

const THRESHOLD_DB = -54;
const WINDOW_MS = 32;

const hiss = (windows: number, db = -40): Float32Array => noise(WINDOW_MS * windows, db);
const tone = (hz: number, db: number): Float32Array =>
  silence(WINDOW_MS).map((_, n) => Math.SQRT2 * 10 ** (db / 20) * Math.sin((2 * Math.PI * hz * n) / 16_000));

/** Whether each window of a sound is suspect. Those above the threshold are sound of the caller. */
function suspicions(sound: Float32Array, probability = 0): boolean[] {
  const onset = new EarlyOnset();
  return Array.from({ length: sound.length / 512 }, (_, n) => {
    const window = sound.subarray(512 * n, 512 * (n + 1));
    const power = window.reduce((sum, sample) => sum + sample * sample, 0) / 512;
    onset.window(window, power > 10 ** (THRESHOLD_DB / 10) ? 'caller' : 'silence', THRESHOLD_DB);
    return onset.isLikely(probability);
  });
}

const quiet = silence(3 * WINDOW_MS);

test('a hiss after three windows of silence is suspect, and not after two', () => {
  assert.deepEqual(suspicions(joined(quiet, hiss(1))), [false, false, false, true]);
  assert.deepEqual(suspicions(joined(silence(2 * WINDOW_MS), hiss(1))), [false, false, false]);
});

test('a hiss is 6 dB above the least level of a voice', () => {
  assert.equal(suspicions(joined(quiet, hiss(1, THRESHOLD_DB + 5))).at(-1), false);
  assert.equal(suspicions(joined(quiet, hiss(1, THRESHOLD_DB + 7.5))).at(-1), true);
});

test('sound with most of its energy low in the band is no hiss: 3000 Hz is one, 1500 Hz is none', () => {
  assert.equal(suspicions(joined(quiet, tone(3000, -30))).at(-1), true);
  assert.equal(suspicions(joined(quiet, tone(1500, -30))).at(-1), false);
});

test('a click fades, and is no hiss', () => {
  const click = noise(WINDOW_MS, -30).map((sample, n) => sample * Math.exp(-n / (16 * 8)));
  assert.equal(suspicions(joined(quiet, click)).at(-1), false);
});

test('a hiss that lasts is suspect in its first eight windows', () => {
  assert.equal(suspicions(joined(quiet, hiss(20))).filter(Boolean).length, 8);
});

test('sound in which the model finds speech with 0.45 is suspect, and silence never is', () => {
  const low = tone(200, -30);
  assert.deepEqual(suspicions(low, 0.45), [true]);
  assert.deepEqual(suspicions(low, 0.44), [false]);
  assert.deepEqual(suspicions(quiet, 1), [false, false, false]);
});

test('on a line with echoes the first window of a sound is not suspect, until none came for 16 s', () => {
  const onset = new EarlyOnset();
  const low = tone(200, -30);
  const suspected = (...sounds: WindowSound[]) =>
    sounds.map((sound) => {
      onset.window(low, sound, THRESHOLD_DB);
      return onset.isLikely(1);
    });
  assert.deepEqual(suspected('echo', 'silence', 'caller', 'caller'), [false, false, false, true]);
  for (let n = 4; n < 499; n++) suspected('silence');
  assert.deepEqual(suspected('caller', 'silence', 'caller'), [false, false, true]);
});

test('the sound is as many windows old as it had without a pause', () => {
  const onset = new EarlyOnset();
  const next = random(9);
  const lengths = [true, true, false, true, true, true].map((isSound) => {
    onset.window(
      silence(WINDOW_MS).map(() => next() - 0.5),
      isSound ? 'caller' : 'silence',
      THRESHOLD_DB,
    );
    return onset.windows;
  });
  assert.deepEqual(lengths, [1, 2, 0, 1, 2, 3]);
});
