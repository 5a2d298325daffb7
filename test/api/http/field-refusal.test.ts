import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allowedBy, dropNullFields } from '../../../src/api/http/validation.js';
import type { JsonSchema } from '../../../src/api/http/json-schema.js';
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
