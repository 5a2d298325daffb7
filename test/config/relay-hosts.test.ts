// Which hosts a request may have the server connect to.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FieldReader } from '../../src/config/fields.js';
import { isHostEntry, readNamedRelay } from '../../src/config/relay-config.js';

function read(hosts: readonly string[], value: unknown) {
  const reader = new FieldReader();
  const relay = readNamedRelay(reader, value, 'relay', { hosts, authToken: undefined });
  return { relay, problems: reader.problems };
}

for (const [hosts, url, isTaken] of [
  [['bot.example.com'], 'wss://bot.example.com/', true],
  [['bot.example.com'], 'wss://BOT.example.com:8443/', true],
  [['Bot.Example.com:8443'], 'wss://bot.example.com:8443/', true],
  [['bot.example.com:8443'], 'wss://bot.example.com/', false],
  [['bot.example.com:443'], 'wss://bot.example.com/', true],
  [['bot.example.com'], 'wss://bot.example.com.evil.org/', false],
  [['bot.example.com'], 'wss://evil.org/bot.example.com', false],
  [['bot.example.com'], 'wss://xbot.example.com/', false],
  [['*.example.com'], 'wss://a.b.example.com/', true],
  [['*.example.com'], 'wss://example.com/', false],
  [['*.example.com'], 'wss://evilexample.com/', false],
  [['127.0.0.1:9000'], 'ws://127.0.0.1:9000/', true],
  [['127.0.0.1:9000'], 'ws://127.0.0.1:9001/', false],
  [['[::1]'], 'ws://[::1]:9000/', true],
  [['127.0.0.1'], 'ws://2130706433/', true], // the same address in another notation
  [['10.0.0.1'], 'ws://10.0.0.1/', false],
  [['bot.example.com'], 'wss://user:password@bot.example.com/', false],
] as const) {
  test(`${hosts.join()} ${isTaken ? 'allows' : 'does not allow'} ${url}`, () => {
    const { relay, problems } = read(hosts, { url });
    assert.equal(relay !== undefined, isTaken, problems.join());
    assert.equal(problems.length === 0, isTaken);
  });
}

test('without hosts nothing may be named, and the variable is', () => {
  const { relay, problems } = read([], { url: 'wss://bot.example.com/' });
  assert.equal(relay, undefined);
  assert.match(problems.join(), /RELAY_HOSTS names no host/);
});

test('the address of the action has an allowed host as well', () => {
  const url = 'wss://bot.example.com/';
  const { problems } = read(['bot.example.com'], { url, action: 'http://169.254.169.254/latest' });
  assert.deepEqual(problems, ['relay.action has a host that RELAY_HOSTS does not name']);
  assert.ok(read(['bot.example.com'], { url, action: 'https://bot.example.com/end' }).relay !== undefined);
});

test('secrets of the environment cannot be named', () => {
  const named = { url: 'wss://bot.example.com/', authTokenEnv: 'PATH' };
  const { relay, problems } = read(['bot.example.com'], named);
  assert.equal(relay, undefined);
  assert.match(problems.join(), /"authTokenEnv" is none of url, action/);
});

test('an entry is a host, a host with its port, or a domain', () => {
  const entries = ['a.example', 'a.example:1', '*.example', '[::1]:80', '127.0.0.1'];
  assert.deepEqual(entries.filter(isHostEntry), entries);
  assert.deepEqual(['wss://a.example', 'a.example/path', '*', 'a b', 'a:b', ''].filter(isHostEntry), []);
});
