import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ParleyError } from '../../../src/errors.js';
import { errorIn, openApp, openServer } from '../app-under-test.js';

test('health tells the engines, the calls and how long the server is up', async (t) => {
  const { app } = await openApp(t);
  const answer = await app.inject('/health');
  assert.equal(answer.statusCode, 200);
  const { uptimeSeconds, ...rest } = answer.json<{ uptimeSeconds: number }>();
  assert.deepEqual(rest, { status: 'ok', engines: { flite: true }, encoders: true, calls: 0, maxCalls: 10 });
  assert.equal(Number.isInteger(uptimeSeconds), true);
});

test('health has the command that fetches a neural voice, where none is there', async (t) => {
  const voiceCommand = 'npm run parley -- pull pocket-en';
  const now = { engines: { flite: true }, encoders: true, calls: 0, maxCalls: 1, voiceCommand };
  const { app } = await openApp(t, { health: () => now });
  assert.equal((await app.inject('/health')).json<{ voiceCommand: string }>().voiceCommand, voiceCommand);
});

test('health has the command that fetches a recogniser, where none is there', async (t) => {
  const earsCommand = 'npm run parley -- pull light';
  const now = { engines: { flite: true }, encoders: true, calls: 0, maxCalls: 1, earsCommand };
  const { app } = await openApp(t, { health: () => now });
  assert.equal((await app.inject('/health')).json<{ earsCommand: string }>().earsCommand, earsCommand);
});

test('health names the languages that are spoken and not understood', async (t) => {
  const now = { engines: { pocket: true }, encoders: true, calls: 0, maxCalls: 1 };
  const fieldOf = async (unheardLanguages: readonly string[]) => {
    const { app } = await openApp(t, { health: () => ({ ...now, unheardLanguages }) });
    return (await app.inject('/health')).json<{ unheardLanguages?: string[] }>().unheardLanguages;
  };
  assert.deepEqual(await fieldOf(['fr', 'it']), ['fr', 'it']);
  assert.equal(await fieldOf([]), undefined);
});

const KEY = 'key-one-0123456789';

test('where there are keys health tells strangers the status only, and the machine itself or a key everything', async (t) => {
  const health = {
    engines: { flite: false },
    encoders: true,
    calls: 3,
    maxCalls: 9,
    trouble: 'the GPU is lost',
  };
  const telephone = () => ({ trunks: [{ name: 'main' }] });
  const { app } = await openApp(t, { apiKeys: [KEY], host: '0.0.0.0', health: () => health, telephone });
  const received = async (remoteAddress: string, headers: Record<string, string> = {}) => {
    const host = { host: remoteAddress.includes(':') ? '[::1]:8080' : '127.0.0.1:8080' };
    const answer = await app.inject({ url: '/health', remoteAddress, headers: { ...host, ...headers } });
    assert.equal(answer.statusCode, 503);
    return Object.keys(answer.json<object>()).sort().join();
  };
  const all = 'calls,encoders,engines,maxCalls,reason,status,telephone,uptimeSeconds';
  for (const address of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1']) {
    assert.equal(await received(address), all, address);
  }
  for (const headers of [{ authorization: `Bearer ${KEY}` }, { 'xi-api-key': KEY }]) {
    assert.equal(await received('10.0.0.7', headers), all);
  }
  assert.equal(await received('10.0.0.7'), 'status');
  assert.equal(await received('10.0.0.7', { authorization: 'Bearer wrong-key-0123456789' }), 'status');
  assert.equal(await received('127.0.0.1', { host: 'parley.example' }), 'status');
});

test('a request that a proxy on this machine forwards is none of the machine itself', async (t) => {
  const { app } = await openApp(t, { apiKeys: [KEY], host: '0.0.0.0' });
  const fields = [
    'Forwarded',
    'Via',
    'X-Forwarded-For',
    'X-Forwarded-Host',
    'X-Forwarded-Proto',
    'X-Forwarded',
    'X-Real-IP',
    'X-Client-IP',
    'X-Cluster-Client-IP',
    'True-Client-IP',
    'CF-Connecting-IP',
    'X-Original-Forwarded-For',
  ];
  for (const field of fields) {
    const headers = { host: '127.0.0.1:8080', [field]: 'for=10.0.0.7' };
    const health = await app.inject({ url: '/health', headers });
    assert.deepEqual([health.statusCode, health.json()], [200, { status: 'ok' }], field);
    assert.equal((await app.inject({ url: '/metrics', headers })).statusCode, 401, field);
    const authorization = `Bearer ${KEY}`;
    const known = await app.inject({ url: '/health', headers: { ...headers, authorization } });
    assert.equal('engines' in known.json<object>(), true, field);
  }
});

test('wrong keys are counted where health is asked with them, and asking without one is free', async (t) => {
  const { url } = await openServer(t, { apiKeys: [KEY], rateLimit: 3 });
  const ask = async (headers: Record<string, string>) =>
    (await fetch(`${url}/health`, { headers: { 'x-forwarded-for': '10.0.0.7', ...headers } })).status;
  const asked = async (headers: Record<string, string>) => {
    const answers = [];
    for (let n = 0; n < 5; n++) answers.push(await ask(headers));
    return answers;
  };
  assert.deepEqual(await asked({}), [200, 200, 200, 200, 200]);
  assert.deepEqual(await asked({ authorization: 'Bearer wrong' }), [200, 200, 200, 429, 429]);
  assert.deepEqual(await asked({ authorization: `Bearer ${KEY}` }), [200, 200, 200, 200, 200]);
});

test('health is what the server is at the time of asking: without an engine or an encoder it is not well', async (t) => {
  const now = { engines: { flite: true, espeak: false }, encoders: true, calls: 0, maxCalls: 1 };
  const { app } = await openApp(t, { health: () => now });
  const ask = async () => {
    const answer = await app.inject('/health');
    return [answer.statusCode, answer.json<{ status: string }>().status];
  };
  assert.deepEqual(await ask(), [200, 'ok'], 'one engine is enough');
  now.engines.flite = false;
  assert.deepEqual(await ask(), [503, 'no engine']);
  now.encoders = false;
  assert.deepEqual(await ask(), [503, 'no encoder']);
  now.engines.flite = true;
  assert.deepEqual(await ask(), [503, 'no encoder']);
  now.encoders = true;
  assert.deepEqual(await ask(), [200, 'ok']);
});

test('metrics count requests by the pattern of their route, never by their URL', async (t) => {
  const { app } = await openApp(t);
  for (const id of ['a', 'b', 'c']) await app.inject({ method: 'DELETE', url: `/v1/realtime/calls/${id}` });
  for (const path of ['/x', '/y']) await app.inject(path);
  const answer = await app.inject('/metrics');
  assert.equal(answer.headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8');
  const counted = answer.body.split('\n').filter((line) => line.startsWith('parley_http_requests_total{'));
  assert.deepEqual(counted, [
    'parley_http_requests_total{method="DELETE",route="/v1/realtime/calls/:id",status="404"} 3',
    'parley_http_requests_total{method="GET",route="none",status="404"} 2',
  ]);
});

test('a request is logged as one line with its pattern, without its words or its query', async (t) => {
  const { app, speech, logLines } = await openApp(t);
  speech.whole = ['RIFF'];
  await app.inject({ method: 'POST', url: '/v1/audio/speech?q=secret', payload: { input: 'my secret' } });
  assert.equal(
    logLines.some((line) => line.includes('secret')),
    false,
  );
  const line = JSON.parse(logLines.at(-1) ?? '') as Record<string, unknown>;
  assert.equal(line['msg'], 'request answered');
  assert.equal(line['route'], '/v1/audio/speech');
  assert.equal(line['status'], 200);
});

test('the page is served with a policy that takes nothing from elsewhere', async (t) => {
  const { app } = await openApp(t);
  const page = await app.inject('/');
  assert.equal(page.statusCode, 200);
  assert.match(String(page.headers['content-type']), /^text\/html/);
  const policy = String(page.headers['content-security-policy']);
  assert.match(policy, /default-src 'none'/);
  assert.match(policy, /script-src 'self';/);
  assert.equal(policy.includes('unsafe'), false);
  assert.equal(page.headers['cache-control'], 'no-cache');
});

test('nothing outside the folder of the page can be asked for', async (t) => {
  const { url } = await openServer(t);
  for (const path of [
    '/../package.json',
    '/..%2fpackage.json',
    '/%2e%2e/package.json',
    '/.git/config',
    '//etc/passwd',
  ]) {
    const answer = await fetch(`${url}${path}`);
    assert.ok(answer.status === 404 || answer.status === 400, path);
  }
});

test('a port that is taken is said with the variable to change', async (t) => {
  const { url } = await openServer(t);
  const port = Number(new URL(url).port);
  await assert.rejects(
    openServer(t, { port }),
    (error: ParleyError) =>
      error.code === 'CONFIG_INVALID' && error.message.includes(`PORT=${port}: another`),
  );
});

test('a page that reached loopback under a name of its own is given nothing, not even the page', async (t) => {
  const { app } = await openApp(t);
  for (const url of ['/', '/app.js', '/metrics', '/health', '/v1/models', '/nothing']) {
    const answer = await app.inject({ url, headers: { host: 'rebound.example' } });
    assert.equal(answer.statusCode, 403, url);
    assert.equal(errorIn(answer.body).code, 'forbidden');
  }
});

test('health has the fields of an older server, under the same names', async (t) => {
  const memory = { allocatedBytes: 3 * 2 ** 30, totalBytes: 80 * 2 ** 30 };
  const work = { streams: 9, busyShare: 0.12345, eager: 1, captures: 2, launches: 3, listBytes: 5 * 2 ** 20 };
  const health = () => ({
    engines: { flite: true },
    encoders: true,
    calls: 0,
    maxCalls: 1,
    engine: 'flite',
    modelLoaded: false,
    modelId: 'parley',
    device: { name: 'a GPU', memory, work },
    queueDepth: 3,
    maxQueueDepth: 256,
    audioCache: { entries: 2, maxEntries: 8, hits: 5 },
    voiceCache: { entries: 1, maxEntries: 32, hits: 7 },
  });
  const { app } = await openApp(t, { health });
  const { uptimeSeconds: _, ...received } = (await app.inject('/health')).json<Record<string, unknown>>();
  assert.deepEqual(received, {
    status: 'ok',
    engines: { flite: true },
    encoders: true,
    calls: 0,
    maxCalls: 1,
    engine: 'flite',
    model_loaded: false,
    model_id: 'parley',
    device: 'a GPU',
    cuda: true,
    streams: 9,
    busy: 0.123,
    gpu_lists: { eager: 1, captured: 2, launched: 3, mb: 5 },
    gpu_name: 'a GPU',
    gpu_allocated_mb: 3072,
    gpu_total_mb: 81_920,
    queue_depth: 3,
    max_queue_depth: 256,
    audio_cache_size: 2,
    audio_cache_max: 8,
    audio_cache_hits: 5,
    voice_cache_size: 1,
    voice_cache_max: 32,
    voice_cache_hits: 7,
  });
});

test('health tells the models that recognise speech', async (t) => {
  const recognition = {
    recogniser: {
      engine: 'qwen3-asr',
      usable: true,
      loaded: true,
      problem: undefined,
      device: 'cuda:0 NVIDIA H200',
      sessions: 2,
    },
    aligner: {
      engine: 'qwen3-aligner',
      usable: false,
      loaded: false,
      problem: 'no memory',
      device: undefined,
    },
  };
  const health = () => ({ engines: { flite: true }, encoders: true, calls: 0, maxCalls: 1, recognition });
  const { app } = await openApp(t, { health });
  const received = (await app.inject('/health')).json<{ recognition: unknown }>();
  assert.deepEqual(received.recognition, JSON.parse(JSON.stringify(recognition)));
});

test('where the engine that speaks by default cannot, the server is not ready, and says why', async (t) => {
  const now = { engines: { flite: true, qwen3: false }, encoders: true, calls: 0, maxCalls: 1 };
  const { app } = await openApp(t, { health: () => ({ ...now, trouble: 'the GPU is gone' }) });
  const answer = await app.inject('/health');
  const { status, reason } = answer.json<{ status: string; reason: string }>();
  assert.deepEqual([answer.statusCode, status, reason], [503, 'engine down', 'the GPU is gone']);
});

test('what computes on the CPU claims no memory of a device', async (t) => {
  const health = () => ({
    engines: { flite: true },
    encoders: true,
    calls: 0,
    maxCalls: 1,
    device: { name: 'cpu' },
  });
  const { app } = await openApp(t, { health });
  const received = (await app.inject('/health')).json<Record<string, unknown>>();
  assert.deepEqual(
    [received['device'], received['cuda'], 'gpu_allocated_mb' in received],
    ['cpu', false, false],
  );
});
