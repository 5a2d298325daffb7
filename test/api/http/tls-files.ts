// A certificate and its key in files, as TLS_CERT and TLS_KEY name them.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { createSelfSignedCertificate } from 'werift';

export interface Pair {
  readonly cert: string;
  readonly key: string;
}

export async function makePair(): Promise<Pair> {
  // ECDSA P-256, SHA-256.
  const { certPem, keyPem } = await createSelfSignedCertificate({ signature: 3, hash: 4 }, 23);
  return { cert: certPem, key: keyPem };
}

/** Gone when the test ends. */
export function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export class TlsFiles {
  readonly tlsCert: string;
  readonly tlsKey: string;

  constructor(t: TestContext) {
    const folder = temporaryFolder(t);
    this.tlsCert = join(folder, 'cert.pem');
    this.tlsKey = join(folder, 'key.pem');
  }

  write({ cert, key }: Pair): void {
    writeFileSync(this.tlsCert, cert);
    writeFileSync(this.tlsKey, key);
  }
}
