import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { connect as connectPlain } from 'node:net';
import { before, test, type TestContext } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import type { ParleyError } from '../../../src/errors.js';
import { until } from '../../fakes/until.js';
import { openServer } from '../app-under-test.js';
import { EchoDialect, handshake } from './echo-dialect.js';
import { ask, askSpeech, openSession, wire } from './http2-client.js';
import { makePair, type Pair, TlsFiles } from './tls-files.js';

const UNCHECKED = { rejectUnauthorized: false }; // the certificates of these tests are their own
let first: Pair;
let second: Pair;

before(async () => {
  [first, second] = await Promise.all([makePair(), makePair()]);
});

function fingerprint({ cert }: Pair): string {
  return new X509Certificate(cert).fingerprint256;
}

async function openTls(t: TestContext, files = new TlsFiles(t)) {
  files.write(first);
  const opened = await openServer(t, {
    tlsCert: files.tlsCert,
    tlsKey: files.tlsKey,
    startMs: 2000,
    dialects: [new EchoDialect()],
  });
  return { ...opened, files, port: Number(new URL(opened.url).port) };
}

function get(url: string, agent: Agent): Promise<{ status: number | undefined; socket: TLSSocket }> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { agent }, (response) => {
      const socket = response.socket as TLSSocket;
      response.resume().once('end', () => resolve({ status: response.statusCode, socket }));
    });
    asked.on('error', reject).end();
  });
}

test('with a certificate the port speaks HTTPS, HTTP/2 to whoever can and HTTP/1.1 to others', async (t) => {
  const { url } = await openTls(t);
  assert.match(url, /^https:\/\/127\.0\.0\.1:\d+$/);
  const session = openSession(t, url, UNCHECKED);
  assert.equal((await ask(session, { ':path': '/health' })).headers[':status'], 200);
  assert.equal(session.alpnProtocol, 'h2');
  const agent = new Agent(UNCHECKED);
  assert.equal((await get(`${url}/health`, agent)).status, 200);
  await assert.rejects(fetch(url.replace('https', 'http')), 'plain HTTP is not answered there');
});

test('speech is streamed over TLS and HTTP/2, and cancelled', async (t) => {
  const { url, speech } = await openTls(t);
  const answer = askSpeech(openSession(t, url, UNCHECKED), { input: 'Hello.' });
  const stream = await speech.stream();
  stream.push('begun');
  assert.equal(String((await once(answer, 'data'))[0]), 'begun');
  answer.close();
  await stream.cancelled;
});

test('a connection that ends before its handshake has ended is let go at once', async (t) => {
  const { port } = await openTls(t);
  const socket = connectPlain({ port, host: '127.0.0.1', allowHalfOpen: true });
  t.after(() => socket.destroy());
  let letGo = false;
  socket.on('end', () => (letGo = true)).on('error', () => (letGo = true));
  socket.end();
  socket.resume();
  await until(() => letGo);
});

test('WebSockets come over TLS, too', async (t) => {
  const { url, port } = await openTls(t);
  const socket = connect({ port, host: '127.0.0.1', ...UNCHECKED, ALPNProtocols: ['http/1.1'] });
  t.after(() => socket.destroy());
  socket.write(handshake(url));
  assert.match(String((await once(socket, 'data'))[0]), /^HTTP\/1\.1 101 /);
});

test('a certificate that is renewed is shown to new connections, and none that stands is dropped', async (t) => {
  const { url, files, logLines } = await openTls(t);
  const kept = new Agent({ ...UNCHECKED, keepAlive: true, maxSockets: 1 });
  t.after(() => kept.destroy());
  const before = await get(`${url}/health`, kept);
  assert.equal(before.socket.getPeerX509Certificate()?.fingerprint256, fingerprint(first));
  files.write(second);
  await until(() => logLines.some((line) => line.includes('certificate read again')));
  const after = await get(`${url}/health`, kept);
  assert.equal(after.status, 200);
  assert.equal(after.socket, before.socket, 'on the connection from before');
  const renewed = await get(`${url}/health`, new Agent({ ...UNCHECKED, maxCachedSessions: 0 }));
  assert.equal(renewed.socket.getPeerX509Certificate()?.fingerprint256, fingerprint(second));
});

test('a renewal that is not usable leaves the certificate as it was, and says why', async (t) => {
  const { url, files, logLines } = await openTls(t);
  writeFileSync(files.tlsCert, second.cert);
  await until(() => logLines.some((line) => line.includes('certificate stays as it was')));
  assert.ok(logLines.some((line) => line.includes(`is not the key of ${files.tlsCert}`)));
  const { socket } = await get(`${url}/health`, new Agent({ ...UNCHECKED, maxCachedSessions: 0 }));
  assert.equal(socket.getPeerX509Certificate()?.fingerprint256, fingerprint(first));
});

test('files that are not usable are named at the start, with their variable', async (t) => {
  const files = new TlsFiles(t);
  const start = () => openServer(t, { tlsCert: files.tlsCert, tlsKey: files.tlsKey });
  const refusal = (message: string) => (error: ParleyError) => {
    assert.equal(error.code, 'CONFIG_INVALID');
    assert.equal(error.message, message);
    return true;
  };
  await assert.rejects(start(), refusal(`TLS_CERT ${files.tlsCert} cannot be read: ENOENT`));
  files.write({ cert: 'nothing', key: first.key });
  await assert.rejects(start(), refusal(`TLS_CERT ${files.tlsCert} holds no certificate in PEM`));
  files.write({ cert: first.cert, key: first.cert });
  await assert.rejects(
    start(),
    refusal(`TLS_KEY ${files.tlsKey} holds no private key in PEM, or one with a passphrase`),
  );
  files.write({ cert: first.cert, key: second.key });
  await assert.rejects(start(), refusal(`TLS_KEY ${files.tlsKey} is not the key of ${files.tlsCert}`));
});

test('a handshake that is never finished ends in time, and when the server closes', async (t) => {
  const { url, server } = await openTls(t);
  const garbage = wire(t, url);
  garbage.socket.write('GET / HTTP/1.1\r\n\r\n');
  await garbage.received;
  const half = wire(t, url);
  half.socket.write('\u0016\u0003\u0001\u0002\u0000', 'latin1'); // a record of 512 bytes that do not come
  const silent = wire(t, url);
  await once(silent.socket, 'connect');
  const session = openSession(t, url, UNCHECKED);
  await ask(session, { ':path': '/health' });
  await server.close();
  await Promise.all([half.received, silent.received]);
});
