// A client may use only the calls of its own API key.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { until } from '../../fakes/until.js';
import { errorIn, openApp, openServer } from '../app-under-test.js';
import { OFFER } from './fake-calls.js';
import { documentOf, operationsOf } from '../openapi-document.js';
import { refusal, SocketClient } from '../http/socket-client.js';

const [ACME, OTHER, ADMIN] = [
  'acme-0123456789abcdef',
  'other-0123456789abcdef',
  'admin-0123456789abcdef',
] as const;
const API_KEYS = [`acme ${ACME}`, OTHER, `admin ${ADMIN}`];
const UNKNOWN = 'call_unknown';

/** A body that each command takes. */
const BODIES: Readonly<Record<string, object>> = {
  say: { text: 'Hello.' },
  play: { url: 'https://a.example/b.wav' },
  dtmf: { digits: '1' },
  transfer: { to: '200' },
};

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

const LIMITS = { maxTextLength: 100, maxNewTokens: 2048, maxUploadBytes: 4096 };

async function open(t: TestContext) {
  const under = await openServer(t, { apiKeys: API_KEYS, limits: LIMITS });
  const ask = (key: string, path: string, method = 'GET', body?: object) =>
    fetch(`${under.url}${path}`, {
      method,
      headers: { ...bearer(key), ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const place = async (key: string) => {
    const { id } = (await (await ask(key, '/v1/calls', 'POST', { to: '100' })).json()) as { id: string };
    under.phone.become(id, { state: 'connected' });
    return id;
  };
  const listed = async (key: string) => {
    const { data } = (await (await ask(key, '/v1/calls')).json()) as { data: { id: string }[] };
    return data.map(({ id }) => id).sort();
  };
  return { ...under, ask, place, listed };
}

/** Every operation on one call that the interface has. */
async function operationsOnCalls(t: TestContext) {
  const document = await documentOf(await openApp(t));
  return operationsOf(document).filter(({ path }) => path.startsWith('/v1/calls/{id}'));
}

test('a call of another key is answered as one that does not exist, whatever is asked of it', async (t) => {
  const operations = await operationsOnCalls(t);
  assert.equal(operations.length, 10);
  const { ask, place, listed, phone } = await open(t);
  const id = await place(ACME);
  for (const { method, path } of operations) {
    const body = method === 'POST' ? (BODIES[path.split('/').at(-1) ?? ''] ?? {}) : undefined;
    const [foreign, unknown] = await Promise.all(
      [id, UNKNOWN].map((call) => ask(OTHER, path.replace('{id}', call), method, body)),
    );
    assert.ok(foreign !== undefined && unknown !== undefined);
    assert.equal(foreign.status, 404, `${method} ${path}`);
    assert.equal(unknown.status, 404, `${method} ${path}`);
    assert.deepEqual(errorIn(await foreign.text()), errorIn(await unknown.text()), `${method} ${path}`);
  }
  assert.deepEqual(phone.asked, []);
  assert.equal(phone.get(id).state, 'connected');
  assert.deepEqual(await listed(OTHER), []);
  assert.deepEqual(await listed(ACME), [id]);
});

test('the sound of a body or a form is played in a call of the own key only', async (t) => {
  const { url, place, sounds } = await open(t);
  const id = await place(ACME);
  const form = () => {
    const parts = new FormData();
    parts.append('file', new Blob(['sound']), 'a.wav');
    return parts;
  };
  for (const [body, type] of [
    [form, undefined],
    [() => 'sound', 'audio/wav'],
  ] as const) {
    const headers = (key: string) => ({
      ...bearer(key),
      ...(type === undefined ? {} : { 'content-type': type }),
    });
    const play = (key: string) =>
      fetch(`${url}/v1/calls/${id}/play`, { method: 'POST', body: body(), headers: headers(key) });
    assert.equal((await play(OTHER)).status, 404);
    assert.equal(sounds.sources.length, 0);
    assert.equal((await play(ACME)).status, 202);
    sounds.sources.length = 0;
  }
});

test('a socket is given for calls of the own key, and of any to the key named admin', async (t) => {
  const { url, place, phone } = await open(t);
  const id = await place(ACME);
  const socket = `${url}/v1/calls/${id}/socket`;
  const foreign = await refusal(socket, bearer(OTHER));
  const unknown = await refusal(`${url}/v1/calls/${UNKNOWN}/socket`, bearer(OTHER));
  assert.deepEqual([foreign.status, unknown.status], [404, 404]);
  assert.deepEqual(errorIn(foreign.body), errorIn(unknown.body));
  const other = await place(OTHER);
  for (const [key, done] of [
    [ACME, 'NOT_FOUND'],
    [ADMIN, 'done'],
  ] as const) {
    const client = await SocketClient.open(t, socket, { headers: bearer(key) });
    client.send({ type: 'transfer', id: 1, call: other });
    await until(() => client.received.some((message) => message['id'] === 1 && message['type'] !== 'state'));
    const answer = client.received.find((message) => message['id'] === 1 && message['type'] !== 'state');
    const { code } = (answer?.['error'] ?? {}) as { code?: string };
    assert.equal(code === undefined ? answer?.['type'] : code.toUpperCase(), done);
  }
  assert.deepEqual(phone.asked, [['transfer', id, { call: other }]]);
});

test('the key named admin sees and uses every call; a call without an owner is every key’s', async (t) => {
  const { ask, place, listed, phone } = await open(t);
  const [own, foreign] = [await place(ACME), await place(OTHER)];
  phone.add('inbound');
  phone.add('routed', { to: '100', owner: 'acme' });
  phone.add('server', { to: '100', owner: 'admin' });
  assert.deepEqual(await listed(ADMIN), [own, foreign, 'inbound', 'routed', 'server'].sort());
  assert.deepEqual(await listed(ACME), [own, 'inbound', 'routed'].sort());
  assert.deepEqual(await listed(OTHER), [foreign, 'inbound'].sort());
  for (const [key, call, status] of [
    [ADMIN, own, 200],
    [ADMIN, foreign, 200],
    [ADMIN, 'server', 200],
    [ACME, 'routed', 200],
    [OTHER, 'routed', 404],
    [ACME, 'inbound', 200],
    [OTHER, 'inbound', 200],
    [ACME, 'server', 404],
  ] as const) {
    assert.equal((await ask(key, `/v1/calls/${call}/interrupt`, 'POST')).status, status, `${key} ${call}`);
  }
});

test('an attended transfer takes no call of another key', async (t) => {
  const { ask, place, phone } = await open(t);
  const [own, foreign] = [await place(ACME), await place(OTHER)];
  const transfer = (call: string) => ask(ACME, `/v1/calls/${own}/transfer`, 'POST', { call });
  const [refused, unknown] = [await transfer(foreign), await transfer(UNKNOWN)];
  assert.deepEqual([refused.status, unknown.status], [404, 404]);
  assert.deepEqual(errorIn(await refused.text()), errorIn(await unknown.text()));
  assert.deepEqual(phone.asked, []);
  assert.equal((await transfer(await place(ACME))).status, 200);
});

test('two keys of one name share their calls, and a server without keys has no owners', async (t) => {
  const second = 'acme-again-0123456789abcdef';
  const shared = await openServer(t, { apiKeys: [...API_KEYS, `acme ${second}`] });
  shared.phone.add('call_1', { to: '100', owner: 'acme' });
  const got = (key: string) => fetch(`${shared.url}/v1/calls/call_1`, { headers: bearer(key) });
  assert.deepEqual([(await got(second)).status, (await got(OTHER)).status], [200, 404]);
  const { url, phone } = await openServer(t);
  const headers = { 'content-type': 'application/json' };
  await fetch(`${url}/v1/calls`, { method: 'POST', headers, body: '{"to": "100"}' });
  assert.equal(phone.requests[0]?.owner, undefined);
  assert.equal((await fetch(`${url}/v1/calls/call_1`)).status, 200);
});

test('a browser call is opened for its key, and ended with the key that asks for it', async (t) => {
  const { url, calls } = await open(t);
  const offered = await fetch(`${url}/v1/realtime/calls`, {
    method: 'POST',
    headers: { ...bearer(ACME), 'content-type': 'application/sdp' },
    body: OFFER,
  });
  const address = `${url}${offered.headers.get('location') ?? ''}`;
  assert.deepEqual([...calls.owners], [['rtc_1', 'acme']]);
  await fetch(address, { method: 'DELETE', headers: bearer(ADMIN) });
  await fetch(`${address}/hangup`, { method: 'POST', headers: bearer(ACME) });
  assert.deepEqual(calls.enders, [
    ['rtc_1', 'admin'],
    ['rtc_1', 'acme'],
  ]);
});
