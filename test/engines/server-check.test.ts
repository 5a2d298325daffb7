// The log names mistakes in the settings of model servers when Parley starts.
import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { readConfig } from '../../src/config/config.js';
import { checkModelServers } from '../../src/engines/openai/server-check.js';
import { systemTime } from '../../src/time.js';
import { ManualTime } from '../fakes/manual-time.js';
import { until } from '../fakes/until.js';
import { SILENT_LOG } from '../../src/log.js';

type Routes = Readonly<Record<string, (response: ServerResponse, key: string | undefined) => void>>;

const list = (response: ServerResponse) => void response.end('{"object": "list", "data": [{"id": "m"}]}');
const status = (code: number) => (response: ServerResponse) => void response.writeHead(code).end('no');

/** A server that answers 404 to every other path. */
async function serve(t: TestContext, routes: Routes) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    const answer = routes[request.url ?? ''] ?? status(404);
    answer(response, request.headers.authorization);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => (server.closeAllConnections(), new Promise((resolve) => server.close(resolve))));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

interface Warning {
  readonly variable: string;
  readonly url: string;
  readonly detail: string;
}

function begin(env: Record<string, string>, time = systemTime) {
  const warnings: Warning[] = [];
  const log = { ...SILENT_LOG, warn: (fields: unknown) => void warnings.push(fields as Warning) };
  const close = checkModelServers(readConfig(env), { log: log as never, time });
  return { warnings, close };
}

const agent = (url: string) => ({ AGENT_LLM_URL: url, AGENT_LLM_MODEL: 'm' });

test('an address without /v1, or with an endpoint behind it, is told with the one that was meant', async (t) => {
  const { url } = await serve(t, { '/v1/models': list });
  for (const given of [
    url,
    `${url}/`,
    `${url}/v1/chat/completions`,
    `${url}/v1/models`,
    `${url}/api`,
    `${url}/v2`,
  ]) {
    const { warnings, close } = begin(agent(given));
    await until(() => warnings.length > 0);
    assert.equal(warnings[0]?.variable, 'AGENT_LLM_URL');
    assert.match(warnings[0]?.detail ?? '', /404\); did you mean /);
    assert.ok(warnings[0]?.detail.endsWith(` ${url}/v1 ?`), warnings[0]?.detail);
    await close();
  }
});

test('a page for browsers at the root is no list of models', async (t) => {
  const { url } = await serve(t, {
    '/models': (response) => void response.end('<html>'),
    '/v1/models': status(401),
  });
  const { warnings, close } = begin(agent(url));
  await until(() => warnings.length > 0);
  assert.match(warnings[0]?.detail ?? '', /GET models answers 200\); did you mean .*\/v1 \?$/);
  await close();
});

test('a server that is away, refuses the key or fails is told with its variable', async (t) => {
  const { url: refusing } = await serve(t, { '/v1/models': status(401) });
  const { url: failing } = await serve(t, { '/v1/models': status(500) });
  const { warnings, close } = begin({
    ...agent('http://127.0.0.1:3/v1'),
    TRANSLATE_BASE_URL: `${refusing}/v1`,
    TRANSLATE_MODEL: 'm',
    ASR_BASE_URL: `${refusing}/v1,${failing}/v1`,
    ASR_MODEL: 'm',
    ASR_API_KEY: 'wrong',
    TTS_BASE_URL: 'http://127.0.0.1:2/v1',
    TTS_MODEL: 'm',
    TTS_VOICES: 'alloy',
  });
  await until(() => warnings.length === 5);
  const told = warnings.map(({ variable, detail }) => `${variable} ${detail}`).toSorted();
  assert.match(told[0] ?? '', /^AGENT_LLM_URL it cannot be reached: it refuses connections$/);
  assert.deepEqual(told.slice(1, 3), [
    'ASR_BASE_URL it answers 401: ASR_API_KEY is refused',
    'ASR_BASE_URL it answers 500',
  ]);
  assert.match(told[3] ?? '', /^TRANSLATE_BASE_URL it answers 401: TRANSLATE_API_KEY is not set$/);
  assert.match(told[4] ?? '', /^TTS_BASE_URL it cannot be reached: it refuses connections$/);
  assert.ok(!told.join().includes('wrong'));
  await close();
});

test('a server that is right, or lists no models anywhere, is told nothing about', async (t) => {
  const { url, asked } = await serve(t, { '/v1/models': list });
  const { url: other, asked: there } = await serve(t, {});
  const { warnings, close } = begin({
    ...agent(`${url}/v1`),
    TRANSLATE_BASE_URL: other,
    TRANSLATE_MODEL: 'm',
  });
  await until(() => there.length === 2 && asked.length === 1);
  await close();
  assert.deepEqual([warnings, asked], [[], ['/v1/models']]);
});

test('a server that says nothing is told after five seconds, and closing waits for none', async (t) => {
  const { url, asked } = await serve(t, { '/v1/models': () => undefined });
  const time = new ManualTime();
  const { warnings, close } = begin(agent(`${url}/v1`), time);
  await until(() => asked.length === 1);
  time.advance(5000);
  await until(() => warnings.length === 1);
  assert.equal(warnings[0]?.detail, 'it did not answer within 5 s');
  const second = begin(agent(`${url}/v1`), time);
  await until(() => asked.length === 2);
  await second.close();
  assert.deepEqual([second.warnings, time.waiting], [[], 0]);
  await close();
});
