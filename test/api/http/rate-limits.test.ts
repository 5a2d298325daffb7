import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ParleyError } from '../../../src/errors.js';
import { AccessGuard } from '../../../src/api/http/access.js';
import { Admission, RateLimits } from '../../../src/api/http/admission.js';
import { KeyRing } from '../../../src/api/http/api-keys.js';
import { ManualTime } from '../../fakes/manual-time.js';
import { errorIn, openServer } from '../app-under-test.js';
import { ask, openSession } from './http2-client.js';

test('a client has its whole minute at once, and then one request each share of a minute', () => {
  const time = new ManualTime(5);
  const limits = new RateLimits(60, time);
  for (let i = 59; i >= 0; i--) {
    const { waitMs, remaining } = limits.take('a');
    assert.deepEqual([waitMs, remaining], [0, i]);
  }
  assert.equal(limits.take('a').waitMs, 1000);
  assert.equal(limits.take('a').waitMs, 1000, 'asking in vain costs nothing');
  assert.equal(limits.take('b').waitMs, 0, 'nor anybody else');
  time.advance(1000);
  assert.equal(limits.take('a').waitMs, 0);
  assert.equal(limits.take('a').waitMs, 1000);
  time.advance(60_000);
  assert.equal(limits.take('a').remaining, 59);
});

test('a limit that divides no minute is kept exactly, over a long time', () => {
  for (const limit of [1, 7, 13, 700]) {
    const time = new ManualTime();
    const limits = new RateLimits(limit, time);
    let accepted = 0;
    for (let second = 0; second < 600; second++) {
      while (limits.take('a').waitMs === 0) accepted++;
      time.advance(1000);
    }
    assert.equal(accepted, limit + Math.floor((599 * limit) / 60), `${limit} a minute`);
  }
});

test('no more clients are remembered than may be, the latest of them', () => {
  const limits = new RateLimits(2, new ManualTime(), 3);
  for (const client of ['a', 'a', 'b', 'c', 'a', 'd']) limits.take(client);
  assert.equal(limits.clients, 3);
  assert.ok(limits.take('a').waitMs > 0, 'who keeps asking is not forgotten');
  assert.equal(limits.clients, 3);
});

test('over HTTP every answer states the limit, and a refusal states when to come back', async (t) => {
  const time = new ManualTime();
  const { url } = await openServer(t, { rateLimit: 2, time });
  const models = () => fetch(`${url}/v1/models`);
  const first = await models();
  assert.equal(first.headers.get('x-ratelimit-limit-requests'), '2');
  assert.equal(first.headers.get('x-ratelimit-remaining-requests'), '1');
  assert.equal(first.headers.get('x-ratelimit-reset-requests'), '30.000s');
  await models();
  const refused = await models();
  assert.equal(refused.status, 429);
  assert.equal(refused.headers.get('retry-after'), '30');
  assert.equal(refused.headers.get('retry-after-ms'), '30000');
  assert.equal(refused.headers.get('x-ratelimit-remaining-requests'), '0');
  assert.deepEqual(errorIn(await refused.text()), {
    message: 'this client has made more than 2 requests a minute, which is what RATE_LIMIT allows',
    type: 'rate_limit_error',
    param: null,
    code: 'rate_limit_exceeded',
  });
  const two = await ask(openSession(t, url), { ':path': '/v1/models' });
  assert.equal(two.headers[':status'], 429, 'another version of HTTP is no other client');
  for (const path of ['/health', '/metrics', '/', '/nothing']) {
    const answer = await fetch(`${url}${path}`);
    assert.notEqual(answer.status, 429, path);
    assert.equal(answer.headers.get('x-ratelimit-limit-requests'), null);
  }
  assert.equal((await fetch(`${url}/v1/models`, { method: 'OPTIONS' })).status, 204);
  time.advance(30_000);
  assert.equal((await models()).status, 200);
});

test('each key has a limit of its own, whatever address it comes from, and so has whoever tries keys', async (t) => {
  const apiKeys = ['key-one-0123456789', 'key-two-0123456789'];
  const { url } = await openServer(t, { rateLimit: 1, apiKeys, time: new ManualTime() });
  const status = async (key: string) =>
    (await fetch(`${url}/v1/models`, { headers: { 'xi-api-key': key } })).status;
  assert.deepEqual([await status(apiKeys[0] ?? ''), await status(apiKeys[0] ?? '')], [200, 429]);
  assert.deepEqual([await status('guess'), await status('another guess')], [401, 429]);
  assert.deepEqual([await status(apiKeys[1] ?? ''), await status(apiKeys[1] ?? '')], [200, 429]);
});

test('a WebSocket counts as a request, and its page is checked although it comes with GET', () => {
  const guard = new AccessGuard({ keys: new KeyRing({ keys: [] }), corsOrigins: [], host: '127.0.0.1' });
  const admission = new Admission(guard, new RateLimits(1, new ManualTime()));
  const admitted = (origin?: string) =>
    admission.admit({
      method: 'GET',
      access: 'key',
      remoteAddress: '127.0.0.1',
      headers: { host: 'localhost', ...(origin === undefined ? {} : { origin }) },
      upgrade: true,
    });
  const code = (expected: string) => (error: unknown) =>
    error instanceof ParleyError && error.code === expected;
  assert.throws(() => admitted('https://evil.example'), code('FORBIDDEN'));
  assert.equal(admitted('http://localhost'), '127.0.0.1');
  assert.throws(() => admitted(), code('RATE_LIMITED'));
});
