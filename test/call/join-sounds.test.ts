// The sounds of calls that are joined or wait come from the sound library and the tones of the country.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { progressSound } from '../../src/audio/country-tones.js';
import { joinSounds } from '../../src/call/joining.js';
import { ParleyError } from '../../src/errors.js';

const TUNE = { samples: new Float32Array(10), sampleRate: 16_000 };

const asked: unknown[] = [];
const library = {
  sound: (...request: readonly unknown[]) => {
    asked.push(request);
    return request[0] === 'none.wav'
      ? Promise.reject(new ParleyError('INVALID_FIELD', 'there is no sound "none.wav"', { field: 'music' }))
      : Promise.resolve(TUNE);
  },
};

test('music is a sound of the library by its name, and the default one without a name', async () => {
  const sounds = joinSounds({ library, country: 'DE' });
  assert.equal(await sounds.music(undefined), TUNE);
  assert.equal(await sounds.music('wait.mp3'), TUNE);
  await assert.rejects(sounds.music('none.wav'), { code: 'INVALID_FIELD', field: 'music' });
  assert.deepEqual(asked, [
    [undefined, 'music'],
    ['wait.mp3', 'music'],
    ['none.wav', 'music'],
  ]);
});

test("ring-back is that of the server's country", () => {
  assert.deepEqual(joinSounds({ library, country: 'DE' }).ringBack(), progressSound('DE', 'ring_back'));
  const { samples, sampleRate } = joinSounds({ library, country: 'GB' }).ringBack();
  assert.equal(samples.length / sampleRate, 3); // 400 ms, 200, 400, 2000
});

test('a key has its two tones, and what is no key is refused', () => {
  const sounds = joinSounds({ library, country: 'US' });
  assert.equal(sounds.keyTone('a').samples.length, sounds.keyTone('5').samples.length);
  assert.throws(() => sounds.keyTone('x'), { code: 'INVALID_FIELD' });
});
