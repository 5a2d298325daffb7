// The certificate of SIP over TLS is read again when its files change.
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { readConfig } from '../../../src/config/config.js';
import { startServer } from '../../../src/main.js';
import { until } from '../../fakes/until.js';
import { makePair, temporaryFolder, TlsFiles } from '../../api/http/tls-files.js';
import { issueCertificates } from '../transport/certificates.js';
import { TelephoneServer } from '../../interop/telephone/telephone-server.js';

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
