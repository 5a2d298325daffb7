import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, request, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { GpuServer } from './fakes/gpu-server.js';
import { until } from './fakes/until.js';
import { openServer } from './api/app-under-test.js';
import { makePair, temporaryFolder } from './api/http/tls-files.js';

const HEALTH = join(import.meta.dirname, '..', '..', 'native', 'docker-health.mjs');

interface Answer {
  readonly status: string;
  readonly reason?: string;
  readonly uptimeSeconds?: number;
}

/** Starts a server whose /health returns the current result of `answer`; resolves with its port. */
async function healthy(t: TestContext, answer: () => Answer, host = '127.0.0.1', server?: Server) {
  const listening = server ?? createHttpServer();
  listening.on('request', (request, response) => {
    const { uptimeSeconds = 3600, ...told } = answer();
    response.statusCode = request.url !== '/health' ? 404 : told.status === 'ok' ? 200 : 503;
    response.end(JSON.stringify({ ...told, uptimeSeconds }));
  });
  listening.listen(0, host);
  await once(listening, 'listening');
  t.after(() => listening.close());
  return String((listening.address() as AddressInfo).port);
}

/** Exit status and output of the health check. `process` is the process ID that it may terminate. */
async function check(environment: NodeJS.ProcessEnv, process = '0') {
  const child = spawn('node', [HEALTH, process], {
    env: { PATH: globalThis.process.env.PATH, ...environment },
  });
  let said = '';
  for (const output of [child.stdout, child.stderr]) {
    output.setEncoding('utf8').on('data', (text: string) => (said += text));
  }
  const [status] = (await once(child, 'close')) as [number];
  return { status, said: said.trimEnd() };
}

/** A process that waits to be told to end, and whether it was. */
function waiting(t: TestContext) {
  const child = spawn('sleep', ['60']);
  t.after(() => child.kill());
  return { id: String(child.pid), told: () => child.signalCode === 'SIGTERM', end: once(child, 'exit') };
}

test('a server that can speak is healthy, one that cannot is not, and the check says why', async (t) => {
  let answer: Answer = { status: 'ok' };
  const PORT = await healthy(t, () => answer);
  assert.deepEqual(await check({ PORT }), { status: 0, said: 'ok' });
  answer = { status: 'engine down', reason: 'the GPU has fallen off the bus' };
  assert.deepEqual(await check({ PORT }), {
    status: 1,
    said: 'engine down: the GPU has fallen off the bus',
  });
  answer = { status: 'draining' };
  assert.deepEqual(await check({ PORT }), { status: 1, said: 'draining' });
});

test('where nobody answers the check fails in a line', async (t) => {
  const server = createHttpServer();
  const PORT = await healthy(t, () => ({ status: 'ok' }), '127.0.0.1', server);
  server.close();
  const { status, said } = await check({ PORT });
  assert.equal(status, 1);
  assert.match(said, /^connect ECONNREFUSED \S+$/);
});

test('the server is asked where it listens: open to all, on one address, or with a certificate', async (t) => {
  const ok = (): Answer => ({ status: 'ok' });
  const open = await healthy(t, ok);
  assert.equal((await check({ PORT: open, HOST: '0.0.0.0' })).status, 0);
  const six = await healthy(t, ok, '::1');
  assert.equal((await check({ PORT: six, HOST: '::' })).status, 0);
  const other = await healthy(t, ok, '127.0.0.2');
  assert.equal((await check({ PORT: other, HOST: '127.0.0.2' })).status, 0);
  assert.equal((await check({ PORT: other })).status, 1);
  const secure = await healthy(t, ok, '127.0.0.1', createHttpsServer(await makePair()));
  assert.equal((await check({ PORT: secure, TLS_CERT: 'cert.pem' })).status, 0);
  assert.equal((await check({ PORT: secure })).status, 1);
});

test('a server that cannot speak for RESTART_AFTER is told to end, so that it is started again', async (t) => {
  const [TMPDIR, server] = [temporaryFolder(t), waiting(t)];
  const PORT = await healthy(t, () => ({ status: 'engine down' }));
  const environment = { PORT, TMPDIR, RESTART_AFTER: '60' };
  assert.deepEqual(await check(environment, server.id), { status: 1, said: 'engine down' });
  assert.equal((await check(environment, server.id)).said, 'engine down');
  const note = join(TMPDIR, 'parley-speechless');
  writeFileSync(note, String(Number(readFileSync(note, 'utf8')) - 60_000)); // a minute later
  assert.match((await check(environment, server.id)).said, /told to end$/);
  await server.end;
  assert.equal(server.told(), true);
});

test('it is not told so without RESTART_AFTER, while it drains, when it spoke meanwhile, or for another one', async (t) => {
  const [TMPDIR, server] = [temporaryFolder(t), waiting(t)];
  const note = join(TMPDIR, 'parley-speechless');
  let answer: Answer = { status: 'no engine' };
  const PORT = await healthy(t, () => answer);
  const longAgo = () => writeFileSync(note, '1');
  longAgo();
  assert.equal((await check({ PORT, TMPDIR }, server.id)).said, 'no engine');
  const environment = { PORT, TMPDIR, RESTART_AFTER: '60' };
  answer = { status: 'no engine', uptimeSeconds: 59 };
  assert.equal((await check(environment, server.id)).said, 'no engine');
  answer = { status: 'draining' };
  assert.equal((await check(environment, server.id)).said, 'draining');
  longAgo();
  answer = { status: 'ok' };
  await check(environment, server.id);
  assert.equal(existsSync(note), false);
  answer = { status: 'no engine' };
  assert.equal((await check(environment, server.id)).said, 'no engine');
  assert.equal(server.told(), false);
});

test('a RESTART_AFTER that cannot be meant is refused by name', async (t) => {
  const PORT = await healthy(t, () => ({ status: 'ok' }));
  const { status, said } = await check({ PORT, RESTART_AFTER: 'soon' });
  assert.deepEqual([status, said], [1, 'RESTART_AFTER must be seconds, not "soon"']);
});

const [FIRST, HEALTHY, THIRD] = [
  'first-0123456789abcdef',
  'second-0123456789abcdef',
  'third-0123456789abcdef',
];

test('the check shows the key that is named health, or the first one, of API_KEYS or its file', async (t) => {
  const server = createHttpServer();
  const shown: (string | undefined)[] = [];
  server.on('request', ({ headers }) => shown.push(headers.authorization));
  const PORT = await healthy(t, () => ({ status: 'ok' }), '127.0.0.1', server);
  const API_KEYS_FILE = join(temporaryFolder(t), 'keys');
  writeFileSync(API_KEYS_FILE, `# of the shop\r\n\r\nshop ${FIRST}\nhealth\t${HEALTHY}\n`);
  await check({ PORT });
  await check({ PORT, API_KEYS: `${FIRST},${THIRD}` });
  await check({ PORT, API_KEYS: `shop ${FIRST}, health ${HEALTHY}` });
  await check({ PORT, API_KEYS_FILE });
  await check({ PORT, API_KEYS: THIRD, API_KEYS_FILE });
  const keys = [undefined, FIRST, HEALTHY, HEALTHY, HEALTHY];
  assert.deepEqual(
    shown,
    keys.map((key) => (key === undefined ? undefined : `Bearer ${key}`)),
  );
  const missing = await check({ PORT, API_KEYS: FIRST, API_KEYS_FILE: '/nowhere' });
  assert.deepEqual(missing, { status: 0, said: 'API_KEYS_FILE cannot be read: ENOENT\nok' });
});

test('a check that is told no uptime says so where RESTART_AFTER needs one', async (t) => {
  const server = createHttpServer((_request, response) => {
    response.statusCode = 503;
    response.end('{"status":"no engine"}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const [PORT, TMPDIR] = [String((server.address() as AddressInfo).port), temporaryFolder(t)];
  assert.deepEqual(await check({ PORT, TMPDIR }), { status: 1, said: 'no engine' });
  const { status, said } = await check({ PORT, TMPDIR, RESTART_AFTER: '60' });
  assert.equal(status, 1);
  assert.match(said, /^no engine\n\/health told no uptimeSeconds, which RESTART_AFTER needs/);
});

test('a server with keys that cannot speak is told to end after RESTART_AFTER, also where it is not asked on loopback', async (t) => {
  const health = () => ({ engines: {}, encoders: true, calls: 0, maxCalls: 1 });
  const { url } = await openServer(t, { apiKeys: [FIRST, `health ${HEALTHY}`], health });
  // Requests that the proxy forwards come from another machine.
  const proxy = createHttpServer(({ headers, url: path = '/' }, response) => {
    const to = request(
      `${url}${path}`,
      { headers: { ...headers, 'x-forwarded-for': '10.0.0.7' } },
      (answer) => {
        response.statusCode = answer.statusCode ?? 500;
        answer.pipe(response);
      },
    );
    to.end();
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  t.after(() => proxy.close());
  await until(async () => {
    const told = (await (await fetch(`${url}/health`)).json()) as Answer;
    return (told.uptimeSeconds ?? 0) >= 1;
  });
  for (const PORT of [new URL(url).port, String((proxy.address() as AddressInfo).port)]) {
    const [TMPDIR, server] = [temporaryFolder(t), waiting(t)];
    writeFileSync(join(TMPDIR, 'parley-speechless'), '1'); // long ago
    const environment = { PORT, TMPDIR, API_KEYS: `${FIRST},health ${HEALTHY}`, RESTART_AFTER: '1' };
    assert.match((await check(environment, server.id)).said, /^no engine\n.*told to end$/);
    await server.end;
    assert.equal(server.told(), true);
  }
});

test('a server that lost its GPU ends in order once the check has seen it so for RESTART_AFTER', async (t) => {
  const server = GpuServer.start(t);
  const environment = { PORT: new URL(await server.url()).port, TMPDIR: temporaryFolder(t) };
  assert.deepEqual(await check(environment), { status: 0, said: 'ok' });
  server.becomes('lost');
  await (await server.say({ input: 'Hello.', voice: 'vivian' })).arrayBuffer().catch(() => undefined);
  await server.until('unreadiness', async () => ((await server.health()).code === 503 ? true : undefined));
  const pid = String(server.pid);
  const first = await check({ ...environment, RESTART_AFTER: '0.2' }, pid);
  assert.match(first.said, /^engine down: .*fallen off the bus/);
  // The second check may come before the time is over.
  await server.until('order to end', async () =>
    (await check({ ...environment, RESTART_AFTER: '0.2' }, pid)).said.endsWith('told to end')
      ? true
      : undefined,
  );
  assert.equal((await server.ended()).code, 0);
});
