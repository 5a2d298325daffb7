// The variables of AudioSocket.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../../src/config/config.js';
import { ParleyError } from '../../src/errors.js';

const configOf = (env: Record<string, string>) => readConfig(env).audioSocket;

function problemsOf(env: Record<string, string>): string[] {
  try {
    readConfig(env);
  } catch (error) {
    assert.ok(error instanceof ParleyError && error.code === 'CONFIG_INVALID');
    return error.message.split('\n- ').slice(1);
  }
  return [];
}

test('without a port there is no AudioSocket, and what belongs to it is a mistake', () => {
  assert.equal(configOf({}), undefined);
  assert.deepEqual(problemsOf({ AUDIOSOCKET_ALLOW: '10.0.0.0/8' }), [
    'AUDIOSOCKET_ALLOW needs AUDIOSOCKET_PORT, the port of AudioSocket',
  ]);
});

test('a port alone serves this machine', () => {
  assert.deepEqual(configOf({ AUDIOSOCKET_PORT: '9092' }), {
    address: '127.0.0.1',
    port: 9092,
    allow: ['127.0.0.0/8', '::1'],
    agent: undefined,
    unansweredMs: 30_000,
    key: undefined,
  });
});

test('a call that nobody takes has a bound of its own', () => {
  const env = { AUDIOSOCKET_PORT: '9092', AUDIOSOCKET_UNANSWERED_SECONDS: '7.5' };
  assert.equal(configOf(env)?.unansweredMs, 7500);
  assert.deepEqual(problemsOf({ ...env, AUDIOSOCKET_UNANSWERED_SECONDS: '0' }), [
    'AUDIOSOCKET_UNANSWERED_SECONDS must be a number from 1 to 3600, not "0"',
  ]);
});

test('the key of the calls must be the name of one, and a wrong value is not told', () => {
  const key = '0123456789abcdef';
  const env = { AUDIOSOCKET_PORT: '9092', API_KEYS: `shop ${key}` };
  assert.equal(configOf({ ...env, AUDIOSOCKET_KEY: 'shop' })?.key, 'shop');
  const [problem = '', ...more] = problemsOf({ ...env, AUDIOSOCKET_KEY: key });
  assert.match(problem, /^AUDIOSOCKET_KEY must be the name of a key of API_KEYS/);
  assert.deepEqual([more, problem.includes(key)], [[], false]);
  const { API_KEYS: _keys, ...open } = env;
  assert.equal(problemsOf({ ...open, AUDIOSOCKET_KEY: 'shop' }).length, 1);
  assert.equal(configOf({ ...open, API_KEYS_FILE: '/run/keys', AUDIOSOCKET_KEY: 'shop' })?.key, 'shop');
});

test('an address that others reach needs a list of those who may call', () => {
  const open = { AUDIOSOCKET_PORT: '9092', AUDIOSOCKET_ADDRESS: '0.0.0.0' };
  assert.match(problemsOf(open).join(), /^AUDIOSOCKET_ADDRESS 0\.0\.0\.0 is open to others/);
  const allow = '10.0.0.7, 2001:db8::/32';
  assert.deepEqual(configOf({ ...open, AUDIOSOCKET_ALLOW: allow })?.allow, ['10.0.0.7', '2001:db8::/32']);
  assert.deepEqual(problemsOf({ ...open, AUDIOSOCKET_ALLOW: '10.0.0.0/33' }), [
    'AUDIOSOCKET_ALLOW must be addresses or networks such as 10.0.0.0/8, not "10.0.0.0/33"',
  ]);
});

test('the agent must exist, or be none', () => {
  const agents = { AGENT_LLM_URL: 'http://127.0.0.1:11434/v1', AGENT_LLM_MODEL: 'small' };
  const env = { ...agents, AUDIOSOCKET_PORT: '9092' };
  assert.equal(configOf({ ...env, AUDIOSOCKET_AGENT: 'default' })?.agent, 'default');
  assert.equal(configOf({ ...env, AUDIOSOCKET_AGENT: 'none' })?.agent, 'none');
  assert.deepEqual(problemsOf({ ...env, AUDIOSOCKET_AGENT: 'sales' }), [
    'AUDIOSOCKET_AGENT must be the name of an agent, or none, not "sales"',
  ]);
});
