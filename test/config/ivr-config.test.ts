// The variables of call programs: the file, the TwiML document of incoming calls, and the hosts that programs
// may connect to.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../../src/config/config.js';
import { mayConnect } from '../../src/config/ivr-config.js';
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

function isReached(url: string, env: Record<string, string>): boolean {
  return mayConnect(readConfig(env).ivr, new URL(url));
}

test('a server has no programs, no document and no secret unless its variables name them', () => {
  assert.deepEqual(readConfig({}).ivr, {
    file: undefined,
    hosts: [],
    twimlUrl: undefined,
    authToken: undefined,
    publicUrl: undefined,
  });
  const env = {
    IVR_FILE: 'menus.json',
    TWIML_URL: 'https://ivr.example.com/voice?tenant=acme#rc=2&rp=5xx',
    TWIML_AUTH_TOKEN: 't'.repeat(16),
    IVR_ALLOWED_HOSTS: '*.example.com',
  };
  assert.deepEqual(readConfig(env).ivr, {
    file: 'menus.json',
    hosts: [{ host: '.example.com', isWildcard: true, port: undefined }],
    twimlUrl: env.TWIML_URL,
    authToken: env.TWIML_AUTH_TOKEN,
    publicUrl: undefined,
  });
});

test('TWIML_URL is an address of HTTP without a password, and its refusal does not repeat it', () => {
  const rule =
    'TWIML_URL must be an http or https URL of at most 2048 characters, without a user name or password';
  for (const url of [
    'ftp://ivr.example.com/voice',
    'ivr.example.com',
    'https://user:secret@ivr.example.com/voice',
    `https://ivr.example.com/${'a'.repeat(2048)}`,
  ])
    assert.deepEqual(problemsOf({ TWIML_URL: url }), [rule], url.slice(0, 50));
  assert.deepEqual(problemsOf({ TWIML_URL: 'http://127.0.0.1:3000/voice' }), []);
});

test('a short secret and a host that is none are mistakes, both told at once', () => {
  assert.deepEqual(
    problemsOf({ TWIML_AUTH_TOKEN: 't'.repeat(15), IVR_ALLOWED_HOSTS: 'a.example.com,*.com' }),
    [
      'TWIML_AUTH_TOKEN must have at least 16 characters',
      'IVR_ALLOWED_HOSTS must be host names or addresses, each with a port or without one, such as bot.example.com:8443, not "*.com"',
    ],
  );
});

test('without IVR_ALLOWED_HOSTS programs connect to this machine only, at any port', () => {
  for (const url of [
    'http://127.0.0.1:3000/',
    'https://localhost/',
    'http://[::1]:8080/',
    'http://127.9.9.9/',
  ])
    assert.equal(isReached(url, {}), true, url);
  for (const url of ['http://10.0.0.1/', 'https://example.com/', 'http://localhost.example.com/'])
    assert.equal(isReached(url, {}), false, url);
});

test('IVR_ALLOWED_HOSTS replaces this machine, which then has to be listed', () => {
  const env = { IVR_ALLOWED_HOSTS: 'ivr.example.com,127.0.0.1:3000' };
  for (const url of ['https://ivr.example.com/voice', 'http://ivr.example.com/', 'http://127.0.0.1:3000/'])
    assert.equal(isReached(url, env), true, url);
  for (const url of ['https://ivr.example.com:8443/', 'http://127.0.0.1:3001/', 'http://localhost:3000/'])
    assert.equal(isReached(url, env), false, url);
});

test('the host of TWIML_URL needs no entry, at its own scheme and port only', () => {
  const env = { TWIML_URL: 'https://ivr.example.com/voice', IVR_ALLOWED_HOSTS: 'media.example.com' };
  assert.equal(isReached('https://ivr.example.com/menu?step=2', env), true);
  for (const url of ['http://ivr.example.com/', 'https://ivr.example.com:8443/', 'https://www.example.com/'])
    assert.equal(isReached(url, env), false, url);
});

test('the public address has no / at its end, and no query', () => {
  assert.equal(readConfig({ PUBLIC_URL: 'https://a.example/pbx/' }).ivr.publicUrl, 'https://a.example/pbx');
  for (const PUBLIC_URL of [
    'a.example',
    'ftp://a.example',
    'https://me:word@a.example',
    'https://a.example/?b',
  ])
    assert.throws(() => readConfig({ PUBLIC_URL }), /PUBLIC_URL must be an http or https URL/);
});
