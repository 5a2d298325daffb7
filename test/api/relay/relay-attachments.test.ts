// Applications that attach to running calls over real sockets of a real HTTP server.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { RelayAttachments } from '../../../src/api/relay/relay-attachments.js';
import { OpenCalls } from '../../../src/call/open-calls.js';
import { openHandledCall } from '../../agents/handled-call.js';
import { openCalls } from '../../fakes/call-under-test.js';
import { CountedConnections } from '../../fakes/counted-connections.js';
import { until } from '../../fakes/until.js';
import { errorIn, openServer } from '../app-under-test.js';
import { refusal, SocketClient } from '../http/socket-client.js';
import { relayPartsOf } from './connect-relay.js';

const calls = openCalls();
const [SHOP, OTHER] = ['shop-key-0123456789', 'other-key-0123456789'];
const PATH = '/v1/calls/call-1/relay';

async function open(t: TestContext, apiKeys: readonly string[] = []) {
  const under = openHandledCall(calls);
  const open = new OpenCalls({ ownerOf: () => (apiKeys.length === 0 ? undefined : 'shop') });
  open.opened(under.handled);
  const connections = new CountedConnections();
  const relays = new RelayAttachments({ ...relayPartsOf(under, connections), openCalls: open });
  const { url } = await openServer(t, { relays, apiKeys });
  const headersOf = (key: string | undefined) =>
    key === undefined ? {} : { authorization: `Bearer ${key}` };
  return {
    ...under,
    open,
    counted: connections.noted,
    attach: (query = '', key?: string) =>
      SocketClient.open(t, `${url}${PATH}${query}`, { headers: headersOf(key) }),
    refused: async (path: string, key?: string) => {
      const { status, body } = await refusal(`${url}${path}`, headersOf(key));
      return [status, errorIn(body).message] as const;
    },
    token: async (key?: string, more: Readonly<Record<string, string>> = {}) => {
      const headers = { ...headersOf(key), ...more };
      const answer = await fetch(`${url}${PATH}`, { method: 'POST', headers });
      return { status: answer.status, body: (await answer.json()) as Record<string, string> };
    },
  };
}

const typesOf = ({ received }: SocketClient) => received.map(({ type }) => type);
const came = (client: SocketClient, type: string) => until(() => typesOf(client).includes(type));

test('an application attaches to a running call, hears the caller and speaks', async (t) => {
  const under = await open(t);
  const app = await under.attach(
    '?welcomeGreeting=Good+morning.&partialPrompts=true&speechTimeout=900&idleSeconds=60',
  );
  await came(app, 'setup');
  const { callSid, from } = app.received[0] ?? {};
  assert.deepEqual([callSid, from], ['call-1', 'sip:anna@example.com']);
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  under.begins();
  under.text('Hel', false);
  under.pass(1000);
  under.stops();
  under.text('Hello?');
  await until(() => typesOf(app).length === 3);
  assert.deepEqual(typesOf(app), ['setup', 'prompt', 'prompt']);
  app.send({ type: 'text', token: 'How can I help you?', last: true });
  await under.passUntil(() => under.count('utterance.spoken') === 2);
  assert.deepEqual(under.engine.begun, ['Good morning.', 'How can I help you?']);
  app.send({ type: 'end' });
  assert.deepEqual(await app.closed(), [1000, '']);
  await until(() => under.orders.includes('hang up'));
});

test('two applications at one call, or one beside an agent, are refused', async (t) => {
  const under = await open(t);
  await came(await under.attach(), 'setup');
  assert.deepEqual(await under.refused(PATH), [409, 'an application conducts this call already']);
  assert.equal((await under.token()).status, 409);
  const other = await open(t);
  other.open.conductedBy('call-1', 'the agent "sales"');
  assert.deepEqual(await other.refused(PATH), [409, 'the agent "sales" conducts this call already']);
});

test('a call that is over, or was never, is nowhere', async (t) => {
  const under = await open(t);
  assert.deepEqual(await under.refused('/v1/calls/call-2/relay'), [404, 'there is no open call of this id']);
  await under.call.close('hung up');
  assert.deepEqual(await under.refused(PATH), [404, 'there is no open call of this id']);
});

test('mistakes in the query are named before the socket opens', async (t) => {
  const under = await open(t);
  const [status, message] = await under.refused(
    `${PATH}?interruptible=loudly&url=wss://x&partialPrompts=maybe`,
  );
  assert.equal(status, 400);
  assert.match(message, /query: "url" is none of/);
  assert.match(message, /query\.interruptible must be one of/);
  assert.match(message, /query\.partialPrompts must be true or false/);
});

test('a key of another owner sees no call, and a token reaches its own call only', async (t) => {
  const under = await open(t, [`shop ${SHOP}`, `other ${OTHER}`]);
  assert.equal((await under.refused(PATH))[0], 401);
  assert.equal((await under.refused(PATH, OTHER))[0], 404);
  assert.equal((await under.token(OTHER)).status, 404);
  const { status, body } = await under.token(SHOP);
  assert.deepEqual([status, body['object'], body['call'], body['url']], [201, 'call.relay', 'call-1', PATH]);
  const token = body['token'] ?? '';
  assert.match(token, /^rt_[\w-]{43}$/);
  assert.equal((await under.refused('/v1/calls/call-2/relay', token))[0], 401);
  assert.equal((await under.refused('/v1/calls/call-1/socket', token))[0], 401);
  const proxied = await under.token(SHOP, { 'x-forwarded-prefix': '/voice' });
  assert.equal(proxied.body['url'], `/voice${PATH}`);
  const next = (await under.token(SHOP)).body['token'] ?? '';
  assert.equal((await under.refused(PATH, token))[0], 401, 'the next token ends it');
  await came(await under.attach('', next), 'setup');
});

test("the call of an application that has lost its socket is nobody else's", async (t) => {
  const under = await open(t, [`shop ${SHOP}`, `other ${OTHER}`]);
  const first = await under.attach('', SHOP);
  await came(first, 'setup');
  first.socket.terminate();
  await until(() => under.engine.begun.length === 1);
  assert.equal((await under.refused(PATH, OTHER))[0], 404);
  await came(await under.attach('', SHOP), 'setup');
});

test('a token may come in the query, for clients without headers', async (t) => {
  const under = await open(t, [`shop ${SHOP}`]);
  const { token = '' } = (await under.token(SHOP)).body;
  await came(await under.attach(`?token=${token}`), 'setup');
});

test('an application that comes back goes on where it was, with what was said meanwhile', async (t) => {
  const under = await open(t);
  const first = await under.attach('?interruptible=none');
  await came(first, 'setup');
  first.socket.terminate();
  await until(() => under.engine.begun.length === 1);
  assert.deepEqual(under.engine.begun, ['One moment, please.']);
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  under.says('Are you there?');
  const second = await under.attach();
  await until(() => typesOf(second).length === 2);
  const [setup, prompt] = second.received;
  assert.deepEqual([setup?.['resumed'], prompt?.['voicePrompt']], [true, 'Are you there?']);
  assert.equal(setup?.['sessionId'], first.received[0]?.['sessionId']);
  assert.deepEqual(under.counted, ['attached_relay opened', 'attached_relay reconnected']);
});

test('an application that stays away half a minute has failed, and the call ends with a phrase', async (t) => {
  const under = await open(t);
  const app = await under.attach('?failurePhrase=Goodbye.');
  await came(app, 'setup');
  app.socket.terminate();
  await until(() => under.engine.begun.length === 1);
  await under.passUntil(() => under.count('utterance.spoken') === 1);
  under.pass(30_000);
  await under.passUntil(() => under.orders.includes('hang up'));
  assert.deepEqual(under.engine.begun, ['One moment, please.', 'Goodbye.']);
  const failed = ['attached_relay opened', 'attached_relay closed', 'attached_relay failed: lost'];
  assert.deepEqual(under.counted, failed);
});

test('a caller who hangs up closes the socket of the application', async (t) => {
  const under = await open(t);
  const app = await under.attach();
  await came(app, 'setup');
  await under.call.close('peer hung up');
  assert.deepEqual(await app.closed(), [1000, '']);
});
