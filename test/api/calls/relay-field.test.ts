// The field `relay` of POST /v1/calls: an application for one call, by its address.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type NamedRelays, NO_NAMED_RELAYS } from '../../../src/config/named-relay.js';
import { RELAY_ATTRIBUTES } from '../../../src/config/relay-config.js';
import { errorIn, openApp } from '../app-under-test.js';
import { RELAY_FIELD } from '../../../src/api/calls/relay-field.js';

const NAMED = {
  hosts: [{ host: 'bot.example.com', isWildcard: false, port: undefined }],
  authToken: 'token-of-the-server',
};
const URL = 'wss://bot.example.com/calls';

async function open(t: Parameters<typeof openApp>[0], namedRelays: NamedRelays = NAMED) {
  const under = await openApp(t, { namedRelays });
  const place = (body: object) =>
    under.app.inject({ method: 'POST', url: '/v1/calls', payload: { to: '100', ...body } });
  return { ...under, place };
}

test('the application is placed with the call, with the token of the server and the defaults', async (t) => {
  const under = await open(t);
  const relay = { url: URL, welcomeGreeting: 'Hello.', parameters: { order: '7' }, interruptible: true };
  assert.equal((await under.place({ relay, agent: null })).statusCode, 201);
  const [request] = under.phone.requests;
  const { url, authToken, welcomeGreeting, parameters, interruptible, holdPhrase } = request?.relay ?? {};
  assert.deepEqual(
    [url, authToken, welcomeGreeting, parameters, interruptible, holdPhrase],
    [URL, 'token-of-the-server', 'Hello.', { order: '7' }, 'any', 'One moment, please.'],
  );
  assert.equal(request?.agent, undefined);
});

test('what cannot be asked of an application is refused by field, and no call is placed', async (t) => {
  const under = await open(t);
  const cases: [object, string, RegExp][] = [
    [{ relay: 'wss://bot.example.com/' }, 'relay', /"relay" must be an object/],
    [{ relay: {} }, 'relay.url', /"relay\.url" must be a string of 1 to 1000 characters/],
    [{ relay: { url: URL }, agent: 'sales' }, 'relay', /"relay" must be absent where there is "agent"/],
    [{ relay: { url: URL }, say: { text: 'Hi.' } }, 'relay', /"relay" must be absent where there is "say"/],
    [{ relay: { url: 'ws://bot.example.com/' } }, 'relay.url', /"relay\.url" must be a wss URL/],
    [
      { relay: { url: 'wss://10.0.0.5/' } },
      'relay.url',
      /must be at an allowed host, and "10\.0\.0\.5" is none$/,
    ],
    [{ relay: { url: 'wss://evil.example.org/' } }, 'relay.url', /and "evil\.example\.org" is none/],
    [{ relay: { url: URL, action: 'https://evil.org/' } }, 'relay.action', /and "evil\.org" is none/],
    [{ relay: { url: URL, authTokenEnv: 'API_KEYS' } }, 'relay.authTokenEnv', /must be absent/],
    [{ relay: { url: URL, colour: 'red' } }, 'relay', /"colour" is none of url, action/],
    [
      { relay: { url: URL, interruptible: 'loudly' } },
      'relay.interruptible',
      /"none", "dtmf", "speech", "any"/,
    ],
    [{ relay: { url: URL, speechTimeout: 100 } }, 'relay.speechTimeout', /from 600 to 5000/],
    [{ relay: { url: URL, languages: [{ voice: 'slt' }] } }, 'relay.languages[0].code', /a string/],
    [{ relay: { url: URL, goodbye: 'Bye.' } }, 'relay.goodbye', /no effect without idleSeconds/],
  ];
  for (const [body, field, message] of cases) {
    const answer = await under.place(body);
    const error = errorIn(answer.body);
    assert.deepEqual([answer.statusCode, error.code, error.param], [400, 'invalid_value', field], field);
    assert.match(error.message, message, field);
  }
  assert.deepEqual(under.phone.requests, []);
});

test('a server without RELAY_ALLOWED_HOSTS refuses the field and names no variable', async (t) => {
  const under = await open(t, NO_NAMED_RELAYS);
  const answer = await under.place({ relay: { url: URL } });
  assert.deepEqual([answer.statusCode, errorIn(answer.body).param], [400, 'relay']);
  assert.equal(
    errorIn(answer.body).message,
    '"relay" must be absent: a request may name no application here',
  );
  assert.deepEqual(under.phone.requests, []);
});

test('the document names every attribute of an application', () => {
  const documented = Object.keys(RELAY_FIELD.properties ?? {}).toSorted();
  assert.deepEqual(documented, ['url', 'action', ...RELAY_ATTRIBUTES].toSorted());
});
