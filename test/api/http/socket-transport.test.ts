// WebSockets on every way into the server.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectPlain } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { until } from '../../fakes/until.js';
import { openServer } from '../app-under-test.js';
import { EchoDialect } from '../echo-dialect.js';
import { ask, openSession } from './http2-client.js';
import { SocketClient } from './socket-client.js';
import { makePair, temporaryFolder, TlsFiles } from './tls-files.js';

const UNCHECKED = { rejectUnauthorized: false }; // the certificate is the test's own
const OFFER =
  'POST /cache/clear HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n' +
  'HTTP2-Settings: AAMAAABk\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}';

async function echoes(client: SocketClient): Promise<void> {
  client.send('hello');
  await until(() => client.messages.length === 1);
  assert.deepEqual(client.messages, ['hello']);
}

async function tlsServer(t: TestContext, dialects: EchoDialect[]) {
  const files = new TlsFiles(t);
  files.write(await makePair());
  const { tlsCert, tlsKey } = files;
  return openServer(t, { tlsCert, tlsKey, dialects });
}

test('over TLS sockets are given, and an offer of h2c is passed over', async (t) => {
  const dialect = new EchoDialect();
  const { url } = await tlsServer(t, [dialect]);
  await echoes(await SocketClient.open(t, `${url}/v1/echo/one`, UNCHECKED));
  const { port } = new URL(url);
  const socket = connectTls({
    port: Number(port),
    host: '127.0.0.1',
    ...UNCHECKED,
    ALPNProtocols: ['http/1.1'],
  });
  t.after(() => socket.destroy());
  socket.write(OFFER);
  assert.match(String((await once(socket, 'data'))[0]), /^HTTP\/1\.1 200 .*"cleared":0/s);
});

test('over the port sockets are given beside HTTP/2, and an offer of h2c is passed over', async (t) => {
  const dialect = new EchoDialect('/v1/echo');
  const { url } = await openServer(t, { dialects: [dialect] });
  await echoes(await SocketClient.open(t, `${url}/v1/echo`));
  const { port } = new URL(url);
  const socket = connectPlain({ port: Number(port), host: '127.0.0.1' });
  t.after(() => socket.destroy());
  for (let round = 0; round < 2; round++) {
    socket.write(OFFER);
    assert.match(String((await once(socket, 'data'))[0]), /^HTTP\/1\.1 200 .*"cleared":0/s);
  }
  const answer = await ask(openSession(t, url), { ':path': '/v1/echo' });
  assert.equal(answer.headers[':status'], 426, 'HTTP/2 has no such upgrade');
});

test('through the Unix socket sockets are given, whatever the host is called', async (t) => {
  const dialect = new EchoDialect('/v1/echo');
  const udsPath = join(temporaryFolder(t), 'parley.sock');
  await openServer(t, { dialects: [dialect], udsPath });
  await echoes(
    await SocketClient.open(t, `ws+unix://${udsPath}:/v1/echo`, { headers: { host: 'anything' } }),
  );
  assert.equal(dialect.only.visit.client, 'unix');
});
