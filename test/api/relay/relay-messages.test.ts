import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../fakes/properties.js';
import { readRelayMessage } from '../../../src/api/relay/relay-messages.js';
import { ParleyError } from '../../../src/errors.js';

const read = (message: object) => {
  const fields = Object.entries(readRelayMessage(JSON.stringify(message)));
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
};

test('every message is read with its defaults', () => {
  assert.deepEqual(read({ type: 'text', token: 'Hel' }), { type: 'text', token: 'Hel', last: false });
  assert.deepEqual(read({ type: 'play', source: 'https://a/b.mp3' }), {
    type: 'play',
    source: 'https://a/b.mp3',
    loop: 1,
  });
  for (const message of [
    {
      type: 'text',
      token: '',
      last: true,
      lang: 'de-DE',
      utteranceId: 'a',
      preemptible: true,
      interruptible: 'dtmf',
    },
    { type: 'sendDigits', digits: '12w#' },
    { type: 'language', ttsLanguage: 'fr-FR', transcriptionLanguage: 'es' },
    { type: 'end', handoffData: '{"reason":"done"}' },
    { type: 'mark', name: 'm' },
    { type: 'clear' },
    { type: 'flush' },
  ])
    assert.deepEqual(read(message), message);
});

test('booleans of older versions are taken, null is absent, and unknown fields are ignored', () => {
  assert.equal(read({ type: 'text', token: 'a', interruptible: true })['interruptible'], 'any');
  assert.equal(read({ type: 'text', token: 'a', interruptible: false })['interruptible'], 'none');
  assert.deepEqual(read({ type: 'end', handoffData: null, more: 1 }), { type: 'end' });
});

for (const [message, error] of [
  ['{', 'a message must be JSON'],
  ['[]', 'a message must be a JSON object'],
  [Buffer.from('{}'), 'a message must be text, not binary'],
  ['{"type":"speak"}', /^"type" must be one of "text", "play"/],
  ['{}', /^"type" must be one of text, play/],
  ['{"type":"text"}', '"token" must be a string'],
  ['{"type":"text","token":7}', '"token" must be a string of at most 65536 characters'],
  [`{"type":"text","token":"${'a'.repeat(65_537)}"}`, /at most 65536 characters/],
  ['{"type":"text","token":"a","last":"yes"}', '"last" must be true or false'],
  ['{"type":"text","token":"a","lang":"en US"}', '"lang" must be a language tag such as en-US'],
  ['{"type":"text","token":"a","interruptible":"sometimes"}', /^"interruptible" must be one of/],
  ['{"type":"play","source":"a","loop":1001}', '"loop" must be a whole number from 0 to 1000'],
] as const) {
  test(`${String(message).slice(0, 60)} is refused with the reason`, () => {
    assert.throws(() => readRelayMessage(message), { message: error });
  });
}

test('whatever comes is read or refused, and nothing else', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json(), fc.uint8Array()), (data) => {
      try {
        readRelayMessage(data);
      } catch (error) {
        assert.ok(error instanceof ParleyError);
        assert.ok(['MALFORMED', 'INVALID_FIELD'].includes(error.code));
      }
    }),
  );
});
