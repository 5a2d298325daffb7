// Starts a server from environment variables and uses its port, its socket and its files at once.
import assert from 'node:assert/strict';
import dgram from 'node:dgram';
import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import net from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { readConfig } from '../src/config/config.js';
import { startServer } from '../src/main.js';
import { createLog } from '../src/observe/log.js';
import type { Metrics } from '../src/observe/metrics.js';
import { ask, openSession } from './api/http/http2-client.js';
import { makePair, temporaryFolder, TlsFiles } from './api/http/tls-files.js';
import { textOf } from './docs/markdown.js';
import { toy } from './onnx/toys.js';

const KEY = 'key-one-0123456789';

test('a server speaks over TLS and its Unix socket, to the keys of its file, and warns of odd settings', async (t) => {
  const folder = temporaryFolder(t);
  const [keys, socketPath] = [join(folder, 'keys'), join(folder, 'parley.sock')];
  writeFileSync(keys, KEY);
  const files = new TlsFiles(t);
  files.write(await makePair());
  const lines: string[] = [];
  const log = createLog({
    level: 'info',
    logText: false,
    destination: { write: (line) => void lines.push(line) },
  });
  const doors = { TLS_CERT: files.tlsCert, TLS_KEY: files.tlsKey, UDS_PATH: socketPath, API_KEYS_FILE: keys };
  const config = readConfig({
    ...doors,
    PORT: '0',
    SIP_ENABLED: '0',
    ENGINE: 'flite',
    RATE_LIMIT: '9',
    MAX_CALL: '3',
  });
  const server = await startServer(config, { log });
  t.after(() => server.close());
  const headers = { ':method': 'POST', ':path': '/v1/audio/speech', 'content-type': 'application/json' };
  const body = '{"input":"Hello.","response_format":"pcm"}';
  const session = openSession(t, server.url, { rejectUnauthorized: false });
  assert.equal((await ask(session, headers, body)).headers[':status'], 401);
  const spoken = await ask(session, { ...headers, authorization: `Bearer ${KEY}` }, body);
  assert.equal(spoken.headers[':status'], 200);
  assert.equal(spoken.headers['x-ratelimit-remaining-requests'], '8');
  assert.ok(spoken.body.length > 1000);
  const status = await new Promise((resolve, reject) => {
    const asked = request({ socketPath, path: '/v1/models', headers: { 'xi-api-key': KEY }, agent: false });
    asked.on('response', (response) => resolve(response.resume().statusCode)).on('error', reject);
    asked.end();
  });
  assert.equal(status, 200);
  const warned = lines.some((line) => line.includes('MAX_CALL is no setting; did you mean MAX_CALLS?'));
  assert.equal(warned, true);
});

test('/health of a server names the model that hears the ends of turns', async (t) => {
  const log = createLog({ level: 'silent', logText: false, destination: { write: () => undefined } });
  const TURN_MODEL = toy('turn-1-mini/turn-1-mini.step.onnx');
  const config = readConfig({ PORT: '0', SIP_ENABLED: '0', ENGINE: 'flite', TURN_MODEL });
  const server = await startServer(config, { log });
  t.after(() => server.close());
  const { voiceActivity } = (await (await fetch(`${server.url}/health`)).json()) as Record<string, unknown>;
  assert.deepEqual(voiceActivity, { detector: 'silero', turnModels: ['turn-1-mini'] });
});

test('the guard against defects is set before any listener opens, and can count them', async (t) => {
  const opened: string[] = [];
  for (const [kind, method] of [
    [net.Server, 'listen'],
    [dgram.Socket, 'bind'],
  ] as const) {
    const original = (kind.prototype as unknown as Record<string, (...given: unknown[]) => unknown>)[method];
    t.mock.method(
      kind.prototype,
      method as never,
      function (this: unknown, ...given: unknown[]) {
        opened.push(method);
        return original?.apply(this, given);
      } as never,
    );
  }
  const config = readConfig({ PORT: '0', SIP_PORT: '0', ENGINE: 'flite', PRELOAD_MODEL: '0' });
  const beforeListening = (metrics: Metrics) => {
    metrics.defect('test');
    opened.push('guard');
  };
  const log = createLog({ level: 'silent', logText: false });
  const server = await startServer(config, { log, beforeListening });
  t.after(() => server.close());
  assert.equal(opened[0], 'guard');
  assert.ok(opened.includes('listen') && opened.includes('bind'), opened.join());
  assert.match(await server.metrics.exposition(), /parley_defects_total\{work="test"\} 1\n/);
});

test('a scrape of a server with a telephone has every metric of the guide', async (t) => {
  const rows = textOf('public/docs/operations.md').match(/^\| `(?:parley|tts|asr)_[^|]+/gm) ?? [];
  const promised = rows.flatMap((cell) => cell.match(/\w+/g) ?? []);
  assert.ok(promised.length > 80, `${promised.length} metrics`);
  const config = readConfig({ PORT: '0', SIP_PORT: '0', ENGINE: 'flite', PRELOAD_MODEL: '0' });
  const server = await startServer(config, { log: createLog({ level: 'silent', logText: false }) });
  t.after(() => server.close());
  const scrape = await server.metrics.exposition();
  const exposed = new Set(Array.from(scrape.matchAll(/^# TYPE (\w+) /gm), ([, name]) => name));
  assert.deepEqual(
    promised.filter((name) => !exposed.has(name)),
    [],
  );
});
