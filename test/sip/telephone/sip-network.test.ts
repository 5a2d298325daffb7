// Checks the Contact URIs that peers get by their transport, and the renewal of the TLS certificate.
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { FAILURE_BOUNDS, Guard, REQUEST_BOUNDS } from '../../../sip/guard/guard.js';
import { SipAdmission, RecentPeers } from '../../../sip/telephone/sip-admission.js';
import { SipNetwork } from '../../../sip/telephone/sip-network.js';
import type { Flow, TransportName } from '../../../sip/transport/flow.js';
import { readConfig } from '../../../src/config/config.js';
import { startServer } from '../../../src/main.js';
import { makePair, temporaryFolder, TlsFiles } from '../../api/http/tls-files.js';
import { ManualTime } from '../../fakes/manual-time.js';
import { until } from '../../fakes/until.js';
import { TelephoneServer } from '../../interop/telephone/telephone-server.js';
import { issueCertificates } from '../transport/transports-under-test.js';

const { server } = await issueCertificates();

/** Not opened: its addresses come from its configuration. */
function network(t: TestContext, hosts: string, tlsPort?: number): SipNetwork {
  const time = new ManualTime();
  const { sip } = readConfig({
    SIP_HOST: hosts,
    SIP_PORT: '5070',
    SIP_ALLOW: '127.0.0.1',
    PUBLIC_ADDRESS: '',
  });
  const guard = new Guard({
    time,
    allowed: [],
    challenged: [],
    requests: REQUEST_BOUNDS,
    failures: FAILURE_BOUNDS,
  });
  const recentPeers = new RecentPeers(time);
  const made = new SipNetwork({
    config: { ...sip, tlsPort },
    tls: server,
    time,
    recentPeers,
    taps: undefined,
    admission: new SipAdmission({ guard, digest: undefined, recentPeers }),
    invited: () => undefined,
    journeyFor: () => undefined,
    onResponse: () => undefined,
    failed: assert.fail,
  });
  t.after(() => made.close());
  return made;
}

function flow(transport: TransportName, local: string, remote = '192.0.2.9'): Flow {
  return {
    transport,
    local: { address: local, port: 5070 },
    remote: { address: remote, port: 5060 },
  } as Flow;
}

test('a Contact for a sips URI is one, at the TLS port whatever the request came by', (t) => {
  const made = network(t, '127.0.0.1', 5071);
  const both = (transport: TransportName) =>
    [false, true].map((secure) => made.contactFor(flow(transport, '127.0.0.1'), secure));
  assert.deepEqual(both('udp'), ['sip:parley@127.0.0.1:5070', 'sips:parley@127.0.0.1:5071;transport=tls']);
  assert.deepEqual(both('tls'), [
    'sip:parley@127.0.0.1:5071;transport=tls',
    'sips:parley@127.0.0.1:5071;transport=tls',
  ]);
});

test('where TLS is not listened on, a sips Contact that nobody could reach is not told', (t) => {
  const made = network(t, '127.0.0.1');
  assert.equal(made.contactFor(flow('udp', '127.0.0.1'), true), 'sip:parley@127.0.0.1:5070');
});

test('the Contact of what goes out is at our address that it leaves from, or of the family of its peer', (t) => {
  const made = network(t, '127.0.0.1,127.0.0.2,::1');
  const of = (local: string, remote: string) => made.contactOf('me', 'udp', flow('udp', local, remote));
  assert.equal(made.contactOf('me', 'udp', undefined), 'sip:me@127.0.0.1:5070');
  assert.equal(of('127.0.0.2', '192.0.2.9'), 'sip:me@127.0.0.2:5070');
  assert.equal(of('::1', '2001:db8::9'), 'sip:me@[::1]:5070');
});

// The telephone reads the certificate of SIP over TLS again when its files change.

const OFFER = [
  'v=0',
  'o=- 1 1 IN IP4 127.0.0.1',
  's=-',
  'c=IN IP4 127.0.0.1',
  't=0 0',
  'm=audio 9 RTP/AVP 0',
  '',
].join('\r\n');

/** A hand-written caller over TLS. */
class TlsCaller {
  readonly socket: TLSSocket;
  heard = '';

  constructor(t: TestContext, { host, port }: { readonly host: string; readonly port: number }) {
    this.socket = connect({ host, port, rejectUnauthorized: false });
    this.socket.on('error', () => undefined);
    this.socket.on('data', (bytes) => (this.heard += String(bytes)));
    t.after(() => this.socket.destroy());
  }

  /** The certificate that the server has shown. */
  get fingerprint(): string {
    return this.socket.getPeerCertificate().fingerprint256;
  }

  send(method: string, number: number, toTag = '', body = ''): void {
    const lines = [
      `${method} sip:100@127.0.0.1 SIP/2.0`,
      `Via: SIP/2.0/TLS 127.0.0.1:9;branch=z9hG4bK-${method}-${number}`,
      'From: <sip:alice@127.0.0.1>;tag=1',
      `To: <sip:100@127.0.0.1>${toTag}`,
      'Call-ID: over-tls',
      `CSeq: ${number} ${method}`,
      'Contact: <sip:alice@127.0.0.1:9;transport=tls>',
      'Max-Forwards: 70',
      ...(body === '' ? [] : ['Content-Type: application/sdp']),
      `Content-Length: ${body.length}`,
    ];
    this.socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`);
  }
}

test('a new certificate is shown to new connections, and calls on others go on', async (t) => {
  const [first, second] = await Promise.all([makePair(), makePair()]);
  const files = new TlsFiles(t);
  files.write(first);
  const server = await TelephoneServer.start({ SIP_TLS_CERT: files.tlsCert, SIP_TLS_KEY: files.tlsKey });
  t.after(() => server.close());
  const caller = new TlsCaller(t, server.tlsAddress);
  await once(caller.socket, 'secureConnect');
  assert.equal(caller.fingerprint, new X509Certificate(first.cert).fingerprint256);
  caller.send('INVITE', 1, '', OFFER);
  await until(() => /SIP\/2\.0 200 [^]*CSeq: 1 INVITE/.test(caller.heard));
  const [, toTag = ''] = /^To: [^\r]*(;tag=[^;\r]+)/m.exec(caller.heard) ?? [];
  caller.send('ACK', 1, toTag);
  await until(() => server.telephone.list()[0]?.state === 'connected');

  files.write({ cert: 'half a certificate', key: second.key });
  files.write(second);
  const fingerprint = new X509Certificate(second.cert).fingerprint256;
  await until(async () => {
    const { socket } = new TlsCaller(t, server.tlsAddress);
    await once(socket, 'secureConnect');
    const shown = socket.getPeerCertificate().fingerprint256;
    socket.destroy();
    return shown === fingerprint;
  });
  assert.equal(server.telephone.list()[0]?.state, 'connected');
  caller.send('BYE', 2, toTag);
  await until(() => /SIP\/2\.0 200 [^]*CSeq: 2 BYE/.test(caller.heard));
  assert.deepEqual(server.telephone.list()[0]?.end, { reason: 'peer hung up' });
});

/** True if the server accepts a client's certificate, which its response shows. */
async function isBelieved(
  port: number,
  pair: { readonly cert: string; readonly key: string },
): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port, ...pair, rejectUnauthorized: false });
  const head =
    'OPTIONS sip:127.0.0.1 SIP/2.0\r\nVia: SIP/2.0/TLS 127.0.0.1:9;branch=z9hG4bKo\r\nFrom: <sip:a@b>;tag=1\r\n';
  socket.write(`${head}To: <sip:127.0.0.1>\r\nCall-ID: o\r\nCSeq: 1 OPTIONS\r\nContent-Length: 0\r\n\r\n`);
  const answered = once(socket, 'data').then(
    ([bytes]) => String(bytes).startsWith('SIP/2.0 200'),
    () => false,
  );
  const refused = new Promise<boolean>((resolve) => socket.once('close', () => resolve(false)));
  const believed = await Promise.race([answered, refused]);
  socket.destroy();
  return believed;
}

test('other authorities in the file are believed by new connections, and an unusable file changes nothing', async (t) => {
  const [first, second] = await Promise.all([issueCertificates(), issueCertificates()]);
  const files = new TlsFiles(t);
  files.write(first.server);
  const ca = join(temporaryFolder(t), 'ca.pem');
  writeFileSync(ca, first.ca);
  const names = { SIP_TLS_CERT: files.tlsCert, SIP_TLS_KEY: files.tlsKey, SIP_TLS_CA: ca };
  const server = await TelephoneServer.start({ ...names, SIP_TLS_CLIENT_CERTS: '1' });
  t.after(() => server.close());
  const { port } = server.tlsAddress;
  const believed = async () => [await isBelieved(port, first.client), await isBelieved(port, second.client)];
  assert.deepEqual(await believed(), [true, false]);
  writeFileSync(ca, 'no certificate');
  writeFileSync(ca, second.ca);
  await until(async () => isBelieved(port, second.client));
  assert.deepEqual(await believed(), [false, true]);
  files.write(second.server); // a new certificate of our own keeps the authorities
  await until(async () => {
    const { socket } = new TlsCaller(t, server.tlsAddress);
    await once(socket, 'secureConnect');
    return (
      socket.getPeerCertificate().fingerprint256 === new X509Certificate(second.server.cert).fingerprint256
    );
  });
  assert.deepEqual(await believed(), [false, true]);
});

test('a file of authorities without a certificate is refused by its variable', async (t) => {
  const ca = join(temporaryFolder(t), 'ca.pem');
  writeFileSync(ca, 'no certificate');
  const environment = { PORT: '0', ENGINE: 'flite', LOG_LEVEL: 'silent', SIP_PORT: '0', SIP_TLS_CA: ca };
  const failure = { code: 'CONFIG_INVALID', message: /SIP_TLS_CA .* holds no certificate in PEM/ };
  await assert.rejects(startServer(readConfig(environment)), failure);
});

test('files that are no certificate and key of each other are refused by their variables', async (t) => {
  const [one, other] = await Promise.all([makePair(), makePair()]);
  const files = new TlsFiles(t);
  files.write({ cert: one.cert, key: other.key });
  const environment = {
    PORT: '0',
    ENGINE: 'flite',
    LOG_LEVEL: 'silent',
    SIP_PORT: '0',
    SIP_TLS_PORT: '0',
    SIP_TLS_CERT: files.tlsCert,
    SIP_TLS_KEY: files.tlsKey,
  };
  const failure = { code: 'CONFIG_INVALID', message: /SIP_TLS_KEY .* is not the key of / };
  await assert.rejects(startServer(readConfig(environment)), failure);
});
