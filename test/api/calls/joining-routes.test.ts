// Joins calls over HTTP: calls, book and rules are real, and what joins their sound is the test's.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { openCalls } from '../../fakes/call-under-test.js';
import { until } from '../../fakes/until.js';
import { joinedCalls } from '../../call/joined-calls.js';
import { errorIn, openApp } from '../app-under-test.js';
import { documentOf, operationsOf } from '../openapi-document.js';

const calls = openCalls();
const SHOP = 'shop-0123456789abcdef';
const BANK = 'bank-0123456789abcdef';
const ADMIN = 'admin-0123456789abcdef';

async function open(t: TestContext, apiKeys: readonly string[] = []) {
  const under = joinedCalls(t, calls);
  const { app, speech } = await openApp(t, { joining: under.joining, apiKeys });
  const ask = async (
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    url: string,
    payload?: object,
    key?: string,
  ) => {
    const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
    const body = payload === undefined ? {} : { payload };
    const answer = await app.inject({ method, url: `/v1${url}`, headers, ...body });
    const { statusCode: status } = answer;
    const error = () => ({ status, code: errorIn(answer.body).code, param: errorIn(answer.body).param });
    return { status, error, json: () => answer.json<Record<string, unknown>>() };
  };
  return { ...under, app, speech, ask };
}

test('two calls are joined and parted over HTTP', async (t) => {
  const { open: call, ask, joiner } = await open(t);
  const [a, b] = [call(), call()];
  const made = await ask('POST', `/calls/${a.call.id}/bridge`, { call: b.call.id, end_key: '*' });
  assert.deepEqual(
    [made.status, made.json()],
    [201, { object: 'call.bridge', call: a.call.id, other: b.call.id, state: 'connected', mode: 'relay' }],
  );
  assert.equal((await ask('DELETE', `/calls/${b.call.id}/bridge`)).status, 204);
  assert.deepEqual((await ask('DELETE', `/calls/${b.call.id}/bridge`)).error(), {
    status: 404,
    code: 'not_found',
    param: null,
  });
  assert.ok(joiner.isIdle);
});

test('a call is placed for a bridge with everything that was asked for', async (t) => {
  const { open: call, ask, placed } = await open(t);
  const a = call();
  const made = await ask('POST', `/calls/${a.call.id}/bridge`, {
    to: '+491701234567',
    from: 'sip:shop@example.org',
    trunk: 'main',
    ring_timeout: 20.5,
    early_media: false,
    music: 'none',
  });
  assert.deepEqual([made.status, made.json()['state'], made.json()['other']], [201, 'ringing', 'call_1']);
  assert.deepEqual(placed(), [
    { to: '+491701234567', from: 'sip:shop@example.org', trunk: 'main', ringTimeoutMs: 20_500 },
  ]);
});

test('what cannot be joined is refused by field', async (t) => {
  const { open: call, ask, nothingLeft } = await open(t);
  const [a, b] = [call(), call()];
  const bridge = `/calls/${a.call.id}/bridge`;
  const [transfer, supervise] = [`/calls/${a.call.id}/warm_transfer`, `/calls/${a.call.id}/supervise`];
  for (const [url, body, status, code, param] of [
    [bridge, { call: a.call.id }, 400, 'invalid_value', 'call'],
    [bridge, {}, 400, 'invalid_value', 'call'],
    [bridge, { call: b.call.id, to: '1' }, 400, 'invalid_value', 'call'],
    [bridge, { call: 'call-9' }, 404, 'not_found', null],
    [bridge, { to: '1\r\nX: 2' }, 400, 'invalid_value', 'to'],
    [bridge, { call: b.call.id, end_key: '12' }, 400, 'invalid_value', 'end_key'],
    [bridge, { call: b.call.id, music: 'missing' }, 404, 'not_found', 'music'],
    [bridge, { call: b.call.id, ring_timeout: 181 }, 400, 'invalid_value', 'ring_timeout'],
    ['/calls/call-9/bridge', { call: b.call.id }, 404, 'not_found', null],
    [transfer, {}, 400, 'invalid_value', 'to'],
    [transfer, { to: '1\r\nX: 2' }, 400, 'invalid_value', 'to'],
    [transfer, { to: '1', summary: '' }, 400, 'invalid_value', 'summary'],
    [transfer, { to: '1', ring_timeout: 0 }, 400, 'invalid_value', 'ring_timeout'],
    [transfer, { to: '1', accept_key: '12' }, 400, 'invalid_value', 'accept_key'],
    [transfer, { to: '1', accept_key: '*' }, 400, 'invalid_value', 'accept_key'],
    [transfer, { to: '1', after: 'wait' }, 400, 'invalid_value', 'after'],
    [transfer, { to: '1', music: 'missing' }, 404, 'not_found', 'music'],
    [transfer, { to: '1', summary: 'x'.repeat(1001) }, 400, 'text_too_long', 'summary'],
    ['/calls/call-9/warm_transfer', { to: '1' }, 404, 'not_found', null],
    [supervise, { call: a.call.id, mode: 'listen' }, 400, 'invalid_value', 'call'],
    [supervise, { call: b.call.id }, 400, 'invalid_value', 'mode'],
    [supervise, { call: b.call.id, mode: 'spy' }, 400, 'invalid_value', 'mode'],
    [supervise, { mode: 'listen' }, 400, 'invalid_value', 'call'],
    [supervise, { call: 'call-9', mode: 'listen' }, 404, 'not_found', null],
    [supervise, { call: b.call.id, mode: 'whisper' }, 409, 'call_state', 'mode'],
    ['/rooms/a%2Fb/members', { call: a.call.id }, 400, 'invalid_value', 'name'],
    ['/rooms/weekly/members', {}, 400, 'invalid_value', 'call'],
    ['/rooms/weekly/members', { call: a.call.id, coach: 'x' }, 400, 'invalid_value', 'coach'],
    ['/rooms/weekly/members', { call: a.call.id, max_members: 1000 }, 400, 'invalid_value', 'max_members'],
    ['/rooms/weekly/say', { text: 'Hello.' }, 404, 'not_found', null],
    ['/rooms/weekly/play', { url: 'http://127.0.0.1/a.wav' }, 404, 'not_found', null],
    ['/rooms/weekly/recording', { action: 'start' }, 404, 'not_found', null],
    ['/queues/support/members', { call: a.call.id, priority: 0.5 }, 400, 'invalid_value', 'priority'],
    ['/queues/support/next', { call: a.call.id }, 404, 'not_found', null],
  ] as const) {
    const answer = await ask('POST', url, body);
    assert.deepEqual(answer.error(), { status, code, param }, `${url} ${JSON.stringify(body)}`);
  }
  await until(() => nothingLeft());
});

test('a caller is handed over and taken back over HTTP', async (t) => {
  const { open: call, ask, placed, nothingLeft } = await open(t);
  const a = call();
  const transfer = `/calls/${a.call.id}/warm_transfer`;
  const made = await ask('POST', transfer, {
    to: '+491701234567',
    summary: 'Ms Novak asks for a refund.',
    voice: 'slt',
    language: 'en',
    ring_timeout: 20.5,
    from: 'sip:shop@example.org',
    trunk: 'main',
    music: 'none',
    accept_key: '1',
    decline_key: 'd',
    after: 'stay',
  });
  assert.deepEqual(
    [made.status, made.json()],
    [201, { object: 'call.warm_transfer', call: a.call.id, other: 'call_1', state: 'ringing' }],
  );
  const screening = { text: 'Ms Novak asks for a refund.', voice: 'slt', language: 'en' };
  const from = { from: 'sip:shop@example.org', trunk: 'main' };
  const detect = { language: 'en', screening };
  assert.deepEqual(placed(), [{ to: '+491701234567', ...from, ringTimeoutMs: 20_500, detect }]);
  assert.equal((await ask('POST', transfer, { to: '1' })).error().code, 'call_state');
  assert.equal((await ask('DELETE', transfer)).status, 204);
  assert.equal((await ask('DELETE', transfer)).status, 404);
  assert.ok(nothingLeft());
});

test('a call is supervised in each mode over HTTP, and handed back', async (t) => {
  const { open: call, ask, told, nothingLeft } = await open(t);
  const [a, s] = [call(), call()];
  const supervise = `/calls/${a.call.id}/supervise`;
  for (const mode of ['listen', 'barge', 'take_over']) {
    const made = await ask('POST', supervise, { call: s.call.id, mode });
    assert.deepEqual(
      [made.status, made.json()],
      [201, { object: 'call.supervision', call: a.call.id, supervisor: s.call.id, mode }],
    );
  }
  assert.equal((await ask('DELETE', supervise)).status, 204);
  assert.equal((await ask('DELETE', supervise)).status, 404);
  assert.ok(nothingLeft());
  assert.equal(told.length, 8, 'three modes and the end, at each call');
});

test('a name of 10 kB finds no room, and breaks nothing', async (t) => {
  const { open: call, ask } = await open(t);
  const name = 'x'.repeat(10_000);
  const refused = await ask('POST', `/rooms/${name}/members`, { call: call().call.id });
  assert.equal(refused.status, 414);
  const shorter = await ask('GET', `/rooms/${'x'.repeat(65)}`);
  assert.deepEqual(shorter.error(), { status: 400, code: 'invalid_value', param: 'name' });
  assert.deepEqual((await ask('GET', '/rooms')).json(), { object: 'list', data: [] });
});

test('members come, change and leave, and the room is listed', async (t) => {
  const { open: call, ask } = await open(t);
  const [a, b] = [call(), call()];
  const made = await ask('POST', '/rooms/weekly/members', { call: a.call.id, muted: true, moderator: true });
  assert.equal(made.status, 201);
  assert.deepEqual(made.json(), {
    object: 'room',
    name: 'weekly',
    state: 'waiting',
    created_at: 1010,
    members: [
      {
        call: a.call.id,
        muted: true,
        deaf: false,
        hold: false,
        moderator: true,
        speaking: false,
        joined_at: 1010,
      },
    ],
  });
  await ask('POST', '/rooms/weekly/members', { call: b.call.id, coach: a.call.id });
  const change = (id: string, body: object) => ask('PATCH', `/rooms/weekly/members/${id}`, body);
  assert.equal((await change(a.call.id, { muted: false })).json()['muted'], false);
  assert.equal((await change(b.call.id, {})).json()['coach'], a.call.id);
  assert.equal((await change(b.call.id, { coach: '' })).json()['coach'], undefined);
  assert.equal((await change('call-9', {})).status, 404);
  const { data } = (await ask('GET', '/rooms')).json() as { data: { state: string; members: object[] }[] };
  assert.deepEqual(
    data.map(({ state, members }) => [state, members.length]),
    [['open', 2]],
  );
  assert.equal((await ask('DELETE', `/rooms/weekly/members/${b.call.id}`)).status, 204);
  assert.equal((await ask('DELETE', `/rooms/weekly/members/${a.call.id}`)).status, 204);
  await until(async () => (await ask('GET', '/rooms/weekly')).status === 404);
});

test('a text and a sound go into a room, and a room without a recorder says so', async (t) => {
  const { open: call, ask, joiner } = await open(t);
  for (const member of [call(), call()])
    await ask('POST', '/rooms/weekly/members', { call: member.call.id, sounds: false });
  const said = await ask('POST', '/rooms/weekly/say', { text: 'Welcome.', voice: 'slt' });
  assert.deepEqual([said.status, said.json()], [202, { object: 'room.sound', room: 'weekly' }]);
  const played = await ask('POST', '/rooms/weekly/play', { audio: 'UklGRiQ=', times: 2 });
  assert.equal(played.status, 202);
  assert.equal((await ask('POST', '/rooms/weekly/play', { file: 'bell.wav' })).status, 202);
  const unknown = await ask('POST', '/rooms/weekly/play', { file: 'unknown.wav' });
  assert.deepEqual(unknown.error(), { status: 400, code: 'invalid_value', param: 'file' });
  await until(() => joiner.mixers[0]?.sources.size === 1);
  const recorded = await ask('POST', '/rooms/weekly/recording', { action: 'start' });
  assert.deepEqual(recorded.error(), { status: 501, code: 'recording_off', param: null });
});

test('calls wait, are listed, leave and are taken over HTTP', async (t) => {
  const { open: call, ask } = await open(t);
  const [a, b, c] = [call(), call(), call()];
  await ask('POST', '/queues/support/members', { call: a.call.id });
  const made = await ask('POST', '/queues/support/members', { call: b.call.id, priority: 1 });
  const waiting = [
    { call: b.call.id, position: 1, priority: 1, joined_at: 1010, waited_ms: 0 },
    { call: a.call.id, position: 2, priority: 0, joined_at: 1010, waited_ms: 0 },
  ];
  const queue = { object: 'queue', name: 'support', created_at: 1010, waiting };
  assert.deepEqual([made.status, made.json()], [201, queue]);
  assert.deepEqual((await ask('GET', '/queues')).json(), { object: 'list', data: [queue] });
  const taken = await ask('POST', '/queues/support/next', { call: c.call.id });
  assert.deepEqual([taken.status, taken.json()['call']], [201, b.call.id]);
  assert.equal((await ask('DELETE', `/queues/support/members/${b.call.id}`)).status, 404, 'it was taken');
  assert.equal((await ask('DELETE', `/queues/support/members/${a.call.id}`)).status, 204);
  await until(async () => (await ask('GET', '/queues/support')).status === 404);
});

test('a key joins and sees nothing of another key', async (t) => {
  const { open: call, ask } = await open(t, [`shop ${SHOP}`, `bank ${BANK}`, `admin ${ADMIN}`]);
  const [ours, theirs] = [call({ owner: 'shop' }), call({ owner: 'bank' })];
  const join = (id: string, key: string) => ask('POST', '/rooms/weekly/members', { call: id }, key);
  assert.equal((await join(theirs.call.id, SHOP)).status, 404);
  assert.equal((await join(ours.call.id, SHOP)).status, 201);
  assert.equal((await ask('GET', '/rooms/weekly', undefined, BANK)).status, 404);
  assert.deepEqual((await ask('GET', '/rooms', undefined, BANK)).json()['data'], []);
  const bridge = (key: string) => ask('POST', `/calls/${theirs.call.id}/bridge`, { call: ours.call.id }, key);
  assert.deepEqual([(await bridge(SHOP)).status, (await bridge(BANK)).status], [404, 404]);
  assert.equal((await bridge(ADMIN)).error().code, 'call_state', 'the admin key reaches both');
});

test('the document has every address that joins calls, with its bodies', async (t) => {
  const operations = operationsOf(await documentOf(await openApp(t)))
    .filter(({ operation }) => operation.tags?.[0] === 'Bridges, rooms and queues')
    .map(({ method, path }) => `${method} ${path}`);
  assert.deepEqual(operations.toSorted(), [
    'DELETE /v1/calls/{id}/bridge',
    'DELETE /v1/calls/{id}/supervise',
    'DELETE /v1/calls/{id}/warm_transfer',
    'DELETE /v1/queues/{name}/members/{call}',
    'DELETE /v1/rooms/{name}/members/{call}',
    'GET /v1/queues',
    'GET /v1/queues/{name}',
    'GET /v1/rooms',
    'GET /v1/rooms/{name}',
    'PATCH /v1/rooms/{name}/members/{call}',
    'POST /v1/calls/{id}/bridge',
    'POST /v1/calls/{id}/supervise',
    'POST /v1/calls/{id}/warm_transfer',
    'POST /v1/queues/{name}/members',
    'POST /v1/queues/{name}/next',
    'POST /v1/rooms/{name}/members',
    'POST /v1/rooms/{name}/play',
    'POST /v1/rooms/{name}/recording',
    'POST /v1/rooms/{name}/say',
  ]);
});
