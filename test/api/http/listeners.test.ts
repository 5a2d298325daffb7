import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { type AddressInfo, connect as connectNet, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { test, type TestContext } from 'node:test';
import { FirstBytes, Listeners } from '../../../src/api/http/listeners.js';
import { PROTOCOL_LIMITS, Protocols } from '../../../src/api/http/protocols.js';
import type { ParleyError } from '../../../src/errors.js';
import { createLog } from '../../../src/observe/log.js';
import { ManualTime } from '../../fakes/manual-time.js';
import { rejectionsOf } from '../../fakes/rejections.js';
import { until } from '../../fakes/until.js';
import { openServer } from '../app-under-test.js';
import { ask, openSession, wire } from './http2-client.js';
import { temporaryFolder } from './tls-files.js';

const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';

function listening(): {
  time: ManualTime;
  first: FirstBytes;
  decided: string[];
  arrive: (...chunks: string[]) => PassThrough;
} {
  const time = new ManualTime();
  const decided: string[] = [];
  const first = new FirstBytes({
    limitMs: 1000,
    time,
    decided: (_socket, version) => void decided.push(version),
  });
  const arrive = (...chunks: string[]) => {
    const stream = new PassThrough();
    first.take(stream as unknown as Socket);
    for (const chunk of chunks) stream.write(chunk);
    return stream;
  };
  return { time, first, decided, arrive };
}

async function textOf(stream: PassThrough): Promise<string> {
  let text = '';
  for await (const chunk of stream) text += String(chunk);
  return text;
}

test('the preface of HTTP/2 is known by its first three bytes, however they come', async () => {
  for (const chunks of [[PREFACE], PREFACE.split(''), ['P', 'RI'], ['PR', 'I * HTTP/2.0\r\n']]) {
    const { decided, arrive, time, first } = listening();
    const stream = arrive(...chunks);
    await until(() => decided.length === 1);
    assert.equal(decided[0], 'http/2');
    assert.equal(first.waiting, 0);
    assert.equal(time.waiting, 0, 'the limit is called off');
    stream.end();
    assert.equal(await textOf(stream), chunks.join(''), 'nothing is lost or turned around');
  }
});

test('whatever else begins is HTTP/1, also what begins as the preface does', async () => {
  for (const chunks of [
    ['GET / HTTP/1.1\r\n'],
    ['P', 'O', 'ST'],
    ['PR', 'OPFIND'],
    ['\u0016\u0003\u0001'],
    ['\r\n'],
  ]) {
    const { decided, arrive } = listening();
    const stream = arrive(...chunks);
    await until(() => decided.length === 1);
    assert.equal(decided[0], 'http/1', JSON.stringify(chunks));
    stream.end();
    assert.equal(await textOf(stream), chunks.join(''));
  }
});

test('whoever says too little for too long, leaves, or is there at the end, is cut off', async () => {
  const { time, first, decided, arrive } = listening();
  const silent = arrive();
  const slow = arrive('PR');
  await until(() => slow.readableLength === 0 && first.waiting === 2);
  time.advance(999);
  assert.equal(silent.destroyed || slow.destroyed, false);
  time.advance(1);
  assert.equal(silent.destroyed && slow.destroyed, true);
  await until(() => first.waiting === 0);
  const leaving = arrive('P');
  leaving.end();
  await until(() => leaving.destroyed);
  const last = arrive();
  first.close();
  assert.equal(last.destroyed, true);
  await until(() => first.waiting === 0);
  assert.equal(time.waiting, 0);
  assert.deepEqual(decided, []);
});

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

test('a connection whose handover throws is closed, and the next one is taken', async (t) => {
  let taken = 0;
  const listeners = new Listeners({
    host: '127.0.0.1',
    port: 0,
    startMs: 1000,
    time: new ManualTime(),
    log: createLog({ level: 'silent', logText: false }),
    accepted: (socket) => {
      if (++taken === 1) throw new Error('a defect');
      socket.resume();
      socket.end('taken');
    },
  });
  t.after(() => (listeners.destroy(), listeners.stop()));
  const url = await listeners.open();
  const received: string[] = [];
  const rejections = await rejectionsOf(async () => {
    for (let count = 0; count < 2; count++) {
      const connection = wire(t, url);
      connection.socket.write('GET / HTTP/1.1\r\n\r\n');
      received.push(await connection.received);
    }
  });
  assert.deepEqual(received, ['', 'taken']);
  assert.deepEqual(rejections.map(String), ['Defect: HTTP connection: a defect']);
});

test('a request whose handling throws ends without an answer in both versions, and the next one has its own', async (t) => {
  let asked = 0;
  const protocols = new Protocols(
    (_request, response) => {
      if (++asked % 2 === 1) throw new Error('a defect');
      response.end('answered');
    },
    PROTOCOL_LIMITS,
    new ManualTime(),
  );
  const server = createServer((socket) => protocols.take(socket, asked < 2 ? 'http/1' : 'http/2'));
  server.listen(0, '127.0.0.1');
  t.after(() => (protocols.close(), protocols.destroy(), server.close()));
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const rejections = await rejectionsOf(async () => {
    await assert.rejects(fetch(url));
    assert.equal(await (await fetch(url, { headers: { connection: 'close' } })).text(), 'answered');
    const session = openSession(t, url);
    const broken = session.request({ ':path': '/' }).resume();
    await new Promise((resolve) => broken.on('error', () => undefined).once('close', resolve));
    assert.equal((await ask(session, { ':path': '/' })).body, 'answered');
    session.close();
  });
  assert.deepEqual(rejections.map(String), Array(2).fill('Defect: HTTP request: a defect'));
});
