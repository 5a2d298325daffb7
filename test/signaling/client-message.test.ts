import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParleyError } from '../../src/errors.js';
import { MAX_MESSAGE_BYTES, readClientMessage } from '../../signaling/data-channel.js';

function refusal(data: unknown): string {
  try {
    readClientMessage(data);
  } catch (error) {
    assert.ok(error instanceof ParleyError, String(error));
    return `${error.code} ${error.field ?? ''}: ${error.message}`;
  }
  return 'accepted';
}

test('a text message has a token, and the rest of its fields may be absent', () => {
  assert.deepEqual(readClientMessage('{"type":"text","token":"Hel"}'), {
    type: 'text',
    token: 'Hel',
    last: false,
  });
  assert.deepEqual(
    readClientMessage('{"type":"text","token":"","last":true,"voice":"slt","language":"en-US"}'),
    { type: 'text', token: '', last: true, voice: 'slt', language: 'en-US' },
  );
  assert.deepEqual(readClientMessage(' {"type":"clear"} '), { type: 'clear' });
});

test('what is no JSON object of the right size is malformed', () => {
  for (const data of ['', '{', 'null', '7', '"text"', '[]', '[{"type":"clear"}]']) {
    assert.match(refusal(data), /^MALFORMED : a message must be (JSON|a JSON object)$/);
  }
  for (const data of [Buffer.from('{"type":"clear"}'), undefined, 7]) {
    assert.equal(refusal(data), 'MALFORMED : a message must be text, not binary');
  }
  const frame = JSON.stringify({ type: 'text', token: '' }).length;
  const longest = JSON.stringify({ type: 'text', token: 'x'.repeat(MAX_MESSAGE_BYTES - frame) });
  assert.equal(refusal(longest), 'accepted');
  assert.equal(refusal(`${longest} `), 'MALFORMED : a message must not be longer than 65536 bytes');
  assert.match(refusal(JSON.stringify({ type: 'text', token: 'é'.repeat(40_000) })), /not be longer than/);
});

test('every field is checked and named', () => {
  for (const [message, said] of [
    ['{}', 'INVALID_FIELD type: type must be one of text, clear'],
    ['{"type":"speak"}', 'INVALID_FIELD type: type must be one of text, clear'],
    ['{"type":["text"],"token":"a"}', 'INVALID_FIELD type: type must be one of text, clear'],
    ['{"type":"text"}', 'INVALID_FIELD token: token must be a string'],
    ['{"type":"text","token":7}', 'INVALID_FIELD token: token must be a string'],
    ['{"type":"text","token":"a","last":1}', 'INVALID_FIELD last: last must be true or false'],
    ['{"type":"text","token":"a","last":null}', 'INVALID_FIELD last: last must be true or false'],
    [
      '{"type":"text","token":"a","voice":""}',
      'INVALID_FIELD voice: voice must be a name of 1 to 100 characters',
    ],
    [
      '{"type":"text","token":"a","language":"en_US"}',
      'INVALID_FIELD language: language must be a language tag such as en or fr-CA',
    ],
    [
      '{"type":"text","token":"a","lats":true}',
      'INVALID_FIELD lats: lats is no field of a text message, which has type, token, last, voice, language',
    ],
    [
      '{"type":"clear","__proto__":{}}',
      'INVALID_FIELD __proto__: __proto__ is no field of a clear message, which has type',
    ],
  ] as const) {
    assert.equal(refusal(message), said);
  }
});
