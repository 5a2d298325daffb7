// The endpoints of other dialects under damaged requests: never the server's
// own fault. Every run sends the same ones.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorIn, openApp } from './app-under-test.js';
import { mutated, randomFrom } from './mutations.js';

const ROUNDS = 500;

const SPOKEN = { model: 'tts-1', input: 'Your order has shipped.', voice: 'slt', speed: 1, language: 'en' };
const TEXT = {
  text: 'Your order has shipped.',
  model_id: 'eleven_turbo_v2_5',
  voice_settings: { stability: 0.5, similarity_boost: 0.8, speed: 1 },
  language_code: 'en',
};

const CASES = [
  ['/v1/audio/speech/stream', SPOKEN],
  ['/v1/audio/speech/pcm', SPOKEN],
  [
    '/v1/audio/speech/batch',
    { ...SPOKEN, items: [{ input: 'One.' }, { input: 'Two.', response_format: 'mp3' }] },
  ],
  ['/v1/text-to-speech/slt?output_format=pcm_16000', TEXT],
  ['/v1/text-to-speech/slt/with-timestamps?output_format=mp3_44100_128', TEXT],
  ['/v1/text-to-speech/slt/stream/with-timestamps', TEXT],
] as const;

for (const [number, [url, body]] of CASES.entries()) {
  test(`${ROUNDS} damaged requests to ${url} are each answered with sound or with what is wrong`, async (t) => {
    const { app, speech } = await openApp(t);
    speech.whole = ['RIFF'];
    const random = randomFrom(100 + number);
    const good = JSON.stringify(body, null, 1).replaceAll('\n', '\r\n');
    let spoken = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const payload = mutated(good, random);
      const address = random() < 0.7 ? url : mutated(url, random).replace(/[^\x21-\x7e]/g, '%20');
      const headers = { 'content-type': 'application/json' };
      const path = address.startsWith('/') ? address : `/${address}`;
      const answer = await app.inject({ method: 'POST', url: path, headers, payload });
      assert.ok(answer.statusCode < 500, `${answer.statusCode} for ${path} ${payload}`);
      if (answer.statusCode >= 400) assert.equal(typeof errorIn(answer.body).message, 'string');
      else spoken++;
    }
    // The damage is neither harmless nor total, or the test would show nothing.
    assert.ok(spoken > ROUNDS / 50 && spoken < ROUNDS / 2, `${spoken} were spoken`);
  });
}
