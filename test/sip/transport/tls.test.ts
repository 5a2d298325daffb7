import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { before, test, type TestContext } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { ManualTime } from '../../fakes/manual-time.js';
import { until } from '../../fakes/until.js';
import type { TransportsOptions } from '../../../sip/transport/transports.js';
import {
  answer,
  issueCertificates,
  type Issued,
  type Opened,
  openTransports,
  options,
  sent,
} from './transports-under-test.js';

let issued: Issued;
let strangers: Issued;

before(async () => {
  [issued, strangers] = await Promise.all([issueCertificates(), issueCertificates()]);
});

function openServer(
  t: TestContext,
  clientCertificates: 'required' | 'ignored' = 'ignored',
  more: Partial<TransportsOptions> = {},
): Promise<Opened> {
  const tls = { ...issued.server, ca: issued.ca, clientCertificates };
  return openTransports(t, [{ transport: 'tls', port: 0, tls }], more);
}

function openClient(t: TestContext, client: TransportsOptions['client']): Promise<Opened> {
  return openTransports(t, [], { client: client ?? {} });
}

test('requests and responses go over TLS, by address and by the name in the certificate', async (t) => {
  const server = await openServer(t);
  const client = await openClient(t, { ca: issued.ca });
  for (const [index, name] of [undefined, 'sip.example.com'].entries()) {
    const { flow } = await sent(
      client.transports.send(server.target('tls', { name }), options(client.transports)),
    );
    assert.equal(flow.transport, 'tls');
    await answer(server.transports, await server.nth(index));
    const { parsed } = await client.nth(index);
    assert.equal(parsed.kind, 'response');
  }
  assert.equal(server.transports.connections, 2); // each name is verified on a connection of its own
});

test('whoever does not listen with TLS is reached at its own end of the connection, under its public address', async (t) => {
  const server = await openServer(t);
  for (const advertised of [undefined, { host: '203.0.113.7' }]) {
    const place = { transport: 'udp', port: 0, ...(advertised === undefined ? {} : { advertised }) } as const;
    const { transports } = await openTransports(t, [place], {
      client: { ca: issued.ca },
      aliases: 'authenticated',
    });
    const { flow, bytes } = await sent(transports.send(server.target('tls'), options(transports)));
    const ours = { host: advertised?.host ?? '127.0.0.1', port: flow.local.port };
    assert.deepEqual(transports.sentBy(flow), ours);
    assert.match(
      bytes.toString(),
      new RegExp(`^Via: SIP/2.0/TLS ${ours.host}:${ours.port};branch=z9hG4bK1;alias\r$`, 'm'),
    );
    assert.notEqual(ours.port, transports.local('udp')?.port);
  }
});

test('a certificate of another authority or another name is refused', async (t) => {
  const server = await openServer(t);
  for (const [ca, name] of [
    [strangers.ca, undefined],
    [issued.ca, 'other.example.com'],
  ] as const) {
    const client = await openClient(t, { ca });
    assert.equal(
      await client.transports.send(server.target('tls', { name }), options(client.transports)),
      'tls',
    );
    assert.equal(client.transports.connections, 0);
  }
});

test('where certificates of clients are required, one of the authority is let in, and makes the flow an authenticated one', async (t) => {
  const server = await openServer(t, 'required', { aliases: 'authenticated' });
  const client = await openClient(t, { ca: issued.ca, ...issued.client });
  await sent(client.transports.send(server.target('tls'), options(client.transports)));
  const { flow, parsed } = await server.nth(0);
  assert.equal('authenticated' in flow && flow.authenticated, true);
  assert.ok(parsed.kind === 'request');
  for (const credentials of [{}, strangers.client]) {
    const other = await openClient(t, { ca: issued.ca, ...credentials });
    const result = await other.transports.send(server.target('tls'), options(other.transports));
    // In TLS 1.3 the client hears of it after its handshake: the request may leave, but it arrives nowhere.
    assert.ok(result === 'tls' || typeof result === 'object', JSON.stringify(result));
  }
  await until(() => server.transports.counts.of('handshakes-failed') === 2);
  assert.equal(server.received.length, 1);
});

test('nothing older than TLS 1.2 is spoken', async (t) => {
  const server = await openServer(t);
  const { address: host, port } = server.target('tls');
  const old = connectTls({
    host,
    port,
    ca: issued.ca,
    maxVersion: 'TLSv1.1',
    minVersion: 'TLSv1',
    ciphers: 'DEFAULT@SECLEVEL=0',
  });
  const [error] = (await once(old, 'error')) as [NodeJS.ErrnoException];
  assert.match(error.code ?? '', /PROTOCOL|ALERT|VERSION/);
});

test('a handshake that is slow is cut, and too many at once are turned away', async (t) => {
  const time = new ManualTime();
  const server = await openServer(t, 'ignored', { time, limits: { handshakes: 2 } });
  const { address, port } = server.target('tls');
  const open = () => {
    const socket = connect(port, address)
      .on('error', () => undefined)
      .resume();
    t.after(() => socket.destroy());
    return socket;
  };
  const slow = [open(), open()];
  await until(() => server.transports.handshakes === 2);
  await once(open(), 'close');
  assert.equal(server.transports.counts.of('connections-refused'), 1);
  time.advance(5000);
  await until(() => slow.every((socket) => socket.closed));
  assert.equal(server.transports.counts.of('handshakes-slow'), 2);
  assert.equal(server.transports.handshakes, 0);
  await until(() => server.transports.connections === 0);
});

test('the handshakes of one address leave room for those of others', async (t) => {
  const server = await openServer(t, 'ignored', { limits: { handshakes: 8, handshakesPerAddress: 2 } });
  const { address, port } = server.target('tls');
  const open = (localAddress: string) => {
    const socket = connect({ port, host: address, localAddress }).on('error', () => undefined);
    t.after(() => socket.destroy());
    return socket.resume();
  };
  open('127.0.0.1');
  open('127.0.0.1');
  await until(() => server.transports.handshakes === 2);
  await once(open('127.0.0.1'), 'close');
  open('127.0.0.2');
  await until(() => server.transports.handshakes === 3);
  assert.equal(server.transports.counts.of('connections-refused'), 1);
});

test('a listener for TLS without a certificate is a mistake that is told', async (t) => {
  await assert.rejects(openTransports(t, [{ transport: 'tls', port: 0 }]), { code: 'CONFIG_INVALID' });
});
