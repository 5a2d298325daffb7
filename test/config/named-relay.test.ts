// The applications that requests may name: which hosts this server dials, and which it never does.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../../src/config/config.js';
import { FieldReader } from '../../src/config/fields.js';
import { readNamedRelay } from '../../src/config/named-relay.js';

const TOKEN = 'token-of-the-server';

function read(value: unknown, hosts: string, token?: string) {
  const env = { RELAY_ALLOWED_HOSTS: hosts, ...(token === undefined ? {} : { RELAY_AUTH_TOKEN: token }) };
  const reader = new FieldReader();
  const relay = readNamedRelay(reader, value, 'relay', readConfig(env).namedRelays);
  return { relay, problems: reader.problems };
}

const mistakes = (value: unknown, hosts = 'bot.example.com') => read(value, hosts).problems;
const isDialled = (url: string, hosts: string) => read({ url }, hosts).relay !== undefined;

test('by default a request may name no application, and the refusal names the variable', () => {
  assert.deepEqual(readConfig({}).namedRelays, { hosts: [], authToken: undefined });
  assert.deepEqual(mistakes({ url: 'wss://bot.example.com/' }, ''), [
    'relay must be absent: a request may name no application here; RELAY_ALLOWED_HOSTS is not set',
  ]);
});

test('an application has the fields of an agent, and the token of the server signs its handshake', () => {
  const value = {
    url: 'wss://bot.example.com/calls?tenant=acme',
    action: 'https://bot.example.com/ended',
    interruptible: 'speech',
    parameters: { tenant: '$API_KEYS' },
  };
  const { relay } = read(value, 'bot.example.com', TOKEN);
  assert.deepEqual(
    [relay?.name, relay?.url, relay?.action, relay?.authToken, relay?.interruptible],
    ['bot.example.com', value.url, value.action, TOKEN, 'speech'],
  );
  assert.deepEqual(relay?.parameters, { tenant: '$API_KEYS' }, 'nothing is read from the environment');
  assert.equal(read({ url: value.url }, 'bot.example.com').relay?.authToken, undefined);
});

for (const [hosts, dialled, refused] of [
  [
    'bot.example.com',
    ['wss://bot.example.com/a', 'wss://BOT.example.com:443/a'],
    [
      'wss://bot.example.com:8443/',
      'wss://example.com/',
      'wss://a.bot.example.com/',
      'wss://bot.example.com.evil.org/',
      'wss://evilbot.example.com/',
      'wss://bot.example.com./',
    ],
  ],
  [
    'Bot.Example.com:8443',
    ['wss://bot.example.com:8443/'],
    ['wss://bot.example.com/', 'wss://bot.example.com:8444/'],
  ],
  [
    '*.example.com',
    ['wss://a.example.com/', 'wss://a.b.example.com/'],
    [
      'wss://example.com/',
      'wss://badexample.com/',
      'wss://a.example.com:8443/',
      'wss://a.example.com.evil.org/',
    ],
  ],
  [
    '127.0.0.1:8080, [::1]:8080, localhost',
    [
      'ws://127.0.0.1:8080/',
      'wss://127.0.0.1:8080/',
      'ws://0x7f000001:8080/',
      'ws://[0:0:0:0:0:0:0:1]:8080/',
      'ws://localhost/',
      'wss://localhost/',
    ],
    ['ws://127.0.0.1/', 'ws://127.0.0.2:8080/', 'ws://[::ffff:127.0.0.1]:8080/', 'ws://localhost:8080/'],
  ],
  ['10.0.0.5:8443', ['wss://10.0.0.5:8443/'], ['wss://10.0.0.6:8443/', 'ws://10.0.0.5:8443/']],
] as const) {
  test(`with ${hosts} those hosts are dialled, and no others`, () => {
    for (const url of dialled) assert.ok(isDialled(url, hosts), url);
    for (const url of refused) assert.ok(!isDialled(url, hosts), url);
  });
}

test('private addresses are refused in every spelling, unless the operator has listed them', () => {
  for (const host of [
    '127.0.0.1',
    '2130706433',
    '0x7f.1',
    '10.0.0.5',
    '169.254.169.254',
    '[::1]',
    '[::ffff:10.0.0.5]',
    '[fd00::1]',
    'localhost',
    '0.0.0.0',
  ])
    assert.match(
      mistakes({ url: `wss://${host}/` }, '*.example.com,bot.example.com').join('\n'),
      /^relay\.url must be at an allowed host, and ".+" is none; RELAY_ALLOWED_HOSTS lists those that are$/,
      host,
    );
});

for (const [what, value, problem] of [
  ['no object', 7, 'relay must be an object'],
  ['no URL', {}, 'relay.url must be a wss URL, or a ws URL of this machine, without user and fragment'],
  [
    'ws to another machine',
    { url: 'ws://bot.example.com/' },
    'relay.url must be a wss URL, or a ws URL of this machine, without user and fragment',
  ],
  [
    'another protocol',
    { url: 'https://bot.example.com/' },
    'relay.url must be a wss URL, or a ws URL of this machine, without user and fragment',
  ],
  [
    'a user in the URL',
    { url: 'wss://bot.example.com@evil.org/' },
    'relay.url must be a wss URL, or a ws URL of this machine, without user and fragment',
  ],
  [
    'the name of a variable',
    { url: 'wss://bot.example.com/', authTokenEnv: 'API_KEYS' },
    'relay.authTokenEnv must be absent: a request names no variables, and a token of the server signs the handshake',
  ],
  [
    'an action at another host',
    { url: 'wss://bot.example.com/', action: 'https://169.254.169.254/' },
    'relay.action must be at an allowed host, and "169.254.169.254" is none; RELAY_ALLOWED_HOSTS lists those that are',
  ],
  [
    'an action in the clear',
    { url: 'wss://bot.example.com/', action: 'http://bot.example.com/' },
    'relay.action must be an https URL, or an http URL of this machine',
  ],
  [
    'too many parameters',
    { url: 'wss://bot.example.com/', parameters: { a: 'x'.repeat(8192) } },
    'relay.parameters must have at most 8192 characters together',
  ],
  [
    'a bad attribute',
    { url: 'wss://bot.example.com/', interruptible: 'loudly' },
    'relay.interruptible must be one of none, dtmf, speech, any',
  ],
] as const) {
  test(`${what} is refused by name`, () => {
    assert.deepEqual(mistakes(value), [problem]);
  });
}

test('a field that there is not is refused by name, whatever it would read', () => {
  for (const field of ['authToken', 'keyEnv', 'promptFile', 'headers'])
    assert.match(
      mistakes({ url: 'wss://bot.example.com/', [field]: 'x' }).join('\n'),
      new RegExp(`^relay: "${field}" is none of url, action, welcomeGreeting, `),
    );
});

test('mistakes in the variables stop the start', () => {
  for (const item of [
    '*',
    '*.com',
    '*.0.0.1',
    'a b',
    'https://bot.example.com',
    'host:0',
    'host:70000',
    'a:1:2',
  ])
    assert.throws(
      () => readConfig({ RELAY_ALLOWED_HOSTS: item }),
      /RELAY_ALLOWED_HOSTS must be host names or addresses, each with a port or without one/,
      item,
    );
  assert.throws(
    () => readConfig({ RELAY_AUTH_TOKEN: TOKEN }),
    /RELAY_AUTH_TOKEN has no effect without RELAY_ALLOWED_HOSTS/,
  );
  assert.throws(
    () => readConfig({ RELAY_ALLOWED_HOSTS: 'a.example.com', RELAY_AUTH_TOKEN: 'short' }),
    /RELAY_AUTH_TOKEN must have at least 16 characters/,
  );
});
