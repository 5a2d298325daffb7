import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonSchema } from '../../../src/api/http/json-schema.js';
import { allowedBy, dropNullFields, isMostlyStructure } from '../../../src/api/http/validation.js';
import { errorIn, openApp } from '../app-under-test.js';

test('what a schema allows is said in words', () => {
  const cases: [JsonSchema, string][] = [
    [{ type: 'number', minimum: 0.25, maximum: 4 }, 'a number from 0.25 to 4'],
    [{ type: 'integer', minimum: 0 }, 'a whole number of 0 or more'],
    [{ type: 'number', maximum: 1 }, 'a number of 1 or less'],
    [{ type: 'string', minLength: 1, maxLength: 200 }, 'a string of 1 to 200 characters'],
    [{ type: 'string', maxLength: 4096 }, 'a string of at most 4096 characters'],
    [{ type: 'string' }, 'a string'],
    [{ type: 'boolean' }, 'true or false'],
    [{ type: 'array', minItems: 1, maxItems: 32 }, 'a list of 1 to 32 entries'],
    [{ enum: ['sse'] }, '"sse"'],
    [{ enum: ['audio', 'sse'] }, 'one of "audio", "sse"'],
    [{ type: 'object', required: ['id', 'name'] }, 'an object with "id" and "name"'],
    [
      { anyOf: [{ type: 'string' }, { type: 'object', required: ['id'] }] },
      'a string or an object with "id"',
    ],
    [
      { type: 'string', pattern: '^a', 'x-must-be': 'a word with an a in front' },
      'a word with an a in front',
    ],
  ];
  for (const [schema, words] of cases) assert.equal(allowedBy(schema), words);
});

test('a refused field is named with its whole path, and a value that there is not with those that there are', async (t) => {
  const { app } = await openApp(t);
  const refusal = async (payload: object) => {
    const answer = await app.inject({ method: 'POST', url: '/v1/audio/speech', payload });
    assert.equal(answer.statusCode, 400, JSON.stringify(payload));
    const { message, param, code } = errorIn(answer.body);
    return [code, param, message];
  };
  const name = 'must be a string of 1 to 200 characters';
  assert.deepEqual(await refusal({ input: 'x', voice: { id: '' } }), [
    'invalid_value',
    'voice.id',
    `"voice.id" ${name}`,
  ]);
  assert.deepEqual(await refusal({ input: 'x', voice: 7 }), [
    'invalid_value',
    'voice',
    `"voice" ${name} or an object with "id"`,
  ]);
  assert.deepEqual(await refusal({ input: 'x', voice: {} }), [
    'invalid_value',
    'voice',
    `"voice" ${name} or an object with "id"`,
  ]);
  assert.deepEqual(await refusal({}), [
    'invalid_value',
    'input',
    '"input" must be a string of 1 to 4096 characters',
  ]);
  assert.deepEqual(await refusal({ input: 'x'.repeat(4097) }), [
    'invalid_value',
    'input',
    '"input" must be a string of 1 to 4096 characters',
  ]);
  assert.deepEqual(await refusal([]), [
    'malformed',
    null,
    'the body must be a JSON object with at least the field "input"',
  ]);
  assert.deepEqual(await refusal({ input: 'x', speed: '1' }), [
    'invalid_value',
    'speed',
    '"speed" must be a number from 0.25 to 4',
  ]);
  const formats = '"mp3", "ogg", "opus", "aac", "flac", "wav", "pcm", "ulaw_8000", "alaw_8000"';
  for (const response_format of ['__proto__', 'constructor', 'vox']) {
    assert.deepEqual(await refusal({ input: 'x', response_format }), [
      'invalid_value',
      'response_format',
      `"response_format" must be one of ${formats}`,
    ]);
  }
});

test('null leaves a field out, as deep as requests go, and nothing else is changed', () => {
  const body = { a: null, b: { c: null, d: 0 }, items: [{ e: null, f: { g: null, h: '' } }, null], i: false };
  dropNullFields(body);
  assert.deepEqual(body, { b: { d: 0 }, items: [{ f: { h: '' } }, null], i: false });
  const deep = JSON.parse(`${'{"a":'.repeat(50_000)}null${'}'.repeat(50_000)}`) as object;
  dropNullFields(deep);
  assert.equal(Object.keys(deep).length, 1);
});

const MIB = 1024 * 1024;
const AUDIO = 'A'.repeat(4 * MIB);

function received(json: string): boolean {
  return isMostlyStructure(Buffer.from(json));
}

test('a body that is large by its strings is none of structure, whatever stands in them', () => {
  assert.equal(received(JSON.stringify({ input: 'Hello.', ref_audio: AUDIO })), false);
  assert.equal(received(JSON.stringify({ input: '[{,'.repeat(MIB) })), false);
  assert.equal(received(JSON.stringify({ input: '\\"'.repeat(50_000), ref_audio: AUDIO })), false);
  assert.equal(received(`{"input":"${'\\'.repeat(2 * MIB)}","speed":1}`), false);
  const item = { input: 'Hello. '.repeat(500), speed: 1, sample_rate: 24_000, voice: 'slt', language: 'en' };
  assert.equal(received(JSON.stringify({ items: Array.from({ length: 32 }, () => item) }, null, 8)), false);
});

test('a body that is large by its structure is known as such', () => {
  assert.equal(received('['.repeat(MIB)), true);
  assert.equal(received(`{"input":"Hello.","x":[${'1,'.repeat(MIB)}1]}`), true);
  assert.equal(received(`{${'"a":null,'.repeat(100_000)}"input":"Hello."}`), true);
  assert.equal(received(`[${'"",'.repeat(100_000)}""]`), true);
  // Behind a string that ends with a backslash, which is none before its quote.
  assert.equal(received(`{"input":"\\\\","x":${'['.repeat(MIB)}`), true);
  assert.equal(received(`{"input":"${'\\"'.repeat(MIB)}"}`), true);
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
