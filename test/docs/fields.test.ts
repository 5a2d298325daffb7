// The guide names each field of the JSON that clients get.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CALL_FIELDS } from '../../src/api/calls/call-json.js';
import type { JsonField } from '../../src/api/http/json-fields.js';
import { SHORT_FIELDS, VERBOSE_FIELDS } from '../../src/api/openai/transcription-forms.js';
import { textOf } from './markdown.js';

function unnamed(fields: readonly JsonField<never>[], page: string): string[] {
  const text = textOf(page);
  const names = fields.map(([name]) => name.replace('?', ''));
  return names.filter((name) => !text.includes(`\`${name}\``) && !text.includes(`"${name}"`));
}

test('the page of telephone calls names each field of a call', () => {
  assert.deepEqual(unnamed(CALL_FIELDS, 'public/docs/telephone.md'), []);
});

test('the page of transcription names each field of a transcript', () => {
  assert.deepEqual(unnamed([...SHORT_FIELDS, ...VERBOSE_FIELDS], 'public/docs/transcription.md'), []);
});

test('a field that a page does not name is found', () => {
  const fields: JsonField<never>[] = [
    ['sip_call_id?', {}, () => ''],
    ['shoe_size', {}, () => ''],
  ];
  assert.deepEqual(unnamed(fields, 'public/docs/telephone.md'), ['shoe_size']);
});
