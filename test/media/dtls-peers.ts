// Peers of a DTLS association over UDP on loopback: ours, OpenSSL's command line, and an attacker without
// keys.
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, X509Certificate } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSelfSignedCertificate } from 'werift';
import type { ParleyError } from '../../src/errors.js';
import {
  type AssociationOptions,
  type CertificateFingerprint,
  type DtlsAssociation,
  DtlsCertificate,
} from '../../src/media/dtls-association.js';
import type { DtlsKeys, SrtpKeys } from '../../src/media/media-addon.js';
import { MediaPlane } from '../../src/media/media-plane.js';
import { systemTime } from '../../src/time.js';

export const LOOPBACK = '127.0.0.1';

/** Events that an association reported. */
export class Reports {
  readonly keys: DtlsKeys[] = [];
  readonly failures: ParleyError[] = [];
  closed = 0;

  get code(): string | undefined {
    return this.failures[0]?.code;
  }
}

export type Terms = Pick<AssociationOptions, 'role' | 'fingerprints'> & Partial<AssociationOptions>;

/** A local association on a UDP socket. It sends to the source of the latest datagram. */
export class UdpAssociation {
  readonly certificate = DtlsCertificate.make();
  readonly plane = MediaPlane.open({ clock: 'real', seed: 1 });
  readonly reported = new Reports();
  readonly socket: Socket = createSocket('udp4');
  /** Lengths of what was sent. */
  readonly sent: number[] = [];
  peerPort: number;
  association: DtlsAssociation | undefined;

  constructor(peerPort = 0) {
    this.peerPort = peerPort;
    this.socket.on('message', (data, { port }) => {
      this.peerPort = port;
      this.association?.receive(data);
    });
  }

  async listen(): Promise<number> {
    this.socket.bind(0, LOOPBACK);
    await once(this.socket, 'listening');
    return this.socket.address().port;
  }

  begin(terms: Terms): DtlsAssociation {
    const { reported } = this;
    this.association = this.plane.openDtls({
      certificate: this.certificate,
      time: systemTime,
      send: (data) => {
        this.sent.push(data.length);
        this.socket.send(data, this.peerPort, LOOPBACK);
      },
      onKeys: (keys) => reported.keys.push(keys),
      onFailed: (error) => reported.failures.push(error),
      onClosed: () => reported.closed++,
      ...terms,
    });
    this.association.start();
    return this.association;
  }

  /** Resolves when packets queued before the close have been sent. */
  async close(): Promise<void> {
    this.association?.close();
    this.plane.close();
    this.certificate.close();
    const closed = once(this.socket, 'close');
    setImmediate(() => this.socket.close());
    await closed;
  }
}

export interface PemPair {
  readonly cert: string;
  readonly key: string;
  readonly fingerprint: CertificateFingerprint;
}

export async function pemPair(): Promise<PemPair> {
  // ECDSA P-256, SHA-256.
  const { certPem, keyPem } = await createSelfSignedCertificate({ signature: 3, hash: 4 }, 23);
  return { cert: certPem, key: keyPem, fingerprint: fingerprintOf(certPem, 'sha256') };
}

export function fingerprintOf(pem: string, hash: 'sha256' | 'sha384' | 'sha512'): CertificateFingerprint {
  const digest = createHash(hash).update(new X509Certificate(pem).raw).digest('hex').toUpperCase();
  return { hash: hash.replace('sha', 'sha-'), digest: (digest.match(/../g) ?? []).join(':') };
}

/** `openssl s_client` or `openssl s_server` over DTLS 1.2. */
export class OpensslPeer {
  readonly #child: ChildProcess;
  readonly #folder = mkdtempSync(join(tmpdir(), 'parley-dtls-'));
  output = '';

  constructor(program: 's_client' | 's_server', pair: PemPair, options: readonly string[]) {
    const cert = join(this.#folder, 'cert.pem');
    const key = join(this.#folder, 'key.pem');
    writeFileSync(cert, pair.cert);
    writeFileSync(key, pair.key);
    this.#child = spawn(
      'openssl',
      [program, '-dtls1_2', '-cert', cert, '-key', key, '-mtu', '1200', ...options],
      { stdio: ['pipe', 'pipe', 'pipe'] },
    );
    this.#child.stdout?.on('data', (text: Buffer) => (this.output += text.toString()));
    this.#child.stderr?.on('data', (text: Buffer) => (this.output += text.toString()));
  }

  /** Exported SRTP keying material in hexadecimal. */
  get material(): string | undefined {
    return /Keying material: ([0-9A-F]+)/.exec(this.output)?.[1];
  }

  /** As by the key Q at its terminal. */
  quit(): void {
    this.#child.stdin?.write('Q\n');
  }

  async close(): Promise<void> {
    const ended = this.#child.exitCode === null ? once(this.#child, 'exit') : undefined;
    this.#child.kill('SIGKILL');
    await ended;
    rmSync(this.#folder, { recursive: true });
  }
}

/** The exporter's output of which these are the keys (RFC 5764 section 4.2). */
export function materialOf(client: SrtpKeys, server: SrtpKeys): string {
  const parts = [client.key, server.key, client.salt, server.salt];
  return Buffer.concat(parts).toString('hex').toUpperCase();
}

interface DtlsRecord {
  readonly type: number;
  readonly epoch: number;
  /** Header and fragment. */
  readonly bytes: Uint8Array;
}

/** The records of a datagram (RFC 6347 section 4.1), in order. A record that is cut short ends the list. */
export function readDtlsRecords(datagram: Uint8Array): DtlsRecord[] {
  const data = Buffer.from(datagram);
  const records: DtlsRecord[] = [];
  for (let at = 0, end = 0; at + 13 <= data.length; at = end) {
    end = at + 13 + data.readUInt16BE(at + 11);
    if (end > data.length) break;
    const [type, epoch] = [data.readUInt8(at), data.readUInt16BE(at + 3)];
    records.push({ type, epoch, bytes: data.subarray(at, end) });
  }
  return records;
}

const ALERT = '0100'; // warning, close_notify

export function record(
  type: number,
  epoch: number,
  fragment: string,
  version = 0xfefd,
  sequence = 0,
): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt8(type, 0);
  header.writeUInt16BE(version, 1);
  header.writeUInt16BE(epoch, 3);
  header.writeUIntBE(sequence, 5, 6);
  header.writeUInt16BE(fragment.length / 2, 11);
  return Buffer.concat([header, Buffer.from(fragment, 'hex')]);
}

const types = Array.from({ length: 256 }, (_, type) => type);

/** One record each, several records in one datagram, and datagrams that are no records. */
export const FORGED: readonly Buffer[] = [
  ...types.flatMap((type) => [0, 1].map((epoch) => record(type, epoch, ALERT))),
  ...types.map((type) => Buffer.concat([record(23, 1, ALERT), record(type, 0, ALERT), record(21, 1, ALERT)])),
  ...types.map((type) => record(type, 0, '')),
  ...[2, 3, 0xffff].flatMap((epoch) => [20, 21, 22, 23, 24].map((type) => record(type, epoch, ALERT))),
  ...[0x0000, 0x0303, 0xfeff, 0xfefc].map((version) => record(21, 0, ALERT, version)),
  ...[20, 21, 22, 23, 63].flatMap((type) =>
    Array.from({ length: 30 }, (_, length) => Buffer.alloc(length + 1, type)),
  ),
  ...['0101', '0228', '0000', '01', ''].map((alert) => record(21, 0, alert)),
  Buffer.concat([record(21, 0, ALERT), Buffer.from([1])]),
];
