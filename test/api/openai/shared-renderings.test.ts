// Two whole servers and the Redis between them.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { readConfig } from '../../../src/config/config.js';
import { createLog } from '../../../src/observe/log.js';
import { startServer, type Server } from '../../../src/main.js';
import { Engines } from '../../../src/engines/routing.js';
import { InstantEngine } from '../../fakes/engines.js';
import { until } from '../../fakes/until.js';
import { RedisUnderTest } from '../../speaking/redis-under-test.js';

interface Speaking {
  readonly server: Server;
  readonly engine: InstantEngine;
  readonly lines: string[];
}

async function openServer(t: TestContext, settings: Record<string, string>): Promise<Speaking> {
  const engine = new InstantEngine();
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const log = createLog({ level: 'info', logText: false, destination });
  const engines = await Engines.of([engine]);
  const server = await startServer(readConfig({ PORT: '0', SIP_ENABLED: '0', ...settings }), {
    engines,
    log,
  });
  t.after(() => server.close());
  return { server, engine, lines };
}

async function ask({ server }: Speaking, input: string, fields: Record<string, unknown> = {}) {
  const answer = await fetch(`${server.url}/v1/audio/speech`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'parley', voice: 'instant', response_format: 'opus', input, ...fields }),
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  return {
    status: answer.status,
    type: answer.headers.get('content-type'),
    cache: answer.headers.get('x-cache'),
    bytes,
  };
}

const isConnected = ({ lines }: Speaking) => lines.some((line) => line.includes('renderings are shared'));

test('what one server rendered another sends without its engine, byte for byte', async (t) => {
  const redis = await RedisUnderTest.open();
  t.after(() => redis.close());
  const REDIS_URL = `redis://127.0.0.1:${redis.port}`;
  const [first, second] = [await openServer(t, { REDIS_URL }), await openServer(t, { REDIS_URL })];
  const other = await openServer(t, { REDIS_URL, OPUS_BITRATE: '24000' });
  await until(() => [first, second, other].every(isConnected));

  const rendered = await ask(first, 'Your order has shipped. Thank you.');
  assert.deepEqual([rendered.status, rendered.cache], [200, 'miss']);
  let shared = await ask(second, 'Your order has shipped. Thank you.');
  // Written in the background: the first answer may be ahead of it, and the second server then has its own.
  for (let n = 0; shared.cache === 'miss' && n < 100; n++) {
    await fetch(`${second.server.url}/cache/clear`, { method: 'POST' });
    await ask(first, `Again, number ${n}.`);
    shared = await ask(second, `Again, number ${n}.`);
    if (shared.cache === 'hit') assert.deepEqual(shared, { ...(await ask(first, `Again, number ${n}.`)) });
  }
  assert.equal(shared.cache, 'hit');

  const bitrate = await ask(other, 'Your order has shipped. Thank you.');
  assert.equal(bitrate.cache, 'miss', 'another bit rate is another rendering');
  assert.notDeepEqual(bitrate.bytes, rendered.bytes);

  await redis.signal('SIGKILL');
  const without = await ask(second, 'Nobody is there to ask.');
  assert.deepEqual([without.status, without.cache], [200, 'miss']);
});

test('an address that is none ends the start and is not repeated', async (t) => {
  await assert.rejects(openServer(t, { REDIS_URL: 'http://user:secret@host' }), (error: Error) => {
    assert.equal((error as { code?: string }).code, 'CONFIG_INVALID');
    assert.doesNotMatch(error.message, /secret/);
    return true;
  });
});
