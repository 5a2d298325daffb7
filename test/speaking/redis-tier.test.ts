// Against the real Redis, started by the test.
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { systemTime } from '../../src/time.js';
import { AudioCache } from '../../src/speaking/audio-cache.js';
import { openRedisTier } from '../../src/speaking/rendering-store.js';
import { until } from '../fakes/until.js';
import { FakeStream } from '../api/fake-speech.js';
import { RedisUnderTest } from './redis-under-test.js';
import { SILENT_LOG } from '../../src/log.js';

const TTL_SECONDS = 3600;

async function openRedis(t: TestContext, args: readonly string[] = [], tls = false): Promise<RedisUnderTest> {
  const redis = await RedisUnderTest.open(args, tls);
  t.after(() => redis.close());
  return redis;
}

/** A server's cache in front of a Redis, with an engine that counts. */
function openServer(t: TestContext, url: string) {
  const log: { fields: Record<string, unknown>; message: string }[] = [];
  const write = (fields: Record<string, unknown>, message: string) => void log.push({ fields, message });
  const tier = openRedisTier({
    url,
    ttlSeconds: TTL_SECONDS,
    time: systemTime,
    log: { ...SILENT_LOG, info: write, warn: write },
  });
  t.after(() => tier.close());
  let cache = new AudioCache({ maxEntries: 1000, maxBytes: 1_000_000 }, tier);
  let rendered = 0;
  return {
    tier,
    log,
    said: () => log.map(({ message }) => message),
    rendered: () => rendered,
    clear: () => cache.clear(),
    /** Loses what is in memory, and nothing else. */
    forget: () => (cache = new AudioCache({ maxEntries: 1000, maxBytes: 1_000_000 }, tier)),
    /** True if it came from Redis; its text is checked. */
    async say(text: string): Promise<boolean> {
      const start = () => {
        rendered++;
        const stream = new FakeStream('audio/wav');
        stream.push(text);
        stream.end();
        return Promise.resolve(stream);
      };
      const stream = await cache.follow(text, start, new AbortController().signal);
      let heard = '';
      for await (const chunk of stream) heard += Buffer.from(chunk).toString();
      assert.equal(heard, text);
      return stream.shared;
    },
  };
}

/** Says it with what is in memory forgotten each time, until it comes from Redis. */
async function sharedSoon({ forget, say }: ReturnType<typeof openServer>, text: string): Promise<void> {
  await until(async () => {
    forget();
    return await say(text);
  });
}

test('two servers share what one of them rendered', async (t) => {
  const { port } = await openRedis(t);
  const first = openServer(t, `redis://127.0.0.1:${port}`);
  const second = openServer(t, `redis://127.0.0.1:${port}`);
  await until(() => first.log.length + second.log.length === 2);
  assert.equal(await first.say('hello'), false);
  await sharedSoon(second, 'hello');
  assert.equal(first.rendered(), 1);
  assert.deepEqual(first.said(), ['renderings are shared']);

  first.clear();
  await until(async () => {
    second.forget();
    return !(await second.say('hello'));
  });
});

test('a value of somebody else is replaced, and one of ours goes with its time', async (t) => {
  const { port } = await openRedis(t);
  const server = openServer(t, `redis://127.0.0.1:${port}/3`);
  await until(() => server.log.length === 1);
  const cli = (...args: string[]) =>
    execFileSync('redis-cli', ['-p', String(port), '-n', '3', ...args], { encoding: 'utf8' }).trim();
  cli('SET', 'parley:rendering:a', 'junk');
  assert.equal(await server.say('a'), false);
  await sharedSoon(server, 'a');
  const ttl = Number(cli('TTL', 'parley:rendering:a'));
  assert.ok(ttl > TTL_SECONDS - 60 && ttl <= TTL_SECONDS, `${ttl} s`);
  cli('DEL', 'parley:rendering:a');
  cli('RPUSH', 'parley:rendering:a', 'a list');
  server.forget();
  assert.equal(await server.say('a'), false);
});

test('killed and started again under load: no request fails, and it is shared again afterwards', async (t) => {
  const redis = await openRedis(t);
  const servers = [1, 2].map(() => openServer(t, `redis://127.0.0.1:${redis.port}`));
  await until(() => servers.every(({ log }) => log.length === 1));
  let running = true;
  let said = 0;
  const load = servers.flatMap((server) =>
    Array.from({ length: 20 }, async (_, client) => {
      for (let n = 0; running; n++) {
        if (n % 10 === 0) server.forget();
        await server.say(`text ${(client + n) % 50}`);
        said++;
        if (n % 5 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
    }),
  );
  for (let round = 0; round < 3; round++) {
    const before = said;
    await until(() => said > before + 1000);
    await redis.signal('SIGKILL');
    await until(() =>
      servers.every((server) => server.said().at(-1) === 'renderings are not shared for now'),
    );
    const lost = said;
    await until(() => said > lost + 1000);
    await redis.start();
    await until(() => servers.every((server) => server.said().at(-1) === 'renderings are shared'));
  }
  running = false;
  await Promise.all(load);
  for (const server of servers) {
    const lines = server.said();
    assert.ok(lines.length >= 7 && lines.every((line, n) => line !== lines[n - 1]), lines.join('\n'));
    await sharedSoon(server, 'afterwards');
  }
});

test('a Redis that is deaf is given up, and taken back when it hears', async (t) => {
  const redis = await openRedis(t);
  const server = openServer(t, `redis://127.0.0.1:${redis.port}`);
  await until(() => server.log.length === 1);
  await server.say('before');
  await redis.signal('SIGSTOP');
  for (let n = 0; server.log.length === 1 && n < 100; n++) await server.say(`text ${n}`);
  assert.deepEqual(
    [server.said().at(-1), server.log.at(-1)?.fields['reason']],
    ['renderings are not shared for now', 'TIMEOUT'],
  );
  const began = performance.now();
  for (let n = 0; n < 1000; n++) await server.say(`another ${n}`);
  assert.ok(performance.now() - began < 1000, 'nobody waits for it any more');
  await redis.signal('SIGCONT');
  await until(() => server.said().at(-1) === 'renderings are shared');
  await sharedSoon(server, 'before');
});

test('a password is used and never logged, right or wrong', async (t) => {
  const { port } = await openRedis(t, ['--requirepass', 'open sesame']);
  const right = openServer(t, `redis://:open%20sesame@127.0.0.1:${port}/0`);
  await until(() => right.log.length === 1);
  assert.deepEqual(right.said(), ['renderings are shared']);
  await right.say('hello');
  await sharedSoon(right, 'hello');
  const wrong = openServer(t, `redis://user:mistaken@127.0.0.1:${port}/0`);
  await until(() => wrong.log.length === 1);
  assert.deepEqual(wrong.log[0], {
    fields: { redis: `redis://127.0.0.1:${port}/0`, reason: 'WRONGPASS' },
    message: 'renderings are not shared for now',
  });
  assert.equal(await wrong.say('hello'), false);
  assert.doesNotMatch(JSON.stringify([right.log, wrong.log]), /sesame|mistaken|user/);
});

test('what is no address of Redis is refused, and not repeated', () => {
  for (const url of [
    'localhost',
    'http://u:secret@host',
    'redis://',
    'redis://host/name',
    'unix:/tmp/secret',
  ]) {
    const open = () => openRedisTier({ url, ttlSeconds: 1, time: systemTime, log: undefined as never });
    assert.throws(open, (error: Error & { code?: string }) => {
      return (
        error.code === 'CONFIG_INVALID' &&
        error.message.startsWith('REDIS_URL ') &&
        !/secret/.test(error.message)
      );
    });
  }
});

test('rediss:// is encrypted, and a certificate that nobody vouches for is not taken', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-redis-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  const request = [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-days',
    '2',
    '-keyout',
    key,
    '-out',
    cert,
  ];
  execFileSync('openssl', [...request, ...subject], { stdio: 'ignore' });
  const files = ['--tls-cert-file', cert, '--tls-key-file', key, '--tls-ca-cert-file', cert];
  const { port } = await openRedis(t, [...files, '--tls-auth-clients', 'no'], true);
  const url = `rediss://127.0.0.1:${port}`;

  const distrusting = openServer(t, url);
  await until(() => distrusting.log.length === 1);
  assert.equal(distrusting.log[0]?.fields['reason'], 'DEPTH_ZERO_SELF_SIGNED_CERT');

  // Node reads NODE_EXTRA_CA_CERTS only when a process starts.
  const child = await promisify(execFile)(
    process.execPath,
    [join(import.meta.dirname, 'redis-child.js'), url],
    {
      env: { ...process.env, NODE_EXTRA_CA_CERTS: cert },
      timeout: 20_000,
    },
  );
  assert.equal(child.stdout, 'renderings are shared\nfound: hello\n');
});

test('closing leaves nothing open, whatever it was doing', async (t) => {
  const redis = await openRedis(t);
  for (const state of ['connected', 'deaf', 'gone'] as const) {
    if (state === 'deaf') await redis.signal('SIGSTOP');
    if (state === 'gone') await redis.signal('SIGKILL');
    const { tier, log } = openServer(t, `redis://127.0.0.1:${redis.port}`);
    if (state !== 'deaf') await until(() => log.length === 1);
    await tier.close();
    await until(() => !process.getActiveResourcesInfo().includes('TCPSocketWrap'));
    assert.ok(true, state);
  }
});
