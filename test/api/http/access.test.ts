import assert from 'node:assert/strict';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Access, AccessGuard, type AccessOptions } from '../../../src/api/http/access.js';
import { Admission, RateLimits } from '../../../src/api/http/admission.js';
import { KeyRing, keysIn } from '../../../src/api/http/api-keys.js';
import { ParleyError } from '../../../src/errors.js';
import { ManualTime } from '../../fakes/manual-time.js';
import { until } from '../../fakes/until.js';
import { errorIn, openApp, openServer } from '../app-under-test.js';
import { ask, openSession } from './http2-client.js';
import { temporaryFolder } from './tls-files.js';

const KEYS = ['key-one-0123456789', 'key-two-0123456789'];

function verdict(
  { apiKeys = [], ...options }: Partial<AccessOptions> & { apiKeys?: readonly string[] },
  request: {
    method?: string;
    access?: Access;
    remoteAddress?: string;
    headers?: Record<string, string>;
  },
): string {
  const guard = new AccessGuard({
    keys: new KeyRing({ keys: apiKeys }),
    corsOrigins: [],
    host: '127.0.0.1',
    ...options,
  });
  try {
    guard.check({
      method: request.method ?? 'POST',
      access: request.access ?? 'key',
      remoteAddress: request.remoteAddress ?? '127.0.0.1',
      headers: { host: '127.0.0.1:8080', ...request.headers },
    });
    return 'welcome';
  } catch (error) {
    assert.ok(error instanceof ParleyError);
    return error.code;
  }
}

test('every route under /v1 wants one of the keys, and says how to give it', async (t) => {
  const { app } = await openApp(t, { apiKeys: KEYS });
  for (const url of ['/v1/models', '/v1/audio/voices', '/v1/audio/models', '/v1/models/parley']) {
    const without = await app.inject({ url });
    assert.equal(without.statusCode, 401);
    assert.equal(without.headers['www-authenticate'], 'Bearer realm="parley"');
    assert.equal(errorIn(without.body).code, 'invalid_api_key');
    const wrong = await app.inject({ url, headers: { authorization: 'Bearer key-one-012345678' } });
    assert.equal(wrong.statusCode, 401);
    for (const key of KEYS) {
      const right = await app.inject({ url, headers: { authorization: `Bearer ${key}` } });
      assert.equal(right.statusCode, 200);
    }
  }
  for (const [method, url] of [
    ['POST', '/v1/audio/speech'],
    ['POST', '/v1/realtime/calls'],
    ['DELETE', '/v1/realtime/calls/rtc_1'],
    ['POST', '/v1/realtime/calls/rtc_1/hangup'],
  ] as const) {
    assert.equal((await app.inject({ method, url })).statusCode, 401, `${method} ${url}`);
  }
});

test('the page and the health are open although there are keys', async (t) => {
  const { app } = await openApp(t, { apiKeys: KEYS });
  assert.equal((await app.inject('/health')).statusCode, 200);
  assert.equal((await app.inject('/')).statusCode, 200);
});

test('only the form "Bearer key" opens, in any case of the word', () => {
  const tried = (authorization: string) => verdict({ apiKeys: KEYS }, { headers: { authorization } });
  assert.equal(tried(`Bearer ${KEYS[0]}`), 'welcome');
  assert.equal(tried(`bearer ${KEYS[1]}`), 'welcome');
  assert.equal(tried(`Basic ${KEYS[0]}`), 'UNAUTHORIZED');
  assert.equal(tried(String(KEYS[0])), 'UNAUTHORIZED');
  assert.equal(tried('Bearer '), 'UNAUTHORIZED');
  assert.equal(tried(`Bearer ${KEYS[0]} ${KEYS[1]}`), 'UNAUTHORIZED');
});

test('a server without keys takes any, as some clients send an empty one', () => {
  assert.equal(verdict({}, { headers: { authorization: 'Bearer ' } }), 'welcome');
  assert.equal(verdict({}, { headers: { authorization: 'Bearer anything' } }), 'welcome');
});

test('metrics are open to the machine itself and want a key from elsewhere', () => {
  const options = { apiKeys: KEYS, host: '0.0.0.0' };
  const seen = (request: Parameters<typeof verdict>[1]) => verdict(options, { access: 'local', ...request });
  assert.equal(seen({}), 'welcome');
  assert.equal(seen({ remoteAddress: '::1' }), 'welcome');
  assert.equal(seen({ remoteAddress: '::ffff:127.0.0.1' }), 'welcome');
  assert.equal(seen({ remoteAddress: '10.0.0.7' }), 'UNAUTHORIZED');
  assert.equal(seen({ headers: { 'x-forwarded-for': '10.0.0.7' } }), 'UNAUTHORIZED');
  assert.equal(seen({ headers: { host: 'evil.example' } }), 'UNAUTHORIZED');
  assert.equal(verdict({ host: '0.0.0.0' }, { access: 'local', remoteAddress: '10.0.0.7' }), 'welcome');
});

test('on loopback without keys the host must be named as this machine, whatever the method', () => {
  const named = (host: string, method = 'GET') => verdict({}, { method, access: 'open', headers: { host } });
  for (const host of [
    'localhost',
    'localhost:8080',
    '127.0.0.1',
    '127.9.9.9:80',
    '[::1]:8080',
    'a.localhost',
  ]) {
    assert.equal(named(host), 'welcome', host);
  }
  for (const host of [
    'evil.example',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    '10.0.0.1',
    '',
    '[::2]',
  ]) {
    assert.equal(named(host), 'FORBIDDEN', host);
    assert.equal(named(host, 'POST'), 'FORBIDDEN', host);
  }
  assert.equal(verdict({ host: '0.0.0.0' }, { headers: { host: 'parley.example' } }), 'welcome');
  assert.equal(
    verdict({ corsOrigins: ['https://parley.example'] }, { headers: { host: 'parley.example' } }),
    'welcome',
  );
});

test('without keys a page of another origin may not drive the server', () => {
  const from = (origin: string, options: Parameters<typeof verdict>[0] = {}) =>
    verdict(options, { headers: { origin, host: 'localhost:8080' } });
  assert.equal(from('http://localhost:8080'), 'welcome');
  assert.equal(from('https://localhost:8080'), 'welcome');
  assert.equal(from('http://localhost:3000'), 'FORBIDDEN');
  assert.equal(from('https://evil.example'), 'FORBIDDEN');
  assert.equal(from('null'), 'FORBIDDEN');
  assert.equal(from('https://shop.example', { corsOrigins: ['https://shop.example'] }), 'welcome');
  assert.equal(from('https://evil.example', { apiKeys: KEYS }), 'UNAUTHORIZED');
});

test('a hostile host name in an answer is short and printable', () => {
  const guard = new AccessGuard({ keys: new KeyRing({ keys: [] }), corsOrigins: [], host: 'localhost' });
  const host = `${'\u0007<'.repeat(200)}`;
  assert.throws(
    () => guard.check({ method: 'GET', access: 'open', remoteAddress: '127.0.0.1', headers: { host } }),
    (error: ParleyError) => error.message.length < 200 && !error.message.includes('\u0007'),
  );
});

test('a key may come as ElevenLabs has it, and an empty bearer token beside it is none', () => {
  const tried = (headers: Record<string, string>) => verdict({ apiKeys: KEYS }, { headers });
  assert.equal(tried({ 'xi-api-key': KEYS[1] ?? '' }), 'welcome');
  assert.equal(tried({ 'xi-api-key': KEYS[1] ?? '', authorization: 'Bearer ' }), 'welcome');
  assert.equal(tried({ 'xi-api-key': KEYS[1] ?? '', authorization: 'Bearer wrong' }), 'UNAUTHORIZED');
  assert.equal(tried({ 'xi-api-key': '' }), 'UNAUTHORIZED');
});

test('a client without a key is its address, of IPv6 its network', () => {
  const guard = new AccessGuard({ keys: new KeyRing({ keys: [] }), corsOrigins: [], host: '0.0.0.0' });
  const client = (remoteAddress: string | undefined) =>
    guard.check({ method: 'GET', access: 'key', remoteAddress, headers: { host: 'a' } });
  assert.equal(client('10.0.0.7'), '10.0.0.7');
  assert.equal(client('::ffff:10.0.0.7'), '10.0.0.7');
  assert.equal(client('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2::/64');
  assert.equal(client('2001:db8:1:2:ffff::1'), '2001:db8:1:2::/64');
  assert.equal(client('fe80::1%eth0'), 'fe80::/64');
  assert.equal(client('unix'), 'unix');
  assert.equal(client(undefined), '');
});

test('one that left before it was looked at is not taken for the machine itself', () => {
  const guard = new AccessGuard({ keys: new KeyRing({ keys: KEYS }), corsOrigins: [], host: '127.0.0.1' });
  const headers = { host: 'localhost' };
  const request = (remoteAddress: string | undefined) =>
    guard.check({ method: 'GET', access: 'local', remoteAddress, headers });
  assert.equal(request('unix'), 'unix');
  assert.throws(() => request(undefined), { code: 'UNAUTHORIZED' });
});

const [ONE, TWO, THREE] = ['key-one-0123456789', 'key-two-0123456789', 'key-three-0123456789'] as const;

test('a file has one key a line, and comments', () => {
  assert.deepEqual(keysIn(`\uFEFF# of the shop\n${ONE}\r\n\n   ${TWO}  \n#${THREE}`, '/keys'), [ONE, TWO]);
});

test('a key may have a name, before it and a space, that stays its own', () => {
  assert.deepEqual(keysIn(`acme ${ONE}\nshop-2\t ${TWO}`, '/keys'), [`acme ${ONE}`, `shop-2\t ${TWO}`]);
  assert.throws(() => keysIn('acme short', '/keys'), /line 1 must be a key of at least 16/);
  assert.throws(() => keysIn(`10.0.0.1 ${ONE}`, '/keys'), /line 1 must be a key/);
  const ring = new KeyRing({ keys: [`acme ${ONE}`], file: true });
  ring.replaceFileKeys([`shop-2\t ${TWO}`, THREE]);
  assert.deepEqual([ring.nameOf(ONE), ring.nameOf(TWO)], ['acme', 'shop-2']);
  assert.match(ring.nameOf(THREE) ?? '', /^key [0-9a-f]{64}$/);
  assert.deepEqual([ring.nameOf(`acme ${ONE}`), ring.nameOf('acme')], [undefined, undefined]);
});

test('keys whose digests begin with the same 32 bits have different names', () => {
  // Found by trial: SHA-256 of 16 zero bytes and either key begins with be5bf6cd.
  const alike = ['unnamed-key-057558', 'unnamed-key-105086'] as const;
  const ring = new KeyRing({ keys: alike, salt: new Uint8Array(16) });
  const [one = '', other = ''] = alike.map((key) => ring.nameOf(key));
  assert.equal(one.slice(0, 12), 'key be5bf6cd');
  assert.equal(other.slice(0, 12), 'key be5bf6cd');
  assert.notEqual(one, other);
});

test('an unusable file is reported with its line, and with nothing of a key', () => {
  const problem = (text: string) => {
    try {
      return keysIn(text, '/keys').join();
    } catch (error) {
      assert.ok(error instanceof ParleyError && error.code === 'CONFIG_INVALID');
      return error.message;
    }
  };
  const rule = 'must be a key of at least 16 characters of ASCII, without spaces';
  assert.equal(problem(`${ONE}\nshort-secret`), `API_KEYS_FILE /keys line 2 ${rule}`);
  assert.equal(problem('two words of a sentence'), `API_KEYS_FILE /keys line 1 ${rule}`);
  assert.equal(problem('schlüssel-0123456789'), `API_KEYS_FILE /keys line 1 ${rule}`);
  assert.equal(problem('# nothing\n\n'), 'API_KEYS_FILE /keys holds no key');
  const many = Array.from({ length: 1001 }, (_, i) => `key-number-${String(i).padStart(6, '0')}`).join('\n');
  assert.equal(problem(many), 'API_KEYS_FILE /keys holds 1001 keys; 1000 are the most');
  assert.equal(problem('\n'.repeat(2 ** 20 + 1)), 'API_KEYS_FILE /keys is longer than 1048576 characters');
});

test('a key keeps its name when others come and go, and the name tells nothing of the key', () => {
  const salt = Buffer.from('salt of this process');
  const ring = new KeyRing({ keys: [ONE], file: true, salt });
  ring.replaceFileKeys([TWO, THREE]);
  const names = [ONE, TWO, THREE].map((key) => ring.nameOf(key));
  assert.equal(new Set(names).size, 3);
  for (const name of names) assert.match(name ?? '', /^key [0-9a-f]{64}$/);
  ring.replaceFileKeys([THREE]);
  assert.deepEqual(
    [ONE, TWO, THREE].map((key) => ring.nameOf(key)),
    [names[0], undefined, names[2]],
  );
  assert.notEqual(new KeyRing({ keys: [ONE] }).nameOf(ONE), names[0], 'another process has another name');
});

test('a server whose keys are in a file is closed, and follows the file', async (t) => {
  const apiKeysFile = join(temporaryFolder(t), 'keys');
  writeFileSync(apiKeysFile, `${TWO}\n`);
  const { url, logLines } = await openServer(t, { apiKeys: [ONE], apiKeysFile });
  const status = async (key: string) =>
    (await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })).status;
  const received = (text: string) => until(() => logLines.some((line) => line.includes(text)));
  assert.deepEqual([await status(ONE), await status(TWO), await status(THREE)], [200, 200, 401]);

  writeFileSync(`${apiKeysFile}.new`, `# rotated\n${THREE}\n`);
  renameSync(`${apiKeysFile}.new`, apiKeysFile);
  await received('API keys read again');
  assert.deepEqual([await status(ONE), await status(TWO), await status(THREE)], [200, 401, 200]);

  rmSync(apiKeysFile);
  await received('API keys stay as they were');
  assert.deepEqual([await status(ONE), await status(TWO), await status(THREE)], [200, 401, 200]);
  assert.equal(
    logLines.some((line) => [ONE, TWO, THREE].some((key) => line.includes(key))),
    false,
  );
});

test('a server does not start without the file of its keys', async (t) => {
  const apiKeysFile = join(temporaryFolder(t), 'keys');
  await assert.rejects(openServer(t, { apiKeysFile }), {
    code: 'CONFIG_INVALID',
    message: `API_KEYS_FILE ${apiKeysFile} cannot be read: ENOENT`,
  });
});

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
    message: 'this client has made more than 2 requests a minute',
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

test('the key of a name signs requests about its calls, as long as it is valid', () => {
  const ring = new KeyRing({ keys: ['shop the-key-of-the-shop', 'a-key-without-a-name'], file: true });
  ring.replaceFileKeys(['desk the-key-of-the-desk']);
  assert.deepEqual(ring.keyOf('shop'), { name: 'shop', key: 'the-key-of-the-shop' });
  const nameless = { name: undefined, key: 'a-key-without-a-name' };
  assert.deepEqual(ring.keyOf(ring.nameOf('a-key-without-a-name') ?? ''), nameless);
  assert.equal(ring.keyOf('desk')?.key, 'the-key-of-the-desk');
  ring.replaceFileKeys([]);
  assert.equal(ring.keyOf('desk'), undefined);
});
