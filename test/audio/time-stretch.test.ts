import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TimeStretch } from '../../src/audio/time-stretch.js';
import { randomFrom } from '../api/mutations.js';
import { fitTone, rms, tone, voiceLike } from './tones.js';

const SPEEDS = [0.25, 0.5, 0.8, 0.95, 1.05, 1.25, 2, 3, 4];
const RATE = 24_000;

/** In pieces of the lengths that `next` gives. */
function stretched(input: Float32Array, rate: number, speed: number, next: () => number): Float32Array {
  const stretch = new TimeStretch(rate, speed, 480);
  const output = new Float32Array(stretch.outputsFor(input.length));
  const scratch = new Float32Array(Math.max(stretch.maxOutput(48_000), stretch.maxFlush));
  let written = 0;
  const take = (count: number) => {
    output.set(scratch.subarray(0, count), written);
    written += count;
  };
  for (let at = 0; at < input.length;) {
    const piece = input.subarray(at, at + next());
    take(stretch.process(piece, piece.length, scratch));
    at += piece.length;
  }
  take(stretch.flush(scratch));
  assert.equal(written, output.length);
  return output;
}

function whole(input: Float32Array, speed: number, rate = RATE): Float32Array {
  return stretched(input, rate, speed, () => 48_000);
}

function steepest(samples: Float32Array): number {
  let most = 0;
  for (let i = 1; i < samples.length; i++) {
    most = Math.max(most, Math.abs((samples[i] as number) - (samples[i - 1] as number)));
  }
  return most;
}

/** Hz, from the first rise through zero to the last, placed between samples. */
function pitch(samples: Float32Array, rate: number): number {
  const rises: number[] = [];
  for (let i = 1; i < samples.length; i++) {
    const before = samples[i - 1] as number;
    const after = samples[i] as number;
    if (before < 0 && after >= 0) rises.push(i - after / (after - before));
  }
  const [first = 0] = rises;
  return ((rises.length - 1) * rate) / ((rises.at(-1) ?? 0) - first);
}

test('a tone of 440 Hz keeps its pitch and level at every speed and rate', () => {
  for (const rate of [8000, 16_000, 22_050, 48_000]) {
    for (const speed of SPEEDS) {
      const output = whole(tone(440, rate, 2 * rate), speed, rate);
      const found = pitch(output, rate);
      assert.ok(Math.abs(found / 440 - 1) < 0.01, `${found} Hz at speed ${speed}, ${rate} Hz`);
      const level = rms(output) / (0.5 / Math.SQRT2);
      assert.ok(level > 0.97 && level < 1.03, `level ${level} at speed ${speed}, ${rate} Hz`);
    }
  }
});

test('a slice of the stretched tone is a clean sine of the same frequency', () => {
  const output = whole(tone(440, RATE, 2 * RATE), 1.5);
  const slice = output.slice(10_000, 10_000 + RATE / 50);
  assert.ok(fitTone(slice, 440, RATE).snrDb > 25);
});

test('the output is exactly as long as the speed says', () => {
  for (const speed of SPEEDS) {
    for (const length of [0, 1, 17, 359, 360, 720, 721, 1440, 5000, 24_000, 24_001]) {
      assert.equal(whole(voiceLike(RATE, 2).subarray(0, length), speed).length, Math.round(length / speed));
    }
  }
});

test('the sound ends with its own last samples at every speed, so that no end is a step', () => {
  for (const rate of [8000, 22_050, 24_000, 48_000]) {
    const tail = Math.round(rate * 0.001); // in the last 1 ms of the fade hardly any earlier sound is left
    for (const speed of SPEEDS) {
      for (const ms of [40, 61, 100, 333, 1000, 1007]) {
        const length = Math.round((rate * ms) / 1000);
        const input = voiceLike(rate, ms / 1000).slice(0, length);
        const fade = Math.round(rate * 0.01); // to silence, as speech ends
        for (let i = 0; i < fade; i++) input[length - 1 - i] = ((input[length - 1 - i] as number) * i) / fade;
        const output = whole(input, speed, rate);
        const where = `${ms} ms, speed ${speed}, ${rate} Hz`;
        assert.ok(Math.abs(output.at(-1) ?? 1) < 1e-4, where);
        for (let i = 1; i <= tail; i++) {
          const [made = 0, given = 0] = [output.at(-i), input.at(-i)];
          assert.ok(Math.abs(made - given) < 0.02, `${made} instead of ${given}: ${where}`);
        }
      }
    }
  }
});

test('what is shorter than a fade begins and ends as it was', () => {
  for (const speed of SPEEDS) {
    for (const length of [2, 17, 100, 300]) {
      const input = Float32Array.from({ length }, (_, i) => Math.sin((Math.PI * i) / (length - 1)));
      const output = whole(input, speed);
      assert.ok(Math.abs(output.at(-1) ?? 0) < 0.1, `${length} samples at speed ${speed}: ${output.at(-1)}`);
      assert.ok(Math.abs(output[0] ?? 0) < 0.1);
    }
  }
});

test('a streamed stretch equals the whole one bit for bit, however it is cut', () => {
  const voice = voiceLike(RATE, 1.37);
  const random = randomFrom(7);
  for (const speed of SPEEDS) {
    const expected = whole(voice, speed);
    assert.deepEqual(
      stretched(voice, RATE, speed, () => 480),
      expected,
    );
    assert.deepEqual(
      stretched(voice, RATE, speed, () => 1 + Math.floor(2000 * random())),
      expected,
    );
  }
  assert.deepEqual(
    stretched(voice, RATE, 1.5, () => 1),
    whole(voice, 1.5),
  );
});

test('nothing clicks: no step is steeper than the steepest of the source', () => {
  const voice = voiceLike(RATE, 3);
  const sine = tone(440, RATE, 3 * RATE);
  for (const speed of SPEEDS) {
    for (const [name, sound] of [
      ['voice', voice],
      ['tone', sine],
    ] as const) {
      const ratio = steepest(whole(sound, speed)) / steepest(sound);
      assert.ok(ratio <= 1.1, `${ratio} times as steep at speed ${speed} (${name})`);
    }
  }
});

test('at speed 1 every sample is what it was', () => {
  const voice = voiceLike(RATE, 0.5);
  assert.deepEqual(whole(voice, 1), voice);
});

test('silence stays silence, and a flush begins anew', () => {
  const stretch = new TimeStretch(RATE, 2);
  const output = new Float32Array(stretch.maxOutput(RATE));
  const voice = voiceLike(RATE, 1);
  const run = (input: Float32Array) => {
    const count = stretch.process(input, input.length, output);
    return output.slice(0, count + stretch.flush(output, count));
  };
  const first = run(voice);
  assert.deepEqual(run(new Float32Array(RATE)), new Float32Array(RATE / 2));
  assert.deepEqual(run(voice), first);
});

test('a speed out of range is refused with the limits', () => {
  for (const speed of [0, 0.249, 4.001, -1, NaN, Infinity]) {
    assert.throws(() => new TimeStretch(RATE, speed), { code: 'INVALID_FIELD', message: /0.25 to 4/ });
  }
});

test('an output without room is refused before anything is taken', () => {
  const stretch = new TimeStretch(RATE, 0.5);
  assert.throws(() => stretch.process(new Float32Array(480), 480, new Float32Array(100)), {
    code: 'WRONG_STATE',
  });
  assert.equal(stretch.inputs, 0);
});
