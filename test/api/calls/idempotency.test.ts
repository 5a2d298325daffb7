// Requests that are sent twice: what is done once, and how long that is known.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParleyError } from '../../../src/errors.js';
import { Idempotency, type IdempotencyLimits } from '../../../src/api/calls/idempotency.js';
import { ManualTime } from '../../fakes/manual-time.js';
import { until } from '../../fakes/until.js';
import { errorIn, openApp, openServer } from '../app-under-test.js';

const DAY_MS = 24 * 3600 * 1000;
const CALLS = '/v1/calls';

function open(limits: Partial<IdempotencyLimits> = {}) {
  const time = new ManualTime(1000);
  const keys = new Idempotency<number>(time, limits);
  let done = 0;
  const once = (key: string, body: object = { to: '1' }, client = 'anna', work?: () => Promise<number>) =>
    keys.once({ client, key, body }, work ?? (() => Promise.resolve(++done)));
  return { time, keys, once };
}

const MISMATCH = { code: 'IDEMPOTENCY_MISMATCH' };

test('a key is worth the first outcome for a day, of one client', async () => {
  const { time, keys, once } = open();
  assert.deepEqual(await once('k'), { value: 1, replayed: false });
  time.advance(DAY_MS - 1);
  assert.deepEqual(await once('k'), { value: 1, replayed: true });
  assert.deepEqual(await once('k', { to: '2' }, 'ben'), { value: 2, replayed: false });
  time.advance(1);
  assert.deepEqual(await once('k', { to: '3' }), { value: 3, replayed: false });
  assert.equal(keys.size, 2);
});

test('the order of fields makes no other body, and the order of a list does', async () => {
  const { once } = open();
  await once('k', { a: 1, b: { c: [1, 2], d: 2 } });
  assert.equal((await once('k', { b: { d: 2, c: [1, 2] }, a: 1 })).replayed, true);
  await assert.rejects(once('k', { a: 1, b: { c: [2, 1], d: 2 } }), MISMATCH);
});

test('whoever comes while the first is being done waits for it; another body is refused at once', async () => {
  const { once } = open();
  let finish!: (value: number) => void;
  const first = once('k', {}, 'anna', () => new Promise((resolve) => (finish = resolve)));
  const never = () => assert.fail('it was done twice');
  const others = [once('k', {}, 'anna', never), once('k', {}, 'anna', never)];
  await assert.rejects(once('k', { to: '2' }), MISMATCH);
  finish(7);
  assert.deepEqual(await first, { value: 7, replayed: false });
  assert.deepEqual(await Promise.all(others), [
    { value: 7, replayed: true },
    { value: 7, replayed: true },
  ]);
});

test('a failure is that of everybody who waited, and is not remembered', async () => {
  const { keys, once } = open();
  let fail!: (error: Error) => void;
  const first = once('k', {}, 'anna', () => new Promise((_resolve, reject) => (fail = reject)));
  const second = once('k', {});
  fail(new ParleyError('CALL_LIMIT', 'full'));
  await assert.rejects(first, { code: 'CALL_LIMIT' });
  await assert.rejects(second, { code: 'CALL_LIMIT' });
  assert.equal(keys.size, 0);
  assert.deepEqual(await once('k', { to: 'another' }), { value: 1, replayed: false });
});

test('so many keys of a client are known, and the oldest goes first', async () => {
  const { keys, once } = open({ mostOfClient: 2 });
  for (const key of ['a', 'b', 'c']) await once(key);
  assert.equal(keys.size, 2);
  assert.equal((await once('b')).replayed, true);
  assert.equal((await once('a')).replayed, false);
});

test('where all clients together have too many, the one with the most gives one up', async () => {
  const { keys, once } = open({ most: 3 });
  await once('a', {}, 'ben');
  for (const key of ['a', 'b', 'c']) await once(key, {}, 'anna');
  assert.equal(keys.size, 3);
  assert.equal((await once('a', {}, 'ben')).replayed, true);
  assert.equal((await once('b', {}, 'anna')).replayed, true);
});

test('what is being done is never given up for another key: that is refused', async () => {
  const { once } = open({ mostOfClient: 1 });
  void once('a', {}, 'anna', () => new Promise(() => undefined));
  await assert.rejects(once('b'), { code: 'QUEUE_FULL' });
});

test('two requests at once under one key place one call, and both are answered with it', async (t) => {
  const { url, phone } = await openServer(t);
  let answerNow!: () => void;
  phone.ready = new Promise((resolve) => (answerNow = resolve));
  const ask = (body: object = { to: '100' }) =>
    fetch(`${url}${CALLS}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': 'order-4711' },
      body: JSON.stringify(body),
    });
  const both = [ask(), ask()];
  await until(() => phone.requests.length === 1);
  const other = await ask({ to: '200' });
  assert.deepEqual([other.status, errorIn(await other.text()).code], [422, 'idempotency_mismatch']);
  answerNow();
  const answers = await Promise.all(both);
  assert.deepEqual(
    answers.map((answer) => [answer.status, answer.headers.get('location')]),
    [
      [201, '/v1/calls/call_1'],
      [201, '/v1/calls/call_1'],
    ],
  );
  const replayed = answers.map(({ headers }) => headers.get('idempotent-replayed'));
  assert.deepEqual(new Set(replayed), new Set(['true', null]));
  assert.equal(phone.requests.length, 1);
  phone.become('call_1', { state: 'connected' });
  assert.equal(((await (await ask()).json()) as { state: string }).state, 'connected', 'as it is now');
  phone.views.clear();
  assert.equal(
    ((await (await ask()).json()) as { state: string }).state,
    'dialling',
    'as it was, once forgotten',
  );
});

test('a key in the body is the same as one in the header, and both must agree', async (t) => {
  const { app, phone } = await openApp(t);
  const ask = (body: object, key?: string) =>
    app.inject({
      method: 'POST',
      url: CALLS,
      payload: { to: '1', ...body },
      ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }),
    });
  assert.equal((await ask({}, 'a')).statusCode, 201);
  assert.equal((await ask({ idempotency: 'a' })).headers['idempotent-replayed'], 'true');
  assert.equal((await ask({ idempotency: 'a' }, 'a')).headers['idempotent-replayed'], 'true');
  assert.equal(phone.requests.length, 1);
  const torn = await ask({ idempotency: 'b' }, 'a');
  assert.deepEqual([torn.statusCode, errorIn(torn.body).param], [400, 'idempotency']);
  for (const key of ['', 'two words', 'x'.repeat(256)]) {
    const answer = await ask({}, key);
    assert.deepEqual([answer.statusCode, errorIn(answer.body).param], [400, 'Idempotency-Key'], key);
  }
});

test('a call whose caller left is hung up where no key leads back to it, and kept where one does', async (t) => {
  const { url, phone } = await openServer(t);
  for (const [number, key] of [
    [1, 'a'],
    [2, undefined],
  ] as const) {
    let answerNow!: () => void;
    phone.ready = new Promise((resolve) => (answerNow = resolve));
    const leaving = new AbortController();
    const headers = {
      'content-type': 'application/json',
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    };
    const body = JSON.stringify({ to: '100' });
    const left = assert.rejects(
      fetch(`${url}${CALLS}`, { method: 'POST', headers, body, signal: leaving.signal }),
    );
    await until(() => phone.requests.length === number);
    leaving.abort();
    await left;
    await fetch(`${url}/health`); // the server sees the closed socket in a later turn than the client
    answerNow();
    await until(() => phone.views.size === number);
  }
  await until(() => phone.asked.length > 0);
  assert.deepEqual(phone.asked, [['hangUp', 'call_2']]);
  assert.equal(phone.get('call_1').state, 'dialling');
});
