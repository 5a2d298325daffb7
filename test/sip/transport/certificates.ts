// A certificate authority of a test, and certificates that it issued.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface Issued {
  readonly ca: string;
  /** For a server at 127.0.0.1, ::1 and sip.example.com. */
  readonly server: { readonly cert: string; readonly key: string };
  readonly client: { readonly cert: string; readonly key: string };
}

const run = promisify(execFile);

export async function issueCertificates(): Promise<Issued> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-sip-'));
  const at = (name: string): string => join(folder, name);
  const read = (name: string): string => readFileSync(at(name), 'utf8');
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  try {
    await run('openssl', ['req', '-x509', ...newKey, '-days', '2', '-subj', '/CN=test', '-keyout', at('ca.key'), '-out', at('ca.pem')]);
    for (const [name, subject] of [['server', 'subjectAltName=IP:127.0.0.1,IP:::1,DNS:sip.example.com'], ['client', 'subjectAltName=DNS:client.example.com']] as const) {
      await run('openssl', ['req', ...newKey, '-subj', `/CN=${name}`, '-keyout', at(`${name}.key`), '-out', at(`${name}.csr`)]);
      writeFileSync(at('ext'), subject);
      await run('openssl', ['x509', '-req', '-days', '2', '-in', at(`${name}.csr`), '-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial', '-extfile', at('ext'), '-out', at(`${name}.pem`)]);
    }
    return {
      ca: read('ca.pem'),
      server: { cert: read('server.pem'), key: read('server.key') },
      client: { cert: read('client.pem'), key: read('client.key') },
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
} // prettier-ignore
