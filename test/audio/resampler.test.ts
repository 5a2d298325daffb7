import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../fakes/properties.js';
import { Resampler } from '../../src/audio/resampler.js';
import { decibels, fitTone, noise, rms, tone } from './tones.js';

const RATES = [8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000];

/** The conversion of `input` cut into the given chunk lengths, flushed. */
function convert(
  input: Float32Array,
  from: number,
  to: number,
  chunks: readonly number[] = [],
  maxChunk = 1024,
) {
  const resampler = new Resampler(from, to, maxChunk);
  const output = new Float32Array(resampler.outputsFor(input.length) + resampler.maxFlush + 2);
  let taken = 0;
  let written = 0;
  const take = (length: number) => {
    const chunk = input.subarray(taken, taken + length);
    const exact = new Float32Array(resampler.maxOutput(chunk.length));
    const count = resampler.process(chunk, chunk.length, exact);
    output.set(exact.subarray(0, count), written);
    written += count;
    taken += chunk.length;
  };
  chunks.forEach(take);
  if (taken < input.length) take(input.length - taken);
  written += resampler.flush(output, written);
  return output.slice(0, written);
}

/** The middle of a converted tone, clear of both edges. */
function middle(samples: Float32Array): { samples: Float32Array; first: number } {
  const first = Math.floor(samples.length / 4);
  return { samples: samples.subarray(first, 3 * first), first };
}

test('any chunking of a stream gives the same samples as the whole, bit for bit', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...RATES),
      fc.constantFrom(...RATES),
      fc.array(fc.integer({ min: 0, max: 700 }), { maxLength: 12 }),
      fc.integer({ min: 1, max: 2000 }),
      fc.constantFrom(1, 7, 160, 1024),
      (from, to, chunks, length, maxChunk) => {
        const input = noise(length, 0.9, length);
        assert.deepEqual(convert(input, from, to, chunks, maxChunk), convert(input, from, to));
      },
    ),
    { numRuns: 300, seed: 7 },
  );
});

test('n inputs become exactly ceil(n L / M) outputs, for every pair of usual rates', () => {
  for (const from of RATES) {
    for (const to of RATES) {
      for (const length of [0, 1, 2, 3, 147, 160, 441, 1001]) {
        assert.equal(
          convert(noise(length), from, to).length,
          Math.ceil((length * to) / from),
          `${from} to ${to}`,
        );
      }
    }
  }
});

test('a tone keeps its level and its time, with everything else 90 dB below it', () => {
  for (const from of RATES) {
    for (const to of RATES) {
      const hz = Math.round(0.2 * Math.min(from, to));
      const converted = middle(convert(tone(hz, from, from / 5, 0.5, 0.3), from, to));
      const { amplitude, phase, snrDb } = fitTone(converted.samples, hz, to, converted.first);
      assert.ok(snrDb > 90, `${from} to ${to}: ${snrDb} dB`);
      assert.ok(
        Math.abs(decibels(amplitude / 0.5)) < 0.001,
        `${from} to ${to}: level ${decibels(amplitude / 0.5)} dB`,
      );
      assert.ok(Math.abs(phase - 0.3) < 1e-4, `${from} to ${to}: phase ${phase}`);
    }
  }
});

test('4.6 kHz at 24 kHz leaves nothing above -80 dB at 8 kHz, where it would fold to 3.4 kHz', () => {
  const converted = middle(convert(tone(4600, 24_000, 12_000), 24_000, 8000));
  assert.ok(decibels(rms(converted.samples) / (0.5 / Math.SQRT2)) < -80);
});

test('raising the rate leaves no image: 3 kHz at 8 kHz has nothing at 5 kHz afterwards', () => {
  const converted = middle(convert(tone(3000, 8000, 4000), 8000, 48_000));
  assert.ok(fitTone(converted.samples, 3000, 48_000).snrDb > 90);
});

test('telephone speech passes flat: 24 to 8 kHz changes nothing up to 3.3 kHz by more than 0.1 dB', () => {
  for (let hz = 100; hz <= 3300; hz += 100) {
    const converted = middle(convert(tone(hz, 24_000, 12_000), 24_000, 8000));
    const level = decibels(fitTone(converted.samples, hz, 8000).amplitude / 0.5);
    assert.ok(Math.abs(level) < 0.1, `${hz} Hz: ${level} dB`);
  }
});

test('a constant stays that constant at every rate', () => {
  for (const from of RATES) {
    for (const to of RATES) {
      const converted = middle(convert(new Float32Array(from / 10).fill(0.25), from, to));
      for (const sample of converted.samples) assert.ok(Math.abs(sample - 0.25) < 1e-6, `${from} to ${to}`);
    }
  }
});

test('equal rates pass the samples on untouched and hold nothing back', () => {
  const input = noise(333);
  const resampler = new Resampler(16_000, 16_000);
  const output = new Float32Array(resampler.maxOutput(333));
  assert.equal(resampler.process(input, 333, output), 333);
  assert.deepEqual(output.subarray(0, 333), input);
  assert.equal(resampler.flush(output), 0);
});

test('after a flush the next stream begins as if the resampler were new', () => {
  const resampler = new Resampler(22_050, 48_000);
  const output = new Float32Array(5000);
  const once = () => {
    const count = resampler.process(noise(1000), 1000, output);
    return output.slice(0, count + resampler.flush(output, count));
  };
  const first = once();
  assert.deepEqual(once(), first);
});

test('inputs are counted, so that a place in the input is a place in the output', () => {
  const resampler = new Resampler(24_000, 8000);
  const output = new Float32Array(1000);
  resampler.process(noise(700), 700, output);
  resampler.process(noise(2), 2, output);
  assert.equal(resampler.inputs, 702);
  assert.equal(resampler.outputsFor(702), 234);
  resampler.flush(output);
  assert.equal(resampler.inputs, 0);
});

test('an output that might be too short is refused before anything is written', () => {
  const resampler = new Resampler(16_000, 48_000);
  assert.throws(() => resampler.process(noise(100), 100, new Float32Array(300)), { code: 'WRONG_STATE' });
  assert.equal(resampler.inputs, 0);
});

test('sound of studios comes down to the rate of speech clean', () => {
  for (const rate of [88_200, 96_000, 192_000]) {
    const converted = middle(convert(tone(3000, rate, rate), rate, 24_000));
    assert.ok(fitTone(converted.samples, 3000, 24_000).snrDb > 90, String(rate));
  }
});

test('rates outside 8 to 48 kHz (192 kHz of what comes in), fractions and absurd ratios are refused by name', () => {
  assert.throws(() => new Resampler(4000, 8000), { code: 'INVALID_FIELD', field: 'inputRate' });
  assert.throws(() => new Resampler(8000, 96_000), { code: 'INVALID_FIELD', field: 'outputRate' });
  assert.throws(() => new Resampler(192_001, 8000), { code: 'INVALID_FIELD', field: 'inputRate' });
  assert.throws(() => new Resampler(8000.5, 8000), { code: 'INVALID_FIELD', field: 'inputRate' });
  assert.throws(() => new Resampler(NaN, 8000), { code: 'INVALID_FIELD', field: 'inputRate' });
  assert.throws(() => new Resampler(47_999, 48_000), { code: 'INVALID_FIELD' });
});
