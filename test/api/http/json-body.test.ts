import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isMostlyStructure } from '../../../src/api/http/validation.js';
import { errorIn, openApp } from '../app-under-test.js';

const MIB = 1024 * 1024;
const AUDIO = 'A'.repeat(4 * MIB);

function told(json: string): boolean {
  return isMostlyStructure(Buffer.from(json));
}

test('a body that is large by its strings is none of structure, whatever stands in them', () => {
  assert.equal(told(JSON.stringify({ input: 'Hello.', ref_audio: AUDIO })), false);
  assert.equal(told(JSON.stringify({ input: '[{,'.repeat(MIB) })), false);
  assert.equal(told(JSON.stringify({ input: '\\"'.repeat(50_000), ref_audio: AUDIO })), false);
  assert.equal(told(`{"input":"${'\\'.repeat(2 * MIB)}","speed":1}`), false);
  const item = { input: 'Hello. '.repeat(500), speed: 1, sample_rate: 24_000, voice: 'slt', language: 'en' };
  assert.equal(told(JSON.stringify({ items: Array.from({ length: 32 }, () => item) }, null, 8)), false);
});

test('a body that is large by its structure is known as such', () => {
  assert.equal(told('['.repeat(MIB)), true);
  assert.equal(told(`{"input":"Hello.","x":[${'1,'.repeat(MIB)}1]}`), true);
  assert.equal(told(`{${'"a":null,'.repeat(100_000)}"input":"Hello."}`), true);
  assert.equal(told(`[${'"",'.repeat(100_000)}""]`), true);
  // Behind a string that ends with a backslash, which is none before its quote.
  assert.equal(told(`{"input":"\\\\","x":${'['.repeat(MIB)}`), true);
  assert.equal(told(`{"input":"${'\\"'.repeat(MIB)}"}`), true);
});

test('a body of much structure is refused before it is parsed, and says what may be', async (t) => {
  const { app, speech } = await openApp(t);
  const ask = (payload: string) =>
    app.inject({
      method: 'POST',
      url: '/v1/audio/speech/batch',
      headers: { 'content-type': 'application/json' },
      payload,
    });
  const refused = await ask(`{"items":[${'{},'.repeat(30_000)}{}]}`);
  assert.equal(refused.statusCode, 413);
  assert.equal(
    errorIn(refused.body).message,
    'a body may have 65536 bytes outside of strings, and 262144 quotes',
  );
  assert.deepEqual(speech.requests, []);
  const broken = await ask('{"items":[');
  assert.equal(errorIn(broken.body).message, 'the body is not valid JSON');
});
