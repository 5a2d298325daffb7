import assert from 'node:assert/strict';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect as connectNet, createServer } from 'node:net';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { test, type TestContext } from 'node:test';
import type { ParleyError } from '../../../src/errors.js';
import { openServer } from '../app-under-test.js';
import { ask, openSession, wire } from './http2-client.js';
import { temporaryFolder } from './tls-files.js';

const KEY = 'key-one-0123456789';

interface Asked {
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

function askUnix(socketPath: string, { path = '/health', body = '', ...rest }: Asked = {}) {
  return new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
    const asked = request({ socketPath, path, agent: false, ...rest }, (response) => {
      let text = '';
      response.on('data', (chunk) => (text += String(chunk)));
      response.on('end', () => resolve({ status: response.statusCode, body: text }));
    });
    asked.on('error', reject).end(body);
  });
}

async function openUnix(t: TestContext, options: Parameters<typeof openServer>[1] = {}) {
  const udsPath = join(temporaryFolder(t), 'parley.sock');
  return { udsPath, ...(await openServer(t, { udsPath, ...options })) };
}

test('a Unix socket answers besides the port, in both versions of HTTP', async (t) => {
  const { udsPath, url } = await openUnix(t);
  assert.equal((await askUnix(udsPath)).status, 200);
  assert.equal((await fetch(`${url}/health`)).status, 200);
  const session = openSession(t, 'http://localhost', { createConnection: () => connectNet(udsPath) });
  assert.equal((await ask(session, { ':path': '/health' })).headers[':status'], 200);
});

test('only owner and group may connect, and the file goes with the server', async (t) => {
  const { udsPath, server } = await openUnix(t);
  const before = process.umask();
  assert.equal((statSync(udsPath).mode & 0o777).toString(8), '660');
  const open = wire(t, { path: udsPath });
  open.socket.write('GET /');
  await server.close();
  await open.received;
  assert.equal(existsSync(udsPath), false);
  assert.equal(process.umask(), before, 'files made by others are not concerned');
});

test('whoever comes that way is one client, under any Host, and shares with nobody else', async (t) => {
  const { udsPath, speech } = await openUnix(t);
  speech.whole = ['RIFF'];
  const headers = { 'content-type': 'application/json', host: 'parley.example' };
  const path = '/v1/audio/speech';
  const { status } = await askUnix(udsPath, { method: 'POST', path, headers, body: '{"input":"Hello."}' });
  assert.equal(status, 200);
  const session = openSession(t, 'http://x', { createConnection: () => connectNet(udsPath) });
  await ask(session, { ':method': 'POST', ':path': path, ...headers, host: 'y' }, '{"input":"Hello."}');
  assert.deepEqual(
    speech.requests.map(({ client }) => client),
    ['unix', 'unix'],
  );
});

test('a page behind a proxy in front of it is still checked for where it comes from', async (t) => {
  const { udsPath } = await openUnix(t);
  const from = async (origin: string) => {
    const headers = { host: 'parley.example', origin };
    return (await askUnix(udsPath, { method: 'POST', path: '/cache/clear', headers })).status;
  };
  assert.equal(await from('https://parley.example'), 200);
  assert.equal(await from('https://evil.example'), 403);
});

test('a key is wanted there as on the port, except for what is local', async (t) => {
  const { udsPath } = await openUnix(t, { apiKeys: [KEY] });
  const status = async (path: string, headers: Record<string, string> = {}) =>
    (await askUnix(udsPath, { path, headers })).status;
  assert.equal(await status('/v1/models'), 401);
  assert.equal(await status('/v1/models', { authorization: `Bearer ${KEY}` }), 200);
  assert.equal(await status('/metrics'), 200);
  assert.equal(await status('/metrics', { host: 'parley.example' }), 401, 'a proxy passed it on');
});

test('a socket that a dead server left behind is replaced', async (t) => {
  const udsPath = join(temporaryFolder(t), 'parley.sock');
  const script = `require('net').createServer().listen(${JSON.stringify(udsPath)}, () => process.kill(process.pid, 'SIGKILL'))`;
  spawnSync(process.execPath, ['-e', script]);
  assert.equal(existsSync(udsPath), true);
  await openServer(t, { udsPath });
  assert.equal((await askUnix(udsPath)).status, 200);
});

test('a socket that is in use, a file that is none and a folder that is not there are left alone, and named', async (t) => {
  const folder = temporaryFolder(t);
  const refused = (udsPath: string, why: string) =>
    assert.rejects(openServer(t, { udsPath }), (error: ParleyError) => {
      assert.deepEqual(
        [error.code, error.message],
        ['CONFIG_INVALID', `cannot listen on UDS_PATH=${udsPath}: ${why}`],
      );
      return true;
    });
  const used = join(folder, 'used.sock');
  const other = createServer().listen(used);
  t.after(() => other.close());
  await refused(used, 'another program listens there');
  assert.equal(existsSync(used), true);
  const file = join(folder, 'notes.txt');
  writeFileSync(file, 'mine');
  await refused(file, 'there is a file that is no socket');
  assert.equal(statSync(file).size, 4);
  await refused(join(folder, 'none', 'a.sock'), 'there is no such folder, or the system does not allow it');
});
