// The variables of the operator's applications.
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

test('call records go to an address of HTTP, and only signed', () => {
  const CALL_WEBHOOK_URL = 'https://example.org/calls';
  const CALL_WEBHOOK_SECRET = 's'.repeat(16);
  assert.deepEqual(problemsOf({ CALL_WEBHOOK_URL, CALL_WEBHOOK_SECRET }), []);
  const both = ['CALL_WEBHOOK_URL and CALL_WEBHOOK_SECRET must be set together'];
  assert.deepEqual(problemsOf({ CALL_WEBHOOK_URL }), both);
  assert.deepEqual(problemsOf({ CALL_WEBHOOK_SECRET }), both);
  for (const url of ['ftp://example.org', 'example.org', 'https://user:secret@example.org/']) {
    const [problem = '', ...more] = problemsOf({ CALL_WEBHOOK_URL: url, CALL_WEBHOOK_SECRET });
    assert.match(problem, /^CALL_WEBHOOK_URL must be an address such as https:/, url);
    assert.equal(problem.includes('secret'), false);
    assert.deepEqual(more, []);
  }
  assert.deepEqual(problemsOf({ CALL_WEBHOOK_URL, CALL_WEBHOOK_SECRET: 'short' }), [
    'CALL_WEBHOOK_SECRET must have at least 16 characters',
  ]);
});

test('one application decides about incoming calls: a URL, or the clients with one key', () => {
  const secret = { CALL_WEBHOOK_SECRET: 's'.repeat(16) };
  const url = { CALL_INCOMING_URL: 'https://example.org/incoming' };
  const incomingOf = (env: Record<string, string>) => readConfig(env).applications.incoming;
  assert.equal(incomingOf({ CALL_INCOMING_FALLBACK: 'reject' }), undefined);
  const usual = { url: undefined, decider: undefined, timeoutMs: 3000, fallback: 'routes' };
  assert.deepEqual(incomingOf({ ...url, ...secret }), { ...usual, url: url.CALL_INCOMING_URL });
  assert.deepEqual(incomingOf({ CALL_INCOMING_KEY: 'acme' }), { ...usual, decider: 'acme' });
  assert.deepEqual(problemsOf({ ...url, CALL_INCOMING_KEY: 'acme' }), [
    'CALL_INCOMING_KEY and CALL_INCOMING_URL are two ways to decide: set one of them',
    'CALL_INCOMING_URL needs CALL_WEBHOOK_SECRET, which signs its requests',
  ]);
});
