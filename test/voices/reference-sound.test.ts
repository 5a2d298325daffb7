// What is judged of a sample once it is sound.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeWith, type Decoder } from '../../src/voices/reference-decoders.js';
import { REFERENCE_RATE as RATE, ReferenceSound } from '../../src/voices/reference-sound.js';
import { fitTone, tone } from '../audio/tones.js';

function finished(samples: Float32Array): Float32Array {
  const sound = new ReferenceSound();
  sound.add([samples], RATE);
  return sound.finish();
}

const SILENT = { code: 'AUDIO_INVALID', message: /silent, or all but; 0\.5 s of sound/ };

test('sound above full scale keeps its form and becomes as loud as there is room for', () => {
  for (const amplitude of [1.5, 4, 32_768, 1e30]) {
    const samples = finished(tone(440, RATE, 2 * RATE, amplitude));
    const fit = fitTone(samples.subarray(RATE / 2, RATE), 440, RATE);
    assert.ok(Math.abs(fit.amplitude - 1) < 0.01, `${amplitude}: ${fit.amplitude}`);
    assert.ok(fit.snrDb > 80, `${amplitude}: ${fit.snrDb} dB`);
    assert.ok(samples.every((sample) => Math.abs(sample) <= 1));
  }
});

test('sound within full scale stays as loud as it is', () => {
  const samples = finished(tone(440, RATE, 2 * RATE, 0.25));
  assert.ok(Math.abs(fitTone(samples.subarray(RATE / 2, RATE), 440, RATE).amplitude - 0.25) < 1e-4);
});

test('one sample of a size that nothing is beside leaves silence', () => {
  const samples = tone(440, RATE, 2 * RATE);
  samples[RATE] = 1e30;
  assert.throws(() => finished(samples), SILENT);
});

test('a click, a constant voltage, a short word and the noise of an open input are no sample of a voice', () => {
  const click = new Float32Array(2 * RATE);
  click[RATE] = 1;
  const word = new Float32Array(2 * RATE);
  word.set(tone(440, RATE, 0.4 * RATE), RATE);
  const step = new Float32Array(2 * RATE).fill(0.5, RATE);
  const level = new Float32Array(2 * RATE).fill(0.5);
  for (const samples of [click, word, step, level, tone(440, RATE, 2 * RATE, 0.003)])
    assert.throws(() => finished(samples), SILENT);
});

test('half a second of sound among silence, and sound on a constant voltage, are enough', () => {
  const word = new Float32Array(2 * RATE);
  word.set(tone(440, RATE, 0.6 * RATE), RATE);
  assert.equal(finished(word).length, 2 * RATE);
  assert.equal(finished(tone(440, RATE, 2 * RATE, 0.01).map((sample) => sample + 0.5)).length, 2 * RATE);
});

/** As WebAssembly after a crash: nothing of it can be called any more. */
class Crashed implements Decoder {
  readonly ready: Promise<void> = Promise.resolve();
  freed = 0;

  decode(): never {
    throw new Error('memory access out of bounds');
  }

  free(): never {
    this.freed++;
    throw new Error('table index is out of bounds');
  }
}

test('a decoder that crashed and cannot be freed says nothing of its own', async () => {
  const decoder = new Crashed();
  await assert.rejects(decodeWith(decoder, 'flac', new Uint8Array(10), new ReferenceSound()), {
    code: 'AUDIO_INVALID',
    message: 'the FLAC file is damaged',
  });
  assert.equal(decoder.freed, 1);
});
