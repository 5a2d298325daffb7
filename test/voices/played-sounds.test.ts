// Sound that is played in a call as it is: what is taken that would be no voice.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { PlayedSounds } from '../../src/voices/played-sounds.js';
import { ReferenceAudio } from '../../src/voices/reference-audio.js';
import { toneWav } from './voice-samples.js';

const NEVER = new AbortController().signal;

function open(t: TestContext, urls = false): PlayedSounds {
  const audio = new ReferenceAudio();
  t.after(() => audio.close());
  return new PlayedSounds({ audio, maxBytes: 20 * 1024 * 1024, urls });
}

test('a short beep and plain silence are played, which would be no sample of a voice', async (t) => {
  const sounds = open(t);
  const beep = await sounds.read(toneWav({ seconds: 0.1 }), 'audio', NEVER);
  assert.equal(beep.sampleRate, 24_000);
  assert.equal(beep.samples.length, 2400);
  const silence = await sounds.read(toneWav({ level: 0 }), 'audio', NEVER);
  assert.ok(silence.samples.length === 48_000 && silence.samples.every((sample) => sample === 0));
});

test('a sound of five minutes is played, and a longer one is refused in words of its use', async (t) => {
  const sounds = open(t);
  const longest = await sounds.read(toneWav({ seconds: 300, rate: 8000 }), 'file', NEVER);
  assert.equal(longest.samples.length, 300 * 24_000);
  await assert.rejects(sounds.read(toneWav({ seconds: 301, rate: 8000 }), 'file', NEVER), {
    code: 'AUDIO_INVALID',
    field: 'file',
    message: 'this audio cannot be played: it is longer than 300 s; 0.02 to 300 s are taken',
  });
});

test('a data: URL is read, and an address of the web only where the server allows them', async (t) => {
  const url = `data:audio/wav;base64,${toneWav({ seconds: 0.5 }).toString('base64')}`;
  assert.equal((await open(t).read(url, 'audio', NEVER)).samples.length, 12_000);
  await assert.rejects(open(t).read('https://example.org/a.wav', 'url', NEVER), {
    code: 'INVALID_FIELD',
    field: 'url',
    message: /REFERENCE_URLS/,
  });
  await assert.rejects(open(t, true).read('http://127.0.0.1/a.wav', 'url', NEVER), {
    code: 'INVALID_FIELD',
    field: 'url',
    message: /its address is not public/,
  });
});
