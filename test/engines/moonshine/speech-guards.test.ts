// What keeps a speech model from inventing words: repetition, silence, noise and settings that do not fit.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { rulesOfLanguage } from '../../../src/engines/moonshine/moonshine-model.js';
import { lengthWithoutLoop, lengthWithoutRepeats } from '../../../src/engines/moonshine/repetition.js';
import { SpeechEnergy } from '../../../src/engines/moonshine/speech-energy.js';
import { readStreamingConfig } from '../../../src/engines/moonshine/streaming-config.js';
import { toy } from '../../onnx/toys.js';

function times(unit: readonly number[], count: number): number[] {
  return Array.from({ length: count }, () => unit).flat();
}

test('a loop is four repeats of up to eight tokens, and eight tokens at least', () => {
  assert.equal(lengthWithoutLoop([7, ...times([5], 8)]), 2);
  assert.equal(lengthWithoutLoop([7, ...times([5], 7)]), 8); // a telephone number
  assert.equal(lengthWithoutLoop([7, ...times([5, 6], 4)]), 3);
  assert.equal(lengthWithoutLoop([7, ...times([5, 6], 3)]), 7);
  assert.equal(lengthWithoutLoop(times([1, 2, 3, 4, 5, 6, 7, 8], 4)), 8);
  assert.equal(lengthWithoutLoop(times([1, 2, 3, 4, 5, 6, 7, 8, 9], 4)), 36);
  assert.equal(lengthWithoutLoop([]), 0);
});

test('the second of two equal ends is left out until something follows', () => {
  assert.equal(lengthWithoutRepeats([1, 5, 5]), 2);
  assert.equal(lengthWithoutRepeats([1, 5, 5, 2]), 4);
  assert.equal(lengthWithoutRepeats([3, 4, 3, 4]), 2);
  assert.equal(lengthWithoutRepeats([]), 0);
});

function noise(seconds: number, level: number): Float32Array {
  let seed = 1;
  return Float32Array.from({ length: seconds * 16_000 }, () => {
    seed = (seed * 16_807) % 2_147_483_647;
    return level * (seed / 1_073_741_824 - 1);
  });
}

test('silence and steady noise are no speech, also loud noise; a tenth of a second above them is', () => {
  const energy = new SpeechEnergy();
  assert.equal(energy.hasSpeech(), false);
  energy.add(new Float32Array(16_000));
  assert.equal(energy.hasSpeech(), false);
  energy.add(noise(0.08, 0.3));
  assert.equal(energy.hasSpeech(), false);
  energy.add(noise(0.02, 0.3));
  assert.equal(energy.hasSpeech(), true);
  for (const level of [0.0005, 0.01, 1]) {
    const steady = new SpeechEnergy();
    steady.add(noise(4, level));
    assert.equal(steady.hasSpeech(), false, String(level));
  }
});

test('the most tokens of a second depend on the letters of the language', () => {
  const rates = ['en', 'en-GB', 'de', 'es', 'vi', 'ja', 'ar', 'zh'].map(
    (tag) => rulesOfLanguage(tag).tokensPerSecond,
  );
  assert.deepEqual(rates, [6.5, 6.5, 9, 9, 9, 13, 13, 13]);
  assert.deepEqual(
    ['de', 'ar', 'ja', 'zh'].map((tag) => rulesOfLanguage(tag).hasSpaces),
    [true, true, false, false],
  );
});

test('a configuration that does not fit is named with its field', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-moonshine-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'streaming_config.json');
  const good = JSON.parse(readFileSync(join(toy('moonshine-a'), 'streaming_config.json'), 'utf8')) as object;
  for (const [text, message] of [
    ['{', 'is no JSON'],
    ['[]', 'must hold a JSON object'],
    [JSON.stringify({ ...good, depth: 0 }), 'depth must be an integer from 1 to 128'],
    [JSON.stringify({ ...good, eos_id: 288 }), 'eos_id must be an integer from 0 to 287'],
    [JSON.stringify({ ...good, frame_len: 160 }), 'frame_len must be 80'],
    [JSON.stringify({ ...good, max_seq_len: '9' }), 'max_seq_len must be an integer from 1 to 4096'],
  ] as const) {
    writeFileSync(path, text);
    await assert.rejects(readStreamingConfig(path), { message: `${path}: ${message}` });
  }
  writeFileSync(path, JSON.stringify({ ...good, frontend_state_shapes: { conv1_buffer: [1, 48, 4] } }));
  assert.equal((await readStreamingConfig(path)).mostTokens, 448);
});
