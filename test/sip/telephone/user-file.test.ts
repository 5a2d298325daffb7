import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readUserFile } from '../../../sip/telephone/telephone-settings.js';

void test('each line is a caller with a password, which may hold colons', () => {
  const { users } = readUserFile('# phones\n\nanna:secret\r\nbert:a:b\n');
  assert.deepEqual([...(users ?? [])], [['anna', { password: 'secret' }], ['bert', { password: 'a:b' }]]); // prettier-ignore
});

void test('mistakes are told by line and quote nothing', () => {
  const { problems } = readUserFile('anna:secret\nno password\n:x\nanna:again\nbert:');
  assert.deepEqual(problems, [
    'line 2 is not name:password',
    'line 3 is not name:password',
    'line 4 names somebody a second time',
    'line 5 is not name:password',
  ]);
});
