// The certificate of HTTPS and its private key: read from their files, checked
// before anybody is shown them, and read again when the files change.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext, type Server } from 'node:tls';
import { ParleyError } from '../errors.js';
import type { Log } from '../observe/log.js';
import { FileWatch, type FileWatchOptions } from './file-watch.js';

export interface CertificateFiles {
  readonly certPath: string;
  readonly keyPath: string;
}

export interface Certificate {
  /** PEM, with the chain behind it. */
  readonly cert: string;
  readonly key: string;
  readonly validUntil: Date;
}

/** Rejects with CONFIG_INVALID, naming the variable whose file is not usable. */
export async function readCertificate({ certPath, keyPath }: CertificateFiles): Promise<Certificate> {
  const [cert, key] = await Promise.all([readText('TLS_CERT', certPath), readText('TLS_KEY', keyPath)]);
  const leaf = attempt('TLS_CERT', certPath, 'holds no certificate in PEM', () => new X509Certificate(cert));
  const notKey = 'holds no private key in PEM, or one with a passphrase';
  const secret = attempt('TLS_KEY', keyPath, notKey, () => createPrivateKey(key));
  if (!leaf.checkPrivateKey(secret)) throw refusal('TLS_KEY', keyPath, `is not the key of ${certPath}`);
  attempt('TLS_CERT', certPath, 'cannot be used', () => createSecureContext({ cert, key }));
  return { cert, key, validUntil: new Date(leaf.validTo) };
}

/** Keeps a TLS server on the certificate that its files hold now. Connections that stand are not touched. */
export class CertificateRenewal {
  readonly #files: CertificateFiles;
  readonly #server: Server;
  readonly #log: Log;
  readonly #watch: FileWatch;

  constructor(files: CertificateFiles, server: Server, log: Log, watch: FileWatchOptions = {}) {
    this.#files = files;
    this.#server = server;
    this.#log = log;
    this.#watch = new FileWatch([files.certPath, files.keyPath], () => void this.#readAgain(), watch);
  }

  /** Reads the files for the first time; CONFIG_INVALID when they are not usable. */
  async open(): Promise<void> {
    await this.#watch.open(); // first, so that no change is missed
    this.#use(await readCertificate(this.#files));
  }

  close(): void {
    this.#watch.close();
  }

  async #readAgain(): Promise<void> {
    try {
      const certificate = await readCertificate(this.#files);
      this.#use(certificate);
      this.#log.info({ validUntil: certificate.validUntil }, 'certificate read again');
    } catch (error) {
      // Two files are not replaced at once: the second change comes here again.
      this.#log.error({ detail: (error as Error).message }, 'certificate stays as it was');
    }
  }

  #use({ cert, key, validUntil }: Certificate): void {
    this.#server.setSecureContext({ cert, key });
    if (validUntil.getTime() < Date.now()) this.#log.warn({ validUntil }, 'the certificate has expired');
  }
}

type Variable = 'TLS_CERT' | 'TLS_KEY';

async function readText(variable: Variable, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw refusal(variable, path, `cannot be read: ${code ?? message}`, error);
  }
}

function attempt<T>(variable: Variable, path: string, what: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw refusal(variable, path, what, error);
  }
}

function refusal(variable: Variable, path: string, what: string, cause?: unknown): ParleyError {
  const details = cause === undefined ? { field: variable } : { field: variable, cause };
  return new ParleyError('CONFIG_INVALID', `${variable} ${path} ${what}`, details);
}
