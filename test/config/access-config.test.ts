// The variables of HTTP access.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../../src/config/config.js';
import { ParleyError } from '../../src/errors.js';

function problemsOf(env: Record<string, string>): string[] {
  try {
    readConfig(env);
  } catch (error) {
    assert.ok(error instanceof ParleyError && error.code === 'CONFIG_INVALID');
    return error.message.split('\n- ').slice(1);
  }
  return [];
}

test('an open address wants a key or an explicit word', () => {
  const [problem] = problemsOf({ HOST: '0.0.0.0' });
  assert.match(
    problem ?? '',
    /^HOST 0\.0\.0\.0 is open to others: set API_KEYS or API_KEYS_FILE, or ALLOW_OPEN=1/,
  );
  assert.deepEqual(problemsOf({ HOST: '0.0.0.0', API_KEYS: 'k'.repeat(16) }), []);
  assert.deepEqual(problemsOf({ HOST: '0.0.0.0', API_KEYS_FILE: '/run/keys' }), []);
  assert.deepEqual(problemsOf({ HOST: '0.0.0.0', ALLOW_OPEN: '1' }), []);
});

test('a key that could be guessed is refused', () => {
  assert.deepEqual(problemsOf({ API_KEYS: 'secret' }), [
    'API_KEYS must be keys of at least 16 characters each',
  ]);
  assert.deepEqual(problemsOf({ API_KEYS: 'sixteen or more characters' }), [
    'API_KEYS must be keys of ASCII without spaces: others cannot be sent',
  ]);
});

test('a key may have a name before it, which makes it no longer', () => {
  assert.deepEqual(problemsOf({ API_KEYS: `acme ${'k'.repeat(16)}, admin ${'a'.repeat(16)}` }), []);
  assert.deepEqual(problemsOf({ API_KEYS: 'a-name-that-is-long short' }), [
    'API_KEYS must be keys of at least 16 characters each',
  ]);
  assert.deepEqual(problemsOf({ API_KEYS: `10.0.0.1 ${'k'.repeat(16)}` }), [
    'API_KEYS must be keys of ASCII without spaces: others cannot be sent',
  ]);
});

test('a certificate without its key is refused, and a key without its certificate', () => {
  const problem = ['TLS_CERT and TLS_KEY must be set together'];
  assert.deepEqual(problemsOf({ TLS_CERT: '/a.pem' }), problem);
  assert.deepEqual(problemsOf({ TLS_KEY: '/a.key' }), problem);
  assert.deepEqual(problemsOf({ TLS_CERT: '/a.pem', TLS_KEY: '/a.key' }), []);
});

test('the path of a Unix socket is as long as the system can hold, counted in bytes', () => {
  assert.deepEqual(problemsOf({ UDS_PATH: `/${'a'.repeat(106)}` }), []);
  assert.deepEqual(problemsOf({ UDS_PATH: `/${'é'.repeat(54)}` }), [
    'UDS_PATH must have at most 107 bytes, not 109',
  ]);
});
