// One table of fields gives the schema of an object and its JSON.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldsJson, fieldsSchema, type JsonField } from '../../../src/api/http/json-fields.js';
import { NUMBER, STRING } from '../../../src/api/http/json-schema.js';

interface Person {
  readonly name: string;
  readonly bornAt?: number;
}

const FIELDS: readonly JsonField<Person>[] = [
  ['name', STRING, ({ name }) => name],
  ['born_at?', NUMBER, ({ bornAt }) => (bornAt === undefined ? undefined : bornAt / 1000)],
];

test('the schema requires each field whose name does not end with a question mark', () => {
  const { properties, required } = fieldsSchema(FIELDS);
  assert.deepEqual(properties, { name: STRING, born_at: NUMBER });
  assert.deepEqual(required, ['name']);
});

test('the JSON has each field under its name, and none that is undefined', () => {
  assert.deepEqual(fieldsJson(FIELDS, { name: 'Ada', bornAt: 5000 }), { name: 'Ada', born_at: 5 });
  assert.equal(JSON.stringify(fieldsJson(FIELDS, { name: 'Ada' })), '{"name":"Ada"}');
});
